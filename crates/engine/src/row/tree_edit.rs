//! Changes of one record of a tree, whatever it is.

use btree::{LeafEdit, Tree};
use space::Store;

use crate::error::Result;

/// Replaces the payload of the record with `key`, making room if need be, and hands the edit to `finish`,
/// which commits it. `check` reads the record first, and gets ready for what `finish` does; false: nothing
/// happens.
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

/// Removes the record with `key` if `check` says so, and an all but empty leaf with it. `parts` are in the
/// removal's frame.
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
        match tree.shrink(store, key) {
            // The record is gone; a leaf that stays sparse does no harm. The statement that needs the page
            // reports it.
            Err(error) if error.damaged_page().is_some() => {}
            shrunk => shrunk?,
        }
    }
    Ok(true)
}
