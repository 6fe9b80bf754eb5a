//! Indexes that are built of more entries than fit in memory.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base::sync::interrupt;
use env::{Disk, FaultKind, SimDisk};
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

use super::support::*;
use crate::dictionary::Kind;
use crate::index_sort::Layout;
use crate::row::built_entry;
use crate::*;

const SHORT: Duration = Duration::from_millis(20);
const LEAST: SortMemory = SortMemory { buffer_bytes: 0, account: None };
const HUGE: SortMemory = SortMemory { buffer_bytes: 1 << 30, account: None };

/// (id INT PRIMARY KEY, k INT, c VARCHAR(700), body LONGTEXT).
pub(super) fn def() -> TableDef {
    let mut def = wide_def("t");
    def.columns[2].ty = SqlType::varchar(700, CollationId::UTF8MB4_0900_AI_CI);
    def.indexes.truncate(1);
    def
}

/// A table of `rows` rows: some NULLs, some values that are long or off their pages, in no order but that of
/// `id`.
pub(super) fn filled(engine: &Arc<Engine>, rows: i32) -> Arc<Table> {
    let table = engine.create_table(def()).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..rows {
        let c = match id % 50 {
            0 => None,
            1 => Some(format!("{}{id}", "long ".repeat(130))),
            _ => Some(format!("n{}", (id * 7919) % 10_007)),
        };
        let body = (id % 20 != 0).then(|| if id % 100 == 1 { "off ".repeat(3000) } else { format!("b{id}") });
        let k = (id % 30 != 0).then_some((id * 31) % 1000);
        insert(engine, &table, &mut trx, &Wide { id, k, c, body }).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    table
}

/// Indexes of all kinds.
pub(super) fn new_indexes() -> Vec<IndexDef> {
    let mut descending = IndexDef::new("kd", IndexKind::Secondary, &[1, 2]);
    descending.parts[0].desc = true;
    let mut prefixes = IndexDef::new("p", IndexKind::Secondary, &[3, 2]);
    (prefixes.parts[0].prefix_len, prefixes.parts[1].prefix_len) = (Some(3), Some(5));
    vec![
        IndexDef::new("k", IndexKind::Secondary, &[1]),
        descending,
        prefixes,
        IndexDef::new("long", IndexKind::Secondary, &[2]),
        IndexDef::new("u", IndexKind::Unique, &[1, 2, 0]),
    ]
}

fn add_indexes(engine: &Engine, indexes: Vec<IndexDef>, memory: &SortMemory) -> Result<Arc<Table>> {
    let old = engine.table("s", "t")?;
    let mut def = (*old.def).clone();
    def.indexes.extend(indexes);
    let options = BuildOptions { memory: memory.clone(), ..BuildOptions::default() };
    engine.alter_table(&old.def, Alteration { def, auto_increment: None }, &options, SHORT)?;
    engine.table("s", "t")
}

/// Key and payload of each record of an index, in its order.
pub(super) fn records(engine: &Engine, table: &Table, index: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let all = KeyRange::all();
    let mut scan = Scan::open(engine, table, index, ReadView::newest(), all, Direction::Forward).unwrap();
    let mut records = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        for row in batch.rows() {
            let mut key = Vec::new();
            row.record().append_key(&mut key);
            records.push((key, row.record().payload().to_vec()));
        }
    }
    records
}

#[test]
fn indexes_of_integers_are_built_of_short_keys_and_unique_ones_find_duplicates() {
    let mut wide = def();
    wide.name = "integers".into();
    wide.columns[1].nullable = false;
    let kinds = [IndexKind::Secondary, IndexKind::Unique];
    wide.indexes.extend(kinds.map(|kind| IndexDef::new(&format!("{kind:?}"), kind, &[1])));
    wide.indexes.push(IndexDef::new("c", IndexKind::Secondary, &[2]));
    let (engine, _) = engine();
    let of_integers = engine.create_table(wide.clone()).unwrap();
    let is_short = |table: &Table, at: usize| built_entry::layout(&table.indexes[at]) != Layout::Headed;
    assert!(is_short(&of_integers, 1) && is_short(&of_integers, 2) && !is_short(&of_integers, 3));
    wide.name = "with_nulls".into();
    wide.columns[1].nullable = true;
    let with_nulls = engine.create_table(wide).unwrap();
    // Of a unique key NULLs may repeat.
    assert!(is_short(&with_nulls, 1) && !is_short(&with_nulls, 2));

    let mut def = def();
    def.columns[1].nullable = false;
    let table = engine.create_table(def).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..3000 {
        insert(&engine, &table, &mut trx, &Wide::new(id, (id * 7919) % 3001, "c")).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let unique = || vec![IndexDef::new("u", IndexKind::Unique, &[1])];
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(9000, 2_500, "c")).unwrap();
    engine.commit(&mut trx).unwrap();
    assert!((0..3000).any(|id| (id * 7919) % 3001 == 2_500), "a row has the key already");
    assert!(matches!(add_indexes(&engine, unique(), &LEAST), Err(Error::DuplicateKey(_))));
    let mut trx = engine.begin(BeginOptions::default());
    delete(&engine, &table, &mut trx, 9000).unwrap();
    engine.commit(&mut trx).unwrap();
    add_indexes(&engine, unique(), &LEAST).unwrap();
}

pub(super) fn temp_files(disk: &SimDisk) -> usize {
    disk.list(Path::new("/data/tmp")).unwrap().len()
}

pub(super) fn notes(engine: &Engine) -> usize {
    engine.dictionary.list(&engine.store, Kind::PendingTrees).unwrap().len()
}

pub(super) fn pages_used(engine: &Engine) -> u64 {
    engine.store().space_report().pages_used
}

#[test]
fn an_index_has_the_same_entries_whatever_the_memory() {
    let mut built = Vec::new();
    for memory in [HUGE, LEAST] {
        let (engine, disk) = engine();
        filled(&engine, 5000);
        let table = add_indexes(&engine, new_indexes(), &memory).unwrap();
        assert_sound(&engine, &table);
        let totals = engine.index_sort_totals();
        assert_eq!((totals.keys, totals.runs > 5, temp_files(&disk)), (25_000, memory.buffer_bytes == 0, 0));
        built.push((1..table.indexes.len()).map(|at| records(&engine, &table, at)).collect::<Vec<_>>());
    }
    assert!(built[0].iter().all(|index| index.len() == 5000 && index.is_sorted()));
    assert!(built[0] == built[1]);
}

#[test]
fn a_rebuild_sorts_its_indexes_in_the_same_memory() {
    let (engine, disk) = engine();
    let table = filled(&engine, 5000);
    let mut def = (*table.def).clone();
    def.indexes.extend(new_indexes());
    let alteration = Alteration { def, auto_increment: None };
    let kept: Vec<_> = (0..4).map(Some).collect();
    let options = BuildOptions { memory: LEAST, ..BuildOptions::default() };
    let rebuilt: Result<u64> =
        engine.rebuild_table(&table.def, alteration, &kept, &options, SHORT, |row, put| put(row));
    rebuilt.unwrap();
    let totals = engine.index_sort_totals();
    assert!(totals.keys == 25_000 && totals.runs > 5, "{totals:?}");
    assert_eq!(temp_files(&disk), 0);
    assert_sound(&engine, &engine.table("s", "t").unwrap());
}

#[test]
fn rows_without_a_key_of_their_own_are_sorted() {
    let (engine, _disk) = engine();
    let columns = vec![ColumnDef::new("k", SqlType::new(TypeKind::Int, 11), false)];
    let table = engine.create_table(TableDef::new("s", "t", columns, Vec::new())).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for k in 0..6000i32 {
        table.insert(&engine, &mut trx, &[Some(&((k * 37) % 100).to_le_bytes())]).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let table = add_indexes(&engine, vec![IndexDef::new("k", IndexKind::Secondary, &[0])], &LEAST).unwrap();
    assert!(engine.index_sort_totals().runs > 1);
    assert_eq!(records(&engine, &table, 1).len(), 6000);
    assert_sound(&engine, &table);
}

#[test]
fn duplicates_in_different_runs_are_found_and_named_as_in_memory() {
    let mut errors = Vec::new();
    for memory in [HUGE, LEAST] {
        let (engine, disk) = engine();
        let table = filled(&engine, 5000);
        let mut trx = engine.begin(BeginOptions::default());
        for (id, c) in [(9000, "Zwilling"), (20, "zwilling"), (9001, "Zz"), (21, "zz")] {
            delete(&engine, &table, &mut trx, id).unwrap();
            insert(&engine, &table, &mut trx, &Wide::new(id, 100_000 + id, c)).unwrap();
        }
        engine.commit(&mut trx).unwrap();
        let used = pages_used(&engine);
        // The first index has many NULLs, but no duplicates.
        let mut indexes = new_indexes();
        let mut unique = IndexDef::new("u2", IndexKind::Unique, &[2]);
        unique.parts[0].prefix_len = Some(9);
        indexes.push(unique);
        let Err(Error::DuplicateKey(clash)) = add_indexes(&engine, indexes, &memory) else {
            panic!("duplicates are refused")
        };
        let values: Vec<_> = clash.parts.iter().map(|part| part.value.clone()).collect();
        errors.push((clash.table, clash.index, values));
        assert!(table.is_current());
        assert_eq!((pages_used(&engine), notes(&engine), temp_files(&disk)), (used, 0, 0));
        assert_sound(&engine, &table);
    }
    assert_eq!(errors[0], errors[1]);
}

#[test]
fn a_disk_without_room_for_the_file_fails_the_statement_alone() {
    let (engine, disk) = engine();
    let table = filled(&engine, 5000);
    let used = pages_used(&engine);
    engine.checkpoint().unwrap();
    let mut next = table.clustered().def.id.0 + 1;
    for nth in [1, 2, 9] {
        let file = format!("index-{next}.sort").leak();
        next += new_indexes().len() as u32;
        disk.schedule_all(&[env::ScheduledFault {
            op: Some(env::IoOp::Write),
            file: Some(file),
            nth,
            fault: FaultKind::Error(std::io::ErrorKind::StorageFull),
        }]);
        let error = add_indexes(&engine, new_indexes(), &LEAST).unwrap_err();
        assert!(matches!(&error, Error::TempFile(_)) && error.effect() == Effect::Statement, "{error:?}");
        assert!(table.is_current());
        assert_eq!((pages_used(&engine), notes(&engine), temp_files(&disk)), (used, 0, 0));
    }
    let table = add_indexes(&engine, new_indexes(), &LEAST).unwrap();
    assert_sound(&engine, &table);
}

#[test]
fn a_killed_statement_leaves_nothing() {
    let (engine, disk) = engine();
    let table = filled(&engine, 5000);
    let used = pages_used(&engine);
    interrupt::set_flag(Some(Arc::new(AtomicBool::new(true))));
    let error = add_indexes(&engine, new_indexes(), &LEAST).unwrap_err();
    interrupt::set_flag(None);
    assert!(matches!(error, Error::Lock(trx::Error::Interrupted)), "{error:?}");
    assert!(table.is_current());
    assert_eq!((pages_used(&engine), notes(&engine), temp_files(&disk)), (used, 0, 0));
}

#[test]
fn a_crash_leaves_all_of_the_indexes_or_none_and_no_file() {
    let mut files_left = 0;
    let mut nth = 1;
    loop {
        let disk = Arc::new(SimDisk::seeded(nth));
        let engine = Engine::open(config(&disk)).unwrap();
        engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
        filled(&engine, 3000);
        engine.checkpoint().unwrap();
        disk.schedule(None, nth, FaultKind::PowerOff);
        let done = add_indexes(&engine, new_indexes(), &LEAST).is_ok();
        let was_cut = disk.is_powered_off();
        drop(engine);
        // Of names, too, a crash keeps some.
        let disk = Arc::new(disk.crash_keeping(|_, _| true));
        files_left += temp_files(&disk);
        let engine = Engine::open(config(&disk)).unwrap();
        let table = engine.table("s", "t").unwrap();
        assert!([1, 6].contains(&table.indexes.len()) && (!done || table.indexes.len() == 6));
        assert_sound(&engine, &table);
        assert_eq!((notes(&engine), temp_files(&disk)), (0, 0));
        engine.shutdown().unwrap();
        drop((table, engine));
        assert_eq!(look_at(&disk).findings, []);
        if !was_cut {
            break;
        }
        nth += 1 + nth / 3;
    }
    assert!(files_left > 3, "{files_left} crashes in the middle of a sort");
}

#[test]
fn readers_go_on_while_an_index_is_built_and_writers_wait() {
    let (engine, disk) = engine();
    let table = filled(&engine, 3000);
    let used = pages_used(&engine);
    let is_timeout = |error: Error| matches!(error, Error::Lock(trx::Error::LockWaitTimeout));
    let mut other = engine.begin(BeginOptions::default());
    engine.open_table_to(&mut other, "s", "t", TableUse::Write).unwrap();
    // Nothing is read while a transaction may change rows.
    assert!(is_timeout(add_indexes(&engine, new_indexes(), &LEAST).unwrap_err()));
    assert_eq!(engine.index_sort_totals().keys, 0);
    engine.commit(&mut other).unwrap();

    other.restart(BeginOptions::default());
    let opened = engine.open_table_to(&mut other, "s", "t", TableUse::Read).unwrap();
    assert_eq!(rows(&engine, &opened, other.view()).len(), 3000);
    // Only the new definition waits for a reader.
    assert!(is_timeout(add_indexes(&engine, new_indexes(), &LEAST).unwrap_err()));
    assert_eq!(engine.index_sort_totals().keys, 15_000);
    assert_eq!((pages_used(&engine), notes(&engine), temp_files(&disk)), (used, 0, 0));
    assert!(table.is_current());
    // The reader may write once the build has given up.
    assert!(engine.lock_table(&mut other, &opened, TableUse::Write).unwrap());
    engine.commit(&mut other).unwrap();
    let table = add_indexes(&engine, new_indexes(), &LEAST).unwrap();
    assert_sound(&engine, &table);
}
