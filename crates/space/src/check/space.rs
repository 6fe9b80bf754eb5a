//! The space of the file: each page that is allocated has one owner, and the map says nothing else.

use base::{IndexId, PageNo};
use page::{EXTENT_PAGES, ExtentEntry, ExtentState};

use super::{PageSet, Problems};
use crate::space::reserved_pages;
use crate::store::Store;

impl Store {
    /// Compares the map with the pages that all trees and values claimed. `is_tree`: whether there is a tree
    /// of this id. The claim has already checked that the page is allocated.
    pub fn check_space(&self, claimed: &PageSet<'_>, is_tree: impl Fn(IndexId) -> bool) -> Problems {
        let mut problems = Problems::default();
        let state = self.space.lock();
        for (extent, entry) in (0..).zip(state.iter()) {
            let first = PageNo(extent * EXTENT_PAGES);
            let reserved = reserved_pages(extent);
            problems.expect(entry.used & reserved == reserved, first, "and its map page are not allocated");
            if claimed.of_extent(extent) & reserved != 0 {
                problems.add(first, "or its map page belongs to a tree");
            }
            let has_owner = matches!(entry.state, ExtentState::Tree | ExtentState::Overflow);
            if has_owner && !is_tree(entry.index_id) {
                let ExtentEntry { index_id, .. } = entry;
                problems.add(first, format!("starts an extent of {index_id}, which is in no table"));
                continue;
            }
            for (from, to) in runs(entry.used & !reserved & !claimed.of_extent(extent)) {
                let what = match to - from {
                    0 => "is allocated, but no tree and no value has it".to_owned(),
                    more => format!("and {more} behind it are allocated, but no tree and no value has them"),
                };
                problems.add(PageNo(first.0 + from), what);
            }
        }
        problems
    }
}

/// First and last of each run of set bits.
fn runs(bits: u64) -> impl Iterator<Item = (u32, u32)> {
    let is_set = move |at: u32| at < EXTENT_PAGES && bits & 1 << at != 0;
    let starts = (0..EXTENT_PAGES).filter(move |&at| is_set(at) && (at == 0 || !is_set(at - 1)));
    starts.map(move |from| (from, (from..EXTENT_PAGES).take_while(|&at| is_set(at)).last().unwrap_or(from)))
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn runs_of_bits_are_told_by_their_ends() {
        assert_eq!(runs(0).collect::<Vec<_>>(), []);
        assert_eq!(runs(0b1011_0001).collect::<Vec<_>>(), [(0, 0), (4, 5), (7, 7)]);
        assert_eq!(runs(u64::MAX).collect::<Vec<_>>(), [(0, 63)]);
        assert_eq!(runs(1 << 63).collect::<Vec<_>>(), [(63, 63)]);
    }
}
