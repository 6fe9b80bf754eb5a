//! Bytes of the extent map pages and of the file header page.
//!
//! Extent map page, behind the header that all page types share: 16-byte entries from offset 32 on, one per extent of
//! the group.
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 4 | owner: 0 = free, 0xFFFFFFFF = shared by small trees, else the id of the tree |
//! | 4 | 4 | version that pages of the extent get when they are given out |
//! | 8 | 8 | bit n: page n is in use |
//!
//! File header page, page 0, behind the common header:
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 28 | 4 | format of the file, 1 |
//! | 32 | 8 | position at which the log goes on after a clean shutdown |
//! | 40 | 4 | 1 = closed cleanly |
//! | 44 | 4 | reserved, 0 |
//! | 48 | 8 x 32 | numbers of the storage engine |

use base::codec::{get_u32, get_u64, put_u32, put_u64};
use page::{PAGE_SIZE, PageRef};

use crate::extents::Extent;

const ENTRIES_FROM: usize = 32;
const ENTRY_BYTES: usize = 16;

/// Extents that one map page describes: just below 1 GiB. Tests use small groups, so that their files have several.
pub(crate) const EXTENTS_PER_MAP: usize = if cfg!(test) { 8 } else { 1016 };
const _: () = assert!(ENTRIES_FROM + EXTENTS_PER_MAP * ENTRY_BYTES <= PAGE_SIZE);

/// Offset in its map page of the entry number `at`.
pub(crate) fn entry_offset(at: usize) -> usize {
    ENTRIES_FROM + at * ENTRY_BYTES
}

/// The bytes of an entry.
pub(crate) fn entry_bytes(extent: Extent) -> [u8; ENTRY_BYTES] {
    let mut bytes = [0; ENTRY_BYTES];
    put_u32(&mut bytes, 0, extent.owner);
    put_u32(&mut bytes, 4, extent.version);
    put_u64(&mut bytes, 8, extent.used);
    bytes
}

/// Reads entry number `at` of a map page.
pub(crate) fn read_entry(map: PageRef<'_>, at: usize) -> Extent {
    let bytes = &map.bytes()[entry_offset(at)..];
    Extent { owner: get_u32(bytes, 0), version: get_u32(bytes, 4), used: get_u64(bytes, 8) }
}

pub(crate) const FILE_FORMAT: u32 = 1;
pub(crate) const FORMAT_AT: usize = 28;
pub(crate) const RESTART_LSN_AT: usize = 32;
pub(crate) const CLEAN_AT: usize = 40;
const NUMBERS_AT: usize = 48;

/// Numbers that the file header keeps for the storage engine.
pub const HEADER_NUMBERS: usize = 32;

/// Offset of a number in the file header page.
pub(crate) fn number_offset(number: usize) -> usize {
    assert!(number < HEADER_NUMBERS, "the file header has no number {number}");
    NUMBERS_AT + 8 * number
}
