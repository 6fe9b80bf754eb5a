//! A secondary entry that gives way to another one of its row: closed and opened in one frame where both
//! belong to one leaf, which is the frame of the row's change where that leaf is free.

use btree::LeafEdit;
use trx::{Attempt, Buffers};

use super::entry::room_for_entry;
use super::key::push_begin;
use super::writer::RowWriter;
use crate::error::Result;
use crate::index::Index;

/// Result of the attempt within one leaf.
enum Moved {
    /// The entry is closed, and the new one open.
    Whole,
    /// The entry is closed.
    Closed,
    /// Nothing has happened.
    Not,
}

/// An entry that moves.
#[derive(Clone, Copy)]
struct Move<'k> {
    index: &'k Index,
    /// Without a begin id.
    old_key: &'k [u8],
    new_key: &'k [u8],
    payload: &'k [u8],
}

impl RowWriter<'_> {
    /// Closes the row's open entry with the key `other_key` of `buffers` in an index that is not unique, and
    /// opens one with `third_key` and `other_payload`. Neither key has a begin id; they get theirs. `row`:
    /// the row's leaf, changed and not committed yet: it is committed with what happens first, and released.
    /// `last`: nothing comes after it that can fail.
    pub(crate) fn move_entry(
        &mut self,
        mut row: Option<&mut LeafEdit<'_>>,
        index: &Index,
        buffers: &mut Buffers,
        last: bool,
    ) -> Result<()> {
        debug_assert!(!index.is_unique(), "an entry of a unique index is checked first");
        let Buffers { key: scratch, other_key: old_key, third_key: new_key, other_payload: payload, .. } =
            buffers;
        push_begin(new_key, self.id);
        match self.move_in_leaf(&mut row, Move { index, old_key, new_key, payload }, scratch, last)? {
            Moved::Whole => return Ok(()),
            Moved::Closed => {}
            Moved::Not => self.close_entry(index, old_key, scratch)?,
        }
        if last {
            self.expect_last_edit();
        }
        self.open_entry(index, new_key, payload)
    }

    /// [`RowWriter::move_entry`] as far as it can be done in the leaf of the old key; `closed_key` is
    /// scratch.
    fn move_in_leaf(
        &mut self,
        row: &mut Option<&mut LeafEdit<'_>>,
        entry: Move<'_>,
        closed_key: &mut Vec<u8>,
        last: bool,
    ) -> Result<Moved> {
        let Move { index, old_key, new_key, payload } = entry;
        let room = room_for_entry(new_key, payload);
        let engine = self.engine;
        // Beside the row's leaf nothing is waited for: others latch trees in other orders. Room is asked for
        // where the new entry goes.
        let beside = row.as_mut().and_then(|row| index.tree.edit_beside(row, &engine.store, old_key, 0));
        let mut edit = if let Some(edit) = beside {
            edit
        } else {
            if let Some(row) = row.take() {
                self.commit_by(false, |parts| row.write(parts));
                row.release();
            }
            self.edit_entry(index, old_key, room)?
        };
        let closed = self.close_in_leaf(index, &mut edit, closed_key);
        if !matches!(closed, Ok(true)) {
            self.commit_with_row(row, &mut edit, false);
            return closed.map(|_| Moved::Not);
        }
        if !edit.move_near(new_key, room) {
            self.commit_with_row(row, &mut edit, false);
            return Ok(Moved::Closed);
        }
        let put = self.put_entry(index, &mut edit, payload);
        let is_whole = matches!(put, Ok(Attempt::Granted { .. }));
        self.commit_with_row(row, &mut edit, last && is_whole);
        if is_whole {
            return Ok(Moved::Whole);
        }
        drop(edit);
        if put? == Attempt::Wait {
            self.locker.wait()?;
        }
        Ok(Moved::Closed)
    }

    /// Commits an edit, with that of the row if it is still to be committed, which is released. The edit's
    /// leaf stays latched. `last`: as [`RowWriter::commit_last`].
    #[inline(always)]
    fn commit_with_row(&mut self, row: &mut Option<&mut LeafEdit<'_>>, edit: &mut LeafEdit<'_>, last: bool) {
        if let Some(row) = row.take() {
            self.commit_by(last, |parts| edit.write_both(row, parts));
            row.release();
        } else if edit.is_changed() {
            self.commit_by(last, |parts| edit.write(parts));
        }
    }
}
