//! Which pages a check has met.

use std::fmt;

use base::PageNo;
use page::EXTENT_PAGES;

use crate::store::Store;

/// Pages between two reports of progress: 16 MiB.
const PROGRESS_PAGES: u64 = 1024;

/// A bit for each page of the file. Each page may be claimed once.
pub struct PageSet<'p> {
    /// One word an extent, as in its map entry.
    words: Vec<u64>,
    claimed: u64,
    progress: Option<&'p mut dyn FnMut(u64)>,
}

impl fmt::Debug for PageSet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageSet").field("claimed", &self.claimed).finish_non_exhaustive()
    }
}

impl<'p> PageSet<'p> {
    /// No page of the store's file.
    pub fn new(store: &Store) -> Self {
        PageSet { words: vec![0; store.space.lock().len() as usize], claimed: 0, progress: None }
    }

    /// The same, telling `progress` now and then how many pages were claimed.
    pub fn with_progress(store: &Store, progress: &'p mut dyn FnMut(u64)) -> Self {
        PageSet { progress: Some(progress), ..PageSet::new(store) }
    }

    /// Whether the file has the page.
    pub fn has_room_for(&self, page: PageNo) -> bool {
        ((page.0 / EXTENT_PAGES) as usize) < self.words.len()
    }

    /// Adds a page of the file; false if it was there.
    pub fn claim(&mut self, page: PageNo) -> bool {
        let word = &mut self.words[(page.0 / EXTENT_PAGES) as usize];
        let bit = 1 << (page.0 % EXTENT_PAGES);
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.claimed += 1;
        if let Some(progress) = &mut self.progress
            && self.claimed.is_multiple_of(PROGRESS_PAGES)
        {
            progress(self.claimed);
        }
        true
    }

    /// Bits of the pages of an extent.
    pub(crate) fn of_extent(&self, extent: u32) -> u64 {
        self.words[extent as usize]
    }
}
