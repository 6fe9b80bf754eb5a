//! Encoding of page operations.

use base::codec::{push_short, push_start, push_varint, put_varint, take, take_varint};
use base::{IndexId, PageNo, ROW_HEADER_BYTES, TrxId};

use super::{Batch, EntryClose, LeafInsert, OpError, PageOp, RowDelete, RowPatch, require};
use crate::layout::{KEY_BYTES_MAX, PageType, SlotFlags};
use crate::page_mut::FormatPage;

const FORMAT: u8 = 1;
const FORMAT_OTHER: u8 = 2;
const INSERT: u8 = 3;
const INSERT_CHILD: u8 = 4;
const APPEND: u8 = 5;
const REMOVE: u8 = 6;
const TRUNCATE: u8 = 7;
const REPLACE_PAYLOAD: u8 = 8;
const PATCH: u8 = 9;
const SET_FLAGS: u8 = 10;
const CLOSE: u8 = 11;
const REOPEN: u8 = 12;
const SET_CHILD: u8 = 13;
const SET_RIGHT: u8 = 14;
const RAISE_TRX_MAX: u8 = 15;
const SET_FENCES: u8 = 16;
const REORGANIZE: u8 = 17;
const IMAGE: u8 = 18;
pub(super) const WRITE_BYTES: u8 = 19;
const DELETE_ROW: u8 = 20;
const PATCH_ROW: u8 = 21;
const INSERT_ROW: u8 = 22;

/// Kind, slot, marks and the key's length.
const INSERT_HEAD_BYTES_MAX: usize = 1 + 3 + 1 + 3;

impl<'a> PageOp<'a> {
    /// Appends the operation's encoding to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            PageOp::Format(start) => encode_format(&start, out),
            PageOp::FormatOther { page_no, page_type, index_id, version } => {
                let ints = [page_no.0, page_type as u32, index_id.0, version];
                push_ints(out, FORMAT_OTHER, &ints.map(u64::from));
            }
            PageOp::Insert { slot, flags, key, payload } => {
                LeafInsert { slot, flags: Some(flags), key, payload }.encode(out);
            }
            PageOp::InsertRow { slot, key, payload } => {
                LeafInsert { slot, flags: None, key, payload }.encode(out);
            }
            PageOp::InsertChild { slot, child, key } => {
                push_ints(out, INSERT_CHILD, &[slot.into(), child.0.into()]);
                push_bytes(out, key);
            }
            PageOp::Append(batch) => {
                out.push(APPEND);
                push_bytes(out, batch.0);
            }
            PageOp::Remove { slot } => push_ints(out, REMOVE, &[slot.into()]),
            PageOp::Truncate { from } => push_ints(out, TRUNCATE, &[from.into()]),
            PageOp::ReplacePayload { slot, payload } => {
                push_ints(out, REPLACE_PAYLOAD, &[slot.into()]);
                push_bytes(out, payload);
            }
            PageOp::Patch { slot, offset, bytes } => {
                push_ints(out, PATCH, &[slot.into(), offset.into()]);
                push_bytes(out, bytes);
            }
            PageOp::PatchRow(ref patch) => patch.encode(out),
            PageOp::SetFlags { slot, flags } => {
                push_ints(out, SET_FLAGS, &[slot.into(), u64::from(flags.bits() >> 13)]);
            }
            PageOp::Close { slot, trx } => EntryClose { slot, trx }.encode(out),
            PageOp::DeleteRow { slot, header } => RowDelete { slot, header }.encode(out),
            PageOp::Reopen { slot } => push_ints(out, REOPEN, &[slot.into()]),
            PageOp::SetChild { slot, child } => push_ints(out, SET_CHILD, &[slot.into(), child.0.into()]),
            PageOp::SetRight(right) => push_ints(out, SET_RIGHT, &[right.0.into()]),
            PageOp::RaiseTrxMax(trx) => push_ints(out, RAISE_TRX_MAX, &[trx.0]),
            PageOp::SetFences { lower, upper } => {
                out.push(SET_FENCES);
                push_bytes(out, lower);
                push_optional(out, upper);
            }
            PageOp::Reorganize => out.push(REORGANIZE),
            PageOp::Image { low, high } => {
                out.push(IMAGE);
                push_bytes(out, low);
                push_bytes(out, high);
            }
            PageOp::WriteBytes { offset, bytes } => {
                push_ints(out, WRITE_BYTES, &[offset.into()]);
                push_bytes(out, bytes);
            }
        }
    }

    /// Reads an operation from the front of `from` and advances past it.
    pub fn decode(from: &mut &'a [u8]) -> Result<PageOp<'a>, OpError> {
        let kind = take(from, 1).ok_or(OpError::Malformed)?[0];
        Ok(match kind {
            FORMAT => PageOp::Format(decode_format(from)?),
            FORMAT_OTHER => PageOp::FormatOther {
                page_no: take_page_no(from)?,
                page_type: PageType::from_byte(take_int(from)?).ok_or(OpError::Malformed)?,
                index_id: IndexId(take_int(from)?),
                version: take_int(from)?,
            },
            INSERT => PageOp::Insert {
                slot: take_int(from)?,
                flags: take_flags(from)?,
                key: take_bytes(from)?,
                payload: take_bytes(from)?,
            },
            INSERT_ROW => PageOp::InsertRow {
                slot: take_int(from)?,
                key: take_bytes(from)?,
                payload: take_bytes(from)?,
            },
            INSERT_CHILD => PageOp::InsertChild {
                slot: take_int(from)?,
                child: take_page_no(from)?,
                key: take_bytes(from)?,
            },
            APPEND => PageOp::Append(Batch(take_bytes(from)?)),
            REMOVE => PageOp::Remove { slot: take_int(from)? },
            TRUNCATE => PageOp::Truncate { from: take_int(from)? },
            REPLACE_PAYLOAD => PageOp::ReplacePayload { slot: take_int(from)?, payload: take_bytes(from)? },
            PATCH => {
                PageOp::Patch { slot: take_int(from)?, offset: take_int(from)?, bytes: take_bytes(from)? }
            }
            PATCH_ROW => PageOp::PatchRow(RowPatch {
                slot: take_int(from)?,
                offset: take_int(from)?,
                header: take_bytes(from)?.try_into().map_err(|_| OpError::Malformed)?,
                bytes: take_bytes(from)?,
            }),
            SET_FLAGS => PageOp::SetFlags { slot: take_int(from)?, flags: take_flags(from)? },
            CLOSE => PageOp::Close { slot: take_int(from)?, trx: take_trx(from)? },
            DELETE_ROW => PageOp::DeleteRow {
                slot: take_int(from)?,
                header: take_bytes(from)?.try_into().map_err(|_| OpError::Malformed)?,
            },
            REOPEN => PageOp::Reopen { slot: take_int(from)? },
            SET_CHILD => PageOp::SetChild { slot: take_int(from)?, child: take_page_no(from)? },
            SET_RIGHT => PageOp::SetRight(take_page_no(from)?),
            RAISE_TRX_MAX => PageOp::RaiseTrxMax(take_trx(from)?),
            SET_FENCES => PageOp::SetFences { lower: take_bytes(from)?, upper: take_optional(from)? },
            REORGANIZE => PageOp::Reorganize,
            IMAGE => PageOp::Image { low: take_bytes(from)?, high: take_bytes(from)? },
            WRITE_BYTES => PageOp::WriteBytes { offset: take_int(from)?, bytes: take_bytes(from)? },
            _ => return Err(OpError::Malformed),
        })
    }
}

impl RowDelete<'_> {
    /// Appends the operation's encoding to `out`.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut head = [0; 1 + 3 + 1 + ROW_HEADER_BYTES];
        head[0] = DELETE_ROW;
        let end = put_varint(&mut head, 1, self.slot.into());
        head[end] = ROW_HEADER_BYTES as u8;
        head[end + 1..=end + ROW_HEADER_BYTES].copy_from_slice(self.header);
        push_start(out, &head, end + 1 + ROW_HEADER_BYTES);
    }
}

impl EntryClose {
    /// Appends the operation's encoding to `out`.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut head = [0; 1 + 3 + 10];
        head[0] = CLOSE;
        let end = put_varint(&mut head, 1, self.slot.into());
        let end = put_varint(&mut head, end, self.trx.0);
        push_start(out, &head, end);
    }
}

impl LeafInsert<'_> {
    /// Appends the operation's encoding to `out`.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut head = [0; INSERT_HEAD_BYTES_MAX];
        head[0] = if self.flags.is_some() { INSERT } else { INSERT_ROW };
        let mut end = put_varint(&mut head, 1, self.slot.into());
        if let Some(flags) = self.flags {
            head[end] = (flags.bits() >> 13) as u8;
            end += 1;
        }
        debug_assert!(self.key.len() <= KEY_BYTES_MAX, "a key of {} bytes", self.key.len());
        let end = put_varint(&mut head, end, self.key.len() as u64);
        out.reserve(INSERT_HEAD_BYTES_MAX + self.key.len() + self.payload.len() + 3);
        push_start(out, &head, end);
        out.extend_from_slice(self.key);
        if self.payload.is_empty() {
            // Most secondary entries are keys alone.
            out.push(0);
            return;
        }
        push_bytes(out, self.payload);
    }
}

impl RowPatch<'_> {
    /// Appends the operation's encoding to `out`.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut head = [0; 1 + 2 * 3 + 1 + ROW_HEADER_BYTES + 3];
        head[0] = PATCH_ROW;
        let end = put_varint(&mut head, 1, self.slot.into());
        let end = put_varint(&mut head, end, self.offset.into());
        head[end] = ROW_HEADER_BYTES as u8;
        let end = end + 1 + ROW_HEADER_BYTES;
        head[end - ROW_HEADER_BYTES..end].copy_from_slice(&self.header);
        let end = put_varint(&mut head, end, self.bytes.len() as u64);
        push_start(out, &head, end);
        push_short(out, self.bytes);
    }
}

fn encode_format(start: &FormatPage<'_>, out: &mut Vec<u8>) {
    let ints = [
        u64::from(start.page_no.0),
        u64::from(start.level),
        u64::from(start.index_id.0),
        u64::from(start.version),
        u64::from(start.format_version),
        u64::from(start.fixed_key_len.unwrap_or(0)),
        u64::from(start.right.0),
    ];
    push_ints(out, FORMAT, &ints);
    push_bytes(out, start.lower);
    push_optional(out, start.upper);
}

fn decode_format<'a>(from: &mut &'a [u8]) -> Result<FormatPage<'a>, OpError> {
    Ok(FormatPage {
        page_no: take_page_no(from)?,
        level: take_int(from)?,
        index_id: IndexId(take_int(from)?),
        version: take_int(from)?,
        format_version: take_int(from)?,
        fixed_key_len: Some(take_int(from)?).filter(|&len| len != 0),
        right: take_page_no(from)?,
        lower: take_bytes(from)?,
        upper: take_optional(from)?,
    })
}

fn push_ints(out: &mut Vec<u8>, kind: u8, ints: &[u64]) {
    out.push(kind);
    for &int in ints {
        push_varint(out, int);
    }
}

pub(super) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn push_optional(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    push_varint(out, bytes.map_or(0, |bytes| bytes.len() as u64 + 1));
    out.extend_from_slice(bytes.unwrap_or(&[]));
}

fn take_int<T: TryFrom<u64>>(from: &mut &[u8]) -> Result<T, OpError> {
    take_varint(from).and_then(|int| T::try_from(int).ok()).ok_or(OpError::Malformed)
}

pub(super) fn take_page_no(from: &mut &[u8]) -> Result<PageNo, OpError> {
    take_int(from).map(PageNo)
}

fn take_trx(from: &mut &[u8]) -> Result<TrxId, OpError> {
    let trx = TrxId(take_int(from)?);
    require(trx <= TrxId::MAX)?;
    Ok(trx)
}

pub(super) fn take_flags(from: &mut &[u8]) -> Result<SlotFlags, OpError> {
    let bits: u16 = take_int(from)?;
    require(bits < 8)?;
    Ok(SlotFlags::from_bits(bits << 13))
}

pub(super) fn take_bytes<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], OpError> {
    let len = take_int(from)?;
    take(from, len).ok_or(OpError::Malformed)
}

/// A leaf record of a batch: key, marks, payload. Nothing is taken if it is cut off or has other marks.
#[inline(always)]
pub(crate) fn take_record<'a>(from: &mut &'a [u8]) -> Option<(&'a [u8], SlotFlags, &'a [u8])> {
    let mut rest = *from;
    let len = take_varint(&mut rest)?;
    let key = take(&mut rest, len as usize)?;
    let (&marks, behind) = rest.split_first()?;
    rest = behind;
    let len = take_varint(&mut rest)?;
    let payload = take(&mut rest, len as usize)?;
    if marks >= 8 {
        return None;
    }
    *from = rest;
    Some((key, SlotFlags::from_bits(u16::from(marks) << 13), payload))
}

fn take_optional<'a>(from: &mut &'a [u8]) -> Result<Option<&'a [u8]>, OpError> {
    match take_int::<usize>(from)? {
        0 => Ok(None),
        len => take(from, len - 1).map(Some).ok_or(OpError::Malformed),
    }
}
