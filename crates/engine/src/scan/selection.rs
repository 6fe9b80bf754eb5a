//! Which rows of a leaf a view sees, and where their bytes are.

use std::collections::BTreeSet;

use btree::Suspended;
use page::{PageRef, Records, RowRef, SlotFlags, SlotRun};

use super::Source;
use crate::error::Result;
use crate::row::mixed;
use crate::row::version::{self, Seen};

/// The visible rows of a leaf.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Neighbouring records as they are on the page, unless there are `rows`.
    pub(super) run: SlotRun,
    /// Low 16 bits: slot. High 16: 0 = as on the page, else 1 + position in `older`.
    pub(super) rows: Vec<u32>,
    /// Where each row's body begins: on the page, or in `arena`.
    pub(super) bodies: Vec<u32>,
    /// Payloads of older versions, and of rows in a newer format than the page's: start and end in `arena`.
    pub(super) older: Vec<(u32, u32)>,
    pub(super) arena: Vec<u8>,
    pub(super) suspended: Suspended,
    /// Whether rows of older row format versions are handed out as they are.
    pub(crate) takes_older: bool,
    /// Mixed views: rows that an entry was handed out for, by key without begin id.
    pub(super) handed_out: BTreeSet<Vec<u8>>,
}

impl Selection {
    pub(crate) fn clear(&mut self) {
        self.run = SlotRun::default();
        self.rows.clear();
        self.bodies.clear();
        self.older.clear();
        self.arena.clear();
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// From ascending to descending order.
    pub(super) fn reverse(&mut self) {
        self.run.backward = true;
        self.rows.reverse();
        self.bodies.reverse();
    }

    /// Adds the visible rows of `slots`, ascending. No page is latched.
    pub(super) fn select(
        &mut self,
        source: Source<'_>,
        page: PageRef<'_>,
        slots: std::ops::Range<usize>,
    ) -> Result<()> {
        let is_mixed = source.view.is_mixed() && !source.index.format.is_clustered();
        if !is_mixed || source.view.sees_whole_page(page.trx_max()) {
            return self.select_by_entry(source, page, slots);
        }
        for slot in slots {
            let entry = RowRef::new(&source.index.format, page.record(slot));
            let key = entry.record().with_key(<[u8]>::to_vec);
            if !self.handed_out.contains(&key) && mixed::is_entry_of_row(source, &entry)? {
                self.handed_out.insert(key);
                self.push(page.records(), slot);
            }
        }
        Ok(())
    }

    /// As [`Selection::select`] where each entry can be judged alone. Cost: a read of the marks of each slot
    /// when the whole page is visible.
    pub(crate) fn select_by_entry(
        &mut self,
        source: Source<'_>,
        page: PageRef<'_>,
        slots: std::ops::Range<usize>,
    ) -> Result<()> {
        let records = page.records();
        let is_whole = source.view.sees_whole_page(page.trx_max()) && source.index.tree.is_current(page);
        // All views see a page of an older version: it has not changed since the columns did.
        if is_whole || self.takes_older && !source.index.tree.is_current(page) {
            let marks = records.marks(slots.clone());
            if marks.contains(SlotFlags::DELETED) {
                slots.filter(|&slot| !page.is_deleted(slot)).for_each(|slot| self.push(records, slot));
            } else {
                self.run = SlotRun { start: slots.start as u32, end: slots.end as u32, backward: false };
                records.append_bodies(slots, marks, &mut self.bodies);
            }
        } else if source.index.format.is_clustered() {
            return self.select_clustered(source, page, slots);
        } else {
            let format = &source.index.format;
            let visible = |&slot: &usize| {
                version::sees_entry(source.trx, &source.view, &RowRef::new(format, records.get(slot)))
            };
            slots.filter(visible).for_each(|slot| self.push(records, slot));
        }
        Ok(())
    }

    /// Adds the record at `slot` as it is.
    fn push(&mut self, records: Records<'_>, slot: usize) {
        self.rows.push(slot as u32);
        self.bodies.push(records.cell(slot).0.body_at());
    }

    fn select_clustered(
        &mut self,
        source: Source<'_>,
        page: PageRef<'_>,
        slots: std::ops::Range<usize>,
    ) -> Result<()> {
        let records = page.records();
        for slot in slots {
            let start = self.arena.len();
            match version::clustered(
                source.trx,
                source.view,
                source.index,
                page,
                &records.get(slot),
                &mut self.arena,
            )? {
                Seen::Nothing => {}
                Seen::Current => self.push(records, slot),
                Seen::Older => {
                    self.older.push((start as u32, self.arena.len() as u32));
                    self.rows.push(slot as u32 | (self.older.len() as u32) << 16);
                    self.bodies.push(start as u32);
                }
            }
        }
        Ok(())
    }
}
