//! Finding pages that are allocated and that nothing refers to.
//!
//! A value off its row's page is found only through the row. When the row has lost it, and the log that says
//! so is gone, the value's pages stay allocated. To find them, a startup notes which pages are in use, and a
//! search in background *claims* those that trees and values have. What is freed meanwhile counts as claimed,
//! and what is allocated meanwhile is not asked about. The rest is lost.

use std::collections::BTreeSet;

use base::{IndexId, PageNo};
use page::{EXTENT_PAGES, ExtentEntry, ExtentState, PageType};

use crate::allocate::pages_within;
use crate::error::Result;
use crate::extent_no::{ExtentNo, bit_of, extent_of};
use crate::extents::Extents;
use crate::mtr::Mtr;
use crate::space::reserved_pages;
use crate::store::Store;
use crate::unclaimed::Unclaimed;

impl Extents {
    /// Notes the pages in use in extents of `trees` and in those that small trees share.
    fn begin_claims(&mut self, trees: &BTreeSet<IndexId>) {
        let entries = (0..).zip(self.iter()).filter_map(|(extent, entry): (ExtentNo, &ExtentEntry)| {
            let is_asked = match entry.state {
                ExtentState::Shared => true,
                ExtentState::Tree | ExtentState::Overflow => trees.contains(&entry.index_id),
                ExtentState::Free | ExtentState::System => false,
            };
            let pages = entry.used & !reserved_pages(extent);
            (is_asked && pages != 0).then_some((extent, pages))
        });
        let unclaimed = Unclaimed::new(entries);
        *self.unclaimed() = unclaimed;
    }
}

/// Pages of one extent that nothing has claimed.
#[derive(Debug)]
pub struct UnclaimedPages {
    extent: ExtentNo,
    /// The pages.
    pub pages: Vec<PageNo>,
}

impl Store {
    /// Notes which pages are in use in extents of `trees`, and in those that small trees share. No thread
    /// allocates meanwhile.
    pub fn begin_claims(&self, trees: &BTreeSet<IndexId>) {
        self.space.lock().begin_claims(trees);
    }

    /// Ends the search for pages that nothing claims.
    pub fn end_claims(&self) {
        *self.space.lock().unclaimed() = Unclaimed::default();
    }

    /// Claims `count` pages from `first` on for what refers to them, or did until now. The caller may hold
    /// tree pages.
    pub fn claim(&self, first: PageNo, count: u32) {
        let mut space = self.space.lock();
        let last = PageNo(first.0.saturating_add(count.saturating_sub(1)));
        for extent in extent_of(first)..=extent_of(last).min(space.len().saturating_sub(1)) {
            space.unclaimed().claim(extent, pages_within(extent, first, count));
        }
    }

    /// Returns the unclaimed pages of the first extent after `after` that has any.
    pub fn unclaimed_after(&self, after: Option<&UnclaimedPages>) -> Option<UnclaimedPages> {
        let (extent, pages) = self.space.lock().unclaimed().next(after.map(|after| after.extent))?;
        let pages = (0..EXTENT_PAGES).filter(|page| pages >> page & 1 != 0);
        Some(UnclaimedPages {
            extent,
            pages: pages.map(|page| PageNo(extent * EXTENT_PAGES + page)).collect(),
        })
    }

    /// Returns the tree whose value `page` holds a piece of; `None` if it is no page of a value, or cannot be
    /// read: nothing refers to it, and it may have been freed since it was found unclaimed.
    pub fn value_page_owner(&self, page: PageNo) -> Result<Option<IndexId>> {
        let guard = match self.pool.shared_cold(page) {
            Err(buffer::Error::Corruption(_)) => return Ok(None),
            read => read?,
        };
        let page = guard.page();
        Ok((page.page_type() == PageType::Overflow).then(|| page.index_id()))
    }

    /// Frees those of `pages`, all of the extent of `unclaimed`, that are unclaimed still. Nothing refers to
    /// them.
    pub fn free_unclaimed(&self, unclaimed: &UnclaimedPages, pages: &[PageNo]) -> Result<()> {
        let extent = unclaimed.extent;
        let wanted = pages.iter().fold(0, |bits, &page| bits | bit_of(page));
        let mut mtr = Mtr::new(self);
        mtr.prepare_map(extent)?;
        // The state is locked until the commit: no thread claims or frees in between.
        let bits = wanted & mtr.space().unclaimed().of(extent);
        if bits == 0 {
            return Ok(());
        }
        mtr.release_pages(extent, bits)?;
        let freed = pages.iter().copied().filter(move |&page| bits & bit_of(page) != 0);
        mtr.write_release(&[], freed);
        Ok(())
    }

    /// Whether no extent with the map's garbage bit waits for a sweep.
    pub fn is_swept(&self) -> bool {
        self.space.lock().is_swept()
    }
}
