//! Pages in use that no thread has claimed yet (see `claims.rs`).

use std::collections::BTreeMap;

use crate::extent_no::ExtentNo;

/// Pages that were in use at the start and are not claimed: a bit for each page, by extent. Empty unless they
/// are tracked.
///
/// Memory: about 40 bytes for each extent (1 MiB) that holds one.
#[derive(Debug, Default)]
pub(crate) struct Unclaimed(BTreeMap<ExtentNo, u64>);

impl Unclaimed {
    pub(crate) fn new(pages: impl Iterator<Item = (ExtentNo, u64)>) -> Self {
        Unclaimed(pages.collect())
    }

    /// Takes pages of an extent out. `pages`: one bit each.
    pub(crate) fn claim(&mut self, extent: ExtentNo, pages: u64) {
        if let Some(left) = self.0.get_mut(&extent) {
            *left &= !pages;
            if *left == 0 {
                self.0.remove(&extent);
            }
        }
    }

    /// The pages of an extent: one bit each.
    pub(crate) fn of(&self, extent: ExtentNo) -> u64 {
        self.0.get(&extent).copied().unwrap_or_default()
    }

    /// The first extent after `after` with such pages, and these.
    pub(crate) fn next(&self, after: Option<ExtentNo>) -> Option<(ExtentNo, u64)> {
        let from = after.map_or(0, |extent| extent + 1);
        self.0.range(from..).next().map(|(&extent, &pages)| (extent, pages))
    }
}
