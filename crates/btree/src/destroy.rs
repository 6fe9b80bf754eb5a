//! Freeing a whole tree.

use std::collections::BTreeSet;

use base::{IndexId, PageNo};
use page::{EXTENT_PAGES, ExtentState, Kin, OverflowRef, PageRef};

use crate::allocate::free_run;
use crate::error::Result;
use crate::extents::extent_of;
use crate::links::{broken, root_shared};
use crate::mtr::Mtr;
use crate::store::Store;
use crate::tree::Tree;

/// Finds the off-page values of a leaf's records and adds them to the list.
pub type FindOverflow<'f> = &'f mut dyn FnMut(PageRef<'_>, &mut Vec<OverflowRef>);

impl Tree {
    /// Frees every page of the tree. Nobody else uses it, or will: the dictionary has forgotten it already.
    ///
    /// Extents of the tree's own are freed whole; only inner pages are read, to find pages in shared extents.
    /// `find_overflow`: given if records may refer to off-page values; then the leaves are read, too.
    ///
    /// On an error part of the tree is freed, and the rest is lost until the file is checked.
    pub fn destroy(self, store: &Store, find_overflow: Option<FindOverflow<'_>>) -> Result<()> {
        let (pages, values) = self.collect(store, find_overflow)?;
        for value in values {
            store.free_overflow(&value, &[])?;
        }
        for page in pages {
            free_run(store, page, 1, &[])?;
        }
        store.free_extents_of(self.index)
    }

    /// The tree's pages and values that stand in shared extents.
    fn collect(
        &self,
        store: &Store,
        mut find_overflow: Option<FindOverflow<'_>>,
    ) -> Result<(Vec<PageNo>, Vec<OverflowRef>)> {
        let is_shared = |page: PageNo| store.space.lock().get(extent_of(page)).state == ExtentState::Shared;
        let (mut pages, mut values) = (Vec::new(), Vec::new());
        let mut level = vec![self.root];
        let mut height = root_shared(store, self)?.page().level();
        loop {
            let mut below = Vec::new();
            for &page_no in &level {
                if is_shared(page_no) {
                    pages.push(page_no);
                }
                if height == 0 && find_overflow.is_none() {
                    continue;
                }
                let guard = store.pool.shared_cold(page_no)?;
                let page = guard.page();
                if page.kin() != Kin::of(self.index, height) {
                    return Err(broken(page_no));
                }
                match &mut find_overflow {
                    Some(find) if height == 0 => find(page, &mut values),
                    _ => below.extend((0..page.count()).map(|slot| page.child(slot))),
                }
            }
            level = below;
            match height.checked_sub(1) {
                Some(next) => height = next,
                None => break,
            }
        }
        values.retain(|value| is_shared(value.first));
        Ok((pages, values))
    }
}

impl Store {
    /// Frees the extents that a tree owns alone, whole.
    fn free_extents_of(&self, index: IndexId) -> Result<()> {
        let own = self.space.lock().owned_by(index);
        for extent in own {
            let used = self.space.lock().get(extent).used;
            let first = extent * EXTENT_PAGES;
            let used_pages = (0..EXTENT_PAGES).filter(|page| used & 1 << page != 0);
            let mut mtr = Mtr::new(self);
            mtr.release_pages(extent, used)?;
            mtr.write_release(&[], used_pages.map(|page| PageNo(first + page)));
        }
        Ok(())
    }

    /// Frees everything that belongs to the trees, whole or not, without knowing their roots. Nobody uses them, or will.
    ///
    /// Cost: reads every page that stands in an extent which small trees share.
    pub fn free_trees(&self, trees: &BTreeSet<IndexId>) -> Result<()> {
        trees.iter().try_for_each(|&tree| self.free_extents_of(tree))?;
        let shared = self.space.lock().shared_pages();
        for page_no in shared {
            let owner = match self.pool.shared_cold(page_no) {
                Ok(guard) => guard.page().index_id(),
                // Whose it is cannot be told; whoever needs it will report it.
                Err(buffer::Error::Corruption(_)) => continue,
                Err(error) => return Err(error.into()),
            };
            if trees.contains(&owner) {
                free_run(self, page_no, 1, &[])?;
            }
        }
        Ok(())
    }
}
