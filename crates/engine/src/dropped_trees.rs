//! The trees that were given up and still have their pages: see `ddl/free_trees.rs`.

use base::IndexId;
use base::sync::plain::Mutex;

/// Trees whose pages are to be freed: the ids of one entry of pending trees each.
#[derive(Debug, Default)]
pub(crate) struct DroppedTrees {
    pub(crate) waiting: Mutex<Vec<Vec<IndexId>>>,
    /// One thread at a time frees.
    pub(crate) turn: Mutex<()>,
}

impl DroppedTrees {
    /// Whether some are still to be freed.
    pub(crate) fn are_waiting(&self) -> bool {
        !self.waiting.lock().is_empty()
    }
}
