//! Parts: what a frame's payload consists of (docs/redo_log.md, section 2).
//!
//! Fields that are bytes here belong to others: page changes to `page`, before images to the engine.

use base::codec::{get_u32, get_u48, get_u64, push_varint, put_u64, put_varint, take, take_varint};
use base::{Lsn, PageNo, TrxId, UndoPtr};

/// What a checkpoint says of a transaction that had not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrxState {
    /// The transaction.
    pub trx: TrxId,
    /// What it was doing.
    pub phase: TrxPhase,
    /// Where the frame of its first undo part begins that is in no spill file.
    pub first_undo: Lsn,
    /// Its newest undo record.
    pub newest_undo: UndoPtr,
    /// Bytes of its spill file in force; 0 = none.
    pub spilled_bytes: u64,
}

/// What a transaction that has not ended is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TrxPhase {
    /// Working.
    Active = 1,
    /// Rolling back as a whole.
    RollingBack = 2,
}

/// One part of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Page changes, in order: page numbers and operations.
    Changes(&'a [u8]),
    /// How to undo one change of a record; in one frame with it, or before.
    Undo {
        /// The transaction.
        trx: TrxId,
        /// The record.
        undo: UndoPtr,
        /// The transaction's record before it.
        previous: UndoPtr,
        /// What it says: a before image.
        image: &'a [u8],
    },
    /// The transaction has committed, at this time.
    Commit {
        /// The transaction.
        trx: TrxId,
        /// Microseconds since 1970.
        micros: u64,
    },
    /// The transaction has been rolled back as a whole.
    RollbackDone {
        /// The transaction.
        trx: TrxId,
    },
    /// The changes of this frame undo a record.
    Compensation {
        /// The transaction.
        trx: TrxId,
        /// The record undone.
        undone: UndoPtr,
        /// The record to undo next.
        next: UndoPtr,
    },
    /// The transaction has been rolled back to a savepoint.
    SavepointRollbackDone {
        /// The transaction.
        trx: TrxId,
        /// Its newest record that stands.
        reached: UndoPtr,
    },
    /// A checkpoint.
    Checkpoint {
        /// Where recovery reads from.
        redo_lsn: Lsn,
        /// Transactions that had not ended.
        transactions: Vec<TrxState>,
    },
    /// Everything below is proven durable. Always a frame of its own.
    SyncedUpTo(Lsn),
    /// A DDL statement, for readers of the stream.
    DefinitionChange(&'a [u8]),
    /// An extent was freed and may become a hole once this is below a checkpoint.
    ExtentFreed(u32),
    /// Pages of an off-page value were written and synced outside the log.
    OffPageWritten {
        /// First page.
        first: PageNo,
        /// Pages.
        count: u32,
        /// CRC-32 of their bytes.
        crc: u32,
    },
    /// Bytes without meaning.
    Filler(&'a [u8]),
}

/// Kind bytes.
mod kind {
    pub(super) const CHANGES: u8 = 1;
    pub(super) const UNDO: u8 = 2;
    pub(super) const COMMIT: u8 = 3;
    pub(super) const ROLLBACK_DONE: u8 = 4;
    pub(super) const COMPENSATION: u8 = 5;
    pub(super) const SAVEPOINT_ROLLBACK_DONE: u8 = 6;
    pub(super) const CHECKPOINT: u8 = 7;
    pub(super) const SYNCED_UP_TO: u8 = 8;
    pub(super) const DEFINITION_CHANGE: u8 = 10;
    pub(super) const EXTENT_FREED: u8 = 11;
    pub(super) const OFF_PAGE_WRITTEN: u8 = 12;
    pub(super) const FILLER: u8 = 13;
}

/// A whole payload with one *synced up to* part.
pub(crate) const SYNCED_UP_TO_BYTES: usize = 9;

/// Payload of the frame that says everything below `lsn` is durable.
#[inline]
pub(crate) fn synced_up_to(lsn: Lsn) -> [u8; SYNCED_UP_TO_BYTES] {
    let mut payload = [kind::SYNCED_UP_TO; SYNCED_UP_TO_BYTES];
    payload[1..].copy_from_slice(&lsn.0.to_le_bytes());
    payload
}

/// The position in the payload of a *synced up to* frame.
pub(crate) fn as_synced_up_to(payload: &[u8]) -> Option<Lsn> {
    (payload.len() == SYNCED_UP_TO_BYTES && payload[0] == kind::SYNCED_UP_TO)
        .then(|| Lsn(get_u64(payload, 1)))
}

#[inline]
fn push_undo_ptr(ptr: UndoPtr, out: &mut Vec<u8>) {
    debug_assert!(ptr.0 < 1 << 56, "undo pointer {:#x}", ptr.0);
    out.extend_from_slice(&ptr.0.to_le_bytes()[..UndoPtr::STORED_BYTES]);
}

fn take_undo_ptr(bytes: &mut &[u8]) -> Option<UndoPtr> {
    let raw = take(bytes, UndoPtr::STORED_BYTES)?;
    Some(UndoPtr(u64::from(get_u32(raw, 0)) | u64::from(get_u32(raw, 3) >> 8) << 32))
}

impl Part<'_> {
    /// The transaction of which the part says what is to be undone, or what is undone.
    pub fn undo_of(&self) -> Option<TrxId> {
        match *self {
            Part::Undo { trx, .. }
            | Part::Compensation { trx, .. }
            | Part::SavepointRollbackDone { trx, .. } => Some(trx),
            _ => None,
        }
    }

    /// The transaction that has ended.
    pub fn end_of(&self) -> Option<TrxId> {
        match *self {
            Part::Commit { trx, .. } | Part::RollbackDone { trx } => Some(trx),
            _ => None,
        }
    }

    /// Appends the part to a payload.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Part::Changes(changes) => push_bytes(out, kind::CHANGES, changes),
            Part::Undo { trx, undo, previous, image } => {
                let mut head = [0; UNDO_HEAD_BYTES_MAX];
                let end = put_undo(&mut head, trx, undo, previous, image.len());
                out.extend_from_slice(&head[..end]);
                out.extend_from_slice(image);
            }
            Part::Commit { trx, micros } => {
                push_trx(out, kind::COMMIT, trx);
                out.extend_from_slice(&micros.to_le_bytes());
            }
            Part::RollbackDone { trx } => push_trx(out, kind::ROLLBACK_DONE, trx),
            Part::Compensation { trx, undone, next } => {
                push_trx(out, kind::COMPENSATION, trx);
                push_undo_ptr(undone, out);
                push_undo_ptr(next, out);
            }
            Part::SavepointRollbackDone { trx, reached } => {
                push_trx(out, kind::SAVEPOINT_ROLLBACK_DONE, trx);
                push_undo_ptr(reached, out);
            }
            Part::Checkpoint { redo_lsn, ref transactions } => push_checkpoint(out, redo_lsn, transactions),
            Part::SyncedUpTo(lsn) => out.extend_from_slice(&synced_up_to(lsn)),
            Part::DefinitionChange(bytes) => push_bytes(out, kind::DEFINITION_CHANGE, bytes),
            Part::ExtentFreed(extent) => {
                out.push(kind::EXTENT_FREED);
                out.extend_from_slice(&extent.to_le_bytes());
            }
            Part::OffPageWritten { first, count, crc } => {
                out.push(kind::OFF_PAGE_WRITTEN);
                for field in [first.0, count, crc] {
                    out.extend_from_slice(&field.to_le_bytes());
                }
            }
            Part::Filler(bytes) => push_bytes(out, kind::FILLER, bytes),
        }
    }
}

/// Puts a [`Part::Undo`] except for its image, whose `image_len` bytes come next, at the front of `head`,
/// which has [`UNDO_HEAD_BYTES_MAX`] bytes at least; returns where it ends.
#[inline]
pub fn put_undo(head: &mut [u8], trx: TrxId, undo: UndoPtr, previous: UndoPtr, image_len: usize) -> usize {
    // Seven bytes of each field count; the eighth is overwritten by the next one.
    put_u64(head, 0, u64::from(kind::UNDO) | trx.0 << 8);
    put_u64(head, 7, undo.0);
    put_u64(head, 14, previous.0);
    put_varint(head, UNDO_IDS_BYTES, image_len as u64)
}

/// Bytes of a [`Part::Undo`] before its image's length.
const UNDO_IDS_BYTES: usize = 1 + TrxId::STORED_BYTES + 2 * UndoPtr::STORED_BYTES;

/// Most bytes of a [`Part::Undo`] before its image.
pub const UNDO_HEAD_BYTES_MAX: usize = UNDO_IDS_BYTES + 10;

#[inline]
fn push_bytes(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    out.push(kind);
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[inline]
fn push_trx(out: &mut Vec<u8>, kind: u8, trx: TrxId) {
    debug_assert!(trx <= TrxId::MAX, "{trx}");
    out.extend_from_slice(&(u64::from(kind) | trx.0 << 8).to_le_bytes()[..=TrxId::STORED_BYTES]);
}

fn push_checkpoint(out: &mut Vec<u8>, redo_lsn: Lsn, transactions: &[TrxState]) {
    out.push(kind::CHECKPOINT);
    out.extend_from_slice(&redo_lsn.0.to_le_bytes());
    push_varint(out, transactions.len() as u64);
    for state in transactions {
        out.extend_from_slice(&state.trx.0.to_le_bytes()[..TrxId::STORED_BYTES]);
        out.push(state.phase as u8);
        out.extend_from_slice(&state.first_undo.0.to_le_bytes());
        push_undo_ptr(state.newest_undo, out);
        push_varint(out, state.spilled_bytes);
    }
}

/// The parts of a payload, in order; `Err` once at the first bytes that are no part, which ends it.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    rest: &'a [u8],
}

/// Bytes of a whole frame that are not a known part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPart {
    /// The byte that should be a kind.
    pub kind: u8,
}

impl<'a> Parts<'a> {
    /// Of the payload of a frame that checked.
    pub fn of(payload: &'a [u8]) -> Self {
        Parts { rest: payload }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Result<Part<'a>, UnknownPart>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&kind, mut rest) = self.rest.split_first()?;
        let part = take_part(kind, &mut rest).ok_or(UnknownPart { kind });
        self.rest = if part.is_ok() { rest } else { &[] };
        Some(part)
    }
}

fn take_part<'a>(kind: u8, from: &mut &'a [u8]) -> Option<Part<'a>> {
    Some(match kind {
        kind::CHANGES => Part::Changes(take_bytes(from)?),
        kind::UNDO => Part::Undo {
            trx: take_trx(from)?,
            undo: take_undo_ptr(from)?,
            previous: take_undo_ptr(from)?,
            image: take_bytes(from)?,
        },
        kind::COMMIT => Part::Commit { trx: take_trx(from)?, micros: take_u64(from)? },
        kind::ROLLBACK_DONE => Part::RollbackDone { trx: take_trx(from)? },
        kind::COMPENSATION => Part::Compensation {
            trx: take_trx(from)?,
            undone: take_undo_ptr(from)?,
            next: take_undo_ptr(from)?,
        },
        kind::SAVEPOINT_ROLLBACK_DONE => {
            Part::SavepointRollbackDone { trx: take_trx(from)?, reached: take_undo_ptr(from)? }
        }
        kind::CHECKPOINT => {
            let redo_lsn = Lsn(take_u64(from)?);
            let count = take_varint(from)?;
            let transactions = (0..count).map(|_| take_trx_state(from)).collect::<Option<_>>()?;
            Part::Checkpoint { redo_lsn, transactions }
        }
        kind::SYNCED_UP_TO => Part::SyncedUpTo(Lsn(take_u64(from)?)),
        kind::DEFINITION_CHANGE => Part::DefinitionChange(take_bytes(from)?),
        kind::EXTENT_FREED => Part::ExtentFreed(take_u32(from)?),
        kind::OFF_PAGE_WRITTEN => Part::OffPageWritten {
            first: PageNo(take_u32(from)?),
            count: take_u32(from)?,
            crc: take_u32(from)?,
        },
        kind::FILLER => Part::Filler(take_bytes(from)?),
        _ => return None,
    })
}

fn take_trx_state(from: &mut &[u8]) -> Option<TrxState> {
    Some(TrxState {
        trx: take_trx(from)?,
        phase: match take(from, 1)? {
            [1] => TrxPhase::Active,
            [2] => TrxPhase::RollingBack,
            _ => return None,
        },
        first_undo: Lsn(take_u64(from)?),
        newest_undo: take_undo_ptr(from)?,
        spilled_bytes: take_varint(from)?,
    })
}

fn take_bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(take_varint(from)?).ok()?;
    take(from, len)
}

fn take_trx(from: &mut &[u8]) -> Option<TrxId> {
    take(from, TrxId::STORED_BYTES).map(|raw| TrxId(get_u48(raw, 0)))
}

fn take_u64(from: &mut &[u8]) -> Option<u64> {
    take(from, 8).map(|raw| get_u64(raw, 0))
}

fn take_u32(from: &mut &[u8]) -> Option<u32> {
    take(from, 4).map(|raw| get_u32(raw, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<Part<'static>> {
        let (trx, undo) = (TrxId((1 << 48) - 2), UndoPtr((1 << 56) - 3));
        let state = TrxState {
            trx,
            phase: TrxPhase::RollingBack,
            first_undo: Lsn(1 << 40),
            newest_undo: undo,
            spilled_bytes: 300,
        };
        vec![
            Part::Changes(b"\x01some operations"),
            Part::Undo { trx, undo, previous: UndoPtr(0x0102_0304_0506), image: b"image" },
            Part::Commit { trx, micros: u64::MAX - 1 },
            Part::RollbackDone { trx },
            Part::Compensation { trx, undone: undo, next: UndoPtr::NONE },
            Part::SavepointRollbackDone { trx, reached: UndoPtr(7) },
            Part::Checkpoint { redo_lsn: Lsn(9), transactions: vec![state, state] },
            Part::Checkpoint { redo_lsn: Lsn(9), transactions: vec![] },
            Part::SyncedUpTo(Lsn(8192)),
            Part::DefinitionChange(&[]),
            Part::ExtentFreed(77),
            Part::OffPageWritten { first: PageNo(5), count: 6, crc: 7 },
            Part::Filler(&[0; 200]),
        ]
    }

    #[test]
    fn all_kinds_come_back_in_order() {
        let mut payload = Vec::new();
        for part in examples() {
            part.encode(&mut payload);
        }
        let back: Vec<Part<'_>> = Parts::of(&payload).map(Result::unwrap).collect();
        assert_eq!(back, examples());
    }

    #[test]
    fn a_part_that_is_cut_short_is_refused() {
        for part in examples() {
            let mut payload = Vec::new();
            part.encode(&mut payload);
            for len in 1..payload.len() {
                let found: Vec<_> = Parts::of(&payload[..len]).collect();
                assert!(found.iter().any(Result::is_err), "{part:?} cut to {len}: {found:?}");
            }
        }
    }

    #[test]
    fn an_unknown_kind_is_refused_and_ends_the_parts() {
        let mut payload = vec![14];
        Part::ExtentFreed(1).encode(&mut payload);
        assert_eq!(Parts::of(&payload).collect::<Vec<_>>(), [Err(UnknownPart { kind: 14 })]);
    }

    #[test]
    fn a_synced_up_to_payload_is_told_from_others() {
        assert_eq!(as_synced_up_to(&synced_up_to(Lsn(1 << 50))), Some(Lsn(1 << 50)));
        assert_eq!(as_synced_up_to(&[8; 10]), None);
        assert_eq!(as_synced_up_to(&[7; 9]), None);
    }
}
