//! Store functions: the only way page bytes change.

use base::codec::{copy_short, get_u16, get_u48, put_u16, put_u32, put_u64};
use base::{IndexId, Lsn, PageNo, ROW_HEADER_BYTES, TrxId};

use crate::layout::*;
use crate::page_ref::{PageRef, begin_of, head_of};
use crate::prefix::shared_by_fences;

/// A page that may be changed. The caller holds it exclusively.
///
/// Store functions leave the page as it was when they answer [`PageFull`]. What they write depends on the
/// page's bytes and their arguments alone, so that redo repeats them byte for byte.
pub struct PageMut<'a>(pub(crate) &'a mut PageBytes);

/// The record does not fit; the page is unchanged and must be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFull;

/// What a new B-tree page starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatPage<'k> {
    /// The page's own number.
    pub page_no: PageNo,
    /// Level, 0 = leaf.
    pub level: u8,
    /// The tree.
    pub index_id: IndexId,
    /// How often the page number was given out.
    pub version: u32,
    /// Row format version of the records to come.
    pub format_version: u16,
    /// Length of every key without its begin id, if the tree's keys have one length.
    pub fixed_key_len: Option<u16>,
    /// Inclusive lower bound; empty = none.
    pub lower: &'k [u8],
    /// Exclusive upper bound.
    pub upper: Option<&'k [u8]>,
    /// Right sibling.
    pub right: PageNo,
}

impl<'a> PageMut<'a> {
    /// The page in `bytes`.
    #[inline]
    pub fn new(bytes: &'a mut PageBytes) -> Self {
        PageMut(bytes)
    }

    /// The same page, read only.
    #[inline]
    pub fn as_ref(&self) -> PageRef<'_> {
        PageRef(self.0)
    }

    /// Makes an empty B-tree page; the whole page is written, the LSN becomes 0.
    pub fn format(&mut self, start: &FormatPage<'_>) {
        debug_assert!(start.lower.len() <= KEY_BYTES_MAX, "lower fence of {} bytes", start.lower.len());
        self.format_common(start.page_no, PageType::BTree, start.index_id, start.version);
        self.0[LEVEL] = start.level;
        put_u16(self.0, FORMAT_VERSION, start.format_version);
        put_u32(self.0, RIGHT, start.right.0);
        put_u16(self.0, FIXED_KEY_LEN, start.fixed_key_len.unwrap_or(0));
        put_u16(self.0, HEAP_TOP, PAGE_SIZE as u16);
        let shared = shared_by_fences(start.lower, start.upper, start.fixed_key_len);
        self.store_fences(start.lower, start.upper, shared);
    }

    /// Makes an all-zero page with the header that every type has.
    pub fn format_common(&mut self, page_no: PageNo, page_type: PageType, index_id: IndexId, version: u32) {
        self.0.fill(0);
        put_u32(self.0, PAGE_NO, page_no.0);
        self.0[PAGE_TYPE] = page_type as u8;
        put_u32(self.0, INDEX_ID, index_id.0);
        put_u32(self.0, VERSION, version);
    }

    /// Replaces the whole page.
    pub(crate) fn copy_from(&mut self, image: &PageBytes) {
        self.0.copy_from_slice(image);
    }

    /// Sets the LSN of the last change.
    #[inline]
    pub fn set_lsn(&mut self, lsn: Lsn) {
        put_u64(self.0, PAGE_LSN, lsn.0);
    }

    /// Sets the right sibling.
    pub fn set_right(&mut self, right: PageNo) {
        put_u32(self.0, RIGHT, right.0);
    }

    /// Raises the highest transaction id that changed a record here; a lower one changes nothing.
    #[inline]
    pub fn raise_trx_max(&mut self, trx: TrxId) {
        if trx > self.as_ref().trx_max() {
            put_u64(self.0, TRX_MAX, trx.0);
        }
    }

    /// Sets the highest transaction id.
    pub(crate) fn set_trx_max(&mut self, trx: TrxId) {
        put_u64(self.0, TRX_MAX, trx.0);
    }

    /// Inserts a leaf record so that it becomes `slot`; the caller got the slot from a search. `HAS_BEGIN` in
    /// `flags` says that `key` ends with a begin id, which raises the page's highest transaction id.
    pub fn insert(
        &mut self,
        slot: usize,
        key: &[u8],
        payload: &[u8],
        flags: SlotFlags,
    ) -> Result<(), PageFull> {
        self.debug_check_key(slot, key, flags);
        debug_assert!(self.as_ref().is_leaf(), "records belong on leaves");
        let len = match self.as_ref().cell_with_room(slot, key, payload.len()) {
            Some(len) => len,
            None => self.make_room(key, payload.len())?,
        };
        let off = self.take_heap(len);
        let rest = &key[self.as_ref().prefix_len()..];
        self.write_leaf_cell(off, len, rest, payload, flags);
        self.open_slot(slot, head_of(rest), off as u16 | flags.bits() & SlotFlags::IN_SLOT, None);
        if flags.has_begin()
            && let Some(begin) = begin_of(key)
        {
            self.raise_trx_max(begin);
        }
        Ok(())
    }

    /// Inserts a separator and its child so that they become `slot`. The key of slot 0 is not stored: pass
    /// the lower fence.
    pub(crate) fn insert_child(&mut self, slot: usize, key: &[u8], child: PageNo) -> Result<(), PageFull> {
        let page = self.as_ref();
        debug_assert!(!page.is_leaf(), "children belong on inner pages");
        if slot == 0 {
            debug_assert!(page.count() == 0, "slot 0 of an inner page is never pushed aside");
            self.make_room_for_first_child()?;
            self.open_slot(0, 0, 0, Some(child));
            return Ok(());
        }
        self.debug_check_key(slot, key, SlotFlags::NONE);
        self.make_room(key, 0)?;
        let rest = &key[self.as_ref().prefix_len()..];
        let off = self.write_inner_cell(rest);
        self.open_slot(slot, head_of(rest), off as u16, Some(child));
        Ok(())
    }

    /// Inserts after the last record. Cost: no array entry moves.
    #[inline]
    pub fn append(&mut self, key: &[u8], payload: &[u8], flags: SlotFlags) -> Result<(), PageFull> {
        self.insert(self.as_ref().count(), key, payload, flags)
    }

    /// [`PageMut::append`] that leaves the hints as they are, perhaps wrong: the caller brings them up to
    /// date after its last record. It has chosen the prefix for all of its records.
    pub(crate) fn append_without_hints(
        &mut self,
        key: &[u8],
        payload: &[u8],
        flags: SlotFlags,
    ) -> Result<(), PageFull> {
        let page = self.as_ref();
        let slot = page.count();
        self.debug_check_key(slot, key, flags);
        let Some(len) = page.cell_under_prefix(slot, key, payload.len()) else {
            return self.insert(slot, key, payload, flags);
        };
        let rest = &key[page.prefix_len()..];
        let off = self.take_heap(len);
        self.write_leaf_cell(off, len, rest, payload, flags);
        put_u32(self.0, HEADER_BYTES + HEAD_BYTES * slot, head_of(rest));
        self.put_slot_word(slot, off as u16 | flags.bits() & SlotFlags::IN_SLOT);
        put_u16(self.0, COUNT, (slot + 1) as u16);
        if flags.has_begin()
            && let Some(begin) = begin_of(key)
        {
            self.raise_trx_max(begin);
        }
        Ok(())
    }

    /// Removes the record or separator at `slot`. On an inner page the separator that becomes slot 0 loses
    /// its key: the caller sees to it that the page's lower fence is right.
    pub fn remove(&mut self, slot: usize) {
        debug_assert!(slot < self.as_ref().count(), "slot {slot} of {}", self.as_ref().count());
        self.release_cell(slot);
        let page = self.as_ref();
        let (count, cap, inner) = (page.count(), page.cap(), !page.is_leaf());
        if inner && slot == 0 && count > 1 {
            // While it is known to have a cell.
            self.release_cell(1);
        }
        let (heads, slots, children) = (HEADER_BYTES, HEADER_BYTES + 4 * cap, HEADER_BYTES + 6 * cap);
        self.0.copy_within(heads + 4 * (slot + 1)..heads + 4 * count, heads + 4 * slot);
        self.0.copy_within(slots + 2 * (slot + 1)..slots + 2 * count, slots + 2 * slot);
        if inner {
            self.0.copy_within(children + 4 * (slot + 1)..children + 4 * count, children + 4 * slot);
        }
        put_u16(self.0, COUNT, (count - 1) as u16);
        if inner && slot == 0 && count > 1 {
            put_u32(self.0, heads, 0);
            put_u16(self.0, slots, 0);
        }
        self.update_hints(slot, count);
    }

    /// Removes all slots from `from` on.
    pub fn truncate(&mut self, from: usize) {
        let count = self.as_ref().count();
        for slot in (from..count).rev() {
            self.release_cell(slot);
        }
        put_u16(self.0, COUNT, from.min(count) as u16);
        self.update_hints(from, count);
    }

    /// Replaces the payload at `slot`; key and marks stay.
    pub fn replace_payload(&mut self, slot: usize, payload: &[u8]) -> Result<(), PageFull> {
        let page = self.as_ref();
        let record = page.record(slot);
        let (old_len, key_len) = (page.cell_len_at(slot), record.key_len());
        let len = page.cell_len(key_len, payload.len());
        if len <= old_len {
            self.shrink_cell(slot, old_len, len, payload);
            return Ok(());
        }
        let arrays_end = page.arrays_end(page.cap());
        if arrays_end + len > page.heap_top() {
            let shrunk_end = page.arrays_end(even(page.count()));
            if shrunk_end + len > page.heap_top() + page.garbage() + old_len {
                return Err(PageFull);
            }
            let key = page.key(slot);
            let flags = page.flags(slot);
            self.compact(Some(slot), None);
            let len = self.as_ref().cell_len(key.len(), payload.len());
            self.store_cell(slot, len, &key, payload, flags);
            return Ok(());
        }
        let off = usize::from(page.slot_word(slot) & SLOT_OFFSET);
        let skip = old_len - record.payload.len() - record.suffix.len();
        let (suffix_from, suffix_len) = (off + old_len - record.suffix.len(), record.suffix.len());
        let new_off = self.take_heap(len);
        self.0.copy_within(off..off + skip, new_off);
        self.0.copy_within(suffix_from..suffix_from + suffix_len, new_off + len - suffix_len);
        self.0[new_off + skip..new_off + skip + payload.len()].copy_from_slice(payload);
        self.put_cell_len(new_off, len);
        self.add_garbage(old_len);
        self.put_slot_offset(slot, new_off);
        Ok(())
    }

    /// Overwrites payload bytes of the record at `slot`, from byte `offset` of the payload on.
    #[inline]
    pub fn patch(&mut self, slot: usize, offset: usize, bytes: &[u8]) {
        let page = self.as_ref();
        let payload = page.record(slot).payload;
        debug_assert!(offset + bytes.len() <= payload.len(), "patch beyond the payload");
        let skip = if page.fixed_key_len().is_some() { 2 } else { 4 };
        let from = usize::from(page.slot_word(slot) & SLOT_OFFSET) + skip + offset;
        self.0[from..from + bytes.len()].copy_from_slice(bytes);
    }

    /// Gives the clustered record at `slot` another header, and other payload bytes from `offset` on.
    #[inline]
    pub(crate) fn patch_row(
        &mut self,
        slot: usize,
        header: &[u8; ROW_HEADER_BYTES],
        offset: usize,
        bytes: &[u8],
    ) {
        let page = self.as_ref();
        debug_assert!(offset + bytes.len() <= page.record(slot).payload.len(), "patch beyond the payload");
        let skip = if page.fixed_key_len().is_some() { 2 } else { 4 };
        let from = usize::from(page.slot_word(slot) & SLOT_OFFSET) + skip;
        self.0[from..from + header.len()].copy_from_slice(header);
        copy_short(&mut self.0[from + offset..from + offset + bytes.len()], bytes);
        self.raise_trx_max(TrxId(get_u48(header, 0)));
    }

    /// Sets the changeable marks of the record at `slot`; `HAS_BEGIN` is ignored, it belongs to the key.
    #[inline]
    pub fn set_flags(&mut self, slot: usize, flags: SlotFlags) {
        let word = self.as_ref().slot_word(slot) & SLOT_OFFSET | flags.bits() & SlotFlags::IN_SLOT;
        self.put_slot_word(slot, word);
    }

    /// Closes the secondary entry at `slot`: `trx` goes before its payload, `DELETED` and `HAS_END` are set.
    /// An entry that has an end id gets the new one. Raises the page's highest transaction id.
    #[inline]
    pub fn close(&mut self, slot: usize, trx: TrxId) -> Result<(), PageFull> {
        let mut id = [0; TRX_ID_BYTES];
        id.copy_from_slice(&trx.0.to_le_bytes()[..TRX_ID_BYTES]);
        if self.as_ref().has_end(slot) {
            self.patch(slot, 0, &id);
        } else if !self.put_end_id(slot, &id) {
            let payload = [&id[..], self.as_ref().payload(slot)].concat();
            self.replace_payload(slot, &payload)?;
            self.set_flags(slot, SlotFlags::DELETED.with(SlotFlags::HAS_END));
        }
        self.raise_trx_max(trx);
        Ok(())
    }

    /// Closes the open entry at `slot` if the heap has room as it is, as [`PageMut::replace_payload`] and
    /// [`PageMut::set_flags`] would. False: nothing has happened.
    #[inline]
    fn put_end_id(&mut self, slot: usize, id: &[u8; TRX_ID_BYTES]) -> bool {
        let page = self.as_ref();
        let off = usize::from(page.slot_word(slot) & SLOT_OFFSET);
        let word = get_u16(self.0, off);
        let old_len = usize::from(word & CELL_LEN);
        let len = old_len + id.len();
        if page.arrays_end(page.cap()) + len > page.heap_top() {
            return false;
        }
        let skip = if page.fixed_key_len().is_some() { 2 } else { 4 };
        let new_off = self.take_heap(len);
        let (heap, old) = self.0.split_at_mut(off);
        let cell = &mut heap[new_off..new_off + len];
        put_u16(cell, 0, len as u16 | word & CELL_HAS_BEGIN);
        if skip == 4 {
            put_u16(cell, 2, get_u16(old, 2));
        }
        cell[skip..skip + id.len()].copy_from_slice(id);
        copy_short(&mut cell[skip + id.len()..], &old[skip..old_len]);
        self.add_garbage(old_len);
        let marks = SlotFlags::DELETED.with(SlotFlags::HAS_END);
        self.put_slot_word(slot, new_off as u16 | marks.bits() & SlotFlags::IN_SLOT);
        true
    }

    /// Marks the row at `slot` as deleted by the transaction of `header`, which becomes its row header.
    #[inline]
    pub fn delete_row(&mut self, slot: usize, header: &[u8; ROW_HEADER_BYTES]) {
        self.patch(slot, 0, header);
        self.set_flags(slot, SlotFlags::DELETED);
        self.raise_trx_max(TrxId(get_u48(header, 0)));
    }

    /// Takes back a close: the end id goes, `DELETED` and `HAS_END` are cleared.
    pub fn reopen(&mut self, slot: usize) {
        debug_assert!(self.as_ref().flags(slot).has_end(), "slot {slot} is not closed");
        let payload = self.as_ref().payload(slot)[TRX_ID_BYTES..].to_vec();
        let shrunk = self.replace_payload(slot, &payload);
        debug_assert!(shrunk.is_ok(), "a shorter payload did not fit");
        self.set_flags(slot, SlotFlags::NONE);
    }

    /// Overwrites bytes of a page that is not a B-tree page; its type's own module says what is where.
    pub(crate) fn write_bytes(&mut self, offset: usize, bytes: &[u8]) {
        debug_assert!(offset >= COMMON_HEADER_BYTES && self.as_ref().page_type() != PageType::BTree);
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// Replaces the page by an image; the bytes between `low` and `high` become 0.
    pub(crate) fn restore_image(&mut self, low: &[u8], high: &[u8]) {
        let high_from = PAGE_SIZE - high.len();
        self.0[..low.len()].copy_from_slice(low);
        self.0[low.len()..high_from].fill(0);
        self.0[high_from..].copy_from_slice(high);
    }

    /// Sets the child at `slot` of an inner page.
    pub(crate) fn set_child(&mut self, slot: usize, child: PageNo) {
        debug_assert!(!self.as_ref().is_leaf() && slot < self.as_ref().count(), "no child {slot}");
        let at = HEADER_BYTES + 6 * self.as_ref().cap() + 4 * slot;
        put_u32(self.0, at, child.0);
    }

    /// Squeezes dead cells out, and lengthens the prefix if that saves room.
    pub(crate) fn reorganize(&mut self) {
        self.compact(None, None);
    }

    /// Gives the page new bounds and lengthens the prefix if that saves room. All keys must lie within the
    /// bounds.
    pub(crate) fn set_fences(&mut self, lower: &[u8], upper: Option<&[u8]>) -> Result<(), PageFull> {
        let page = self.as_ref();
        if page.lower_fence() == lower && page.upper_fence() == upper {
            return Ok(());
        }
        let frame = page.best_frame(lower, upper, None);
        let same = page.lower_fence() == lower && page.prefix() == frame.prefix;
        if same && page.arrays_end(page.cap()) + upper.map_or(0, <[u8]>::len) <= page.heap_top() {
            self.add_garbage(page.upper_fence().map_or(0, <[u8]>::len));
            self.store_fence(UPPER_FENCE, upper);
            return Ok(());
        }
        if !page.fits_frame(&frame) {
            return Err(PageFull);
        }
        let old = *self.0;
        self.rebuild(PageRef(&old), &frame, None);
        Ok(())
    }

    #[inline]
    fn debug_check_key(&self, slot: usize, key: &[u8], flags: SlotFlags) {
        let page = self.as_ref();
        debug_assert!(slot <= page.count(), "slot {slot} of {}", page.count());
        debug_assert!(key.len() <= KEY_BYTES_MAX, "key of {} bytes", key.len());
        debug_assert!(page.covers(key), "key outside the page's fences");
        debug_assert!(
            page.fixed_key_len().is_none_or(
                |len| key.len() == usize::from(len) + if flags.has_begin() { TRX_ID_BYTES } else { 0 }
            ),
            "key of {} bytes on a page of fixed keys",
            key.len()
        );
    }
}
