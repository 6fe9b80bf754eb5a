//! Transactions over an owner that only ends them: views, ids, shutdown.

use super::*;
use crate::undo::{NewUndo, UndoKind};
use base::{IndexId, Lsn};

struct Ender;

impl RollbackOnDrop for Ender {
    fn roll_back_dropped(&self, trx: &mut Trx) {
        let _ = trx.end(TrxOutcome::Nothing);
    }
}

fn begin(system: &Arc<TrxSystem>, isolation: Isolation) -> Trx {
    let options = BeginOptions { isolation, lock_wait: Duration::from_millis(20), ..BeginOptions::default() };
    Trx::begin(system, Arc::new(Ender), options)
}

/// Ends `trx` as committed, after all commits so far.
fn commit(system: &TrxSystem, trx: &mut Trx) {
    trx.end(TrxOutcome::Committed(Lsn(system.newest().0 + 10))).unwrap();
}

fn write(trx: &mut Trx, kind: UndoKind) -> TrxId {
    let id = trx.begin_write().unwrap();
    let undo = NewUndo {
        kind,
        index: IndexId(64),
        flags: 0,
        patch_offset: 0,
        key: b"k",
        row_header: None,
        image: b"",
    };
    trx.undo().unwrap().append(&undo);
    id
}

#[test]
fn a_reader_takes_no_id_and_keeps_its_view_under_repeatable_read() {
    let system = TrxSystem::new(TrxId(10), Lsn(7));
    let mut reader = begin(&system, Isolation::RepeatableRead);
    assert_eq!(reader.view().number(), Lsn(7));
    let mut writer = begin(&system, Isolation::RepeatableRead);
    assert_eq!(write(&mut writer, UndoKind::RowInsert), TrxId(10));
    assert!(writer.view().sees(&system, TrxId(10)));
    commit(&system, &mut writer);
    assert!(!reader.view().sees(&system, TrxId(10)));
    reader.end_statement();
    assert!(!reader.view().sees(&system, TrxId(10)));
    assert_eq!(reader.id(), None);
    reader.end(TrxOutcome::Nothing).unwrap();
    reader.restart(*reader.options());
    assert!(reader.view().sees(&system, TrxId(10)));
}

#[test]
fn read_committed_sees_each_commit_with_its_next_statement() {
    let system = TrxSystem::new(TrxId(1), Lsn(7));
    let mut reader = begin(&system, Isolation::ReadCommitted);
    let mut writer = begin(&system, Isolation::RepeatableRead);
    let id = write(&mut writer, UndoKind::RowInsert);
    assert!(!reader.view().sees(&system, id));
    commit(&system, &mut writer);
    assert!(!reader.view().sees(&system, id));
    reader.end_statement();
    assert!(reader.view().sees(&system, id));
}

#[test]
fn versions_are_kept_to_the_statements_end_also_for_who_sees_everything() {
    for isolation in [Isolation::ReadUncommitted, Isolation::ReadCommitted] {
        let system = TrxSystem::new(TrxId(1), Lsn(7));
        let mut reader = begin(&system, isolation);
        reader.keep_versions();
        let mut writer = begin(&system, Isolation::RepeatableRead);
        let id = write(&mut writer, UndoKind::RowInsert);
        assert!(!ReadView::committed().sees(&system, id));
        commit(&system, &mut writer);
        assert!(ReadView::committed().sees(&system, id));
        assert_eq!(reader.view().sees(&system, id), isolation == Isolation::ReadUncommitted);
        assert_eq!(system.purge_horizon(), Lsn(7));
        reader.end_statement();
        assert_eq!(system.purge_horizon(), system.newest());
    }
}

#[test]
fn snapshot_isolation_asks_the_view_that_there_is() {
    let system = TrxSystem::new(TrxId(1), Lsn(7));
    let options = BeginOptions { snapshot_isolation: true, ..BeginOptions::default() };
    let mut trx = Trx::begin(&system, Arc::new(Ender), options);
    let refuses =
        |trx: &mut Trx, id| trx.lock_read(LockMode::Shared, WaitPolicy::Wait).unwrap().rows().refuses(id);
    let mut writer = begin(&system, Isolation::RepeatableRead);
    let id = write(&mut writer, UndoKind::RowInsert);
    assert!(!refuses(&mut trx, id));
    trx.view();
    commit(&system, &mut writer);
    assert!(refuses(&mut trx, id));
    let own = write(&mut trx, UndoKind::RowInsert);
    assert!(!refuses(&mut trx, own));
}

#[test]
fn a_read_only_transaction_refuses_to_write() {
    let system = TrxSystem::new(TrxId(1), Lsn(7));
    let options = BeginOptions { read_only: true, ..BeginOptions::default() };
    let mut trx = Trx::begin(&system, Arc::new(Ender), options);
    assert_eq!(trx.begin_write(), Err(Error::ReadOnlyTransaction));
}

#[test]
fn purge_waits_for_the_oldest_view() {
    let system = TrxSystem::new(TrxId(1), Lsn(7));
    let mut reader = begin(&system, Isolation::RepeatableRead);
    reader.view();
    let mut writer = begin(&system, Isolation::RepeatableRead);
    let id = write(&mut writer, UndoKind::RowDelete);
    commit(&system, &mut writer);
    assert_eq!(system.next_purge(system.purge_horizon(), 0), None);
    reader.end(TrxOutcome::Nothing).unwrap();
    assert!(!system.purge_has_begun(id));
    let entry = system.next_purge(system.purge_horizon(), 0).unwrap();
    assert_eq!(entry.id, id);
    assert!(system.purge_has_begun(id));
    assert_eq!(system.purge_pending(), 0);
}

#[test]
fn closing_rolls_the_writer_back_and_tells_its_session() {
    let system = TrxSystem::new(TrxId(1), Lsn(7));
    let mut trx = begin(&system, Isolation::RepeatableRead);
    write(&mut trx, UndoKind::RowInsert);
    let mut undone = 0;
    let rolled_back = system.close(|log| {
        let mut record = crate::UndoRecord::default();
        while log.pop(UndoPtr::NONE, &mut record).unwrap() {
            undone += 1;
        }
        Ok::<TrxOutcome, ()>(TrxOutcome::RolledBack(Lsn(20)))
    });
    assert_eq!((rolled_back, undone), (Ok(()), 1));
    assert_eq!(trx.undo().err(), Some(Error::ShuttingDown));
    assert_eq!(trx.end(TrxOutcome::Nothing), Err(Error::ShuttingDown));
    trx.restart(BeginOptions::default());
    assert_eq!(trx.begin_write(), Err(Error::ShuttingDown));
}

#[test]
fn transactions_may_end_in_any_order() {
    let system = TrxSystem::new(TrxId(1), Lsn(7));
    let slots: Vec<_> = (0..3).map(|_| system.slots.register(system.undo())).collect();
    let ids: Vec<_> = slots.iter().map(|slot| system.begin(slot).unwrap()).collect();
    let mut before = begin(&system, Isolation::RepeatableRead);
    let mut between = begin(&system, Isolation::RepeatableRead);
    let mut after = begin(&system, Isolation::RepeatableRead);
    let seen = |trx: &mut Trx| -> Vec<TrxId> {
        let view = trx.view();
        ids.iter().copied().filter(|&id| view.sees(&system, id)).collect()
    };
    assert_eq!(seen(&mut before), []);
    system.end(&slots[2], ids[2], |_| TrxOutcome::Committed(Lsn(100))).unwrap();
    system.end(&slots[1], ids[1], |_| TrxOutcome::RolledBack(Lsn(120))).unwrap();
    assert_eq!(seen(&mut between), [ids[2]]);
    assert!(!between.view().sees_whole_page(ids[2]));
    system.end(&slots[0], ids[0], |_| TrxOutcome::Committed(Lsn(150))).unwrap();
    assert!(after.view().sees_whole_page(ids[2]));
    assert_eq!((seen(&mut before), seen(&mut between)), (vec![], vec![ids[2]]));
    let mut last = begin(&system, Isolation::RepeatableRead);
    assert!(last.view().sees(&system, ids[0]) && system.is_in_progress(system.begin(&slots[0]).unwrap()));
}
