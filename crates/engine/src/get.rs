//! Reading one row.

use btree::Position;
use page::{RowRef, SlotFlags};
use trx::ReadView;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::row::version::{self, Seen};
use crate::table::Table;

impl Table {
    /// Reads the visible row with `clustered_key` under its leaf's latch: `read` does no I/O and waits for nothing.
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
        if view.limit() < index.usable_from {
            return Err(Error::TableDefinitionChanged);
        }
        let Some(at) = index.tree.point(&engine.store, clustered_key)? else { return Ok(None) };
        let record = at.record();
        if view.sees_whole_page(at.page().max_trx()) {
            if record.flags().is_deleted() {
                return Ok(None);
            }
            return Ok(Some(read(RowRef::new(&index.format, record))));
        }
        Ok(self.get_version(engine, *view, &at, read))
    }

    #[inline(never)]
    fn get_version<R>(
        &self,
        engine: &Engine,
        view: ReadView,
        at: &Position<'_>,
        read: impl FnOnce(RowRef<'_>) -> R,
    ) -> Option<R> {
        let (format, record) = (&self.clustered().format, at.record());
        let mut older = Vec::new();
        match version::clustered(engine.trx.undo(), view, &record, &mut older) {
            Seen::Nothing => None,
            Seen::Current => Some(read(RowRef::new(format, record))),
            Seen::Older => {
                let record = record.with_payload(&older, SlotFlags::NONE);
                Some(read(RowRef::new(format, record)))
            }
        }
    }
}
