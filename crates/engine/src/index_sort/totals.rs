//! What sorts have done since startup.

use std::sync::atomic::{AtomicU64, Ordering};

/// Work of all sorts of index entries since startup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortTotals {
    /// Entries sorted.
    pub keys: u64,
    /// Times that the entries of an index in memory were put in order: to write them to a run, or to build
    /// the index of nothing else.
    pub sorts: u64,
    /// Runs written of what was in memory.
    pub runs: u64,
    /// Merges of runs into a longer run.
    pub merge_passes: u64,
}

/// The counters behind [`SortTotals`].
#[derive(Debug, Default)]
pub(crate) struct SortCounters {
    keys: AtomicU64,
    sorts: AtomicU64,
    runs: AtomicU64,
    merge_passes: AtomicU64,
}

impl SortCounters {
    pub(super) fn add(&self, work: SortTotals) {
        let SortTotals { keys, sorts, runs, merge_passes } = work;
        self.keys.fetch_add(keys, Ordering::Relaxed);
        self.sorts.fetch_add(sorts, Ordering::Relaxed);
        self.runs.fetch_add(runs, Ordering::Relaxed);
        self.merge_passes.fetch_add(merge_passes, Ordering::Relaxed);
    }

    pub(crate) fn totals(&self) -> SortTotals {
        SortTotals {
            keys: self.keys.load(Ordering::Relaxed),
            sorts: self.sorts.load(Ordering::Relaxed),
            runs: self.runs.load(Ordering::Relaxed),
            merge_passes: self.merge_passes.load(Ordering::Relaxed),
        }
    }
}
