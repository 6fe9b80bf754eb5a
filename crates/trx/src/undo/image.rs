//! Before images: undo records as the log has them (docs/redo_log.md, section 4).
//!
//! | SIZE | FIELD |
//! |---|---|
//! | 1 | kind, see [`UndoKind`] |
//! | 1 | record flags before, and bit 0: a row header follows |
//! | 2 | format version of the row; 0 |
//! | varint | index id |
//! | varint + n | whole key |
//! | 13 | row header before, if it follows |
//! | varint | row patch: where the old bytes begin |
//! | | the image, to the end |

use base::codec::{push_start, push_varint, put_u64, put_varint, take, take_varint};
use base::{IndexId, ROW_HEADER_BYTES, TrxId, UndoPtr};
use log::{UNDO_HEAD_BYTES_MAX, put_undo};

use super::record::{NewUndo, SHORT_BYTES_MAX, UndoKind, UndoRecord};

/// Bytes before the index id.
const HEAD_BYTES: usize = 4;

/// In the byte of the record flags: a row header follows.
const HAS_ROW_HEADER: u8 = 1;

/// Most bytes before the key.
const BEFORE_KEY_BYTES_MAX: usize = HEAD_BYTES + 5 + 5;

/// Room for the part of a short record that consists of a key, and for any short one; multiples of 16.
pub(super) const KEY_PART_ROOM: usize = 64;
pub(super) const SHORT_PART_ROOM: usize = 96;
const SHORT_KEY_PART: usize = UNDO_HEAD_BYTES_MAX - 9 + HEAD_BYTES + 5 + 1 + SHORT_BYTES_MAX;
const _: () = assert!(SHORT_KEY_PART <= KEY_PART_ROOM);
const _: () = assert!(SHORT_KEY_PART + ROW_HEADER_BYTES + 3 + SHORT_BYTES_MAX <= SHORT_PART_ROOM);
const _: () = assert!(SHORT_PART_ROOM < 0x80, "the length of a short image takes a byte");

impl NewUndo<'_> {
    /// Appends the part of the record at `undo`, which comes after `previous`, of the transaction `trx`.
    #[inline(always)]
    pub(super) fn push_part(&self, out: &mut Vec<u8>, trx: TrxId, undo: UndoPtr, previous: UndoPtr) {
        let (before_key, before_key_len) = self.before_key();
        let header = self.row_header.map_or(&[][..], |header| header);
        let offset = (self.kind == UndoKind::RowPatch).then_some(u32::from(self.patch_offset));
        let behind_key_len = header.len() + offset.map_or(0, varint_len) + self.image.len();
        let image_len = before_key_len + self.key.len() + behind_key_len;
        let mut head = [0; UNDO_HEAD_BYTES_MAX + BEFORE_KEY_BYTES_MAX];
        let end = put_undo(&mut head, trx, undo, previous, image_len);
        head[end..end + BEFORE_KEY_BYTES_MAX].copy_from_slice(&before_key);
        out.reserve(head.len() + image_len);
        push_start(out, &head, end + before_key_len);
        out.extend_from_slice(self.key);
        out.extend_from_slice(header);
        if let Some(offset) = offset {
            push_varint(out, offset.into());
        }
        out.extend_from_slice(self.image);
    }

    /// [`NewUndo::push_part`] of a short record, whose key and image are these words: made in `N` bytes,
    /// which are enough, and copied once.
    #[inline(always)]
    pub(super) fn push_short_part<const N: usize>(
        &self,
        [key, image]: [[u64; 2]; 2],
        out: &mut Vec<u8>,
        trx: TrxId,
        [undo, previous]: [UndoPtr; 2],
    ) {
        debug_assert!(self.flags & HAS_ROW_HEADER == 0, "record flags {:#x}", self.flags);
        let mut part = [0; N];
        // The image's length takes one byte, and is known at the end.
        let start = put_undo(&mut part, trx, undo, previous, 0);
        let has_header = if self.row_header.is_some() { HAS_ROW_HEADER } else { 0 };
        part[start] = self.kind as u8;
        part[start + 1] = self.flags | has_header;
        let mut at = put_varint(&mut part, start + HEAD_BYTES, self.index.0.into());
        part[at] = self.key.len() as u8;
        put_u64(&mut part, at + 1, key[0]);
        put_u64(&mut part, at + 9, key[1]);
        at += 1 + self.key.len();
        if let Some(header) = self.row_header {
            part[at..at + ROW_HEADER_BYTES].copy_from_slice(header);
            at += ROW_HEADER_BYTES;
        }
        if self.kind == UndoKind::RowPatch {
            at = put_varint(&mut part, at, self.patch_offset.into());
        }
        if !self.image.is_empty() {
            put_u64(&mut part, at, image[0]);
            put_u64(&mut part, at + 8, image[1]);
            at += self.image.len();
        }
        part[start - 1] = (at - start) as u8;
        push_start(out, &part, at);
    }

    /// The before image up to the key, and its bytes.
    #[inline]
    fn before_key(&self) -> ([u8; BEFORE_KEY_BYTES_MAX], usize) {
        debug_assert!(self.flags & HAS_ROW_HEADER == 0, "record flags {:#x}", self.flags);
        let has_header = if self.row_header.is_some() { HAS_ROW_HEADER } else { 0 };
        let mut head = [0; BEFORE_KEY_BYTES_MAX];
        head[..2].copy_from_slice(&[self.kind as u8, self.flags | has_header]);
        let end = put_varint(&mut head, HEAD_BYTES, self.index.0.into());
        let end = put_varint(&mut head, end, self.key.len() as u64);
        (head, end)
    }
}

/// Bytes of a LEB128 integer.
#[inline]
fn varint_len(value: u32) -> usize {
    (38 - value.leading_zeros() as usize) / 7 + usize::from(value == 0)
}

impl UndoKind {
    /// The kind of a before image from the log.
    pub fn of_image(image: &[u8]) -> Option<UndoKind> {
        image.first().and_then(|&kind| UndoKind::from_byte(kind))
    }
}

impl UndoRecord {
    /// Reads a before image from the log; `prev` is the part's and stays as it is. False: the bytes are
    /// invalid.
    pub fn decode_image(&mut self, mut image: &[u8]) -> bool {
        self.take_image(&mut image).is_some()
    }

    fn take_image(&mut self, from: &mut &[u8]) -> Option<()> {
        let &[kind, flags, _, _] = take(from, HEAD_BYTES)? else { return None };
        self.kind = UndoKind::from_byte(kind)?;
        self.flags = flags & !HAS_ROW_HEADER;
        self.index = IndexId(u32::try_from(take_varint(from)?).ok()?);
        let key = usize::try_from(take_varint(from)?).ok()?;
        self.key.clear();
        self.key.extend_from_slice(take(from, key)?);
        self.row_header = None;
        if flags & HAS_ROW_HEADER != 0 {
            self.row_header = Some(*take(from, ROW_HEADER_BYTES)?.first_chunk()?);
        }
        self.patch_offset = 0;
        if self.kind == UndoKind::RowPatch {
            self.patch_offset = u16::try_from(take_varint(from)?).ok()?;
        }
        self.image.clear();
        self.image.extend_from_slice(from);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use log::{Part, Parts};

    #[test]
    fn lengths_of_varints_are_known_beforehand() {
        for value in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, u32::MAX >> 4, u32::MAX] {
            let mut out = Vec::new();
            push_varint(&mut out, value.into());
            assert_eq!(varint_len(value), out.len(), "{value}");
        }
    }

    #[test]
    fn images_of_all_kinds_come_back() {
        let header = [7; ROW_HEADER_BYTES];
        for kind in (1..=9).filter_map(UndoKind::from_byte) {
            let undo = NewUndo {
                kind,
                index: IndexId(300),
                flags: 0xe0,
                patch_offset: if kind == UndoKind::RowPatch { 500 } else { 0 },
                key: b"key",
                row_header: (kind as u8).is_multiple_of(2).then_some(&header),
                image: b"image",
            };
            let (trx, at, previous) = (TrxId(1 << 40), UndoPtr(1 << 50), UndoPtr(77));
            let mut part = Vec::new();
            undo.push_part(&mut part, trx, at, previous);
            let Some(Ok(Part::Undo { image: bytes, .. })) = Parts::of(&part).next() else {
                panic!("{kind:?} is no part")
            };
            let mut same = Vec::new();
            Part::Undo { trx, undo: at, previous, image: bytes }.encode(&mut same);
            assert_eq!(part, same);
            let mut record = UndoRecord::default();
            assert!(record.decode_image(bytes));
            assert_eq!((record.kind, record.index, record.flags), (kind, undo.index, 0xe0));
            assert_eq!((record.key.as_slice(), record.image.as_slice()), (undo.key, undo.image));
            assert_eq!(
                (record.row_header.as_ref(), record.patch_offset),
                (undo.row_header, undo.patch_offset)
            );
            let cut = (0..bytes.len() - undo.image.len()).all(|len| !record.decode_image(&bytes[..len]));
            assert!(cut, "{kind:?}");
        }
    }
}
