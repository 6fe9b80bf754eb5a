//! Deleting a row: the clustered record is delete-marked, its entries are closed; purge removes them.

use page::{RecordCopy, RowHeader, RowRef, SlotFlags};
use trx::{Buffers, NewUndo, Trx, UndoKind};

use super::row_image::{RowImage, value_of, with_values};
#[cfg(test)]
use super::update_in_place::NEVER_IN_PLACE;
use super::update_in_place::make_entry_key;
use super::version::flags_to_undo;
use super::writer::{RowWriter, change};
use crate::engine::Engine;
use crate::error::Result;
use crate::table::Table;

impl Table {
    /// Deletes the row with `clustered_key`. False: there is none (any more).
    ///
    /// The caller has the metadata lock and no cursor or batch that holds a latch.
    pub fn delete(&self, engine: &Engine, trx: &mut Trx, clustered_key: &[u8]) -> Result<bool> {
        change(engine, self, trx, |writer, buffers| writer.delete(clustered_key, true, buffers))
    }
}

impl RowWriter<'_> {
    /// `last`: nothing comes after it that can fail.
    pub(crate) fn delete(&mut self, key: &[u8], last: bool, buffers: &mut Buffers) -> Result<bool> {
        let index = self.table.clustered();
        let mut edit = self.edit_row(key, 0)?;
        if !edit.found() || edit.record().flags().is_deleted() {
            self.lock_missing(&edit);
            return Ok(false);
        }
        if self.engine.lost_values.are_sought() {
            // Before the edit may take the state of the space.
            self.engine.spare_values(&index.format, edit.record());
        }
        edit.note_garbage()?;
        let record = edit.record();
        let copy = self.keep_for_entries(&RowRef::new(&index.format, record), buffers);
        let before = RowHeader::decode(record.payload());
        self.overwrites(before.trx);
        let before = before.encode();
        let undo = self.log.append(&NewUndo {
            kind: UndoKind::RowDelete,
            index: index.tree.index,
            flags: flags_to_undo(record.flags()),
            patch_offset: 0,
            key,
            row_header: Some(&before),
            image: &[],
        });
        edit.delete_row(&self.header(undo));
        if copy.is_none() {
            // In the row's frame: a log that begins after the mark must not name its values.
            self.bury_values(buffers);
        }
        if last && self.table.indexes.len() == 1 {
            self.expect_last_edit();
        }
        self.commit(edit);
        self.table.add_rows(-1);
        match copy {
            Some(copy) => self.close_entries_of(copy, key, last, buffers)?,
            None => self.close_all_entries(key, last, buffers)?,
        }
        Ok(true)
    }

    /// Keeps what the entries of a row are made of, which goes: a copy of its record in [`Buffers::values`].
    /// `None`: it has values off page, and is taken out of its record.
    #[inline]
    fn keep_for_entries(&self, row: &RowRef<'_>, buffers: &mut Buffers) -> Option<RecordCopy> {
        #[cfg(test)]
        let is_short = !NEVER_IN_PLACE.get() && !row.has_off_page();
        #[cfg(not(test))]
        let is_short = !row.has_off_page();
        if is_short {
            buffers.values.clear();
            return Some(row.record().copy_to(&mut buffers.values));
        }
        let mut image = RowImage { values: &mut buffers.values, spans: &mut buffers.spans };
        let columns = self.table.def.columns.len();
        image.fill_only(&self.table.indexed_columns, row, columns, &mut buffers.payload);
        None
    }

    /// Closes the entries of a row of which there is a copy.
    #[inline]
    fn close_entries_of(
        &mut self,
        copy: RecordCopy,
        clustered_key: &[u8],
        last: bool,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let table = self.table;
        for (position, index) in table.indexes.iter().enumerate().skip(1) {
            let Buffers { other_key, other_payload, payload: scratch, values, .. } = &mut *buffers;
            let row = RowRef::new(&table.clustered().format, copy.record(values));
            make_entry_key(index, clustered_key, &row, other_key, scratch);
            if last && position + 1 == table.indexes.len() {
                self.expect_last_edit();
            }
            self.close_entry(index, other_key, other_payload)?;
        }
        Ok(())
    }

    /// Notes for purge that the off-page values of the row in the buffers have lost it.
    fn bury_values(&mut self, buffers: &mut Buffers) {
        let index = self.table.clustered();
        let image = RowImage { values: &mut buffers.values, spans: &mut buffers.spans };
        for (_, reference) in image.references() {
            self.undo(index, UndoKind::ValueDead, SlotFlags::NONE, &[], &reference.encode());
        }
    }

    /// Closes the entries of the row in the buffers, which has `clustered_key`.
    fn close_all_entries(&mut self, clustered_key: &[u8], last: bool, buffers: &mut Buffers) -> Result<()> {
        if self.table.indexes.len() == 1 {
            return Ok(());
        }
        let (values, spans) = (std::mem::take(&mut buffers.values), std::mem::take(&mut buffers.spans));
        let closed = with_indexed_values(self, values, spans, |writer, values, spans| {
            with_values(
                spans.len(),
                |i| value_of(values, spans[i]),
                |row| writer.close_entries(row, clustered_key, last, buffers),
            )
        });
        let (values, spans, result) = closed?;
        (buffers.values, buffers.spans) = (values, spans);
        result
    }
}

/// Hands the row image to `work` with the off-page values of indexed columns read in; gives the image back.
fn with_indexed_values<R>(
    writer: &mut RowWriter<'_>,
    mut values: Vec<u8>,
    mut spans: Vec<trx::Span>,
    work: impl FnOnce(&mut RowWriter<'_>, &[u8], &[trx::Span]) -> R,
) -> Result<(Vec<u8>, Vec<trx::Span>, R)> {
    let indexed = &writer.table.indexed_columns;
    let image = RowImage { values: &mut values, spans: &mut spans };
    let result = if image.any_off_page(indexed) {
        let (fetched, places) = image.fetched(writer.store(), indexed)?;
        work(writer, &fetched, &places)
    } else {
        work(writer, &values, &spans)
    };
    Ok((values, spans, result))
}
