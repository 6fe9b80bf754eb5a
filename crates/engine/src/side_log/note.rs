//! What is noted of changes of rows, and of their rollback.

use base::UndoPtr;
use base::sync::{PlantedBug, planted};
use page::{RowHeader, RowRef, SlotFlags};
use trx::{UndoKind, UndoLog, UndoRecord};

use super::build::IndexBuild;
use super::change::{Action, Change};
use super::changed_rows::{ChangedRows, Keys};
use super::row_entries::{Indexed, RowEntries, same_fields};
use super::table_side_log::TableSideLog;
use super::totals::SideLogTotals;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::index_sort::Entry;
use crate::row::version::{apply, flags_from_undo};
use crate::table::Table;

/// Keys of one change of a row are added in pieces of about this many bytes: a batch has many.
const PIECE_BYTES: usize = 16 << 10;

/// Whether a change has been made, or is about to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Made,
    Undone,
}

impl TableSideLog {
    /// Notes what the change of a row after `mark` in `log` has done to `table`. Its transaction is in
    /// progress. No latch is held.
    #[cold]
    pub(crate) fn note_changes(&self, engine: &Engine, table: &Table, log: &UndoLog, mark: UndoPtr) {
        match self {
            TableSideLog::Indexes(build) => build.note_changes(engine, table, log, mark),
            TableSideLog::Rows(rows) => rows.note_changes(engine, table, log, mark),
        }
    }

    /// The row change recorded in `undo` is about to be undone. The caller holds no latch.
    #[cold]
    pub(crate) fn note_undo(&self, engine: &Engine, table: &Table, undo: &UndoRecord) {
        match self {
            TableSideLog::Indexes(build) => build.note_undo(engine, table, undo),
            TableSideLog::Rows(_) => {}
        }
    }

    /// The undo that [`TableSideLog::note_undo`] announced has taken place, or has failed.
    #[cold]
    pub(crate) fn note_undone(&self, engine: &Engine, undo: &UndoRecord, took_place: bool) {
        match self {
            TableSideLog::Indexes(build) if !took_place => build.note_not_undone(),
            TableSideLog::Indexes(_) => {}
            TableSideLog::Rows(rows) => rows.note_undone(engine, undo),
        }
    }
}

impl IndexBuild {
    /// Notes what the change of a row after `mark` in `log` has done to `table`. Its transaction is in
    /// progress, and so keeps others from the rows; a change changes no row twice. No latch is held.
    #[cold]
    #[inline(never)]
    fn note_changes(&self, engine: &Engine, table: &Table, log: &UndoLog, mark: UndoPtr) {
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
    fn note_undo(&self, engine: &Engine, table: &Table, undo: &UndoRecord) {
        self.note(engine, table, undo, UndoPtr::NONE, Step::Undone);
    }

    /// Fails the build: the undo that was logged last did not take place.
    #[cold]
    fn note_not_undone(&self) {
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
}

impl ChangedRows {
    /// Notes the rows that the change after `mark` in `log` has changed.
    #[cold]
    #[inline(never)]
    fn note_changes(&self, engine: &Engine, table: &Table, log: &UndoLog, mark: UndoPtr) {
        let (mut undo, mut at) = (UndoRecord::default(), log.mark());
        let mut keys = Keys::default();
        while at != mark && !at.is_none() {
            if let Err(error) = engine.trx.undo().read(at, true, &mut undo) {
                return self.queue.fail(Error::VersionUnreadable(error));
            }
            if is_of_row(undo.kind) && undo.index == table.clustered().tree.index {
                keys.push(&undo.key);
                if keys.bytes.len() > PIECE_BYTES {
                    self.add(engine, &mut keys);
                }
            }
            at = undo.prev;
        }
        self.add(engine, &mut keys);
    }

    /// Notes the row whose change, recorded in `undo`, was undone.
    #[cold]
    #[inline(never)]
    fn note_undone(&self, engine: &Engine, undo: &UndoRecord) {
        let mut keys = Keys::default();
        keys.push(&undo.key);
        self.add(engine, &mut keys);
    }

    fn add(&self, engine: &Engine, keys: &mut Keys) {
        if keys.count == 0 || planted(PlantedBug::UnnotedChange) {
            return;
        }
        engine.side_log_counters.add(SideLogTotals { noted: keys.count, ..SideLogTotals::default() });
        self.queue.push(&keys.bytes, 0);
        *keys = Keys::default();
    }
}

/// Whether undo of this kind is of a clustered record.
fn is_of_row(kind: UndoKind) -> bool {
    use UndoKind::{RowDelete, RowImage, RowInsert, RowPatch};
    matches!(kind, RowInsert | RowImage | RowPatch | RowDelete)
}
