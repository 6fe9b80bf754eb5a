//! Values that do not fit in their record: references to them, and the pages they fill.
//!
//! A value fills consecutive pages. Reference in the record, 24 bytes, little-endian:
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 8 | bytes of the value |
//! | 8 | 4 | first page |
//! | 12 | 4 | number of pages |
//! | 16 | 4 | CRC-32 of the value |
//! | 20 | 4 | version the pages were allocated with |
//!
//! Each page, after the header that all types share:
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 28 | 4 | position of the page in its value, from 0 |
//! | 32 | 8 | bytes of the whole value |
//! | 40 | 4 | bytes of it on this page |
//! | 44 | 4 | reserved, 0 |
//! | 48 | | the bytes |

use base::codec::{get_u32, get_u64, put_u32, put_u64};
use base::{IndexId, PageNo};

use crate::corruption::{Corruption, CorruptionKind};
use crate::layout::{COMMON_HEADER_BYTES, PAGE_SIZE, PageType};
use crate::page_mut::PageMut;
use crate::page_ref::PageRef;

/// Bytes of a reference.
pub const OVERFLOW_REF_BYTES: usize = 24;
/// Value bytes on one page.
pub const OVERFLOW_CAPACITY: usize = PAGE_SIZE - DATA;

const POSITION: usize = 28;
const VALUE_LEN: usize = 32;
const BYTES_HERE: usize = 40;
const DATA: usize = 48;
const _: () = assert!(POSITION == COMMON_HEADER_BYTES && VALUE_LEN == POSITION + 4);
const _: () = assert!(BYTES_HERE == VALUE_LEN + 8 && DATA == BYTES_HERE + 8);

/// Where a value outside its record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverflowRef {
    /// Bytes of the value.
    pub len: u64,
    /// First of its consecutive pages.
    pub first: PageNo,
    /// Number of pages.
    pub pages: u32,
    /// CRC-32 of the value.
    pub crc: u32,
    /// Version of the pages: a page used again for something else has another.
    pub version: u32,
}

impl OverflowRef {
    /// Pages that a value of `len` bytes takes.
    pub fn pages_for(len: u64) -> u32 {
        len.div_ceil(OVERFLOW_CAPACITY as u64).max(1) as u32
    }

    /// [`OverflowRef::pages_for`] of a length that may be anything; `None` if there are not as many pages.
    pub(crate) fn pages_of(len: u64) -> Option<u32> {
        u32::try_from(len.div_ceil(OVERFLOW_CAPACITY as u64).max(1)).ok()
    }

    /// The reference's bytes.
    pub fn encode(&self) -> [u8; OVERFLOW_REF_BYTES] {
        let mut out = [0; OVERFLOW_REF_BYTES];
        put_u64(&mut out, 0, self.len);
        put_u32(&mut out, 8, self.first.0);
        put_u32(&mut out, 12, self.pages);
        put_u32(&mut out, 16, self.crc);
        put_u32(&mut out, 20, self.version);
        out
    }

    /// Reads a reference of at least [`OVERFLOW_REF_BYTES`] trusted bytes.
    pub fn decode(bytes: &[u8]) -> OverflowRef {
        OverflowRef {
            len: get_u64(bytes, 0),
            first: PageNo(get_u32(bytes, 8)),
            pages: get_u32(bytes, 12),
            crc: get_u32(bytes, 16),
            version: get_u32(bytes, 20),
        }
    }
}

impl PageMut<'_> {
    /// Fills page number `position` of a value of `value.len()` bytes.
    pub fn format_overflow(
        &mut self,
        page_no: PageNo,
        index_id: IndexId,
        version: u32,
        position: u32,
        value: &[u8],
    ) {
        let from = position as usize * OVERFLOW_CAPACITY;
        let here = &value[from.min(value.len())..value.len().min(from + OVERFLOW_CAPACITY)];
        self.format_common(page_no, PageType::Overflow, index_id, version);
        put_u32(self.0, POSITION, position);
        put_u64(self.0, VALUE_LEN, value.len() as u64);
        put_u32(self.0, BYTES_HERE, here.len() as u32);
        self.0[DATA..DATA + here.len()].copy_from_slice(here);
    }
}

impl<'a> PageRef<'a> {
    /// The value bytes on page number `position` of the value that `reference` points to. The page is
    /// compared with the reference, because it may have been freed and used again since.
    pub fn overflow_bytes(self, reference: &OverflowRef, position: u32) -> Result<&'a [u8], Corruption> {
        let here = get_u32(self.0, BYTES_HERE) as usize;
        let matches = self.page_type() == PageType::Overflow
            && self.version() == reference.version
            && get_u32(self.0, POSITION) == position
            && get_u64(self.0, VALUE_LEN) == reference.len
            && here <= OVERFLOW_CAPACITY;
        if !matches {
            return Err(Corruption { page: self.page_no(), what: CorruptionKind::Overflow });
        }
        Ok(&self.0[DATA..DATA + here])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_overflow_value;
    use base::checksum::crc32;

    #[test]
    fn a_value_comes_back_from_its_pages() {
        for len in [0, 1, OVERFLOW_CAPACITY, OVERFLOW_CAPACITY + 1, 50_000] {
            let value: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let reference = OverflowRef {
                len: len as u64,
                first: PageNo(100),
                pages: OverflowRef::pages_for(len as u64),
                crc: crc32(&value),
                version: 3,
            };
            assert_eq!(OverflowRef::decode(&reference.encode()), reference);
            let mut back = Vec::new();
            for position in 0..reference.pages {
                let mut bytes = [0xaa; PAGE_SIZE];
                let page_no = PageNo(100 + position);
                PageMut::new(&mut bytes).format_overflow(page_no, IndexId(5), 3, position, &value);
                let page = PageRef::new(&bytes);
                back.extend_from_slice(page.overflow_bytes(&reference, position).unwrap());
                assert!(page.overflow_bytes(&reference, position + 1).is_err());
                let reused = OverflowRef { version: 4, ..reference };
                assert!(page.overflow_bytes(&reused, position).is_err());
            }
            assert_eq!(back, value);
            assert_eq!(check_overflow_value(&reference, &back), Ok(()));
        }
    }
}
