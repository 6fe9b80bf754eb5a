//! Whether a tree leads to pages: for pages that cannot be read, so that the damage has a name.

use std::collections::BTreeSet;

use base::PageNo;
use page::PageRef;
use space::Store;

use crate::tree::Tree;

impl Tree {
    /// Those of `wanted` that are the root, or that an inner page leads to. Inner pages that cannot be read
    /// are passed over. Cost: reads all inner pages, each once, or as many as it takes to find all that are
    /// wanted.
    pub fn leads_to(&self, store: &Store, wanted: &BTreeSet<PageNo>) -> BTreeSet<PageNo> {
        let mut led_to = BTreeSet::new();
        let mut pages = vec![(self.root, None)];
        while led_to.len() < wanted.len()
            && let Some((inner, tree_level)) = pages.pop()
        {
            led_to.extend(wanted.get(&inner));
            let Ok(guard) = store.pool().shared_cold(inner) else { continue };
            let found = guard.page();
            let is_of_tree = match tree_level {
                Some(tree_level) => found.tree_level() == tree_level,
                None => found.index_id() == self.index,
            };
            if !is_of_tree || found.is_leaf() {
                continue;
            }
            if found.level() == 1 {
                led_to.extend(children(found).filter(|child| wanted.contains(child)));
            } else {
                // Levels fall on the way down, so that it ends.
                let tree_level = found.tree_level().of_children();
                pages.extend(children(found).map(|child| (child, Some(tree_level))));
            }
        }
        led_to
    }
}

fn children(page: PageRef<'_>) -> impl Iterator<Item = PageNo> {
    (0..page.count()).map(move |slot| page.child(slot))
}
