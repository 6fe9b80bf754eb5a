//! What a purge that was lost with memory had to do is done by a sweep after the next startup.

use std::sync::Arc;

use env::{FaultKind, SimDisk};

use super::support::*;
use crate::*;

const ROWS: i32 = 3000;

/// An engine with rows of which all but every tenth were deleted, and others given another `k`, under a
/// reader that keeps purge from it; and the reader.
fn with_garbage() -> (Arc<SimDisk>, Arc<Engine>, Trx, Vec<Wide>) {
    let disk = Arc::new(SimDisk::seeded(1));
    let engine = Engine::open(small_log(&disk)).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..ROWS {
        insert(&engine, &table, &mut trx, &Wide::new(id, id % 9, &format!("c{id}"))).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let mut reader = engine.begin(BeginOptions::default());
    assert_eq!(rows(&engine, &table, reader.view()).len(), ROWS as usize);
    for id in 0..ROWS {
        trx.restart(BeginOptions::default());
        if id % 10 == 0 {
            update(&engine, &table, &mut trx, id, &Wide::new(id, -1, &format!("c{id}"))).unwrap();
        } else {
            assert!(delete(&engine, &table, &mut trx, id).unwrap());
        }
        engine.commit(&mut trx).unwrap();
        if id % 500 == 0 {
            engine.checkpoint().unwrap();
        }
    }
    let left = rows(&engine, &table, ReadView::newest());
    assert_eq!(left.len(), ROWS as usize / 10);
    engine.purge_step(usize::MAX).unwrap();
    engine.checkpoint().unwrap();
    drop(trx);
    (disk, engine, reader, left)
}

fn leftovers(engine: &Engine) -> u64 {
    let table = engine.table("s", "t").unwrap();
    let report = table.check(engine).unwrap();
    assert_eq!(report.problems, []);
    report.leftovers
}

fn sweep_all(engine: &Engine) -> usize {
    let mut removed = 0;
    while let Some(report) = engine.sweep_step().unwrap() {
        removed += report.removed;
    }
    removed
}

#[test]
fn after_a_crash_a_sweep_removes_what_purge_forgot_and_no_more() {
    let (disk, engine, reader, left) = with_garbage();
    let disk = Arc::new(disk.crash());
    drop((reader, engine));
    let engine = Engine::open(small_log(&disk)).unwrap();
    let table = engine.table("s", "t").unwrap();
    let found = leftovers(&engine);
    assert!(found > 5000, "{found} leftovers: the test is not about much");
    let before = engine.store().space_report();
    assert!(before.extents_garbage > 0);
    // What is deleted now is purge's, under a reader or not.
    let mut reader = engine.begin(BeginOptions::default());
    assert_eq!(rows(&engine, &table, reader.view()), left);
    let mut trx = engine.begin(BeginOptions::default());
    assert!(delete(&engine, &table, &mut trx, 10).unwrap());
    engine.commit(&mut trx).unwrap();
    let removed = sweep_all(&engine);
    assert_eq!(removed as u64, found);
    // The row and its entries.
    assert_eq!(leftovers(&engine), 4);
    assert_eq!(rows(&engine, &table, reader.view()), left);
    let after = engine.store().space_report();
    assert!(after.pages_used < before.pages_used * 2 / 3, "{before:?} {after:?}");
    drop((reader, trx));
    engine.shutdown().unwrap();
    drop((table, engine));
    let report = look_at(&disk);
    assert_eq!((report.findings, report.notes), (vec![], vec![]));
    let engine = Engine::open(small_log(&disk)).unwrap();
    assert_eq!((leftovers(&engine), engine.store().space_report().extents_garbage), (0, 0));
    assert_eq!(engine.sweep_step().unwrap(), None);
}

#[test]
fn a_sweep_waits_for_no_definition_change_and_comes_back() {
    let (disk, engine, reader, _) = with_garbage();
    engine.shutdown().unwrap();
    drop((reader, engine));
    let engine = Engine::open(small_log(&disk)).unwrap();
    let found = leftovers(&engine);
    let garbage = engine.store().space_report().extents_garbage;
    let table = engine.table("s", "t").unwrap();
    table.state.lock.lock_exclusive(&std::time::Duration::ZERO.into()).unwrap();
    // Twice: the extents have their turn again.
    assert_eq!([sweep_all(&engine), sweep_all(&engine)], [0, 0]);
    assert_eq!(engine.store().space_report().extents_garbage, garbage);
    table.state.lock.unlock_exclusive();
    assert_eq!((sweep_all(&engine) as u64, leftovers(&engine)), (found, 0));
    assert_eq!(engine.store().space_report().extents_garbage, 0);
}

#[test]
fn what_a_reader_kept_to_a_clean_shutdown_is_swept_after_the_next_start() {
    let (disk, engine, reader, left) = with_garbage();
    engine.shutdown().unwrap();
    drop((reader, engine));
    let engine = Engine::open(small_log(&disk)).unwrap();
    assert!(leftovers(&engine) > 5000);
    sweep_all(&engine);
    assert_eq!((leftovers(&engine), engine.store().space_report().extents_garbage), (0, 0));
    assert_eq!(rows(&engine, &engine.table("s", "t").unwrap(), ReadView::newest()), left);
}

#[test]
fn a_sweep_that_is_cut_short_is_begun_again() {
    let (disk, engine, reader, left) = with_garbage();
    let crashed = disk.crash();
    drop((reader, engine));
    let mut at = 1;
    loop {
        let disk = Arc::new(crashed.crash_keeping(|_, _| true));
        let Ok(engine) = Engine::open(small_log(&disk)) else { panic!("the disk works") };
        disk.schedule(None, at, FaultKind::PowerOff);
        let swept = (|| {
            while engine.sweep_step()?.is_some() {
                engine.store().log().flush()?;
            }
            engine.checkpoint()
        })();
        drop(engine);
        let again = Arc::new(disk.crash());
        let engine = Engine::open(small_log(&again)).unwrap();
        sweep_all(&engine);
        assert_eq!(
            (leftovers(&engine), engine.store().space_report().extents_garbage),
            (0, 0),
            "cut at {at}"
        );
        assert_eq!(rows(&engine, &engine.table("s", "t").unwrap(), ReadView::newest()), left);
        if swept.is_ok() {
            break;
        }
        at += 1 + at / 3;
    }
    assert!(at > 10, "{at} operations");
}

#[test]
fn records_that_move_to_another_extent_are_not_forgotten() {
    let (disk, engine, reader, left) = with_garbage();
    let disk = Arc::new(disk.crash());
    drop((reader, engine));
    // Splits move old marks to new pages before anything is swept.
    let engine = Engine::open(small_log(&disk)).unwrap();
    let table = engine.table("s", "t").unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in ROWS..3 * ROWS {
        let row =
            Wide { body: Some("b".repeat(300)), ..Wide::new(id - 3 * ROWS, id % 9, &format!("c5{id}")) };
        insert(&engine, &table, &mut trx, &row).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    engine.store().log().flush().unwrap();
    let disk = Arc::new(disk.crash());
    drop((trx, table, engine));
    let engine = Engine::open(small_log(&disk)).unwrap();
    assert!(leftovers(&engine) > 5000);
    sweep_all(&engine);
    assert_eq!((leftovers(&engine), engine.store().space_report().extents_garbage), (0, 0));
    let found = rows(&engine, &engine.table("s", "t").unwrap(), ReadView::newest());
    assert_eq!(found.len(), left.len() + 2 * ROWS as usize);
}
