//! Off-page values that a crash has left without a row: a search after the next startup frees them.

use std::sync::Arc;

use env::SimDisk;

use super::support::*;
use crate::*;

const ROWS: i32 = 40;

fn long(id: i32, letter: &str) -> Wide {
    Wide { body: Some(letter.repeat(9000 + id as usize * 700)), ..Wide::new(id, id, &format!("c{id}")) }
}

/// What a crash leaves of rows whose values were replaced, or deleted, under a reader that kept purge from
/// them; and the rows that there are.
fn crashed() -> (Arc<SimDisk>, Vec<Wide>) {
    let disk = Arc::new(SimDisk::seeded(1));
    let engine = Engine::open(small_log(&disk)).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..ROWS {
        insert(&engine, &table, &mut trx, &long(id, "a")).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let mut reader = engine.begin(BeginOptions::default());
    assert_eq!(rows(&engine, &table, reader.view()).len(), ROWS as usize);
    for id in 0..ROWS {
        trx.restart(BeginOptions::default());
        match id % 4 {
            0 => drop(delete(&engine, &table, &mut trx, id).unwrap()),
            1 => drop(update(&engine, &table, &mut trx, id, &long(id, "b")).unwrap()),
            2 => drop(update(&engine, &table, &mut trx, id, &Wide::new(id, 1, &format!("c{id}"))).unwrap()),
            _ => {}
        }
        engine.commit(&mut trx).unwrap();
    }
    engine.purge_step(usize::MAX).unwrap();
    // So much more of the log that it is not kept for purge.
    for id in 1000..1000 + ROWS {
        trx.restart(BeginOptions::default());
        insert(&engine, &table, &mut trx, &Wide { id, c: Some(format!("e{id}")), ..long(id - 1000, "e") })
            .unwrap();
        engine.commit(&mut trx).unwrap();
        engine.checkpoint().unwrap();
    }
    let left = rows(&engine, &table, ReadView::newest());
    let crashed = Arc::new(disk.crash());
    drop((reader, trx, table, engine));
    (crashed, left)
}

fn pages_used(engine: &Engine) -> u64 {
    engine.store().space_report().pages_used
}

fn search_all(engine: &Engine) {
    while engine.sweep_step().unwrap().is_some() {}
    while engine.search_step().unwrap() {}
}

fn assert_closes_clean(engine: Arc<Engine>, disk: &Arc<SimDisk>) {
    engine.shutdown().unwrap();
    drop(engine);
    let report = look_at(disk);
    assert_eq!((report.findings, report.notes), (vec![], Vec::<String>::new()));
}

#[test]
fn values_that_a_crash_left_without_a_row_are_freed_and_no_others() {
    let (disk, left) = crashed();
    let engine = Engine::open(small_log(&disk)).unwrap();
    let table = engine.table("s", "t").unwrap();
    let before = pages_used(&engine);
    search_all(&engine);
    let freed = before - pages_used(&engine);
    assert!(freed > 50, "{freed} pages were freed: the test is not about much");
    assert_eq!(rows(&engine, &table, ReadView::newest()), left);
    assert_sound(&engine, &table);
    drop(table);
    assert_closes_clean(engine, &disk);
}

#[test]
fn rows_that_change_beside_the_search_keep_their_values_and_views_keep_theirs() {
    let (disk, left) = crashed();
    let engine = Engine::open(small_log(&disk)).unwrap();
    let table = engine.table("s", "t").unwrap();
    let mut reader = engine.begin(BeginOptions::default());
    assert_eq!(rows(&engine, &table, reader.view()), left);
    let mut trx = engine.begin(BeginOptions::default());
    let change = |trx: &mut Trx, id: i32| {
        if id % 8 == 3 {
            assert!(delete(&engine, &table, trx, id).unwrap());
        } else {
            update(&engine, &table, trx, id, &long(id, "d")).unwrap();
        }
    };
    let ids = || (0..ROWS).filter(|id| id % 4 != 0);
    ids().filter(|id| id % 3 == 0).for_each(|id| change(&mut trx, id));
    engine.commit(&mut trx).unwrap();
    while engine.sweep_step().unwrap().is_some() {}
    trx.restart(BeginOptions::default());
    ids().filter(|id| id % 3 == 1).for_each(|id| change(&mut trx, id));
    assert!(engine.search_step().unwrap());
    engine.rollback(&mut trx).unwrap();
    trx.restart(BeginOptions::default());
    ids().filter(|id| id % 3 == 2).for_each(|id| change(&mut trx, id));
    search_all(&engine);
    engine.commit(&mut trx).unwrap();
    assert_eq!(rows(&engine, &table, reader.view()), left);
    engine.commit(&mut reader).unwrap();
    engine.purge_step(usize::MAX).unwrap();
    assert_sound(&engine, &table);
    drop((reader, trx));
    assert_closes_clean(engine, &disk);
}

#[test]
fn a_rollback_does_not_bring_back_a_deleted_row_whose_values_are_freed() {
    let (disk, left) = crashed();
    let engine = Engine::open(small_log(&disk)).unwrap();
    let table = engine.table("s", "t").unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in (0..ROWS).filter(|id| id % 4 == 0) {
        insert(&engine, &table, &mut trx, &Wide::new(id, 1, &format!("c{id}"))).unwrap();
    }
    search_all(&engine);
    engine.rollback(&mut trx).unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()), left);
    assert_sound(&engine, &table);
    drop((trx, table));
    assert_closes_clean(engine, &disk);
}

#[test]
fn a_table_that_is_dropped_beside_the_search_takes_its_values_with_it() {
    let (disk, _) = crashed();
    let engine = Engine::open(small_log(&disk)).unwrap();
    engine.create_table(wide_def("other")).unwrap();
    while engine.sweep_step().unwrap().is_some() {}
    assert!(engine.search_step().unwrap());
    engine.drop_table("s", "t", std::time::Duration::from_secs(1)).unwrap();
    search_all(&engine);
    assert_closes_clean(engine, &disk);
}

#[test]
fn a_shutdown_before_the_end_leaves_the_search_to_the_next_start() {
    let (disk, left) = crashed();
    let engine = Engine::open(small_log(&disk)).unwrap();
    engine.shut_down(ShutdownMode::Fast).unwrap();
    drop(engine);
    let report = look_at(&disk);
    assert_eq!(report.findings, []);
    assert!(report.notes.iter().any(|note| note.contains("the next start searches")), "{:?}", report.notes);
    let engine = Engine::open(small_log(&disk)).unwrap();
    let before = pages_used(&engine);
    search_all(&engine);
    assert!(pages_used(&engine) + 50 < before);
    assert_eq!(rows(&engine, &engine.table("s", "t").unwrap(), ReadView::newest()), left);
    assert_closes_clean(engine, &disk);
}

#[test]
fn a_search_that_a_crash_cuts_short_is_begun_again() {
    let (disk, left) = crashed();
    let engine = Engine::open(small_log(&disk)).unwrap();
    while engine.sweep_step().unwrap().is_some() {}
    for _ in 0..3 {
        assert!(engine.search_step().unwrap());
    }
    engine.store().log().flush().unwrap();
    let disk = Arc::new(disk.crash());
    drop(engine);
    let engine = Engine::open(small_log(&disk)).unwrap();
    search_all(&engine);
    assert_eq!(rows(&engine, &engine.table("s", "t").unwrap(), ReadView::newest()), left);
    assert_closes_clean(engine, &disk);
}
