//! Off-page values of a tree: where its pages go.

use page::OverflowRef;
use space::{Locality, Result, Store, overflow_pages};

use crate::split::SMALL_TREE_CHILDREN;
use crate::tree::Tree;

/// A value with more pages than this never goes to extents that small trees share.
const SHARED_PAGES_MAX: u32 = 4;

impl Tree {
    /// Writes `value` to pages of this tree, as [`Store::write_overflow`] does, in shared extents while tree
    /// and value are small.
    ///
    /// # Errors
    /// Those of [`Store::write_overflow`], and of reading the root.
    pub fn write_overflow<P: AsRef<[u8]>>(
        &self,
        store: &Store,
        value: &[u8],
        note: impl FnOnce(&OverflowRef) -> P,
    ) -> Result<OverflowRef> {
        let locality = self.overflow_locality(store, overflow_pages(value))?;
        store.write_overflow(self.index, locality, value, note)
    }

    /// As [`Tree::write_overflow`], for a tree in the making: see [`Store::write_overflow_of_new_tree`].
    ///
    /// # Errors
    /// As [`Tree::write_overflow`].
    pub fn write_overflow_of_new_tree(&self, store: &Store, value: &[u8]) -> Result<OverflowRef> {
        let locality = self.overflow_locality(store, overflow_pages(value))?;
        store.write_overflow_of_new_tree(self.index, locality, value)
    }

    fn overflow_locality(&self, store: &Store, pages: u32) -> Result<Locality> {
        if pages > SHARED_PAGES_MAX {
            return Ok(Locality::Own);
        }
        let root = store.pool().shared(self.root)?;
        let page = root.page();
        let is_small = page.is_leaf() || page.level() == 1 && page.count() < SMALL_TREE_CHILDREN;
        Ok(if is_small { Locality::Shared } else { Locality::Own })
    }
}
