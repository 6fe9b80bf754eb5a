//! Reading a stretch of an index, a leaf's visible rows at a time.

use std::collections::BTreeSet;
use std::fmt;

use base::PageNo;
use btree::{Cursor, Seek, Suspended};
use page::{Cell, KeyInt, OlderVersion, PAGE_SIZE, PageRef, Records, RowFormat, RowRef, SlotFlags, SlotRun};
use space::Store;
use trx::{ReadView, TrxSystem};

use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::page_copy::PageCopy;
use crate::range::{Direction, KeyRange};
use crate::row::mixed;
use crate::row::version::{self, Seen};
use crate::table::{Index, Table};

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

/// What a scan keeps beside its position; a scan that is over leaves its memory to the next one.
#[derive(Debug, Default)]
pub struct ScanMemory {
    /// What is to be read.
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

/// The visible rows of a leaf.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Neighbouring records as they are on the page, unless there are `rows`.
    run: SlotRun,
    /// Low 16 bits: slot. High 16: 0 = as on the page, else 1 + position in `older`.
    rows: Vec<u32>,
    /// Where each row's body begins: on the page, or in `arena`.
    bodies: Vec<u32>,
    /// Payloads of older versions, and of rows in a newer format than the page's: start and end in `arena`.
    older: Vec<(u32, u32)>,
    arena: Vec<u8>,
    suspended: Suspended,
    /// Whether rows of older row format versions are handed out as they are.
    pub(crate) takes_older: bool,
    /// Mixed views: rows that an entry was handed out for, by key without begin id.
    handed_out: BTreeSet<Vec<u8>>,
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
        if self.memory.selection.select_settled(self.source, page, slots).is_err() {
            // It is told when the leaf is read.
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

    /// The rows of the leaf at hand.
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
            selection.select_settled(self.source, cursor.page(), slots)?;
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
    fn reverse(&mut self) {
        self.run.backward = true;
        self.rows.reverse();
        self.bodies.reverse();
    }

    /// Adds the visible rows of `slots`, ascending. No page is latched.
    fn select(&mut self, source: Source<'_>, page: PageRef<'_>, slots: std::ops::Range<usize>) -> Result<()> {
        let is_mixed = source.view.is_mixed() && !source.index.format.is_clustered();
        if !is_mixed || source.view.sees_whole_page(page.max_trx()) {
            return self.select_settled(source, page, slots);
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

    /// As [`Selection::select`] where the entries tell by themselves. Cost: a look at the marks a slot when
    /// the whole page is visible.
    pub(crate) fn select_settled(
        &mut self,
        source: Source<'_>,
        page: PageRef<'_>,
        slots: std::ops::Range<usize>,
    ) -> Result<()> {
        let records = page.records();
        let is_whole = source.view.sees_whole_page(page.max_trx()) && source.index.tree.is_current(page);
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

/// A batch, and the version of its rows if that is older than the index's.
pub type VersionedBatch<'a, 'e> = (Batch<'a>, Option<&'e OlderVersion>);

/// A leaf's visible rows, in scan order.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    page: PageRef<'a>,
    records: Records<'a>,
    format: &'a RowFormat,
    selection: &'a Selection,
    /// Position of the first row in the selection.
    first: usize,
    /// Of the selection.
    bodies: &'a [u32],
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("page", &self.page.page_no()).field("len", &self.len()).finish()
    }
}

impl<'a> Batch<'a> {
    /// The rows of `selection`, which was made from `page`.
    #[inline]
    pub(crate) fn new(page: PageRef<'a>, format: &'a RowFormat, selection: &'a Selection) -> Self {
        Batch { page, records: page.records(), format, selection, first: 0, bodies: &selection.bodies }
    }

    /// The batch as rows of its page's version, as they are there.
    #[inline]
    pub(crate) fn versioned<'e: 'a>(self, source: Source<'e>) -> Result<VersionedBatch<'a, 'e>> {
        let older = source.older(self.page)?;
        let format = older.map_or(self.format, |older| older.seen());
        Ok((Batch { format, ..self }, older))
    }

    /// The rows at the positions `range`, not empty.
    #[inline]
    pub fn slice(self, range: std::ops::Range<usize>) -> Batch<'a> {
        debug_assert!(!range.is_empty(), "a batch is never empty");
        Batch { first: self.first + range.start, bodies: &self.bodies[range], ..self }
    }

    /// Number of rows, at least 1.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a batch is never empty")]
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// The leaf that the rows stand on.
    pub(crate) fn page_no(&self) -> PageNo {
        self.page.page_no()
    }

    /// The leaf, if the rows are all of its records, as they stand there.
    pub(crate) fn whole_leaf(&self) -> Option<PageRef<'a>> {
        let is_whole = self.selection.rows.is_empty() && self.len() == self.page.count();
        is_whole.then_some(self.page)
    }

    /// Where the rows' columns stand.
    #[inline]
    pub fn format(&self) -> &'a RowFormat {
        self.format
    }

    /// Most bytes that the rows' bodies have together.
    #[inline]
    pub fn body_bytes_max(&self) -> usize {
        PAGE_SIZE + self.selection.arena.len()
    }

    /// The row at position `i`, as the view sees it.
    #[inline]
    pub fn row(&self, i: usize) -> RowRef<'a> {
        match self.selection.rows.get(self.first + i) {
            Some(&place) => self.row_at(place),
            None => RowRef::new(self.format, self.records.get(self.selection.run.slots()(self.first + i))),
        }
    }

    #[inline(always)]
    fn row_at(&self, place: u32) -> RowRef<'a> {
        let record = self.records.get((place & 0xffff) as usize);
        match self.older(place) {
            None => RowRef::new(self.format, record),
            Some(payload) => RowRef::new(self.format, record.with_payload(payload, SlotFlags::NONE)),
        }
    }

    /// Hands out the rows in order, for code that looks at every row of a table. Cost: about 30 instructions
    /// a row where the whole leaf is visible.
    #[inline(always)]
    pub(crate) fn try_for_each_row<E>(
        self,
        mut each: impl FnMut(RowRef<'a>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (rows, run_slot) = (&self.selection.rows, self.selection.run.slots());
        for at in self.first..self.first + self.len() {
            let row = match rows.get(at) {
                Some(&place) => self.row_at(place),
                None => RowRef::new(self.format, self.records.get(run_slot(at))),
            };
            each(row)?;
        }
        Ok(())
    }

    /// The payload of an older version.
    #[inline]
    fn older(&self, place: u32) -> Option<&'a [u8]> {
        let (start, end) = self.selection.older[(place >> 16).checked_sub(1)? as usize];
        Some(&self.selection.arena[start as usize..end as usize])
    }

    /// Hands out the rows' cells in order. Cost: about 5 instructions a row where the whole leaf is visible.
    #[inline(always)]
    pub fn for_each_cell(&self, mut each: impl FnMut(Cell<'a>)) {
        let Selection { run, rows, older, arena, .. } = self.selection;
        let (rows, bodies) = (rows.get(self.first..).unwrap_or_default(), self.bodies);
        let run_slot = run.slots();
        let mut at = 0;
        while at < bodies.len() {
            // A stretch of rows that are in the same place: all of them but for older versions.
            let (bytes, end) = match rows.get(at) {
                Some(place) if place >> 16 != 0 => (&arena[..], at + 1),
                Some(_) if !older.is_empty() => (self.records.page(), at + 1),
                _ => (self.records.page(), bodies.len()),
            };
            for (i, &body_at) in bodies[at..end].iter().enumerate() {
                let slot = rows
                    .get(at + i)
                    .map_or_else(|| run_slot(self.first + at + i), |place| (place & 0xffff) as usize);
                each(Cell::new(slot, bytes, body_at));
            }
            at = end;
        }
    }

    /// The leaf's records: what a [`KeyInt`] reads the keys of cells from.
    #[inline]
    pub fn records(&self) -> Records<'a> {
        self.records
    }

    /// A reader of the integer in the `width` key bytes at `offset`, for these rows.
    pub fn key_int(&self, offset: usize, width: usize) -> KeyInt {
        self.records.key_int(offset, width)
    }

    /// The rows in order.
    #[inline]
    pub fn rows(self) -> impl Iterator<Item = RowRef<'a>> {
        (0..self.len()).map(
            #[inline(always)]
            move |i| self.row(i),
        )
    }
}

/// Appends the clustered key of a row: of a clustered record its key, of a secondary entry the piece of it
/// behind the declared parts.
pub(crate) fn append_clustered_key(index: &Index, row: &RowRef<'_>, out: &mut Vec<u8>) {
    row.record().with_key(|key| {
        let mut at = 0;
        if !index.format.is_clustered() {
            for part in &index.format.key_parts()[..index.def.parts.len()] {
                at += part.encoder.map_or(0, |encoder| encoder.skip(&key[at..]));
            }
        }
        out.extend_from_slice(&key[at..]);
    });
}

impl Index {
    /// Appends the key bytes of the first `parts` declared parts of one of this index's rows to `out`.
    pub fn append_first_parts(&self, row: &RowRef<'_>, parts: usize, out: &mut Vec<u8>) {
        row.record().with_key(|key| {
            let mut end = 0;
            for part in &self.format.key_parts()[..parts] {
                end += part.encoder.map_or(0, |encoder| encoder.skip(&key[end..]));
            }
            out.extend_from_slice(&key[..end]);
        });
    }

    /// Appends the clustered key of one of this index's rows to `out`. Cost: a copy; parts of variable length
    /// are stepped over.
    #[inline]
    pub fn clustered_key(&self, row: &RowRef<'_>, out: &mut Vec<u8>) {
        append_clustered_key(self, row, out);
    }
}
