//! A damaged page costs its index, or its table: rollback, purge, sweep and redo continue past it, nothing of
//! an open transaction comes to light there, and what could not be done is known after a restart.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::codec::get_u32;
use base::{IndexId, UndoPtr};
use env::{Disk, FaultKind, IoOp, OpenOptions, ScheduledFault, SimDisk};
use page::PAGE_SIZE;
use types::CollationId;

use super::support::*;
use crate::*;

const DATA_FILE: &str = "/data/data.pages";
const ROWS: i32 = 1200;

/// Few frames, so that pages are read again, and no copies, from which a startup would mend them.
fn small(disk: &Arc<SimDisk>) -> EngineConfig {
    EngineConfig { pool_bytes: 24 * PAGE_SIZE, doublewrite: false, ..config(disk) }
}

fn body(id: i32, what: &str) -> Wide {
    Wide { body: Some(format!("{what} {}", "-".repeat(200))), ..Wide::new(id, id % 5, &format!("c{id}")) }
}

fn fill(engine: &Arc<Engine>, name: &str) {
    let table = engine.create_table(wide_def(name)).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..ROWS {
        insert(engine, &table, &mut trx, &body(id, "old")).unwrap();
    }
    engine.commit(&mut trx).unwrap();
}

/// A directory with the tables `t` and `other` of several pages each.
fn engine_with_tables() -> (Arc<Engine>, Arc<SimDisk>) {
    let disk = Arc::new(SimDisk::new());
    let engine = Engine::open(small(&disk)).unwrap();
    engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
    fill(&engine, "t");
    fill(&engine, "other");
    engine.checkpoint().unwrap();
    (engine, disk)
}

/// The leaves of a tree on disk.
fn leaves(disk: &SimDisk, index: IndexId) -> Vec<u64> {
    let file = disk.open(Path::new(DATA_FILE), OpenOptions::default()).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    let is_leaf = |page: &[u8]| page[16] == 3 && page[17] == 0 && get_u32(page, 20) == index.0;
    (0..).zip(bytes.chunks(PAGE_SIZE)).filter(|(_, page)| is_leaf(page)).map(|(at, _)| at).collect()
}

/// Changes a bit of the page in the middle of the tree at `index` of `s.t`. The same again mends it.
fn damage(disk: &SimDisk, engine: &Engine, index: usize) -> u64 {
    damage_tree(disk, engine.table("s", "t").unwrap().indexes[index].tree.index)
}

fn damage_tree(disk: &SimDisk, index: IndexId) -> u64 {
    let leaves = leaves(disk, index);
    let page = leaves[leaves.len() / 2];
    flip(disk, page);
    page
}

fn flip(disk: &SimDisk, page: u64) {
    disk.flip_bit(Path::new(DATA_FILE), page * PAGE_SIZE as u64 + 16_000);
}

fn changes(engine: &Arc<Engine>, names: [&str; 2]) -> Trx {
    let mut trx = engine.begin(BeginOptions::default());
    for name in names {
        let table = engine.open_table(&mut trx, "s", name).unwrap();
        for id in (0..ROWS).step_by(3) {
            update(engine, &table, &mut trx, id, &body(id, "new")).unwrap();
            delete(engine, &table, &mut trx, id + 1).unwrap();
        }
    }
    trx
}

/// Whether a statement that reads the table, or changes it, is refused with an error that names this damaged
/// page.
fn is_refused(engine: &Arc<Engine>, use_: TableUse, page: u64) -> bool {
    let table = engine.table("s", "t").unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    match engine.lock_table(&mut trx, &table, use_) {
        Ok(_) => false,
        Err(Error::Damaged(damaged)) => {
            assert!(damaged.why.contains(&format!("page {page} ")), "{damaged}");
            assert!(damaged.why.contains("data.pages"), "{damaged}");
            true
        }
        Err(error) => panic!("{error}"),
    }
}

/// The table `other` has its rows: the old ones, or as [`changes`] has left them.
fn assert_other(engine: &Arc<Engine>, is_changed: bool) {
    let mut trx = engine.begin(BeginOptions::default());
    let table = engine.open_table(&mut trx, "s", "other").unwrap();
    let expected = (0..ROWS).filter(|id| !is_changed || id % 3 != 1);
    let expected: Vec<Wide> =
        expected.map(|id| body(id, if is_changed && id % 3 == 0 { "new" } else { "old" })).collect();
    assert_eq!(rows(engine, &table, trx.view()), expected);
    assert_sound(engine, &table);
    engine.commit(&mut trx).unwrap();
}

/// Pages of `t` leave the pool.
fn evict(engine: &Arc<Engine>) {
    engine.checkpoint().unwrap();
    for index in 0..4 {
        let table = engine.table("s", "other").unwrap();
        if index == 0 {
            rows(engine, &table, ReadView::newest());
        } else {
            ids_by_index(engine, &table, index, ReadView::newest());
        }
    }
}

#[test]
fn a_rollback_goes_on_past_a_damaged_page_whose_table_stays_out_of_use() {
    for is_statement in [false, true] {
        let (engine, disk) = engine_with_tables();
        let mut trx = changes(&engine, ["t", "other"]);
        evict(&engine);
        let page = damage(&disk, &engine, 0);
        if is_statement {
            engine.rollback_statement(&mut trx, UndoPtr::NONE).unwrap();
            engine.commit(&mut trx).unwrap();
        } else {
            engine.rollback(&mut trx).unwrap();
        }
        assert!(is_refused(&engine, TableUse::Read, page));
        assert_other(&engine, false);
        engine.shutdown().unwrap();
        drop((trx, engine));
        // Even if the page can be read again: what was not undone there would look committed.
        flip(&disk, page);
        let engine = Engine::open(small(&disk)).unwrap();
        assert!(is_refused(&engine, TableUse::Read, page));
        let problems = engine.check_table("s", "t", Duration::ZERO, check::Depth::Full).unwrap().problems;
        assert!(!problems.is_empty() && is_refused(&engine, TableUse::Read, page));
        engine.drop_table("s", "t", Duration::ZERO).unwrap();
        fill(&engine, "t");
        assert!(!is_refused(&engine, TableUse::Write, page));
        assert_other(&engine, false);
        engine.shutdown().unwrap();
        drop(engine);
        assert_eq!(look_at(&disk).findings, []);
    }
}

#[test]
fn a_secondary_index_whose_changes_cannot_be_undone_is_out_of_use_until_it_is_dropped() {
    let (engine, disk) = engine_with_tables();
    let mut trx = changes(&engine, ["t", "other"]);
    evict(&engine);
    let page = damage(&disk, &engine, 3);
    engine.rollback(&mut trx).unwrap();
    assert!(!is_refused(&engine, TableUse::Read, page) && is_refused(&engine, TableUse::Write, page));
    let table = engine.table("s", "t").unwrap();
    assert_eq!(table.damaged_indexes(), [3]);
    let expected: Vec<Wide> = (0..ROWS).map(|id| body(id, "old")).collect();
    assert_eq!(rows(&engine, &table, ReadView::newest()), expected);
    engine.shutdown().unwrap();
    drop((trx, table, engine));
    flip(&disk, page);
    let engine = Engine::open(small(&disk)).unwrap();
    assert!(is_refused(&engine, TableUse::Write, page));
    engine.drop_index("s", "t", "b", Duration::ZERO).unwrap();
    assert!(!is_refused(&engine, TableUse::Write, page));
    assert_sound(&engine, &engine.table("s", "t").unwrap());
    engine.shutdown().unwrap();
    drop(engine);
    assert_eq!(look_at(&disk).findings, []);
}

#[test]
fn purge_and_sweep_go_on_past_a_damaged_page_and_a_start_that_can_read_it_finds_its_rows() {
    let (engine, disk) = engine_with_tables();
    engine.commit(&mut changes(&engine, ["t", "other"])).unwrap();
    evict(&engine);
    let page = damage(&disk, &engine, 0);
    while engine.trx_system().purge_pending() > 0 {
        engine.purge_step(usize::MAX).unwrap();
    }
    assert!(is_refused(&engine, TableUse::Read, page));
    assert_other(&engine, true);
    engine.shut_down(ShutdownMode::Fast).unwrap();
    drop(engine);
    let engine = Engine::open(small(&disk)).unwrap();
    while engine.sweep_step().unwrap().is_some() {}
    assert_other(&engine, true);
    engine.shut_down(ShutdownMode::Fast).unwrap();
    drop(engine);
    flip(&disk, page);
    let engine = Engine::open(small(&disk)).unwrap();
    assert!(!is_refused(&engine, TableUse::Write, page));
    while engine.sweep_step().unwrap().is_some() {}
    assert_sound(&engine, &engine.table("s", "t").unwrap());
}

/// The disk of a crash after changes that are in the log only, of a transaction that was open or not, and the
/// clustered tree of `t`.
fn crashed(is_open: bool) -> (SimDisk, IndexId) {
    let (engine, disk) = engine_with_tables();
    let mut trx = changes(&engine, ["t", "other"]);
    if is_open {
        engine.store().log().flush().unwrap();
    } else {
        engine.commit(&mut trx).unwrap();
    }
    std::mem::forget(trx);
    let tree = engine.table("s", "t").unwrap().clustered().tree.index;
    (disk.crash_keeping(|_, _| true), tree)
}

#[test]
fn a_start_goes_on_past_a_damaged_page_that_the_log_has_changes_of() {
    for background in [false, true] {
        for is_open in [false, true] {
            let (disk, tree) = crashed(is_open);
            let disk = Arc::new(disk);
            let page = damage_tree(&disk, tree);
            let startup_lines = Arc::new(StartupLines::default());
            let startup_log = Arc::clone(&startup_lines) as Arc<dyn StartupLog>;
            let engine = Engine::open(EngineConfig { background, startup_log, ..small(&disk) }).unwrap();
            while engine.unfinished_transactions() > 0 {
                std::thread::yield_now();
            }
            assert!(is_refused(&engine, TableUse::Read, page));
            let lines = startup_lines.0.lock().unwrap().join("\n");
            assert!(
                lines.contains("table s.t, index PRIMARY: page") && lines.contains("out of use"),
                "{lines}"
            );
            assert_other(&engine, !is_open);
            engine.shutdown().unwrap();
            drop(engine);
            // It lacks changes even if it can be read.
            flip(&disk, page);
            let engine = Engine::open(small(&disk)).unwrap();
            assert!(is_refused(&engine, TableUse::Read, page));
            engine.truncate_table("s", "t", Duration::ZERO).unwrap();
            assert!(!is_refused(&engine, TableUse::Write, page));
            assert_other(&engine, !is_open);
            engine.shutdown().unwrap();
            drop(engine);
            assert_eq!(look_at(&disk).findings, []);
        }
    }
}

#[test]
fn a_damaged_page_that_the_log_recreates_costs_nothing() {
    let disk = Arc::new(SimDisk::new());
    let config = |disk| EngineConfig { doublewrite: false, ..config(disk) };
    let engine = Engine::open(config(&disk)).unwrap();
    engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
    engine.checkpoint().unwrap();
    fill(&engine, "t");
    engine.store().pool().flush_all().unwrap();
    let page = damage(&disk, &engine, 0);
    drop(engine);
    let disk = Arc::new(disk.crash_keeping(|_, _| true));
    let engine = Engine::open(config(&disk)).unwrap();
    assert!(!is_refused(&engine, TableUse::Write, page));
    let table = engine.table("s", "t").unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()).len() as i32, ROWS);
    assert_sound(&engine, &table);
}

#[test]
fn a_page_that_recovery_cannot_read_refuses_the_start_and_is_read_by_the_next() {
    let mut refused = 0;
    for nth in 1..12 {
        let disk = Arc::new(crashed(false).0);
        let fault = FaultKind::Error(ErrorKind::Other);
        let file = Some("data.pages");
        // A read that fails is repeated.
        let scheduled = ScheduledFault { op: Some(IoOp::Read), file, nth, fault };
        disk.schedule_all(&[scheduled, ScheduledFault { nth: 1, ..scheduled }]);
        refused += u32::from(Engine::open(small(&disk)).is_err());
        let disk = Arc::new(disk.crash_keeping(|_, _| true));
        let engine = Engine::open(small(&disk)).unwrap();
        assert!(!is_refused(&engine, TableUse::Write, 0));
        assert_other(&engine, true);
    }
    assert!(refused > 5, "{refused} starts");
}

#[test]
fn statistics_of_a_table_with_a_damaged_index_leave_it_out() {
    let (engine, disk) = engine_with_tables();
    engine.shutdown().unwrap();
    drop(engine);
    let engine = Engine::open(small(&disk)).unwrap();
    let page = damage(&disk, &engine, 1);
    let table = engine.table("s", "t").unwrap();
    assert!(table.statistics(&engine).is_none(), "the sample has met the page");
    assert!(is_refused(&engine, TableUse::Write, page));
    let statistics = table.statistics(&engine).unwrap();
    assert_eq!(statistics.keys.len(), 4);
    assert_eq!(table.damaged_indexes(), [1]);
}

#[test]
fn an_index_without_the_entry_of_a_row_is_out_of_use_after_a_restart_too() {
    let (engine, disk) = engine_with_tables();
    let table = engine.table("s", "t").unwrap();
    let (tree, store) = (&table.indexes[1].tree, engine.store());
    let mut key = Vec::new();
    tree.seek(store, &[], btree::Seek::First).unwrap().unwrap().record().append_key(&mut key);
    let mut edit = tree.edit(store, &key, 0).unwrap();
    edit.remove();
    edit.commit();
    let mut trx = engine.begin(BeginOptions::default());
    engine.lock_table(&mut trx, &table, TableUse::Write).unwrap();
    // The first entry is that of the first row.
    let error = update(&engine, &table, &mut trx, 0, &Wide { k: Some(4), ..body(0, "old") }).unwrap_err();
    let named = engine.name_damage(error, std::slice::from_ref(&table));
    assert!(matches!(&named, Error::Damaged(damaged) if &*damaged.index == "k"), "{named}");
    engine.rollback(&mut trx).unwrap();
    engine.shutdown().unwrap();
    drop((trx, table, engine));
    let engine = Engine::open(small(&disk)).unwrap();
    assert_eq!(engine.table("s", "t").unwrap().damaged_indexes(), [1]);
    engine.drop_index("s", "t", "k", Duration::ZERO).unwrap();
    assert_eq!(engine.table("s", "t").unwrap().damaged_indexes(), []);
    assert_sound(&engine, &engine.table("s", "t").unwrap());
}
