//! Whose a page is: for a page that cannot be read, so that the damage has a name.

use base::{IndexId, PageNo};
use page::{PageRef, PageType};

use crate::error::Result;
use crate::extent_no::{extent_of, map_page_of};
use crate::store::Store;

impl Store {
    /// The tree that has `page`, as far as the map of the space says: it does not for pages of small trees
    /// that were given out before the startup. Reads nothing.
    pub fn owner_of(&self, page: PageNo) -> Option<IndexId> {
        self.space.lock().owner_of(page)
    }

    /// Visits the leaves of a tree that can be read, in no order, whether its inner pages can be read or not.
    /// Cost: reads all its pages, and those in extents that small trees share.
    ///
    /// # Errors
    /// Of the disk.
    pub fn visit_leaves(&self, index: IndexId, visit: &mut dyn FnMut(PageRef<'_>)) -> Result<()> {
        self.load_shared_owners()?;
        let pages = self.space.lock().pages_of(index);
        for page in pages {
            let Ok(guard) = self.pool.shared_cold(page) else { continue };
            let found = guard.page();
            if found.page_type() == PageType::BTree && found.index_id() == index && found.is_leaf() {
                visit(found);
            }
        }
        Ok(())
    }

    /// Whether `page` is given out, and not to another tree than `index` as far as the map shows.
    pub fn is_owned_by(&self, index: IndexId, page: PageNo) -> bool {
        self.space.lock().is_used_by(index, page)
    }

    /// Whether `page` is the file header or a page of the extent map.
    pub fn is_system_page(&self, page: PageNo) -> bool {
        page.is_none() || map_page_of(extent_of(page)) == page
    }
}
