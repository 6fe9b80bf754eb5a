//! Sweeping: removing the purge work that transactions before the startup left behind.
//!
//! Purge works through what it has in memory; a crash, or a reader at shutdown, leaves delete-marked records
//! and closed entries that no list has. The map marks the extents that may have some. In background, after
//! the start, their leaves are read: what a transaction below the restart horizon marked is removed, for
//! every view is younger.

use base::codec::get_u48;
use base::{IndexId, TrxId};
use btree::LeafEdit;
use page::{PageRef, PageType, Record, RowHeader};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::purge::{HeldTable, Hold};
use crate::row::tree_edit::remove;

/// Something that may be removed.
struct Purgeable {
    index: IndexId,
    key: Vec<u8>,
}

/// Result of one step of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SweepReport {
    /// Pages checked.
    pub pages: usize,
    /// Records and entries removed.
    pub removed: usize,
}

impl Engine {
    /// Sweeps one extent; `None` if there is none left to sweep. Purge and sweeps take turns.
    pub(crate) fn sweep_step(&self) -> Result<Option<SweepReport>> {
        let _turn = self.purge.pause();
        let Some(sweep) = self.store.begin_sweep() else { return Ok(None) };
        let mut report = SweepReport::default();
        let mut held = HeldTable::default();
        let (mut is_clean, mut is_locked) = (true, false);
        for &page in &sweep.pages {
            let mut leftovers = Vec::new();
            match self.store.pool().shared_cold(page) {
                Ok(guard) => is_clean &= self.find_leftovers(guard.page(), &mut leftovers),
                // A statement that reads the page reports it. The extent keeps its bit.
                Err(buffer::Error::Corruption(_)) => is_clean = false,
                Err(error) => return Err(space::Error::from(error).into()),
            }
            for leftover in leftovers {
                let removed = match self.remove_leftover(&leftover, &mut held) {
                    // As if its table were locked: the disk is full.
                    Err(Error::LogFull(_)) => None,
                    Err(error) if error.is_corrupt_page() => {
                        self.pass_over_damage(leftover.index, &error);
                        Some(false)
                    }
                    removed => removed?,
                };
                is_locked |= removed.is_none();
                is_clean &= removed.unwrap_or(false);
                report.removed += usize::from(removed.unwrap_or(false));
            }
            report.pages += 1;
        }
        if is_locked {
            self.store.postpone_sweep(&sweep);
        } else {
            match self.store.end_sweep(&sweep, is_clean) {
                // The extent keeps its bit.
                Err(error) if error.damaged_page().is_some() => self.store.end_sweep(&sweep, false)?,
                ended => ended?,
            }
        }
        Ok(Some(report))
    }

    /// Adds what may be removed from a page. False: something is marked that has to stay for now.
    fn find_leftovers(&self, page: PageRef<'_>, found: &mut Vec<Purgeable>) -> bool {
        if page.page_type() != PageType::BTree || !page.is_leaf() {
            return true;
        }
        let catalog = self.catalog();
        // Trees of the dictionary have no marks; others without a table are on their way out.
        let Some((_, position)) = catalog.index(page.index_id()) else { return true };
        let mut none_stays = true;
        for slot in 0..page.count() {
            let record = page.record(slot);
            if record.flags().is_deleted() {
                if self.is_leftover(&record, *position == 0) {
                    let mut key = Vec::new();
                    page.append_key(slot, &mut key);
                    found.push(Purgeable { index: page.index_id(), key });
                } else {
                    none_stays = false;
                }
            }
        }
        none_stays
    }

    /// Whether a transaction that had ended before the startup deleted the record, or closed the entry. One
    /// that the startup found unfinished will have undone that.
    fn is_leftover(&self, record: &Record<'_>, is_row: bool) -> bool {
        let by = if is_row {
            RowHeader::decode(record.payload()).trx
        } else if record.flags().has_end() {
            TrxId(get_u48(record.payload(), 0))
        } else {
            return false;
        };
        record.flags().is_deleted() && by < self.restart_horizon && !self.trx.is_in_progress(by)
    }

    /// Removes a leftover; whether it was there, or nothing if its table is locked.
    fn remove_leftover(&self, leftover: &Purgeable, held: &mut HeldTable) -> Result<Option<bool>> {
        match held.hold(self, leftover.index) {
            Hold::Held => {}
            Hold::Gone => return Ok(Some(false)),
            Hold::Locked => return Ok(None),
        }
        let Some((table, position)) = held.table() else { return Ok(Some(false)) };
        if table.is_out_of_use(position) {
            return Ok(Some(false));
        }
        self.store.log().admit()?;
        let tree = &table.indexes[position].tree;
        let is_leftover = |edit: &LeafEdit<'_>| self.is_leftover(&edit.record(), position == 0);
        remove(tree, &self.store, &leftover.key, &[], is_leftover).map(Some)
    }
}
