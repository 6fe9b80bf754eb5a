//! Reading the columns of a record through its row format.

use std::ops::Range;

use base::codec::get_u48;
use base::{ROW_HEADER_BYTES, TrxId, UndoPtr};

use crate::layout::TRX_ID_BYTES;
use crate::overflow::OverflowRef;
use crate::record::{KeyInt, Record};
use crate::template::{IntPart, KeyPartPlace, MARK, NullBit, Place, ROW_ID_BYTES, RowFormat};

/// Writer and undo pointer of a clustered record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowHeader {
    /// The transaction that wrote the record.
    pub trx: TrxId,
    /// Where its previous version is.
    pub undo: UndoPtr,
}

impl RowHeader {
    /// The header of a clustered payload.
    #[inline]
    pub fn decode(payload: &[u8]) -> RowHeader {
        let mut undo = [0u8; 8];
        undo[..UndoPtr::STORED_BYTES].copy_from_slice(&payload[TRX_ID_BYTES..ROW_HEADER_BYTES]);
        RowHeader { trx: TrxId(get_u48(payload, 0)), undo: UndoPtr(u64::from_le_bytes(undo)) }
    }

    /// The header's bytes.
    #[inline]
    pub fn encode(self) -> [u8; ROW_HEADER_BYTES] {
        let mut out = [0; ROW_HEADER_BYTES];
        out[..TRX_ID_BYTES].copy_from_slice(&self.trx.0.to_le_bytes()[..TRX_ID_BYTES]);
        out[TRX_ID_BYTES..].copy_from_slice(&self.undo.0.to_le_bytes()[..UndoPtr::STORED_BYTES]);
        out
    }
}

/// A column's value in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// NULL.
    Null,
    /// Its storage bytes.
    Bytes(&'a [u8]),
    /// Its storage bytes are elsewhere.
    OffPage(OverflowRef),
}

/// Where a column's value is in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InBody {
    /// It is NULL, as the body says.
    Null,
    /// Here in the body.
    At(Range<usize>),
    /// Not in the body: in the key, off page, or not in this index.
    No,
}

/// A record seen through its row format.
#[derive(Clone, Copy, Debug)]
pub struct RowRef<'a> {
    format: &'a RowFormat,
    record: Record<'a>,
    body: &'a [u8],
}

impl<'a> RowRef<'a> {
    /// `record`, from a page whose format version is `format`'s.
    #[inline]
    pub fn new(format: &'a RowFormat, record: Record<'a>) -> Self {
        let body = if record.flags.has_end() { &record.payload[TRX_ID_BYTES..] } else { record.payload };
        RowRef { format, record, body }
    }

    /// The format.
    #[inline]
    pub(crate) fn format(&self) -> &'a RowFormat {
        self.format
    }

    /// The record.
    #[inline]
    pub fn record(&self) -> &Record<'a> {
        &self.record
    }

    /// The payload after an end transaction id: what the format's offsets count from.
    #[inline]
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Writer and undo pointer. Clustered records only.
    #[inline]
    pub fn header(&self) -> RowHeader {
        debug_assert!(self.format.is_clustered(), "a secondary record has no row header");
        RowHeader::decode(self.body)
    }

    /// Writer of a clustered record.
    #[inline]
    pub fn trx(&self) -> TrxId {
        TrxId(get_u48(self.body, 0))
    }

    /// The transaction that began a secondary entry; `TrxId::NONE` = older than every reader.
    #[inline]
    pub fn begin_trx(&self) -> TrxId {
        TrxId(self.record.begin_trx())
    }

    /// The transaction that closed a secondary entry, if it is closed.
    #[inline]
    pub fn end_trx(&self) -> Option<TrxId> {
        self.record.flags.has_end().then(|| TrxId(get_u48(self.record.payload, 0)))
    }

    /// The bytes of the fixed-width column at `offset`, as many as `N`.
    #[inline]
    pub fn fixed<const N: usize>(&self, offset: u16) -> [u8; N] {
        let mut out = [0; N];
        out.copy_from_slice(&self.body[usize::from(offset)..usize::from(offset) + N]);
        out
    }

    /// Whether `bit` is set.
    #[inline]
    pub fn null_bit(&self, bit: NullBit) -> bool {
        self.body[usize::from(bit.byte)] & bit.mask != 0
    }

    /// The bytes of the variable column `ordinal`, and whether it is marked: then they are an [`OverflowRef`]
    /// in a clustered record, and for [`RowRef::key_text`] in an entry.
    #[inline]
    pub fn var(&self, ordinal: u16) -> (&'a [u8], bool) {
        self.format.var(self.body, ordinal)
    }

    /// Whether the column at `position` is NULL.
    #[inline]
    pub fn is_null(&self, position: usize) -> bool {
        let column = &self.format.columns()[position];
        match column.place {
            Place::Key { part } => {
                let part = &self.format.key_parts()[usize::from(part)];
                part.nullable && self.null_marker(part) == 0
            }
            _ => column.null.is_some_and(|bit| self.null_bit(bit)),
        }
    }

    /// The value of the column at `position`, which the format covers. `scratch` may hold the bytes.
    pub fn field<'s>(&'s self, position: usize, scratch: &'s mut Vec<u8>) -> Field<'s> {
        let column = &self.format.columns()[position];
        debug_assert!(column.place != Place::Absent, "column {position} is not in this index");
        if column.null.is_some_and(|bit| self.null_bit(bit)) {
            return Field::Null;
        }
        match column.place {
            Place::Fixed { offset, width } => {
                Field::Bytes(&self.body[usize::from(offset)..usize::from(offset) + usize::from(width)])
            }
            Place::Var { ordinal } => match self.var(ordinal) {
                (bytes, false) => Field::Bytes(bytes),
                (bytes, true) if self.format.is_clustered() => Field::OffPage(OverflowRef::decode(bytes)),
                (case, true) => Field::Bytes(self.read_key_text(ordinal, case, scratch)),
            },
            Place::Key { part } => self.key_field(&self.format.key_parts()[usize::from(part)], scratch),
            Place::Absent => Field::Null,
        }
    }

    /// Where the value of the column at `position` is, if it is off page.
    #[inline]
    pub fn off_page(&self, position: usize) -> Option<OverflowRef> {
        debug_assert!(self.format.is_clustered(), "an entry has no values off page");
        let Place::Var { ordinal } = self.format.columns()[position].place else { return None };
        let (bytes, is_off_page) = self.var(ordinal);
        is_off_page.then(|| OverflowRef::decode(bytes))
    }

    /// Where in the body the value of the column at `position` is.
    #[inline]
    pub fn in_body(&self, position: usize) -> InBody {
        let column = &self.format.columns()[position];
        if column.null.is_some_and(|bit| self.null_bit(bit)) {
            return InBody::Null;
        }
        match column.place {
            Place::Fixed { offset, width } => {
                InBody::At(usize::from(offset)..usize::from(offset) + usize::from(width))
            }
            Place::Var { ordinal } => match self.format.var_range(self.body, ordinal) {
                (range, false) => InBody::At(range),
                (_, true) => InBody::No,
            },
            Place::Key { .. } | Place::Absent => InBody::No,
        }
    }

    /// The storage bytes of the column at `position` if they are at a constant offset of every record, and
    /// never NULL.
    #[inline(always)]
    pub fn fixed_bytes(&self, position: usize) -> Option<&[u8]> {
        let column = &self.format.columns()[position];
        let (Place::Fixed { offset, width }, None) = (column.place, column.null) else { return None };
        Some(&self.body[usize::from(offset)..usize::from(offset) + usize::from(width)])
    }

    /// Whether any column is off page. Cost: a load for each variable column.
    #[inline]
    pub fn has_off_page(&self) -> bool {
        debug_assert!(self.format.is_clustered(), "an entry has no values off page");
        let ends = &self.body[self.format.ends_from()..self.format.var_from()];
        ends.as_chunks::<2>().0.iter().any(|&end| u16::from_le_bytes(end) & MARK != 0)
    }

    /// The storage bytes of the column at `position`, `None` for NULL. An off-page value shows its
    /// reference's bytes: callers that may meet one use [`RowRef::field`].
    #[inline]
    pub fn column<'s>(&'s self, position: usize, scratch: &'s mut Vec<u8>) -> Option<&'s [u8]> {
        if let Place::Var { ordinal } = self.format.columns()[position].place {
            if self.is_null(position) {
                return None;
            }
            return match self.var(ordinal) {
                (case, true) if !self.format.is_clustered() => {
                    Some(self.read_key_text(ordinal, case, scratch))
                }
                (bytes, _) => Some(bytes),
            };
        }
        match self.field(position, scratch) {
            Field::Bytes(bytes) => Some(bytes),
            Field::Null | Field::OffPage(_) => None,
        }
    }

    /// The integer column in key part `part`, as the low bits of its two's complement. Not for a NULL.
    #[inline(always)]
    pub fn key_int(&self, part: &KeyPartPlace, int: IntPart) -> u64 {
        let offset = self.part_offset(part) + usize::from(part.nullable);
        KeyInt::new(self.record.prefix, offset, usize::from(int.width)).get(&self.record) ^ int.flip
    }

    /// The text of the marked column `ordinal` of an entry.
    #[cold]
    fn read_key_text<'s>(&self, ordinal: u16, case: &[u8], scratch: &'s mut Vec<u8>) -> &'s [u8] {
        scratch.clear();
        self.key_text(ordinal, case, |len| {
            scratch.resize(len, 0);
            scratch
        })
    }

    fn key_field<'s>(&'s self, part: &KeyPartPlace, scratch: &'s mut Vec<u8>) -> Field<'s> {
        scratch.clear();
        if let Some(int) = part.int {
            if part.nullable && self.null_marker(part) == 0 {
                return Field::Null;
            }
            scratch.extend_from_slice(&self.key_int(part, int).to_le_bytes()[..usize::from(int.width)]);
            return Field::Bytes(scratch);
        }
        let offset = self.part_offset(part);
        let is_null = self
            .record
            .with_key(|key| part.encoder.is_none_or(|encoder| encoder.decode(&key[offset..], scratch).1));
        if is_null { Field::Null } else { Field::Bytes(scratch) }
    }

    /// The null marker of a nullable key part: 0 = NULL.
    #[inline]
    fn null_marker(&self, part: &KeyPartPlace) -> u8 {
        self.record.key_byte(self.part_offset(part)) ^ if part.desc { 0xff } else { 0 }
    }

    /// Bytes that the first `parts` parts of the key take. Cost: a few instructions, or a copy of the key if
    /// lengths vary before the next part and after it.
    #[inline]
    pub fn key_bytes_of_parts(&self, parts: usize) -> usize {
        match self.format.key_parts().get(parts) {
            Some(next) => self.part_offset(next),
            None => self.record.key_len_without_begin(),
        }
    }

    /// Where `part` starts in this record's key.
    #[inline]
    pub(crate) fn part_offset(&self, part: &KeyPartPlace) -> usize {
        match (part.offset, part.from_end) {
            (Some(offset), _) => usize::from(offset),
            (None, Some(from_end)) => self.record.key_len_without_begin() - usize::from(from_end),
            (None, None) => self.skip_to(part),
        }
    }

    /// Walks over the parts before `part`.
    fn skip_to(&self, part: &KeyPartPlace) -> usize {
        self.record.with_key(|key| {
            let mut at = 0;
            for before in self.format.key_parts() {
                if std::ptr::eq(before, part) {
                    break;
                }
                at += before.encoder.map_or(ROW_ID_BYTES, |encoder| encoder.skip(&key[at..]));
            }
            at
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
