//! The state of every row change, and the changes of one clustered record.

use std::ops::Bound;

use base::{ROW_HEADER_BYTES, TrxId, UndoPtr};
use btree::{LeafEdit, Neighbour};
use log::{FrameRange, Part};
use page::{RowHeader, SlotFlags};
use space::Store;
use trx::{Attempt, CommitPoint, Locker, NewUndo, ReadView, Trx, UndoKind, UndoLog, WriteParts};

use super::rollback;
use super::version::flags_to_undo;
use crate::commit::now_micros;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::table::Table;

/// The writing transaction at work on one table. Its metadata lock is held.
pub(crate) struct RowWriter<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) table: &'a Table,
    pub(crate) id: TrxId,
    pub(crate) log: &'a mut UndoLog,
    pub(crate) locker: Locker<'a>,
    /// Whether a row that is not there is locked by its gap.
    gaps: bool,
    /// The transaction's view, if it has one.
    view: Option<&'a ReadView>,
    /// Rows that the view does not see are not changed.
    snapshot_isolation: bool,
    /// A row was changed over a version that the view does not see.
    mixed: bool,
    /// Where the transaction commits.
    commit_point: CommitPoint,
    /// It does so with the next edit.
    commits_next: bool,
}

/// Runs a change of one row; if it fails, what it did is undone. The row is all or nothing.
pub(crate) fn change<R>(
    engine: &Engine,
    table: &Table,
    trx: &mut Trx,
    work: impl FnOnce(&mut RowWriter<'_>, &mut trx::Buffers) -> Result<R>,
) -> Result<R> {
    // Before the first latch, and before the undo is held.
    if engine.store.log().admit_change()? {
        engine.ensure_undo_room()?;
    }
    let id = trx.begin_write()?;
    let WriteParts {
        mut log,
        buffers,
        slot,
        locker,
        view,
        locks_gaps: gaps,
        snapshot_isolation,
        commit_point,
    } = trx.write_parts(id)?;
    let mark = log.mark();
    if mark.is_none() {
        slot.note_first_undo(engine.store.log().current());
        engine.keep_below_trx_limit(id)?;
    }
    let is_building = table.is_building();
    let mut writer = RowWriter {
        engine,
        table,
        id,
        log: &mut log,
        locker,
        gaps,
        view,
        snapshot_isolation,
        mixed: false,
        // A change is noted before others may change the row.
        commit_point: if is_building { CommitPoint::Own } else { commit_point },
        commits_next: false,
    };
    let done = work(&mut writer, buffers);
    let RowWriter { mixed, commit_point, .. } = writer;
    if let CommitPoint::Logged(end) = commit_point {
        // Under the mutex of the undo: the rollback at shutdown finds no transaction.
        locker.end_committed(&mut log, end);
        drop(log);
        trx.note_committed(end);
        return done;
    }
    if is_building && let Some(build) = table.build() {
        build.note_changes(engine, table, &log, mark);
    }
    if done.is_err() {
        rollback::undo_partly(engine, &mut log, mark, &locker)?;
    }
    drop(log);
    if mixed {
        trx.note_mixed();
    }
    done
}

impl<'a> RowWriter<'a> {
    /// Latches the clustered leaf of `key`, as [`btree::Tree::edit`], once no other transaction stands
    /// against a change of the row. It may not be there.
    #[inline(always)]
    pub(crate) fn edit_row<'k>(&self, key: &'k [u8], need: usize) -> Result<LeafEdit<'k>>
    where
        'a: 'k,
    {
        let index = self.table.clustered();
        loop {
            let edit = index.tree.edit(&self.engine.store, key, need)?;
            if !edit.found() {
                return Ok(edit);
            }
            let writer = RowHeader::decode(edit.record().payload()).trx;
            let attempt = self.locker.try_write(index.tree.index, key, writer, self.log.records())?;
            if attempt != Attempt::Wait {
                self.ensure_seen(writer)?;
                return Ok(edit);
            }
            self.wait_without(edit)?;
        }
    }

    /// # Errors
    /// [`Error::RecordChanged`]: the row's writer has ended, and the transaction must see its version but
    /// does not.
    #[inline(always)]
    pub(crate) fn ensure_seen(&self, writer: TrxId) -> Result<()> {
        if self.snapshot_isolation && self.is_unseen(writer) {
            return Err(Error::record_changed(&self.table.def.name));
        }
        Ok(())
    }

    #[inline]
    fn is_unseen(&self, writer: TrxId) -> bool {
        writer != self.id && self.view.is_some_and(|view| !view.sees(&self.engine.trx, writer))
    }

    /// Waits for the lock that was asked for last, once the leaf is let go of.
    #[cold]
    #[inline(never)]
    fn wait_without(&self, edit: LeafEdit<'_>) -> Result<()> {
        drop(edit);
        Ok(self.locker.wait()?)
    }

    /// Locks the gap that the row of `edit` would be in: it is not there, and stays away.
    #[cold]
    #[inline(never)]
    pub(crate) fn lock_missing(&self, edit: &LeafEdit<'_>) {
        if !self.gaps {
            return;
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        edit.append_prev_key(&mut before);
        let lower = if before.is_empty() { Bound::Unbounded } else { Bound::Excluded(&before[..]) };
        let upper = match edit.append_next_key(&mut after) {
            Neighbour::End => Bound::Unbounded,
            Neighbour::Record(_) | Neighbour::Fence => Bound::Excluded(&after[..]),
        };
        self.locker.lock_gap(self.table.clustered().tree.index, lower, upper);
    }

    /// Keeps the row locked, which the transaction may change, while its leaf is let go of.
    #[cold]
    #[inline(never)]
    pub(crate) fn keep_row(&self, key: &[u8]) {
        self.locker.keep_row(self.table.clustered().tree.index, key);
    }

    pub(crate) fn store(&self) -> &Store {
        &self.engine.store
    }

    /// Appends an undo record about a record of `index`.
    #[inline(always)]
    pub(crate) fn undo(
        &mut self,
        index: &Index,
        kind: UndoKind,
        flags: SlotFlags,
        key: &[u8],
        image: &[u8],
    ) -> UndoPtr {
        if image.is_empty() {
            let ptr = self.log.append_key(kind, index.tree.index, flags_to_undo(flags), key);
            return ptr;
        }
        self.log.append(&NewUndo {
            kind,
            index: index.tree.index,
            flags: flags_to_undo(flags),
            patch_offset: 0,
            key,
            row_header: None,
            image,
        })
    }

    /// Commits an edit in one frame with the undo of its changes.
    #[inline(always)]
    pub(crate) fn commit(&mut self, mut edit: LeafEdit<'_>) {
        self.write(&mut edit);
    }

    /// [`RowWriter::commit`], but that the leaf stays latched until the edit is dropped or released.
    #[inline(always)]
    pub(crate) fn write(&mut self, edit: &mut LeafEdit<'_>) {
        if self.commits_next {
            return self.write_last(edit);
        }
        if edit.write(self.log.parts()).is_some() {
            self.log.clear_parts();
        }
    }

    /// The next edit that is committed is the change's last one: see [`RowWriter::commit_last`].
    #[inline]
    pub(crate) fn expect_last_edit(&mut self) {
        self.commits_next = self.commit_point == CommitPoint::LastChange;
    }

    /// As [`RowWriter::commit`] of the change's last edit, after which nothing can fail: the transaction
    /// commits with it if it was to.
    #[inline(always)]
    pub(crate) fn commit_last(&mut self, mut edit: LeafEdit<'_>) {
        self.write_last(&mut edit);
    }

    #[inline(always)]
    fn write_last(&mut self, edit: &mut LeafEdit<'_>) {
        if edit.is_changed() {
            self.commit_by(true, |parts| edit.write(parts));
        }
    }

    /// Lets `commit` write a frame with the undo of its changes, of which there is at least one; `last`: as
    /// [`RowWriter::commit_last`].
    #[inline(always)]
    pub(crate) fn commit_by(&mut self, last: bool, commit: impl FnOnce(&[u8]) -> Option<FrameRange>) {
        let commits = last && self.begin_last();
        let range = commit(self.log.parts());
        self.note_frame(range, commits);
    }

    /// Before the change's last frame: whether the transaction commits with it.
    #[inline(always)]
    fn begin_last(&mut self) -> bool {
        let commits = self.commit_point == CommitPoint::LastChange;
        if commits {
            // Before the frame has a position: readers that meet a change of the transaction wait for its
            // number. From here to the end this takes no latch.
            self.log.begin_commit();
            self.log.push_part(&Part::Commit { trx: self.id, micros: now_micros() });
        }
        commits
    }

    /// After a frame, which has the transaction's commit if `commits`.
    #[inline(always)]
    fn note_frame(&mut self, range: Option<FrameRange>, commits: bool) {
        if commits && let Some(range) = range {
            self.commit_point = CommitPoint::Logged(range.end);
        }
        self.log.clear_parts();
    }

    /// Notes whose version of a row is being changed.
    #[inline]
    pub(crate) fn overwrites(&mut self, writer: TrxId) {
        self.mixed |= self.is_unseen(writer);
    }

    /// The header of a record this transaction writes.
    #[inline]
    pub(crate) fn header(&self, undo: UndoPtr) -> [u8; ROW_HEADER_BYTES] {
        RowHeader { trx: self.id, undo }.encode()
    }
}
