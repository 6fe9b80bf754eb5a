//! Updates of a row whose new version differs from the old one in some byte ranges of the same length:
//! unchanged columns are not decoded, and the entries that change are moved in one frame an index.

use std::ops::Range;

use base::codec::push_short;
use btree::LeafEdit;
use page::{InBody, Record, RowHeader, RowRef, SlotFlags};
use trx::{Buffers, NewUndo, UndoKind};
use types::key::Extent;

use super::key::{Value, ensure_key};
use super::row_image::with_values;
use super::update::{RowChange, UpdateOutcome};
use super::version::flags_to_undo;
use super::writer::RowWriter;
use crate::column_set::ColumnSet;
use crate::error::Result;
use crate::index::Index;

#[cfg(test)]
thread_local! {
    /// Every row of this thread's updates and deletions is taken out of its record, and every new one
    /// inserted before its entries.
    pub(crate) static NEVER_IN_PLACE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The outcome for a row; its new payload, without its header, is in [`Buffers::payload`].
#[derive(Debug)]
pub(crate) struct Patch {
    /// Where bytes of the payload may differ.
    window: Range<usize>,
    /// Secondary indexes whose columns change: a bit for each, in their order.
    affected: u64,
}

impl RowWriter<'_> {
    /// Writes the new values over a copy of the row's payload. `None`: a value is a part of the clustered key
    /// or gets another length, or a unique index has to change, and the row is to be taken out.
    #[inline]
    pub(crate) fn plan_patch(
        &self,
        row: &RowRef<'_>,
        new: &impl RowChange,
        changed: &ColumnSet,
        buffers: &mut Buffers,
    ) -> Option<Patch> {
        #[cfg(test)]
        if NEVER_IN_PLACE.get() {
            return None;
        }
        let payload = &mut buffers.payload;
        payload.clear();
        payload.extend_from_slice(row.body());
        let mut patch = Patch { window: row.body().len()..0, affected: 0 };
        for position in changed.below(self.table.def.columns.len()) {
            let (range, value) = match (row.in_body(position), new.value(position)) {
                (InBody::Null, None) => continue,
                (InBody::At(range), Some(value)) if range.len() == value.len() => (range, value),
                _ => return None,
            };
            if overwrite(&mut payload[range.clone()], value) {
                patch.window = patch.window.start.min(range.start)..patch.window.end.max(range.end);
                patch.affected |= self.affected_by(position)?;
            }
        }
        Some(patch)
    }

    /// The secondary indexes that have the column, as in [`Patch`]; `None`: one of them is unique, or there
    /// are too many, or the column is a part of the clustered key whose value the body has as well, because
    /// its key is not reversible.
    #[inline]
    fn affected_by(&self, position: usize) -> Option<u64> {
        let mut affected = 0;
        if self.table.clustered().columns.contains(position) {
            return None;
        }
        for (number, index) in self.table.indexes[1..].iter().enumerate() {
            if index.columns.contains(position) {
                if index.is_unique() || number >= u64::BITS as usize {
                    return None;
                }
                affected |= 1 << number;
            }
        }
        Some(affected)
    }

    /// Patches the row of `leaf`, then moves its entries.
    #[inline]
    pub(crate) fn update_in_place(
        &mut self,
        mut leaf: LeafEdit<'_>,
        patch: &Patch,
        buffers: &mut Buffers,
    ) -> Result<UpdateOutcome> {
        let (table, key) = (self.table, leaf.key());
        if patch.window.is_empty() {
            self.keep_row(key);
            return Ok(UpdateOutcome::Unchanged);
        }
        if patch.affected == 0 {
            self.patch_record(table.clustered(), &mut leaf, &buffers.payload, patch.window.clone());
            self.commit_last(leaf);
            return Ok(UpdateOutcome::Updated);
        }
        if patch.affected.is_power_of_two() {
            // The usual case: one entry, whose key is read from the record before it is patched, so that
            // nothing has to be copied.
            let index = &table.indexes[1 + patch.affected.trailing_zeros() as usize];
            let moves = self.plan_entry(index, key, leaf.record(), buffers)?;
            self.patch_record(table.clustered(), &mut leaf, &buffers.payload, patch.window.clone());
            if !moves {
                self.commit_last(leaf);
                return Ok(UpdateOutcome::Updated);
            }
            self.move_entry(Some(&mut leaf), index, buffers, true)?;
            return Ok(UpdateOutcome::Updated);
        }
        self.update_with_entries(leaf, patch, buffers)
    }

    /// [`RowWriter::update_in_place`] with several entries.
    #[inline(never)]
    fn update_with_entries(
        &mut self,
        mut leaf: LeafEdit<'_>,
        patch: &Patch,
        buffers: &mut Buffers,
    ) -> Result<UpdateOutcome> {
        let (table, key) = (self.table, leaf.key());
        let mut values = std::mem::take(&mut buffers.values);
        values.clear();
        let copy = leaf.record().copy_to(&mut values);
        self.patch_record(table.clustered(), &mut leaf, &buffers.payload, patch.window.clone());
        self.commit(leaf);
        let (mut affected, mut moved) = (patch.affected, Ok(()));
        while affected != 0 && moved.is_ok() {
            let index = &table.indexes[1 + affected.trailing_zeros() as usize];
            affected &= affected - 1;
            moved = match self.plan_entry(index, key, copy.record(&values), buffers) {
                Ok(true) => self.move_entry(None, index, buffers, affected == 0),
                other => other.map(drop),
            };
        }
        buffers.values = values;
        moved.map(|()| UpdateOutcome::Updated)
    }

    /// Changes the bytes of the record that differ from `payload`, as long as its own, inside `window` at
    /// most.
    #[inline]
    pub(crate) fn patch_record(
        &mut self,
        index: &Index,
        edit: &mut LeafEdit<'_>,
        payload: &[u8],
        window: Range<usize>,
    ) {
        let record = edit.record();
        let before = RowHeader::decode(record.payload());
        self.overwrites(before.trx);
        let (old, new) = (&record.payload()[window.clone()], &payload[window.clone()]);
        let (from, to) = differing_range(old, new);
        let before = before.encode();
        let undo = self.log.append(&NewUndo {
            kind: UndoKind::RowPatch,
            index: index.tree.index,
            flags: flags_to_undo(record.flags()),
            patch_offset: (window.start + from) as u16,
            key: edit.key(),
            row_header: Some(&before),
            image: &old[from..to],
        });
        edit.patch_row(self.header(undo), window.start + from, &new[from..to]);
    }

    /// Makes the keys of the entry of `index` for the row in `record` and for the one with the new payload,
    /// and the new entry's payload. False: the entry stays as it is.
    #[inline]
    fn plan_entry(
        &self,
        index: &Index,
        key: &[u8],
        record: Record<'_>,
        buffers: &mut Buffers,
    ) -> Result<bool> {
        let Buffers { key: scratch, other_key, third_key, payload, other_payload, .. } = buffers;
        let format = &self.table.clustered().format;
        let old = RowRef::new(format, record);
        let new = RowRef::new(format, record.with_payload(payload, SlotFlags::NONE));
        make_entry_key(index, key, &old, other_key, scratch);
        let extent = make_entry_key(index, key, &new, third_key, scratch);
        ensure_key(extent, third_key)?;
        make_entry_payload(index, &new, other_payload);
        // Most differ in their first bytes, which need no call.
        if other_key.first_chunk::<8>() == third_key.first_chunk::<8>() && other_key == third_key {
            // Bytes that the key does not distinguish, or a prefix that did not change.
            make_entry_payload(index, &old, scratch);
            return Ok(scratch != other_payload);
        }
        Ok(true)
    }
}

/// Makes the key of the entry of a row with the clustered key `key`, without a begin id: its declared parts,
/// then `key`.
pub(super) fn make_entry_key(
    index: &Index,
    key: &[u8],
    row: &RowRef<'_>,
    out: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
) -> Extent {
    out.clear();
    let mut extent = Extent::Whole;
    for part in &index.format.key_parts()[..index.def.parts.len()] {
        let (Some(column), Some(encoder)) = (part.column, &part.encoder) else { continue };
        let column = usize::from(column);
        if row.fixed_bytes(column).is_some_and(|stored| part.append_int(stored, out)) {
            continue;
        }
        let value = row.column(column, scratch);
        if encoder.append(value, out) == Extent::Cut {
            extent = Extent::Cut;
        }
    }
    push_short(out, key);
    extent
}

/// Puts `new` in the place of `old`, of the same length; false: they are equal.
#[inline(always)]
fn overwrite(old: &mut [u8], new: &[u8]) -> bool {
    // Integers without a call.
    if let (Ok(old), Ok(&new)) = (<&mut [u8; 4]>::try_from(&mut *old), <&[u8; 4]>::try_from(new)) {
        return std::mem::replace(old, new) != new;
    }
    let differ = *old != *new;
    if differ {
        old.copy_from_slice(new);
    }
    differ
}

/// Makes the payload of a row's entry: of columns that the clustered record has in its payload, too.
fn make_entry_payload(index: &Index, row: &RowRef<'_>, out: &mut Vec<u8>) {
    out.clear();
    let format = &index.format;
    if format.has_no_payload() {
        return;
    }
    let value = |position| -> Value<'_> {
        match row.in_body(position) {
            InBody::At(range) => Some(&row.body()[range]),
            InBody::Null | InBody::No => None,
        }
    };
    with_values(format.columns().len(), value, |values| {
        format.encode(RowHeader::default(), values, &[], out);
    });
}

/// The range in which two stretches of one length differ. Cost: a comparison per 8 equal bytes at the ends.
#[inline]
fn differing_range(old: &[u8], new: &[u8]) -> (usize, usize) {
    if let (Ok(old), Ok(new)) = (<[u8; 4]>::try_from(old), <[u8; 4]>::try_from(new)) {
        let differing = u32::from_le_bytes(old) ^ u32::from_le_bytes(new);
        let from = differing.trailing_zeros() / 8 % 4;
        return (from as usize, 4 - differing.leading_zeros() as usize / 8);
    }
    if old.first() != new.first() && old.last() != new.last() {
        // The usual case of a string with nothing of the old one.
        return (0, old.len());
    }
    differing_range_of_many(old, new)
}

fn differing_range_of_many(old: &[u8], new: &[u8]) -> (usize, usize) {
    let same = |at: &usize| old[*at] == new[*at];
    let words = old.as_chunks::<8>().0.iter().zip(new.as_chunks::<8>().0);
    let from = 8 * words.take_while(|(a, b)| a == b).count();
    let from = from + (from..old.len()).take_while(same).count();
    if from == old.len() {
        return (0, 0);
    }
    let words = old.as_rchunks::<8>().1.iter().rev().zip(new.as_rchunks::<8>().1.iter().rev());
    let to = old.len() - 8 * words.take_while(|(a, b)| a == b).count();
    let to = to - (0..to).rev().take_while(same).count();
    (from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::prng::Prng;

    #[test]
    fn the_differing_range_is_the_smallest_one() {
        let mut prng = Prng::new(5);
        for _ in 0..2000 {
            let len = [4, prng.below(40) as usize][prng.below(2) as usize];
            let old = vec![1u8; len];
            let mut new = old.clone();
            for _ in 0..prng.below(3) {
                if len > 0 {
                    new[prng.below(len as u64) as usize] = 2;
                }
            }
            let differs = |&i: &usize| old[i] != new[i];
            let from = (0..len).find(differs).unwrap_or(0);
            let to = (0..len).rev().find(differs).map_or(0, |last| last + 1);
            assert_eq!(differing_range(&old, &new), (from, to));
        }
    }
}
