//! Which version of a record a view sees.
//!
//! A clustered record carries its newest version; older ones are made from undo, one step at a time, until the view
//! sees the writer. A secondary entry tells by itself.

use page::{Record, RowHeader, RowRef, SlotFlags};
use trx::undo::{ROW_HEADER_BYTES, UndoRecord};
use trx::{ReadView, TrxSystem, UndoKind, UndoPtr};

use crate::error::{Error, Result};

/// Slot flags as an undo record keeps them.
#[inline]
pub(crate) fn flags_to_undo(flags: SlotFlags) -> u8 {
    (flags.bits() >> 8) as u8
}

/// Slot flags from an undo record.
#[inline]
pub(crate) fn flags_from_undo(flags: u8) -> SlotFlags {
    SlotFlags::from_bits(u16::from(flags) << 8)
}

/// What a view sees of a clustered record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The record as it stands.
    Current,
    /// An older version: its payload is at the end of the arena.
    Older,
    /// Nothing.
    Nothing,
}

/// Finds the version of a clustered record that `view` sees. An older one is appended to `arena`.
///
/// # Errors
/// [`Error::VersionUnreadable`]; the arena is as it was.
#[inline]
pub(crate) fn clustered(
    trx: &TrxSystem,
    view: ReadView,
    record: &Record<'_>,
    arena: &mut Vec<u8>,
) -> Result<Seen> {
    let header = RowHeader::decode(record.payload());
    if view.sees(trx, header.trx) {
        return Ok(if record.flags().is_deleted() { Seen::Nothing } else { Seen::Current });
    }
    older(trx, view, record, header, arena)
}

#[cold]
#[inline(never)]
fn older(
    trx: &TrxSystem,
    view: ReadView,
    record: &Record<'_>,
    newest: RowHeader,
    arena: &mut Vec<u8>,
) -> Result<Seen> {
    let start = arena.len();
    arena.extend_from_slice(record.payload());
    let mut before = UndoRecord::default();
    let mut header = newest;
    while header.undo.0 != 0 {
        if let Err(error) = trx.undo().read(UndoPtr::from_raw(header.undo.0), false, &mut before) {
            arena.truncate(start);
            return Err(Error::VersionUnreadable(error));
        }
        apply(&before, start, arena);
        header = RowHeader::decode(&arena[start..]);
        if view.sees(trx, header.trx) {
            if flags_from_undo(before.flags).is_deleted() {
                break;
            }
            return Ok(Seen::Older);
        }
    }
    arena.truncate(start);
    Ok(Seen::Nothing)
}

/// Turns the payload at `start..` of `arena` into the one `before` it.
fn apply(before: &UndoRecord, start: usize, arena: &mut Vec<u8>) {
    match before.kind {
        UndoKind::RowImage => {
            arena.truncate(start);
            arena.extend_from_slice(&before.image);
        }
        UndoKind::RowPatch | UndoKind::RowDelete => {
            if let Some(header) = &before.row_header {
                arena[start..start + ROW_HEADER_BYTES].copy_from_slice(header);
            }
            let at = start + usize::from(before.patch_offset);
            arena[at..at + before.image.len()].copy_from_slice(&before.image);
        }
        kind => debug_assert!(false, "{kind:?} has no row before it"),
    }
}

/// Whether `view` sees a secondary entry.
#[inline]
pub(crate) fn sees_entry(trx: &TrxSystem, view: &ReadView, entry: &RowRef<'_>) -> bool {
    view.sees(trx, entry.begin_trx()) && !entry.end_trx().is_some_and(|end| view.sees(trx, end))
}
