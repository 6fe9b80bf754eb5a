//! Reading a data file whose header is damaged.
//!
//! What everything else is found from is known without it: the file's length says how many pages there are,
//! and the root of the dictionary is the first page that a new file gives out. Which ids have been given out
//! is not known, so that nothing may be changed.

use base::{IndexId, PageNo};
use page::{EXTENT_PAGES, FileHeader, PAGE_SIZE, PageType};

use crate::error::{Error, Result};
use crate::store::{HEADER_PAGE, Store, new_header};

/// The tree of the dictionary, whose root is the first of the header's roots.
const DICTIONARY_INDEX: IndexId = IndexId(1);

/// What stands in for a file header.
#[derive(Debug)]
pub(crate) struct SubstituteHeader {
    pub(crate) header: FileHeader,
    /// Why the header cannot be read.
    pub(crate) why: Error,
}

impl Store {
    /// Why the file header cannot be read, if a startup has gone on without it. Nothing may be changed then.
    pub fn header_damage(&self) -> Option<&Error> {
        self.substitute_header.as_deref().map(|substitute_header| &substitute_header.why)
    }

    /// Puts a substitute in the place of a file header that cannot be read.
    ///
    /// # Errors
    /// That of the header, if the root of the dictionary cannot be found.
    pub(crate) fn do_without_header(&mut self, identity: [u8; 16]) -> Result<()> {
        let why = match self.header() {
            Err(error) if error.damaged_page().is_some() => error,
            header => return header.map(drop),
        };
        let Some(root) = self.find_root(DICTIONARY_INDEX) else { return Err(why) };
        let pages = self.space.file_bytes()? / PAGE_SIZE as u64;
        let mut header = new_header(identity);
        header.high_water = PageNo(u32::try_from(pages).unwrap_or(u32::MAX) / EXTENT_PAGES * EXTENT_PAGES);
        header.roots[0] = root;
        self.substitute_header = Some(Box::new(SubstituteHeader { header, why }));
        Ok(())
    }

    /// The root of a tree that was made with the file. It lies in the first extent, before all other pages of
    /// its tree, and holds all keys.
    fn find_root(&self, index: IndexId) -> Option<PageNo> {
        let is_root = |page: &PageNo| {
            self.pool.shared_cold(*page).is_ok_and(|guard| {
                let page = guard.page();
                let is_of_tree = page.page_type() == PageType::BTree && page.index_id() == index;
                is_of_tree && page.lower_fence().is_empty() && page.upper_fence().is_none()
            })
        };
        (HEADER_PAGE.0 + 1..EXTENT_PAGES).map(PageNo).find(is_root)
    }
}
