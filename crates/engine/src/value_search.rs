//! How far the search for lost values has got: see `lost_values.rs`.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use base::IndexId;
use base::sync::plain::Mutex;
use btree::Suspended;
use space::UnclaimedPages;

/// The search of one start.
#[derive(Debug, Default)]
pub(crate) struct LostValues {
    /// There is a search.
    pub(crate) is_sought: AtomicBool,
    /// A damaged page ended the search before it had seen all rows.
    pub(crate) is_left_over: AtomicBool,
    pub(crate) search: Mutex<Search>,
}

/// How far the search has got.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// The clustered trees of tables that may have off-page values.
    pub(crate) trees: BTreeSet<IndexId>,
    /// Those of them whose rows are not all read; the last one is next.
    pub(crate) rest: Vec<IndexId>,
    /// Where to continue in it.
    pub(crate) at: Option<Suspended>,
    /// The extent whose unclaimed pages were freed last.
    pub(crate) freed: Option<UnclaimedPages>,
}

impl LostValues {
    /// Whether there is a search. Cost: a load.
    #[inline]
    pub(crate) fn are_sought(&self) -> bool {
        self.is_sought.load(Ordering::Relaxed)
    }
}

impl Search {
    pub(crate) fn end_tree(&mut self) {
        self.rest.pop();
        self.at = None;
    }
}
