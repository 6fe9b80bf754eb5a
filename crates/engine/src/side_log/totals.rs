//! What side logs have done since startup.

use std::sync::atomic::{AtomicU64, Ordering};

/// Work of all side logs since startup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideLogTotals {
    /// Entries that changes of rows have taken away or added, and keys of rows that changed beside rebuilds.
    pub noted: u64,
    /// Of these, entries that builds have taken away or added, and keys whose rows rebuilds have copied.
    pub applied: u64,
    /// Rows that rebuilds have copied again, or found gone.
    pub copied: u64,
    /// Blocks written to temporary files.
    pub blocks: u64,
}

/// The counters behind [`SideLogTotals`].
#[derive(Debug, Default)]
pub(crate) struct SideLogCounters {
    noted: AtomicU64,
    applied: AtomicU64,
    copied: AtomicU64,
    blocks: AtomicU64,
}

impl SideLogCounters {
    pub(crate) fn add(&self, work: SideLogTotals) {
        let SideLogTotals { noted, applied, copied, blocks } = work;
        self.noted.fetch_add(noted, Ordering::Relaxed);
        self.applied.fetch_add(applied, Ordering::Relaxed);
        self.copied.fetch_add(copied, Ordering::Relaxed);
        self.blocks.fetch_add(blocks, Ordering::Relaxed);
    }

    pub(crate) fn totals(&self) -> SideLogTotals {
        SideLogTotals {
            noted: self.noted.load(Ordering::Relaxed),
            applied: self.applied.load(Ordering::Relaxed),
            copied: self.copied.load(Ordering::Relaxed),
            blocks: self.blocks.load(Ordering::Relaxed),
        }
    }
}
