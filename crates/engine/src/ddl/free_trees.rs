//! Trees of tables and indexes that are gone: their pages are freed in background.
//!
//! A DDL statement puts its trees down as pending (`recovery/trees.rs`), takes them out of the dictionary
//! and the catalog, and leaves them here, so that it holds its locks for moments, however large the trees
//! are. A startup after a crash finds them in the dictionary. What transactions have left to purge in such a
//! tree is void: it goes with the pages.

use std::collections::BTreeSet;

use base::IndexId;

use crate::engine::Engine;
use crate::error::Result;

impl Engine {
    /// Frees the trees of an entry of pending trees, except those that a table has: the purge thread frees
    /// them, or this thread at once if there is no purge thread.
    pub(crate) fn free_trees_later(&self, pending: Vec<IndexId>) -> Result<()> {
        if pending.is_empty() {
            return Ok(());
        }
        self.dropped_trees.waiting.lock().push(pending);
        if self.has_purge_thread() {
            self.purge.wake_thread();
            return Ok(());
        }
        self.free_dropped_trees()
    }

    /// Gives up the trees that a statement had made when it failed with `error`, and returns that.
    pub(crate) fn free_made<E>(&self, made: Vec<IndexId>, error: E) -> E {
        // The first error is the statement's. Trees that cannot be freed now stay among those that wait.
        let _ = self.free_trees_later(made);
        error
    }

    /// Frees the trees that were given up. Those that a full disk has no room for stay for the next call, and
    /// so do all while transactions from before the start are rolled back: a page that one of them had
    /// allocated and not yet written may still look as a page of such a tree.
    ///
    /// Latches and locks: none may be held but metadata locks.
    pub(crate) fn free_dropped_trees(&self) -> Result<()> {
        let _turn = self.dropped_trees.turn.lock();
        loop {
            if self.unfinished_transactions() > 0 {
                return Ok(());
            }
            let Some(pending) = self.dropped_trees.waiting.lock().first().cloned() else { return Ok(()) };
            match self.free_pending(&pending) {
                Err(error) if error.is_full_disk() => return Ok(()),
                // The next startup has their ids, and tries again.
                Err(error) if error.is_corrupt_page() => {
                    self.notes
                        .note(&format!("data file: {error}; the pages of dropped trees stay allocated"));
                }
                freed => freed?,
            }
            self.dropped_trees.waiting.lock().remove(0);
        }
    }

    fn free_pending(&self, pending: &[IndexId]) -> Result<()> {
        let mut trees: BTreeSet<IndexId> = pending.iter().copied().collect();
        {
            let catalog = self.catalog();
            trees.retain(|&tree| catalog.index(tree).is_none());
        }
        {
            // Before others may have the pages.
            let _definition = self.definition.lock();
            self.forget_damages(trees.iter().copied())?;
        }
        if !trees.is_empty() {
            self.store.free_trees(&trees)?;
        }
        for &tree in &trees {
            self.store.pool().forget_format(tree);
        }
        let _definition = self.definition.lock();
        self.forget_pending_trees(pending)
    }
}
