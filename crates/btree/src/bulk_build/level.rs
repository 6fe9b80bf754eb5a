//! The entries that a level of a bulk build has collected for its next page.

use base::codec::{take, take_varint};
use base::{PageNo, ROW_HEADER_BYTES};
use page::{Batch, HEADER_BYTES, PAGE_SIZE, Record, SHORT_KEY_BYTES_MAX, SlotFlags};

use super::leaf_copy::TAKEN_BYTES_MIN;
use crate::separator::{common_prefix_len, shortest};
use crate::tree::KEY_BYTES_MAX;

/// Bytes at which a page counts as full: 15/16, so that a later insertion does not split it at once.
const FILL_BYTES: usize = PAGE_SIZE - PAGE_SIZE / 16;

/// Key bytes that a slot stores as its head; the cell has the rest.
const HEAD_BYTES: usize = 4;
/// Bytes of a record beside payload and key: head, slot, length word.
const RECORD_OVERHEAD: usize = 8;
/// Bytes of a separator beside its key: head, slot, child.
const CHILD_OVERHEAD: usize = 10;
/// Length word of a key, where keys have different lengths.
const KEY_LEN_BYTES: usize = 2;
/// Array entries are made in pairs.
const ARRAY_SLACK: usize = 10;

/// Where a page will be, and its version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) page_no: PageNo,
    pub(super) version: u32,
}

/// The page that a level is filling.
#[derive(Debug)]
pub(super) struct Level {
    /// Where the page will be; none while it may be the only one, which becomes the root.
    pub(super) place: Option<Place>,
    /// Its lower fence.
    pub(super) lower: Vec<u8>,
    /// Its entries as the log takes them.
    batch: Vec<u8>,
    entries: Vec<Entry>,
    /// Page bytes of all entries, no prefix taken off.
    bytes: usize,
    /// Bytes of an entry beside payload and key.
    overhead: usize,
    /// No key is shorter.
    shortest_key: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where it starts in the batch.
    start: u32,
    /// Page bytes of this entry and those before it, no prefix taken off.
    bytes_to_here: u32,
}

impl Level {
    /// The first leaf of a tree whose keys have one length, or not.
    pub(super) fn leaf(has_fixed_keys: bool) -> Self {
        Level::first(RECORD_OVERHEAD + if has_fixed_keys { 0 } else { KEY_LEN_BYTES })
    }

    /// The first page of a level above the leaves.
    pub(super) fn inner() -> Self {
        Level::first(CHILD_OVERHEAD + KEY_LEN_BYTES)
    }

    fn first(overhead: usize) -> Self {
        let (lower, batch, entries) = (Vec::new(), Vec::new(), Vec::new());
        Level { place: None, lower, batch, entries, bytes: 0, overhead, shortest_key: usize::MAX }
    }

    /// An empty page after this one, with about as many entries; 0: unknown.
    pub(super) fn next(&self, place: Place, lower: Vec<u8>, entries: usize) -> Self {
        Level {
            place: Some(place),
            lower,
            batch: Vec::with_capacity(if entries == 0 { 0 } else { PAGE_SIZE }),
            entries: Vec::with_capacity(entries),
            bytes: 0,
            overhead: self.overhead,
            shortest_key: usize::MAX,
        }
    }

    #[inline]
    pub(super) fn push_record(&mut self, key: &[u8], payload: &[u8], flags: SlotFlags) {
        debug_assert!(self.count() == 0 || self.last_key() < key, "keys ascend");
        self.note(key.len(), payload.len());
        Batch::push_record(&mut self.batch, key, payload, flags);
    }

    /// See [`Batch::push_short_key`].
    #[inline(always)]
    pub(super) fn push_short_key(&mut self, key: [u8; SHORT_KEY_BYTES_MAX], len: usize) {
        debug_assert!(self.count() == 0 || self.last_key() < &key[..len], "keys ascend");
        self.note(len, 0);
        Batch::push_short_key(&mut self.batch, key, len);
    }

    /// See [`Batch::push_row`].
    #[inline]
    pub(super) fn push_row(&mut self, record: &Record<'_>, header: &[u8; ROW_HEADER_BYTES]) {
        debug_assert!(self.count() == 0 || record.with_key(|key| self.last_key() < key), "keys ascend");
        self.note(record.key_len(), record.payload().len());
        Batch::push_row(&mut self.batch, record, header);
    }

    pub(super) fn push_child(&mut self, key: &[u8], child: PageNo) {
        debug_assert!(self.count() == 0 || self.last_key() < key, "keys ascend");
        self.note(key.len(), 0);
        Batch::push_child(&mut self.batch, key, child);
    }

    /// Page bytes of an entry, no prefix taken off.
    #[inline]
    fn bytes_of(&self, key_len: usize, payload_len: usize) -> usize {
        self.overhead + payload_len + key_len.saturating_sub(HEAD_BYTES)
    }

    #[inline]
    fn note(&mut self, key_len: usize, payload_len: usize) {
        self.bytes += self.bytes_of(key_len, payload_len);
        self.entries.push(Entry { start: self.batch.len() as u32, bytes_to_here: self.bytes as u32 });
        self.shortest_key = self.shortest_key.min(key_len);
    }

    pub(super) fn count(&self) -> usize {
        self.entries.len()
    }

    /// The key of the last entry, of at least one.
    pub(super) fn last_key(&self) -> &[u8] {
        self.key(self.count() - 1)
    }

    fn bytes_to(&self, count: usize) -> usize {
        count.checked_sub(1).map_or(0, |last| self.entries[last].bytes_to_here as usize)
    }

    /// Whether a closer check is due before a record comes: the page may be full, whatever prefix is taken
    /// off, or the record is large.
    #[inline]
    pub(super) fn may_be_full_for_record(&self, key_len: usize, payload_len: usize) -> bool {
        let whole = HEADER_BYTES + ARRAY_SLACK + self.lower.len() + key_len + self.bytes;
        key_len + payload_len > KEY_BYTES_MAX || whole + self.bytes_of(key_len, payload_len) > FILL_BYTES
    }

    /// Whether little room is wasted if the page is closed now.
    pub(super) fn is_nearly_full(&self) -> bool {
        HEADER_BYTES + self.lower.len() + self.bytes >= TAKEN_BYTES_MIN
    }

    /// Requests a closer check before the next record comes.
    pub(super) fn count_as_full(&mut self) {
        debug_assert!(self.entries.is_empty(), "entries are counted as they come");
        self.bytes = FILL_BYTES;
    }

    /// Takes [`Level::count_as_full`] back.
    pub(super) fn count_as_empty(&mut self) {
        self.bytes = 0;
    }

    /// Whether the page is better closed before a record comes.
    pub(super) fn is_full_for_record(&self, key: &[u8], payload_len: usize) -> bool {
        self.is_full_for(key, self.bytes_of(key.len(), payload_len))
    }

    /// Whether the page is better closed before a separator comes.
    pub(super) fn is_full_for_child(&self, key: &[u8]) -> bool {
        self.is_full_for(key, self.bytes_of(key.len(), 0))
    }

    /// A guess: it counts on an upper fence close after `key`.
    fn is_full_for(&self, key: &[u8], bytes: usize) -> bool {
        let prefix_len = common_prefix_len(&self.lower, key);
        let all = self.size(self.count(), prefix_len, key.len()) + bytes.saturating_sub(prefix_len);
        self.count() > 0 && all > FILL_BYTES
    }

    /// Bytes of a page with the first `count` entries and this much prefix taken off each key, or more where
    /// a key has less than a head beside the prefix.
    fn size(&self, count: usize, prefix_len: usize, upper_len: usize) -> usize {
        let taken_off = prefix_len.min(self.shortest_key.saturating_sub(HEAD_BYTES));
        HEADER_BYTES + ARRAY_SLACK + self.lower.len() + upper_len + self.bytes_to(count) - count * taken_off
    }

    /// Whether the first `count` entries fit in a page below `upper`.
    fn fits(&self, count: usize, upper: Option<&[u8]>) -> bool {
        let (prefix_len, upper_len) =
            upper.map_or((0, 0), |upper| (common_prefix_len(&self.lower, upper), upper.len()));
        self.size(count, prefix_len, upper_len) <= PAGE_SIZE
    }

    /// How many entries go on this page when `upper` is what bounds them all. Fewer than all if the keys
    /// beyond them share less with the lower fence than was hoped for; at least one.
    pub(super) fn count_that_fits(&self, upper: Option<&[u8]>) -> usize {
        if self.fits(self.count(), upper) {
            return self.count();
        }
        // A separator within the page shares at least as much with the lower fence, so some part fits; an
        // even one leaves both halves with room.
        let mut count = self.count() / 2;
        while count > 1 && !self.fits(count, Some(&self.separator_before(count))) {
            count /= 2;
        }
        count.max(1)
    }

    /// The fence between the first `at` entries and the rest.
    pub(super) fn separator_before(&self, at: usize) -> Vec<u8> {
        let (left, right) = (self.key(at - 1), self.key(at));
        shortest(left, right).to_vec()
    }

    /// The key of an entry.
    pub(super) fn key(&self, at: usize) -> &[u8] {
        let mut entry = &self.batch[self.entries[at].start as usize..];
        let len = take_varint(&mut entry);
        len.and_then(|len| take(&mut entry, len as usize)).expect("the batch was made by push")
    }

    /// Takes the first `count` entries out, as a batch. The rest stays, for a page with other fences.
    pub(super) fn split_off_front(&mut self, count: usize) -> Vec<u8> {
        if count == self.count() {
            self.entries.clear();
            self.bytes = 0;
            return std::mem::take(&mut self.batch);
        }
        let (start, bytes) = (self.entries[count].start, self.bytes_to(count));
        let rest = self.batch.split_off(start as usize);
        self.entries.drain(..count);
        self.bytes -= bytes;
        for entry in &mut self.entries {
            entry.start -= start;
            entry.bytes_to_here -= bytes as u32;
        }
        std::mem::replace(&mut self.batch, rest)
    }
}
