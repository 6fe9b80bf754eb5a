//! Which version of a record a view sees.
//!
//! A clustered record carries its newest version; older ones are made from undo, one step at a time, until
//! the view sees the writer. A secondary entry is judged alone.
//!
//! A page whose records have an older row format version has not changed since its table's columns did, so
//! that every view that may read the table sees its records: they are handed out as the current version has
//! them.

use base::ROW_HEADER_BYTES;
use page::check::fits_format;
use page::{PageRef, Record, RowFormat, RowHeader, RowRef, SlotFlags};
use trx::undo::UndoRecord;
use trx::{ReadView, TrxSystem, UndoKind};

use crate::error::{Error, Result};
use crate::index::Index;

/// Marks of a closed entry.
pub(crate) const CLOSED: SlotFlags = SlotFlags::DELETED.with(SlotFlags::HAS_END);

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

/// The version of a clustered record that a view sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The record as it is.
    Current,
    /// An older version, or the record converted: its payload is at the end of the arena.
    Older,
    /// Nothing.
    Nothing,
}

/// Finds the version of a clustered record on `page` that `view` sees. One that is not on the page is
/// appended to `arena`.
///
/// # Errors
/// [`Error::VersionUnreadable`], [`Error::VersionDamaged`]; the arena is as it was.
#[inline]
pub(crate) fn clustered(
    trx: &TrxSystem,
    view: ReadView,
    index: &Index,
    page: PageRef<'_>,
    record: &Record<'_>,
    arena: &mut Vec<u8>,
) -> Result<Seen> {
    if !index.tree.is_current(page) {
        return converted(index, page, record, arena);
    }
    let format = &index.format;
    let header = RowHeader::decode(record.payload());
    if view.sees(trx, header.trx) {
        return Ok(if record.flags().is_deleted() { Seen::Nothing } else { Seen::Current });
    }
    older(trx, view, format, record, header, arena)
}

/// [`clustered`] on a page of an older row format version.
#[cold]
#[inline(never)]
fn converted(index: &Index, page: PageRef<'_>, record: &Record<'_>, arena: &mut Vec<u8>) -> Result<Seen> {
    if record.flags().is_deleted() {
        return Ok(Seen::Nothing);
    }
    index.convert(page, *record, arena)?;
    Ok(Seen::Older)
}

#[cold]
#[inline(never)]
fn older(
    trx: &TrxSystem,
    view: ReadView,
    format: &RowFormat,
    record: &Record<'_>,
    newest: RowHeader,
    arena: &mut Vec<u8>,
) -> Result<Seen> {
    let start = arena.len();
    arena.extend_from_slice(record.payload());
    let mut before = UndoRecord::default();
    let mut header = newest;
    let mut steps = 0;
    while header.undo.0 != 0 {
        steps += 1;
        if trx.is_from_before(header.trx) && !leads_to_undo(trx, &header, steps) {
            arena.truncate(start);
            return Err(Error::VersionDamaged { trx: header.trx });
        }
        if let Err(error) = trx.undo().read(header.undo, false, &mut before) {
            arena.truncate(start);
            return Err(Error::VersionUnreadable(error));
        }
        let writer = header.trx;
        if !apply(&before, start, arena)
            || trx.is_from_before(writer) && !is_sound(record, arena, start, format)
        {
            arena.truncate(start);
            return Err(Error::VersionDamaged { trx: writer });
        }
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

/// Whether the header, which the startup has found or put back, leads to a record of its transaction, and the
/// chain has no cycle.
fn leads_to_undo(trx: &TrxSystem, header: &RowHeader, steps: u64) -> bool {
    let undo = trx.undo();
    steps <= undo.records_restored() && undo.has_restored(header.trx, header.undo)
}

/// Whether a version that was put together from undo of the log can be a row: a patch shows what it makes
/// only with what it is a patch of.
fn is_sound(record: &Record<'_>, arena: &[u8], start: usize, format: &RowFormat) -> bool {
    record.with_key(|key| fits_format(key, &arena[start..], SlotFlags::NONE, format))
}

/// Turns the payload at `start..` of `arena` into the one `before` it. False: it cannot be.
pub(crate) fn apply(before: &UndoRecord, start: usize, arena: &mut Vec<u8>) -> bool {
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
            let Some(patched) = arena.get_mut(at..at + before.image.len()) else { return false };
            patched.copy_from_slice(&before.image);
        }
        // A row that has a row before it was not inserted where none was.
        _ => return false,
    }
    arena.len() >= start + ROW_HEADER_BYTES
}

/// Whether `view` sees a secondary entry.
#[inline]
pub(crate) fn sees_entry(trx: &TrxSystem, view: &ReadView, entry: &RowRef<'_>) -> bool {
    view.sees(trx, entry.begin_trx()) && !entry.end_trx().is_some_and(|end| view.sees(trx, end))
}
