//! What every row change needs at hand, and the changes of one clustered record.

use base::TrxId;
use btree::{KEY_BYTES_MAX, LeafEdit, Store, Tree};
use page::{RowHeader, SlotFlags, UndoPtr};
use trx::undo::ROW_HEADER_BYTES;
use trx::{NewUndo, ReadView, Trx, UndoKind, UndoLog};
use types::key::Extent;

use super::rollback;
use super::version::flags_to_undo;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::table::{Index, Table};

/// The writing transaction at work on one table. Its metadata lock is held.
pub(crate) struct RowWriter<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) table: &'a Table,
    pub(crate) id: TrxId,
    pub(crate) log: &'a mut UndoLog,
    /// The transaction's view, if it has one.
    view: Option<ReadView>,
    /// A row was changed over a version that the view does not see.
    mixed: bool,
}

/// Runs a change of one row; if it fails, what it did is undone. The row is all or nothing.
pub(crate) fn change<R>(
    engine: &Engine,
    table: &Table,
    trx: &mut Trx,
    work: impl FnOnce(&mut RowWriter<'_>, &mut trx::Buffers) -> Result<R>,
) -> Result<R> {
    // Before the first latch, and before the undo is held.
    engine.store.log().admit()?;
    let id = trx.lock_for_write()?;
    let view = trx.taken_view();
    let (mut log, buffers, slot) = trx.write_parts()?;
    let mark = log.mark();
    if mark.is_none() {
        slot.note_first_undo(engine.store.log().current());
        engine.keep_below_trx_limit(id)?;
    }
    let mut writer = RowWriter { engine, table, id, log: &mut log, view, mixed: false };
    let done = work(&mut writer, buffers);
    let mixed = writer.mixed;
    if done.is_err() {
        rollback::undo_partly(engine, &mut log, mark)?;
    }
    drop(log);
    if mixed {
        trx.note_mixed();
    }
    done
}

impl RowWriter<'_> {
    pub(crate) fn store(&self) -> &Store {
        &self.engine.store
    }

    /// Appends an undo record about a record of `index`.
    #[inline]
    pub(crate) fn undo(
        &mut self,
        index: &Index,
        kind: UndoKind,
        flags: SlotFlags,
        key: &[u8],
        image: &[u8],
    ) -> UndoPtr {
        let ptr = self.log.append(&NewUndo {
            kind,
            index: index.tree.index,
            flags: flags_to_undo(flags),
            patch_offset: 0,
            key,
            row_header: None,
            image,
        });
        UndoPtr(ptr.raw())
    }

    /// Commits an edit in one frame with the undo of its changes.
    #[inline]
    pub(crate) fn commit(&mut self, edit: LeafEdit<'_>) {
        if edit.commit_with(self.log.parts()).is_some() {
            self.log.clear_parts();
        }
    }

    /// Notes whose version of a row is being changed.
    #[inline]
    pub(crate) fn overwrites(&mut self, writer: TrxId) {
        self.mixed |= writer != self.id && self.view.is_some_and(|view| !view.sees(&self.engine.trx, writer));
    }

    /// The header of a record this transaction writes.
    #[inline]
    pub(crate) fn header(&self, undo: UndoPtr) -> [u8; ROW_HEADER_BYTES] {
        RowHeader { trx: self.id, undo }.encode()
    }
}

/// A key made of whole parts, short enough for its tree, a begin id included.
#[inline]
pub(crate) fn ensure_key(extent: Extent, key: &[u8]) -> Result<()> {
    if extent == Extent::Whole && key.len() + TrxId::STORED_BYTES <= KEY_BYTES_MAX {
        Ok(())
    } else {
        Err(Error::KeyTooLong { limit: KEY_BYTES_MAX - TrxId::STORED_BYTES })
    }
}

/// Replaces the payload of the record with `key`, making room if need be, and hands the edit to `finish`, which commits it.
/// `check` looks at the record first, and gets ready for what `finish` does; false: nothing happens.
pub(crate) fn replace_payload(
    tree: &Tree,
    store: &Store,
    key: &[u8],
    payload: &[u8],
    check: impl Fn(&mut LeafEdit<'_>) -> Result<bool>,
    finish: impl FnOnce(LeafEdit<'_>),
) -> Result<bool> {
    let mut need = 0;
    loop {
        let mut edit = tree.edit(store, key, need)?;
        if !edit.found() || !check(&mut edit)? {
            return Ok(false);
        }
        if edit.replace_payload(payload).is_ok() {
            finish(edit);
            return Ok(true);
        }
        edit.commit();
        need = key.len() + payload.len();
    }
}

/// Removes the record with `key` if `check` says so, and an all but empty leaf with it. `parts` are in the removal's frame.
pub(crate) fn remove(
    tree: &Tree,
    store: &Store,
    key: &[u8],
    parts: &[u8],
    check: impl FnOnce(&LeafEdit<'_>) -> bool,
) -> Result<bool> {
    let mut edit = tree.edit(store, key, 0)?;
    if !edit.found() || !check(&edit) {
        return Ok(false);
    }
    edit.remove();
    let sparse = edit.is_sparse();
    edit.commit_with(parts);
    if sparse {
        tree.shrink(store, key)?;
    }
    Ok(true)
}
