//! Which tree a page belongs to that is in an extent shared by small trees.
//!
//! The map says of such an extent only which of its pages are in use; the page's own header has its tree.
//! Pages that were given out since the start are known; others are read once, when trees are freed for the
//! first time.

use std::collections::{BTreeMap, BTreeSet};

use base::{IndexId, PageNo};

/// The owners that are known.
#[derive(Debug, Default)]
pub(crate) struct SharedOwners {
    of: BTreeMap<PageNo, IndexId>,
}

impl SharedOwners {
    /// `count` pages from `first` on are given to a tree.
    pub(crate) fn give(&mut self, first: PageNo, count: u32, index: IndexId) {
        self.of.extend((first.0..first.0 + count).map(|page| (PageNo(page), index)));
    }

    /// A page is free.
    pub(crate) fn take_back(&mut self, page: PageNo) {
        self.of.remove(&page);
    }

    /// A page that was in use at startup says that it is of `index`, unless it was given to another tree
    /// since.
    pub(crate) fn set_owner(&mut self, page: PageNo, index: IndexId) {
        self.of.entry(page).or_insert(index);
    }

    /// The owner of a page, if it is known.
    pub(crate) fn owner_of(&self, page: PageNo) -> Option<IndexId> {
        self.of.get(&page).copied()
    }

    /// Whether the owner of a page is known.
    pub(crate) fn knows(&self, page: PageNo) -> bool {
        self.of.contains_key(&page)
    }

    /// The pages that are known to be of `trees`.
    pub(crate) fn pages_of(&self, trees: &BTreeSet<IndexId>) -> Vec<PageNo> {
        self.of.iter().filter(|(_, owner)| trees.contains(owner)).map(|(page, _)| *page).collect()
    }
}
