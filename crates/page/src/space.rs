//! Space inside a page: taking and releasing heap bytes, growing the arrays, squeezing out dead cells, hints.

use base::PageNo;
use base::codec::{copy_short, get_u16, put_u16, put_u32};

use crate::layout::*;
use crate::page_mut::{PageFull, PageMut};
use crate::page_ref::Fit;
use crate::prefix::own_len;

impl PageMut<'_> {
    /// Makes room for a cell of `key`, contiguous, and for one more array entry; returns the cell's bytes.
    #[inline]
    pub(crate) fn make_room(&mut self, key: &[u8], payload_len: usize) -> Result<usize, PageFull> {
        match self.as_ref().fits(key, payload_len) {
            Fit::Now => {}
            Fit::AfterReorganize if self.as_ref().is_under_prefix(key) => self.compact(None, Some(key)),
            Fit::AfterReorganize => self.shorten_prefix(key),
            Fit::No => return Err(PageFull),
        }
        let page = self.as_ref();
        let is_full = page.count() == page.cap();
        if (is_full || page.count() <= PREFIX_SLOTS_FEW) && page.may_share_more() {
            self.lengthen_prefix(key);
        }
        if self.as_ref().count() == self.as_ref().cap() {
            self.grow_arrays(self.as_ref().cell_len(key.len(), payload_len));
        }
        Ok(self.as_ref().cell_len(key.len(), payload_len))
    }

    /// Makes room for the first slot of an inner page, which has no cell.
    pub(crate) fn make_room_for_first_child(&mut self) -> Result<(), PageFull> {
        let page = self.as_ref();
        if page.cap() == 0 && page.arrays_end(even(1)) > page.heap_top() {
            if page.arrays_end(even(1)) > page.heap_top() + page.garbage() {
                return Err(PageFull);
            }
            self.compact(None, None);
        }
        if self.as_ref().cap() == 0 {
            self.grow_arrays(0);
        }
        Ok(())
    }

    /// Raises `cap` by an eighth, at least 8, but not so far that a cell of `cell_len` bytes would not fit.
    fn grow_arrays(&mut self, cell_len: usize) {
        let page = self.as_ref();
        let (old, leaf) = (page.cap(), page.is_leaf());
        let room = (page.heap_top() - cell_len - HEADER_BYTES) / slot_bytes(leaf);
        let cap = even(old + (old / 8).max(8)).min(room & !1);
        debug_assert!(cap > old, "grow_arrays without room");
        if !leaf {
            let children = HEADER_BYTES + 6 * old;
            self.0.copy_within(children..children + 4 * old, HEADER_BYTES + 6 * cap);
        }
        let slots = HEADER_BYTES + 4 * old;
        self.0.copy_within(slots..slots + 2 * old, HEADER_BYTES + 4 * cap);
        put_u16(self.0, CAP, cap as u16);
    }

    /// Makes the arrays of a page without slots large enough for `count`, if that leaves room for a cell of
    /// each.
    pub(crate) fn expect_slots(&mut self, count: usize) {
        let page = self.as_ref();
        debug_assert!(page.count() == 0, "slots stand where the arrays would go");
        let cap = even(count);
        if cap > page.cap() && page.arrays_end(cap) + 2 * count <= page.heap_top() {
            put_u16(self.0, CAP, cap as u16);
        }
    }

    /// Takes `len` bytes off the heap's lower end; the caller made room.
    #[inline]
    pub(crate) fn take_heap(&mut self, len: usize) -> usize {
        let off = self.as_ref().heap_top() - len;
        put_u16(self.0, HEAP_TOP, off as u16);
        off
    }

    /// Counts the cell at `slot` as dead, or gives it back if it is the lowest of the heap.
    pub(crate) fn release_cell(&mut self, slot: usize) {
        let page = self.as_ref();
        let (off, len) = (usize::from(page.slot_word(slot) & SLOT_OFFSET), page.cell_len_at(slot));
        if len != 0 && off == page.heap_top() {
            put_u16(self.0, HEAP_TOP, (off + len) as u16);
        } else {
            self.add_garbage(len);
        }
    }

    #[inline]
    pub(crate) fn add_garbage(&mut self, len: usize) {
        let garbage = self.as_ref().garbage() + len;
        put_u16(self.0, GARBAGE, garbage as u16);
    }

    /// Opens array entry `slot` and fills it.
    #[inline]
    pub(crate) fn open_slot(&mut self, slot: usize, head: u32, word: u16, child: Option<PageNo>) {
        let page = self.as_ref();
        let (count, cap) = (page.count(), page.cap());
        debug_assert!(slot <= count && count < cap, "slot {slot}, count {count}, cap {cap}");
        let (heads, slots, children) = (HEADER_BYTES, HEADER_BYTES + 4 * cap, HEADER_BYTES + 6 * cap);
        if slot < count {
            self.0.copy_within(heads + 4 * slot..heads + 4 * count, heads + 4 * (slot + 1));
            self.0.copy_within(slots + 2 * slot..slots + 2 * count, slots + 2 * (slot + 1));
            if child.is_some() {
                self.0.copy_within(children + 4 * slot..children + 4 * count, children + 4 * (slot + 1));
            }
        }
        put_u32(self.0, heads + 4 * slot, head);
        put_u16(self.0, slots + 2 * slot, word);
        if let Some(child) = child {
            put_u32(self.0, children + 4 * slot, child.0);
        }
        put_u16(self.0, COUNT, (count + 1) as u16);
        self.update_hints(slot, count);
    }

    /// Writes a leaf cell of `len` bytes at `off`; `rest` is the key beyond the prefix.
    #[inline(never)]
    pub(crate) fn write_leaf_cell(
        &mut self,
        off: usize,
        len: usize,
        rest: &[u8],
        payload: &[u8],
        flags: SlotFlags,
    ) {
        self.write_leaf_cell_inline(off, len, rest, payload, flags);
    }

    /// [`PageMut::write_leaf_cell`] as a part of its caller: for loops that write many cells.
    #[inline(always)]
    pub(crate) fn write_leaf_cell_inline(
        &mut self,
        off: usize,
        len: usize,
        rest: &[u8],
        payload: &[u8],
        flags: SlotFlags,
    ) {
        let variable = self.as_ref().fixed_key_len().is_none();
        let suffix = rest.get(HEAD_BYTES..).unwrap_or(&[]);
        let cell = &mut self.0[off..off + len];
        put_u16(cell, 0, len as u16 | if flags.has_begin() { CELL_HAS_BEGIN } else { 0 });
        let mut at = 2;
        if variable {
            put_u16(cell, 2, rest.len() as u16);
            at = 4;
        }
        // Most secondary entries are keys alone.
        if !payload.is_empty() {
            cell[at..at + payload.len()].copy_from_slice(payload);
        }
        copy_short(&mut cell[at + payload.len()..], suffix);
    }

    /// Writes a new cell for the existing slot `slot`; the heap has room.
    pub(crate) fn store_cell(
        &mut self,
        slot: usize,
        len: usize,
        key: &[u8],
        payload: &[u8],
        flags: SlotFlags,
    ) {
        let off = self.take_heap(len);
        let prefix_len = self.as_ref().prefix_len();
        self.write_leaf_cell(off, len, &key[prefix_len..], payload, flags);
        self.put_slot_offset(slot, off);
    }

    /// Writes a payload that is not longer than the old one into the same cell.
    pub(crate) fn shrink_cell(&mut self, slot: usize, old_len: usize, len: usize, payload: &[u8]) {
        let page = self.as_ref();
        let record = page.record(slot);
        let (suffix_len, old_payload) = (record.suffix.len(), record.payload.len());
        let off = usize::from(page.slot_word(slot) & SLOT_OFFSET);
        let at = off + old_len - suffix_len - old_payload;
        self.0[at..at + payload.len()].copy_from_slice(payload);
        if len < old_len {
            self.0.copy_within(off + old_len - suffix_len..off + old_len, off + len - suffix_len);
            self.put_cell_len(off, len);
            self.add_garbage(old_len - len);
        }
    }

    #[inline]
    pub(crate) fn put_cell_len(&mut self, off: usize, len: usize) {
        let begin = get_u16(self.0, off) & CELL_HAS_BEGIN;
        put_u16(self.0, off, len as u16 | begin);
    }

    #[inline]
    pub(crate) fn put_slot_word(&mut self, slot: usize, word: u16) {
        let at = HEADER_BYTES + 4 * self.as_ref().cap() + 2 * slot;
        put_u16(self.0, at, word);
    }

    #[inline]
    pub(crate) fn put_slot_offset(&mut self, slot: usize, off: usize) {
        let word = self.as_ref().slot_word(slot) & SlotFlags::IN_SLOT | off as u16;
        self.put_slot_word(slot, word);
    }

    /// An empty heap without fences; slots and arrays are gone.
    pub(crate) fn reset_heap(&mut self) {
        for field in [COUNT, CAP, GARBAGE] {
            put_u16(self.0, field, 0);
        }
        put_u16(self.0, HEAP_TOP, PAGE_SIZE as u16);
        self.0[HINT_ARRAY..HEADER_BYTES].fill(0);
    }

    /// Stores both fences and the prefix at the end of an empty heap.
    pub(crate) fn store_fences(&mut self, lower: &[u8], upper: Option<&[u8]>, prefix: &[u8]) {
        self.store_fence(LOWER_FENCE, Some(lower));
        self.store_fence(UPPER_FENCE, upper);
        self.store_prefix(prefix);
    }

    /// Sets the prefix: bytes of the lower fence, or bytes of its own.
    pub(crate) fn store_prefix(&mut self, prefix: &[u8]) {
        let off = if prefix.is_empty() {
            0
        } else if own_len(prefix, self.as_ref().lower_fence()) == 0 {
            usize::from(get_u16(self.0, LOWER_FENCE))
        } else {
            let off = self.take_heap(prefix.len());
            self.0[off..off + prefix.len()].copy_from_slice(prefix);
            off
        };
        put_u16(self.0, PREFIX_AT, off as u16);
        put_u16(self.0, PREFIX_LEN, prefix.len() as u16);
    }

    pub(crate) fn store_fence(&mut self, field: usize, fence: Option<&[u8]>) {
        let bytes = fence.unwrap_or(&[]);
        let off = if bytes.is_empty() { 0 } else { self.take_heap(bytes.len()) };
        self.0[off..off + bytes.len()].copy_from_slice(bytes);
        put_u16(self.0, field, off as u16);
        put_u16(self.0, field + 2, fence.map_or(NO_FENCE, |fence| fence.len() as u16));
    }

    /// Writes an inner cell for a key whose bytes beyond the prefix are `rest`; the heap has room. Returns
    /// its offset, 0 if there is nothing to write.
    #[inline]
    pub(crate) fn write_inner_cell(&mut self, rest: &[u8]) -> usize {
        let variable = self.as_ref().fixed_key_len().is_none();
        let suffix = rest.get(HEAD_BYTES..).unwrap_or(&[]);
        let len = suffix.len() + if variable { 2 } else { 0 };
        if len == 0 {
            return 0;
        }
        let off = self.take_heap(len);
        let cell = &mut self.0[off..off + len];
        cell[len - suffix.len()..].copy_from_slice(suffix);
        if variable {
            put_u16(cell, 0, rest.len() as u16);
        }
        off
    }

    pub(crate) fn set_counts(&mut self, count: usize, cap: usize) {
        put_u16(self.0, COUNT, count as u16);
        put_u16(self.0, CAP, cap as u16);
    }

    /// Brings the hints up to date after slot `changed` and all after it moved; `old_count` slots were there
    /// before.
    #[inline]
    pub(crate) fn update_hints(&mut self, changed: usize, old_count: usize) {
        let count = self.as_ref().count();
        if count < HINT_COUNT_MIN {
            return;
        }
        let distance = count / (HINTS + 1);
        let same = old_count >= HINT_COUNT_MIN && old_count / (HINTS + 1) == distance;
        let first = if same { changed.div_ceil(distance).max(1) - 1 } else { 0 };
        let mut slot = (first + 1) * distance;
        for i in first..HINTS {
            let head = self.as_ref().head(slot);
            put_u32(self.0, HINT_ARRAY + HEAD_BYTES * i, head);
            slot += distance;
        }
    }
}
