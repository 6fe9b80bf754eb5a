//! Taking and giving back pages within a mini-transaction.

use std::ops::RangeInclusive;

use base::{IndexId, PageNo, invariant};
use buffer::ExclusiveGuard;
use page::extent_map::EXTENTS_PER_MAP;
use page::{Corruption, CorruptionKind, EXTENT_PAGES, ExtentEntry, ExtentState, PageOp, PageType};

use crate::error::{Error, Result};
use crate::extent_no::{ExtentNo, bit_of, extent_of, map_page_of};
use crate::extents::Locality;
use crate::mtr::{Latched, Mtr};
use crate::space::{Space, reserved_pages, write_entry};
use crate::space_reserve::SpaceReserve;
use crate::store::Store;

/// A page that was just given out, to be formatted with this number and version.
#[derive(Clone, Copy, Debug)]
pub struct NewPage {
    /// The page in the mini-transaction.
    pub at: Latched,
    /// Its number.
    pub page_no: PageNo,
    /// The version its header gets: higher than those of earlier uses.
    pub version: u32,
}

/// Consecutive pages that were just given out.
#[derive(Clone, Copy, Debug)]
pub struct NewRun {
    /// The first page.
    pub first: PageNo,
    /// The version that the headers of all of them get.
    pub version: u32,
}

impl<'p> Mtr<'p> {
    /// Takes `N` pages for a tree and latches them. Call it before the first change: on an error nothing has
    /// happened.
    pub fn allocate<const N: usize>(&mut self, index: IndexId, locality: Locality) -> Result<[NewPage; N]> {
        invariant!(!self.is_changed(), "pages are taken before the first change");
        let mut taken = [PageNo::NONE; N];
        for at in 0..N {
            match self.take_page(index, locality) {
                Ok(page) => taken[at] = page,
                Err(error) => return Err(self.give_back(&taken[..at], error)),
            }
        }
        let store = self.store;
        let created: std::result::Result<Vec<_>, _> =
            taken.iter().map(|&page| store.pool.create(page)).collect();
        let frames = match created {
            Ok(frames) => frames,
            Err(error) => return Err(self.give_back(&taken, error.into())),
        };
        for &page in &taken {
            if let Err(error) = self.map_for(extent_of(page)) {
                frames.into_iter().for_each(ExclusiveGuard::discard);
                return Err(self.give_back(&taken, error));
            }
        }
        for &page in &taken {
            self.write_map_entry(extent_of(page))?;
        }
        let mut frames = frames.into_iter();
        Ok(taken.map(|page_no| {
            let frame = frames.next().expect("one frame per page");
            let version = self.space().get(extent_of(page_no)).version;
            NewPage { at: self.adopt(frame), page_no, version }
        }))
    }

    /// Takes one page; the file grows if need be.
    fn take_page(&mut self, index: IndexId, locality: Locality) -> Result<PageNo> {
        let store = self.store;
        loop {
            let state = self.space();
            if let Some(page) = state.take_page(index, locality, &mut |extent| store.space.fill(extent))? {
                return Ok(page);
            }
            match Space::grow(store, state, 1) {
                Err(Error::FileFull) if SpaceReserve::is_open() && state.give_withheld() => {}
                grown => grown?,
            }
        }
    }

    /// Undoes `take_page`.
    #[cold]
    fn give_back(&mut self, taken: &[PageNo], error: crate::error::Error) -> crate::error::Error {
        let now = self.store.log.current();
        for &page in taken {
            self.space().release(extent_of(page), bit_of(page), now);
        }
        error
    }

    /// Takes `count` consecutive pages, without latching them. The mini-transaction must hold nothing else.
    /// On an error nothing has happened.
    pub fn allocate_run(&mut self, index: IndexId, count: u32, locality: Locality) -> Result<NewRun> {
        let first = self.take_run(index, count, locality)?;
        if let Err(error) = self.map_for(extent_of(first)) {
            return Err(self.give_back_run(first, count, error));
        }
        self.write_run(first, count)
    }

    /// As [`Mtr::allocate_run`], of shared extents, with the tree's id on each page: the pages of a tree that
    /// is left unfinished, also by a crash, can be found.
    pub fn allocate_labelled_run(&mut self, index: IndexId, count: u32) -> Result<NewRun> {
        let first = self.take_run(index, count, Locality::Shared)?;
        let mut frames = Vec::with_capacity(count as usize);
        let created = (first.0..first.0 + count).try_for_each(|page| {
            frames.push(self.store.pool.create(PageNo(page))?);
            Ok(())
        });
        if let Err(error) = created.and_then(|()| self.map_for(extent_of(first)).map(drop)) {
            frames.into_iter().for_each(ExclusiveGuard::discard);
            return Err(self.give_back_run(first, count, error));
        }
        let run = self.write_run(first, count)?;
        for frame in frames {
            let (page_no, page_type, version) = (frame.page_no(), PageType::Free, run.version);
            let page = self.adopt(frame);
            self.apply(page, &PageOp::FormatOther { page_no, page_type, index_id: index, version });
        }
        Ok(run)
    }

    fn take_run(&mut self, index: IndexId, count: u32, locality: Locality) -> Result<PageNo> {
        let store = self.store;
        let extents = count.div_ceil(EXTENT_PAGES);
        invariant!(extents < EXTENTS_PER_MAP, "a run of {count} pages has no place");
        let state = self.space();
        loop {
            let fill = &mut |extent| store.space.fill(extent);
            if let Some(first) = state.take_run(index, count, locality, fill)? {
                return Ok(first);
            }
            // One more than needed: the next extent may be the first of a group, which is never part of a
            // long run.
            Space::grow(store, state, extents + 1)?;
        }
    }

    /// Undoes `take_run`.
    #[cold]
    fn give_back_run(&mut self, first: PageNo, count: u32, error: Error) -> Error {
        let now = self.store.log.current();
        for extent in extents_of(first, count) {
            self.space().release(extent, pages_within(extent, first, count), now);
        }
        error
    }

    /// Writes the map entries of a run. Its map page is latched, so that this cannot fail.
    fn write_run(&mut self, first: PageNo, count: u32) -> Result<NewRun> {
        for extent in extents_of(first, count) {
            self.write_map_entry(extent)?;
        }
        Ok(NewRun { first, version: self.space().get(extent_of(first)).version })
    }

    /// Gets ready to free a page of this mini-transaction: all that can fail. Call it before the first
    /// change.
    pub fn prepare_free(&mut self, at: Latched) -> Result<()> {
        let page_no = self.page(at).page_no();
        self.prepare_map(extent_of(page_no))
    }

    /// Frees a page that [`Mtr::prepare_free`] was called for. It stays latched, formatted as free, until the
    /// commit.
    pub fn free(&mut self, at: Latched) {
        let page = self.page(at);
        let (page_no, version) = (page.page_no(), page.version());
        let format =
            PageOp::FormatOther { page_no, page_type: PageType::Free, index_id: IndexId(0), version };
        self.apply(at, &format);
        self.release_pages(extent_of(page_no), bit_of(page_no)).expect("the map page is latched");
    }

    /// Frees pages of one extent that this mini-transaction has not latched. `pages`: one bit each.
    pub(crate) fn release_pages(&mut self, extent: ExtentNo, pages: u64) -> Result<()> {
        self.map_for(extent)?;
        let now = self.store.log.current();
        self.space().release(extent, pages, now);
        self.write_map_entry(extent)
    }

    /// Commits the release of `pages`, which are not latched, and forgets their buffer frames.
    ///
    /// In this order: a checkpoint that no longer sees a page's unwritten changes makes the log durable up to
    /// here at least, so that redo knows the page as free. Until the space is unlocked no other thread can
    /// have taken the pages.
    pub(crate) fn write_release(mut self, parts: &[u8], pages: impl Iterator<Item = PageNo>) {
        self.write(parts);
        pages.for_each(|page| self.store.pool.discard(page));
        self.release();
    }

    /// Latches the map page of an extent.
    pub(crate) fn prepare_map(&mut self, extent: ExtentNo) -> Result<()> {
        self.map_for(extent).map(drop)
    }

    /// Writes the state of an extent to its map page.
    pub(crate) fn write_map_entry(&mut self, extent: ExtentNo) -> Result<()> {
        let map = self.map_for(extent)?;
        let state = self.space().get(extent);
        write_entry(self, map, extent, state);
        Ok(())
    }

    /// The map page of an extent, latched now or before.
    fn map_for(&mut self, extent: ExtentNo) -> Result<Latched> {
        let page_no = map_page_of(extent);
        // The state is locked before any map page is latched.
        self.space();
        match self.find(page_no) {
            Some(map) => Ok(map),
            None => self.latch(page_no),
        }
    }
}

/// The extents in which a run is.
fn extents_of(first: PageNo, count: u32) -> RangeInclusive<ExtentNo> {
    extent_of(first)..=extent_of(PageNo(first.0 + count - 1))
}

/// The bits of those pages of an extent that belong to a run.
pub(crate) fn pages_within(extent: ExtentNo, first: PageNo, count: u32) -> u64 {
    let start = extent * EXTENT_PAGES;
    (start..start + EXTENT_PAGES)
        .filter(|page| (first.0..first.0 + count).contains(page))
        .fold(0, |bits, page| bits | bit_of(PageNo(page)))
}

/// Whether all pages of a run are in use, by trees or values. A reference that was damaged may name any.
fn is_in_use(store: &Store, first: PageNo, count: u32) -> bool {
    let Some(end) = first.0.checked_add(count).filter(|_| count > 0) else { return false };
    let space = store.space.lock();
    let extents = extent_of(first)..=extent_of(PageNo(end - 1));
    *extents.end() < space.len()
        && extents.into_iter().all(|extent| {
            let pages = pages_within(extent, first, count);
            let ExtentEntry { state, used, .. } = space.get(extent);
            let given_out = used & !reserved_pages(extent);
            given_out & pages == pages && !matches!(state, ExtentState::Free | ExtentState::System)
        })
}

impl Store {
    /// Frees `page`, which nothing points at. Latches: none may be held.
    ///
    /// # Errors
    /// [`Error::Corruption`] if the page is not in use.
    pub fn free_page(&self, page: PageNo) -> Result<()> {
        free_run(self, page, 1, &[])
    }
}

/// Frees a run of pages, all or nothing. `parts` are in the log frame.
pub(crate) fn free_run(store: &Store, first: PageNo, count: u32, parts: &[u8]) -> Result<()> {
    if !is_in_use(store, first, count) {
        return Err(Error::Corruption(Corruption { page: first, what: CorruptionKind::Overflow }));
    }
    let mut mtr = Mtr::new(store);
    // A run is within one group of extents: the first of them latches the one map page, which is all that
    // can fail.
    for extent in extents_of(first, count) {
        mtr.release_pages(extent, pages_within(extent, first, count))?;
    }
    mtr.write_release(parts, (first.0..first.0 + count).map(PageNo));
    Ok(())
}
