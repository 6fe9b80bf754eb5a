//! One flipped bit in the file header or in a page of the dictionary: a server that is up refuses what needs
//! the page and continues, a startup is refused by name, and a forced one reads what is left.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::IndexId;
use base::codec::get_u32;
use env::{Disk, OpenOptions, SimDisk};
use page::PAGE_SIZE;
use types::{ColumnDef, IndexDef, IndexKind, TableDef};

use super::support::*;
use crate::*;

const DATA_FILE: &str = "/data/data.pages";
const DICTIONARY: IndexId = IndexId(1);
const ROWS: i32 = 400;
/// Tables whose definitions take several pages.
const TABLES: i32 = 12;

/// Few frames, so that pages are read again, and no copies, from which a startup would mend them.
fn small(disk: &Arc<SimDisk>, startup_lines: &Arc<StartupLines>) -> EngineConfig {
    let startup_log = Arc::clone(startup_lines) as Arc<dyn StartupLog>;
    EngineConfig { pool_bytes: 24 * PAGE_SIZE, doublewrite: false, startup_log, ..config(disk) }
}

fn open(disk: &Arc<SimDisk>) -> Result<Arc<Engine>> {
    Engine::open(small(disk, &Arc::default()))
}

fn forced(disk: &Arc<SimDisk>, level: u8) -> Result<Arc<Engine>> {
    let force_recovery = ForceRecovery::new(level);
    Engine::open(EngineConfig { force_recovery, ..small(disk, &Arc::default()) })
}

/// (id INT PRIMARY KEY AUTO_INCREMENT, n0 INT, n1 INT, ...), with comments that make the definition long.
fn long_def(name: &str) -> TableDef {
    let mut id = ColumnDef::new("id", int(), false);
    id.auto_increment = true;
    let others = (0..40).map(|n| {
        let column = ColumnDef::new(&format!("n{n}"), int(), true);
        ColumnDef { comment: "-".repeat(120).into(), ..column }
    });
    let columns = std::iter::once(id).chain(others).collect();
    TableDef::new("s", name, columns, vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])])
}

fn long_name(number: i32) -> String {
    format!("long{number:02}")
}

fn body(id: i32) -> Wide {
    Wide { body: Some("-".repeat(300)), ..Wide::new(id, id % 5, &format!("c{id}")) }
}

/// The table `t` with rows, and many with long definitions.
fn make(disk: &Arc<SimDisk>) {
    let engine = open(disk).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_BIN).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    (0..ROWS).for_each(|id| insert(&engine, &table, &mut trx, &body(id)).unwrap());
    engine.commit(&mut trx).unwrap();
    for number in 0..TABLES {
        engine.create_table(long_def(&long_name(number))).unwrap();
    }
    engine.put_object("kind", "one", &[1; 3000]).unwrap();
    drop((table, trx));
    engine.shutdown().unwrap();
}

fn directory() -> SimDisk {
    let disk = Arc::new(SimDisk::seeded(9));
    make(&disk);
    disk.crash_keeping(|_, _| true)
}

fn again(disk: &SimDisk) -> Arc<SimDisk> {
    Arc::new(disk.crash_keeping(|_, _| true))
}

/// The bytes of the data file.
fn data(disk: &SimDisk) -> Vec<u8> {
    let file = disk.open(Path::new(DATA_FILE), OpenOptions::default()).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// Whether a page, of a tree, is none of its leaves.
fn is_inner(data: &[u8], page: u64) -> bool {
    data[page as usize * PAGE_SIZE + 17] > 0
}

/// The pages of the dictionary on disk.
fn dictionary_pages(disk: &SimDisk) -> Vec<u64> {
    let bytes = data(disk);
    let is_of_it = |page: &[u8]| page[16] == 3 && get_u32(page, 20) == DICTIONARY.0;
    (0..).zip(bytes.chunks(PAGE_SIZE)).filter(|(_, page)| is_of_it(page)).map(|(at, _)| at).collect()
}

fn flip(disk: &SimDisk, page: u64) {
    disk.flip_bit(Path::new(DATA_FILE), page * PAGE_SIZE as u64 + 16_000);
}

/// Whether `done` succeeded. If not, the page is why.
fn succeeds<T>(done: Result<T>, page: u64, what: &str) -> bool {
    match done {
        Ok(_) => true,
        Err(error) => {
            let named = error.to_string();
            assert!(named.contains(&format!("page {page} ")) && named.contains(DATA_FILE), "{what}: {named}");
            assert_eq!(error.effect(), Effect::Statement, "{what}");
            false
        }
    }
}

fn assert_rows(engine: &Arc<Engine>, more: &[i32]) {
    let mut trx = engine.begin(BeginOptions::default());
    let table = engine.open_table(&mut trx, "s", "t").unwrap();
    let found: Vec<i32> = rows(engine, &table, trx.view()).iter().map(|row| row.id).collect();
    assert_eq!(found, (0..ROWS).chain(more.iter().copied()).collect::<Vec<_>>());
    engine.commit(&mut trx).unwrap();
}

/// Statements of every kind that write the dictionary, or read it; what the tables are called afterwards.
fn define(engine: &Arc<Engine>, page: u64) -> (usize, BTreeSet<String>) {
    let (name, wait) = (long_name, Duration::ZERO);
    let mut names: BTreeSet<String> = (0..TABLES).map(name).chain(["t".to_owned()]).collect();
    let mut refused = 0;
    let mut ok = |done: bool| {
        refused += usize::from(!done);
        done
    };
    if ok(succeeds(engine.create_table(long_def("new")), page, "create")) {
        names.insert("new".to_owned());
    }
    for number in 0..4 {
        if ok(succeeds(engine.drop_table("s", &name(number), wait), page, "drop")) {
            names.remove(&name(number));
        }
    }
    for number in 4..7 {
        let (from, to) = (name(number), format!("renamed{number}"));
        if ok(succeeds(engine.rename_table(("s", &from), ("s", &to), wait), page, "rename")) {
            names.remove(&from);
            names.insert(to);
        }
    }
    ok(succeeds(engine.truncate_table("s", &name(7), wait), page, "truncate"));
    ok(succeeds(engine.create_schema("other", types::CollationId::UTF8MB4_BIN), page, "schema"));
    ok(succeeds(engine.put_object("kind", "two", &[2; 9000]), page, "object"));
    ok(succeeds(engine.list_objects("kind"), page, "objects"));
    ok(succeeds(engine.delete_object("kind", "one"), page, "no object"));
    let table = engine.table("s", &name(8)).unwrap();
    ok(succeeds(table.advance_auto_increment(engine, 5000), page, "counter"));
    (refused, names)
}

fn names(engine: &Engine) -> BTreeSet<String> {
    engine.tables("s").unwrap().iter().map(|table| table.def.name.to_string()).collect()
}

/// All pages but those of `t` leave the pool.
fn evict(engine: &Arc<Engine>) {
    engine.checkpoint().unwrap();
    assert_rows(engine, &[]);
}

#[test]
fn a_damaged_page_of_the_dictionary_costs_what_needs_it_and_nothing_else_until_the_server_ends() {
    let whole = directory();
    let (pages, whole_pages) = (dictionary_pages(&whole), data(&whole));
    assert!(pages.len() > 4, "{pages:?}");
    assert!(pages.iter().any(|page| is_inner(&whole_pages, *page)));
    let mut all_refused = 0;
    for &page in &pages {
        let disk = again(&whole);
        let startup_lines = Arc::new(StartupLines::default());
        let engine = Engine::open(small(&disk, &startup_lines)).unwrap();
        evict(&engine);
        flip(&disk, page);
        let (refused, expected) = define(&engine, page);
        all_refused += refused;
        assert_eq!(names(&engine), expected, "page {page}");
        let notes: Vec<String> = startup_lines.0.lock().unwrap().clone();
        let lines = notes.iter().filter(|line| line.contains("is a page of the dictionary")).count();
        assert_eq!(lines, usize::from(refused > 0), "page {page}: {notes:?}");
        let mut trx = engine.begin(BeginOptions::default());
        let table = engine.open_table(&mut trx, "s", "t").unwrap();
        insert(&engine, &table, &mut trx, &body(9000)).unwrap();
        engine.commit(&mut trx).unwrap();
        engine.purge_step(usize::MAX).unwrap();
        engine.checkpoint().unwrap();
        assert_rows(&engine, &[9000]);
        drop((table, trx));
        engine.shutdown().unwrap();
        drop(engine);
        if refused == 0 {
            // No read has met it, or the page was created again.
            continue;
        }
        let error = open(&disk).unwrap_err();
        assert_eq!(error.force_recovery_level(), Some(1), "{error}");
        assert!(!succeeds::<()>(Err(error), page, "a start"));
        let engine = forced(&disk, 1).unwrap();
        assert!(engine.is_read_only());
        if is_inner(&whole_pages, page) {
            let untouched: BTreeSet<String> = (8..TABLES).map(long_name).chain(["t".to_owned()]).collect();
            assert!(names(&engine).is_superset(&untouched), "page {page}: {:?}", names(&engine));
        }
        engine.shutdown().unwrap();
        drop(engine);
        // What was answered is there once the page can be read, and nothing of what was refused.
        flip(&disk, page);
        let engine = open(&disk).unwrap();
        assert_eq!(names(&engine), expected, "page {page}");
        assert_rows(&engine, &[9000]);
        engine.shutdown().unwrap();
        drop(engine);
        assert_eq!(look_at(&disk).findings, [], "page {page}");
    }
    assert!(all_refused > 10, "{all_refused}");
}

#[test]
fn a_file_header_that_rots_under_a_server_is_written_again_from_memory() {
    let disk = again(&directory());
    let engine = open(&disk).unwrap();
    evict(&engine);
    flip(&disk, 0);
    evict(&engine);
    let (refused, expected) = define(&engine, 0);
    assert_eq!(refused, 0);
    engine.shutdown().unwrap();
    drop(engine);
    let engine = open(&disk).unwrap();
    assert_eq!(names(&engine), expected);
    assert_rows(&engine, &[]);
    engine.shutdown().unwrap();
}

#[test]
fn a_damaged_file_header_refuses_the_start_and_forced_ones_read_everything() {
    for is_closed in [true, false] {
        let disk = Arc::new(directory());
        if !is_closed {
            let engine = open(&disk).unwrap();
            let mut trx = engine.begin(BeginOptions::default());
            let table = engine.open_table(&mut trx, "s", "t").unwrap();
            insert(&engine, &table, &mut trx, &body(9000)).unwrap();
            engine.commit(&mut trx).unwrap();
            engine.create_table(long_def("new")).unwrap();
            trx.restart(BeginOptions::default());
            assert!(delete(&engine, &table, &mut trx, 0).unwrap());
            engine.store().log().flush().unwrap();
            drop(table);
            std::mem::forget(trx);
        }
        let disk = again(&disk);
        flip(&disk, 0);
        let error = open(&disk).unwrap_err();
        assert_eq!(error.force_recovery_level(), Some(1), "{error}");
        assert!(!succeeds::<()>(Err(error), 0, "a start"));
        for level in [1, 3, 4, 6] {
            let disk = again(&disk);
            let before = dictionary_pages(&disk);
            let engine = forced(&disk, level).unwrap();
            assert!(engine.is_read_only(), "level {level}");
            // Level 6 reads pages as they are on disk.
            let is_old = !is_closed && level == 6;
            if !is_old {
                let mut trx = engine.begin(BeginOptions::default());
                let table = engine.table("s", "t").unwrap();
                assert!(engine.lock_table(&mut trx, &table, TableUse::Read).unwrap());
                let found = rows(&engine, &table, trx.view()).len() as i32;
                assert_eq!(found, ROWS + i32::from(!is_closed), "level {level}");
                assert_eq!(names(&engine).contains("new"), !is_closed, "level {level}");
            }
            engine.shutdown().unwrap();
            drop(engine);
            assert!(before.iter().all(|page| dictionary_pages(&disk).contains(page)));
            assert!(!succeeds(open(&disk), 0, "a start after a forced one"));
        }
    }
}
