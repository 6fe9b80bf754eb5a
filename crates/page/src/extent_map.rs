//! Extent map pages: which pages are in use, by which tree, and where purge left work.
//!
//! An extent is 64 consecutive pages (1 MiB). A map page describes 508 extents, its own among them, and is
//! the second page of the stretch it describes: pages 1, 1 + 508 x 64, ... The first page of the first
//! stretch is the file header; in later stretches it stays unused.
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 28 | 4 | number of the first extent described |
//! | 32 | 96 | reserved, 0 |
//! | 128 | 508 x 32 | entries |
//!
//! Entry:
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 8 | bit i: page i of the extent is in use |
//! | 8 | 4 | tree that owns the extent; 0 = free or shared |
//! | 12 | 1 | state: 0 free, 1 shared by small trees, 2 of one tree, 3 off-page values, 4 system |
//! | 13 | 1 | bit 0: garbage, bit 1: hole (the file system has the bytes of the free extent back) |
//! | 14 | 2 | reserved, 0 |
//! | 16 | 4 | version that pages allocated from now on get; raised when a page of the extent is freed |
//! | 20 | 4 | reserved, 0 |
//! | 24 | 8 | LSN of the mini-transaction that freed the extent |
//!
//! The garbage bit is set in the mini-transaction that first delete-marks or closes an entry on a page of the
//! extent, and cleared by purge when a sweep of the extent finds none left: after a crash only marked extents
//! are swept.

use base::codec::{get_u32, get_u64, put_u32, put_u64};
use base::{IndexId, Lsn, PageNo};

use crate::layout::{COMMON_HEADER_BYTES, PAGE_SIZE, PageType};
use crate::op::PageOp;
use crate::page_mut::PageMut;
use crate::page_ref::PageRef;

/// Pages in an extent.
pub const EXTENT_PAGES: u32 = 64;
/// Extents that one map page describes.
pub const EXTENTS_PER_MAP: u32 = 508;
/// Bytes of an entry.
pub(crate) const EXTENT_ENTRY_BYTES: usize = 32;

pub(crate) const FIRST_EXTENT: usize = 28;
pub(crate) const ENTRIES: usize = 128;
const STRETCH_PAGES: u32 = EXTENTS_PER_MAP * EXTENT_PAGES;
const _: () = assert!(FIRST_EXTENT == COMMON_HEADER_BYTES);
const _: () = assert!(ENTRIES + EXTENTS_PER_MAP as usize * EXTENT_ENTRY_BYTES == PAGE_SIZE);

/// The use of an extent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ExtentState {
    /// No tree.
    #[default]
    Free = 0,
    /// Pages of several small trees.
    Shared = 1,
    /// Pages of one tree.
    Tree = 2,
    /// Off-page values of one tree.
    Overflow = 3,
    /// File header and map pages.
    System = 4,
}

/// What the map says of one extent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtentEntry {
    /// Bit i: page i is in use.
    pub used: u64,
    /// Owner, if there is one.
    pub index_id: IndexId,
    /// Kind of use.
    pub state: ExtentState,
    /// Purge has work here.
    pub garbage: bool,
    /// The bytes were given back to the file system.
    pub hole: bool,
    /// Version of pages allocated next.
    pub version: u32,
    /// When the extent was freed.
    pub freed_at: Lsn,
}

impl ExtentEntry {
    /// The entry's bytes.
    pub fn encode(&self) -> [u8; EXTENT_ENTRY_BYTES] {
        let mut out = [0; EXTENT_ENTRY_BYTES];
        put_u64(&mut out, 0, self.used);
        put_u32(&mut out, 8, self.index_id.0);
        out[12] = self.state as u8;
        out[13] = u8::from(self.garbage) | u8::from(self.hole) << 1;
        put_u32(&mut out, 16, self.version);
        put_u64(&mut out, 24, self.freed_at.0);
        out
    }

    /// Reads an entry; an unknown state reads as `System`, which is never given out.
    pub fn decode(bytes: &[u8]) -> ExtentEntry {
        ExtentEntry {
            used: get_u64(bytes, 0),
            index_id: IndexId(get_u32(bytes, 8)),
            state: match bytes[12] {
                0 => ExtentState::Free,
                1 => ExtentState::Shared,
                2 => ExtentState::Tree,
                3 => ExtentState::Overflow,
                _ => ExtentState::System,
            },
            garbage: bytes[13] & 1 != 0,
            hole: bytes[13] & 2 != 0,
            version: get_u32(bytes, 16),
            freed_at: Lsn(get_u64(bytes, 24)),
        }
    }

    /// The operation that stores an encoded entry at `slot` of its map page.
    pub fn store_op(slot: usize, encoded: &[u8; EXTENT_ENTRY_BYTES]) -> PageOp<'_> {
        PageOp::WriteBytes { offset: (ENTRIES + slot * EXTENT_ENTRY_BYTES) as u16, bytes: encoded }
    }

    /// The extent and the entry that `op` stores on the page `map`; `None` if it is another kind of operation
    /// or page.
    pub fn stored_by(op: &PageOp<'_>, map: PageNo) -> Option<(u32, ExtentEntry)> {
        let PageOp::WriteBytes { offset, bytes } = *op else { return None };
        let at = usize::from(offset).checked_sub(ENTRIES)?;
        if map.0 % STRETCH_PAGES != 1 || at % EXTENT_ENTRY_BYTES != 0 || bytes.len() != EXTENT_ENTRY_BYTES {
            return None;
        }
        let extent = map.0 / STRETCH_PAGES * EXTENTS_PER_MAP + (at / EXTENT_ENTRY_BYTES) as u32;
        Some((extent, ExtentEntry::decode(bytes)))
    }
}

/// Where the map describes a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtentPlace {
    /// The map page.
    pub map: PageNo,
    /// Entry on it.
    pub slot: usize,
    /// Bit in the entry.
    pub bit: u32,
}

impl ExtentPlace {
    /// The place of `page_no`.
    pub fn of(page_no: PageNo) -> ExtentPlace {
        let stretch = page_no.0 / STRETCH_PAGES;
        ExtentPlace {
            map: PageNo(stretch * STRETCH_PAGES + 1),
            slot: (page_no.0 % STRETCH_PAGES / EXTENT_PAGES) as usize,
            bit: page_no.0 % EXTENT_PAGES,
        }
    }

    /// The page at this place.
    pub fn page_no(&self) -> PageNo {
        PageNo(self.map.0 - 1 + self.slot as u32 * EXTENT_PAGES + self.bit)
    }
}

impl PageMut<'_> {
    /// Makes the map page `map` of a stretch whose other pages are free.
    pub fn format_extent_map(&mut self, map: PageNo) {
        self.format_common(map, PageType::ExtentMap, IndexId(0), 1);
        put_u32(self.0, FIRST_EXTENT, (map.0 - 1) / EXTENT_PAGES);
        let own = ExtentEntry { used: 0b11, state: ExtentState::System, version: 1, ..Default::default() };
        let free = ExtentEntry { version: 1, ..Default::default() };
        for slot in 0..EXTENTS_PER_MAP as usize {
            let entry = if slot == 0 { own } else { free };
            self.write_bytes(ENTRIES + slot * EXTENT_ENTRY_BYTES, &entry.encode());
        }
    }
}

impl PageRef<'_> {
    /// The entry at `slot` of an extent map page.
    pub fn extent(self, slot: usize) -> ExtentEntry {
        debug_assert!(self.page_type() == PageType::ExtentMap, "{} is no extent map", self.page_no());
        let at = ENTRIES + slot * EXTENT_ENTRY_BYTES;
        ExtentEntry::decode(&self.0[at..at + EXTENT_ENTRY_BYTES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_pages_correspond() {
        for page in [0, 1, 63, 64, STRETCH_PAGES - 1, STRETCH_PAGES, STRETCH_PAGES + 1, 5_000_000] {
            let place = ExtentPlace::of(PageNo(page));
            assert_eq!(place.page_no(), PageNo(page));
            let own = ExtentPlace::of(place.map);
            assert_eq!((own.map, own.slot, own.bit), (place.map, 0, 1));
        }
    }

    #[test]
    fn an_entry_is_stored_by_an_operation_and_read_back() {
        let mut bytes = [0xaa; PAGE_SIZE];
        let mut page = PageMut::new(&mut bytes);
        page.format_extent_map(PageNo(1));
        assert_eq!(page.as_ref().extent(0).used, 3);
        let entry = ExtentEntry {
            used: 0x8000_0000_0000_0001,
            index_id: IndexId(77),
            state: ExtentState::Tree,
            garbage: true,
            hole: false,
            version: 9,
            freed_at: Lsn(1 << 40),
        };
        for slot in [1, 507] {
            ExtentEntry::store_op(slot, &entry.encode()).apply(&mut page).unwrap();
            assert_eq!(page.as_ref().extent(slot), entry);
            let encoded = entry.encode();
            let op = ExtentEntry::store_op(slot, &encoded);
            let extent = EXTENTS_PER_MAP + slot as u32;
            assert_eq!(ExtentEntry::stored_by(&op, PageNo(STRETCH_PAGES + 1)), Some((extent, entry)));
            assert_eq!(ExtentEntry::stored_by(&op, PageNo(STRETCH_PAGES)), None);
        }
        assert_eq!(page.as_ref().extent(506), ExtentEntry { version: 1, ..Default::default() });
    }
}
