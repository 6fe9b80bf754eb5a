//! Off-page values of a tree: where its pages go.

use page::{OverflowRef, PAGE_SIZE};
use space::{Locality, Result, Store, overflow_pages};

use crate::split::SMALL_TREE_CHILDREN;
use crate::tree::Tree;

/// A value with more pages than this never goes to extents that small trees share.
const SHARED_PAGES_MAX: u32 = 4;
/// Bytes of records of which a tree is not small any more.
pub const SMALL_TREE_BYTES: usize = SMALL_TREE_CHILDREN * PAGE_SIZE;

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
    /// `is_small`: it is, with the records that it has not been given yet.
    ///
    /// # Errors
    /// Those of [`Store::write_overflow`].
    pub fn write_overflow_of_new_tree(
        &self,
        store: &Store,
        value: &[u8],
        is_small: bool,
    ) -> Result<OverflowRef> {
        let is_shared = is_small && overflow_pages(value) <= SHARED_PAGES_MAX;
        let locality = if is_shared { Locality::Shared } else { Locality::Own };
        store.write_overflow_of_new_tree(self.index, locality, value)
    }

    fn overflow_locality(&self, store: &Store, pages: u32) -> Result<Locality> {
        let is_shared = pages <= SHARED_PAGES_MAX && self.is_small(store)?;
        Ok(if is_shared { Locality::Shared } else { Locality::Own })
    }

    /// Whether the tree is one of those whose pages are in shared extents.
    ///
    /// # Errors
    /// Those of reading the root.
    pub fn is_small(&self, store: &Store) -> Result<bool> {
        let root = store.pool().shared(self.root)?;
        let page = root.page();
        Ok(page.is_leaf() || page.level() == 1 && page.count() < SMALL_TREE_CHILDREN)
    }
}
