//! Looking up key after key in one tree.
//!
//! The leaf of the last key stays latched: a key that falls on it, or on its right neighbour, costs no descent. Keys that
//! jump about are found through copies of the pages right above the leaves. A copy may be out of date: the leaf it leads to
//! tells by its fences whether it is the right one.

use base::PageNo;
use buffer::SharedGuard;
use page::{PAGE_SIZE, PageBytes, PageRef, PageType, Search};

use crate::error::Result;
use crate::store::Store;
use crate::tree::Tree;

/// Lookups in a row, none on the leaf of the one before or next to it, after which that leaf is no longer tried first.
const JUMPS_MAX: u32 = 4;
/// Descents through a page that pay for a copy of it.
const VISITS_MIN: u8 = 4;
/// Most pages copied: a megabyte.
const COPIES_MAX: usize = 64;
/// Pages whose visits are counted at a time.
const COUNTED_PAGES: usize = 64;

/// A series of lookups. Between two of them it may hold a leaf latched shared: the rules of [`crate::Cursor`] hold until
/// [`Probe::release`].
#[derive(Debug)]
pub struct Probe<'p> {
    store: &'p Store,
    tree: &'p Tree,
    leaf: Option<SharedGuard<'p>>,
    /// The leaf of the last lookup, latched or not, and its right neighbour then.
    last: PageNo,
    last_right: PageNo,
    jumps: u32,
    parents: ParentCopies,
}

impl<'p> Probe<'p> {
    /// Lookups in `tree`; nothing is latched yet.
    pub fn new(store: &'p Store, tree: &'p Tree) -> Self {
        Probe {
            store,
            tree,
            leaf: None,
            last: PageNo::NONE,
            last_right: PageNo::NONE,
            jumps: 0,
            parents: ParentCopies::default(),
        }
    }

    /// Latches the leaf that `key` belongs to and tells where in it the key is or would be: possibly behind its last slot.
    /// Cost: a search on the leaf that is held; one latch pair more for a leaf near by, or below a page that was copied.
    #[inline]
    pub fn find(&mut self, key: &[u8]) -> Result<Search> {
        if let Some(leaf) = self.leaf.as_ref().filter(|_| self.jumps < JUMPS_MAX) {
            let at = leaf.page().search_leaf(key);
            if leaf.page().covers_searched(key, at) {
                self.jumps = 0;
                return Ok(at);
            }
        }
        self.find_elsewhere(key)
    }

    /// The leaf that is latched.
    #[inline]
    pub fn page(&self) -> Option<PageRef<'_>> {
        self.leaf.as_ref().map(SharedGuard::page)
    }

    /// Goes on to the right neighbour; false, and the latch is kept, if there is none.
    pub fn next_leaf(&mut self) -> Result<bool> {
        let Some(right) = self.page().map(PageRef::right).filter(|right| !right.is_none()) else {
            return Ok(false);
        };
        // The right neighbour is latched before the old guard is dropped.
        let leaf = self.store.pool.shared(right)?;
        self.keep(leaf);
        Ok(true)
    }

    /// Gives up the latch. The next lookup tries the same leaf first.
    #[inline]
    pub fn release(&mut self) {
        self.leaf = None;
    }

    fn keep(&mut self, leaf: SharedGuard<'p>) {
        (self.last, self.last_right) = (leaf.page_no(), leaf.page().right());
        self.leaf = Some(leaf);
    }

    #[inline(never)]
    fn find_elsewhere(&mut self, key: &[u8]) -> Result<Search> {
        if self.jumps >= JUMPS_MAX {
            // A leaf is not held while pages above it are waited for.
            self.leaf = None;
            if let Some(at) = self.find_below_copy(key) {
                return Ok(at);
            }
        } else if let Some(at) = self.find_near(key)? {
            self.jumps = 0;
            return Ok(at);
        }
        self.leaf = None;
        let (leaf, at) = self.descend(key)?;
        self.arrive(leaf);
        Ok(at)
    }

    /// Keeps a leaf that was not looked for where the last one was.
    #[inline]
    fn arrive(&mut self, leaf: SharedGuard<'p>) {
        let near = leaf.page_no() == self.last || leaf.page_no() == self.last_right;
        self.jumps = if near { 0 } else { self.jumps.saturating_add(1) };
        self.keep(leaf);
    }

    /// Goes where a copy of the page above leads, if there is one that knows.
    #[inline(always)]
    fn find_below_copy(&mut self, key: &[u8]) -> Option<Search> {
        let (place, child) = self.parents.leaf_for(key)?;
        let found = leaf_at(self.store, self.tree, child, key)
            .filter(|(leaf, at)| leaf.page().covers_searched(key, *at));
        if found.is_none() {
            self.parents.remove(place);
        }
        let (leaf, at) = found?;
        self.arrive(leaf);
        Some(at)
    }

    /// Looks on the last leaf if it is not held, then on its right neighbour.
    fn find_near(&mut self, key: &[u8]) -> Result<Option<Search>> {
        if self.leaf.is_none() {
            if self.last.is_none() {
                return Ok(None);
            }
            let Some((leaf, at)) = leaf_at(self.store, self.tree, self.last, key) else { return Ok(None) };
            let found = leaf.page().covers_searched(key, at);
            self.keep(leaf);
            if found {
                return Ok(Some(at));
            }
        }
        let Some(page) = self.page() else { return Ok(None) };
        if page.upper_fence().is_none_or(|upper| key < upper) || !self.next_leaf()? {
            return Ok(None);
        }
        let Some(page) = self.page() else { return Ok(None) };
        let at = page.search_leaf(key);
        Ok(page.covers_searched(key, at).then_some(at))
    }

    fn descend(&mut self, key: &[u8]) -> Result<(SharedGuard<'p>, Search)> {
        let mut guard = self.store.pool.shared(self.tree.root)?;
        while !guard.page().is_leaf() {
            let page = guard.page();
            if page.level() == 1 && self.jumps >= JUMPS_MAX {
                self.parents.visit(page);
            }
            guard = self.store.pool.shared(page.child(page.child_for(key)))?;
        }
        let at = guard.page().search_leaf(key);
        Ok((guard, at))
    }
}

/// The page `page_no` if it is a leaf of `tree`, and a search in it. A page that cannot be read is no reason to fail: it may
/// have been given back.
#[inline(always)]
fn leaf_at<'p>(
    store: &'p Store,
    tree: &Tree,
    page_no: PageNo,
    key: &[u8],
) -> Option<(SharedGuard<'p>, Search)> {
    let leaf = store.pool.shared(page_no).ok()?;
    let page = leaf.page();
    if page.index_id() != tree.index || page.page_type() != PageType::BTree || !page.is_leaf() {
        return None;
    }
    let at = page.search_leaf(key);
    Some((leaf, at))
}

/// Copies of pages right above the leaves: hints where a key's leaf is.
#[derive(Debug)]
struct ParentCopies {
    /// First bytes of the copies' lower fences, ascending.
    from: Vec<u64>,
    copies: Vec<ParentCopy>,
    /// Pages visited lately, each in the place of its number, and how often.
    visits: [(PageNo, u8); COUNTED_PAGES],
}

impl Default for ParentCopies {
    fn default() -> Self {
        ParentCopies { from: Vec::new(), copies: Vec::new(), visits: [(PageNo::NONE, 0); COUNTED_PAGES] }
    }
}

#[derive(Debug)]
struct ParentCopy {
    /// First bytes of the upper fence; `None` at the end of the tree.
    to: Option<u64>,
    page: Box<PageBytes>,
}

impl ParentCopies {
    /// The leaf that `key` belongs to as far as a copy knows, and the copy's place.
    #[inline]
    fn leaf_for(&self, key: &[u8]) -> Option<(usize, PageNo)> {
        let start = start_of(key);
        let place = self.from.partition_point(|&from| from <= start).checked_sub(1)?;
        let copy = &self.copies[place];
        if copy.to.is_some_and(|to| start >= to) {
            return None;
        }
        let parent = PageRef::new(&copy.page);
        Some((place, parent.child(parent.child_for(key))))
    }

    #[cold]
    fn remove(&mut self, place: usize) {
        self.from.remove(place);
        self.copies.remove(place);
    }

    /// Notes a descent through `page`, which the caller holds, and copies it if that pays.
    fn visit(&mut self, page: PageRef<'_>) {
        let counted = &mut self.visits[page.page_no().0 as usize % COUNTED_PAGES];
        if counted.0 != page.page_no() {
            *counted = (page.page_no(), 0);
        }
        counted.1 += 1;
        if counted.1 >= VISITS_MIN && self.copies.len() < COPIES_MAX {
            counted.1 = 0;
            self.copy(page);
        }
    }

    fn copy(&mut self, page: PageRef<'_>) {
        let (from, to) = (start_of(page.lower_fence()), page.upper_fence().map(start_of));
        let place = self.from.partition_point(|&other| other < from);
        if self.from.get(place) == Some(&from) {
            self.remove(place);
        }
        let mut bytes = Box::new([0; PAGE_SIZE]);
        page.copy_to(&mut bytes);
        self.from.insert(place, from);
        self.copies.insert(place, ParentCopy { to, page: bytes });
    }
}

/// The first bytes of a key, in the order of keys.
#[inline]
fn start_of(key: &[u8]) -> u64 {
    if let Some(start) = key.first_chunk::<8>() {
        return u64::from_be_bytes(*start);
    }
    let mut start = [0; 8];
    start[..key.len()].copy_from_slice(key);
    u64::from_be_bytes(start)
}
