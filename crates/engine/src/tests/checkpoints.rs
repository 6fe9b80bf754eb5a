//! Checkpoints while work continues.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use env::{Disk, SimDisk};
use log::{LogConfig, LogReader, Part};

use super::support::*;
use crate::*;

const SMALL: LogConfig =
    LogConfig { capacity_bytes: 8 << 20, buffer_bytes: 1 << 20, file_bytes_min: 1 << 20 };

fn small(disk: &Arc<SimDisk>, background: bool) -> Arc<Engine> {
    let engine = Engine::open(EngineConfig { background, log: SMALL, ..config(disk) }).unwrap();
    if engine.schemas().is_empty() {
        engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    }
    engine.set_commit_wait(CommitWait::Nothing);
    engine
}

/// Updates rows back and forth; `bytes` bytes of log.
pub(super) fn churn(engine: &Engine, table: &Table, trx: &mut Trx, bytes: u64) {
    let log = engine.store().log();
    let end = log.current().0 + bytes;
    let mut n = 0;
    while log.current().0 < end {
        n += 1;
        let row = Wide { c: Some(format!("{}{n}", "x".repeat(40))), ..Wide::new(n % 300, n, "") };
        if update(engine, table, trx, n % 300, &row).unwrap() == UpdateOutcome::Missing {
            insert(engine, table, trx, &row).unwrap();
        }
    }
}

pub(super) fn reader(engine: &Engine, disk: &Arc<SimDisk>) -> LogReader {
    let identity = engine.store().header().unwrap().identity;
    let disk: Arc<dyn Disk> = Arc::clone(disk) as _;
    LogReader::open(&disk, Path::new("/data/redo"), identity).unwrap()
}

#[test]
fn the_log_keeps_to_its_capacity_under_load() {
    let disk = Arc::new(SimDisk::new());
    let engine = small(&disk, true);
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for _ in 0..16 {
        churn(&engine, &table, &mut trx, 1 << 20);
        engine.commit(&mut trx).unwrap();
        trx.restart(BeginOptions::default());
        let (bytes, capacity) = engine.store().log().file_bytes();
        assert!(bytes <= capacity + capacity / 8, "{bytes} of {capacity}");
    }
    assert!(reader(&engine, &disk).checkpoint().redo_lsn.0 > 8 << 20);
    drop((trx, table));
    engine.shutdown().unwrap();
    drop(engine);
    let engine = small(&disk, false);
    assert_sound(&engine, &engine.table("s", "t").unwrap());
}

#[test]
fn a_checkpoint_leaves_nothing_to_redo() {
    let disk = Arc::new(SimDisk::new());
    let engine = small(&disk, false);
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    churn(&engine, &table, &mut trx, 1 << 20);
    engine.commit(&mut trx).unwrap();
    // Purge keeps the log of what it has still to do.
    engine.purge_step(usize::MAX).unwrap();
    engine.checkpoint().unwrap();
    assert_eq!(engine.store().pool().stats().pages_dirty, 0);
    assert!(engine.store().header().unwrap().trx_limit >= engine.trx_system().next_id());
    let mut reader = reader(&engine, &disk);
    while let Some(frame) = reader.next_frame().unwrap() {
        assert!(!frame.parts().any(|part| matches!(part, Ok(Part::Changes(_)))));
    }
    // Nothing to do is not worth a checkpoint.
    let before = engine.store().log().last_checkpoint();
    engine.checkpoint_round().unwrap();
    assert_eq!(engine.store().log().last_checkpoint(), before);
}

#[test]
fn the_space_of_a_large_dropped_table_comes_back_long_before_the_log_asks_for_a_checkpoint() {
    let disk = Arc::new(SimDisk::new());
    let log = LogConfig { capacity_bytes: 1 << 30, ..SMALL };
    let engine = Engine::open(EngineConfig { log, ..config(&disk) }).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for n in 0..80 {
        insert(
            &engine,
            &table,
            &mut trx,
            &Wide { body: Some("x".repeat(1 << 20)), ..Wide::new(n, n, &n.to_string()) },
        )
        .unwrap();
    }
    engine.commit(&mut trx).unwrap();
    drop((trx, table));
    engine.drop_table("s", "t", Duration::ZERO).unwrap();
    let waiting = engine.store().space_to_give_back();
    assert!(waiting.0 >= 80, "{waiting:?}");
    let rounds = (0..20).take_while(|_| {
        engine.checkpoint_round().unwrap();
        engine.store().space_to_give_back().0 > 0
    });
    let rounds = rounds.count();
    assert!((5..10).contains(&rounds), "after {rounds} rounds");
    assert!(engine.store().log().current().0 < 1 << 29, "the log has asked for it");
}

#[test]
fn the_capacity_changes_while_the_log_is_in_use() {
    let disk = Arc::new(SimDisk::new());
    let engine = small(&disk, true);
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for capacity in [16u64 << 20, 8 << 20] {
        engine.set_log_capacity(capacity).unwrap();
        for _ in 0..3 {
            churn(&engine, &table, &mut trx, capacity / 4);
            engine.commit(&mut trx).unwrap();
            trx.restart(BeginOptions::default());
        }
        engine.checkpoint().unwrap();
        assert!(engine.store().log().file_bytes().0 <= capacity + capacity / 8);
    }
}
