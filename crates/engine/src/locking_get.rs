//! Reading one row that is locked before it is read.

use btree::Position;
use page::{OlderVersion, RowHeader, RowRef, SlotFlags};
use trx::{Attempt, LockRead};

use crate::engine::Engine;
use crate::error::{Result, fail_if_interrupted};
use crate::get::{FoundCell, read_older};
use crate::locking_scan::ensure_seen;
use crate::table::Table;

impl Table {
    /// Locks the row with `clustered_key`, waiting for it, and reads its newest version under its leaf's
    /// latch: `read` does no I/O and waits for nothing. `None`, with nothing read: there is no such row, or
    /// SKIP LOCKED leaves it out. A [`LockingScan`](crate::LockingScan) locks the gap then.
    ///
    /// # Errors
    /// Those of locks, and of pages.
    ///
    /// Cost: [`btree::Tree::point`] and one lock request; allocates only what the lock needs.
    pub fn lock_and_get<R>(
        &self,
        engine: &Engine,
        locks: &LockRead,
        clustered_key: &[u8],
        read: impl FnOnce(RowRef<'_>) -> R,
    ) -> Result<Option<R>> {
        let found = self.lock_point(engine, locks, clustered_key)?;
        let Some(at) = found else { return Ok(None) };
        let index = self.clustered();
        if !index.tree.is_current(at.page()) {
            let mut payload = Vec::new();
            index.convert(at.page(), at.record(), &mut payload)?;
            let record = at.record().with_payload(&payload, SlotFlags::NONE);
            return Ok(Some(read(RowRef::new(&index.format, record))));
        }
        Ok(Some(read(RowRef::new(&index.format, at.record()))))
    }

    /// As [`Table::lock_and_get`], for readers of a record's bytes.
    pub fn lock_and_get_cell<R>(
        &self,
        engine: &Engine,
        locks: &LockRead,
        clustered_key: &[u8],
        read: impl FnOnce(FoundCell<'_>, Option<&OlderVersion>) -> R,
    ) -> Result<Option<R>> {
        let Some(at) = self.lock_point(engine, locks, clustered_key)? else { return Ok(None) };
        let (index, records) = (self.clustered(), at.page().records());
        if !index.tree.is_current(at.page()) {
            return read_older(index, &at, read);
        }
        let (cell, body_bytes_max) = records.cell(at.slot());
        Ok(Some(read(FoundCell { records, cell, body_bytes_max }, None)))
    }

    /// The place of the row with `clustered_key`, which is locked.
    #[inline]
    fn lock_point<'e>(
        &self,
        engine: &'e Engine,
        locks: &LockRead,
        clustered_key: &[u8],
    ) -> Result<Option<Position<'e>>> {
        let tree = &self.clustered().tree;
        let rows = locks.rows();
        loop {
            fail_if_interrupted()?;
            let Some(at) = tree.point(&engine.store, clustered_key)? else { return Ok(None) };
            if at.page().flags(at.slot()).is_deleted() {
                return Ok(None);
            }
            let writer = RowHeader::decode(at.record().payload()).trx;
            match rows.request(tree.index, clustered_key, writer)? {
                Attempt::Granted { .. } => {
                    ensure_seen(self, rows, writer)?;
                    return Ok(Some(at));
                }
                Attempt::Skipped => return Ok(None),
                Attempt::Wait => {
                    drop(at);
                    rows.locker.wait()?;
                }
            }
        }
    }
}
