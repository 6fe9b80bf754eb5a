//! Checks of whole pages: the one at the disk boundary, and validators for CHECK TABLE and tests.

use base::checksum::crc32;
use base::codec::{get_u16, get_u32, put_u32};
use base::{IndexId, PageNo};

use crate::corruption::{Corruption, CorruptionKind};
use crate::extent_map::{ENTRIES, EXTENT_ENTRY_BYTES, EXTENTS_PER_MAP, FIRST_EXTENT};
use crate::layout::*;
use crate::overflow::OverflowRef;
use crate::page_ref::PageRef;
use crate::prefix::shared_by_fences;
use crate::{EXTENT_PAGES, ExtentState};

mod order;
mod records;

pub use records::{check_records, fits_format, is_overflow_reference, key_fits_format};

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

/// The check at the disk boundary: checksum, own number, type; of a B-tree page header ranges, that every
/// slot has a cell within the heap that is as long as its key needs, and that keys ascend between the fences.
/// A page of zeros is a free page that was never written. After it the bytes are trusted: reading them never
/// leaves the page, and searches end where the keys say. What records hold is checked by [`check_records`],
/// with the row format. Cost: one pass over the page, and about forty instructions a slot of a leaf.
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
        Some(PageType::BTree) => check_structure(PageRef(bytes)),
        Some(_) => Ok(()),
    }
}

/// What [`verify_on_read`] asks of a B-tree page beside its checksum and number.
pub fn check_structure(page: PageRef<'_>) -> Result<(), Corruption> {
    check_header(page)?;
    check_slots(page)?;
    check_fences(page)?;
    order::check_order(page)?;
    check_links(page)
}

/// Every slot's cell, for itself, and that cells, fences and dead bytes are together as many as the heap has:
/// [`check_cells`] also asks how they lie to each other.
fn check_slots(page: PageRef<'_>) -> Result<(), Corruption> {
    let cells = match leaf_cell_bytes(page) {
        Some(cells) => cells,
        None => (0..page.count()).try_fold(0, |sum, slot| {
            let off = usize::from(page.slot_word(slot) & SLOT_OFFSET);
            Ok(sum + check_cell_shape(page, slot, off)?)
        })?,
    };
    if cells + frame_bytes(page) + page.garbage() != PAGE_SIZE - page.heap_top() {
        return Err(Corruption { page: page.page_no(), what: CorruptionKind::Garbage });
    }
    Ok(())
}

/// Bytes of the fences, and of a prefix that stands for itself, in the heap.
fn frame_bytes(page: PageRef<'_>) -> usize {
    let own_prefix = get_u16(page.0, PREFIX_AT) != get_u16(page.0, LOWER_FENCE);
    page.lower_fence().len()
        + page.upper_fence().map_or(0, <[u8]>::len)
        + if own_prefix { page.prefix_len() } else { 0 }
}

/// Bytes of the cells of a leaf whose header was checked, if [`check_cell_shape`] accepts every slot. Most
/// pages that are read are leaves: what the header says is read once.
fn leaf_cell_bytes(page: PageRef<'_>) -> Option<usize> {
    if !page.is_leaf() {
        return None;
    }
    let (bytes, heap_top, prefix_len) = (page.0, page.heap_top(), page.prefix_len());
    let fixed_rest = page.fixed_key_len().map(|len| usize::from(len) - prefix_len);
    let words = if fixed_rest.is_none() { 4 } else { 2 };
    let from = HEADER_BYTES + 4 * page.cap();
    let (slots, _) = bytes[from..from + 2 * page.count()].as_chunks::<2>();
    let mut sum = 0;
    for slot in slots {
        let off = usize::from(u16::from_le_bytes(*slot) & SLOT_OFFSET);
        if off < heap_top || off > PAGE_SIZE - words {
            return None;
        }
        let cell = get_u16(bytes, off);
        let begin_id = if cell & CELL_HAS_BEGIN == 0 { 0 } else { TRX_ID_BYTES };
        let rest_len = match fixed_rest {
            Some(rest) => rest + begin_id,
            None => usize::from(get_u16(bytes, off + 2)),
        };
        let len = usize::from(cell & CELL_LEN);
        let is_whole = len >= words + rest_len.saturating_sub(HEAD_BYTES) && off + len <= PAGE_SIZE;
        if !is_whole || prefix_len + rest_len < begin_id {
            return None;
        }
        sum += len;
    }
    Some(sum)
}

/// Checks a value put together from its pages against its reference.
pub fn check_overflow_value(reference: &OverflowRef, value: &[u8]) -> Result<(), Corruption> {
    if value.len() as u64 == reference.len && crc32(value) == reference.crc {
        return Ok(());
    }
    Err(Corruption { page: reference.first, what: CorruptionKind::Overflow })
}

/// Everything a B-tree page promises, for CHECK TABLE and tests: header, fences, cells, order, bounds, hints.
/// The bytes may be anything. Cost: O(n log n) in the slots, with allocation.
pub fn check_page(page: PageRef<'_>) -> Result<(), Corruption> {
    if page.page_type() != PageType::BTree {
        return Err(Corruption { page: page.page_no(), what: CorruptionKind::PageType });
    }
    check_header(page)?;
    check_fences(page)?;
    check_cells(page)?;
    order::check_keys(page)?;
    check_hints(page)?;
    check_links(page)
}

/// Everything an extent map page promises: which extents it describes, and that state, owner and use of each
/// agree.
pub fn check_extent_map(page: PageRef<'_>) -> Result<(), Corruption> {
    let fail = |what| Err(Corruption { page: page.page_no(), what });
    if page.page_type() != PageType::ExtentMap {
        return fail(CorruptionKind::PageType);
    }
    if get_u32(page.0, FIRST_EXTENT) != page.page_no().0 / EXTENT_PAGES {
        return fail(CorruptionKind::Header);
    }
    let is_sound = |slot: usize| {
        let entry = page.extent(slot);
        let (used, owned) = (entry.used != 0, entry.index_id != IndexId(0));
        match entry.state {
            ExtentState::Free => !used && !owned,
            ExtentState::Shared => used && !owned,
            ExtentState::Tree | ExtentState::Overflow => used && owned,
            ExtentState::System => {
                page.0[ENTRIES + slot * EXTENT_ENTRY_BYTES + 12] == ExtentState::System as u8
            }
        }
    };
    if (0..EXTENTS_PER_MAP as usize).all(is_sound) { Ok(()) } else { fail(CorruptionKind::ExtentMap) }
}

/// The prefix begins with what the fences share, and they are in order.
fn check_fences(page: PageRef<'_>) -> Result<(), Corruption> {
    let (lower, upper) = (page.lower_fence(), page.upper_fence());
    let shared = shared_by_fences(lower, upper, page.fixed_key_len());
    if !page.prefix().starts_with(shared) || upper.is_some_and(|upper| upper <= lower) {
        return Err(Corruption { page: page.page_no(), what: CorruptionKind::Fences });
    }
    Ok(())
}

/// Cells lie in the heap, are as long as their keys need, do not overlap, and with the fences and the dead
/// bytes make up the whole heap.
fn check_cells(page: PageRef<'_>) -> Result<(), Corruption> {
    let fail = |what| Corruption { page: page.page_no(), what };
    let mut spans = Vec::with_capacity(page.count() + 2);
    for field in [LOWER_FENCE, UPPER_FENCE] {
        let (off, len) = (usize::from(get_u16(page.0, field)), get_u16(page.0, field + 2));
        if len != 0 && len != NO_FENCE {
            spans.push((off, usize::from(len)));
        }
    }
    let own_prefix = usize::from(get_u16(page.0, PREFIX_AT));
    if page.prefix_len() != 0 && own_prefix != usize::from(get_u16(page.0, LOWER_FENCE)) {
        spans.push((own_prefix, page.prefix_len()));
    }
    for slot in 0..page.count() {
        let off = usize::from(page.slot_word(slot) & SLOT_OFFSET);
        let len = check_cell_shape(page, slot, off)?;
        if len != 0 {
            spans.push((off, len));
        }
    }
    spans.sort_unstable();
    let mut end = page.heap_top();
    let mut live = 0;
    for (off, len) in spans {
        if off < end {
            return Err(fail(CorruptionKind::Overlap));
        }
        end = off + len;
        live += len;
    }
    if end > PAGE_SIZE || live + page.garbage() != PAGE_SIZE - page.heap_top() {
        return Err(fail(CorruptionKind::Garbage));
    }
    Ok(())
}

/// Bytes of the cell at `off`, read without trust.
fn check_cell_shape(page: PageRef<'_>, slot: usize, off: usize) -> Result<usize, Corruption> {
    let fail = |what| Err(Corruption { page: page.page_no(), what });
    let fixed = page.fixed_key_len().map(usize::from);
    let has_cell = page.is_leaf() || slot > 0 && fixed.is_none_or(|len| len > page.prefix_len() + HEAD_BYTES);
    if !has_cell {
        return if off == 0 { Ok(0) } else { fail(CorruptionKind::CellShape) };
    }
    let words = if page.is_leaf() { 2 } else { 0 } + if fixed.is_none() { 2 } else { 0 };
    if off < page.heap_top() || off + words > PAGE_SIZE {
        return fail(CorruptionKind::SlotRange);
    }
    let has_begin = page.is_leaf() && get_u16(page.0, off) & CELL_HAS_BEGIN != 0;
    let rest_len = match fixed {
        None => usize::from(get_u16(page.0, off + words - 2)),
        Some(len) => len - page.prefix_len() + if has_begin { TRX_ID_BYTES } else { 0 },
    };
    let suffix = rest_len.saturating_sub(HEAD_BYTES);
    let len = if page.is_leaf() { usize::from(get_u16(page.0, off) & CELL_LEN) } else { words + suffix };
    let begin_id = if has_begin { TRX_ID_BYTES } else { 0 };
    if len < words + suffix || off + len > PAGE_SIZE || page.prefix_len() + rest_len < begin_id {
        return fail(CorruptionKind::CellShape);
    }
    Ok(len)
}

/// Each hint is the head at its distance.
fn check_hints(page: PageRef<'_>) -> Result<(), Corruption> {
    let count = page.count();
    let distance = count / (HINTS + 1);
    let is_right = |i: usize| get_u32(page.0, HINT_ARRAY + 4 * i) == page.head((i + 1) * distance);
    if count >= HINT_COUNT_MIN && !(0..HINTS).all(is_right) {
        return Err(Corruption { page: page.page_no(), what: CorruptionKind::Hint });
    }
    Ok(())
}

/// An inner page has children; none of them, nor the right sibling, is the page itself, and no child is page
/// 0.
fn check_links(page: PageRef<'_>) -> Result<(), Corruption> {
    let is_bad = |slot| page.child(slot).is_none() || page.child(slot) == page.page_no();
    if !page.is_leaf() && (page.count() == 0 || (0..page.count()).any(is_bad)) {
        return Err(Corruption { page: page.page_no(), what: CorruptionKind::Child });
    }
    if page.right() == page.page_no() {
        return Err(Corruption { page: page.page_no(), what: CorruptionKind::Link });
    }
    Ok(())
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
        || page.fixed_key_len().is_some_and(|len| usize::from(len) < page.prefix_len())
    {
        return fail(CorruptionKind::Header);
    }
    for field in [LOWER_FENCE, UPPER_FENCE] {
        let (off, len) = (usize::from(get_u16(page.0, field)), get_u16(page.0, field + 2));
        let absent = field == UPPER_FENCE && len == NO_FENCE;
        let in_heap = if len == 0 { off == 0 } else { off >= page.heap_top() };
        if !(absent || in_heap && off + usize::from(len) <= PAGE_SIZE) {
            return fail(CorruptionKind::Fences);
        }
    }
    let (off, len) = (usize::from(get_u16(page.0, PREFIX_AT)), page.prefix_len());
    let in_heap = if len == 0 { off == 0 } else { off >= page.heap_top() && off + len <= PAGE_SIZE };
    let in_fence = off == usize::from(get_u16(page.0, LOWER_FENCE)) && len <= page.lower_fence().len();
    if !in_heap || !in_fence && len > OWN_PREFIX_BYTES_MAX {
        return fail(CorruptionKind::Fences);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
