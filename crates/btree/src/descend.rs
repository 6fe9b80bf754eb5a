//! The way from a root to a leaf: shared latches, coupled, parent before child.
//!
//! A root's page number never changes, so a descent needs nothing but that number. The child's latch is taken
//! before the parent's is released: a split or merge of the child needs the parent exclusively, so what the
//! parent said still holds when the child is reached.

use base::PageNo;
use buffer::{ExclusiveGuard, SharedGuard};
use page::{Search, TreeLevel};
use space::{Result, Store};

use crate::directory::{Hint, LeafDirectory};
use crate::links::{broken, child_exclusive, child_shared, root_shared};
use crate::tree::Tree;

/// Where a descent without a key goes.
#[derive(Clone, Copy)]
pub(crate) enum TreeEnd {
    /// The left-most leaf.
    First,
    /// The right-most leaf.
    Last,
}

/// The leaf whose fences enclose `key`, shared, and a search in it.
#[inline]
pub(crate) fn leaf_shared<'p>(
    store: &'p Store,
    tree: &Tree,
    key: &[u8],
) -> Result<(SharedGuard<'p>, Search)> {
    let hint = tree.directory.hint(key);
    if let Some(hint) = hint {
        LeafDirectory::prefetch(hint, store);
    }
    leaf_shared_by(hint, store, tree, key)
}

/// [`leaf_shared`] with what the directory has said about `key` before.
#[inline]
pub(crate) fn leaf_shared_by<'p>(
    hint: Option<Hint<'_>>,
    store: &'p Store,
    tree: &Tree,
    key: &[u8],
) -> Result<(SharedGuard<'p>, Search)> {
    match hint.and_then(|hint| tree.directory.shared(hint, store, tree, key)) {
        Some(found) => Ok(found),
        None => descend_shared(store, tree, key),
    }
}

#[inline(never)]
fn descend_shared<'p>(store: &'p Store, tree: &Tree, key: &[u8]) -> Result<(SharedGuard<'p>, Search)> {
    tree.directory.note_descent(store, tree, key)?;
    let mut guard = root_shared(store, tree.root, tree.index)?;
    while !guard.page().is_leaf() {
        let page = guard.page();
        let slot = page.child_for(key);
        // Most leaves are in memory only; inner pages stay in the processor's caches.
        if page.level() == 1 {
            store.pool().will_search(store.pool().frame_hint(page.child(slot)));
        }
        guard = child_shared(store, page, slot)?;
    }
    let at = guard.page().search_leaf(key);
    if !guard.page().covers_searched(key, at) {
        return Err(broken(guard.page_no()));
    }
    Ok((guard, at))
}

/// The leaf that holds the greatest keys below `key`, unless `key` is its lower fence or it has lost them
/// all.
pub(crate) fn leaf_before<'p>(store: &'p Store, tree: &Tree, key: &[u8]) -> Result<SharedGuard<'p>> {
    let mut guard = store.pool().shared(tree.root)?;
    let mut tree_level = TreeLevel::of(tree.index, guard.page().level());
    loop {
        let page = guard.page();
        if page.tree_level() != tree_level {
            return Err(broken(guard.page_no()));
        }
        if page.is_leaf() {
            return Ok(guard);
        }
        tree_level = tree_level.of_children();
        guard = store.pool().shared(page.child(page.child_below(key)))?;
    }
}

/// The left-most or right-most leaf, shared.
pub(crate) fn edge_leaf<'p>(store: &'p Store, tree: &Tree, edge: TreeEnd) -> Result<SharedGuard<'p>> {
    let mut guard = root_shared(store, tree.root, tree.index)?;
    while !guard.page().is_leaf() {
        let page = guard.page();
        let slot = match edge {
            TreeEnd::First => 0,
            TreeEnd::Last => page.count() - 1,
        };
        guard = child_shared(store, page, slot)?;
    }
    Ok(guard)
}

/// The leaf whose fences enclose `key`, exclusive, and a search in it; nothing above it stays latched.
#[inline]
pub(crate) fn leaf_exclusive<'p>(
    store: &'p Store,
    tree: &Tree,
    key: &[u8],
) -> Result<(ExclusiveGuard<'p>, Search)> {
    if let Some(found) = tree.directory.exclusive(store, tree, key) {
        return Ok(found);
    }
    let (leaf, at) = descend_exclusive(store, tree, key)?;
    // A place behind all records is remembered without the directory: an ascending load pays for none.
    if !LeafDirectory::is_noticed(key) || at.slot == leaf.page().count() && leaf.page().right().is_none() {
        return Ok((leaf, at));
    }
    drop(leaf);
    tree.directory.pay(store, tree)?;
    descend_exclusive(store, tree, key)
}

fn descend_exclusive<'p>(store: &'p Store, tree: &Tree, key: &[u8]) -> Result<(ExclusiveGuard<'p>, Search)> {
    let leaf = enclosing_exclusive(store, tree, key)?;
    let at = leaf.page().search_leaf(key);
    if !leaf.page().covers_searched(key, at) {
        return Err(broken(leaf.page_no()));
    }
    Ok((leaf, at))
}

fn enclosing_exclusive<'p>(store: &'p Store, tree: &Tree, key: &[u8]) -> Result<ExclusiveGuard<'p>> {
    let mut guard = root_shared(store, tree.root, tree.index)?;
    loop {
        let page = guard.page();
        match page.level() {
            0 => match root_leaf_exclusive(store, tree.root, guard)? {
                Some(leaf) => return Ok(leaf),
                None => guard = root_shared(store, tree.root, tree.index)?,
            },
            1 => return child_exclusive(store, page, page.child_for(key)),
            _ => guard = child_shared(store, page, page.child_for(key))?,
        }
    }
}

/// Latches a root that is a leaf exclusively; `None` if it stopped being one between the two latches.
#[cold]
fn root_leaf_exclusive<'p>(
    store: &'p Store,
    root: PageNo,
    shared: SharedGuard<'p>,
) -> Result<Option<ExclusiveGuard<'p>>> {
    drop(shared);
    let guard = store.pool().exclusive(root)?;
    Ok(guard.page().is_leaf().then_some(guard))
}

/// The page right above the leaf that encloses `key`, exclusive: the root if the tree has one or two levels.
pub(crate) fn leaf_parent_exclusive<'p>(
    store: &'p Store,
    tree: &Tree,
    key: &[u8],
) -> Result<ExclusiveGuard<'p>> {
    loop {
        let mut guard = root_shared(store, tree.root, tree.index)?;
        while guard.page().level() > 2 {
            let page = guard.page();
            guard = child_shared(store, page, page.child_for(key))?;
        }
        let page = guard.page();
        if page.level() == 2 {
            return child_exclusive(store, page, page.child_for(key));
        }
        drop(guard);
        let guard = store.pool().exclusive(tree.root)?;
        if guard.page().level() <= 1 {
            return Ok(guard);
        }
    }
}

/// The level right above the leaves, as it is found.
pub(crate) struct LevelOne {
    first: PageNo,
    /// Leaves, if all its pages have as many children as the first.
    pub(crate) leaves: usize,
    /// Lower fence of the second leaf.
    pub(crate) second: Vec<u8>,
    /// Lower fence of the last leaf.
    pub(crate) last: Vec<u8>,
}

/// What is right above the leaves; `None` if the root is a leaf, or has only one.
pub(crate) fn level_one(store: &Store, tree: &Tree) -> Result<Option<LevelOne>> {
    let mut guard = root_shared(store, tree.root, tree.index)?;
    if guard.page().is_leaf() {
        return Ok(None);
    }
    let mut leaves = guard.page().count();
    while guard.page().level() > 1 {
        guard = child_shared(store, guard.page(), 0)?;
        leaves = leaves.saturating_mul(guard.page().count());
    }
    let page = guard.page();
    if page.count() < 2 {
        return Ok(None);
    }
    let (first, second) = (guard.page_no(), page.key(1));
    drop(guard);
    let mut guard = root_shared(store, tree.root, tree.index)?;
    while guard.page().level() > 1 {
        guard = child_shared(store, guard.page(), guard.page().count() - 1)?;
    }
    let page = guard.page();
    if page.is_leaf() {
        // It has become one since.
        return Ok(None);
    }
    let last = if page.count() > 1 { page.key(page.count() - 1) } else { page.lower_fence().to_vec() };
    Ok(Some(LevelOne { first, leaves, second, last }))
}

/// Passes lower fence and page number of every leaf to `visit`, in order, until `visit` has enough. Leaves
/// that come or go meanwhile may be missed.
pub(crate) fn for_each_leaf(
    store: &Store,
    level: &LevelOne,
    mut visit: impl FnMut(&[u8], PageNo) -> bool,
) -> Result<()> {
    let mut guard = store.pool().shared(level.first)?;
    let mut fence = Vec::new();
    loop {
        let page = guard.page();
        if page.level() != 1 {
            return Ok(());
        }
        for slot in 0..page.count() {
            fence.clear();
            match slot {
                0 => fence.extend_from_slice(page.lower_fence()),
                _ => page.append_key(slot, &mut fence),
            }
            if !visit(&fence, page.child(slot)) {
                return Ok(());
            }
        }
        if page.right().is_none() {
            return Ok(());
        }
        guard = store.pool().shared(page.right())?;
    }
}
