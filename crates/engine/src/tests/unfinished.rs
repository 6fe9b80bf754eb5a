//! Transactions that a crash left open, while clients work: no other sees their rows or changes them, and
//! they are rolled back whatever comes between.

use std::sync::Arc;
use std::time::Duration;

use base::{IndexId, TrxId};
use env::SimDisk;

use super::support::*;
use crate::*;

/// Rows that are committed before the transaction that stays open.
const ROWS: i32 = 40;

fn short_wait() -> BeginOptions {
    BeginOptions { lock_wait: Duration::ZERO, metadata_wait: Duration::ZERO, ..BeginOptions::default() }
}

fn body(id: i32, len: usize) -> Wide {
    Wide { body: Some("b".repeat(len)), ..Wide::new(id, id % 5, &format!("c{id}")) }
}

/// The disk of a crash with an open transaction that has changed, deleted and inserted rows of `s.t`, and
/// part of which was rolled back; the rows that were committed, and the transaction's id.
fn crashed() -> (Arc<SimDisk>, Vec<Wide>, TrxId) {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let other = engine.create_table(wide_def("other")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 1..=ROWS {
        insert(&engine, &table, &mut trx, &body(id, if id % 9 == 0 { 9000 } else { 30 })).unwrap();
    }
    insert(&engine, &other, &mut trx, &Wide::new(1, 1, "other")).unwrap();
    delete(&engine, &table, &mut trx, ROWS).unwrap();
    engine.commit(&mut trx).unwrap();
    let before = rows(&engine, &table, ReadView::newest());
    trx.restart(BeginOptions::default());
    engine.lock_table(&mut trx, &table, TableUse::Write).unwrap();
    for id in (1..ROWS).step_by(4) {
        update(&engine, &table, &mut trx, id, &Wide { k: Some(77), ..body(id, 30) }).unwrap();
        update(&engine, &table, &mut trx, id + 1, &body(id + 1, 500)).unwrap();
        delete(&engine, &table, &mut trx, id + 2).unwrap();
        insert(&engine, &table, &mut trx, &body(id + 100, 20)).unwrap();
        let mark = trx.mark();
        update(&engine, &table, &mut trx, id + 1, &body(id + 1, 9500)).unwrap();
        update(&engine, &table, &mut trx, id, &Wide { k: Some(78), ..body(id, 30) }).unwrap();
        if id % 8 == 1 {
            engine.rollback_statement(&mut trx, mark).unwrap();
        }
    }
    // Over a row that the transaction before it has deleted.
    insert(&engine, &table, &mut trx, &body(ROWS, 10)).unwrap();
    let id = trx.id().unwrap();
    engine.store().log().flush().unwrap();
    let disk = Arc::new(disk.crash());
    std::mem::forget(trx);
    (disk, before, id)
}

fn open(disk: &Arc<SimDisk>) -> (Arc<Engine>, Arc<Table>) {
    open_with(disk, 64 << 20)
}

fn open_with(disk: &Arc<SimDisk>, undo_memory_bytes: usize) -> (Arc<Engine>, Arc<Table>) {
    let engine = Engine::open_unfinished(&EngineConfig { undo_memory_bytes, ..config(disk) }).unwrap();
    let table = engine.table("s", "t").unwrap();
    (engine, table)
}

/// What a view taken now sees, through each index.
fn assert_seen(engine: &Arc<Engine>, table: &Table, expected: &[Wide]) {
    let mut trx = engine.begin(BeginOptions::default());
    let view = trx.view();
    assert_eq!(rows(engine, table, view), expected);
    for index in 1..table.indexes.len() {
        let ids: Vec<i32> = expected.iter().map(|row| row.id).collect();
        assert_eq!(ids_by_index(engine, table, index, view), ids, "{}", table.indexes[index].def.name);
    }
    engine.commit(&mut trx).unwrap();
}

fn is_timeout<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Lock(trx::Error::LockWaitTimeout)))
}

#[test]
fn views_see_nothing_of_a_transaction_that_a_crash_left_open_and_writers_wait_for_it() {
    let (disk, before, id) = crashed();
    let (engine, table) = open(&disk);
    assert_eq!(engine.unfinished_transactions(), 1);
    assert!(engine.trx_system().is_in_progress(id));
    assert_seen(&engine, &table, &before);
    assert_ne!(rows(&engine, &table, ReadView::newest()), before);
    let infos = engine.trx_system().transactions();
    assert!(infos.iter().any(|info| info.id == Some(id) && info.is_unfinished), "{infos:?}");

    let mut trx = engine.begin(short_wait());
    engine.lock_table(&mut trx, &table, TableUse::Write).unwrap();
    assert!(is_timeout(update(&engine, &table, &mut trx, 1, &body(1, 5))));
    assert!(is_timeout(delete(&engine, &table, &mut trx, 3)));
    assert!(is_timeout(insert(&engine, &table, &mut trx, &body(101, 5))));
    // Its unique column is that of a row that the open transaction has deleted.
    assert!(is_timeout(insert(&engine, &table, &mut trx, &Wide::new(500, 1, "c3"))));
    update(&engine, &table, &mut trx, 4, &body(4, 700)).unwrap();
    insert(&engine, &engine.table("s", "other").unwrap(), &mut trx, &Wide::new(2, 2, "new")).unwrap();
    engine.commit(&mut trx).unwrap();
    assert!(is_timeout(engine.drop_table("s", "t", Duration::ZERO)));
    engine.drop_table("s", "other", Duration::ZERO).unwrap();

    let after: Vec<Wide> =
        before.iter().map(|row| if row.id == 4 { body(4, 700) } else { row.clone() }).collect();
    let mut old = engine.begin(BeginOptions::default());
    let old_view = old.view();
    while engine.rollback_step(7).unwrap().unfinished > 0 {
        assert_seen(&engine, &table, &after);
        assert_eq!(rows(&engine, &table, old_view), after);
    }
    assert_eq!(rows(&engine, &table, ReadView::newest()), after);
    assert_eq!(rows(&engine, &table, old_view), after);
    engine.commit(&mut old).unwrap();
    assert!(!engine.trx_system().is_in_progress(id));
    assert!(!engine.trx_system().transactions().iter().any(|info| info.is_unfinished));
    trx.restart(short_wait());
    update(&engine, &table, &mut trx, 1, &body(1, 5)).unwrap();
    insert(&engine, &table, &mut trx, &body(101, 5)).unwrap();
    engine.rollback(&mut trx).unwrap();
    assert_sound(&engine, &table);
    engine.purge_step(usize::MAX).unwrap();
    assert_eq!(engine.trx_system().undo().chunk_count(), 1, "undo of the session alone");
    engine.drop_table("s", "t", Duration::ZERO).unwrap();
}

#[test]
fn a_rollback_that_crashes_cut_short_undoes_each_record_once() {
    let (crashed, before, id) = crashed();
    let (engine, _) = open(&crashed.crash().into());
    let all = engine.rollback_step(usize::MAX).unwrap().undone;
    assert!(all > 60, "{all} records");
    for steps in [3, 5, 13] {
        let mut disk: Arc<SimDisk> = crashed.crash().into();
        let (mut undone, mut rounds) = (0, 0);
        for round in 0.. {
            let (engine, table) = open(&disk);
            assert_seen(&engine, &table, &before);
            if engine.unfinished_transactions() == 0 {
                assert_eq!(rows(&engine, &table, ReadView::newest()), before);
                assert_sound(&engine, &table);
                break;
            }
            undone += engine.rollback_step(steps).unwrap().undone;
            // Others work and commit in between, with undo of their own.
            let mut trx = engine.begin(short_wait());
            insert(&engine, &table, &mut trx, &body(1000, 40)).unwrap();
            engine.commit(&mut trx).unwrap();
            trx.restart(short_wait());
            delete(&engine, &table, &mut trx, 1000).unwrap();
            assert!(trx.id().unwrap() > id);
            engine.commit(&mut trx).unwrap();
            if round % 2 == 0 {
                engine.checkpoint().unwrap();
            }
            engine.store().log().flush().unwrap();
            disk = disk.crash().into();
            rounds = round;
        }
        // A record whose compensation was to go into the next frame, because there was nothing to change,
        // comes again.
        assert!((all..=all + rounds).contains(&undone), "{undone} of {all} records, {steps} at a time");
    }
}

#[test]
fn undo_that_memory_has_no_room_for_is_read_from_the_file_it_is_swapped_to() {
    let (disk, before, _) = crashed();
    let (engine, table) = open_with(&disk, 0);
    let (writes, _) = engine.trx_system().undo().swaps_and_reads();
    assert!(writes > 0);
    assert_seen(&engine, &table, &before);
    assert!(engine.trx_system().undo().swaps_and_reads().1 > 0);
    engine.shutdown().unwrap();
    drop((table, engine));
    assert!(look_at(&disk).findings.is_empty());
    let (engine, table) = open(&disk);
    assert_eq!((engine.unfinished_transactions(), rows(&engine, &table, ReadView::newest())), (0, before));
}

#[test]
fn sweep_and_purge_leave_what_an_open_transaction_has_deleted() {
    let (disk, before, _) = crashed();
    let (engine, table) = open(&disk);
    while engine.sweep_step().unwrap().is_some() {}
    engine.purge_step(usize::MAX).unwrap();
    assert_seen(&engine, &table, &before);
    engine.roll_back_unfinished().unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()), before);
    assert_sound(&engine, &table);
}

#[test]
fn the_background_rolls_back_while_views_stay_as_they_are() {
    let (disk, before, id) = crashed();
    let engine = Engine::open(EngineConfig { background: true, ..config(&disk) }).unwrap();
    let table = engine.table("s", "t").unwrap();
    while engine.unfinished_transactions() > 0 {
        assert_seen(&engine, &table, &before);
    }
    assert!(!engine.trx_system().is_in_progress(id));
    assert_seen(&engine, &table, &before);
    engine.shutdown().unwrap();
}

#[test]
fn ids_from_before_the_start_that_have_ended_are_seen_beside_an_open_one() {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut open_trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut open_trx, &Wide::new(1, 1, "open")).unwrap();
    // Committed with a greater id than that of the open one, and not written to data.pages.
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(2, 2, "committed")).unwrap();
    engine.commit(&mut trx).unwrap();
    let disk = Arc::new(disk.crash());
    std::mem::forget(open_trx);
    let (engine, table) = open(&disk);
    assert_seen(&engine, &table, &[Wide::new(2, 2, "committed")]);
    let mut trx = engine.begin(short_wait());
    update(&engine, &table, &mut trx, 2, &Wide::new(2, 3, "again")).unwrap();
    engine.commit(&mut trx).unwrap();
    engine.roll_back_unfinished().unwrap();
    assert_seen(&engine, &table, &[Wide::new(2, 3, "again")]);
}

#[test]
fn open_transactions_are_undone_before_trees_of_an_interrupted_definition_change_are_freed() {
    let (disk, before, _) = crashed();
    let (engine, _) = open(&disk);
    // No table has it.
    engine.put_pending_trees(&[IndexId(9999)]).unwrap();
    engine.store().log().flush().unwrap();
    let disk = Arc::new(disk.crash());
    let (engine, table) = open(&disk);
    assert_eq!(engine.unfinished_transactions(), 0);
    assert_eq!(rows(&engine, &table, ReadView::newest()), before);
    assert_sound(&engine, &table);
}
