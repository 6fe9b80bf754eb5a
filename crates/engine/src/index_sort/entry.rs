//! An entry's bytes.
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 2 | key bytes `k` |
//! | 2 | 2 | payload bytes `p` |
//! | 4 | 2 | bytes of the declared key parts; 0: entries with these parts may be many |
//! | 6 | `k` | normalised key |
//! | 6 + `k` | `p` | payload |

use base::codec::{get_u16, put_u16};
use btree::{KEY_BYTES_MAX, RECORD_BYTES_MAX};
use space::Error as SpaceError;

use crate::error::Result;

/// Bytes before the key.
pub(super) const HEADER_BYTES: usize = 6;
/// Most bytes of an entry.
pub(crate) const ENTRY_BYTES_MAX: usize = HEADER_BYTES + RECORD_BYTES_MAX;

const _: () = assert!(KEY_BYTES_MAX <= RECORD_BYTES_MAX && RECORD_BYTES_MAX <= u16::MAX as usize);

/// Lengths of a new entry's parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryLens {
    /// Bytes of the key, at most [`KEY_BYTES_MAX`].
    pub(crate) key: usize,
    /// Bytes of it that no other entry may begin with; 0: others may.
    pub(crate) declared: usize,
}

/// Appends an entry: `encode` appends key and payload.
///
/// # Errors
/// Those of `encode`; [`SpaceError::RecordTooLarge`].
pub(crate) fn append_entry(
    bytes: &mut Vec<u8>,
    encode: impl FnOnce(&mut Vec<u8>) -> Result<EntryLens>,
) -> Result<()> {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; HEADER_BYTES]);
    let lens = encode(bytes)?;
    put_header(&mut bytes[start..], lens)
}

/// Writes the header of the entry in `bytes`, whose other parts are there.
///
/// # Errors
/// [`SpaceError::RecordTooLarge`].
#[inline]
pub(super) fn put_header(bytes: &mut [u8], lens: EntryLens) -> Result<()> {
    let need = bytes.len() - HEADER_BYTES;
    if need > RECORD_BYTES_MAX {
        return Err(SpaceError::RecordTooLarge { need, max: RECORD_BYTES_MAX }.into());
    }
    debug_assert!(lens.declared <= lens.key && lens.key <= KEY_BYTES_MAX, "lengths of an entry: {lens:?}");
    put_u16(bytes, 0, lens.key as u16);
    put_u16(bytes, 2, (need - lens.key) as u16);
    put_u16(bytes, 4, lens.declared as u16);
    Ok(())
}

/// An entry somewhere in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'b>(&'b [u8]);

impl<'b> Entry<'b> {
    /// The entry that `bytes` begin with.
    #[inline]
    pub(crate) fn at_start_of(bytes: &'b [u8]) -> Self {
        let len = HEADER_BYTES + usize::from(get_u16(bytes, 0)) + usize::from(get_u16(bytes, 2));
        Entry(&bytes[..len])
    }

    /// The entry whose bytes these are.
    #[inline]
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        debug_assert_eq!(Entry::at_start_of(bytes).0.len(), bytes.len(), "an entry has its length");
        Entry(bytes)
    }

    /// All of its bytes.
    #[inline]
    pub(crate) fn bytes(self) -> &'b [u8] {
        self.0
    }

    #[inline]
    pub(crate) fn key(self) -> &'b [u8] {
        &self.0[HEADER_BYTES..HEADER_BYTES + usize::from(get_u16(self.0, 0))]
    }

    #[inline]
    pub(crate) fn payload(self) -> &'b [u8] {
        &self.0[HEADER_BYTES + usize::from(get_u16(self.0, 0))..]
    }

    /// The key bytes that no other entry may begin with; empty: others may.
    #[inline]
    pub(crate) fn declared(self) -> &'b [u8] {
        &self.0[HEADER_BYTES..HEADER_BYTES + usize::from(get_u16(self.0, 4))]
    }
}
