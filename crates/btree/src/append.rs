//! Ascending inserts: the tree remembers its right-most leaf, so that a key after all others needs no
//! descent.
//!
//! The hint is a page number and the page's version in one word, 0 for none. It is set by an insert after the
//! last record and believed only after the page, latched exclusively, has shown that it is still this tree's
//! right-most leaf and that the key belongs there. The thread that frees a leaf clears the hint while it
//! holds the leaf, and readers check the hint again under the latch, so that a page that left the tree cannot
//! answer with its old bytes. A wrong guess costs one latch pair and disarms the hint until the next insert
//! at the end.

use std::sync::atomic::Ordering;

use buffer::ExclusiveGuard;
use page::{PageRef, PageType, Search};
use space::Store;

use crate::end_hint::EndHint;
use crate::tree::Tree;

impl Tree {
    /// Remembers `page` as the right-most leaf.
    #[inline]
    pub(crate) fn remember_end(&self, page: PageRef<'_>) {
        let word = EndHint::word(page);
        // Relaxed: the word is a guess that the page itself confirms. The load avoids a write to the cache
        // line.
        if self.end_hint.0.load(Ordering::Relaxed) != word {
            self.end_hint.0.store(word, Ordering::Relaxed);
        }
    }

    /// The right-most leaf, exclusive, if it is remembered and `key` belongs there.
    #[inline]
    pub(crate) fn remembered_leaf<'p>(
        &self,
        store: &'p Store,
        key: &[u8],
    ) -> Option<(ExclusiveGuard<'p>, Search)> {
        let word = self.end_hint.0.load(Ordering::Relaxed);
        if word == EndHint::NONE {
            return None;
        }
        let leaf = store.pool().exclusive(EndHint::page_no(word)).ok();
        let Some(leaf) = leaf.filter(|leaf| self.is_end(leaf.page(), word, key)) else {
            self.end_hint.0.store(EndHint::NONE, Ordering::Relaxed);
            return None;
        };
        let at = leaf.page().search_leaf(key);
        Some((leaf, at))
    }

    /// Forgets hints that may lead to a leaf about to be freed, which the caller holds exclusively.
    pub(crate) fn leaf_freed(&self) {
        self.end_hint.0.store(EndHint::NONE, Ordering::Relaxed);
        self.directory.leaf_freed();
    }

    #[inline]
    fn is_end(&self, page: PageRef<'_>, word: u64, key: &[u8]) -> bool {
        EndHint::word(page) == word
            // Not if the leaf was freed since: its old bytes may have come back from disk.
            && self.end_hint.0.load(Ordering::Relaxed) == word
            && page.page_type() == PageType::BTree
            && page.index_id() == self.index
            && page.is_leaf()
            && page.upper_fence().is_none()
            && page.lower_fence() <= key
    }
}
