//! A secondary entry that gives way to another one of its row: closed and opened in one frame where both belong to one leaf.

use trx::Attempt;

use super::entry::{push_begin, put_end, room_for_entry};
use super::writer::RowWriter;
use crate::error::Result;
use crate::table::Index;

/// What came of the way through one leaf.
enum Moved {
    /// The entry is closed, and the new one open.
    Whole,
    /// The entry is closed.
    Closed,
    /// Nothing has happened.
    Not,
}

impl RowWriter<'_> {
    /// Closes the row's open entry with `old_key` in an index that is not unique, and opens one with `new_key` and `payload`.
    /// Neither key has a begin id; they get theirs. `last`: nothing comes after it that can fail.
    pub(crate) fn move_entry(
        &mut self,
        index: &Index,
        old_key: &mut Vec<u8>,
        new_key: &mut Vec<u8>,
        payload: &[u8],
        scratch: &mut Vec<u8>,
        last: bool,
    ) -> Result<()> {
        debug_assert!(!index.is_unique(), "an entry of a unique index is checked first");
        push_begin(new_key, self.id);
        match self.move_in_leaf(index, old_key, new_key, payload, scratch, last)? {
            Moved::Whole => return Ok(()),
            Moved::Closed => {}
            Moved::Not => {
                put_end(scratch, self.id);
                self.close_entry(index, old_key, scratch)?;
            }
        }
        self.open_entry(index, new_key, payload)
    }

    /// [`RowWriter::move_entry`] as far as it can be done in the leaf of `old_key`; `closed_key` is scratch.
    fn move_in_leaf(
        &mut self,
        index: &Index,
        old_key: &[u8],
        new_key: &[u8],
        payload: &[u8],
        closed_key: &mut Vec<u8>,
        last: bool,
    ) -> Result<Moved> {
        let need = new_key.len() + payload.len();
        let mut edit = self.edit_entry(index, old_key, room_for_entry(new_key, payload))?;
        if !self.close_in_leaf(index, &mut edit, closed_key)? {
            self.commit(edit);
            return Ok(Moved::Not);
        }
        if !edit.move_near(new_key, need) {
            self.commit(edit);
            return Ok(Moved::Closed);
        }
        let put = self.put_entry(index, &mut edit, payload);
        if matches!(put, Ok(Attempt::Granted { .. })) {
            if last {
                self.commit_last(edit);
            } else {
                self.commit(edit);
            }
            return Ok(Moved::Whole);
        }
        self.commit(edit);
        if put? == Attempt::Wait {
            self.locker.wait()?;
        }
        Ok(Moved::Closed)
    }
}
