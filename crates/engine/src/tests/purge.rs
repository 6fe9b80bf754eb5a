//! Purge waits for no DDL statement, and none waits long for purge.

use std::sync::Arc;
use std::time::Duration;

use super::support::*;
use crate::*;

const WAIT: Duration = Duration::from_secs(1);

/// A table of `rows` rows.
fn filled(engine: &Arc<Engine>, name: &str, rows: i32) -> Arc<Table> {
    let table = engine.create_table(wide_def(name)).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..rows {
        let body = (id % 5 == 0).then(|| "long ".repeat(3000));
        insert(engine, &table, &mut trx, &Wide { body, ..Wide::new(id, id, &format!("c{id}")) }).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    table
}

/// Deletes the rows `ids` of the tables in one transaction.
fn delete_from(engine: &Arc<Engine>, tables: &[&Arc<Table>], ids: std::ops::Range<i32>) {
    let mut trx = engine.begin(BeginOptions::default());
    for (table, id) in tables.iter().flat_map(|table| ids.clone().map(move |id| (table, id))) {
        assert!(delete(engine, table, &mut trx, id).unwrap());
    }
    engine.commit(&mut trx).unwrap();
}

fn leftovers(engine: &Engine, table: &Table) -> u64 {
    let report = table.check(engine).unwrap();
    assert_eq!(report.problems, []);
    report.leftovers
}

#[test]
fn a_transaction_whose_table_is_locked_is_passed_over_and_purged_later() {
    let (engine, _disk) = engine();
    let (locked, free) = (filled(&engine, "t", 40), filled(&engine, "u", 40));
    delete_from(&engine, &[&locked], 0..10);
    // The records of the free table come first, newest first.
    delete_from(&engine, &[&locked, &free], 10..20);
    delete_from(&engine, &[&free], 20..30);
    locked.state.lock.lock_exclusive(&WAIT.into()).unwrap();
    let purged = engine.purge_step(usize::MAX).unwrap();
    assert_eq!((purged.transactions, engine.trx_system().purge_pending()), (1, 2));
    assert_eq!(leftovers(&engine, &free), 0);
    // Nothing that they need is freed, and another step finds the same.
    assert_eq!(engine.purge_step(usize::MAX).unwrap(), PurgeReport::default());
    assert!(leftovers(&engine, &locked) > 0);
    locked.state.lock.unlock_exclusive();
    assert_eq!(engine.purge_step(usize::MAX).unwrap().transactions, 2);
    assert_eq!((leftovers(&engine, &locked), engine.trx_system().purge_pending()), (0, 0));
    engine.shutdown().unwrap();
}

#[test]
fn what_a_dropped_table_has_left_to_purge_goes_with_it() {
    let (engine, disk) = engine();
    let empty = engine.store().space_report().pages_used;
    let table = filled(&engine, "t", 200);
    // Values that lost their row, by a change and by a deletion.
    let mut trx = engine.begin(BeginOptions::default());
    update(&engine, &table, &mut trx, 0, &Wide::new(0, 0, "c0")).unwrap();
    engine.commit(&mut trx).unwrap();
    drop(trx);
    delete_from(&engine, &[&table], 50..150);
    engine.drop_table("s", "t", WAIT).unwrap();
    assert_eq!(engine.store().space_report().pages_used, empty);
    // The dropped table's entries are void, and free no pages of other trees.
    let other = filled(&engine, "u", 200);
    assert_eq!(engine.purge_step(usize::MAX).unwrap().removed, 0);
    assert_eq!(engine.trx_system().purge_pending(), 0);
    assert_sound(&engine, &other);
    engine.shutdown().unwrap();
    drop((table, other, engine));
    assert_eq!(look_at(&disk).findings, []);
}

#[test]
fn a_truncated_table_loses_no_page() {
    let (engine, disk) = engine();
    let table = filled(&engine, "t", 200);
    delete_from(&engine, &[&table], 0..100);
    engine.truncate_table("s", "t", WAIT).unwrap();
    engine.purge_step(usize::MAX).unwrap();
    engine.shutdown().unwrap();
    drop((table, engine));
    assert_eq!(look_at(&disk).findings, []);
}

#[test]
fn undo_outlives_its_session_though_the_last_transaction_changed_nothing() {
    let (engine, _disk) = engine();
    let table = filled(&engine, "t", 10);
    let mut reader = engine.begin(BeginOptions::default());
    let before = rows(&engine, &table, reader.view());
    // That of the rows' insertion.
    engine.purge_step(usize::MAX).unwrap();
    let mut writer = engine.begin(BeginOptions::default());
    update(&engine, &table, &mut writer, 3, &Wide::new(3, 33, "changed")).unwrap();
    assert!(delete(&engine, &table, &mut writer, 5).unwrap());
    engine.commit(&mut writer).unwrap();
    // One of its own that only took locks.
    writer.restart(BeginOptions::default());
    assert!(!delete(&engine, &table, &mut writer, 99).unwrap());
    assert!(writer.id().is_some());
    engine.commit(&mut writer).unwrap();
    drop(writer);
    assert_eq!(engine.purge_step(usize::MAX).unwrap(), PurgeReport::default());
    assert_eq!(rows(&engine, &table, reader.view()), before);
    engine.commit(&mut reader).unwrap();
    drop(reader);
    let purged = engine.purge_step(usize::MAX).unwrap();
    assert_eq!((purged.transactions, leftovers(&engine, &table)), (1, 0));
    assert_eq!(engine.trx_system().undo().chunk_count(), 0);
    engine.shutdown().unwrap();
}
