//! Whether a tree leads to a page: for a page that cannot be read, so that the damage has a name.

use base::PageNo;
use page::PageRef;
use space::Store;

use crate::tree::Tree;

impl Tree {
    /// Whether `page` is the root, or an inner page leads to it. Inner pages that cannot be read are passed over. Cost: reads
    /// all inner pages.
    pub fn leads_to(&self, store: &Store, page: PageNo) -> bool {
        let mut pages = vec![(self.root, None)];
        while let Some((inner, kin)) = pages.pop() {
            if inner == page {
                return true;
            }
            let Ok(guard) = store.pool().shared_cold(inner) else { continue };
            let found = guard.page();
            let is_of_tree = match kin {
                Some(kin) => found.kin() == kin,
                None => found.index_id() == self.index,
            };
            if !is_of_tree || found.is_leaf() {
                continue;
            }
            if found.level() == 1 {
                if children(found).any(|child| child == page) {
                    return true;
                }
            } else {
                // Levels fall on the way down, so that it ends.
                let kin = found.kin().of_children();
                pages.extend(children(found).map(|child| (child, Some(kin))));
            }
        }
        false
    }
}

fn children(page: PageRef<'_>) -> impl Iterator<Item = PageNo> {
    (0..page.count()).map(move |slot| page.child(slot))
}
