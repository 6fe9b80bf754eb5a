//! A secondary entry that gives way to another one of its row: closed and opened in one frame where both belong to one leaf.

use trx::{Attempt, UndoKind};

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
        while self.try_open_entry(index, new_key, payload)? == Attempt::Wait {
            self.locker.wait()?;
        }
        Ok(())
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
        let mut edit = index.tree.edit(&self.engine.store, old_key, room_for_entry(new_key, payload))?;
        if !edit.move_to_version(|record| !record.flags().has_ver()) {
            return Ok(Moved::Not);
        }
        edit.note_garbage()?;
        let record = edit.record();
        let open = record.flags();
        closed_key.clear();
        record.append_key(closed_key);
        if edit.close(self.id).is_err() {
            edit.commit();
            return Ok(Moved::Not);
        }
        self.undo(index, UndoKind::EntryClose, open, closed_key, &[]);
        if !edit.move_to(new_key, need) {
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
