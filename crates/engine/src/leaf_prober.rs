//! Looking up many keys in one index with its leaf latched in between: the inner side of a join that reads no
//! other page.

use std::ops::Bound;

use btree::Probe;
use page::{OlderVersion, PageRef, Record, RowRef, SlotFlags};
use trx::ReadView;

use crate::engine::Engine;
use crate::error::Result;
use crate::range::KeyRange;
use crate::row::version::{self, Seen};
use crate::scan::{Batch, Selection, Source, VersionedBatch, end_slot};
use crate::table::Table;

/// Looks up keys under one view. Rows are read in place: between two calls it may hold a leaf latched, so
/// touch no other page and wait for nothing before [`LeafProber::release`]. [`crate::Prober`] is for callers
/// that must.
///
/// Not for a secondary index under a mixed view, whose entries are looked up in other pages.
#[derive(Debug)]
pub struct LeafProber<'e> {
    source: Source<'e>,
    probe: Probe<'e>,
    range: KeyRange,
    progress: Progress,
    selection: Selection,
    /// An older version of the row that was looked up.
    older: Vec<u8>,
    /// Key of the last row before a release.
    last: Vec<u8>,
}

/// How far the rows of a prefix have been handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Start,
    /// All of the leaf that is latched.
    Leaf,
    /// Up to the remembered key.
    Released,
    End,
}

impl<'e> LeafProber<'e> {
    /// A prober of the index at position `index` of `table`.
    /// # Errors  [`crate::Error::TableDefinitionChanged`]: the index was built after the view was taken.
    pub fn new(engine: &'e Engine, table: &'e Table, index: usize, view: ReadView) -> Result<Self> {
        debug_assert!(index == 0 || !view.is_mixed(), "entries of a mixed view do not tell by themselves");
        let source = Source::new(engine, table, index, view)?;
        Ok(LeafProber {
            source,
            probe: Probe::new(source.store, &source.index.tree),
            range: KeyRange::default(),
            progress: Progress::End,
            selection: Selection::default(),
            older: Vec::new(),
            last: Vec::new(),
        })
    }

    /// The row with exactly this clustered key; only for the clustered index. Cost: a search where the key is
    /// on the leaf that is held; see [`Probe::find`] for others.
    #[inline(always)]
    pub fn get(&mut self, key: &[u8]) -> Result<Option<RowRef<'_>>> {
        debug_assert!(self.source.index.format.is_clustered(), "exact lookups are for clustered keys");
        let at = self.probe.find(key)?;
        let Some(page) = self.probe.page().filter(|_| at.found) else { return Ok(None) };
        let (format, record) = (&self.source.index.format, page.record(at.slot));
        if self.source.view.sees_whole_page(page.trx_max()) && self.source.index.tree.is_current(page) {
            return Ok((!record.flags().is_deleted()).then(|| RowRef::new(format, record)));
        }
        version_of(self.source, page, record, &mut self.older)
    }

    /// A prober of the clustered index that hands out rows of older row format versions as they are on their
    /// pages; ask it with [`LeafProber::get_versioned`] and [`LeafProber::next_versioned_batch`].
    pub fn versioned(mut self) -> Self {
        self.selection.takes_older = true;
        self
    }

    /// As [`LeafProber::get`], with the version of the row if that is not the index's.
    #[inline(always)]
    pub fn get_versioned(&mut self, key: &[u8]) -> Result<Option<(RowRef<'_>, Option<&'e OlderVersion>)>> {
        debug_assert!(self.selection.takes_older, "rows of older versions are converted");
        let at = self.probe.find(key)?;
        let Some(page) = self.probe.page().filter(|_| at.found) else { return Ok(None) };
        let record = page.record(at.slot);
        let Some(older) = self.source.older(page)? else {
            let row = if self.source.view.sees_whole_page(page.trx_max()) {
                (!record.flags().is_deleted()).then(|| RowRef::new(&self.source.index.format, record))
            } else {
                version_of(self.source, page, record, &mut self.older)?
            };
            return Ok(row.map(|row| (row, None)));
        };
        // All views see the page: it has not changed since the columns did.
        Ok((!record.flags().is_deleted()).then(|| (RowRef::new(older.seen(), record), Some(older))))
    }

    /// Starts searching for the rows whose keys start with `prefix`; [`LeafProber::next_batch`] hands them
    /// out.
    #[inline]
    pub fn probe(&mut self, prefix: &[u8]) {
        self.range.set(Bound::Included(prefix), Bound::Included(prefix));
        self.progress = Progress::Start;
    }

    /// More rows of the prefix, never an empty batch; `None` when there are no more.
    pub fn next_batch(&mut self) -> Result<Option<Batch<'_>>> {
        while self.progress != Progress::End {
            let from = match self.progress {
                Progress::Start => self.probe.find(&self.range.from)?.slot,
                Progress::Leaf if self.probe.next_leaf()? => 0,
                Progress::Released => {
                    let at = self.probe.find(&self.last)?;
                    at.slot + usize::from(at.found)
                }
                Progress::Leaf | Progress::End => break,
            };
            let Some(page) = self.probe.page() else { break };
            let (to, last) = end_slot(page, self.range.to());
            self.selection.clear();
            if from < to {
                self.selection.select_by_entry(self.source, page, from..to)?;
            }
            self.progress = if last { Progress::End } else { Progress::Leaf };
            if !self.selection.is_empty() {
                let page = self.probe.page();
                return Ok(page.map(|page| Batch::new(page, &self.source.index.format, &self.selection)));
            }
        }
        self.progress = Progress::End;
        Ok(None)
    }

    /// As [`LeafProber::next_batch`], with the version of the rows if that is not the index's.
    pub fn next_versioned_batch(&mut self) -> Result<Option<VersionedBatch<'_, 'e>>> {
        debug_assert!(self.selection.takes_older, "rows of older versions are converted");
        let source = self.source;
        match self.next_batch()? {
            Some(batch) => batch.versioned(source).map(Some),
            None => Ok(None),
        }
    }

    /// Whether [`LeafProber::next_batch`] has nothing left to return.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.progress == Progress::End
    }

    /// Gives up the latch, keeps the position. Rows that were handed out must have been used.
    #[inline]
    pub fn release(&mut self) {
        if self.progress == Progress::Leaf {
            self.remember_leaf();
        }
        self.probe.release();
    }

    #[cold]
    fn remember_leaf(&mut self) {
        self.last.clear();
        self.progress = match self.probe.page().filter(|page| page.count() > 0) {
            Some(page) => {
                page.append_key(page.count() - 1, &mut self.last);
                Progress::Released
            }
            // A leaf without rows is gone on from at once, unless that failed.
            None => Progress::End,
        };
    }
}

/// The visible version of a record on a page that is not wholly visible; an older version is built in
/// `older`.
#[inline(never)]
fn version_of<'a>(
    source: Source<'a>,
    page: PageRef<'_>,
    record: Record<'a>,
    older: &'a mut Vec<u8>,
) -> Result<Option<RowRef<'a>>> {
    let Source { trx, view, index, .. } = source;
    older.clear();
    Ok(match version::clustered(trx, view, index, page, &record, older)? {
        Seen::Nothing => None,
        Seen::Current => Some(RowRef::new(&index.format, record)),
        Seen::Older => Some(RowRef::new(&index.format, record.with_payload(older, SlotFlags::NONE))),
    })
}
