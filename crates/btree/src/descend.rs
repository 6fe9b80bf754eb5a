//! The way from a root to a leaf: shared latches, coupled, parent before child.
//!
//! A root's page number never changes, so a descent needs nothing but that number. The child's latch is taken before the
//! parent's is released: a split or merge of the child needs the parent exclusively, so what the parent said still holds
//! when the child is reached.

use base::PageNo;
use buffer::{ExclusiveGuard, SharedGuard};

use crate::error::Result;
use crate::store::Store;

/// Where a descent without a key goes.
#[derive(Clone, Copy)]
pub(crate) enum Edge {
    /// The left-most leaf.
    First,
    /// The right-most leaf.
    Last,
}

/// The leaf whose fences enclose `key`, shared.
#[inline]
pub(crate) fn leaf_shared<'p>(store: &'p Store, root: PageNo, key: &[u8]) -> Result<SharedGuard<'p>> {
    let mut guard = store.pool.shared(root)?;
    while !guard.page().is_leaf() {
        let page = guard.page();
        let child = page.child(page.child_for(key));
        // Leaves are so many that most are in memory only; inner pages stay in the processor's caches.
        if page.level() == 1 {
            store.pool.will_search(child);
        }
        guard = store.pool.shared(child)?;
    }
    Ok(guard)
}

/// The leaf that holds the greatest keys below `key`, unless `key` is its lower fence or it has lost them all.
pub(crate) fn leaf_before<'p>(store: &'p Store, root: PageNo, key: &[u8]) -> Result<SharedGuard<'p>> {
    let mut guard = store.pool.shared(root)?;
    while !guard.page().is_leaf() {
        let page = guard.page();
        guard = store.pool.shared(page.child(page.search(key).slot.saturating_sub(1)))?;
    }
    Ok(guard)
}

/// The left-most or right-most leaf, shared.
pub(crate) fn edge_leaf(store: &Store, root: PageNo, edge: Edge) -> Result<SharedGuard<'_>> {
    let mut guard = store.pool.shared(root)?;
    while !guard.page().is_leaf() {
        let page = guard.page();
        let slot = match edge {
            Edge::First => 0,
            Edge::Last => page.count() - 1,
        };
        guard = store.pool.shared(page.child(slot))?;
    }
    Ok(guard)
}

/// The leaf whose fences enclose `key`, exclusive; nothing above it stays latched.
#[inline]
pub(crate) fn leaf_exclusive<'p>(store: &'p Store, root: PageNo, key: &[u8]) -> Result<ExclusiveGuard<'p>> {
    let mut guard = store.pool.shared(root)?;
    loop {
        let page = guard.page();
        match page.level() {
            0 => match root_leaf_exclusive(store, root, guard)? {
                Some(leaf) => return Ok(leaf),
                None => guard = store.pool.shared(root)?,
            },
            1 => return Ok(store.pool.exclusive(page.child(page.child_for(key)))?),
            _ => guard = store.pool.shared(page.child(page.child_for(key)))?,
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
    let guard = store.pool.exclusive(root)?;
    Ok(guard.page().is_leaf().then_some(guard))
}

/// The page right above the leaf that encloses `key`, exclusive: the root if the tree has one or two levels.
pub(crate) fn leaf_parent_exclusive<'p>(
    store: &'p Store,
    root: PageNo,
    key: &[u8],
) -> Result<ExclusiveGuard<'p>> {
    loop {
        let mut guard = store.pool.shared(root)?;
        while guard.page().level() > 2 {
            let page = guard.page();
            guard = store.pool.shared(page.child(page.child_for(key)))?;
        }
        let page = guard.page();
        if page.level() == 2 {
            return Ok(store.pool.exclusive(page.child(page.child_for(key)))?);
        }
        drop(guard);
        let guard = store.pool.exclusive(root)?;
        if guard.page().level() <= 1 {
            return Ok(guard);
        }
    }
}
