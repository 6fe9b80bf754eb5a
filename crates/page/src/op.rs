//! Page operations: every change of a page as a value that can be applied, logged, read back and applied
//! again.
//!
//! One `apply` serves the forward path and recovery. It depends on the page and the operation only, so a page
//! at some LSN plus the operations logged after it is the same page, byte for byte.
//!
//! Encoding: one byte kind, then fields in declaration order. Integers are LEB128; byte strings are a LEB128
//! length and the bytes; an optional byte string has its length plus one, 0 = none. docs/redo_log.md, "Page
//! operations".

use base::codec::{push_short, push_start, push_varint, put_varint};
use base::{IndexId, PageNo, ROW_HEADER_BYTES, TrxId};

use crate::layout::{COMMON_HEADER_BYTES, KEY_BYTES_MAX, PAGE_SIZE, PageType, SlotFlags, TRX_ID_BYTES};
use crate::page_mut::{FormatPage, PageFull, PageMut};
use crate::page_ref::PageRef;
use crate::record::Record;
use crate::row::RowHeader;
use codec::{push_bytes, take_bytes, take_page_no};

pub(crate) use codec::take_record;

mod check;
mod codec;
mod skim;

pub use skim::skim_change;

/// A change of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOp<'a> {
    /// Make an empty B-tree page.
    Format(FormatPage<'a>),
    /// Make an empty page of another type.
    FormatOther {
        /// The page's own number.
        page_no: PageNo,
        /// Its type; not `BTree`.
        page_type: PageType,
        /// Its tree, for off-page values.
        index_id: IndexId,
        /// How often the page number was given out.
        version: u32,
    },
    /// Insert a leaf record.
    Insert {
        /// Slot it becomes.
        slot: u16,
        /// Its marks.
        flags: SlotFlags,
        /// Its whole key.
        key: &'a [u8],
        /// Its payload.
        payload: &'a [u8],
    },
    /// Insert a clustered record without marks.
    InsertRow {
        /// Slot it becomes.
        slot: u16,
        /// Its whole key.
        key: &'a [u8],
        /// Its payload, whose row header names its writer.
        payload: &'a [u8],
    },
    /// Insert a separator.
    InsertChild {
        /// Slot it becomes.
        slot: u16,
        /// Child page.
        child: PageNo,
        /// Its key.
        key: &'a [u8],
    },
    /// Append records or separators.
    Append(Batch<'a>),
    /// Remove a slot.
    Remove {
        /// The slot.
        slot: u16,
    },
    /// Remove all slots from one on.
    Truncate {
        /// First slot to go.
        from: u16,
    },
    /// Replace a payload.
    ReplacePayload {
        /// The slot.
        slot: u16,
        /// New payload.
        payload: &'a [u8],
    },
    /// Overwrite payload bytes.
    Patch {
        /// The slot.
        slot: u16,
        /// First payload byte.
        offset: u16,
        /// New bytes.
        bytes: &'a [u8],
    },
    /// Overwrite header and payload bytes of a clustered record.
    PatchRow(RowPatch<'a>),
    /// Set the marks of a slot.
    SetFlags {
        /// The slot.
        slot: u16,
        /// New marks; `HAS_BEGIN` is ignored.
        flags: SlotFlags,
    },
    /// Close a secondary entry: end id before its payload, `DELETED` and `HAS_END` set.
    Close {
        /// The slot.
        slot: u16,
        /// Who closes it.
        trx: TrxId,
    },
    /// Mark a row as deleted, with a new row header.
    DeleteRow {
        /// The slot.
        slot: u16,
        /// Transaction id and undo pointer.
        header: &'a [u8; ROW_HEADER_BYTES],
    },
    /// Take back a close.
    Reopen {
        /// The slot.
        slot: u16,
    },
    /// Set a child.
    SetChild {
        /// The slot.
        slot: u16,
        /// New child.
        child: PageNo,
    },
    /// Set the right sibling.
    SetRight(PageNo),
    /// Raise the highest transaction id.
    RaiseTrxMax(TrxId),
    /// Give the page new bounds.
    SetFences {
        /// Inclusive lower bound.
        lower: &'a [u8],
        /// Exclusive upper bound.
        upper: Option<&'a [u8]>,
    },
    /// Squeeze dead cells out.
    Reorganize,
    /// The whole page, without the hole between its arrays and its heap.
    Image {
        /// Bytes from the start of the page.
        low: &'a [u8],
        /// Bytes up to the end of the page.
        high: &'a [u8],
    },
    /// Overwrite bytes after the common header of a page that is not a B-tree page.
    WriteBytes {
        /// First byte.
        offset: u16,
        /// New bytes.
        bytes: &'a [u8],
    },
}

/// A new version of a clustered record: a same-length update that overwrites byte ranges of the one before.
/// The highest transaction id of the page becomes at least the writer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPatch<'a> {
    /// The slot.
    pub slot: u16,
    /// First payload byte that differs, after the header.
    pub offset: u16,
    /// The new row header.
    pub header: [u8; ROW_HEADER_BYTES],
    /// New bytes from there on.
    pub bytes: &'a [u8],
}

impl RowPatch<'_> {
    /// As [`PageOp::apply`].
    #[inline]
    pub fn apply(&self, page: &mut PageMut<'_>) -> Result<(), OpError> {
        let view = page.as_ref();
        require(view.page_type() == PageType::BTree)?;
        require_leaf_slot(view, self.slot)?;
        let end = usize::from(self.offset) + self.bytes.len();
        let len = view.payload(self.slot.into()).len();
        require(usize::from(self.offset) >= ROW_HEADER_BYTES && end <= len)?;
        page.patch_row(self.slot.into(), &self.header, self.offset.into(), self.bytes);
        Ok(())
    }
}

/// The close of a secondary entry: [`PageOp::Close`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryClose {
    /// The slot.
    pub slot: u16,
    /// Who closes it.
    pub trx: TrxId,
}

impl EntryClose {
    /// As [`PageOp::apply`].
    #[inline]
    pub fn apply(&self, page: &mut PageMut<'_>) -> Result<(), OpError> {
        let view = page.as_ref();
        require(view.page_type() == PageType::BTree)?;
        require_leaf_slot(view, self.slot)?;
        require_end_id(view, self.slot)?;
        page.close(self.slot.into(), self.trx)?;
        Ok(())
    }
}

/// A new record of a leaf: [`PageOp::Insert`], or [`PageOp::InsertRow`] as far as it has no marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafInsert<'a> {
    /// The slot it becomes.
    pub slot: u16,
    /// Its marks; `None`: it is a row, and the highest transaction id of the page becomes at least its
    /// writer's.
    pub flags: Option<SlotFlags>,
    /// Its whole key.
    pub key: &'a [u8],
    /// Its payload.
    pub payload: &'a [u8],
}

impl LeafInsert<'_> {
    /// As [`PageOp::apply`].
    #[inline]
    pub fn apply(&self, page: &mut PageMut<'_>) -> Result<(), OpError> {
        let (view, flags) = (page.as_ref(), self.flags.unwrap_or(SlotFlags::NONE));
        require(view.page_type() == PageType::BTree)?;
        require_insert(view, self.slot.into(), self.key, flags, true)?;
        require(self.flags.is_some() || self.payload.len() >= ROW_HEADER_BYTES)?;
        page.insert(self.slot.into(), self.key, self.payload, flags)?;
        if self.flags.is_none() {
            page.raise_trx_max(RowHeader::decode(self.payload).trx);
        }
        Ok(())
    }
}

/// A row that is marked as deleted: [`PageOp::DeleteRow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowDelete<'a> {
    /// The slot.
    pub slot: u16,
    /// Transaction id and undo pointer.
    pub header: &'a [u8; ROW_HEADER_BYTES],
}

impl RowDelete<'_> {
    /// As [`PageOp::apply`].
    #[inline]
    pub fn apply(&self, page: &mut PageMut<'_>) -> Result<(), OpError> {
        let view = page.as_ref();
        require(view.page_type() == PageType::BTree)?;
        require_leaf_slot(view, self.slot)?;
        require(view.payload(self.slot.into()).len() >= ROW_HEADER_BYTES)?;
        page.delete_row(self.slot.into(), self.header);
        Ok(())
    }
}

/// Why an operation was not applied; the page is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpError {
    /// It does not fit: split the page. In recovery this is a bug or corruption, like all else.
    Full,
    /// The bytes are no operation, or not one that can be applied to this page.
    Malformed,
}

impl From<PageFull> for OpError {
    fn from(_: PageFull) -> Self {
        OpError::Full
    }
}

/// Bytes of a record in a batch beside key and payload: two lengths and marks.
const BATCH_OVERHEAD_MAX: usize = 3 + 1 + 3;

/// Records for [`PageOp::Append`], encoded one after the other: key, then payload and marks (leaf) or child
/// (inner).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch<'a>(pub &'a [u8]);

impl<'a> Batch<'a> {
    /// Appends a leaf record to the batch in `out`.
    pub fn push_record(out: &mut Vec<u8>, key: &[u8], payload: &[u8], flags: SlotFlags) {
        out.reserve(key.len() + payload.len() + BATCH_OVERHEAD_MAX);
        push_varint(out, key.len() as u64);
        push_short(out, key);
        out.push((flags.bits() >> 13) as u8);
        push_varint(out, payload.len() as u64);
        if !payload.is_empty() {
            out.extend_from_slice(payload);
        }
    }

    /// Appends a leaf record that is nothing but the first `len` bytes of `key`, the others of which are
    /// zero, to the batch in `out`.
    #[inline]
    pub fn push_short_key(out: &mut Vec<u8>, key: [u8; SHORT_KEY_BYTES_MAX], len: usize) {
        let mut record = [0; key_alone_record_bytes(SHORT_KEY_BYTES_MAX)];
        record[0] = len as u8;
        record[1..=SHORT_KEY_BYTES_MAX].copy_from_slice(&key);
        push_start(out, &record, key_alone_record_bytes(len));
    }

    /// Appends a clustered record without marks to the batch in `out`: `record` with `header` in place of its
    /// own.
    #[inline]
    pub fn push_row(out: &mut Vec<u8>, record: &Record<'_>, header: &[u8; ROW_HEADER_BYTES]) {
        let (key_len, payload) = (record.key_len(), record.payload);
        out.reserve(key_len + payload.len() + BATCH_OVERHEAD_MAX);
        push_varint(out, key_len as u64);
        record.append_key(out);
        let mut head = [0; 4];
        let end = put_varint(&mut head, 1, payload.len() as u64);
        push_start(out, &head, end);
        out.extend_from_slice(header);
        out.extend_from_slice(&payload[ROW_HEADER_BYTES..]);
    }

    /// Appends a separator to the batch in `out`.
    pub fn push_child(out: &mut Vec<u8>, key: &[u8], child: PageNo) {
        push_bytes(out, key);
        push_varint(out, u64::from(child.0));
    }

    /// Appends slots `range` of `page` to the batch in `out`: what a split moves.
    pub fn push_slots(out: &mut Vec<u8>, page: PageRef<'_>, range: std::ops::Range<usize>) {
        if page.is_leaf() {
            let records = page.records();
            for slot in range {
                let record = records.get(slot);
                push_varint(out, record.key_len() as u64);
                record.append_key(out);
                push_varint(out, u64::from(record.flags.bits() >> 13));
                push_bytes(out, record.payload);
            }
            return;
        }
        let mut key = Vec::new();
        for slot in range {
            key.clear();
            page.append_key(slot, &mut key);
            Batch::push_child(out, &key, page.child(slot));
        }
    }

    fn append_to(self, page: &mut PageMut<'_>) -> Result<(), OpError> {
        let before = *page.as_ref().bytes();
        let result = self.append_all(page);
        if result.is_err() {
            page.copy_from(&before);
        }
        result
    }

    /// [`PageOp::Append`] of records that are known to fit. On an error some of them are in the page.
    pub fn append_all(self, page: &mut PageMut<'_>) -> Result<(), OpError> {
        let inner = !page.as_ref().is_leaf();
        if page.as_ref().count() == 0 {
            if let Some(key_len) = page.as_ref().fixed_key_len()
                && let Some(count) = self.count_of_keys_alone(key_len.into())
            {
                self.expect_keys_alone(page, key_len.into(), count)?;
                return self.append_records(page);
            }
            let keys = BatchKeys { rest: self.0, inner }.skip(usize::from(inner));
            let mut count = 0;
            if let (Some(first), Some(last)) =
                (keys.clone().next(), keys.clone().inspect(|_| count += 1).last())
            {
                page.expect_keys(first, last, keys.map(<[u8]>::len))?;
                page.expect_slots(count + usize::from(inner));
            }
        }
        if inner { self.append_children(page) } else { self.append_records(page) }
    }

    /// How many records there are, if each is a key of `key_len` bytes and nothing else.
    fn count_of_keys_alone(self, key_len: usize) -> Option<usize> {
        let (records, rest) = (self.0.chunks_exact(key_alone_record_bytes(key_len)), self.0.len());
        let is_alone = |record| key_alone(record).is_some_and(|key| key.len() == key_len);
        let count = records.len();
        let all =
            count > 0 && rest == count * key_alone_record_bytes(key_len) && records.clone().all(is_alone);
        all.then_some(count)
    }

    /// Chooses prefix and arrays of an empty leaf for `count` keys of `key_len` bytes.
    fn expect_keys_alone(self, page: &mut PageMut<'_>, key_len: usize, count: usize) -> Result<(), OpError> {
        let (first, last) = (&self.0[1..=key_len], &self.0[self.0.len() - 2 - key_len..self.0.len() - 2]);
        page.expect_keys(first, last, std::iter::repeat_n(key_len, count))?;
        page.expect_slots(count);
        Ok(())
    }

    fn append_records(self, page: &mut PageMut<'_>) -> Result<(), OpError> {
        let mut rest = self.0;
        loop {
            page.append_plain(&mut rest);
            if rest.is_empty() {
                break;
            }
            let (key, flags, payload) = take_record(&mut rest).ok_or(OpError::Malformed)?;
            require_insert(page.as_ref(), page.as_ref().count(), key, flags, true)?;
            page.append_without_hints(key, payload, flags)?;
        }
        page.update_hints(0, 0);
        Ok(())
    }

    fn append_children(self, page: &mut PageMut<'_>) -> Result<(), OpError> {
        let mut rest = self.0;
        while !rest.is_empty() {
            let (key, child) = (take_bytes(&mut rest)?, take_page_no(&mut rest)?);
            let slot = page.as_ref().count();
            require_insert(page.as_ref(), slot, key, SlotFlags::NONE, false)?;
            page.insert_child(slot, key, child)?;
        }
        Ok(())
    }
}

/// Bytes of the keys of [`Batch::push_short_key`], at most.
pub const SHORT_KEY_BYTES_MAX: usize = 16;

/// Bytes of a key whose length takes one byte in a batch.
pub(crate) const KEY_ALONE_BYTES_MAX: usize = 0x7f;

/// Bytes of the record of a batch that is a key of `key_len` bytes, at most [`KEY_ALONE_BYTES_MAX`], without
/// marks and payload.
#[inline(always)]
pub(crate) const fn key_alone_record_bytes(key_len: usize) -> usize {
    1 + key_len + 1 + 1
}

/// The key of such a record; `None`: it is another one.
#[inline(always)]
pub(crate) fn key_alone(record: &[u8]) -> Option<&[u8]> {
    let [len, key @ .., 0, 0] = record else { return None };
    (usize::from(*len) == key.len() && key.len() <= KEY_ALONE_BYTES_MAX).then_some(key)
}

/// The keys of a batch; ends at the first one that is malformed.
#[derive(Clone)]
struct BatchKeys<'a> {
    rest: &'a [u8],
    inner: bool,
}

impl<'a> Iterator for BatchKeys<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if !self.inner {
            return Some(take_record(&mut self.rest)?.0);
        }
        let key = take_bytes(&mut self.rest).ok()?;
        take_page_no(&mut self.rest).ok()?;
        Some(key)
    }
}

impl<'a> PageOp<'a> {
    /// The image of `page`.
    pub fn image_of(page: PageRef<'a>) -> PageOp<'a> {
        let (low, high) = match page.page_type() {
            PageType::BTree => (page.arrays_end(page.cap()), page.heap_top()),
            _ => (page.bytes().iter().rposition(|&b| b != 0).map_or(0, |last| last + 1), PAGE_SIZE),
        };
        PageOp::Image { low: &page.bytes()[..low], high: &page.bytes()[high..] }
    }

    /// Whether the operation makes the page again, so that recovery needs no old bytes.
    pub fn is_self_contained(&self) -> bool {
        matches!(self, PageOp::Format(_) | PageOp::FormatOther { .. } | PageOp::Image { .. })
    }

    /// Applies the operation. The caller sets the page's LSN afterwards. Cost: O(1) argument checks beside
    /// the change.
    pub fn apply(&self, page: &mut PageMut<'_>) -> Result<(), OpError> {
        match *self {
            PageOp::Format(start) => {
                require(start.lower.len() <= KEY_BYTES_MAX)?;
                require(start.upper.is_none_or(|upper| upper.len() <= KEY_BYTES_MAX))?;
                page.format(&start);
            }
            PageOp::FormatOther { page_no, page_type, index_id, version } => {
                require(page_type != PageType::BTree)?;
                page.format_common(page_no, page_type, index_id, version);
            }
            PageOp::Image { low, high } => {
                require(low.len() + high.len() <= PAGE_SIZE)?;
                page.restore_image(low, high);
            }
            PageOp::WriteBytes { offset, bytes } => {
                let offset = usize::from(offset);
                require(page.as_ref().page_type() != PageType::BTree && offset >= COMMON_HEADER_BYTES)?;
                require(offset + bytes.len() <= PAGE_SIZE)?;
                page.write_bytes(offset, bytes);
            }
            PageOp::Insert { slot, flags, key, payload } => {
                LeafInsert { slot, flags: Some(flags), key, payload }.apply(page)?;
            }
            PageOp::InsertRow { slot, key, payload } => {
                LeafInsert { slot, flags: None, key, payload }.apply(page)?;
            }
            _ => {
                require(page.as_ref().page_type() == PageType::BTree)?;
                self.apply_to_btree(page)?;
            }
        }
        Ok(())
    }

    fn apply_to_btree(&self, page: &mut PageMut<'_>) -> Result<(), OpError> {
        let view = page.as_ref();
        match *self {
            PageOp::InsertChild { slot, child, key } => {
                require_insert(view, slot.into(), key, SlotFlags::NONE, false)?;
                page.insert_child(slot.into(), key, child)?;
            }
            PageOp::Append(batch) => batch.append_to(page)?,
            PageOp::Remove { slot } => {
                require_slot(view, slot)?;
                page.remove(slot.into());
            }
            PageOp::Truncate { from } => page.truncate(from.into()),
            PageOp::ReplacePayload { slot, payload } => {
                require_leaf_slot(view, slot)?;
                page.replace_payload(slot.into(), payload)?;
            }
            PageOp::Patch { slot, offset, bytes } => {
                require_leaf_slot(view, slot)?;
                require(usize::from(offset) + bytes.len() <= view.payload(slot.into()).len())?;
                page.patch(slot.into(), offset.into(), bytes);
            }
            PageOp::PatchRow(patch) => patch.apply(page)?,
            PageOp::SetFlags { slot, flags } => {
                require_leaf_slot(view, slot)?;
                page.set_flags(slot.into(), flags);
            }
            PageOp::Close { slot, trx } => EntryClose { slot, trx }.apply(page)?,
            PageOp::DeleteRow { slot, header } => RowDelete { slot, header }.apply(page)?,
            PageOp::Reopen { slot } => {
                require_leaf_slot(view, slot)?;
                require(view.flags(slot.into()).has_end())?;
                require_end_id(view, slot)?;
                page.reopen(slot.into());
            }
            PageOp::SetChild { slot, child } => {
                require_slot(view, slot)?;
                require(!view.is_leaf())?;
                page.set_child(slot.into(), child);
            }
            PageOp::SetRight(right) => page.set_right(right),
            PageOp::RaiseTrxMax(trx) => page.raise_trx_max(trx),
            PageOp::SetFences { lower, upper } => {
                require(
                    lower.len() <= KEY_BYTES_MAX && upper.is_none_or(|upper| upper.len() <= KEY_BYTES_MAX),
                )?;
                page.set_fences(lower, upper)?;
            }
            PageOp::Reorganize => page.reorganize(),
            PageOp::Format(_)
            | PageOp::FormatOther { .. }
            | PageOp::Image { .. }
            | PageOp::WriteBytes { .. }
            | PageOp::Insert { .. }
            | PageOp::InsertRow { .. } => {
                return Err(OpError::Malformed);
            }
        }
        Ok(())
    }
}

/// Appends one page's change to a mini-transaction: page number, operation.
pub fn encode_change(out: &mut Vec<u8>, page_no: PageNo, op: &PageOp<'_>) {
    push_varint(out, u64::from(page_no.0));
    op.encode(out);
}

/// Reads one page's change from the front of a mini-transaction and advances past it.
pub fn decode_change<'a>(from: &mut &'a [u8]) -> Result<(PageNo, PageOp<'a>), OpError> {
    Ok((take_page_no(from)?, PageOp::decode(from)?))
}

#[inline]
fn require(holds: bool) -> Result<(), OpError> {
    if holds { Ok(()) } else { Err(OpError::Malformed) }
}

#[inline]
fn require_slot(page: PageRef<'_>, slot: u16) -> Result<(), OpError> {
    require(usize::from(slot) < page.count())
}

#[inline]
fn require_leaf_slot(page: PageRef<'_>, slot: u16) -> Result<(), OpError> {
    require(page.is_leaf() && usize::from(slot) < page.count())
}

/// A payload marked `HAS_END` is long enough for its end id.
#[inline]
fn require_end_id(page: PageRef<'_>, slot: u16) -> Result<(), OpError> {
    require(!page.has_end(slot.into()) || page.payload(slot.into()).len() >= TRX_ID_BYTES)
}

#[inline]
fn require_insert(
    page: PageRef<'_>,
    slot: usize,
    key: &[u8],
    flags: SlotFlags,
    leaf: bool,
) -> Result<(), OpError> {
    require(page.is_leaf() == leaf && slot <= page.count() && key.len() <= KEY_BYTES_MAX)?;
    if !leaf && slot == 0 {
        return require(page.count() == 0);
    }
    let begin = if flags.has_begin() { TRX_ID_BYTES } else { 0 };
    require(page.fixed_key_len().is_none_or(|len| key.len() == usize::from(len) + begin))
}

#[cfg(test)]
pub(crate) mod tests;
