//! What all keys of a page share: how many bytes are taken off each key, and how a page is encoded again with
//! another prefix.
//!
//! A prefix that the lower fence starts with costs nothing; another one is in the heap on its own.
//! Between the two the choice is the one that makes the page smaller, so that lengthening never needs room. A
//! prefix longer than what the fences share is shortened by the first key that does not have it.

use std::ops::Range;

use base::codec::{get_u16, put_u16, put_u32};

use crate::layout::*;
use crate::page_mut::{FormatPage, PageFull, PageMut};
use crate::page_ref::{PageRef, head_of};

/// What the keys of a page are encoded against.
#[derive(Debug)]
pub(crate) struct KeyFrame<'k> {
    pub(crate) lower: &'k [u8],
    pub(crate) upper: Option<&'k [u8]>,
    /// Shared by all keys of the page.
    pub(crate) prefix: Vec<u8>,
}

/// Keys in ascending order, as far as a prefix depends on them.
struct Keys<'k, Lens> {
    first: &'k [u8],
    last: &'k [u8],
    /// Their lengths, the shortest prefix that will be chosen taken off or not.
    lens: Lens,
}

impl<Lens: Iterator<Item = usize> + Clone> Keys<'_, Lens> {
    /// Length of the prefix that makes the page smallest: what the lower fence shares with the keys, or up to
    /// [`OWN_PREFIX_BYTES_MAX`] bytes on their own where that saves more than they take. At most `limit`.
    fn best_prefix_len(&self, lower: &[u8], limit: usize) -> usize {
        let common = common_len(self.first, self.last).min(limit);
        let free = common_len(self.first, lower).min(common);
        if common.min(OWN_PREFIX_BYTES_MAX) <= free {
            return free;
        }
        let (mut count, mut shortest, mut longest) = (0, usize::MAX, 0);
        for len in self.lens.clone() {
            (count, shortest, longest) = (count + 1, shortest.min(len), longest.max(len));
        }
        // Bytes beyond those that the longest key's head does not hold would save nothing.
        let own = common.min(OWN_PREFIX_BYTES_MAX).min(longest.saturating_sub(HEAD_BYTES));
        if own <= free {
            return free;
        }
        let saved = if shortest >= own + HEAD_BYTES {
            count * (own - free)
        } else {
            self.lens.clone().map(|len| suffix_len(len, free) - suffix_len(len, own)).sum()
        };
        if saved > own { own } else { free }
    }
}

/// Bytes that both start with.
pub(crate) fn common_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[inline]
fn suffix_len(key_len: usize, prefix_len: usize) -> usize {
    key_len.saturating_sub(prefix_len + HEAD_BYTES)
}

/// Heap bytes of a prefix beside the lower fence.
pub(crate) fn own_len(prefix: &[u8], lower: &[u8]) -> usize {
    if lower.starts_with(prefix) { 0 } else { prefix.len() }
}

/// What keys between the fences share, as far as the page may take it off.
pub(crate) fn shared_by_fences<'k>(lower: &'k [u8], upper: Option<&[u8]>, fixed: Option<u16>) -> &'k [u8] {
    let shared = upper.map_or(0, |upper| common_len(lower, upper));
    &lower[..shared.min(prefix_max(fixed))]
}

/// Longest prefix of a page. Fixed keys keep a whole head, so that it is one load. On
/// pages of variable keys a part of the begin ids may belong to it.
fn prefix_max(fixed: Option<u16>) -> usize {
    fixed.map_or(usize::MAX, |len| usize::from(len).saturating_sub(HEAD_BYTES))
}

impl PageRef<'_> {
    /// Slots that have a key of their own.
    fn keyed_slots(self) -> Range<usize> {
        usize::from(!self.is_leaf())..self.count()
    }

    fn key_len(self, slot: usize) -> usize {
        let rest_len = if self.is_leaf() { self.record(slot).rest_len } else { self.inner_rest(slot).0 };
        self.prefix_len() + rest_len
    }

    /// The best encoding of the page's keys between these fences, `pending` counted as one of them.
    pub(crate) fn best_frame<'k>(
        self,
        lower: &'k [u8],
        upper: Option<&'k [u8]>,
        pending: Option<&[u8]>,
    ) -> KeyFrame<'k> {
        let slots = self.keyed_slots();
        if slots.is_empty() {
            let shared = shared_by_fences(lower, upper, self.fixed_key_len());
            return KeyFrame { lower, upper, prefix: shared.to_vec() };
        }
        let (mut first, last) = (self.key(slots.start), self.key(slots.end - 1));
        let lens = slots.map(|slot| self.key_len(slot));
        let limit =
            pending.map_or(usize::MAX, |key| common_len(&first, key)).min(prefix_max(self.fixed_key_len()));
        let len = Keys { first: &first, last: &last, lens }.best_prefix_len(lower, limit);
        first.truncate(len);
        KeyFrame { lower, upper, prefix: first }
    }

    /// Whether the page's slots fit in a page when they are encoded like this.
    pub(crate) fn fits_frame(self, frame: &KeyFrame<'_>) -> bool {
        let (old_len, new_len) = (self.prefix_len(), frame.prefix.len());
        let cells: usize = (0..self.count()).map(|slot| self.cell_len_at(slot)).sum();
        let lens = || self.keyed_slots().map(|slot| self.key_len(slot));
        let old_suffixes: usize = lens().map(|len| suffix_len(len, old_len)).sum();
        let new_suffixes: usize = lens().map(|len| suffix_len(len, new_len)).sum();
        let fences = frame.lower.len() + frame.upper.map_or(0, <[u8]>::len);
        let heap = fences + own_len(&frame.prefix, frame.lower) + cells - old_suffixes + new_suffixes;
        self.arrays_end(even(self.count())) + heap <= PAGE_SIZE
    }

    /// Bytes that the cells of leaf slots take.
    fn cells_len(self, range: Range<usize>) -> usize {
        self.slots_used_bytes(range.clone()) - slot_bytes(true) * range.len()
    }

    /// Bytes that the cells of slots would take on `page`, under its prefix; the first of an inner page has
    /// none.
    fn cells_len_under(self, page: PageRef<'_>, range: Range<usize>) -> usize {
        let first = usize::from(!self.is_leaf());
        let payload_len = |slot| if self.is_leaf() { self.payload(slot).len() } else { 0 };
        range.skip(first).map(|slot| page.cell_len(self.key_len(slot), payload_len(slot))).sum()
    }

    /// Heap bytes of the prefix beside the lower fence.
    pub(crate) fn own_prefix_len(self) -> usize {
        own_len(self.prefix(), self.lower_fence())
    }

    /// How much of the prefix `key` has.
    pub(crate) fn prefix_shared_with(self, key: &[u8]) -> usize {
        common_len(self.prefix(), key)
    }

    /// Bytes by which the page grows when its prefix is cut down to what `key` shares.
    #[cold]
    #[inline(never)]
    pub(crate) fn growth_for(self, key: &[u8]) -> usize {
        let (old_len, new_len) = (self.prefix_len(), self.prefix_shared_with(key));
        let grown: usize = self
            .keyed_slots()
            .map(|slot| self.key_len(slot))
            .map(|len| suffix_len(len, new_len) - suffix_len(len, old_len))
            .sum();
        // A part of the prefix never takes more on its own than the whole.
        (grown + own_len(&self.prefix()[..new_len], self.lower_fence())).saturating_sub(self.own_prefix_len())
    }

    /// Whether a longer prefix is worth a closer look: the keys share another byte, and some have more than a
    /// head.
    pub(crate) fn may_share_more(self) -> bool {
        let slots = self.keyed_slots();
        slots.len() > 1
            && (self.head(slots.start) ^ self.head(slots.end - 1)) >> 24 == 0
            && self.fixed_key_len().is_none_or(|len| usize::from(len) > self.prefix_len() + HEAD_BYTES)
    }
}

impl PageMut<'_> {
    /// Packs live cells at the end of the page, shrinks the arrays to the slots in use, and encodes the keys
    /// in the best way that leaves room for `pending`'s. The cell of `skip` is dropped; its slot stays for
    /// the caller to fill.
    pub(crate) fn compact(&mut self, skip: Option<usize>, pending: Option<&[u8]>) {
        let old = *self.0;
        let old = PageRef(&old);
        let (lower, upper) = (old.lower_fence(), old.upper_fence());
        let frame = if old.may_share_more() {
            old.best_frame(lower, upper, pending)
        } else {
            KeyFrame { lower, upper, prefix: old.prefix().to_vec() }
        };
        self.rebuild(old, &frame, skip);
    }

    /// Cuts the prefix down to what `key` shares; the caller knows that this fits.
    #[cold]
    #[inline(never)]
    pub(crate) fn shorten_prefix(&mut self, key: &[u8]) {
        let old = *self.0;
        let old = PageRef(&old);
        let prefix = old.prefix()[..old.prefix_shared_with(key)].to_vec();
        self.rebuild(old, &KeyFrame { lower: old.lower_fence(), upper: old.upper_fence(), prefix }, None);
    }

    /// Lengthens the prefix if that saves room, `pending` counted as one of the keys.
    #[cold]
    #[inline(never)]
    pub(crate) fn lengthen_prefix(&mut self, pending: &[u8]) {
        let page = self.as_ref();
        let frame = page.best_frame(page.lower_fence(), page.upper_fence(), Some(pending));
        if frame.prefix.len() > page.prefix_len() {
            let (prefix, old) = (frame.prefix, *self.0);
            let old = PageRef(&old);
            self.rebuild(old, &KeyFrame { lower: old.lower_fence(), upper: old.upper_fence(), prefix }, None);
        }
    }

    /// Chooses the prefix of a page that has no keys yet for those to come, `first` to `last` with lengths
    /// `lens`.
    pub(crate) fn expect_keys(
        &mut self,
        first: &[u8],
        last: &[u8],
        lens: impl Iterator<Item = usize> + Clone,
    ) -> Result<(), PageFull> {
        let page = self.as_ref();
        debug_assert!(page.keyed_slots().is_empty(), "keys are encoded with the prefix they came under");
        let len =
            Keys { first, last, lens }.best_prefix_len(page.lower_fence(), prefix_max(page.fixed_key_len()));
        if page.prefix() == &first[..len] {
            return Ok(());
        }
        let own = own_len(&first[..len], page.lower_fence());
        if page.arrays_end(page.cap()) + own > page.heap_top() {
            return Err(PageFull);
        }
        self.add_garbage(page.own_prefix_len());
        self.store_prefix(&first[..len]);
        Ok(())
    }

    /// Writes the slots of `old`, the page as it was, encoded against `frame`, which they fit. The cell of
    /// `skip` is left out.
    pub(crate) fn rebuild(&mut self, old: PageRef<'_>, frame: &KeyFrame<'_>, skip: Option<usize>) {
        self.0[HEADER_BYTES..].fill(0);
        self.reset_heap();
        self.store_fences(frame.lower, frame.upper, &frame.prefix);
        self.set_counts(old.count(), even(old.count()));
        let same = frame.prefix.len() == old.prefix_len();
        if same && old.is_leaf() {
            self.copy_records(old, skip);
            self.update_hints(0, 0);
            return;
        }
        let mut key = Vec::new();
        for slot in 0..old.count() {
            let skip = skip == Some(slot);
            if same {
                self.copy_slot(old, slot, skip);
            } else {
                key.clear();
                if old.is_leaf() || slot > 0 {
                    old.append_key(slot, &mut key);
                }
                self.encode_slot(slot, old, slot, &key, skip);
            }
        }
        self.update_hints(0, 0);
    }

    /// [`PageMut::format`], and the slots `range` of `old`, a page of the same kind whose highest transaction
    /// id comes with them. The same page as from appending them one by one, but that its arrays have no room
    /// to spare. Cost: about 30 instructions for a record whose cell stays as it is. After [`PageFull`] the
    /// page is good for nothing.
    pub fn format_with(
        &mut self,
        start: &FormatPage<'_>,
        old: PageRef<'_>,
        range: Range<usize>,
    ) -> Result<(), PageFull> {
        debug_assert_eq!((start.level, start.fixed_key_len), (old.level(), old.fixed_key_len()), "one kind");
        self.format(start);
        self.set_trx_max(old.trx_max());
        let keyed = range.start + usize::from(!old.is_leaf())..range.end;
        if !keyed.is_empty() {
            let (first, last) = (old.key(keyed.start), old.key(keyed.end - 1));
            self.expect_keys(&first, &last, keyed.map(|slot| old.key_len(slot)))?;
        }
        let page = self.as_ref();
        let same = old.is_leaf() && page.prefix_len() == old.prefix_len();
        let cells =
            if same { old.cells_len(range.clone()) } else { old.cells_len_under(page, range.clone()) };
        if page.arrays_end(even(range.len())) + cells > page.heap_top() {
            return Err(PageFull);
        }
        self.set_counts(range.len(), even(range.len()));
        if same {
            self.copy_heads(old, range.clone());
            let mut top = self.as_ref().heap_top();
            self.copy_cells(old, range, HEADER_BYTES + 4 * self.as_ref().cap(), &mut top);
            put_u16(self.0, HEAP_TOP, top as u16);
        } else {
            let mut key = Vec::new();
            for (slot, from) in range.enumerate() {
                key.clear();
                if old.is_leaf() || slot > 0 {
                    old.append_key(from, &mut key);
                }
                self.encode_slot(slot, old, from, &key, false);
            }
        }
        self.update_hints(0, 0);
        Ok(())
    }

    /// Fills all slots with those of `old`, a leaf with the same prefix: [`PageMut::copy_slot`] of each.
    fn copy_records(&mut self, old: PageRef<'_>, skip: Option<usize>) {
        let count = old.count();
        self.copy_heads(old, 0..count);
        let slots_from = HEADER_BYTES + 4 * self.as_ref().cap();
        let mut top = self.as_ref().heap_top();
        let skipped = skip.unwrap_or(count);
        self.copy_cells(old, 0..skipped, slots_from, &mut top);
        if skipped < count {
            let marks = old.slot_word(skipped) & SlotFlags::IN_SLOT;
            put_u16(self.0, slots_from + 2 * skipped, marks);
            self.copy_cells(old, skipped + 1..count, slots_from + 2 * (skipped + 1), &mut top);
        }
        put_u16(self.0, HEAP_TOP, top as u16);
    }

    /// Copies the heads of `slots` to the front.
    fn copy_heads(&mut self, old: PageRef<'_>, slots: Range<usize>) {
        let [from, to] = [slots.start, slots.end].map(|slot| HEADER_BYTES + HEAD_BYTES * slot);
        self.0[HEADER_BYTES..HEADER_BYTES + to - from].copy_from_slice(&old.0[from..to]);
    }

    /// Copies the cells of `slots` below `top`, which becomes where they begin, and puts their slot words at
    /// `words_at`.
    fn copy_cells(&mut self, old: PageRef<'_>, slots: Range<usize>, words_at: usize, top: &mut usize) {
        let [from, to] = [slots.start, slots.end].map(|slot| HEADER_BYTES + 4 * old.cap() + 2 * slot);
        let (old_words, _) = old.0[from..to].as_chunks();
        let (arrays, heap) = self.0.split_at_mut(words_at + 2 * slots.len());
        let (words, _) = arrays[words_at..].as_chunks_mut();
        let heap_at = PAGE_SIZE - heap.len();
        let mut copy = |run: Range<usize>, top: usize| {
            let at = top - run.len();
            heap[at - heap_at..top - heap_at].copy_from_slice(&old.0[run]);
            at
        };
        // Cells that lie one below the other are copied at once.
        let (mut run, mut run_top) = (0..0, *top);
        for (word, old_word) in words.iter_mut().zip(old_words) {
            let old_word = u16::from_le_bytes(*old_word);
            let begin = usize::from(old_word & SLOT_OFFSET);
            let end = begin + usize::from(get_u16(old.0, begin) & CELL_LEN);
            if end != run.start {
                run_top = copy(run.clone(), run_top);
                run.end = end;
            }
            run.start = begin;
            let off = run_top - (run.end - begin);
            *word = (old_word & SlotFlags::IN_SLOT | off as u16).to_le_bytes();
        }
        *top = copy(run, run_top);
    }

    /// Fills slot `slot` with that of `old`, which has the same prefix.
    fn copy_slot(&mut self, old: PageRef<'_>, slot: usize, skip: bool) {
        let word = old.slot_word(slot);
        let len = if skip { 0 } else { old.cell_len_at(slot) };
        let off = if len == 0 { 0 } else { self.take_heap(len) };
        let from = usize::from(word & SLOT_OFFSET);
        self.0[off..off + len].copy_from_slice(&old.0[from..from + len]);
        put_u32(self.0, HEADER_BYTES + 4 * slot, old.head(slot));
        self.put_slot_word(slot, word & SlotFlags::IN_SLOT | off as u16);
        if !old.is_leaf() {
            self.set_child(slot, old.child(slot));
        }
    }

    /// Fills slot `slot` with the slot `from` of `old`, encoded again; `key` is its key, empty for the first
    /// slot of an inner page.
    fn encode_slot(&mut self, slot: usize, old: PageRef<'_>, from: usize, key: &[u8], skip: bool) {
        let prefix_len = self.as_ref().prefix_len();
        let rest = key.get(prefix_len..).unwrap_or(&[]);
        put_u32(self.0, HEADER_BYTES + 4 * slot, head_of(rest));
        if old.is_leaf() {
            let record = old.record(from);
            let len = self.as_ref().cell_len(key.len(), record.payload.len());
            let off = if skip { 0 } else { self.take_heap(len) };
            if !skip {
                self.write_leaf_cell(off, len, rest, record.payload, record.flags);
            }
            self.put_slot_word(slot, record.flags.bits() & SlotFlags::IN_SLOT | off as u16);
        } else {
            let off = if slot == 0 { 0 } else { self.write_inner_cell(rest) };
            self.put_slot_word(slot, off as u16);
            self.set_child(slot, old.child(from));
        }
    }
}

#[cfg(test)]
mod tests {
    use base::prng::Prng;

    use super::*;
    use crate::op::tests::start;

    #[test]
    fn records_copied_at_once_lie_as_if_copied_one_by_one() {
        let mut prng = Prng::new(3);
        for fixed in [None, Some(6)] {
            let mut bytes: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
            let mut page = PageMut::new(&mut bytes);
            page.format(&start(0, fixed));
            for n in 0..300u32 {
                let key = [&n.to_be_bytes()[..], b"ab"].concat();
                page.append(&key, &vec![n as u8; prng.below(40) as usize], SlotFlags::NONE).unwrap();
            }
            for _ in 0..100 {
                page.remove(prng.below(page.as_ref().count() as u64) as usize);
            }
            let old = *page.0;
            let old = PageRef(&old);
            for skip in [None, Some(0), Some(77), Some(old.count() - 1)] {
                page.0.copy_from_slice(old.0);
                page.compact(skip, None);
                let (at_once, count) = (*page.0, old.count());
                page.0[HEADER_BYTES..].fill(0);
                page.reset_heap();
                page.store_fences(old.lower_fence(), old.upper_fence(), old.prefix());
                page.set_counts(count, even(count));
                (0..count).for_each(|slot| page.copy_slot(old, slot, skip == Some(slot)));
                page.update_hints(0, 0);
                assert!(*page.0 == at_once, "{fixed:?}, {skip:?}");
            }
        }
    }
}
