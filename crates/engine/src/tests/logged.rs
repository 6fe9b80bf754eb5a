//! What transactions leave in the log.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base::{Lsn, TrxId, UndoPtr};
use env::{Disk, IoOp, SimDisk};
use log::{LogReader, Part};
use trx::UndoRecord;
use types::CollationId;

use super::support::*;
use crate::*;

/// A part without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Changes,
    Undo(TrxId, UndoPtr, UndoPtr),
    Commit(TrxId),
    RolledBack(TrxId),
    Compensation(TrxId, UndoPtr, UndoPtr),
    SavepointReached(TrxId, UndoPtr),
}

/// The parts of each frame from `from` on, but those of the log's own.
fn frames(engine: &Engine, disk: &Arc<SimDisk>, from: Lsn) -> Vec<Vec<Seen>> {
    engine.store().log().flush().unwrap();
    let identity = engine.store().header().unwrap().identity;
    let disk: Arc<dyn Disk> = Arc::clone(disk) as _;
    let mut reader = LogReader::open(&disk, Path::new("/data/redo"), identity).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        if frame.range.start >= from {
            let parts = frame.parts().filter_map(|part| match part.unwrap() {
                Part::Changes(_) => Some(Seen::Changes),
                Part::Undo { trx, undo, previous, image } => {
                    assert!(UndoRecord::default().decode_image(image));
                    Some(Seen::Undo(trx, undo, previous))
                }
                Part::Commit { trx, micros } => {
                    assert!(micros > 1_600_000_000_000_000);
                    Some(Seen::Commit(trx))
                }
                Part::RollbackDone { trx } => Some(Seen::RolledBack(trx)),
                Part::Compensation { trx, undone, next } => Some(Seen::Compensation(trx, undone, next)),
                Part::SavepointRollbackDone { trx, reached } => Some(Seen::SavepointReached(trx, reached)),
                _ => None,
            });
            frames.push(parts.collect());
        }
    }
    frames.retain(|parts: &Vec<Seen>| !parts.is_empty());
    frames
}

#[test]
fn a_change_is_one_frame_a_tree_with_its_undo_and_a_commit_is_the_last() {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "a")).unwrap();
    engine.commit(&mut trx).unwrap();
    trx.restart(BeginOptions::default());
    let from = engine.store().log().current();
    let id = engine.trx_system().next_id();
    update(&engine, &table, &mut trx, 1, &Wide { k: Some(2), ..Wide::new(1, 1, "a") }).unwrap();
    let syncs = disk.count(IoOp::Sync);
    engine.commit(&mut trx).unwrap();
    assert_eq!(disk.count(IoOp::Sync), syncs + 1);

    let frames = frames(&engine, &disk, from);
    let mut previous = UndoPtr::NONE;
    // The row, the old entry, the new entry.
    for frame in &frames[..3] {
        let [Seen::Changes, Seen::Undo(trx, undo, before)] = frame[..] else { panic!("{frame:?}") };
        assert_eq!((trx, before), (id, previous));
        previous = undo;
    }
    assert_eq!(frames[3..], [vec![Seen::Commit(id)]]);
}

/// Recovery's reading may begin between any two frames.
#[test]
fn a_row_is_deleted_in_one_frame_with_what_says_that_its_value_is_dead() {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let row = Wide { body: Some("b".repeat(9000)), ..Wide::new(1, 1, "a") };
    insert(&engine, &table, &mut trx, &row).unwrap();
    engine.commit(&mut trx).unwrap();
    trx.restart(BeginOptions::default());
    let from = engine.store().log().current();
    delete(&engine, &table, &mut trx, 1).unwrap();
    engine.commit(&mut trx).unwrap();
    let frames = frames(&engine, &disk, from);
    assert!(matches!(frames[0][..], [Seen::Changes, Seen::Undo(..), Seen::Undo(..)]), "{frames:?}");
}

#[test]
fn reading_and_locking_log_nothing() {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let from = engine.store().log().current();
    let mut trx = engine.begin(BeginOptions::default());
    let view = trx.view();
    assert!(rows(&engine, &table, view).is_empty());
    trx.begin_write().unwrap();
    let syncs = disk.count(IoOp::Sync);
    engine.commit(&mut trx).unwrap();
    trx.restart(BeginOptions::default());
    trx.begin_write().unwrap();
    engine.rollback(&mut trx).unwrap();
    assert_eq!((engine.store().log().current(), disk.count(IoOp::Sync)), (from, syncs));
}

#[test]
fn commits_wait_for_what_was_asked() {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for (id, wait, writes, syncs) in
        [(1, CommitWait::Durable, 1, 1), (2, CommitWait::Written, 1, 0), (3, CommitWait::Nothing, 0, 0)]
    {
        engine.set_commit_wait(wait);
        insert(&engine, &table, &mut trx, &Wide::new(id, 1, &format!("c{id}"))).unwrap();
        let before = (disk.count(IoOp::Write), disk.count(IoOp::Sync));
        engine.commit(&mut trx).unwrap();
        assert_eq!((disk.count(IoOp::Write), disk.count(IoOp::Sync)), (before.0 + writes, before.1 + syncs));
        trx.restart(BeginOptions::default());
    }
}

/// Follows each transaction's undo through the log as recovery would.
#[test]
fn rollbacks_compensate_each_record_once_newest_first() {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let from = engine.store().log().current();
    let mut dice = base::prng::Prng::new(11);
    let mut trx = engine.begin(BeginOptions::default());
    for round in 0..60 {
        for step in 0..dice.below(12) {
            if step == 3 {
                trx.set_savepoint("s");
            }
            let id = dice.below(40) as i32;
            let body = dice.below(4) == 0;
            let body = body.then(|| "long ".repeat(4000));
            let row = Wide { body, ..Wide::new(id, dice.below(5) as i32, &format!("c{}", dice.below(60))) };
            // Some fail on a duplicate key, half way through the indexes.
            let _ = match dice.below(3) {
                0 => insert(&engine, &table, &mut trx, &row),
                1 => update(&engine, &table, &mut trx, id, &row).map(drop),
                _ => delete(&engine, &table, &mut trx, id).map(drop),
            };
            if step == 7 && dice.below(2) == 0 {
                engine.rollback_to_savepoint(&mut trx, "s").unwrap();
            }
        }
        if round % 3 == 0 { engine.rollback(&mut trx) } else { engine.commit(&mut trx) }.unwrap();
        trx.restart(BeginOptions::default());
        engine.purge_step(usize::MAX).unwrap();
    }
    assert_sound(&engine, &table);
    let (mut open, mut ended): (BTreeMap<TrxId, Vec<UndoPtr>>, (u32, u32)) = Default::default();
    for part in frames(&engine, &disk, from).concat() {
        match part {
            Seen::Changes => {}
            Seen::Undo(trx, undo, previous) => {
                let chain = open.entry(trx).or_default();
                assert_eq!(chain.last().copied().unwrap_or_default(), previous);
                chain.push(undo);
            }
            Seen::Compensation(trx, undone, next) => {
                let chain = open.get_mut(&trx).unwrap();
                assert_eq!(chain.pop(), Some(undone));
                assert_eq!(chain.last().copied().unwrap_or_default(), next);
            }
            Seen::SavepointReached(trx, reached) => {
                assert_eq!(open[&trx].last().copied().unwrap_or_default(), reached);
            }
            Seen::Commit(trx) => {
                open.remove(&trx).unwrap();
                ended.0 += 1;
            }
            Seen::RolledBack(trx) => {
                assert_eq!(open.remove(&trx).unwrap(), []);
                ended.1 += 1;
            }
        }
    }
    assert!(open.is_empty() && ended.0 > 20 && ended.1 > 10, "{ended:?}");
}

#[test]
fn a_definition_is_durable_when_its_statement_ends() {
    let (engine, disk) = engine();
    let log = Arc::clone(engine.store().log());
    engine.set_commit_wait(CommitWait::Nothing);
    let is_durable = |what: &str| assert_eq!(log.durable(), log.current(), "{what}");
    engine.create_schema("other", CollationId::UTF8MB4_BIN).unwrap();
    is_durable("schema");
    engine.create_table(wide_def("t")).unwrap();
    is_durable("table");
    engine.put_object("account", "root", &vec![7; 20_000]).unwrap();
    engine.put_object("account", "root", &vec![8; 9_000]).unwrap();
    is_durable("object");
    assert_eq!(engine.get_object("account", "root").unwrap(), Some(vec![8; 9_000]));
    engine.shutdown().unwrap();
    drop(engine);
    let engine = Engine::open(config(&disk)).unwrap();
    assert_eq!(engine.get_object("account", "root").unwrap(), Some(vec![8; 9_000]));
    assert_eq!(engine.list_objects("account").unwrap(), [("root".to_owned(), vec![8; 9_000])]);
    assert!(engine.delete_object("account", "root").unwrap());
    assert!(!engine.delete_object("account", "root").unwrap());
}
