//! Undoing: a transaction's records, newest first, back to a mark.

use base::sync::{PlantedBug, planted};
use base::{ROW_HEADER_BYTES, TrxId, UndoPtr};
use log::Part;
use page::check::fits_format;
use page::{OverflowRef, RowHeader, TRX_ID_BYTES};
use space::{SpaceReserve, Store};
use trx::{Locker, UndoKind, UndoLog, UndoRecord};

use super::tree_edit::{remove, replace_payload};
use super::version::{CLOSED, flags_from_undo, flags_to_undo};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::table::Table;

/// Undoes everything after `mark`, each record in one frame with the part that says so. The last parts may
/// stay in `log`, for the frame of what comes next. Rows that were there before stay locked by `locker`.
/// After an error the record that caused it and older ones are still to be undone, by another call or by the
/// next startup. [`Error::NotUndone`] asks for [`Engine::past_damage`]; others stop the server.
pub(crate) fn undo_to(
    engine: &Engine,
    log: &mut UndoLog,
    mark: UndoPtr,
    locker: Option<&Locker<'_>>,
) -> Result<()> {
    let _reserve = SpaceReserve::open();
    let mut record = UndoRecord::default();
    while undo_newest(engine, log, mark, locker, &mut record)? {}
    Ok(())
}

/// Undoes the newest record after `mark`, as [`undo_to`] does. False: there is none.
pub(crate) fn undo_newest(
    engine: &Engine,
    log: &mut UndoLog,
    mark: UndoPtr,
    locker: Option<&Locker<'_>>,
    record: &mut UndoRecord,
) -> Result<bool> {
    let (newest, parts) = (log.mark(), log.parts().len());
    if !log.pop(mark, record).map_err(Error::UndoUnreadable)? {
        return Ok(false);
    }
    if record.kind == UndoKind::EntryClose && planted(PlantedBug::SkippedUndo) {
        return Ok(true);
    }
    let locks_row = matches!(record.kind, UndoKind::RowImage | UndoKind::RowPatch | UndoKind::RowDelete);
    if let Some(locker) = locker.filter(|_| locks_row) {
        locker.keep_row(record.index, &record.key);
    }
    let trx = log.id().unwrap_or_default();
    let admitted = engine.store.log().admit_reserved().map_err(Error::from);
    match admitted.and_then(|()| undo_one(engine, trx, record, log.parts())) {
        Ok(true) => log.clear_parts(),
        Ok(false) => {}
        // Changes of an index that is permanently out of use are undone where its pages can be read.
        Err(error) if error.is_corrupt_page() && is_void(engine, record, &error) => {}
        Err(error) => {
            log.take_back(newest, parts);
            return Err(stuck(record, error));
        }
    }
    Ok(true)
}

/// Whether a record that damage keeps from being undone needs no more: its index is out of use permanently,
/// or in no table, or all that stays is that pages are allocated to an unreferenced value.
#[cold]
fn is_void(engine: &Engine, record: &UndoRecord, error: &Error) -> bool {
    let page = if let Error::Storage(error) = error { error.damaged_page() } else { None };
    let is_of_map = page.is_some_and(|page| engine.store.is_system_page(page));
    engine.is_lost(record.index)
        || engine.catalog().index(record.index).is_none()
        || record.kind == UndoKind::ValueWritten && is_of_map
}

/// The error of a record that could not be undone.
#[cold]
fn stuck(record: &UndoRecord, error: Error) -> Error {
    if error.is_corrupt_page() {
        return Error::NotUndone { index: record.index, cause: Box::new(error) };
    }
    error
}

/// [`undo_to`] of a transaction that continues.
pub(crate) fn undo_partly(
    engine: &Engine,
    log: &mut UndoLog,
    mark: UndoPtr,
    locker: &Locker<'_>,
) -> Result<()> {
    if log.mark() == mark {
        return Ok(());
    }
    undo_to(engine, log, mark, Some(locker))?;
    if let Some(trx) = log.id() {
        log.push_part(&Part::SavepointRollbackDone { trx, reached: mark });
    }
    Ok(())
}

/// Undoes one record of `trx`; `parts` are in the frame. False if there was nothing to change, and no frame.
fn undo_one(engine: &Engine, trx: TrxId, record: &UndoRecord, parts: &[u8]) -> Result<bool> {
    let store = &engine.store;
    match record.kind {
        UndoKind::ValueWritten => {
            store.free_overflow(&OverflowRef::decode(&record.image), parts)?;
            return Ok(true);
        }
        UndoKind::ValueDead => return Ok(false),
        _ => {}
    }
    let catalog = engine.catalog();
    // The transaction holds the metadata lock of every table it has changed.
    let disagrees = || Error::IndexDisagrees { index: record.index };
    let (table, position) = catalog.index(record.index).ok_or_else(disagrees)?;
    let index = &table.indexes[*position];
    let is_row = !matches!(record.kind, UndoKind::EntryInsert | UndoKind::EntryClose | UndoKind::EntryReopen);
    if is_row != index.format.is_clustered() || flags_from_undo(record.flags).has_end() && is_row {
        return Err(disagrees());
    }
    let build = if is_row && table.is_building() { table.build() } else { None };
    if let Some(build) = &build {
        build.note_undo(engine, table, record);
    }
    let done = undo_in(engine, trx, table, index, record, parts);
    if let Some(build) = build {
        build.note_undone(engine, record, matches!(done, Ok(true)));
    }
    if done? { Ok(true) } else { Err(disagrees()) }
}

/// [`undo_one`] of a record of `index`. False: there was nothing to change.
fn undo_in(
    engine: &Engine,
    trx: TrxId,
    table: &Table,
    index: &Index,
    record: &UndoRecord,
    parts: &[u8],
) -> Result<bool> {
    let store = &engine.store;
    Ok(match record.kind {
        UndoKind::RowInsert => {
            table.add_rows(-1);
            remove(&index.tree, store, &record.key, parts, |_| true)?
        }
        UndoKind::RowImage => undo_row_image(engine, trx, table, index, record, parts)?,
        UndoKind::RowPatch | UndoKind::RowDelete => undo_row_patch(engine, trx, table, index, record, parts)?,
        UndoKind::EntryInsert => remove(&index.tree, store, &record.key, parts, |_| true)?,
        UndoKind::EntryClose => undo_entry_close(store, index, record, parts)?,
        UndoKind::EntryReopen if record.image.len() < TRX_ID_BYTES => false,
        UndoKind::EntryReopen => replace_payload(
            &index.tree,
            store,
            &record.key,
            &record.image,
            |_| Ok(true),
            |mut edit| {
                edit.set_flags(flags_from_undo(record.flags).with(CLOSED));
                edit.commit_with(parts);
            },
        )?,
        UndoKind::ValueWritten | UndoKind::ValueDead => true,
    })
}

fn undo_row_image(
    engine: &Engine,
    trx: TrxId,
    table: &Table,
    index: &Index,
    record: &UndoRecord,
    parts: &[u8],
) -> Result<bool> {
    let flags = flags_from_undo(record.flags);
    let deleter = RowHeader::decode(&record.image).trx;
    let restore = |mut edit: btree::LeafEdit<'_>| {
        edit.set_flags(flags);
        // Asked under the leaf's latch: purge that has been here already will not come again. A mark of the
        // transaction's own is undone next.
        if flags.is_deleted() && deleter != trx && engine.trx.purge_has_begun(deleter) {
            edit.remove();
        }
        edit.commit_with(parts);
    };
    if flags.is_deleted() {
        table.add_rows(-1);
    }
    replace_payload(&index.tree, &engine.store, &record.key, &record.image, |_| Ok(true), restore)
}

fn undo_row_patch(
    engine: &Engine,
    trx: TrxId,
    table: &Table,
    index: &Index,
    record: &UndoRecord,
    parts: &[u8],
) -> Result<bool> {
    let mut edit = index.tree.edit(&engine.store, &record.key, 0)?;
    let end = usize::from(record.patch_offset) + record.image.len();
    if !edit.found() || edit.record().payload().len() < end.max(ROW_HEADER_BYTES) {
        return Ok(false);
    }
    if engine.trx.is_from_before(trx) && !makes_a_row(edit.record().payload(), index, record) {
        return Ok(false);
    }
    if let Some(header) = &record.row_header {
        edit.patch(0, header);
    }
    if !record.image.is_empty() {
        edit.patch(usize::from(record.patch_offset), &record.image);
    }
    if flags_to_undo(edit.record().flags()) != record.flags {
        edit.set_flags(flags_from_undo(record.flags));
    }
    edit.commit_with(parts);
    if record.kind == UndoKind::RowDelete {
        table.add_rows(1);
    }
    Ok(true)
}

/// Whether a patch of the log makes a row of `payload`.
fn makes_a_row(payload: &[u8], index: &Index, record: &UndoRecord) -> bool {
    let (mut patched, from) = (payload.to_vec(), usize::from(record.patch_offset));
    patched[from..from + record.image.len()].copy_from_slice(&record.image);
    fits_format(&record.key, &patched, flags_from_undo(record.flags), &index.format)
}

fn undo_entry_close(store: &Store, index: &Index, record: &UndoRecord, parts: &[u8]) -> Result<bool> {
    let mut edit = index.tree.edit(store, &record.key, 0)?;
    let flags = flags_from_undo(record.flags);
    if !edit.found() || !edit.record().flags().has_end() || flags.has_end() {
        return Ok(false);
    }
    // A shorter payload always fits; its bytes are taken out before the record moves.
    let open = edit.record().payload()[TRX_ID_BYTES..].to_vec();
    edit.replace_payload(&open).expect("a shorter payload fits in the record's place");
    edit.set_flags(flags);
    edit.commit_with(parts);
    Ok(true)
}
