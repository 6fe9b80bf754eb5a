//! Looking up key after key in one tree.
//!
//! The leaf of the last key stays latched: a key that falls on it, or on its right neighbour, costs no
//! descent. Keys that jump about are found as single keys are.

use base::PageNo;
use buffer::SharedGuard;
use page::{PageRef, Search};
use space::{Result, Store};

use crate::descend;
use crate::directory::FreeCount;
use crate::links::{broken, follows};
use crate::tree::Tree;

/// Lookups in a row, none on the leaf of the one before or next to it, after which that leaf is no longer
/// tried first.
const JUMPS_MAX: u32 = 4;
/// A series of lookups. Between two of them it may hold a leaf latched shared: the rules of [`crate::Cursor`]
/// hold until [`Probe::release`].
#[derive(Debug)]
pub struct Probe<'p> {
    store: &'p Store,
    tree: &'p Tree,
    leaf: Option<SharedGuard<'p>>,
    /// The leaf of the last lookup, latched or not, and its right neighbour then.
    last: PageNo,
    last_right: PageNo,
    /// Leaves freed before the last lookup.
    frees: FreeCount,
    jumps: u32,
}

impl<'p> Probe<'p> {
    /// Lookups in `tree`; nothing is latched yet.
    pub fn new(store: &'p Store, tree: &'p Tree) -> Self {
        Probe {
            store,
            tree,
            leaf: None,
            last: PageNo::NONE,
            last_right: PageNo::NONE,
            frees: FreeCount::default(),
            jumps: 0,
        }
    }

    /// Latches the leaf that `key` belongs to and returns where in it the key is or would be: possibly after
    /// its last slot. Cost: a search on the leaf that is held; one latch pair more for a leaf near by or
    /// known to the leaf directory.
    #[inline]
    pub fn find(&mut self, key: &[u8]) -> Result<Search> {
        if let Some(leaf) = self.leaf.as_ref().filter(|_| self.jumps < JUMPS_MAX) {
            let at = leaf.page().search_leaf(key);
            if leaf.page().covers_searched(key, at) {
                self.jumps = 0;
                return Ok(at);
            }
        }
        self.find_elsewhere(key)
    }

    /// The leaf that is latched.
    #[inline]
    pub fn page(&self) -> Option<PageRef<'_>> {
        self.leaf.as_ref().map(SharedGuard::page)
    }

    /// Goes on to the right neighbour; false, and the latch is kept, if there is none.
    pub fn next_leaf(&mut self) -> Result<bool> {
        let Some(right) = self.page().map(PageRef::right).filter(|right| !right.is_none()) else {
            return Ok(false);
        };
        // The right neighbour is latched before the old guard is dropped.
        let leaf = self.store.pool().shared(right)?;
        if !self.page().is_some_and(|page| follows(page, leaf.page())) {
            return Err(broken(right));
        }
        self.keep(leaf);
        Ok(true)
    }

    /// Gives up the latch. The next lookup tries the same leaf first.
    #[inline]
    pub fn release(&mut self) {
        self.leaf = None;
    }

    fn keep(&mut self, leaf: SharedGuard<'p>) {
        // While the leaf is held it is not freed, so that this is early enough.
        self.frees = self.tree.directory.frees();
        (self.last, self.last_right) = (leaf.page_no(), leaf.page().right());
        self.leaf = Some(leaf);
    }

    #[inline(never)]
    fn find_elsewhere(&mut self, key: &[u8]) -> Result<Search> {
        if self.jumps < JUMPS_MAX
            && let Some(at) = self.find_near(key)?
        {
            self.jumps = 0;
            return Ok(at);
        }
        // A leaf is not held while pages above it are waited for.
        self.leaf = None;
        let (leaf, at) = descend::leaf_shared(self.store, self.tree, key)?;
        let near = leaf.page_no() == self.last || leaf.page_no() == self.last_right;
        self.jumps = if near { 0 } else { self.jumps.saturating_add(1) };
        self.keep(leaf);
        Ok(at)
    }

    /// Looks on the last leaf if it is not held, then on its right neighbour.
    fn find_near(&mut self, key: &[u8]) -> Result<Option<Search>> {
        if self.leaf.is_none() {
            if self.last.is_none() {
                return Ok(None);
            }
            let directory = &self.tree.directory;
            let Some(leaf) = directory.shared_leaf(self.store, self.tree, self.last, self.frees) else {
                return Ok(None);
            };
            let at = leaf.page().search_leaf(key);
            let found = leaf.page().covers_searched(key, at);
            self.keep(leaf);
            if found {
                return Ok(Some(at));
            }
        }
        let Some(page) = self.page() else { return Ok(None) };
        if page.upper_fence().is_none_or(|upper| key < upper) || !self.next_leaf()? {
            return Ok(None);
        }
        let Some(page) = self.page() else { return Ok(None) };
        let at = page.search_leaf(key);
        Ok(page.covers_searched(key, at).then_some(at))
    }
}
