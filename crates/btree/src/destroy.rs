//! Freeing a whole tree.

use base::PageNo;
use page::{EXTENT_PAGES, ExtentState, OverflowRef, PageRef, PageType};

use crate::allocate::free_run;
use crate::error::Result;
use crate::extents::extent_of;
use crate::mtr::Mtr;
use crate::store::Store;
use crate::tree::Tree;

/// Finds the off-page values of a leaf's records and adds them to the list.
pub type FindOverflow<'f> = &'f mut dyn FnMut(PageRef<'_>, &mut Vec<OverflowRef>);

impl Tree {
    /// Frees every page of the tree. Nobody else uses it, or will: the dictionary has forgotten it already.
    ///
    /// Extents of the tree's own are freed whole; only inner pages are read, to find pages in shared extents.
    /// `find_overflow`: given if records may refer to off-page values; then the leaves are read, too.
    ///
    /// May be called again for a tree of which a crash left only a part: values go before the leaves that refer to them,
    /// pages before their parents. What was freed already may be in use by others and is passed over.
    pub fn destroy(self, store: &Store, find_overflow: Option<FindOverflow<'_>>) -> Result<()> {
        let (pages, values) = self.collect(store, find_overflow)?;
        for value in values {
            store.free_overflow(&value, &[])?;
        }
        // The list goes from the root down.
        for page in pages.into_iter().rev() {
            free_run(store, page, 1, &[])?;
        }
        let own = store.space.lock().owned_by(self.index);
        for extent in own {
            let used = store.space.lock().get(extent).used;
            let first = extent * EXTENT_PAGES;
            let used_pages = (0..EXTENT_PAGES).filter(|page| used & 1 << page != 0);
            // As in `free_run`: frames go before the pages can be anybody else's.
            used_pages.for_each(|page| store.pool.discard(PageNo(first + page)));
            let mut mtr = Mtr::new(store);
            mtr.release_pages(extent, used)?;
            mtr.commit();
        }
        Ok(())
    }

    /// The tree's pages and values that stand in shared extents.
    fn collect(
        &self,
        store: &Store,
        mut find_overflow: Option<FindOverflow<'_>>,
    ) -> Result<(Vec<PageNo>, Vec<OverflowRef>)> {
        let is_shared = |page: PageNo| store.space.lock().get(extent_of(page)).state == ExtentState::Shared;
        let (mut pages, mut values) = (Vec::new(), Vec::new());
        let mut level = vec![self.root];
        let mut height = None;
        while !level.is_empty() {
            let mut below = Vec::new();
            for &page_no in &level {
                let is_shared = is_shared(page_no);
                // Leaves in extents of the tree's own are not read.
                if height == Some(0) && find_overflow.is_none() && !is_shared {
                    continue;
                }
                if !store.space.lock().is_used_by(self.index, page_no) {
                    continue;
                }
                let guard = store.pool.shared_cold(page_no)?;
                let page = guard.page();
                if page.page_type() != PageType::BTree || page.index_id() != self.index {
                    continue;
                }
                if is_shared {
                    pages.push(page_no);
                }
                height = Some(page.level());
                match &mut find_overflow {
                    Some(find) if page.is_leaf() => find(page, &mut values),
                    None if page.is_leaf() => {}
                    _ => below.extend((0..page.count()).map(|slot| page.child(slot))),
                }
            }
            height = height.and_then(|height: u8| height.checked_sub(1));
            level = below;
        }
        let mut standing = Vec::new();
        for value in values {
            if is_shared(value.first) && self.has_value(store, &value)? {
                standing.push(value);
            }
        }
        Ok((pages, standing))
    }

    /// Whether the pages of a value are its own still.
    fn has_value(&self, store: &Store, value: &OverflowRef) -> Result<bool> {
        if !store.space.lock().is_used_by(self.index, value.first) {
            return Ok(false);
        }
        let guard = store.pool.shared_cold(value.first)?;
        let page = guard.page();
        let is_ours = page.page_type() == PageType::Overflow && page.index_id() == self.index;
        Ok(is_ours && page.version() == value.version)
    }
}

#[cfg(test)]
mod tests {
    use base::IndexId;

    use super::*;
    use crate::tests::{INDEX, VARIABLE, assert_sound, insert, new_store};

    fn find_values(page: PageRef<'_>, found: &mut Vec<OverflowRef>) {
        let slots = (0..page.count()).filter(|&slot| page.key(slot).starts_with(b"value"));
        found.extend(slots.map(|slot| OverflowRef::decode(page.payload(slot))));
    }

    /// A tree of two levels with values, all in shared extents, and its page and value count.
    fn small_tree(store: &Store) -> Tree {
        let tree = Tree::create(store, INDEX, VARIABLE).unwrap();
        for n in 0..3u8 {
            let value = tree.write_overflow(store, &vec![n; 20_000], |_| []).unwrap();
            insert(store, &tree, &[b"value", &[n][..]].concat(), &value.encode());
        }
        (0..300u32).for_each(|n| insert(store, &tree, &n.to_be_bytes(), &[1; 100]));
        tree
    }

    #[test]
    fn a_tree_that_is_partly_freed_is_freed_to_the_end_and_nobody_else_s_pages_are() {
        for freed in 0.. {
            let disk = env::MemDisk::new();
            let store = new_store(&disk, 256);
            let tree = small_tree(&store);
            let (pages, values) = tree.collect(&store, Some(&mut find_values)).unwrap();
            assert!(pages.len() >= 3 && values.len() == 3, "{pages:?} {values:?}");
            let mut left = freed;
            for value in &values {
                if left > 0 {
                    store.free_overflow(value, &[]).unwrap();
                    left -= 1;
                }
            }
            for &page in pages.iter().rev() {
                if left > 0 {
                    free_run(&store, page, 1, &[]).unwrap();
                    left -= 1;
                }
            }
            // What was freed is another tree's now, pages and values.
            let other = Tree::create(&store, IndexId(INDEX.0 + 1), VARIABLE).unwrap();
            (0..900u32).for_each(|n| insert(&store, &other, &n.to_be_bytes(), &[2; 100]));
            let value = other.write_overflow(&store, &vec![9; 20_000], |_| []).unwrap();
            tree.destroy(&store, Some(&mut find_values)).unwrap();
            assert_eq!(assert_sound(&store, &other).records, 900);
            let mut out = Vec::new();
            store.read_overflow(&value, &mut out).unwrap();
            store.free_overflow(&value, &[]).unwrap();
            other.destroy(&store, None).unwrap();
            assert_eq!(store.space_report().pages_used, 0, "{freed} freed");
            if left > 0 {
                break;
            }
        }
    }
}
