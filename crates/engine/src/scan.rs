//! Reading a stretch of an index, a leaf's visible rows at a time.

use btree::{Cursor, Seek};
use page::{OlderVersion, PageRef};
use space::Store;
use trx::{ReadView, TrxSystem};

use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::index::Index;
use crate::page_copy::PageCopy;
use crate::range::{Direction, KeyRange};
use crate::table::Table;

mod batch;
mod selection;

pub use batch::{Batch, VersionedBatch};
pub(crate) use selection::Selection;

/// A scan of one index under one view.
///
/// Between two calls it keeps the leaf of the last batch latched: the rows are read in place. Do not change
/// rows, wait, or touch any other page meanwhile; call [`Scan::suspend`] before, or make the scan
/// [`Scan::detached`].
#[derive(Debug)]
pub struct Scan<'e> {
    source: Source<'e>,
    memory: Box<ScanMemory>,
    direction: Direction,
    position: Position<'e>,
    /// See [`Scan::detached`].
    is_detached: bool,
    /// The leaf of a detached scan.
    copy: PageCopy,
    /// Whether `copy` is a leaf of the index.
    copied: bool,
}

/// The state of a scan beside its position; a finished scan leaves its memory to the next one.
#[derive(Debug, Default)]
pub struct ScanMemory {
    /// The range to read.
    pub range: KeyRange,
    selection: Selection,
}

/// What rows are read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'e> {
    pub(crate) store: &'e Store,
    pub(crate) trx: &'e TrxSystem,
    pub(crate) table: &'e Table,
    pub(crate) index: &'e Index,
    pub(crate) view: ReadView,
}

impl<'e> Source<'e> {
    /// # Errors  [`Error::TableDefinitionChanged`] if the index is younger than the view.
    pub(crate) fn new(engine: &'e Engine, table: &'e Table, index: usize, view: ReadView) -> Result<Self> {
        let index = &table.indexes[index];
        if view.number() < index.usable_from {
            return Err(Error::TableDefinitionChanged);
        }
        Ok(Source { store: &engine.store, trx: &engine.trx, table, index, view })
    }

    /// The row format version of the rows that were selected from `page`; `None`: the index's.
    ///
    /// # Errors
    /// [`Error::IndexDisagrees`] if no page can have it.
    #[inline]
    pub(crate) fn older(&self, page: PageRef<'_>) -> Result<Option<&'e OlderVersion>> {
        if self.index.tree.is_current(page) { Ok(None) } else { self.index.older(page).map(Some) }
    }
}

#[derive(Debug)]
enum Position<'e> {
    Start,
    /// On the last row's slot of the leaf that was read.
    Leaf(Cursor<'e>),
    /// Behind the remembered record, no latch held.
    Suspended,
    /// The selection is made, from the leaf copied before, and is all there is.
    Selected,
    End,
}

impl<'e> Scan<'e> {
    /// A scan of the index at position `index` of `table`, which is locked or kept alive by the caller.
    ///
    /// # Errors
    /// [`Error::TableDefinitionChanged`]: the index was built after the view was taken.
    pub fn open(
        engine: &'e Engine,
        table: &'e Table,
        index: usize,
        view: ReadView,
        range: KeyRange,
        direction: Direction,
    ) -> Result<Self> {
        let memory = Box::new(ScanMemory { range, ..ScanMemory::default() });
        Self::open_in(engine, table, index, view, memory, direction)
    }

    /// As [`Scan::open`], of the range in `memory`.
    pub fn open_in(
        engine: &'e Engine,
        table: &'e Table,
        index: usize,
        view: ReadView,
        memory: Box<ScanMemory>,
        direction: Direction,
    ) -> Result<Self> {
        let scan = Scan {
            source: Source::new(engine, table, index, view)?,
            memory,
            direction,
            position: Position::Start,
            is_detached: false,
            copy: PageCopy::default(),
            copied: false,
        };
        // Entries of a mixed view are looked up in the clustered index, which takes other latches.
        Ok(if view.is_mixed() && index != 0 { scan.detached() } else { scan })
    }

    /// Ends the scan; its memory, for another one.
    pub fn into_memory(self) -> Box<ScanMemory> {
        let mut memory = self.memory;
        memory.selection.takes_older = false;
        memory.selection.handed_out.clear();
        memory
    }

    /// A scan that copies each leaf and holds no latch between calls: the rows of a batch stay readable while
    /// other pages are read or changed. Cost: a copy of 16 KiB a leaf.
    pub fn detached(mut self) -> Self {
        self.is_detached = true;
        self
    }

    /// A scan of the clustered index that hands out rows of older row format versions as they are on their
    /// pages; it is read with [`Scan::next_versioned_batch`].
    pub fn versioned(mut self) -> Self {
        self.memory.selection.takes_older = true;
        self
    }

    /// Starts again with another range of the same index; buffers are kept. A detached scan answers from the
    /// leaf it has when all of the range is there: right for its view, but blind to what the own transaction
    /// has changed since.
    pub fn restart(&mut self, range: impl FnOnce(&mut KeyRange)) {
        range(&mut self.memory.range);
        self.memory.selection.handed_out.clear();
        self.position = Position::Start;
        if !self.source.view.is_mixed() && self.select_from_copy() {
            self.position = Position::Selected;
        }
    }

    fn select_from_copy(&mut self) -> bool {
        let Some(copy) = self.copy.get().filter(|_| self.copied && !self.memory.range.empty) else {
            return false;
        };
        let page = PageRef::new(copy);
        let (to, last) = end_slot(page, self.memory.range.to());
        if !last || page.lower_fence() > &self.memory.range.from[..] {
            return false;
        }
        let slots = page.search(&self.memory.range.from).slot..to;
        self.memory.selection.clear();
        if self.memory.selection.select_by_entry(self.source, page, slots).is_err() {
            // The error is returned when the leaf is read.
            return false;
        }
        if self.direction == Direction::Backward {
            self.memory.selection.reverse();
        }
        true
    }

    /// The next leaf's visible rows that are in the range, never an empty batch; `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<Batch<'_>>> {
        if !self.advance()? {
            return Ok(None);
        }
        Ok(self.batch())
    }

    /// As [`Scan::next_batch`], with the version of its rows if that is not the index's. The batch's format
    /// is the one that readers see them through ([`OlderVersion::seen`]).
    pub fn next_versioned_batch(&mut self) -> Result<Option<VersionedBatch<'_, 'e>>> {
        debug_assert!(self.memory.selection.takes_older, "rows of older versions are converted");
        let source = self.source;
        match self.next_batch()? {
            Some(batch) => batch.versioned(source).map(Some),
            None => Ok(None),
        }
    }

    /// As [`Scan::next_batch`], and whether it is the last one.
    pub fn next_batch_to_end(&mut self) -> Result<Option<(Batch<'_>, bool)>> {
        if self.next_batch()?.is_none() {
            return Ok(None);
        }
        let is_last = self.memory.range.empty || matches!(self.position, Position::End);
        Ok(self.batch().map(|batch| (batch, is_last)))
    }

    /// The rows of the current leaf.
    #[inline(always)]
    fn batch(&self) -> Option<Batch<'_>> {
        let page = match (self.copy.get(), &self.position) {
            (Some(copy), _) => PageRef::new(copy),
            (None, Position::Leaf(cursor)) => cursor.page(),
            (None, _) => return None,
        };
        Some(Batch::new(page, &self.source.index.format, &self.memory.selection))
    }

    /// Gives up the latch, keeps the position. The last batch's rows must have been used.
    pub fn suspend(&mut self) {
        match std::mem::replace(&mut self.position, Position::End) {
            Position::Leaf(cursor) => {
                cursor.suspend_into(&mut self.memory.selection.suspended);
                self.position = Position::Suspended;
            }
            other => self.position = other,
        }
    }

    /// Goes on to a leaf with visible rows; false at the end.
    fn advance(&mut self) -> Result<bool> {
        if let Position::Selected = self.position {
            self.position = Position::End;
            return Ok(!self.memory.selection.is_empty());
        }
        loop {
            let Some(cursor) = self.next_leaf()? else {
                self.position = Position::End;
                return Ok(false);
            };
            let (slots, last) = self.slots_in_range(&cursor);
            if slots.is_empty() {
                self.position = Position::End;
                return Ok(false);
            }
            let stop = match self.direction {
                Direction::Forward => slots.end - 1,
                Direction::Backward => slots.start,
            };
            self.take_leaf(cursor, slots, stop)?;
            if last {
                // The leaf stays latched for the batch; the next call ends.
                self.memory.range.empty = true;
            }
            if !self.memory.selection.is_empty() {
                return Ok(true);
            }
            fail_if_interrupted()?;
        }
    }

    /// The cursor on the first row, in scan order, of the next leaf.
    fn next_leaf(&mut self) -> Result<Option<Cursor<'e>>> {
        let Source { store, index, .. } = self.source;
        let position = std::mem::replace(&mut self.position, Position::End);
        if self.memory.range.empty {
            return Ok(None);
        }
        Ok(match (position, self.direction) {
            (Position::End | Position::Selected, _) => None,
            (Position::Leaf(mut cursor), Direction::Forward) => cursor.to_next_leaf()?.then_some(cursor),
            (Position::Leaf(cursor), Direction::Backward) => cursor.prev_leaf()?,
            (Position::Suspended, Direction::Forward) => {
                self.memory.selection.suspended.resume(&index.tree, store, Seek::After)?
            }
            (Position::Suspended, Direction::Backward) => {
                self.memory.selection.suspended.resume(&index.tree, store, Seek::Before)?
            }
            (Position::Start, Direction::Forward) => {
                index.tree.seek(store, &self.memory.range.from, Seek::AtOrAfter)?
            }
            (Position::Start, Direction::Backward) => match self.memory.range.to() {
                Some(to) => index.tree.seek(store, to, Seek::Before)?,
                None => index.tree.seek(store, &[], Seek::Last)?,
            },
        })
    }

    /// The slots of the cursor's leaf, from the cursor on, that are in the range; whether the range ends
    /// here.
    fn slots_in_range(&self, cursor: &Cursor<'e>) -> (std::ops::Range<usize>, bool) {
        let page = cursor.page();
        match self.direction {
            Direction::Forward => {
                let (to, last) = end_slot(page, self.memory.range.to());
                (cursor.slot()..to.max(cursor.slot()), last)
            }
            Direction::Backward => {
                let from = &self.memory.range.from[..];
                let last = page.lower_fence() <= from;
                let first = if last { page.search(from).slot } else { 0 };
                (first..(cursor.slot() + 1).max(first), last)
            }
        }
    }

    /// Selects the rows of `slots`, in scan order, and keeps the leaf, or a copy of it.
    fn take_leaf(
        &mut self,
        mut cursor: Cursor<'e>,
        slots: std::ops::Range<usize>,
        stop: usize,
    ) -> Result<()> {
        cursor.set_slot(stop);
        let selection = &mut self.memory.selection;
        selection.clear();
        if self.is_detached {
            let copy = self.copy.get_or_make();
            cursor.page().copy_to(copy);
            self.copied = true;
            cursor.suspend_into(&mut selection.suspended);
            self.position = Position::Suspended;
            selection.select(self.source, PageRef::new(copy), slots)?;
        } else {
            selection.select_by_entry(self.source, cursor.page(), slots)?;
            self.position = Position::Leaf(cursor);
        }
        if self.direction == Direction::Backward {
            selection.reverse();
        }
        Ok(())
    }
}

/// The first slot of `page` that is not below `to`, and whether no later leaf has any that is.
pub(crate) fn end_slot(page: PageRef<'_>, to: Option<&[u8]>) -> (usize, bool) {
    match (to, page.upper_fence()) {
        (None, fence) => (page.count(), fence.is_none()),
        (Some(to), Some(fence)) if fence <= to => (page.count(), fence == to),
        (Some(to), _) => (page.search(to).slot, true),
    }
}
