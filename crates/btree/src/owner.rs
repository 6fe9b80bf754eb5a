//! Whose a page is: for a page that cannot be read, so that the damage has a name.

use std::collections::BTreeSet;

use base::{IndexId, PageNo};
use page::{PageRef, PageType};

use crate::error::Result;
use crate::extents::extent_of;
use crate::space::map_page_of;
use crate::store::Store;
use crate::tree::Tree;

impl Store {
    /// The tree that has `page`, as far as the map of the space says: it does not for pages of small trees that were given out
    /// before the start. Reads nothing.
    pub fn owner_of(&self, page: PageNo) -> Option<IndexId> {
        self.space.lock().owner_of(page)
    }

    /// Visits the leaves of a tree that can be read, in no order, whether its inner pages can be read or not. Cost: reads all
    /// its pages, and those in extents that small trees share.
    ///
    /// # Errors
    /// Of the disk.
    pub fn visit_leaves(&self, index: IndexId, visit: &mut dyn FnMut(PageRef<'_>)) -> Result<()> {
        self.learn_shared_owners()?;
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

    /// Whether `page` is the file header or a page of the extent map.
    pub fn is_system_page(&self, page: PageNo) -> bool {
        page.is_none() || map_page_of(extent_of(page)) == page
    }
}

impl Tree {
    /// Those of `wanted` that are the root, or that an inner page leads to. Inner pages that cannot be read are passed over.
    /// Cost: reads all inner pages, each once, or as many as it takes to find all that are wanted.
    pub fn leads_to(&self, store: &Store, wanted: &BTreeSet<PageNo>) -> BTreeSet<PageNo> {
        let mut led_to = BTreeSet::new();
        let mut pages = vec![(self.root, None)];
        while led_to.len() < wanted.len()
            && let Some((inner, kin)) = pages.pop()
        {
            led_to.extend(wanted.get(&inner));
            let Ok(guard) = store.pool.shared_cold(inner) else { continue };
            let found = guard.page();
            let is_of_tree = match kin {
                Some(kin) => found.kin() == kin,
                None => found.index_id() == self.index,
            };
            if !is_of_tree || found.is_leaf() {
                continue;
            }
            if found.level() == 1 {
                led_to.extend(children(found).filter(|child| wanted.contains(child)));
            } else {
                // Levels fall on the way down, so that it ends.
                let kin = found.kin().of_children();
                pages.extend(children(found).map(|child| (child, Some(kin))));
            }
        }
        led_to
    }
}

fn children(page: PageRef<'_>) -> impl Iterator<Item = PageNo> {
    (0..page.count()).map(move |slot| page.child(slot))
}
