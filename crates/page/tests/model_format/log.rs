//! Log frames and undo records, as docs/redo_log.md writes them down.

use base::UndoPtr;
use base::checksum::crc32;
use base::codec::{get_u16, get_u32, get_u48, push_varint, take, take_varint};
use page::{RowHeader, SlotFlags};

pub(crate) const CHANGES: u8 = 1;
pub(crate) const UNDO: u8 = 2;
pub(crate) const COMMIT: u8 = 3;
pub(crate) const ROLLBACK_DONE: u8 = 4;
pub(crate) const COMPENSATION: u8 = 5;

/// How to undo one change of one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undo {
    Insert { key: Vec<u8> },
    Update { key: Vec<u8>, before: RowHeader, flags: SlotFlags, columns: Vec<(u16, Option<Vec<u8>>)> },
    DeleteMark { key: Vec<u8>, before: RowHeader },
    SecondaryInsert { key: Vec<u8> },
    SecondaryClose { key: Vec<u8>, begin: u64 },
    SecondaryRemove { key: Vec<u8>, body: Vec<u8> },
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn take_bytes(from: &mut &[u8]) -> Vec<u8> {
    let len = take_varint(from).unwrap();
    take(from, len as usize).unwrap().to_vec()
}

impl Undo {
    fn kind_and_key(&self) -> (u8, &[u8]) {
        match self {
            Undo::Insert { key } => (1, key),
            Undo::Update { key, .. } => (2, key),
            Undo::DeleteMark { key, .. } => (3, key),
            Undo::SecondaryInsert { key } => (4, key),
            Undo::SecondaryClose { key, .. } => (5, key),
            Undo::SecondaryRemove { key, .. } => (6, key),
        }
    }

    fn encode(&self, version: u16, out: &mut Vec<u8>) {
        let (kind, key) = self.kind_and_key();
        out.push(kind);
        push_varint(out, if kind <= 3 { 64 } else { 65 });
        out.extend_from_slice(&version.to_le_bytes());
        push_bytes(out, key);
        match self {
            Undo::Insert { .. } | Undo::SecondaryInsert { .. } => {}
            Undo::Update { before, flags, columns, .. } => {
                out.extend_from_slice(&before.encode());
                out.push((flags.bits() >> 13) as u8);
                push_varint(out, columns.len() as u64);
                for (id, value) in columns {
                    out.extend_from_slice(&id.to_le_bytes());
                    push_varint(out, value.as_ref().map_or(0, |value| value.len() as u64 + 1));
                    out.extend_from_slice(value.as_deref().unwrap_or(&[]));
                }
            }
            Undo::DeleteMark { before, .. } => out.extend_from_slice(&before.encode()),
            Undo::SecondaryClose { begin, .. } => {
                out.push(u8::from(*begin != 0));
                out.extend_from_slice(&begin.to_le_bytes()[..6]);
            }
            Undo::SecondaryRemove { body, .. } => push_bytes(out, body),
        }
    }

    fn decode(mut from: &[u8]) -> Undo {
        let kind = take(&mut from, 1).unwrap()[0];
        take_varint(&mut from).unwrap();
        take(&mut from, 2).unwrap();
        let key = take_bytes(&mut from);
        match kind {
            1 => Undo::Insert { key },
            2 => {
                let before = RowHeader::decode(take(&mut from, 13).unwrap());
                let flags = SlotFlags::from_bits(u16::from(take(&mut from, 1).unwrap()[0]) << 13);
                let count = take_varint(&mut from).unwrap();
                let columns = (0..count).map(|_| take_column(&mut from)).collect();
                Undo::Update { key, before, flags, columns }
            }
            3 => Undo::DeleteMark { key, before: RowHeader::decode(take(&mut from, 13).unwrap()) },
            4 => Undo::SecondaryInsert { key },
            5 => Undo::SecondaryClose { key, begin: get_u48(from, 1) },
            _ => Undo::SecondaryRemove { key, body: take_bytes(&mut from) },
        }
    }
}

fn take_column(from: &mut &[u8]) -> (u16, Option<Vec<u8>>) {
    let id = get_u16(take(from, 2).unwrap(), 0);
    let len = take_varint(from).unwrap() as usize;
    (id, len.checked_sub(1).map(|len| take(from, len).unwrap().to_vec()))
}

/// A part of a frame.
pub(crate) enum Part<'a> {
    Changes(&'a [u8]),
    Undo { trx: u64, pointer: UndoPtr, undo: Undo },
    Commit(u64),
    RollbackDone(u64),
    Compensation { trx: u64, undone: UndoPtr },
}

pub(crate) fn push_changes(out: &mut Vec<u8>, changes: &[u8]) {
    out.push(CHANGES);
    push_bytes(out, changes);
}

pub(crate) fn push_undo(
    out: &mut Vec<u8>,
    trx: u64,
    pointer: UndoPtr,
    previous: UndoPtr,
    version: u16,
    undo: &Undo,
) {
    out.push(UNDO);
    out.extend_from_slice(&trx.to_le_bytes()[..6]);
    out.extend_from_slice(&pointer.0.to_le_bytes()[..UndoPtr::STORED_BYTES]);
    out.extend_from_slice(&previous.0.to_le_bytes()[..UndoPtr::STORED_BYTES]);
    let mut body = Vec::new();
    undo.encode(version, &mut body);
    push_bytes(out, &body);
}

pub(crate) fn push_end(out: &mut Vec<u8>, kind: u8, trx: u64) {
    out.push(kind);
    out.extend_from_slice(&trx.to_le_bytes()[..6]);
    if kind == COMMIT {
        out.extend_from_slice(&[0; 8]);
    }
}

pub(crate) fn push_compensation(out: &mut Vec<u8>, trx: u64, undone: UndoPtr, next: UndoPtr) {
    out.push(COMPENSATION);
    out.extend_from_slice(&trx.to_le_bytes()[..6]);
    out.extend_from_slice(&undone.0.to_le_bytes()[..UndoPtr::STORED_BYTES]);
    out.extend_from_slice(&next.0.to_le_bytes()[..UndoPtr::STORED_BYTES]);
}

fn take_pointer(from: &mut &[u8]) -> UndoPtr {
    let mut raw = [0; 8];
    raw[..UndoPtr::STORED_BYTES].copy_from_slice(take(from, UndoPtr::STORED_BYTES).unwrap());
    UndoPtr(u64::from_le_bytes(raw))
}

/// Parts of a frame's payload.
pub(crate) fn parts(mut from: &[u8]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    while let Some(kind) = take(&mut from, 1) {
        if kind[0] == CHANGES {
            let len = take_varint(&mut from).unwrap() as usize;
            parts.push(Part::Changes(take(&mut from, len).unwrap()));
            continue;
        }
        let trx = get_u48(take(&mut from, 6).unwrap(), 0);
        parts.push(match kind[0] {
            UNDO => {
                let pointer = take_pointer(&mut from);
                take_pointer(&mut from);
                Part::Undo { trx, pointer, undo: Undo::decode(&take_bytes(&mut from)) }
            }
            COMMIT => {
                take(&mut from, 8).unwrap();
                Part::Commit(trx)
            }
            ROLLBACK_DONE => Part::RollbackDone(trx),
            COMPENSATION => {
                let undone = take_pointer(&mut from);
                take_pointer(&mut from);
                Part::Compensation { trx, undone }
            }
            other => panic!("part of kind {other}"),
        });
    }
    parts
}

/// Appends a frame at the log's end; the end LSN.
pub(crate) fn append_frame(log: &mut Vec<u8>, payload: &[u8]) -> u64 {
    let (lsn, len) = (log.len() as u64, payload.len() as u32);
    let checksum = crc32(payload) ^ salt(lsn, len);
    log.extend_from_slice(&len.to_le_bytes());
    log.extend_from_slice(&checksum.to_le_bytes());
    log.extend_from_slice(payload);
    log.len() as u64
}

fn salt(lsn: u64, len: u32) -> u32 {
    ((lsn ^ u64::from(len) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// Payload and end of the frame at `lsn`, if one is there and whole.
pub(crate) fn frame_at(log: &[u8], lsn: usize) -> Option<(&[u8], usize)> {
    let rest = log.get(lsn..)?;
    let header = rest.get(..8)?;
    let len = get_u32(header, 0);
    let payload = rest.get(8..8 + len as usize).filter(|payload| !payload.is_empty())?;
    let checksum = crc32(payload) ^ salt(lsn as u64, len);
    (checksum == get_u32(header, 4)).then_some((payload, lsn + 8 + len as usize))
}
