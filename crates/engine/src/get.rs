//! Reading one row.

use btree::{LeafHint, Position};
use page::{Cell, OlderVersion, Records, RowRef, SlotFlags};
use trx::ReadView;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::row::version::{self, Seen};
use crate::table::Table;

/// A visible row in its leaf.
#[derive(Clone, Copy, Debug)]
pub struct FoundCell<'a> {
    /// The leaf's records.
    pub records: Records<'a>,
    /// The row's cell: the record's, or that of an older version.
    pub cell: Cell<'a>,
    /// Most bytes of its body.
    pub body_bytes_max: usize,
}

/// Reads the row at `at`, on a page of an older row format version, as it is there. All views see the page:
/// it has not changed since the columns did.
///
/// # Errors
/// [`Error::IndexDisagrees`] if no page can have that version.
#[cold]
pub(crate) fn read_older<R>(
    index: &Index,
    at: &Position<'_>,
    read: impl FnOnce(FoundCell<'_>, Option<&OlderVersion>) -> R,
) -> Result<Option<R>> {
    let (records, older) = (at.page().records(), index.older(at.page())?);
    if at.page().is_deleted(at.slot()) {
        return Ok(None);
    }
    let (cell, body_bytes_max) = records.cell(at.slot());
    Ok(Some(read(FoundCell { records, cell, body_bytes_max }, Some(older))))
}

#[inline(never)]
fn get_cell_version<R>(
    engine: &Engine,
    view: ReadView,
    index: &Index,
    at: &Position<'_>,
    read: impl FnOnce(FoundCell<'_>, Option<&OlderVersion>) -> R,
) -> Result<Option<R>> {
    if !index.tree.is_current(at.page()) {
        return read_older(index, at, read);
    }
    let (records, slot) = (at.page().records(), at.slot());
    let mut older = Vec::new();
    let seen = version::clustered(&engine.trx, view, index, at.page(), &at.record(), &mut older)?;
    let (cell, body_bytes_max) = match seen {
        Seen::Nothing => return Ok(None),
        Seen::Current => records.cell(slot),
        Seen::Older => (Cell::new(slot, &older, 0), older.len()),
    };
    Ok(Some(read(FoundCell { records, cell, body_bytes_max }, None)))
}

impl Table {
    /// Says that the row with `clustered_key` is read soon: see [`btree::Tree::prefetch_leaf`].
    #[inline]
    pub fn prefetch_leaf(&self, engine: &Engine, clustered_key: &[u8]) -> LeafHint<'_> {
        self.clustered().tree.prefetch_leaf(&engine.store, clustered_key)
    }

    /// Reads the visible row with `clustered_key` under its leaf's latch: `read` does no I/O and waits for
    /// nothing.
    ///
    /// # Errors
    /// [`Error::TableDefinitionChanged`]: the table was truncated after the view was taken.
    ///
    /// Cost: [`btree::Tree::point`] and about 30 instructions where the whole page is visible; no allocation.
    #[inline]
    pub fn get<R>(
        &self,
        engine: &Engine,
        view: &ReadView,
        clustered_key: &[u8],
        read: impl FnOnce(RowRef<'_>) -> R,
    ) -> Result<Option<R>> {
        let index = self.clustered();
        if view.number() < index.usable_from {
            return Err(Error::TableDefinitionChanged);
        }
        let Some(at) = index.tree.point(&engine.store, clustered_key)? else { return Ok(None) };
        let record = at.record();
        if view.sees_whole_page(at.page().trx_max()) && index.tree.is_current(at.page()) {
            if record.flags().is_deleted() {
                return Ok(None);
            }
            return Ok(Some(read(RowRef::new(&index.format, record))));
        }
        self.get_version(engine, *view, &at, read)
    }

    /// As [`Table::get`], for readers of a record's bytes. `hint`: of [`Table::prefetch_leaf`] for this key.
    /// `read` gets the row format version of a row that is not in the index's, as it is on its page.
    #[inline]
    pub fn get_cell<R>(
        &self,
        engine: &Engine,
        view: &ReadView,
        clustered_key: &[u8],
        hint: LeafHint<'_>,
        read: impl FnOnce(FoundCell<'_>, Option<&OlderVersion>) -> R,
    ) -> Result<Option<R>> {
        let index = self.clustered();
        if view.number() < index.usable_from {
            return Err(Error::TableDefinitionChanged);
        }
        let Some(at) = index.tree.point_with_hint(hint, &engine.store, clustered_key)? else {
            return Ok(None);
        };
        if !(view.sees_whole_page(at.page().trx_max()) && index.tree.is_current(at.page())) {
            return get_cell_version(engine, *view, index, &at, read);
        }
        if at.page().flags(at.slot()).is_deleted() {
            return Ok(None);
        }
        let records = at.page().records();
        let (cell, body_bytes_max) = records.cell(at.slot());
        Ok(Some(read(FoundCell { records, cell, body_bytes_max }, None)))
    }

    #[inline(never)]
    fn get_version<R>(
        &self,
        engine: &Engine,
        view: ReadView,
        at: &Position<'_>,
        read: impl FnOnce(RowRef<'_>) -> R,
    ) -> Result<Option<R>> {
        let (index, record) = (self.clustered(), at.record());
        let (format, mut older) = (&index.format, Vec::new());
        Ok(match version::clustered(&engine.trx, view, index, at.page(), &record, &mut older)? {
            Seen::Nothing => None,
            Seen::Current => Some(read(RowRef::new(format, record))),
            Seen::Older => {
                let record = record.with_payload(&older, SlotFlags::NONE);
                Some(read(RowRef::new(format, record)))
            }
        })
    }
}
