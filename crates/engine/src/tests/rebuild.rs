//! Tables whose rows are all rewritten.

use std::time::Duration;

use trx::TableUse;
use types::{ColumnDef, IndexDef, IndexKind, SqlType, TableDef};

use super::support::*;
use crate::dictionary::Kind;
use crate::*;

const SHORT: Duration = Duration::from_millis(20);
/// Where the columns of [`extended`] are in [`wide_def`].
const EXTENDED: [Option<u16>; 5] = [None, Some(0), Some(1), Some(2), Some(3)];

fn pages_used(engine: &Engine) -> u64 {
    engine.store().space_report().pages_used
}

fn notes(engine: &Engine) -> usize {
    engine.dictionary.list(&engine.store, Kind::PendingTrees).unwrap().len()
}

/// A table with rows, some of them with values off their pages.
fn filled(engine: &std::sync::Arc<Engine>) -> std::sync::Arc<Table> {
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..400 {
        let body = (id % 20 == 0).then(|| "long ".repeat(3000));
        insert(engine, &table, &mut trx, &Wide { body, ..Wide::new(id, 400 - id, &format!("c{id}")) })
            .unwrap();
    }
    engine.commit(&mut trx).unwrap();
    table
}

/// [`wide_def`] with another column before the others.
fn extended(old: &TableDef) -> TableDef {
    let mut def = old.clone();
    def.columns.insert(0, ColumnDef::new("extra", SqlType::bigint(), false));
    for part in def.indexes.iter_mut().flat_map(|index| &mut index.parts) {
        part.column += 1;
    }
    def
}

/// Writers wait.
fn alone() -> BuildOptions {
    BuildOptions { lets_writers_on: false, ..BuildOptions::default() }
}

/// Makes the table again with 7 in the new column.
fn rebuild(engine: &Engine, table: &Table, def: TableDef) -> Result<u64> {
    let alteration = Alteration { def, auto_increment: None };
    engine.rebuild_table(&table.def, alteration, &EXTENDED, &alone(), SHORT, |row, put| {
        let seven = 7i64.to_le_bytes();
        let new: Vec<_> = [Some(&seven[..])].into_iter().chain(row.iter().copied()).collect();
        put(&new)
    })
}

#[test]
fn a_table_made_anew_has_its_rows_and_gives_the_old_trees_back() {
    let (engine, disk) = engine();
    let table = filled(&engine);
    let mut reader = engine.begin(BeginOptions::default());
    let old_view = reader.view();
    let mut other = engine.begin(BeginOptions::default());
    let before = engine.create_table(wide_def("other")).unwrap();
    insert(&engine, &before, &mut other, &Wide::new(1, 1, "x")).unwrap();
    engine.commit(&mut other).unwrap();
    rebuild(&engine, &table, extended(&table.def)).unwrap();
    let new = engine.table("s", "t").unwrap();
    assert!(!table.is_current() && new.def.columns.len() == 5);
    let used = pages_used(&engine);
    let same: Vec<_> = (0..5).map(Some).collect();
    let alteration = Alteration { def: (*new.def).clone(), auto_increment: None };
    let again: Result<u64> =
        engine.rebuild_table(&new.def, alteration, &same, &alone(), SHORT, |row, put| put(row));
    again.unwrap();
    let new = engine.table("s", "t").unwrap();
    assert_eq!((notes(&engine), pages_used(&engine)), (0, used));
    assert!(engine.check_table("s", "t", SHORT, check::Depth::Full).unwrap().problems.is_empty());
    assert_eq!(new.count_rows(&engine).unwrap(), 400);
    let body = new.get(&engine, &ReadView::newest(), &key(40), |row| value(&engine, &row, 4)).unwrap();
    assert_eq!(body.flatten().map(|body| body.len()), Some(15_000));
    let row = new.get(&engine, &old_view, &key(3), |_| ());
    assert!(matches!(row, Err(Error::TableDefinitionChanged)));
    engine.shutdown().unwrap();
    drop((table, new, before, reader, other, engine));
    let engine = Engine::open(config(&disk)).unwrap();
    let new = engine.table("s", "t").unwrap();
    assert_eq!((new.count_rows(&engine).unwrap(), notes(&engine)), (400, 0));
    let extra = new.get(&engine, &ReadView::newest(), &key(3), |row| value(&engine, &row, 0)).unwrap();
    assert_eq!(extra.flatten(), Some(7i64.to_le_bytes().to_vec()));
}

#[test]
fn rows_come_in_the_order_of_another_clustered_key() {
    let (engine, _disk) = engine();
    let table = filled(&engine);
    let mut def = extended(&table.def);
    def.columns[2].nullable = false;
    def.indexes[0].parts[0].column = 2;
    rebuild(&engine, &table, def.clone()).unwrap();
    let new = engine.table("s", "t").unwrap();
    let mut scan =
        Scan::open(&engine, &new, 0, ReadView::newest(), KeyRange::all(), Direction::Forward).unwrap();
    let mut ids = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        ids.extend(batch.rows().map(|row| value(&engine, &row, 1).unwrap()[..2].to_vec()));
    }
    drop(scan);
    let wanted: Vec<Vec<u8>> = (0..400u16).rev().map(|id| id.to_le_bytes().to_vec()).collect();
    assert_eq!(ids, wanted);
    assert!(engine.check_table("s", "t", SHORT, check::Depth::Full).unwrap().problems.is_empty());
}

#[test]
fn what_fails_leaves_the_old_table_and_no_pages() {
    let (engine, _disk) = engine();
    let table = filled(&engine);
    let used = pages_used(&engine);
    // All rows have 7 there.
    let mut taken = extended(&table.def);
    taken.indexes[0].parts[0].column = 0;
    let mut clashing = extended(&table.def);
    clashing.indexes.push(IndexDef::new("seven", IndexKind::Unique, &[0]));
    for def in [taken, clashing] {
        let error = rebuild(&engine, &table, def).unwrap_err();
        assert!(matches!(error, Error::DuplicateKey(_)), "{error:?}");
        assert!(table.is_current());
        assert_eq!((notes(&engine), pages_used(&engine)), (0, used));
    }
    let alteration = Alteration { def: extended(&table.def), auto_increment: None };
    let stopped: Result<u64> =
        engine.rebuild_table(&table.def, alteration, &EXTENDED, &alone(), SHORT, |_, put| {
            put(&[Some(&[0; 8]), Some(&[1, 0, 0, 0]), None, None, Some(&vec![b'x'; 50_000])])?;
            Err(Error::AutoIncrementExhausted)
        });
    assert!(matches!(stopped, Err(Error::AutoIncrementExhausted)));
    assert_eq!((notes(&engine), pages_used(&engine)), (0, used));
    assert_eq!(table.count_rows(&engine).unwrap(), 400);
    let mut def = extended(&table.def);
    let part = def.indexes[1].parts[0];
    def.indexes[1].parts.push(part);
    assert!(matches!(rebuild(&engine, &table, def), Err(Error::Definition(_))));
}

#[test]
fn the_first_error_of_a_rebuild_is_its_error() {
    let (engine, disk) = engine();
    let table = filled(&engine);
    let alteration = Alteration { def: extended(&table.def), auto_increment: None };
    let stopped: Result<u64> =
        engine.rebuild_table(&table.def, alteration, &EXTENDED, &alone(), SHORT, |_, _| {
            // The log ends, so that the trees that were made cannot be freed.
            disk.schedule(Some(env::IoOp::Sync), 1, env::FaultKind::Error(std::io::ErrorKind::Other));
            engine.store().log().flush().unwrap_err();
            Err(Error::AutoIncrementExhausted)
        });
    assert!(matches!(stopped, Err(Error::AutoIncrementExhausted)), "{stopped:?}");
    assert!(engine.dropped_trees.are_waiting());
}

/// (id, n, c VARCHAR(2000), body), each `nth` row with a value on a page of its own; and its space.
fn filled_with_values(engine: &std::sync::Arc<Engine>, rows: i32, nth: i32) -> std::sync::Arc<Table> {
    let mut def = wide_def("t");
    def.columns[2].ty = SqlType::varchar(2000, types::CollationId::UTF8MB4_BIN);
    def.indexes.truncate(1);
    let table = engine.create_table(def).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..rows {
        let body = (id % nth == 0).then(|| "long ".repeat(2000));
        let row = Wide { body, ..Wide::new(id, 0, &"c".repeat(1500)) };
        insert(engine, &table, &mut trx, &row).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    table
}

#[test]
fn a_rebuilt_table_takes_no_more_space_than_one_that_was_filled_by_inserts() {
    // The second one outgrows shared extents: its later values go to extents of its own.
    for (rows, nth) in [(30, 5), (600, 3)] {
        for by_other_key in [false, true] {
            let (engine, _disk) = engine();
            let table = filled_with_values(&engine, rows, nth);
            let inserted = engine.store().space_report();
            let mut def = extended(&table.def);
            if by_other_key {
                let first = types::KeyPart { column: 2, ..def.indexes[0].parts[0] };
                def.indexes[0].parts.insert(0, first);
                def.columns[2].nullable = false;
            }
            rebuild(&engine, &table, def).unwrap();
            let rebuilt = engine.store().space_report();
            let what = format!("{rows} {by_other_key}: {inserted:?} {rebuilt:?}");
            assert!(rebuilt.pages_used <= inserted.pages_used + 2, "{what}");
            assert!(rebuilt.extents_shared <= inserted.extents_shared + 1, "{what}");
        }
    }
}

#[test]
fn readers_go_on_and_writers_wait_while_rows_are_copied() {
    let (engine, _disk) = engine();
    let table = filled(&engine);
    let lock = &table.state.lock;
    let alteration = Alteration { def: extended(&table.def), auto_increment: None };
    let copied: Result<u64> =
        engine.rebuild_table(&table.def, alteration, &EXTENDED, &alone(), SHORT, |row, _| {
            if row[0] == Some(&[0; 4]) {
                assert!(!lock.try_shared(TableUse::Write, true));
                assert!(lock.try_shared(TableUse::Read, false));
            }
            Ok(())
        });
    // The reader is still there when the new table is to take the place.
    assert!(matches!(copied, Err(Error::Lock(trx::Error::LockWaitTimeout))), "{copied:?}");
    assert!(table.is_current() && notes(&engine) == 0);
    lock.unlock_shared(TableUse::Read);
    assert!(lock.try_shared(TableUse::Write, false));
    assert!(matches!(
        rebuild(&engine, &table, extended(&table.def)),
        Err(Error::Lock(trx::Error::LockWaitTimeout))
    ));
    lock.unlock_shared(TableUse::Write);
    rebuild(&engine, &table, extended(&table.def)).unwrap();
}

#[test]
fn a_type_that_a_full_disk_keeps_from_changing_is_still_what_pages_are_checked_against() {
    let (engine, disk) = engine();
    let table = filled(&engine);
    let mut def = (*table.def).clone();
    def.columns[2].ty.length = 62;
    let holders = || table.indexes.iter().map(|index| std::sync::Arc::strong_count(&index.format)).collect();
    let before: Vec<usize> = holders();
    disk.set_capacity(disk.used());
    let full = (400..).find_map(|id| {
        let mut trx = engine.begin(BeginOptions::default());
        let inserted = insert(&engine, &table, &mut trx, &Wide::new(id, 1, &format!("c{id}")));
        inserted.and_then(|()| engine.commit(&mut trx)).err()
    });
    assert!(full.is_some_and(|error| error.is_full_disk()));
    let alteration = Alteration { def, auto_increment: None };
    let refused =
        engine.alter_table(&table.def, alteration.clone(), &BuildOptions::default(), SHORT).unwrap_err();
    assert!(refused.is_full_disk(), "{refused:?}");
    // The pool has not let go of the formats of the table.
    assert_eq!(holders(), before);
    disk.set_capacity(u64::MAX);
    engine.alter_table(&table.def, alteration, &BuildOptions::default(), SHORT).unwrap();
    assert!(holders().iter().zip(&before).all(|(now, before)| now < before), "nor does it keep them");
}

#[test]
fn a_type_that_keeps_its_bytes_changes_without_new_rows() {
    let (engine, _disk) = engine();
    let table = filled(&engine);
    let tree = table.clustered().tree.index;
    let mut def = (*table.def).clone();
    def.columns[2].ty.length = 62;
    assert!(has_same_storage(&table.def.columns[2].ty, &def.columns[2].ty));
    engine
        .alter_table(
            &table.def,
            Alteration { def: def.clone(), auto_increment: None },
            &BuildOptions::default(),
            SHORT,
        )
        .unwrap();
    let table = engine.table("s", "t").unwrap();
    assert_eq!(table.clustered().tree.index, tree);
    let mut trx = engine.begin(BeginOptions::default());
    let long = "y".repeat(62);
    insert(&engine, &table, &mut trx, &Wide::new(1000, 1, &long)).unwrap();
    engine.commit(&mut trx).unwrap();
    assert!(engine.check_table("s", "t", SHORT, check::Depth::Full).unwrap().problems.is_empty());
    for length in [61, 64] {
        def.columns[2].ty.length = length;
        assert!(!has_same_storage(&table.def.columns[2].ty, &def.columns[2].ty), "{length}");
    }
}
