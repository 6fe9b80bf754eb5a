//! The hint that leads to the right-most leaf of a tree.

use std::sync::atomic::AtomicU64;

use base::PageNo;
use page::PageRef;

/// Where the tree ends, perhaps.
#[derive(Debug, Default)]
pub(crate) struct EndHint(pub(crate) AtomicU64);

impl EndHint {
    /// No leaf is remembered.
    pub(crate) const NONE: u64 = 0;

    /// The hint that leads to `page`: its number and version.
    pub(crate) fn word(page: PageRef<'_>) -> u64 {
        u64::from(page.version()) << 32 | u64::from(page.page_no().0)
    }

    /// The page that a hint leads to.
    pub(crate) fn page_no(word: u64) -> PageNo {
        PageNo(word as u32)
    }
}
