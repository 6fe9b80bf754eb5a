//! Transactions that a crash left unfinished: in progress, with undo, without a session.
//!
//! A startup finds them in the log and puts their undo back where the headers of their rows point. From then
//! on they are as any transaction in progress is: views do not see their rows, the ids in their rows lock
//! these, and their undo is kept. The engine rolls them back while clients work.

use std::sync::Arc;

use base::sync::atomic::Ordering;
use base::sync::plain::MutexGuard;
use base::sync::{PlantedBug, planted};
use base::{Lsn, TrxId};

use crate::commit_table::TrxOutcome;
use crate::held_locks::HeldLocks;
use crate::metadata_lock::{MetadataLock, TableUse};
use crate::slot::TrxSlot;
use crate::system::TrxSystem;
use crate::undo::{RestoredUndo, UndoLog};

/// An unfinished transaction that startup has found.
#[derive(Debug)]
pub struct FoundTrx {
    /// The transaction.
    pub id: TrxId,
    /// Its undo.
    pub undo: RestoredUndo,
    /// Where the log of its undo begins, or before.
    pub first_undo: Lsn,
}

/// An unfinished transaction. It holds the metadata locks that it is given to its end.
#[derive(Debug)]
pub struct UnfinishedTrx {
    id: TrxId,
    slot: Arc<TrxSlot>,
    metadata: HeldLocks,
}

impl UnfinishedTrx {
    /// The transaction.
    pub fn id(&self) -> TrxId {
        self.id
    }

    /// Its undo. [`UndoLog::id`] is `None` once a shutdown has rolled it back.
    pub fn undo(&self) -> MutexGuard<'_, UndoLog> {
        self.slot.undo.lock()
    }

    /// Takes the lock of a table that the transaction has changed. False: the engine has it already, and
    /// clients are connected.
    pub fn hold(&mut self, lock: &Arc<MetadataLock>) -> bool {
        if self.metadata.use_of(lock).is_some() {
            return true;
        }
        let is_held = lock.try_shared(TableUse::Write, true);
        if is_held {
            self.metadata.adopt(lock, TableUse::Write);
        }
        is_held
    }
}

impl TrxSystem {
    /// Makes the transactions `found`, in ascending order of their ids, transactions in progress. No thread
    /// reads or writes yet.
    pub fn adopt(&self, found: Vec<FoundTrx>) -> Vec<UnfinishedTrx> {
        let ids: Vec<TrxId> = found.iter().map(|found| found.id).collect();
        if let Some(oldest) = ids.first()
            && !planted(PlantedBug::LoserSeen)
        {
            debug_assert!(
                ids.is_sorted() && ids.last() < Some(&self.next_id()),
                "{ids:?} are not of the past"
            );
            self.commits.set_unfinished(&ids);
            self.limit.store(oldest.0, Ordering::SeqCst);
        }
        let adopt = |found: FoundTrx| {
            let log = UndoLog::of_unfinished(Arc::clone(self.undo()), found.id, found.undo);
            let slot = self.slots.adopt(found.id, found.first_undo, log);
            UnfinishedTrx { id: found.id, slot, metadata: HeldLocks::default() }
        };
        found.into_iter().map(adopt).collect()
    }

    /// Ends `trx`, which was rolled back, as the log says: its locks are free. One that a shutdown has ended
    /// stays as it is.
    pub fn end_unfinished(&self, mut trx: UnfinishedTrx, ending: TrxOutcome) {
        {
            let mut log = trx.slot.undo.lock();
            self.end_log(&trx.slot, &mut log, ending);
        }
        self.locks.release(trx.id);
        trx.metadata.release_all();
    }
}
