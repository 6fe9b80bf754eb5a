//! Undoing: a transaction's records, newest first, back to a mark.

use btree::Store;
use page::{OverflowRef, RowHeader, TRX_ID_BYTES};
use trx::{TrxSystem, UndoKind, UndoLog, UndoPtr, UndoRecord};

use super::entry::CLOSED;
use super::version::{flags_from_undo, flags_to_undo};
use super::writer::{remove, replace_payload};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::table::{Index, Table};

/// Undoes everything after `mark`. An error leaves the rest undone and stops the server.
pub(crate) fn undo_to(engine: &Engine, log: &mut UndoLog, mark: UndoPtr) -> Result<()> {
    let mut record = UndoRecord::default();
    while log.pop(mark, &mut record) {
        undo_one(engine, &record)?;
    }
    Ok(())
}

fn undo_one(engine: &Engine, record: &UndoRecord) -> Result<()> {
    let store = &engine.store;
    match record.kind {
        UndoKind::ValueWritten => return Ok(store.free_overflow(&OverflowRef::decode(&record.image))?),
        UndoKind::ValueDead => return Ok(()),
        _ => {}
    }
    let catalog = engine.catalog();
    // The transaction holds the metadata lock of every table it has changed.
    let (table, position) = catalog.index(record.index).ok_or(Error::IndexDisagrees)?;
    let index = &table.indexes[*position];
    let done = match record.kind {
        UndoKind::RowInsert => {
            table.add_rows(-1);
            remove(&index.tree, store, &record.key, |_| true)?
        }
        UndoKind::RowImage => undo_row_image(store, &engine.trx, table, index, record)?,
        UndoKind::RowPatch | UndoKind::RowDelete => undo_row_patch(store, table, index, record)?,
        UndoKind::EntryInsert => remove(&index.tree, store, &record.key, |_| true)?,
        UndoKind::EntryClose => undo_entry_close(store, index, record)?,
        UndoKind::EntryReopen => replace_payload(
            &index.tree,
            store,
            &record.key,
            &record.image,
            |_| true,
            |edit| edit.set_flags(flags_from_undo(record.flags).with(CLOSED)),
        )?,
        UndoKind::ValueWritten | UndoKind::ValueDead => true,
    };
    if done { Ok(()) } else { Err(Error::IndexDisagrees) }
}

fn undo_row_image(
    store: &Store,
    system: &TrxSystem,
    table: &Table,
    index: &Index,
    record: &UndoRecord,
) -> Result<bool> {
    let flags = flags_from_undo(record.flags);
    if !flags.is_deleted() {
        return replace_payload(
            &index.tree,
            store,
            &record.key,
            &record.image,
            |_| true,
            |edit| edit.set_flags(flags),
        );
    }
    table.add_rows(-1);
    let deleter = RowHeader::decode(&record.image).trx;
    let restore = |edit: &mut btree::LeafEdit<'_>| {
        edit.set_flags(flags);
        // Asked under the leaf's latch: purge that has been here already will not come again.
        if system.purge_has_begun(deleter) {
            edit.remove();
        }
    };
    replace_payload(&index.tree, store, &record.key, &record.image, |_| true, restore)
}

fn undo_row_patch(store: &Store, table: &Table, index: &Index, record: &UndoRecord) -> Result<bool> {
    let mut edit = index.tree.edit(store, &record.key, 0)?;
    if !edit.found() {
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
    edit.commit();
    if record.kind == UndoKind::RowDelete {
        table.add_rows(1);
    }
    Ok(true)
}

fn undo_entry_close(store: &Store, index: &Index, record: &UndoRecord) -> Result<bool> {
    let mut edit = index.tree.edit(store, &record.key, 0)?;
    if !edit.found() {
        return Ok(false);
    }
    // A shorter payload always fits; its bytes are taken out before the record moves.
    let open = edit.record().payload()[TRX_ID_BYTES..].to_vec();
    edit.replace_payload(&open).expect("a shorter payload fits in the record's place");
    edit.set_flags(flags_from_undo(record.flags));
    edit.commit();
    Ok(true)
}
