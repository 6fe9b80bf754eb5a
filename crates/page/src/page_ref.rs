//! Read access to a page whose bytes were checked when they entered memory.

use std::cmp::Ordering;

use base::codec::{get_u16, get_u32, get_u64};
use base::{IndexId, Lsn, PageNo};

use crate::layout::*;
use crate::record::{Record, Records};
use crate::search::{Search, is_equal};

/// A page, read only. Header accessors hold for every page type, the rest for B-tree pages.
///
/// The bytes are trusted: [`crate::verify_on_read`] looked at them when they came from disk, and only
/// [`crate::PageMut`] changes them. Accesses check their arguments in debug builds only.
#[derive(Clone, Copy)]
pub struct PageRef<'a>(pub(crate) &'a PageBytes);

/// Bytes of a leaf's cell beside key and payload, at most: two length words.
pub const CELL_OVERHEAD_BYTES_MAX: usize = 4;
/// The flags among a page's type, level and index id.
const RESERVED_OF_TREE_LEVEL: u64 = 0xffff_0000;
const _: () = assert!(LEVEL == PAGE_TYPE + 1 && FLAGS == PAGE_TYPE + 2 && INDEX_ID == PAGE_TYPE + 4);

/// Which tree a page belongs to, and on what level: [`PageRef::tree_level`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLevel(u64);

impl TreeLevel {
    /// Of the pages of `index` on `level`.
    #[inline]
    pub fn of(index: IndexId, level: u8) -> Self {
        TreeLevel(u64::from(index.0) << 32 | u64::from(level) << 8 | PageType::BTree as u64)
    }

    /// Of the children of an inner page.
    #[inline]
    pub fn of_children(self) -> Self {
        debug_assert!(self.0 & 0xff00 != 0, "a leaf has no children");
        TreeLevel(self.0.wrapping_sub(1 << 8))
    }
}

/// Whether a record goes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Without moving anything.
    Now,
    /// After the dead cells are squeezed out.
    AfterReorganize,
    /// Not at all.
    No,
}

impl<'a> PageRef<'a> {
    /// The page in `bytes`.
    #[inline]
    pub fn new(bytes: &'a PageBytes) -> Self {
        PageRef(bytes)
    }

    /// The raw bytes, for I/O, images and checksums.
    #[inline]
    pub fn bytes(self) -> &'a PageBytes {
        self.0
    }

    /// The page's own number.
    #[inline]
    pub fn page_no(self) -> PageNo {
        PageNo(get_u32(self.0, PAGE_NO))
    }

    /// End LSN of the last change.
    #[inline]
    pub fn lsn(self) -> Lsn {
        Lsn(get_u64(self.0, PAGE_LSN))
    }

    /// What the page holds; an unknown type byte reads as `Free`.
    #[inline]
    pub fn page_type(self) -> PageType {
        PageType::from_byte(self.0[PAGE_TYPE]).unwrap_or(PageType::Free)
    }

    /// Height above the leaves.
    #[inline]
    pub fn level(self) -> u8 {
        self.0[LEVEL]
    }

    /// Type, level and tree in one word: equal for pages of one level of a tree.
    #[inline]
    pub fn tree_level(self) -> TreeLevel {
        TreeLevel(get_u64(self.0, PAGE_TYPE) & !RESERVED_OF_TREE_LEVEL)
    }

    /// Whether `other` has the same [`PageRef::tree_level`]. False also where reserved bits differ. Cost: two
    /// loads.
    #[inline(always)]
    pub fn is_evident_kin(self, other: PageRef<'_>) -> bool {
        get_u64(self.0, PAGE_TYPE) == get_u64(other.0, PAGE_TYPE)
    }

    /// Whether records, not children, are here.
    #[inline]
    pub fn is_leaf(self) -> bool {
        self.0[LEVEL] == 0
    }

    /// The tree the page belongs to.
    #[inline]
    pub fn index_id(self) -> IndexId {
        IndexId(get_u32(self.0, INDEX_ID))
    }

    /// How often the page number was given out.
    #[inline]
    pub fn version(self) -> u32 {
        get_u32(self.0, VERSION)
    }

    /// Slots in use.
    #[inline]
    pub fn count(self) -> usize {
        usize::from(get_u16(self.0, COUNT))
    }

    /// Row format version of every record on the page.
    #[inline]
    pub fn format_version(self) -> u16 {
        get_u16(self.0, FORMAT_VERSION)
    }

    /// No record was changed by a transaction with a higher id.
    #[inline]
    pub fn trx_max(self) -> base::TrxId {
        base::TrxId(get_u64(self.0, TRX_MAX))
    }

    /// Right sibling on the same level, or [`PageNo::NONE`].
    #[inline]
    pub fn right(self) -> PageNo {
        PageNo(get_u32(self.0, RIGHT))
    }

    /// Length of every key without its begin id, if the tree's keys have one length.
    #[inline]
    pub fn fixed_key_len(self) -> Option<u16> {
        Some(get_u16(self.0, FIXED_KEY_LEN)).filter(|&len| len != 0)
    }

    /// Bytes that all keys of the page start with.
    #[inline]
    pub fn prefix(self) -> &'a [u8] {
        let from = usize::from(get_u16(self.0, PREFIX_AT));
        &self.0[from..from + self.prefix_len()]
    }

    /// Whether `key` starts with the prefix.
    #[inline]
    pub(crate) fn is_under_prefix(self, key: &[u8]) -> bool {
        let prefix = self.prefix();
        key.get(..prefix.len()).is_some_and(|start| is_equal(start, prefix))
    }

    /// [`PageRef::is_under_prefix`] of a key that belongs at `slot`: between two keys that start with the
    /// prefix there is no need to look.
    #[inline]
    fn is_under_prefix_at(self, key: &[u8], slot: usize) -> bool {
        if self.is_between(slot) && key.len() >= self.prefix_len() {
            debug_assert!(self.is_under_prefix(key), "slot {slot} for another key");
            return true;
        }
        self.is_under_prefix(key)
    }

    /// Whether a record that becomes `slot` has one before it and one after it.
    #[inline]
    fn is_between(self, slot: usize) -> bool {
        slot > 0 && slot < self.count()
    }

    /// Inclusive lower bound of the page's keys; empty = none.
    #[inline]
    pub fn lower_fence(self) -> &'a [u8] {
        let from = usize::from(get_u16(self.0, LOWER_FENCE));
        &self.0[from..from + usize::from(get_u16(self.0, LOWER_FENCE + 2))]
    }

    /// Exclusive upper bound of the page's keys, if there is one.
    #[inline]
    pub fn upper_fence(self) -> Option<&'a [u8]> {
        let len = get_u16(self.0, UPPER_FENCE + 2);
        if len == NO_FENCE {
            return None;
        }
        let from = usize::from(get_u16(self.0, UPPER_FENCE));
        Some(&self.0[from..from + usize::from(len)])
    }

    /// Whether `key` belongs on this page by its fences.
    pub fn covers(self, key: &[u8]) -> bool {
        self.lower_fence() <= key && self.upper_fence().is_none_or(|upper| key < upper)
    }

    /// [`PageRef::covers`] of a leaf in which a search for `key` ended `at`: next to a smaller key and at a
    /// greater one there is no need to read the fences.
    #[inline]
    pub fn covers_searched(self, key: &[u8], at: Search) -> bool {
        at.found || self.is_between(at.slot) || self.covers(key)
    }

    /// Copies the page to `to`, the hole between arrays and heap left out.
    pub fn copy_to(self, to: &mut PageBytes) {
        let (low, heap) = match self.page_type() {
            PageType::BTree => (self.arrays_end(self.cap()), self.heap_top()),
            _ => (PAGE_SIZE, PAGE_SIZE),
        };
        to[..low].copy_from_slice(&self.0[..low]);
        to[heap..].copy_from_slice(&self.0[heap..]);
    }

    /// Child page at `slot` of an inner page.
    #[inline]
    pub fn child(self, slot: usize) -> PageNo {
        debug_assert!(!self.is_leaf() && slot < self.count(), "child {slot} of {}", self.count());
        PageNo(load_u32(self.0, HEADER_BYTES + 6 * self.cap() + 4 * slot))
    }

    /// Whether the leaf record at `slot` is marked [`SlotFlags::DELETED`]; its cell is not read.
    #[inline]
    pub fn is_deleted(self, slot: usize) -> bool {
        self.slot_word(slot) & SlotFlags::DELETED.bits() != 0
    }

    /// Whether the leaf record at `slot` is marked [`SlotFlags::HAS_END`]; its cell is not read.
    #[inline]
    pub(crate) fn has_end(self, slot: usize) -> bool {
        self.slot_word(slot) & SlotFlags::HAS_END.bits() != 0
    }

    /// The leaf record at `slot`. For many records of a page: [`PageRef::records`].
    #[inline]
    pub fn record(self, slot: usize) -> Record<'a> {
        debug_assert!(slot < self.count(), "record {slot} of {}", self.count());
        self.records().get(slot)
    }

    /// A reader of the leaf's records: what the header says is read once.
    #[inline]
    pub fn records(self) -> Records<'a> {
        debug_assert!(self.is_leaf(), "{} has no records", self.page_no());
        let fixed = usize::from(get_u16(self.0, FIXED_KEY_LEN));
        let prefix = self.prefix();
        Records {
            bytes: self.0,
            prefix,
            slots_from: HEADER_BYTES + 4 * self.cap(),
            rest_len: if fixed == 0 { None } else { Some(fixed - prefix.len()) },
        }
    }

    /// Payload of the leaf record at `slot`.
    #[inline]
    pub fn payload(self, slot: usize) -> &'a [u8] {
        self.record(slot).payload
    }

    /// Marks of the leaf record at `slot`.
    #[inline]
    pub fn flags(self, slot: usize) -> SlotFlags {
        let word = self.slot_word(slot);
        let begin = get_u16(self.0, usize::from(word & SLOT_OFFSET)) & CELL_HAS_BEGIN;
        SlotFlags::from_bits(word & SlotFlags::IN_SLOT | begin >> 2)
    }

    /// Appends the whole key at `slot` to `out`. Slot 0 of an inner page has the lower fence for a key.
    #[inline]
    pub fn append_key(self, slot: usize, out: &mut Vec<u8>) {
        if self.is_leaf() {
            self.record(slot).append_key(out);
        } else if slot == 0 {
            out.extend_from_slice(self.lower_fence());
        } else {
            let (rest_len, suffix) = self.inner_rest(slot);
            out.extend_from_slice(self.prefix());
            out.extend_from_slice(&self.head(slot).to_be_bytes()[..rest_len.min(HEAD_BYTES)]);
            out.extend_from_slice(suffix);
        }
    }

    /// The whole key at `slot`, owned. For rare paths and tests.
    pub fn key(self, slot: usize) -> Vec<u8> {
        let mut key = Vec::with_capacity(64);
        self.append_key(slot, &mut key);
        key
    }

    /// How the key at `slot` compares with `key`.
    pub fn compare_key(self, slot: usize, key: &[u8]) -> Ordering {
        if !self.is_leaf() && slot == 0 {
            return self.lower_fence().cmp(key);
        }
        let prefix = self.prefix();
        let common = prefix.len().min(key.len());
        prefix[..common].cmp(&key[..common]).then_with(|| {
            if key.len() < prefix.len() {
                return Ordering::Greater;
            }
            let rest = &key[prefix.len()..];
            self.head(slot).cmp(&head_of(rest)).then_with(|| self.compare_beyond_head(slot, rest))
        })
    }

    /// Compares the key at `slot` with a key whose head is equal; `rest` is that key beyond the prefix.
    #[inline]
    pub(crate) fn compare_beyond_head(self, slot: usize, rest: &[u8]) -> Ordering {
        let fixed = usize::from(get_u16(self.0, FIXED_KEY_LEN));
        if fixed != 0 && fixed <= self.prefix_len() + HEAD_BYTES && rest.len() <= HEAD_BYTES {
            let begin = if self.is_leaf() && self.flags(slot).has_begin() { TRX_ID_BYTES } else { 0 };
            return (fixed - self.prefix_len() + begin).cmp(&rest.len());
        }
        let (rest_len, suffix) = if self.is_leaf() {
            let record = self.record(slot);
            (record.rest_len, record.suffix)
        } else {
            self.inner_rest(slot)
        };
        suffix.cmp(rest.get(HEAD_BYTES..).unwrap_or(&[])).then(rest_len.cmp(&rest.len()))
    }

    /// Key length beyond the prefix and the suffix of an inner page's slot other than 0.
    #[inline]
    pub(crate) fn inner_rest(self, slot: usize) -> (usize, &'a [u8]) {
        let off = usize::from(self.slot_word(slot) & SLOT_OFFSET);
        let fixed = usize::from(get_u16(self.0, FIXED_KEY_LEN));
        if fixed == 0 {
            let rest_len = usize::from(get_u16(self.0, off));
            return (rest_len, &self.0[off + 2..off + 2 + rest_len.saturating_sub(HEAD_BYTES)]);
        }
        let rest_len = fixed - self.prefix_len();
        (rest_len, &self.0[off..off + rest_len.saturating_sub(HEAD_BYTES)])
    }

    /// Whether a leaf takes a cell of `len` bytes for a key that belongs at `slot`, between two others, as
    /// the page is. False: perhaps it does not.
    #[inline]
    pub fn takes_between(self, slot: usize, len: usize) -> bool {
        let cap = self.cap();
        self.is_between(slot)
            && self.count() < cap
            && HEADER_BYTES + cap * slot_bytes(true) + len <= self.heap_top()
    }

    /// Bytes of a leaf cell for the record that becomes `slot` if it goes in as the page is: nothing moves,
    /// the arrays do not grow, and a longer prefix is not to be thought of.
    #[inline]
    pub(crate) fn cell_with_room(self, slot: usize, key: &[u8], payload_len: usize) -> Option<usize> {
        let len = self.cell_under_prefix(slot, key, payload_len)?;
        (self.count() > PREFIX_SLOTS_FEW || !self.may_share_more()).then_some(len)
    }

    /// As [`PageRef::cell_with_room`] on a page whose prefix was chosen for all keys to come.
    #[inline]
    pub(crate) fn cell_under_prefix(self, slot: usize, key: &[u8], payload_len: usize) -> Option<usize> {
        let (count, cap) = (self.count(), self.cap());
        let len = self.cell_len(key.len(), payload_len);
        let fits = count < cap
            && HEADER_BYTES + cap * slot_bytes(true) + len <= self.heap_top()
            && self.is_under_prefix_at(key, slot);
        fits.then_some(len)
    }

    /// Whether a record (leaf) or a separator (inner; `payload_len` is ignored) goes in.
    pub fn fits(self, key: &[u8], payload_len: usize) -> Fit {
        if !self.is_under_prefix(key) {
            let need = self.cell_len_beyond(self.prefix_shared_with(key), key.len(), payload_len);
            return if need <= self.free_for(key) { Fit::AfterReorganize } else { Fit::No };
        }
        let need = self.cell_len(key.len(), payload_len);
        let count = even(self.count() + 1);
        if self.arrays_end(count.max(self.cap())) + need <= self.heap_top() {
            Fit::Now
        } else if self.arrays_end(count) + need <= self.heap_top() + self.garbage() {
            Fit::AfterReorganize
        } else {
            Fit::No
        }
    }

    /// Bytes a new cell for `key` may have once dead cells are squeezed out; the arrays' growth for one slot
    /// is already taken off, and what other keys grow by if `key` does not share the page's prefix.
    #[inline]
    pub fn free_for(self, key: &[u8]) -> usize {
        let free = (self.heap_top() + self.garbage()).saturating_sub(self.arrays_end(even(self.count() + 1)));
        if self.is_under_prefix(key) { free } else { free.saturating_sub(self.growth_for(key)) }
    }

    /// Whether a record with `key` goes behind all records of the leaf with nothing moved, and before it
    /// `slots` others whose keys and payloads, with its own, are `bytes` long; `reserve` bytes stay free.
    #[inline]
    pub fn takes_behind(self, key: &[u8], slots: usize, bytes: usize, reserve: usize) -> bool {
        let cells = bytes + (slots + 1) * CELL_OVERHEAD_BYTES_MAX;
        self.fixed_key_len().is_none_or(|len| usize::from(len) == key.len())
            && self.is_under_prefix(key)
            && self.arrays_end(even(self.count() + slots + 1)) + cells + reserve <= self.heap_top()
    }

    /// Bytes in use: header, arrays of the slots in use, live cells and fences.
    pub fn used_bytes(self) -> usize {
        HEADER_BYTES + self.count() * slot_bytes(self.is_leaf()) + PAGE_SIZE
            - self.heap_top()
            - self.garbage()
    }

    /// Bytes the cell at `slot` and its array entries take.
    pub fn slot_used_bytes(self, slot: usize) -> usize {
        self.cell_len_at(slot) + slot_bytes(self.is_leaf())
    }

    /// [`PageRef::slot_used_bytes`] of all `slots` together. Cost on a leaf: a few instructions each.
    pub fn slots_used_bytes(self, slots: std::ops::Range<usize>) -> usize {
        if !self.is_leaf() {
            return slots.map(|slot| self.slot_used_bytes(slot)).sum();
        }
        let words_from = HEADER_BYTES + 4 * self.cap();
        let word = |slot: usize| load_u16(self.0, words_from + 2 * slot);
        let cell_len = |slot| usize::from(get_u16(self.0, usize::from(word(slot) & SLOT_OFFSET)) & CELL_LEN);
        slot_bytes(true) * slots.len() + slots.map(cell_len).sum::<usize>()
    }

    /// Bytes of dead cells.
    #[inline]
    pub fn garbage(self) -> usize {
        usize::from(get_u16(self.0, GARBAGE))
    }

    #[inline]
    pub(crate) fn cap(self) -> usize {
        usize::from(get_u16(self.0, CAP))
    }

    #[inline]
    pub(crate) fn heap_top(self) -> usize {
        usize::from(get_u16(self.0, HEAP_TOP))
    }

    #[inline]
    pub(crate) fn prefix_len(self) -> usize {
        usize::from(get_u16(self.0, PREFIX_LEN))
    }

    #[inline]
    pub(crate) fn head(self, slot: usize) -> u32 {
        load_u32(self.0, HEADER_BYTES + 4 * slot)
    }

    #[inline]
    pub(crate) fn slot_word(self, slot: usize) -> u16 {
        load_u16(self.0, HEADER_BYTES + 4 * self.cap() + 2 * slot)
    }

    #[inline]
    pub(crate) fn arrays_end(self, cap: usize) -> usize {
        HEADER_BYTES + cap * slot_bytes(self.is_leaf())
    }

    /// Bytes a cell for a key of `key_len` bytes takes.
    #[inline]
    pub(crate) fn cell_len(self, key_len: usize, payload_len: usize) -> usize {
        self.cell_len_beyond(self.prefix_len(), key_len, payload_len)
    }

    /// As [`PageRef::cell_len`], if the page's prefix had `prefix_len` bytes.
    #[inline]
    pub(crate) fn cell_len_beyond(self, prefix_len: usize, key_len: usize, payload_len: usize) -> usize {
        let suffix = key_len.saturating_sub(prefix_len + HEAD_BYTES);
        let rest_word = if self.fixed_key_len().is_some() { 0 } else { 2 };
        if self.is_leaf() { 2 + rest_word + payload_len + suffix } else { rest_word + suffix }
    }

    /// Bytes the cell at `slot` takes in the heap.
    #[inline]
    pub(crate) fn cell_len_at(self, slot: usize) -> usize {
        let off = usize::from(self.slot_word(slot) & SLOT_OFFSET);
        if self.is_leaf() {
            usize::from(get_u16(self.0, off) & CELL_LEN)
        } else if slot == 0 || off == 0 {
            0
        } else {
            let (rest_len, suffix) = self.inner_rest(slot);
            debug_assert!(rest_len >= suffix.len(), "suffix longer than the key");
            suffix.len() + if self.fixed_key_len().is_some() { 0 } else { 2 }
        }
    }
}

/// The head of a key whose bytes beyond the page's prefix are `rest`: 4 bytes, zero padded, order as `u32`.
#[inline]
pub(crate) fn head_of(rest: &[u8]) -> u32 {
    if let Some(first) = rest.first_chunk::<4>() {
        return u32::from_be_bytes(*first);
    }
    match *rest {
        [a] => u32::from_be_bytes([a, 0, 0, 0]),
        [a, b] => u32::from_be_bytes([a, b, 0, 0]),
        [a, b, c] => u32::from_be_bytes([a, b, c, 0]),
        _ => 0,
    }
}

/// Loads an aligned `u32`. The mask changes nothing for an offset inside the arrays and proves the range.
#[inline]
pub(crate) fn load_u32(bytes: &PageBytes, off: usize) -> u32 {
    debug_assert!(off.is_multiple_of(4) && off < PAGE_SIZE, "offset {off}");
    get_u32(bytes, off & (PAGE_SIZE - 4))
}

/// Loads an aligned `u16`; as [`load_u32`].
#[inline]
pub(crate) fn load_u16(bytes: &PageBytes, off: usize) -> u16 {
    debug_assert!(off.is_multiple_of(2) && off < PAGE_SIZE, "offset {off}");
    get_u16(bytes, off & (PAGE_SIZE - 2))
}

/// The begin id at the end of a key that has one: big-endian.
#[inline]
pub(crate) fn begin_of(key: &[u8]) -> Option<base::TrxId> {
    let id = key.last_chunk::<TRX_ID_BYTES>()?;
    Some(base::TrxId(id.iter().fold(0, |id, &byte| id << 8 | u64::from(byte))))
}
