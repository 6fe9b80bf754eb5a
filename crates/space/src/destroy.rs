//! Freeing whole trees.

use std::collections::BTreeSet;

use base::sync::{PlantedBug, planted, sim};
use base::{IndexId, PageNo};
use buffer::PageDefect;
use page::EXTENT_PAGES;

use crate::allocate::free_run;
use crate::error::Result;
use crate::mtr::Mtr;
use crate::store::Store;

/// Times that a thread with [`PlantedBug::EarlyDiscard`] may be left behind.
const LINGERING: usize = 500;

impl Store {
    /// Frees everything that belongs to the trees, off-page values included, without knowing their roots.
    /// They are not used any more: the dictionary has forgotten them already. What an error leaves is freed
    /// by another call.
    ///
    /// Latches: none may be held. Cost: a mini-transaction for each extent and each page that is in an extent
    /// shared by small trees. No page of the trees is read, but the first call after a startup reads all such
    /// pages.
    pub fn free_trees(&self, trees: &BTreeSet<IndexId>) -> Result<()> {
        if planted(PlantedBug::EarlyDiscard) {
            self.discard_early(trees);
        }
        trees.iter().try_for_each(|&tree| self.free_extents_of(tree))?;
        self.load_shared_owners()?;
        let pages = self.space.lock().shared_pages_of(trees);
        for page in pages {
            self.log.admit()?;
            free_run(self, page, 1, &[])?;
        }
        Ok(())
    }

    /// Frees the extents that a tree owns alone, whole.
    fn free_extents_of(&self, index: IndexId) -> Result<()> {
        let own = self.space.lock().owned_by(index);
        for extent in own {
            self.log.admit()?;
            let used = self.space.lock().get(extent).used;
            let first = extent * EXTENT_PAGES;
            let used_pages = (0..EXTENT_PAGES).filter(|page| used & 1 << page != 0);
            let used_pages = used_pages.map(|page| PageNo(first + page));
            let mut mtr = Mtr::new(self);
            mtr.release_pages(extent, used)?;
            mtr.write_release(&[], used_pages);
        }
        Ok(())
    }

    /// What [`PlantedBug::EarlyDiscard`] does.
    fn discard_early(&self, trees: &BTreeSet<IndexId>) {
        let pages: Vec<PageNo> = {
            let state = self.space.lock();
            let own = trees.iter().flat_map(|&tree| state.owned_by(tree)).flat_map(|extent| {
                let used = state.get(extent).used;
                let is_used = move |page: &u32| used >> page & 1 != 0;
                (0..EXTENT_PAGES).filter(is_used).map(move |page| PageNo(extent * EXTENT_PAGES + page))
            });
            own.chain(state.shared_pages_of(trees)).collect()
        };
        for page in pages {
            self.pool.discard(page);
        }
        (0..LINGERING).for_each(|_| sim::linger());
    }

    /// Reads the pages in shared extents whose tree is not known yet.
    pub(crate) fn load_shared_owners(&self) -> Result<()> {
        let unknown = self.space.lock().shared_pages_unknown();
        for page in unknown {
            let owner = match self.pool.shared_cold(page) {
                Ok(guard) => Some(guard.page().index_id()),
                // Nothing but the id of a tree in the making may have been written to it.
                Err(buffer::Error::Corruption(corrupt)) if corrupt.defect == PageDefect::Unwritten => {
                    self.pool.claimed_owner(page)
                }
                // Its owner is unknown; a statement that reads the page reports it.
                Err(buffer::Error::Corruption(_)) => None,
                Err(error) => return Err(error.into()),
            };
            if let Some(owner) = owner {
                self.space.lock().learn_shared_owner(page, owner);
            }
        }
        self.space.lock().end_learning_owners();
        Ok(())
    }
}
