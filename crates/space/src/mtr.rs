//! The mini-transaction: a few pages, latched exclusively, whose changes reach the log as one piece or not at
//! all.
//!
//! Recipe: latch every page that will change, get everything that may fail (pages read, pages allocated),
//! then apply [`PageOp`]s, then commit. Every change is encoded and applied by the same call, so what the log
//! holds is what happened. The redo of a mini-transaction is one *changes* part (docs/redo_log.md): its kind,
//! its length, then page numbers (LEB128) and operations. An operation that may be refused
//! ([`Mtr::try_apply`]) leaves page and redo as they were.

use std::cell::Cell;

use base::codec::{push_start, put_varint};
use base::sync::sim;
use base::{PageNo, invariant};
use buffer::ExclusiveGuard;
use log::{FrameRange, Pending};
use page::{Batch, EntryClose, LeafInsert, OpError, PageMut, PageOp, PageRef, RowDelete, RowPatch};
use smallvec::SmallVec;

use crate::error::Result;
use crate::space::SpaceGuard;
use crate::store::Store;

/// A page of a mini-transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latched(usize);

#[derive(Debug)]
struct LatchedPage<'p> {
    guard: ExclusiveGuard<'p>,
    changed: bool,
}

impl LatchedPage<'_> {
    /// Notes the log record of the changes, if there are any.
    #[inline]
    fn stamp(&mut self, range: FrameRange) {
        if self.changed {
            self.guard.page_mut().set_lsn(range.end);
            self.guard.mark_dirty(range.start);
        }
    }
}

/// Changes in the making. Dropping one that has changes is a bug: there is no way to take them back.
#[derive(Debug)]
pub struct Mtr<'p> {
    pub(crate) store: &'p Store,
    /// The first page apart, so that the common mini-transaction of one page allocates nothing and moves
    /// cheaply.
    first: Option<LatchedPage<'p>>,
    redo: Vec<u8>,
    rest: Option<Box<Rest<'p>>>,
    /// Another mini-transaction continues with its redo, and commits it.
    is_lent: bool,
}

/// What is needed beyond one page: by splits, merges and allocations, and by rows that go to several leaves.
#[derive(Debug, Default)]
struct Rest<'p> {
    // Dropped in this order: pages go before the allocation state.
    pages: SmallVec<[LatchedPage<'p>; 15]>,
    /// Held from the first allocation to the commit: a page whose release is not in the log yet must not be
    /// allocated.
    space: Option<SpaceGuard<'p>>,
}

thread_local! {
    /// The redo buffer of the thread's last mini-transaction, to be used again.
    static SPARE_REDO: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Kind of the part that holds page changes.
const CHANGES_PART: u8 = 1;

/// Bytes of the part's kind and its length; the length is a LEB128 integer of fixed width, as it is known
/// last.
const PART_HEADER_BYTES: usize = 5;

/// A redo buffer larger than this is given back to the allocator instead of kept.
const SPARE_REDO_BYTES_MAX: usize = 256 * 1024;

impl<'p> Mtr<'p> {
    /// An empty mini-transaction.
    #[inline]
    pub fn new(store: &'p Store) -> Self {
        Mtr { store, first: None, redo: Vec::new(), rest: None, is_lent: false }
    }

    /// One that continues with the redo of `first`: they are committed together.
    #[inline]
    pub fn beside(store: &'p Store, first: &mut Mtr<'_>) -> Self {
        first.is_lent = true;
        let redo = std::mem::take(&mut first.redo);
        Mtr { store, first: None, redo, rest: None, is_lent: false }
    }

    /// Takes over a page that is latched already.
    #[inline]
    pub fn adopt(&mut self, guard: ExclusiveGuard<'p>) -> Latched {
        let page = LatchedPage { guard, changed: false };
        if self.first.is_none() {
            self.first = Some(page);
            return Latched(0);
        }
        let pages = &mut self.rest.get_or_insert_default().pages;
        pages.push(page);
        Latched(pages.len())
    }

    /// The page with this number, if the mini-transaction holds it.
    pub fn find(&self, page_no: PageNo) -> Option<Latched> {
        let pages = self.first.iter().chain(self.rest.iter().flat_map(|rest| &rest.pages));
        pages.zip(0..).find(|(page, _)| page.guard.page_no() == page_no).map(|(_, at)| Latched(at))
    }

    /// Latches a page. The caller keeps the order: parent before child, left before right.
    pub fn latch(&mut self, page_no: PageNo) -> Result<Latched> {
        let guard = self.store.pool.exclusive(page_no)?;
        Ok(self.adopt(guard))
    }

    /// The page as it is now.
    #[inline]
    pub fn page(&self, at: Latched) -> PageRef<'_> {
        match at.0.checked_sub(1) {
            None => self.first.as_ref().expect("a handle is made by adopt").guard.page(),
            Some(at) => self.rest.as_ref().expect("a handle is made by adopt").pages[at].guard.page(),
        }
    }

    /// Applies `op` to the page and adds it to the redo. On [`OpError`] nothing has happened.
    pub fn try_apply(&mut self, at: Latched, op: &PageOp<'_>) -> std::result::Result<(), OpError> {
        self.change(at, |page| op.apply(page), |redo| op.encode(redo))
    }

    /// [`Mtr::apply`] of a [`PageOp::PatchRow`], as straight code.
    #[inline]
    pub fn patch_row(&mut self, at: Latched, patch: &RowPatch<'_>) {
        let applied = self.change(at, |page| patch.apply(page), |redo| patch.encode(redo));
        invariant!(applied.is_ok(), "a patch of slot {} beyond its row", patch.slot);
    }

    /// [`Mtr::apply`] of a [`PageOp::DeleteRow`], as straight code.
    #[inline]
    pub fn delete_row(&mut self, at: Latched, delete: &RowDelete<'_>) {
        let applied = self.change(at, |page| delete.apply(page), |redo| delete.encode(redo));
        invariant!(applied.is_ok(), "no row to delete at slot {}", delete.slot);
    }

    /// [`Mtr::try_apply`] of an insertion, as straight code.
    #[inline]
    pub fn insert(&mut self, at: Latched, insert: &LeafInsert<'_>) -> std::result::Result<(), OpError> {
        self.change(at, |page| insert.apply(page), |redo| insert.encode(redo))
    }

    /// [`Mtr::apply`] of a [`PageOp::Append`], without the copy of the page that a refusal would need.
    pub fn append_batch(&mut self, at: Latched, batch: Batch<'_>) {
        let op = PageOp::Append(batch);
        let applied = self.change(at, |page| batch.append_all(page), |redo| op.encode(redo));
        invariant!(applied.is_ok(), "{} has no room for a batch", self.page(at).page_no());
    }

    /// [`Mtr::try_apply`] of a [`PageOp::Close`], as straight code.
    #[inline]
    pub fn close(&mut self, at: Latched, close: EntryClose) -> std::result::Result<(), OpError> {
        self.change(at, |page| close.apply(page), |redo| close.encode(redo))
    }

    /// Changes a page by `apply`, which `encode` adds to the redo. On [`OpError`] nothing has happened.
    #[inline(always)]
    fn change(
        &mut self,
        at: Latched,
        apply: impl FnOnce(&mut PageMut<'_>) -> std::result::Result<(), OpError>,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> std::result::Result<(), OpError> {
        if self.redo.is_empty() {
            self.begin_redo();
        }
        let page = match at.0.checked_sub(1) {
            None => self.first.as_mut().expect("a handle is made by adopt"),
            Some(at) => &mut self.rest.as_mut().expect("a handle is made by adopt").pages[at],
        };
        apply(&mut page.guard.page_mut())?;
        page.changed = true;
        let mut page_no = [0; 5];
        let end = put_varint(&mut page_no, 0, page.guard.page_no().0.into());
        push_start(&mut self.redo, &page_no, end);
        encode(&mut self.redo);
        Ok(())
    }

    #[inline]
    fn begin_redo(&mut self) {
        self.redo = SPARE_REDO.take();
        self.redo.extend_from_slice(&[CHANGES_PART, 0, 0, 0, 0]);
    }

    /// Fills the length in, 7 bits a byte.
    #[inline]
    fn end_redo(&mut self) {
        let len = self.redo.len() - PART_HEADER_BYTES;
        invariant!(len < 1 << 28, "a mini-transaction of {len} bytes of redo");
        let more = 0x80;
        let bytes = [len as u8 | more, (len >> 7) as u8 | more, (len >> 14) as u8 | more, (len >> 21) as u8];
        self.redo[1..PART_HEADER_BYTES].copy_from_slice(&bytes);
    }

    /// Applies an `op` whose room was proven beforehand.
    pub fn apply(&mut self, at: Latched, op: &PageOp<'_>) {
        let applied = self.try_apply(at, op);
        invariant!(applied.is_ok(), "{} has no room for {op:?}", self.page(at).page_no());
    }

    /// Whether anything was changed.
    #[inline]
    pub fn is_changed(&self) -> bool {
        self.redo.len() > PART_HEADER_BYTES
    }

    /// How many pages it holds, and the bytes of its redo.
    #[inline]
    pub fn extent(&self) -> (usize, usize) {
        let rest = self.rest.as_ref().map_or(0, |rest| rest.pages.len());
        (usize::from(self.first.is_some()) + rest, self.redo.len())
    }

    /// The allocation state, held until the commit.
    pub(crate) fn space(&mut self) -> &mut SpaceGuard<'p> {
        let store = self.store;
        self.rest.get_or_insert_default().space.get_or_insert_with(|| store.space.lock())
    }

    /// Writes the redo to the log, stamps and releases the pages. Returns where its frame lies, or `None` if
    /// nothing was changed.
    #[inline]
    pub fn commit(self) -> Option<FrameRange> {
        self.commit_with(&[])
    }

    /// [`Mtr::commit`] of a frame that ends with `parts`, encoded: what must reach the log with the changes
    /// or not at all. If nothing was changed they are not written. Behind the changes, so that the payload is
    /// one piece.
    #[inline(always)]
    pub fn commit_with(mut self, parts: &[u8]) -> Option<FrameRange> {
        self.write(parts)
    }

    /// [`Mtr::write`] of a mini-transaction that was made beside `first`, and of that.
    #[inline(always)]
    pub fn write_both(&mut self, first: &mut Mtr<'_>, parts: &[u8]) -> Option<FrameRange> {
        debug_assert!(first.is_lent, "they have one redo");
        first.is_lent = false;
        if !self.is_changed() {
            return None;
        }
        let pending = self.append(parts);
        let range = pending.range();
        self.stamp(range);
        first.stamp(range);
        drop(pending);
        self.redo.clear();
        Some(range)
    }

    /// [`Mtr::commit_with`], but that the pages stay latched.
    pub fn write(&mut self, parts: &[u8]) -> Option<FrameRange> {
        if !self.is_changed() {
            return None;
        }
        let pending = self.append(parts);
        let range = pending.range();
        self.stamp(range);
        drop(pending);
        self.redo.clear();
        Some(range)
    }

    /// Gives the pages back, whose changes are written.
    #[inline]
    pub fn release(&mut self) {
        debug_assert!(!self.is_changed() && !self.is_lent, "changes are written first");
        self.first = None;
        if self.rest.is_some() {
            self.rest = None;
        }
    }

    /// Appends the frame. A checkpoint counts on the pages' stamps before what is returned is dropped; the
    /// latches end after it.
    #[inline(always)]
    fn append(&mut self, parts: &[u8]) -> Pending<'p> {
        self.end_redo();
        self.redo.extend_from_slice(parts);
        let pending = self.store.log.append(&[], &self.redo);
        sim::linger();
        pending
    }

    /// Stamps the pages that were changed.
    #[inline(always)]
    fn stamp(&mut self, range: FrameRange) {
        if let Some(page) = &mut self.first {
            page.stamp(range);
        }
        if let Some(rest) = &mut self.rest {
            rest.pages.iter_mut().for_each(|page| page.stamp(range));
        }
    }
}

impl Drop for Mtr<'_> {
    #[inline]
    fn drop(&mut self) {
        if (self.is_changed() || self.is_lent) && !std::thread::panicking() {
            abandoned(self.redo.len());
        }
        let mut redo = std::mem::take(&mut self.redo);
        if redo.capacity() != 0 && redo.capacity() <= SPARE_REDO_BYTES_MAX {
            redo.clear();
            SPARE_REDO.set(redo);
        }
    }
}

#[cold]
#[inline(never)]
fn abandoned(redo_bytes: usize) {
    base::invariant::violated("committed", format_args!("{redo_bytes} bytes of redo were dropped"));
}

#[cfg(test)]
mod tests;
