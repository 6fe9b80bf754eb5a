//! Checks of whole pages: the one at the disk boundary, and validators for CHECK TABLE and tests.

use base::PageNo;
use base::checksum::crc32;
use base::codec::{get_u16, get_u32, put_u32};

use crate::layout::*;
use crate::page_ref::PageRef;

/// A page whose bytes cannot be what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// Where it was read.
    pub page: PageNo,
    /// What is wrong.
    pub what: CorruptionKind,
}

/// What is wrong with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CorruptionKind {
    /// The checksum does not match the bytes: torn or rotten.
    Checksum,
    /// The page carries another page's number: misdirected I/O.
    PageNo,
    /// The type byte is unknown.
    PageType,
    /// A header field is out of range.
    Header,
    /// A fence lies outside the heap or the prefix is not what the fences share.
    Fences,
    /// A slot points outside the heap.
    SlotRange,
    /// A cell's length does not fit its key.
    CellShape,
    /// Two cells, or a cell and a fence, share bytes.
    Overlap,
    /// The dead bytes of the heap are not as many as the header says.
    Garbage,
    /// Keys are not in ascending order.
    KeyOrder,
    /// A key lies outside the fences.
    KeyBounds,
    /// A hint is not the head it stands for.
    Hint,
    /// An inner page without a child, or a child number 0.
    Child,
    /// A record does not fit its row format.
    Record,
    /// An off-page value's page is not what its reference says.
    Overflow,
    /// An extent map entry is out of range.
    ExtentMap,
}

impl std::fmt::Display for Corruption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?}", self.page, self.what)
    }
}

impl std::error::Error for Corruption {}

/// Stamps the checksum before a write; nothing may change the page until the write has taken its bytes.
pub fn stamp_checksum(bytes: &mut PageBytes) {
    let crc = crc32(&bytes[PAGE_NO..]);
    put_u32(bytes, CHECKSUM, crc);
}

/// The check at the disk boundary: checksum, own number, type, header ranges. A page of zeros is a free page that was
/// never written. After it the bytes are trusted. Cost: one pass over the page.
pub fn verify_on_read(bytes: &PageBytes, page_no: PageNo) -> Result<(), Corruption> {
    let fail = |what| Err(Corruption { page: page_no, what });
    if get_u32(bytes, CHECKSUM) == 0 && bytes.iter().all(|&b| b == 0) {
        return Ok(());
    }
    if crc32(&bytes[PAGE_NO..]) != get_u32(bytes, CHECKSUM) {
        return fail(CorruptionKind::Checksum);
    }
    if get_u32(bytes, PAGE_NO) != page_no.0 {
        return fail(CorruptionKind::PageNo);
    }
    match PageType::from_byte(bytes[PAGE_TYPE]) {
        None => fail(CorruptionKind::PageType),
        Some(PageType::BTree) => check_header(PageRef(bytes)),
        Some(_) => Ok(()),
    }
}

/// Header ranges of a B-tree page.
fn check_header(page: PageRef<'_>) -> Result<(), Corruption> {
    let fail = |what| Err(Corruption { page: page.page_no(), what });
    let arrays_end = page.arrays_end(page.cap());
    if page.count() > page.cap()
        || !page.cap().is_multiple_of(2)
        || arrays_end > page.heap_top()
        || page.heap_top() > PAGE_SIZE
        || page.garbage() > PAGE_SIZE - page.heap_top()
    {
        return fail(CorruptionKind::Header);
    }
    for field in [LOWER_FENCE, UPPER_FENCE] {
        let (off, len) = (usize::from(get_u16(page.0, field)), get_u16(page.0, field + 2));
        let absent = len == 0 || field == UPPER_FENCE && len == NO_FENCE;
        if !absent && (off < page.heap_top() || off + usize::from(len) > PAGE_SIZE) {
            return fail(CorruptionKind::Fences);
        }
    }
    if page.prefix_len() > page.lower_fence().len() {
        return fail(CorruptionKind::Fences);
    }
    Ok(())
}
