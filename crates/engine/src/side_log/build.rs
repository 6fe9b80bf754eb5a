//! A build under way, and what is noted of changes meanwhile.

use base::UndoPtr;
use base::sync::{PlantedBug, planted};
use page::{RowHeader, RowRef, SlotFlags};
use trx::{UndoKind, UndoLog, UndoRecord};

use super::change::{Action, Change};
use super::queue::{BLOCK_BYTES, ChangeQueue};
use super::row_entries::{Indexed, RowEntries, same_fields};
use super::totals::SideLogTotals;
use crate::column_set::ColumnSet;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::index_sort::Entry;
use crate::row::version::{apply, flags_from_undo};
use crate::table::{Index, Table};

/// Indexes that are built while rows change, and the changes.
#[derive(Debug)]
pub(crate) struct IndexBuild {
    indexes: Vec<Index>,
    /// Columns that their entries are made from.
    columns: ColumnSet,
    queue: ChangeQueue,
}

/// Whether a change has been made, or is about to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Made,
    Undone,
}

impl IndexBuild {
    /// Most bytes of changes in memory: those that the queue keeps, and those that the build has taken.
    pub(crate) const MEMORY_BYTES_MAX: usize = 2 * BLOCK_BYTES;
    /// Catch-up stops when at most this many bytes wait; the rest is replayed under the exclusive lock.
    pub(crate) const REST_BYTES: u64 = BLOCK_BYTES as u64;

    /// A build of `indexes`, of which there is one at least, for which changes of up to `bytes_max` bytes may
    /// wait.
    pub(crate) fn new(engine: &Engine, table: &Table, indexes: Vec<Index>, bytes_max: u64) -> Self {
        let columns = table.def.columns.len();
        let columns = indexes.iter().flat_map(|index| index.columns.below(columns)).collect();
        let name = format!("changes-{}", indexes[0].def.id.0);
        let names = indexes.iter().map(|index| index.def.name.clone()).collect();
        let queue = ChangeQueue::new(&engine.temp_folder, name, bytes_max, names);
        IndexBuild { indexes, columns, queue }
    }

    pub(crate) fn indexes(&self) -> &[Index] {
        &self.indexes
    }

    /// Notes what the change of a row after `mark` in `log` has done to `table`. Its transaction is in
    /// progress, and so keeps others from the rows; a change changes no row twice. No latch is held.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_changes(&self, engine: &Engine, table: &Table, log: &UndoLog, mark: UndoPtr) {
        let (mut undo, mut at) = (UndoRecord::default(), log.mark());
        while at != mark && !at.is_none() {
            if let Err(error) = engine.trx.undo().read(at, true, &mut undo) {
                return self.fail(Error::VersionUnreadable(error));
            }
            if is_of_row(undo.kind) && undo.index == table.clustered().tree.index {
                self.note(engine, table, &undo, at, Step::Made);
            }
            at = undo.prev;
        }
    }

    /// Logs that the row change recorded in `undo` is about to be undone. The caller holds no latch.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_undo(&self, engine: &Engine, table: &Table, undo: &UndoRecord) {
        self.note(engine, table, undo, UndoPtr::NONE, Step::Undone);
    }

    /// Fails the build: the undo that was logged last did not take place.
    #[cold]
    pub(crate) fn note_not_undone(&self) {
        self.fail(self.disagrees(0));
    }

    fn note(&self, engine: &Engine, table: &Table, undo: &UndoRecord, at: UndoPtr, step: Step) {
        if planted(PlantedBug::UnnotedChange) || self.queue.ensure_whole().is_err() {
            return;
        }
        match self.changes_of(engine, table, undo, at, step) {
            Ok((_, 0)) => {}
            Ok((changes, noted)) => {
                engine.side_log_counters.add(SideLogTotals { noted, ..SideLogTotals::default() });
                let first = Change::take(&mut &changes[..]).map_or(0, |first| first.index);
                self.queue.push(&changes, first);
            }
            Err(error) => self.fail(error),
        }
    }

    /// The changes of entries, and how many these are. `at`: where the undo record is.
    fn changes_of(
        &self,
        engine: &Engine,
        table: &Table,
        undo: &UndoRecord,
        at: UndoPtr,
        step: Step,
    ) -> Result<(Vec<u8>, u64)> {
        let clustered = table.clustered();
        let mut newest = Vec::new();
        let copy = match clustered.tree.point(&engine.store, &undo.key)? {
            Some(at) => at.record().copy_to(&mut newest),
            None => return Err(self.disagrees(0)),
        };
        let record = copy.record(&newest);
        let is_newest = undo.kind == UndoKind::RowInsert || RowHeader::decode(record.payload()).undo == at;
        if step == Step::Made && !is_newest {
            // It has not come to the change that the undo record was for.
            return Ok((Vec::new(), 0));
        }
        let mut payload = record.payload().to_vec();
        let was_there = undo.kind != UndoKind::RowInsert && !flags_from_undo(undo.flags).is_deleted();
        if was_there && !apply(undo, 0, &mut payload) {
            return Err(self.disagrees(0));
        }
        let old = record.with_payload(&payload, SlotFlags::NONE);
        let row = |record| RowRef::new(&clustered.format, record);
        let (before, after) =
            (was_there.then(|| row(old)), (!record.flags().is_deleted()).then(|| row(record)));
        if let (Some(before), Some(after)) = (&before, &after)
            && same_fields(before, after, &self.columns)
        {
            return Ok((Vec::new(), 0));
        }
        let indexed = Indexed { store: &engine.store, table, indexes: &self.indexes, columns: &self.columns };
        let entries = |row: Option<RowRef<'_>>| {
            row.map_or(Ok(RowEntries::default()), |row| RowEntries::of(&row, indexed))
        };
        let (before, after) = (entries(before)?, entries(after)?);
        Ok(match step {
            Step::Made => self.differences(&before, &after),
            Step::Undone => self.differences(&after, &before),
        })
    }

    /// What makes the entries `to` of the entries `from`.
    fn differences(&self, from: &RowEntries, to: &RowEntries) -> (Vec<u8>, u64) {
        let (mut changes, mut count) = (Vec::new(), 0);
        for index in 0..self.indexes.len() {
            let (old, new) = (from.get(index), to.get(index));
            if old.map(Entry::bytes) == new.map(Entry::bytes) {
                continue;
            }
            let removed = old.map(|entry| Change { action: Action::Remove, index, entry });
            let inserted = new.map(|entry| Change { action: Action::Insert, index, entry });
            for change in removed.into_iter().chain(inserted) {
                change.append_to(&mut changes);
                count += 1;
            }
        }
        (changes, count)
    }

    /// The error for a change that does not fit the index at `position`.
    #[cold]
    pub(crate) fn disagrees(&self, position: usize) -> Error {
        Error::SideLogDisagrees { index: self.indexes[position].def.name.clone() }
    }

    /// Fails the build because a change could not be logged.
    #[cold]
    fn fail(&self, error: Error) {
        self.queue.fail(error);
    }

    /// # Errors
    /// What keeps the build from knowing of all changes.
    pub(crate) fn ensure_whole(&self) -> Result<()> {
        self.queue.ensure_whole()
    }

    /// Replaces `changes` by the oldest ones that wait. False: there are none.
    ///
    /// # Errors
    /// Those of [`IndexBuild::ensure_whole`]; [`Error::TempFile`].
    pub(crate) fn take(&self, changes: &mut Vec<u8>) -> Result<bool> {
        self.queue.take(changes)
    }

    /// Bytes of changes that wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.queue.waiting()
    }

    /// Blocks that were written to the temporary file.
    pub(crate) fn blocks(&self) -> u64 {
        self.queue.blocks()
    }
}

/// Whether undo of this kind is of a clustered record.
pub(super) fn is_of_row(kind: UndoKind) -> bool {
    use UndoKind::{RowDelete, RowImage, RowInsert, RowPatch};
    matches!(kind, RowInsert | RowImage | RowPatch | RowDelete)
}
