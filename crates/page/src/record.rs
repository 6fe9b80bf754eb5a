//! One leaf record, taken apart: where its key bytes and its payload lie.

use base::codec::{get_u16, push_start};

use crate::layout::{
    CELL_HAS_BEGIN, CELL_LEN, HEAD_BYTES, HEADER_BYTES, PageBytes, SLOT_OFFSET, SlotFlags, TRX_ID_BYTES,
};
use crate::page_ref::{load_u16, load_u32};
use crate::search::is_equal;

/// A leaf record in place. The key is `prefix`, then the head's bytes, then `suffix`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub(crate) prefix: &'a [u8],
    pub(crate) head: u32,
    /// Key length beyond the prefix, to distinguish a head with fewer than 4 bytes from one padded with
    /// zeros.
    pub(crate) rest_len: usize,
    pub(crate) suffix: &'a [u8],
    pub(crate) payload: &'a [u8],
    pub(crate) flags: SlotFlags,
}

/// A leaf's records.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    pub(crate) bytes: &'a PageBytes,
    pub(crate) prefix: &'a [u8],
    /// Where the slot array is.
    pub(crate) slots_from: usize,
    /// Key length beyond the prefix and without a begin id, if all keys have one.
    pub(crate) rest_len: Option<usize>,
}

impl<'a> Records<'a> {
    /// The record at `slot`, below the page's count. Cost: about 25 instructions.
    #[inline(always)]
    pub fn get(&self, slot: usize) -> Record<'a> {
        let word = load_u16(self.bytes, self.slots_from + 2 * slot);
        let off = usize::from(word & SLOT_OFFSET);
        let cell_word = get_u16(self.bytes, off);
        let cell = &self.bytes[off..off + usize::from(cell_word & CELL_LEN)];
        let begin = cell_word & CELL_HAS_BEGIN;
        let (rest_len, skip) = match self.rest_len {
            Some(len) => (len + if begin == 0 { 0 } else { TRX_ID_BYTES }, 2),
            None => (usize::from(get_u16(cell, 2)), 4),
        };
        let (payload, suffix) = cell.split_at(cell.len() - rest_len.saturating_sub(HEAD_BYTES));
        Record {
            prefix: self.prefix,
            head: load_u32(self.bytes, HEADER_BYTES + 4 * slot),
            rest_len,
            suffix,
            payload: &payload[skip..],
            flags: SlotFlags::from_bits(word & SlotFlags::IN_SLOT | begin >> 2),
        }
    }
}

/// What readers of many records read: a record's body, and by its slot the key integers that a [`KeyInt`]
/// reads.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// The page, or whatever else holds the body.
    bytes: &'a [u8],
    /// Where in `bytes` the body begins.
    body_at: u32,
    slot: u32,
}

impl<'a> Cell<'a> {
    /// The cell of the record at `slot`, whose body begins at `body_at` of `bytes`: as
    /// [`Records::append_bodies`] says of the page, or as an older version has it.
    #[inline(always)]
    pub fn new(slot: usize, bytes: &'a [u8], body_at: u32) -> Self {
        Cell { bytes, body_at, slot: slot as u32 }
    }

    /// The record's slot.
    #[inline(always)]
    pub fn slot(self) -> usize {
        self.slot as usize
    }

    /// Where the body begins.
    #[inline(always)]
    pub fn body_at(self) -> u32 {
        self.body_at
    }

    /// The body, and what is after it.
    #[inline(always)]
    pub fn body(self) -> &'a [u8] {
        &self.bytes[self.body_at as usize..]
    }

    /// Bytes `from..to` of the body, which is the payload after an end transaction id.
    #[inline(always)]
    pub fn bytes(&self, from: usize, to: usize) -> &'a [u8] {
        let at = self.body_at as usize;
        &self.bytes[at + from..at + to]
    }

    /// As many bytes of the body as `N`, from `from` on.
    #[inline(always)]
    pub fn chunk<const N: usize>(&self, from: u16) -> [u8; N] {
        let at = self.body_at as usize + usize::from(from);
        let mut chunk = [0; N];
        chunk.copy_from_slice(&self.bytes[at..at + N]);
        chunk
    }

    /// The `width` (1..=4 or 8) bytes from `from` on as a number, the lowest first.
    #[inline(always)]
    pub fn number(&self, from: u16, width: u16) -> u64 {
        match width {
            1 => u64::from(self.chunk::<1>(from)[0]),
            2 => u64::from(u16::from_le_bytes(self.chunk(from))),
            3 => {
                let [a, b, c] = self.chunk(from);
                u64::from(u32::from_le_bytes([a, b, c, 0]))
            }
            4 => u64::from(u32::from_le_bytes(self.chunk(from))),
            _ => u64::from_le_bytes(self.chunk(from)),
        }
    }

    /// Whether `bit` is set.
    #[inline(always)]
    pub fn null_bit(&self, byte: u16, mask: u8) -> bool {
        self.chunk::<1>(byte)[0] & mask != 0
    }
}

/// Slots of a leaf next to each other, in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotRun {
    /// Lowest slot.
    pub start: u32,
    /// One above the highest.
    pub end: u32,
    /// Whether the highest comes first.
    pub backward: bool,
}

impl SlotRun {
    /// Number of slots.
    #[inline]
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The slot at each position below the length.
    #[inline]
    pub fn slots(self) -> impl Fn(usize) -> usize {
        // Backward, position i has slot end - 1 - i, which is end + !i.
        let (base, turn) = if self.backward { (self.end, u32::MAX) } else { (self.start, 0) };
        move |i| base.wrapping_add(i as u32 ^ turn) as usize
    }
}

impl<'a> Records<'a> {
    /// The marks that any of the records at `slots` has in its slot. Cost: half an instruction a record.
    #[inline]
    pub fn marks(&self, slots: std::ops::Range<usize>) -> SlotFlags {
        let words = self.slot_words(slots);
        let word = match words.last_chunk::<16>() {
            // Blocks of eight slots; the last one begins among those of the block before.
            Some(last) => {
                let (blocks, _) = words.as_chunks();
                let word = blocks
                    .iter()
                    .fold(u128::from_le_bytes(*last), |words, block| words | u128::from_le_bytes(*block));
                let word = word as u64 | (word >> 64) as u64;
                let word = word | word >> 32;
                (word | word >> 16) as u16
            }
            None => words.as_chunks().0.iter().fold(0, |words, word| words | u16::from_le_bytes(*word)),
        };
        SlotFlags::from_bits(word & SlotFlags::IN_SLOT)
    }

    /// Appends where on the page the bodies of the records at `slots` begin, which have no other than
    /// `marks`. Cost: about two instructions a record.
    #[inline]
    pub fn append_bodies(&self, slots: std::ops::Range<usize>, marks: SlotFlags, out: &mut Vec<u32>) {
        let (words, _) = self.slot_words(slots).as_chunks();
        let word = |word: &[u8; 2]| u16::from_le_bytes(*word);
        if !marks.contains(SlotFlags::HAS_END) {
            let skip = self.skip();
            out.extend(words.iter().map(|at| u32::from(word(at) & SLOT_OFFSET) + skip));
            return;
        }
        out.extend(words.iter().map(|at| self.body_at(word(at))));
    }

    #[inline]
    fn slot_words(&self, slots: std::ops::Range<usize>) -> &'a [u8] {
        &self.bytes[self.slots_from + 2 * slots.start..self.slots_from + 2 * slots.end]
    }

    /// Bytes before a record's payload.
    #[inline]
    fn skip(&self) -> u32 {
        if self.rest_len.is_some() { 2 } else { 4 }
    }

    /// Where the body of the record with this slot word begins.
    #[inline]
    fn body_at(&self, word: u16) -> u32 {
        let ver = if word & SlotFlags::HAS_END.bits() == 0 { 0 } else { TRX_ID_BYTES as u32 };
        u32::from(word & SLOT_OFFSET) + self.skip() + ver
    }

    /// The cell of the record at `slot`, and how many bytes its body has at most.
    #[inline]
    pub fn cell(&self, slot: usize) -> (Cell<'a>, usize) {
        let word = load_u16(self.bytes, self.slots_from + 2 * slot);
        let off = usize::from(word & SLOT_OFFSET);
        let body_bytes_max = usize::from(get_u16(self.bytes, off) & CELL_LEN);
        (Cell::new(slot, self.bytes, self.body_at(word)), body_bytes_max)
    }

    /// The page.
    #[inline]
    pub fn page(&self) -> &'a [u8] {
        self.bytes
    }

    /// Most bytes of a record's key that are not in its cell.
    #[inline]
    pub fn shared_key_bytes_max(&self) -> usize {
        self.prefix.len() + HEAD_BYTES
    }

    /// A reader of the `width` (1..=8) key bytes at `offset` of these records.
    pub fn key_int(&self, offset: usize, width: usize) -> KeyInt {
        KeyInt::new(self.prefix, offset, width)
    }
}

impl<'a> Record<'a> {
    /// The payload: what a `RowFormat` describes.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The record's marks.
    #[inline]
    pub fn flags(&self) -> SlotFlags {
        self.flags
    }

    /// The same key with another payload and other marks: an older version of the record.
    #[inline]
    pub fn with_payload<'b>(self, payload: &'b [u8], flags: SlotFlags) -> Record<'b>
    where
        'a: 'b,
    {
        Record { payload, flags, ..self }
    }

    /// Copies key and payload to the end of `out`, so that the record outlives its page's latch.
    #[inline]
    pub fn copy_to(&self, out: &mut Vec<u8>) -> RecordCopy {
        let start = out.len();
        out.extend_from_slice(self.prefix);
        out.extend_from_slice(self.suffix);
        out.extend_from_slice(self.payload);
        RecordCopy {
            start,
            prefix_len: self.prefix.len(),
            suffix_len: self.suffix.len(),
            payload_len: self.payload.len(),
            head: self.head,
            rest_len: self.rest_len,
            flags: self.flags,
        }
    }

    /// Bytes in the key.
    #[inline]
    pub fn key_len(&self) -> usize {
        self.prefix.len() + self.rest_len
    }

    /// Appends the whole key to `out`.
    #[inline]
    pub fn append_key(&self, out: &mut Vec<u8>) {
        if !self.prefix.is_empty() {
            out.extend_from_slice(self.prefix);
        }
        push_start(out, &self.head.to_be_bytes(), self.rest_len.min(HEAD_BYTES));
        if !self.suffix.is_empty() {
            out.extend_from_slice(self.suffix);
        }
    }

    /// Appends the begin id at the end of the key, of a record that has one.
    #[inline]
    pub fn append_begin(&self, out: &mut Vec<u8>) {
        debug_assert!(self.flags.has_begin(), "no begin id");
        match self.suffix.last_chunk::<TRX_ID_BYTES>() {
            Some(begin) => out.extend_from_slice(begin),
            None => self.append_key_range(self.key_len() - TRX_ID_BYTES, self.key_len(), out),
        }
    }

    /// The byte at `index` of the key.
    #[inline]
    pub(crate) fn key_byte(&self, index: usize) -> u8 {
        debug_assert!(index < self.key_len(), "key byte {index} of {}", self.key_len());
        match index.checked_sub(self.prefix.len()) {
            None => self.prefix[index],
            Some(rest) if rest < HEAD_BYTES => (self.head >> (24 - 8 * rest)) as u8,
            Some(rest) => self.suffix[rest - HEAD_BYTES],
        }
    }

    /// Appends key bytes `from..to` to `out`.
    pub(crate) fn append_key_range(&self, from: usize, to: usize, out: &mut Vec<u8>) {
        debug_assert!(from <= to && to <= self.key_len(), "key range {from}..{to} of {}", self.key_len());
        let prefix_len = self.prefix.len();
        if from < prefix_len {
            out.extend_from_slice(&self.prefix[from..to.min(prefix_len)]);
        }
        let head_end = prefix_len + HEAD_BYTES;
        if to > prefix_len && from < head_end {
            let head = self.head.to_be_bytes();
            out.extend_from_slice(&head[from.max(prefix_len) - prefix_len..to.min(head_end) - prefix_len]);
        }
        if to > head_end {
            out.extend_from_slice(&self.suffix[from.max(head_end) - head_end..to - head_end]);
        }
    }

    /// Calls `take` with the pieces of the key after its first `skip` bytes, a begin id with them, until it
    /// says false.
    #[inline(always)]
    pub(crate) fn key_pieces(&self, mut skip: usize, mut take: impl FnMut(&[u8]) -> bool) {
        let head = self.head.to_be_bytes();
        for piece in [self.prefix, &head[..self.rest_len.min(HEAD_BYTES)], self.suffix] {
            if !take(piece.get(skip..).unwrap_or_default()) {
                return;
            }
            skip = skip.saturating_sub(piece.len());
        }
    }

    /// Calls `read` with the whole key without its begin id, contiguous. Cost: a copy, on the stack up to 256
    /// bytes.
    #[inline]
    pub fn with_key<R>(&self, read: impl FnOnce(&[u8]) -> R) -> R {
        let len = self.key_len_without_begin();
        let mut small = [0u8; 256];
        if len > small.len() {
            return read(&self.long_key()[..len]);
        }
        // Keys that differ in their begin ids only may share a part of those, too.
        let Some(rest_len) = len.checked_sub(self.prefix.len()) else { return read(&self.prefix[..len]) };
        let (prefix, rest) = small.split_at_mut(self.prefix.len());
        prefix.copy_from_slice(self.prefix);
        let rest = &mut rest[..rest_len];
        let in_head = rest.len().min(HEAD_BYTES);
        rest[..in_head].copy_from_slice(&self.head.to_be_bytes()[..in_head]);
        let in_suffix = rest.len() - in_head;
        rest[in_head..].copy_from_slice(&self.suffix[..in_suffix]);
        read(&small[..len])
    }

    /// Whether the key without a begin id is `key`.
    #[inline]
    pub fn has_key(&self, key: &[u8]) -> bool {
        if self.key_len_without_begin() != key.len() {
            return false;
        }
        let Some((start, rest)) = key.split_at_checked(self.prefix.len()) else {
            return self.prefix.starts_with(key);
        };
        if !is_equal(start, self.prefix) {
            return false;
        }
        match rest.split_first_chunk::<HEAD_BYTES>() {
            Some((head, rest)) => {
                let suffix = self.suffix.get(..rest.len());
                u32::from_be_bytes(*head) == self.head && suffix.is_some_and(|suffix| is_equal(suffix, rest))
            }
            None => self.head.to_be_bytes().starts_with(rest),
        }
    }

    /// Whether the first `len` bytes of the key, which it has, are those of `other`'s. Both are on one leaf.
    /// Cost: about 10 instructions, or a comparison of what is not in the head.
    #[inline]
    pub fn shares_key(&self, other: &Record<'_>, len: usize) -> bool {
        let len = len.saturating_sub(self.prefix.len());
        let differing = self.head ^ other.head;
        match len.checked_sub(HEAD_BYTES) {
            Some(rest) => {
                let suffixes = self.suffix.get(..rest).zip(other.suffix.get(..rest));
                differing == 0 && suffixes.is_some_and(|(own, its)| is_equal(own, its))
            }
            // A head that is not full ends in zeros.
            None => differing.leading_zeros() as usize >= 8 * len && self.rest_len.min(other.rest_len) >= len,
        }
    }

    #[cold]
    fn long_key(&self) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.key_len());
        self.append_key(&mut key);
        key
    }

    /// The `width` (1..=8) key bytes at `offset` as a big-endian integer.
    /// Cost: a few instructions per byte; a scan uses [`KeyInt`], which resolves the prefix once per page.
    #[inline]
    pub fn key_int(&self, offset: usize, width: usize) -> u64 {
        KeyInt::new(self.prefix, offset, width).get(self)
    }

    /// The begin transaction id at the end of a secondary key; 0 when it has none.
    #[inline]
    pub fn begin_trx(&self) -> u64 {
        if self.flags.has_begin() { self.key_int(self.key_len() - 6, 6) } else { 0 }
    }

    /// Key length without the begin transaction id.
    #[inline]
    pub fn key_len_without_begin(&self) -> usize {
        self.key_len() - if self.flags.has_begin() { 6 } else { 0 }
    }
}

/// Where [`Record::copy_to`] put a record.
#[derive(Clone, Copy, Debug)]
pub struct RecordCopy {
    start: usize,
    prefix_len: usize,
    suffix_len: usize,
    payload_len: usize,
    head: u32,
    rest_len: usize,
    flags: SlotFlags,
}

impl RecordCopy {
    /// The record, from the buffer it was copied to.
    #[inline]
    pub fn record(self, bytes: &[u8]) -> Record<'_> {
        let (prefix, rest) = bytes[self.start..].split_at(self.prefix_len);
        let (suffix, rest) = rest.split_at(self.suffix_len);
        Record {
            prefix,
            head: self.head,
            rest_len: self.rest_len,
            suffix,
            payload: &rest[..self.payload_len],
            flags: self.flags,
        }
    }
}

/// Reads one integer key column of all records of a page: what the page's prefix decides is decided once.
#[derive(Clone, Copy, Debug)]
pub struct KeyInt {
    /// Bits that come from the prefix, in place.
    base: u64,
    /// Left shift of the head in a 64-bit window whose low bits are the suffix's.
    head_shift: u32,
    /// Right shift of the head's wanted bits; exclusive with a suffix part.
    head_drop: u32,
    head_mask: u32,
    suffix_from: usize,
    suffix_width: usize,
}

impl KeyInt {
    /// A reader of the `width` (1..=8) key bytes at `offset`, for records that share `prefix`.
    #[inline]
    pub fn new(prefix: &[u8], offset: usize, width: usize) -> KeyInt {
        debug_assert!((1..=8).contains(&width), "integer key part of {width} bytes");
        let end = offset + width;
        let (prefix_len, head_end) = (prefix.len(), prefix.len() + HEAD_BYTES);
        let mut base = 0u64;
        if offset < prefix_len {
            for &byte in &prefix[offset..end.min(prefix_len)] {
                base = base << 8 | u64::from(byte);
            }
            base = base.unbounded_shl(8 * (end - end.min(prefix_len)) as u32);
        }
        let head_from = offset.clamp(prefix_len, head_end) - prefix_len;
        let head_to = end.clamp(prefix_len, head_end) - prefix_len;
        let suffix_from = offset.max(head_end) - head_end;
        let suffix_width = end.max(head_end) - head_end - suffix_from;
        KeyInt {
            base,
            head_shift: 8 * suffix_width as u32,
            head_drop: 8 * (HEAD_BYTES - head_to) as u32,
            head_mask: if head_from < head_to { u32::MAX.unbounded_shr(8 * head_from as u32) } else { 0 },
            suffix_from,
            suffix_width,
        }
    }

    /// The integer of `record`. Cost: about 6 instructions when the key part ends in the prefix or the head.
    #[inline(always)]
    pub fn get(&self, record: &Record<'_>) -> u64 {
        let value = self.in_head(record.head);
        if self.suffix_width == 0 { value } else { value | self.suffix_part(record.suffix) }
    }

    /// As [`KeyInt::get`], of a cell of `records`.
    #[inline(always)]
    pub fn of_cell(&self, records: &Records<'_>, cell: Cell<'_>) -> u64 {
        let slot = cell.slot as usize;
        if self.suffix_width != 0 {
            return self.at_slot(records, slot);
        }
        // The head's bits are the lowest.
        let head = load_u32(records.bytes, HEADER_BYTES + 4 * slot) & self.head_mask;
        self.base | u64::from(head.wrapping_shr(self.head_drop))
    }

    /// As [`KeyInt::of_cell`], where the suffix has a part.
    #[inline(never)]
    fn at_slot(&self, records: &Records<'_>, slot: usize) -> u64 {
        self.get(&records.get(slot))
    }

    #[inline(always)]
    fn in_head(&self, head: u32) -> u64 {
        // Where nothing of the head is wanted the shifts may be as wide as their integers, and the mask is 0.
        let head = u64::from((head & self.head_mask).wrapping_shr(self.head_drop));
        self.base | head.wrapping_shl(self.head_shift)
    }

    #[inline]
    fn suffix_part(&self, suffix: &[u8]) -> u64 {
        let mut value = 0;
        for &byte in &suffix[self.suffix_from..self.suffix_from + self.suffix_width] {
            value = value << 8 | u64::from(byte);
        }
        value
    }
}
