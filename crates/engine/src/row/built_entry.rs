//! The entry that a build of an index makes of a row: without a begin id, seen by all who may use the index.

use page::{RowHeader, RowRef};
use types::key::{Extent, KeyEncoder};

use super::key::{Value, append_declared_key, ensure_key};
use crate::error::Result;
use crate::index::Index;
use crate::index_sort::{EntryLens, Layout};

/// How the entries of `index` are laid out while they are sorted.
pub(crate) fn layout(index: &Index) -> Layout {
    let parts = &index.format.key_parts()[..index.def.parts.len()];
    let declared: Option<usize> = parts.iter().map(|part| part.encoder.as_ref()?.fixed_len()).sum();
    let has_nulls = parts.iter().any(|part| part.encoder.as_ref().is_some_and(KeyEncoder::is_nullable));
    match (index.format.fixed_key_len(), declared) {
        // Unique keys with NULL in them are not unique.
        (Some(len), Some(declared)) if index.format.has_no_payload() && !(index.is_unique() && has_nulls) => {
            Layout::of_keys(usize::from(len), declared, index.is_unique())
        }
        _ => Layout::Headed,
    }
}

/// Appends key and payload of the entry of `row` to `out`. `scratch` is left with anything.
///
/// # Errors
/// [`crate::Error::KeyTooLong`].
pub(crate) fn append(
    index: &Index,
    row: &[Value<'_>],
    row_id: u64,
    out: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
) -> Result<EntryLens> {
    let declared = if index.is_unique() { declared_len(index, row, scratch) } else { 0 };
    let start = out.len();
    let extent = index.format.append_key(row, row_id, out);
    let key = out.len() - start;
    ensure_key(extent, &out[start..])?;
    index.format.encode(RowHeader::default(), row, &[], out);
    Ok(EntryLens { key, declared })
}

/// As [`append`], for a record of the clustered index with all of its columns in it. Cost: the columns of the
/// entry are encoded from where they are; the clustered key is copied as it is.
#[inline]
pub(crate) fn append_of_record(
    index: &Index,
    row: &RowRef<'_>,
    out: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
) -> Result<EntryLens> {
    let start = out.len();
    let (mut extent, mut has_null) = (Extent::Whole, false);
    for part in &index.format.key_parts()[..index.def.parts.len()] {
        let (Some(column), Some(encoder)) = (part.column, &part.encoder) else { continue };
        let value = row.column(usize::from(column), scratch);
        has_null |= value.is_none();
        if value.is_some_and(|value| part.append_int(value, out)) {
            continue;
        }
        if encoder.append(value, out) == Extent::Cut {
            extent = Extent::Cut;
        }
    }
    let declared = if index.is_unique() && !has_null { out.len() - start } else { 0 };
    row.record().append_key(out);
    let key = out.len() - start;
    ensure_key(extent, &out[start..])?;
    index.format.encode_entry_of(row, out, scratch);
    Ok(EntryLens { key, declared })
}

/// Bytes of the declared parts of a unique key; 0: NULL is among them, so that no other key equals it.
fn declared_len(index: &Index, row: &[Value<'_>], scratch: &mut Vec<u8>) -> usize {
    scratch.clear();
    let (comparable, _) = append_declared_key(index, row, scratch);
    if comparable { scratch.len() } else { 0 }
}
