//! Updating a row: in place where its key stays, as delete and insert where it does not.

use base::{ROW_HEADER_BYTES, UndoPtr};
use btree::LeafEdit;
use page::{OVERFLOW_REF_BYTES, RowHeader, RowRef, SlotFlags};
use trx::{Buffers, Trx, UndoKind};

use super::insert::too_large;
use super::key::{Value, ensure_key, row_id_of};
use super::old_row::{OldImage, OldRow};
use super::row_image::{RowImage, value_of, with_values};
use super::writer::{RowWriter, change};
use crate::column_set::ColumnSet;
use crate::engine::Engine;
use crate::error::Result;
use crate::index::Index;
use crate::table::Table;

/// Result of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// The row has its new values.
    Updated,
    /// It had them already.
    Unchanged,
    /// There is no such row (any more).
    Missing,
}

/// A change whose new values depend on the row as it is.
pub trait RowChange {
    /// Makes the new values; false: the row stays as it is. The row's leaf is latched: this reads no page and
    /// waits for nothing.
    fn make(&mut self, old: &OldRow<'_>) -> bool;

    /// The new storage bytes of a column that changes. Asked once they are made.
    fn value(&self, position: usize) -> Value<'_>;
}

/// New values that are known beforehand.
struct GivenValues<'v>(&'v [Value<'v>]);

impl RowChange for GivenValues<'_> {
    #[inline]
    fn make(&mut self, _: &OldRow<'_>) -> bool {
        true
    }

    #[inline]
    fn value(&self, position: usize) -> Value<'_> {
        self.0[position]
    }
}

impl Table {
    /// Gives the row with `clustered_key` new values in the `changed` columns; `row` holds storage bytes per
    /// column, of which only those of `changed` are read.
    ///
    /// The caller has the metadata lock and no cursor or batch that holds a latch.
    /// # Errors
    /// As [`Table::insert`]; the row is as before then.
    pub fn update(
        &self,
        engine: &Engine,
        trx: &mut Trx,
        clustered_key: &[u8],
        row: &[Value<'_>],
        changed: &ColumnSet,
    ) -> Result<UpdateOutcome> {
        debug_assert_eq!(row.len(), self.def.columns.len(), "one value per column");
        self.update_fetched(engine, trx, clustered_key, &mut GivenValues(row), changed, &self.indexed_columns)
    }

    /// Gives the row with `clustered_key` the values that `new` makes for the `changed` columns. Cost: one
    /// descent where the clustered key stays and nothing is off page; no allocation.
    ///
    /// The caller has the metadata lock and no cursor or batch that holds a latch.
    /// # Errors
    /// As [`Table::insert`]; the row is as before then.
    pub fn update_with(
        &self,
        engine: &Engine,
        trx: &mut Trx,
        clustered_key: &[u8],
        new: &mut impl RowChange,
        changed: &ColumnSet,
    ) -> Result<UpdateOutcome> {
        self.update_fetched(engine, trx, clustered_key, new, changed, &ColumnSet::ALL)
    }

    /// `fetched`: columns whose off-page values are read first.
    fn update_fetched(
        &self,
        engine: &Engine,
        trx: &mut Trx,
        clustered_key: &[u8],
        new: &mut impl RowChange,
        changed: &ColumnSet,
        fetched: &ColumnSet,
    ) -> Result<UpdateOutcome> {
        change(engine, self, trx, |writer, buffers| {
            let leaf = writer.edit_row(clustered_key, 0)?;
            if !leaf.found() || leaf.record().flags().is_deleted() {
                writer.lock_missing(&leaf);
                return Ok(UpdateOutcome::Missing);
            }
            let row = RowRef::new(&self.clustered().format, leaf.record());
            if row.has_off_page() {
                return writer.update_long(clustered_key, leaf, new, changed, fetched, buffers);
            }
            if !new.make(&OldRow::in_record(row, self.def.columns.len())) {
                writer.keep_row(clustered_key);
                return Ok(UpdateOutcome::Unchanged);
            }
            match writer.plan_patch(&row, new, changed, buffers) {
                Some(patch) => writer.update_in_place(leaf, &patch, buffers),
                None => writer.update_taken_out(clustered_key, leaf, new, changed, buffers),
            }
        })
    }
}

impl RowWriter<'_> {
    /// Updates a row none of whose values is off page; `new` has made its values.
    #[inline(never)]
    fn update_taken_out(
        &mut self,
        key: &[u8],
        leaf: LeafEdit<'_>,
        new: &impl RowChange,
        changed: &ColumnSet,
        buffers: &mut Buffers,
    ) -> Result<UpdateOutcome> {
        let old = self.old_image(&leaf, buffers);
        let outcome = self.update(key, &old, Some(leaf), new, changed, buffers);
        (buffers.values, buffers.spans) = (old.values, old.spans);
        outcome
    }

    /// Updates a row with values off page; those of the columns `fetched` are read first, without its leaf.
    #[inline(never)]
    fn update_long(
        &mut self,
        key: &[u8],
        leaf: LeafEdit<'_>,
        new: &mut impl RowChange,
        changed: &ColumnSet,
        fetched: &ColumnSet,
        buffers: &mut Buffers,
    ) -> Result<UpdateOutcome> {
        let mut old = self.old_image(&leaf, buffers);
        if self.engine.lost_values.are_sought() {
            self.engine.spare_values(&self.table.clustered().format, leaf.record());
        }
        self.keep_row(key);
        drop(leaf);
        old.off_page = true;
        let image = RowImage { values: &mut old.values, spans: &mut old.spans };
        if image.any_off_page(fetched) {
            old.fetched = Some(image.fetched(self.store(), fetched)?);
        }
        let outcome = if new.make(&OldRow::taken(&old)) {
            self.update(key, &old, None, new, changed, buffers)
        } else {
            Ok(UpdateOutcome::Unchanged)
        };
        (buffers.values, buffers.spans) = (old.values, old.spans);
        outcome
    }

    /// Copies the row's values out of its record.
    fn old_image(&self, leaf: &LeafEdit<'_>, buffers: &mut Buffers) -> OldImage {
        let mut old = OldImage {
            values: std::mem::take(&mut buffers.values),
            spans: std::mem::take(&mut buffers.spans),
            ..OldImage::default()
        };
        let row = RowRef::new(&self.table.clustered().format, leaf.record());
        let mut image = RowImage { values: &mut old.values, spans: &mut old.spans };
        image.fill(&row, self.table.def.columns.len(), &mut buffers.payload);
        old
    }

    fn update(
        &mut self,
        key: &[u8],
        old: &OldImage,
        leaf: Option<LeafEdit<'_>>,
        row: &impl RowChange,
        changed: &ColumnSet,
        buffers: &mut Buffers,
    ) -> Result<UpdateOutcome> {
        let columns = old.spans.len();
        // A long value is compared by its reference and so counts as changed.
        let differs =
            |&i: &usize| changed.contains(i) && (old.spans[i].off_page || row.value(i) != old.stored(i));
        let differing: ColumnSet = (0..columns).filter(differs).collect();
        if differing.is_empty() {
            self.keep_row(key);
            return Ok(UpdateOutcome::Unchanged);
        }
        let row_id = if self.table.def.hidden_row_id { row_id_of(key) } else { 0 };
        let whole = |i| if differing.contains(i) { row.value(i) } else { old.whole(i) };
        with_values(columns, whole, |new| {
            if self.moves(key, new, row_id, &differing, buffers)? {
                self.keep_row(key);
                drop(leaf);
                self.move_row(key, old, new, &differing, buffers)?;
                return Ok(UpdateOutcome::Updated);
            }
            self.rewrite(key, old, leaf, new, &differing, buffers)?;
            self.update_entries(old, new, row_id, &differing, buffers)?;
            Ok(UpdateOutcome::Updated)
        })
    }

    /// Whether the new row has another clustered key.
    fn moves(
        &self,
        key: &[u8],
        new: &[Value<'_>],
        row_id: u64,
        differing: &ColumnSet,
        buffers: &mut Buffers,
    ) -> Result<bool> {
        let index = self.table.clustered();
        if !index.columns.intersects(differing) {
            return Ok(false);
        }
        buffers.key.clear();
        let extent = index.format.append_key(new, row_id, &mut buffers.key);
        ensure_key(extent, &buffers.key)?;
        Ok(buffers.key != key)
    }

    /// Another clustered key: the old row is deleted, the new one inserted.
    fn move_row(
        &mut self,
        key: &[u8],
        old: &OldImage,
        new: &[Value<'_>],
        differing: &ColumnSet,
        buffers: &mut Buffers,
    ) -> Result<()> {
        self.delete(key, false, buffers)?;
        // The old row's off-page values die with it, so that unchanged ones are written again.
        let unread = |&i: &usize| !differing.contains(i) && old.spans[i].off_page;
        if !(0..new.len()).any(|i| unread(&i)) {
            self.insert(new, false, buffers)?;
            return Ok(());
        }
        let kept: ColumnSet = (0..new.len()).filter(unread).collect();
        let (mut values, mut spans) = (old.values.clone(), old.spans.clone());
        let image = RowImage { values: &mut values, spans: &mut spans };
        let (fetched, places) = image.fetched(self.store(), &kept)?;
        let value = |i| if kept.contains(i) { value_of(&fetched, places[i]) } else { new[i] };
        with_values(new.len(), value, |row| self.insert(row, false, buffers)).map(drop)
    }

    /// Rewrites the clustered record under its key; `leaf`: latched already, if it is.
    fn rewrite(
        &mut self,
        key: &[u8],
        old: &OldImage,
        mut leaf: Option<LeafEdit<'_>>,
        new: &[Value<'_>],
        differing: &ColumnSet,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let index = self.table.clustered();
        let kept = |i: usize| old.off_page && !differing.contains(i) && old.spans[i].off_page;
        let stored = |i| if kept(i) { old.stored(i) } else { new[i] };
        let header = RowHeader { trx: self.id, undo: UndoPtr(0) };
        buffers.payload.clear();
        with_values(new.len(), stored, |row| -> Result<()> {
            let mut off_page = index.format.choose_off_page(row, key.len()).map_err(too_large)?;
            if off_page.is_empty() && !(old.off_page && (0..row.len()).any(kept)) {
                index.format.encode(header, row, &[], &mut buffers.payload);
                return Ok(());
            }
            self.keep_row(key);
            leaf = None;
            let references = self.write_values(row, &off_page)?;
            let mut row = row.to_vec();
            for (&position, reference) in off_page.iter().zip(&references) {
                row[usize::from(position)] = Some(reference);
            }
            off_page.extend((0..row.len()).filter(|&i| kept(i)).map(|i| i as u16));
            off_page.sort_unstable();
            debug_assert!(
                off_page.iter().all(|&i| row[usize::from(i)].map(<[u8]>::len) == Some(OVERFLOW_REF_BYTES))
            );
            index.format.encode(header, &row, &off_page, &mut buffers.payload);
            Ok(())
        })?;
        // A leaf that was latched before has a lifetime of its own.
        if let Some(leaf) = leaf {
            self.store_rewritten(index, leaf, &mut buffers.payload)?;
        } else {
            let leaf = index.tree.edit(&self.engine.store, key, 0)?;
            self.store_rewritten(index, leaf, &mut buffers.payload)?;
        }
        if old.off_page {
            self.bury_replaced(index, old, differing);
        }
        Ok(())
    }

    /// Notes for purge that off-page values were replaced.
    fn bury_replaced(&mut self, index: &Index, old: &OldImage, differing: &ColumnSet) {
        for (i, span) in
            old.spans.iter().enumerate().filter(|(i, span)| span.off_page && differing.contains(*i))
        {
            let reference = old.stored(i).unwrap_or(&[]);
            debug_assert_eq!(reference.len(), span.len as usize, "a reference");
            self.undo(index, UndoKind::ValueDead, SlotFlags::NONE, &[], reference);
        }
    }

    /// Puts `payload` in the place of the record's: as a patch of the bytes that differ if it has the same
    /// length.
    fn store_rewritten(&mut self, index: &Index, mut edit: LeafEdit<'_>, payload: &mut [u8]) -> Result<()> {
        let (engine, key) = (self.engine, edit.key());
        let record = edit.record();
        if record.payload().len() == payload.len() {
            self.patch_record(index, &mut edit, payload, ROW_HEADER_BYTES..payload.len());
            self.commit(edit);
            return Ok(());
        }
        self.overwrites(RowHeader::decode(record.payload()).trx);
        let undo = self.undo(index, UndoKind::RowImage, record.flags(), key, record.payload());
        payload[..ROW_HEADER_BYTES].copy_from_slice(&self.header(undo));
        if edit.replace_payload(payload).is_err() {
            self.keep_row(key);
            drop(edit);
            let mut edit = index.tree.edit(&engine.store, key, key.len() + payload.len())?;
            edit.replace_payload(payload).expect("edit was asked for the room");
            edit.raise_trx_max(self.id);
            self.commit(edit);
            return Ok(());
        }
        edit.raise_trx_max(self.id);
        self.commit(edit);
        Ok(())
    }

    /// New entries for the indexes whose columns changed: the old one is closed, then the new one is opened.
    fn update_entries(
        &mut self,
        old: &OldImage,
        new: &[Value<'_>],
        row_id: u64,
        differing: &ColumnSet,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let table = self.table;
        for index in table.indexes[1..].iter().filter(|index| index.columns.intersects(differing)) {
            with_values(
                new.len(),
                |i| old.whole(i),
                |old| self.replace_entry(index, old, new, row_id, buffers),
            )?;
        }
        Ok(())
    }

    fn replace_entry(
        &mut self,
        index: &Index,
        old: &[Value<'_>],
        new: &[Value<'_>],
        row_id: u64,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let Buffers { other_key, third_key, payload, other_payload, .. } = buffers;
        other_key.clear();
        index.format.append_key(old, row_id, other_key);
        third_key.clear();
        let extent = index.format.append_key(new, row_id, third_key);
        ensure_key(extent, third_key)?;
        other_payload.clear();
        index.format.encode(RowHeader::default(), new, &[], other_payload);
        if other_key == third_key {
            // Bytes that the key does not distinguish, or a prefix that did not change.
            payload.clear();
            index.format.encode(RowHeader::default(), old, &[], payload);
            if payload == other_payload {
                return Ok(());
            }
        }
        self.close_entry(index, other_key, payload)?;
        self.open_row_entry(index, new, &mut buffers.third_key, &buffers.other_payload, &mut buffers.key)
    }
}
