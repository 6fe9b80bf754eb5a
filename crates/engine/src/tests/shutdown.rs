//! What a shutdown leaves to the next startup, by its mode.

use std::sync::Arc;

use env::SimDisk;

use super::support::*;
use crate::*;

/// An engine whose table has delete-marked rows that were not purged, some with values off the page, and an
/// open transaction.
fn with_leftovers(disk: &Arc<SimDisk>) -> (Arc<Engine>, Trx) {
    let engine = Engine::open(config(disk)).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..300 {
        let body = (id % 100 == 0).then(|| "long ".repeat(3000));
        insert(&engine, &table, &mut trx, &Wide { body, ..Wide::new(id, id, &format!("c{id}")) }).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    for id in 0..200 {
        trx.restart(BeginOptions::default());
        assert!(delete(&engine, &table, &mut trx, id).unwrap());
        engine.commit(&mut trx).unwrap();
    }
    trx.restart(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1000, 0, "open")).unwrap();
    (engine, trx)
}

fn leftovers(engine: &Engine) -> u64 {
    let report = engine.table("s", "t").unwrap().check(engine).unwrap();
    assert_eq!((report.problems, report.rows), (vec![], 100));
    report.leftovers
}

#[test]
fn a_slow_shutdown_purges_and_a_fast_one_leaves_it_to_the_sweep() {
    for (mode, is_left) in [(ShutdownMode::Slow, false), (ShutdownMode::Fast, true)] {
        let disk = Arc::new(SimDisk::new());
        let (engine, trx) = with_leftovers(&disk);
        engine.shut_down(mode).unwrap();
        drop((trx, engine));
        // No page is lost, whatever is left.
        assert_eq!(look_at(&disk).findings, [], "{mode:?}");
        let engine = Engine::open(config(&disk)).unwrap();
        assert_eq!(leftovers(&engine) > 0, is_left, "{mode:?}");
        while engine.sweep_step().unwrap().is_some() {}
        assert_eq!(leftovers(&engine), 0, "{mode:?}");
    }
}

#[test]
fn after_an_abrupt_shutdown_the_next_start_recovers() {
    let disk = Arc::new(SimDisk::new());
    let (engine, trx) = with_leftovers(&disk);
    engine.shut_down(ShutdownMode::Abrupt).unwrap();
    std::mem::forget(trx);
    drop(engine);
    let startup_lines = Arc::new(StartupLines::default());
    let startup_log = Arc::clone(&startup_lines) as Arc<dyn StartupLog>;
    let engine = Engine::open(EngineConfig { startup_log, ..config(&Arc::new(disk.crash())) }).unwrap();
    assert!(
        startup_lines.0.lock().unwrap().iter().any(|line| line.contains("rolling back 1 open")),
        "{startup_lines:?}"
    );
    leftovers(&engine);
}
