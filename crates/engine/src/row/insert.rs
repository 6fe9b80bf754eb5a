//! Inserting a row: the clustered record, then an entry in every other index.

use base::{ROW_HEADER_BYTES, TrxId, UndoPtr};
use btree::LeafEdit;
use page::{OVERFLOW_REF_BYTES, RowHeader, RowTooLarge, SlotFlags};
use trx::{Attempt, Buffers, Trx, UndoKind};

use super::duplicate;
use super::entry::room_for_entry;
use super::key::{Value, ensure_key};
#[cfg(test)]
use super::update_in_place::NEVER_IN_PLACE;
use super::writer::{RowWriter, change};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::table::Table;

/// Result of an insert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InsertOutcome {
    /// The invisible row id, in a table without a key of its own.
    pub row_id: Option<u64>,
}

impl Table {
    /// Inserts a row: storage bytes per column, in column order.
    ///
    /// The caller has the metadata lock and no cursor or batch that holds a latch.
    /// # Errors
    /// [`Error::DuplicateKey`], [`Error::RowTooLarge`], [`Error::KeyTooLong`], those of locks; the row is not
    /// there then.
    pub fn insert(&self, engine: &Engine, trx: &mut Trx, row: &[Value<'_>]) -> Result<InsertOutcome> {
        debug_assert_eq!(row.len(), self.def.columns.len(), "one value per column");
        change(engine, self, trx, |writer, buffers| writer.insert(row, true, buffers))
    }
}

impl<'a> RowWriter<'a> {
    /// `last`: nothing comes after it that can fail.
    pub(crate) fn insert(
        &mut self,
        row: &[Value<'_>],
        last: bool,
        buffers: &mut Buffers,
    ) -> Result<InsertOutcome> {
        let row_id = self.next_row_id()?;
        let table = self.table;
        let indexes = table.indexes.len();
        let mut from = 1;
        #[cfg(test)]
        let is_apart = NEVER_IN_PLACE.get();
        #[cfg(not(test))]
        let is_apart = false;
        if let [_, first, ..] = &table.indexes[..]
            && !first.is_unique()
            && !is_apart
        {
            self.insert_with_entry(first, row, row_id.unwrap_or(0), last && indexes == 2, buffers)?;
            from = 2;
        } else {
            if last && indexes == 1 {
                self.expect_last_edit();
            }
            self.insert_clustered(row, row_id.unwrap_or(0), buffers)?;
            self.engine.count_new_rows(self.table, 1);
        }
        for position in from..indexes {
            if last && position + 1 == indexes {
                self.expect_last_edit();
            }
            self.insert_entry(position, row, row_id.unwrap_or(0), buffers)?;
        }
        Ok(InsertOutcome { row_id })
    }

    /// The clustered record of a new row, and its entry in `index`, the first secondary one, which is not
    /// unique: in one frame where the entry's leaf is free and has room.
    fn insert_with_entry(
        &mut self,
        index: &Index,
        row: &[Value<'_>],
        row_id: u64,
        last: bool,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let Buffers { key, payload, other_key: entry_key, other_payload: entry_payload, .. } = buffers;
        key.clear();
        payload.clear();
        self.encode_clustered(row, row_id, key, payload)?;
        self.encode_first_entry(index, row, key, entry_key, entry_payload)?;
        self.put_row(row, key, payload, |writer, leaf| {
            writer.engine.count_new_rows(writer.table, 1);
            writer.put_first_entry(index, leaf, entry_key, entry_payload, last)
        })
    }

    /// Writes the new row in `leaf`, and its entry: in the same frame if that goes without waiting.
    #[inline(always)]
    fn put_first_entry(
        &mut self,
        index: &Index,
        leaf: &mut LeafEdit<'_>,
        entry_key: &[u8],
        entry_payload: &[u8],
        last: bool,
    ) -> Result<()> {
        // Beside the row's leaf nothing is waited for: others latch trees in other orders.
        let room = room_for_entry(entry_key, entry_payload);
        let mut beside = index.tree.edit_beside(leaf, &self.engine.store, entry_key, room);
        if let Some(entry) = &mut beside {
            let put = self.put_entry(index, entry, entry_payload);
            let is_put = matches!(put, Ok(Attempt::Granted { .. }));
            self.commit_by(last && is_put, |parts| entry.write_both(leaf, parts));
            if put? != Attempt::Wait {
                return Ok(());
            }
            entry.release();
            leaf.release();
            self.locker.wait()?;
        } else {
            self.write(leaf);
            leaf.release();
        }
        if last {
            self.expect_last_edit();
        }
        self.open_entry(index, entry_key, entry_payload)
    }

    #[inline]
    pub(crate) fn next_row_id(&self) -> Result<Option<u64>> {
        if self.table.def.hidden_row_id { self.table.reserve_row_id(self.engine).map(Some) } else { Ok(None) }
    }

    /// The clustered record of a new row.
    pub(crate) fn insert_clustered(
        &mut self,
        row: &[Value<'_>],
        row_id: u64,
        buffers: &mut Buffers,
    ) -> Result<()> {
        buffers.key.clear();
        buffers.payload.clear();
        self.encode_clustered(row, row_id, &mut buffers.key, &mut buffers.payload)?;
        self.put_row(row, &buffers.key, &mut buffers.payload, |writer, leaf| {
            writer.write(leaf);
            Ok(())
        })
    }

    /// Appends key and payload of a new row's clustered record, long values written off page.
    pub(crate) fn encode_clustered(
        &mut self,
        row: &[Value<'_>],
        row_id: u64,
        key: &mut Vec<u8>,
        payload: &mut Vec<u8>,
    ) -> Result<()> {
        let format = &self.table.clustered().format;
        let start = key.len();
        let extent = format.append_key(row, row_id, key);
        ensure_key(extent, &key[start..])?;
        let (header, key_len) = (RowHeader { trx: self.id, undo: UndoPtr(0) }, key.len() - start);
        if format.encode_inline(header, row, key_len, payload) {
            return Ok(());
        }
        let off_page = format.choose_off_page(row, key_len).map_err(too_large)?;
        let references = self.write_values(row, &off_page)?;
        let mut stored = row.to_vec();
        for (&position, reference) in off_page.iter().zip(&references) {
            stored[usize::from(position)] = Some(reference);
        }
        format.encode(header, &stored, &off_page, payload);
        Ok(())
    }

    /// Writes the values of the columns at `positions` off page.
    pub(crate) fn write_values(
        &mut self,
        row: &[Value<'_>],
        positions: &[u16],
    ) -> Result<Vec<[u8; OVERFLOW_REF_BYTES]>> {
        let table = self.table;
        let mut references = Vec::with_capacity(positions.len());
        for &position in positions {
            let value = row[usize::from(position)].unwrap_or(&[]);
            let (engine, index) = (self.engine, table.clustered());
            let written = index.tree.write_overflow(&engine.store, value, |reference| {
                self.undo(index, UndoKind::ValueWritten, SlotFlags::NONE, &[], &reference.encode());
                self.log.take_parts()
            });
            references.push(written?.encode());
        }
        Ok(references)
    }

    /// Puts a new record in place: where none is, or over a delete-marked one. `write` writes it to the log.
    #[inline(always)]
    fn put_row(
        &mut self,
        row: &[Value<'_>],
        key: &[u8],
        payload: &mut [u8],
        write: impl FnOnce(&mut Self, &mut LeafEdit<'_>) -> Result<()>,
    ) -> Result<()> {
        let (engine, table) = (self.engine, self.table);
        loop {
            // Used in its place, as it is large.
            let mut edit = table.clustered().tree.edit(&engine.store, key, key.len() + payload.len());
            let Ok(leaf) = &mut edit else { return Ok(edit.map(drop)?) };
            if self.put_clustered(leaf, row, payload)? != Attempt::Wait {
                return write(self, leaf);
            }
            drop(edit);
            self.locker.wait()?;
        }
    }

    /// Puts a new record at the edit's position, which has room for it. Nothing has happened if this is to
    /// wait.
    /// # Errors  [`Error::DuplicateKey`]: nothing has happened.
    pub(crate) fn put_clustered(
        &mut self,
        edit: &mut LeafEdit<'_>,
        row: &[Value<'_>],
        payload: &mut [u8],
    ) -> Result<Attempt> {
        let index = self.table.clustered();
        let found = edit.found().then(|| edit.record());
        let writer = found.map_or(TrxId::NONE, |record| RowHeader::decode(record.payload()).trx);
        if found.is_some_and(|record| !record.flags().is_deleted()) {
            return self.refuse_duplicate(edit.key(), row, writer);
        }
        let (tree, changes) = (index.tree.index, self.log.records());
        // A row that the transaction itself has deleted was no gap for others.
        if self.locker.try_write(tree, edit.key(), writer, changes)? == Attempt::Wait
            || (writer != self.id && self.locker.try_insert(tree, edit.key(), changes)? == Attempt::Wait)
        {
            return Ok(Attempt::Wait);
        }
        self.ensure_seen(writer)?;
        let Some(record) = found else {
            self.undo(index, UndoKind::RowInsert, SlotFlags::NONE, edit.key(), &[]);
            edit.insert_row(payload).expect("edit was asked for the room");
            return Ok(Attempt::Granted { new: false });
        };
        self.overwrites(writer);
        let undo = self.undo(index, UndoKind::RowImage, record.flags(), edit.key(), record.payload());
        payload[..ROW_HEADER_BYTES].copy_from_slice(&self.header(undo));
        edit.replace_payload(payload).expect("edit was asked for the room");
        edit.set_flags(SlotFlags::NONE);
        edit.raise_trx_max(self.id);
        Ok(Attempt::Granted { new: false })
    }

    /// The row of `key` is a duplicate, once it is certain that it stays.
    #[cold]
    fn refuse_duplicate(&self, key: &[u8], row: &[Value<'_>], writer: TrxId) -> Result<Attempt> {
        let clustered = self.table.clustered();
        match self.shared().request(clustered.tree.index, key, writer)? {
            Attempt::Wait => Ok(Attempt::Wait),
            _ if self.ensure_seen(writer).is_err() => Err(Error::record_changed(&self.table.def.name)),
            _ => Err(duplicate::error(self.table, clustered, row)),
        }
    }
}

#[cold]
pub(crate) fn too_large(error: RowTooLarge) -> Error {
    Error::RowTooLarge { limit: error.limit }
}
