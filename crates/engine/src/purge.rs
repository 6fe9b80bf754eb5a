//! Purge: removing what no view can see any more.
//!
//! Only transactions that deleted rows, closed entries or left off-page values behind are visited, oldest
//! first, once the horizon has passed them. Undo whose transactions are all behind the horizon is freed by
//! the chunk. Purge waits for no DDL statement: a transaction whose table is locked is passed over and
//! has its turn again in the next step, and what is left in a tree that is gone is void.

use std::sync::Arc;

use base::codec::get_u48;
use base::sync::{PlantedBug, planted};
use base::{IndexId, TrxId, UndoPtr};
use page::{OverflowRef, RowHeader};
use trx::{PurgeEntry, TableUse, UndoKind, UndoRecord};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::purge_control::PurgeControl;
use crate::row::tree_edit::remove;
use crate::table::Table;

/// Extents (1 MiB each) swept before purge has its turn again.
const SWEPT_PER_ROUND: usize = 8;
/// Steps of the conversion before purge has its turn again.
const CONVERTED_PER_ROUND: usize = 4;
/// Records removed of a table between two checks whether a DDL statement waits for it.
const USES_BETWEEN_LOOKS: usize = 256;

/// Result of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeReport {
    /// Transactions whose leftovers are gone.
    pub transactions: usize,
    /// Records and entries removed.
    pub removed: usize,
    /// Undo chunks freed.
    pub chunks: usize,
}

/// The background thread: ends on request, or with the engine.
pub(crate) fn run(engine: &std::sync::Weak<Engine>, control: &PurgeControl) -> Result<()> {
    while control.rest() {
        let Some(engine) = engine.upgrade() else { return Ok(()) };
        engine.purge_step(usize::MAX)?;
        for _ in 0..SWEPT_PER_ROUND {
            if control.is_stopped() || engine.sweep_step()?.is_none() && !engine.search_step()? {
                break;
            }
        }
        for _ in 0..CONVERTED_PER_ROUND {
            if control.is_stopped() || !engine.conversion_step()? {
                break;
            }
        }
    }
    Ok(())
}

impl Engine {
    /// Purges up to `transactions_max` committed transactions that every view sees, and frees undo.
    /// Transactions whose tables a DDL statement has locked are passed over until another step, and so
    /// are all while a full disk has no log for it.
    pub fn purge_step(&self, transactions_max: usize) -> Result<PurgeReport> {
        self.free_dropped_trees()?;
        let _turn = self.purge.pause();
        let mut report = PurgeReport::default();
        let horizon = self.trx.purge_horizon();
        let mut passed_over = 0;
        while report.transactions < transactions_max && !self.purge.is_stopped() {
            let Some(mut entry) = self.trx.next_purge(horizon, passed_over) else { break };
            match self.purge_transaction(&mut entry, &mut report.removed) {
                Ok(Done::Whole) => report.transactions += 1,
                Ok(Done::InPart) => {
                    self.trx.return_purge(entry);
                    passed_over += 1;
                }
                Err(error) => {
                    self.trx.return_purge(entry);
                    match error {
                        Error::LogFull(_) => break,
                        // The next startup has it from the log.
                        Error::UndoUnreadable(error) => {
                            self.purge.log_unreadable(&*self.notes, &error);
                            passed_over += 1;
                        }
                        error => return Err(error),
                    }
                }
            }
        }
        report.chunks = self.trx.free_undo(horizon);
        Ok(report)
    }

    /// Purges the committed transactions that have left off-page values without a row. False: a full disk has
    /// no log for it.
    pub(crate) fn purge_values_only(&self) -> Result<bool> {
        let _turn = self.purge.pause();
        let (horizon, mut passed_over, mut removed) = (self.trx.purge_horizon(), 0, 0);
        while let Some(mut entry) = self.trx.next_purge(horizon, passed_over) {
            let purged = self.leaves_values(&entry).and_then(|leaves_values| {
                if leaves_values {
                    self.purge_transaction(&mut entry, &mut removed)
                } else {
                    Ok(Done::InPart)
                }
            });
            if !matches!(purged, Ok(Done::Whole)) {
                self.trx.return_purge(entry);
                passed_over += 1;
            }
            match purged {
                Err(Error::LogFull(_) | Error::UndoUnreadable(_)) => return Ok(false),
                purged => purged.map(drop)?,
            }
        }
        Ok(true)
    }

    fn leaves_values(&self, entry: &PurgeEntry) -> Result<bool> {
        let mut record = UndoRecord::default();
        let mut at = entry.last;
        while at != UndoPtr::NONE {
            self.trx.undo().read(at, true, &mut record).map_err(Error::UndoUnreadable)?;
            if record.kind == UndoKind::ValueDead {
                return Ok(true);
            }
            at = record.prev;
        }
        Ok(false)
    }

    /// Work that an error interrupts may be repeated: a missing record is skipped, and values are counted.
    fn purge_transaction(&self, entry: &mut PurgeEntry, removed: &mut usize) -> Result<Done> {
        let mut record = UndoRecord::default();
        let mut held = HeldTable::default();
        while entry.rest != UndoPtr::NONE {
            self.trx.undo().read(entry.rest, true, &mut record).map_err(Error::UndoUnreadable)?;
            if record.kind == UndoKind::ValueDead {
                entry.has_values = true;
            } else {
                match self.purge_sound(entry.id, &record, &mut held)? {
                    Purged::Locked => return Ok(Done::InPart),
                    purged => *removed += usize::from(purged == Purged::Removed),
                }
            }
            entry.rest = record.prev;
        }
        // After the records: a crash in between may leave a value without its row, never a row without its
        // value.
        if entry.has_values { self.purge_values(entry, &mut held, removed) } else { Ok(Done::Whole) }
    }

    /// Frees the values of a transaction whose records are purged.
    fn purge_values(
        &self,
        entry: &mut PurgeEntry,
        held: &mut HeldTable,
        removed: &mut usize,
    ) -> Result<Done> {
        let mut record = UndoRecord::default();
        let (mut at, mut met) = (entry.last, 0);
        while at != UndoPtr::NONE {
            self.trx.undo().read(at, true, &mut record).map_err(Error::UndoUnreadable)?;
            at = record.prev;
            if record.kind != UndoKind::ValueDead {
                continue;
            }
            met += 1;
            if met <= entry.values_freed {
                continue;
            }
            match self.purge_sound(entry.id, &record, held)? {
                Purged::Locked => return Ok(Done::InPart),
                purged => *removed += usize::from(purged == Purged::Removed),
            }
            entry.values_freed = met;
        }
        Ok(Done::Whole)
    }

    /// Removes what `record` of a committed transaction left behind. For recovery: no thread reads, and no
    /// thread locks tables, yet.
    pub(crate) fn purge_now(&self, id: TrxId, record: &UndoRecord) -> Result<()> {
        self.purge_sound(id, record, &mut HeldTable::default()).map(drop)
    }

    /// [`Engine::purge_record`] that passes over what a damaged page keeps it from: its index is out of use
    /// from then on, and what refers to values there keeps them.
    fn purge_sound(&self, id: TrxId, record: &UndoRecord, held: &mut HeldTable) -> Result<Purged> {
        match self.purge_record(id, record, held) {
            Err(error) if error.is_corrupt_page() => {
                self.pass_over_damage(record.index, &error);
                Ok(Purged::Nothing)
            }
            purged => purged,
        }
    }

    /// Removes what `record` of transaction `id` left behind, if it is still there.
    fn purge_record(&self, id: TrxId, record: &UndoRecord, held: &mut HeldTable) -> Result<Purged> {
        if !record.kind.needs_purge() {
            return Ok(Purged::Nothing);
        }
        match held.hold(self, record.index) {
            Hold::Held => {}
            Hold::Gone => {
                if record.kind == UndoKind::ValueDead && planted(PlantedBug::FreedTwice) {
                    self.store.free_overflow(&OverflowRef::decode(&record.image), &[])?;
                }
                return Ok(Purged::Nothing);
            }
            Hold::Locked => return Ok(Purged::Locked),
        }
        let Some((table, position)) = held.table() else { return Ok(Purged::Nothing) };
        let index = &table.indexes[position];
        let tree = &index.tree;
        if table.is_out_of_use(position) {
            return Ok(Purged::Nothing);
        }
        if index.format.is_clustered() == (record.kind == UndoKind::EntryClose) {
            return Err(Error::IndexDisagrees { index: record.index });
        }
        self.store.log().admit()?;
        let is_removed = match record.kind {
            UndoKind::RowDelete => remove(tree, &self.store, &record.key, &[], |edit| {
                let record = edit.record();
                record.flags().is_deleted() && RowHeader::decode(record.payload()).trx == id
            })?,
            UndoKind::EntryClose => remove(tree, &self.store, &record.key, &[], |edit| {
                let record = edit.record();
                record.flags().has_end() && get_u48(record.payload(), 0) == id.0
            })?,
            UndoKind::ValueDead => {
                self.store.free_overflow(&OverflowRef::decode(&record.image), &[])?;
                true
            }
            _ => false,
        };
        Ok(if is_removed { Purged::Removed } else { Purged::Nothing })
    }
}

/// How far purge has got with a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    /// Nothing of it is left.
    Whole,
    /// A table was locked: the rest is for another step.
    InPart,
}

/// What became of what a record has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purged {
    /// It was removed.
    Removed,
    /// There was nothing, or it is gone with its tree.
    Nothing,
    /// Its table is locked.
    Locked,
}

/// Whether a table is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// It is.
    Held,
    /// It is gone, and its pages with it.
    Gone,
    /// A DDL statement has it, or waits for it.
    Locked,
}

/// The table that purge works on; its metadata lock is held, so that its trees cannot be dropped.
#[derive(Default)]
pub(crate) struct HeldTable {
    table: Option<(Arc<Table>, usize)>,
    /// Times that it was asked for since it was taken.
    uses: usize,
}

impl HeldTable {
    /// The table, and the position of the index in it.
    pub(crate) fn table(&self) -> Option<(&Table, usize)> {
        self.table.as_ref().map(|(table, position)| (&**table, *position))
    }

    /// Holds the table of an index. Purge waits for no lock, and soon releases the table to a definition
    /// change that waits for it.
    pub(crate) fn hold(&mut self, engine: &Engine, index: IndexId) -> Hold {
        let held = self.hold_again(index);
        if held == Some(Hold::Held) {
            return Hold::Held;
        }
        self.release();
        if let Some(locked) = held {
            return locked;
        }
        loop {
            let Some((table, position)) = engine.catalog().index(index).cloned() else { return Hold::Gone };
            if !table.state.lock.try_shared(TableUse::Purge, true) {
                return Hold::Locked;
            }
            if table.is_current() {
                self.table = Some((table, position));
                return Hold::Held;
            }
            // Redefined since it was looked up: the catalog has the new one.
            table.state.lock.unlock_shared(TableUse::Purge);
        }
    }

    /// [`HeldTable::hold`] of an index of the table that is held; `None`: it is another's.
    fn hold_again(&mut self, index: IndexId) -> Option<Hold> {
        let (table, position) = self.table.as_mut()?;
        *position = table.index_ids().position(|id| id == index)?;
        self.uses += 1;
        let gives_way = self.uses.is_multiple_of(USES_BETWEEN_LOOKS) && table.state.lock.is_wanted();
        Some(if gives_way { Hold::Locked } else { Hold::Held })
    }

    fn release(&mut self) {
        self.uses = 0;
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
