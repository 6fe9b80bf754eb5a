//! Keys of rows and of their secondary entries.

use base::TrxId;
use btree::KEY_BYTES_MAX;
use page::{ROW_ID_BYTES, TRX_ID_BYTES};
use types::key::Extent;

use crate::error::{Error, Result};
use crate::index::Index;

/// A column's value, as callers of row changes have it.
pub(crate) type Value<'v> = Option<&'v [u8]>;

/// A key made of whole parts, short enough for its tree, a begin id included.
#[inline]
pub(crate) fn ensure_key(extent: Extent, key: &[u8]) -> Result<()> {
    if extent == Extent::Whole && key.len() + TrxId::STORED_BYTES <= KEY_BYTES_MAX {
        Ok(())
    } else {
        Err(Error::KeyTooLong { limit: KEY_BYTES_MAX - TrxId::STORED_BYTES })
    }
}

/// Appends a begin id, which sorts as a number.
#[inline]
pub(crate) fn push_begin(key: &mut Vec<u8>, begin: TrxId) {
    key.extend_from_slice(&begin.0.to_be_bytes()[8 - TRX_ID_BYTES..]);
}

/// Appends the key bytes of the declared parts of `index` alone. False: one of them is NULL.
pub(crate) fn append_declared_key(index: &Index, row: &[Value<'_>], out: &mut Vec<u8>) -> (bool, Extent) {
    let mut extent = Extent::Whole;
    let mut has_null = false;
    for (part, _) in index.format.key_parts().iter().zip(&index.def.parts) {
        let (Some(column), Some(encoder)) = (part.column, &part.encoder) else { continue };
        let value = row[usize::from(column)];
        has_null |= value.is_none();
        if encoder.append(value, out) == Extent::Cut {
            extent = Extent::Cut;
        }
    }
    (!has_null, extent)
}

/// The row id in the clustered key of a table without a key of its own.
pub(crate) fn row_id_of(clustered_key: &[u8]) -> u64 {
    debug_assert_eq!(clustered_key.len(), ROW_ID_BYTES, "a row id key");
    clustered_key.iter().fold(0, |id, &byte| id << 8 | u64::from(byte))
}
