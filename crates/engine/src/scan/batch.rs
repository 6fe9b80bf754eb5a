//! The visible rows of a leaf, as a scan hands them out.

use std::fmt;

use base::PageNo;
use page::{Cell, KeyInt, OlderVersion, PAGE_SIZE, PageRef, Records, RowFormat, RowRef, SlotFlags};

use super::Source;
use super::selection::Selection;
use crate::error::Result;

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

    /// The leaf that the rows are on.
    pub(crate) fn page_no(&self) -> PageNo {
        self.page.page_no()
    }

    /// The leaf, if the rows are all of its records, as they are there.
    pub(crate) fn whole_leaf(&self) -> Option<PageRef<'a>> {
        let is_whole = self.selection.rows.is_empty() && self.len() == self.page.count();
        is_whole.then_some(self.page)
    }

    /// Where the rows' columns are.
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

    /// Hands out the rows in order, for loops over all rows of a table. Cost: 60 instructions a row less than
    /// [`Batch::rows`], which calls [`Batch::row`]: inlined there, that would enlarge every reader of rows.
    #[inline(always)]
    pub(crate) fn try_for_each_row<E>(
        self,
        mut each: impl FnMut(RowRef<'a>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (rows, run_slot) = (&self.selection.rows, self.selection.run.slots());
        (self.first..self.first + self.len()).try_for_each(|at| {
            each(match rows.get(at) {
                Some(&place) => self.row_at(place),
                None => RowRef::new(self.format, self.records.get(run_slot(at))),
            })
        })
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
            // A run of rows whose bytes are in the same place: all of them, unless there are older versions.
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
