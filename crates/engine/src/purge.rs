//! Purge: removing what no view can see any more.
//!
//! Only transactions that deleted rows, closed entries or left off-page values behind are visited, oldest first, once
//! the horizon has passed them. Undo whose transactions are all behind the horizon is freed by the chunk.

use std::sync::Arc;
use std::time::Duration;

use base::codec::get_u48;
use base::sync::plain::{Condvar, Mutex, MutexGuard};
use base::{IndexId, TrxId};
use page::{OverflowRef, RowHeader};
use trx::{PurgeEntry, TableUse, UndoKind, UndoPtr, UndoRecord};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::row::writer::remove;
use crate::table::Table;

/// How long the background thread rests between two looks. Nobody ever waits for purge, so no commit wakes it.
const REST: Duration = Duration::from_millis(100);
/// Extents (1 MiB each) swept before purge has its turn again.
const SWEPT_PER_ROUND: usize = 8;
/// Purge waits this long for a definition change to be done with a table before it looks at its own stop flag again.
const METADATA_WAIT: Duration = Duration::from_millis(200);

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeReport {
    /// Transactions whose leftovers are gone.
    pub transactions: usize,
    /// Records and entries removed.
    pub removed: usize,
    /// Undo chunks freed.
    pub chunks: usize,
}

/// The background thread's end of the engine.
#[derive(Debug, Default)]
pub(crate) struct PurgeControl {
    stop: Mutex<bool>,
    wake: Condvar,
    /// One purge at a time, whoever calls it.
    turn: Mutex<()>,
}

impl PurgeControl {
    pub(crate) fn stop(&self) {
        *self.stop.lock() = true;
        self.wake.notify_all();
    }

    /// Keeps purge from beginning another step while the guard lives; waits for the one under way. The caller holds no
    /// metadata lock.
    pub(crate) fn pause(&self) -> MutexGuard<'_, ()> {
        self.turn.lock()
    }

    /// [`PurgeControl::pause`], unless a step is under way.
    pub(crate) fn try_pause(&self) -> Option<MutexGuard<'_, ()>> {
        self.turn.try_lock()
    }

    /// Ends the rest of the background thread.
    pub(crate) fn hurry(&self) {
        self.wake.notify_all();
    }

    fn is_stopped(&self) -> bool {
        *self.stop.lock()
    }

    /// Rests; false: time to end.
    fn rest(&self) -> bool {
        let mut stop = self.stop.lock();
        if !*stop {
            self.wake.wait_for(&mut stop, REST);
        }
        !*stop
    }
}

/// The background thread: ends when told, or with the engine.
pub(crate) fn run(engine: &std::sync::Weak<Engine>, control: &PurgeControl) -> Result<()> {
    while control.rest() {
        let Some(engine) = engine.upgrade() else { return Ok(()) };
        engine.purge_step(usize::MAX)?;
        for _ in 0..SWEPT_PER_ROUND {
            if control.is_stopped() || engine.sweep_step()?.is_none() {
                break;
            }
        }
    }
    Ok(())
}

impl Engine {
    /// Purges up to `transactions_max` committed transactions that every view sees, and frees undo.
    pub fn purge_step(&self, transactions_max: usize) -> Result<PurgeReport> {
        let _turn = self.purge.turn.lock();
        let mut report = PurgeReport::default();
        let horizon = self.trx.purge_horizon();
        while report.transactions < transactions_max && !self.purge.is_stopped() {
            let Some(mut entry) = self.trx.next_purge(horizon) else { break };
            match self.purge_transaction(&mut entry) {
                Ok(removed) => report.removed += removed,
                Err(error) => {
                    self.trx.return_purge(entry);
                    return Err(error);
                }
            }
            report.transactions += 1;
        }
        report.chunks = self.trx.free_undo(horizon);
        Ok(report)
    }

    /// What an error leaves may be done again: a record that is gone is passed over, and values are counted.
    fn purge_transaction(&self, entry: &mut PurgeEntry) -> Result<usize> {
        let mut removed = 0;
        let mut record = UndoRecord::default();
        let mut held = HeldTable::default();
        let mut values = Vec::new();
        let mut at = entry.last;
        while at != UndoPtr::NONE {
            self.trx.undo().read(at, true, &mut record).map_err(Error::UndoUnreadable)?;
            if record.kind == UndoKind::ValueDead {
                values.push(record.clone());
            } else {
                removed += usize::from(self.purge_record(entry.id, &record, &mut held)?);
            }
            at = record.prev;
        }
        // After the records: a crash in between may leave a value without its row, never a row without its value.
        for value in values.iter().skip(entry.values_freed as usize) {
            removed += usize::from(self.purge_record(entry.id, value, &mut held)?);
            entry.values_freed += 1;
        }
        Ok(removed)
    }

    /// Removes what `record` of a committed transaction left behind. For recovery: nobody reads yet.
    pub(crate) fn purge_now(&self, id: TrxId, record: &UndoRecord) -> Result<bool> {
        self.purge_record(id, record, &mut HeldTable::default())
    }

    /// Removes what `record` of transaction `id` left behind, if it is still there.
    fn purge_record(&self, id: TrxId, record: &UndoRecord, held: &mut HeldTable) -> Result<bool> {
        if !record.kind.needs_purge() || !held.hold(self, record.index)? {
            return Ok(false);
        }
        let Some((table, position)) = held.table() else { return Ok(false) };
        let index = &table.indexes[position];
        let tree = &index.tree;
        if index.format.is_clustered() == (record.kind == UndoKind::EntryClose) {
            return Err(Error::IndexDisagrees);
        }
        self.store.log().admit()?;
        match record.kind {
            UndoKind::RowDelete => remove(tree, &self.store, &record.key, &[], |edit| {
                let record = edit.record();
                record.flags().is_deleted() && RowHeader::decode(record.payload()).trx == id
            }),
            UndoKind::EntryClose => remove(tree, &self.store, &record.key, &[], |edit| {
                let record = edit.record();
                record.flags().has_ver() && get_u48(record.payload(), 0) == id.0
            }),
            UndoKind::ValueDead => {
                self.store.free_overflow(&OverflowRef::decode(&record.image), &[])?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// The table purge is at work on, its metadata lock held, so that nobody drops its trees.
#[derive(Default)]
pub(crate) struct HeldTable {
    table: Option<(Arc<Table>, usize)>,
}

impl HeldTable {
    /// The table, and the position of the index in it.
    pub(crate) fn table(&self) -> Option<(&Table, usize)> {
        self.table.as_ref().map(|(table, position)| (&**table, *position))
    }

    /// Holds the table of an index. False: it is gone, and its pages with it.
    pub(crate) fn hold(&mut self, engine: &Engine, index: IndexId) -> Result<bool> {
        if let Some((table, position)) = &mut self.table
            && let Some(at) = table.index_ids().position(|id| id == index)
        {
            *position = at;
            return Ok(true);
        }
        self.release();
        loop {
            let Some((table, position)) = engine.catalog().index(index).cloned() else {
                return Ok(false);
            };
            match table.state.lock.lock_shared(TableUse::Purge, true, METADATA_WAIT) {
                Ok(()) if table.is_current() => {
                    self.table = Some((table, position));
                    return Ok(true);
                }
                Ok(()) => table.state.lock.unlock_shared(TableUse::Purge),
                // A definition change takes its time. At shutdown nobody needs the leftovers gone.
                Err(trx::Error::LockWaitTimeout) if !engine.purge.is_stopped() => {}
                Err(trx::Error::LockWaitTimeout) => return Ok(false),
                Err(error) => return Err(Error::Lock(error)),
            }
        }
    }

    fn release(&mut self) {
        if let Some((table, _)) = self.table.take() {
            table.state.lock.unlock_shared(TableUse::Purge);
        }
    }
}

impl Drop for HeldTable {
    fn drop(&mut self) {
        self.release();
    }
}
