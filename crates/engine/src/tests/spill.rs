//! Undo of long transactions that the log is not kept for.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use env::{Disk, FaultKind, IoOp, ScheduledFault, SimDisk};
use log::Part;

use super::checkpoints::{churn, reader};
use super::support::*;
use crate::*;

const FOLDER: &str = "/data/undo";

const TINY: LogConfig =
    LogConfig { capacity_bytes: 1 << 20, buffer_bytes: 64 << 10, file_bytes_min: 128 << 10 };

/// Files in the folder of undo, except for the one that undo is swapped to.
fn spill_files(disk: &SimDisk) -> Vec<PathBuf> {
    let names = disk.list(Path::new(FOLDER)).unwrap().into_iter();
    names.filter(|name| name != Path::new("swap.undo")).map(|name| Path::new(FOLDER).join(name)).collect()
}

/// The first rows, committed.
fn fill(engine: &Engine, table: &Table, trx: &mut Trx) {
    churn(engine, table, trx, 128 << 10);
    engine.commit(trx).unwrap();
    trx.restart(BeginOptions::default());
    engine.checkpoint().unwrap();
}

/// An engine in whose log the undo of an open transaction does not fit; the rows from before it.
fn spilled(disk: &Arc<SimDisk>) -> (Arc<Engine>, Arc<Table>, Trx, Vec<Wide>) {
    let engine = Engine::open(EngineConfig { log: TINY, ..config(disk) }).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    engine.set_commit_wait(CommitWait::Nothing);
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    fill(&engine, &table, &mut trx);
    let before = rows(&engine, &table, ReadView::newest());
    for step in 0..5 {
        churn(&engine, &table, &mut trx, 384 << 10);
        if step % 2 == 1 {
            let (mark, undone) = (trx.mark(), engine.store().log().current());
            churn(&engine, &table, &mut trx, 128 << 10);
            engine.rollback_statement(&mut trx, mark).unwrap();
            assert!(engine.store().log().current() > undone);
        }
        engine.checkpoint().unwrap();
    }
    assert!(engine.undo_spills() >= 4);
    (engine, table, trx, before)
}

/// Opens what a power failure leaves.
fn reopen(disk: &Arc<SimDisk>) -> Result<Arc<Engine>> {
    Engine::open(EngineConfig { log: TINY, ..config(disk) })
}

/// The same with so much memory for undo.
fn reopen_with(disk: &Arc<SimDisk>, undo_memory_bytes: usize) -> Result<Arc<Engine>> {
    Engine::open(EngineConfig { log: TINY, undo_memory_bytes, ..config(disk) })
}

#[test]
fn undo_that_recovery_has_no_memory_for_is_set_aside() {
    let disk = Arc::new(SimDisk::new());
    let (engine, table, trx, before) = spilled(&disk);
    engine.store().log().flush().unwrap();
    let crashed = disk.crash();
    std::mem::forget(trx);
    drop((table, engine));
    let scheduled = |op, fault| ScheduledFault { op: Some(op), file: Some("recovery.undo"), nth: 1, fault };
    for (scheduled, line) in [
        (None, "some lies in undo/recovery.undo"),
        (
            Some(scheduled(IoOp::Write, FaultKind::Error(ErrorKind::StorageFull))),
            "the undo of open transactions stays in memory",
        ),
        // What is read is not what was written: nothing is undone by it.
        (Some(scheduled(IoOp::Read, FaultKind::BitRot)), "some lies in undo/recovery.undo"),
    ] {
        let (disk, startup_lines) = (Arc::new(crashed.crash()), Arc::new(StartupLines::default()));
        let startup_log = Arc::clone(&startup_lines) as Arc<dyn StartupLog>;
        let config = EngineConfig { log: TINY, undo_memory_bytes: 20_000, startup_log, ..config(&disk) };
        disk.schedule_all(scheduled.as_slice());
        let engine = match Engine::open(config.clone()) {
            Err(error) => {
                assert!(error.to_string().contains("recovery.undo"), "{error}");
                assert_eq!(disk.happened(), [FaultKind::BitRot]);
                Engine::open(config).unwrap()
            }
            Ok(engine) => engine,
        };
        assert_eq!(disk.happened().len(), scheduled.iter().count());
        assert!(
            startup_lines.0.lock().unwrap().iter().any(|startup_lines| startup_lines.contains(line)),
            "{startup_lines:?}"
        );
        assert!(spill_files(&disk).is_empty());
        let table = engine.table("s", "t").unwrap();
        assert_eq!(rows(&engine, &table, ReadView::newest()), before);
        assert_sound(&engine, &table);
    }
}

#[test]
fn the_log_is_not_kept_for_an_open_transaction() {
    let disk = Arc::new(SimDisk::new());
    let (engine, table, mut trx, _) = spilled(&disk);
    let (bytes, capacity) = engine.store().log().file_bytes();
    assert!(bytes <= capacity + capacity / 4, "{bytes} of {capacity}");
    let mut reader = reader(&engine, &disk);
    assert!(reader.checkpoint().redo_lsn.0 > 1 << 20);
    let mut listed = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        listed.extend(frame.parts().filter_map(|part| match part.unwrap() {
            Part::Checkpoint { transactions, .. } => transactions.last().copied(),
            _ => None,
        }));
    }
    let state = listed.last().copied().unwrap();
    assert_eq!(Some(state.trx), trx.id());
    assert!(state.spilled_bytes > 128 << 10);
    assert_eq!(spill_files(&disk).len(), 1);
    churn(&engine, &table, &mut trx, 64 << 10);
    engine.commit(&mut trx).unwrap();
    assert_eq!(spill_files(&disk).len(), 1);
    engine.checkpoint_round().unwrap();
    assert!(spill_files(&disk).is_empty());
    assert_sound(&engine, &table);
}

#[test]
fn spilled_undo_is_undone_after_a_power_failure_at_any_time_and_again() {
    for (seed, memory) in [(0, 64 << 20), (1, 64 << 20), (2, 0), (3, 20_000)] {
        let disk = Arc::new(SimDisk::seeded(seed));
        let (engine, table, mut trx, before) = spilled(&disk);
        if seed % 2 == 1 {
            // In the middle of its own rollback.
            disk.schedule(None, 40, FaultKind::PowerOff);
            drop(engine.rollback(&mut trx));
        }
        let mut disk = Arc::new(disk.crash());
        std::mem::forget(trx);
        drop((table, engine));
        // Starts that end before they are done.
        for nth in [30, 300, 3000] {
            disk.schedule(None, nth, FaultKind::PowerOff);
            if let Ok(engine) = reopen_with(&disk, memory) {
                std::mem::forget(engine);
            }
            disk = Arc::new(disk.crash());
        }
        let engine = reopen_with(&disk, memory).unwrap();
        assert!(spill_files(&disk).is_empty());
        let table = engine.table("s", "t").unwrap();
        assert_eq!(rows(&engine, &table, ReadView::newest()), before, "seed {seed}");
        assert_sound(&engine, &table);
    }
}

#[test]
fn a_transaction_that_committed_after_its_undo_was_spilled_stays_committed() {
    let disk = Arc::new(SimDisk::seeded(1));
    let (engine, table, mut trx, _) = spilled(&disk);
    churn(&engine, &table, &mut trx, 40 << 10);
    engine.set_commit_wait(CommitWait::Durable);
    engine.commit(&mut trx).unwrap();
    let committed = rows(&engine, &table, ReadView::newest());
    let disk = Arc::new(disk.crash());
    drop((trx, table, engine));
    let engine = reopen(&disk).unwrap();
    let table = engine.table("s", "t").unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()), committed);
    assert_sound(&engine, &table);
}

#[test]
fn a_spill_file_that_is_damaged_or_gone_is_named_and_the_start_refused() {
    let disk = Arc::new(SimDisk::new());
    let (engine, table, trx, before) = spilled(&disk);
    let crashed = Arc::new(disk.crash());
    std::mem::forget(trx);
    drop((table, engine));
    let file = spill_files(&crashed).remove(0);
    let refused = |disk: &Arc<SimDisk>, words: &str| {
        let error = reopen(disk).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(&file.display().to_string()) && error.contains(words), "{error}");
    };
    for byte in [0, 20, 33, 5000] {
        crashed.flip_bit(&file, byte);
        refused(&crashed, "is damaged at offset");
        crashed.flip_bit(&file, byte);
    }
    let aside = Path::new("/data/tmp/aside");
    crashed.rename(&file, aside).unwrap();
    refused(&crashed, "is missing");
    crashed.rename(aside, &file).unwrap();
    let engine = reopen(&crashed).unwrap();
    assert_eq!(rows(&engine, &engine.table("s", "t").unwrap(), ReadView::newest()), before);
}

#[test]
fn a_full_disk_keeps_the_log_and_is_told_of_once() {
    let disk = Arc::new(SimDisk::seeded(2));
    let startup_lines = Arc::new(StartupLines::default());
    let startup_log = Arc::clone(&startup_lines) as Arc<dyn StartupLog>;
    let engine = Engine::open(EngineConfig { log: TINY, startup_log, ..config(&disk) }).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    fill(&engine, &table, &mut trx);
    let before = rows(&engine, &table, ReadView::newest());
    churn(&engine, &table, &mut trx, 1 << 20);
    engine.store().log().flush().unwrap();
    engine.store().pool().flush_all().unwrap();
    let redo_lsn = engine.store().log().last_checkpoint().redo_lsn;
    disk.set_capacity(disk.used());
    for _ in 0..3 {
        engine.checkpoint().unwrap();
    }
    assert_eq!(engine.undo_spills(), 0);
    assert!(engine.store().log().last_checkpoint().redo_lsn.0 < redo_lsn.0 + (128 << 10));
    let warnings =
        startup_lines.0.lock().unwrap().iter().filter(|line| line.contains("cannot be spilled")).count();
    assert_eq!(warnings, 1);
    disk.set_capacity(u64::MAX);
    engine.checkpoint().unwrap();
    assert_eq!(engine.undo_spills(), 1);
    churn(&engine, &table, &mut trx, 40 << 10);
    let disk = Arc::new(disk.crash());
    std::mem::forget(trx);
    drop((table, engine));
    let engine = reopen(&disk).unwrap();
    assert_eq!(rows(&engine, &engine.table("s", "t").unwrap(), ReadView::newest()), before);
}

#[test]
fn files_that_no_checkpoint_names_are_removed_at_start_and_at_shutdown() {
    let disk = Arc::new(SimDisk::new());
    let (engine, table, trx, before) = spilled(&disk);
    engine.shutdown().unwrap();
    assert!(spill_files(&disk).is_empty());
    drop((trx, table, engine));
    disk.create(&Path::new(FOLDER).join("77.undo"), env::OpenOptions::default()).unwrap();
    let engine = reopen(&disk).unwrap();
    assert!(spill_files(&disk).is_empty());
    assert_eq!(rows(&engine, &engine.table("s", "t").unwrap(), ReadView::newest()), before);
}
