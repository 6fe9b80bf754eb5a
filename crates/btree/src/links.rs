//! Following links from page to page: to a child, or to the right sibling.
//!
//! A page that was read passed the check of its own bytes. Whether it is the page that a link promises shows
//! here: its type, level and tree on the way down and to a sibling, its fences where a leaf follows another
//! and one of them was just read. Damage ends in [`Error::Corruption`], never in a way without an end: levels
//! fall on the way down, and on a long way from leaf to leaf the fences of some stretches are checked, too.

use std::cell::Cell;

use base::{IndexId, PageNo};
use buffer::{ExclusiveGuard, SharedGuard};
use page::{Corruption, CorruptionKind, PageRef, TreeLevel};
use space::{Error, Result, Store};

/// The error for a page that a link leads to by mistake.
#[cold]
#[inline(never)]
pub(crate) fn broken(page: PageNo) -> Error {
    Error::Corruption(Corruption { page, what: CorruptionKind::Link })
}

/// The page `root` of the tree `index`, shared.
#[inline(always)]
pub(crate) fn root_shared(store: &Store, root: PageNo, index: IndexId) -> Result<SharedGuard<'_>> {
    let guard = store.pool().shared(root)?;
    let page = guard.page();
    if page.tree_level() == TreeLevel::of(index, page.level()) { Ok(guard) } else { Err(broken(root)) }
}

/// The child at `slot` of an inner page, which the caller holds, shared.
#[inline(always)]
pub(crate) fn child_shared<'p>(
    store: &'p Store,
    parent: PageRef<'_>,
    slot: usize,
) -> Result<SharedGuard<'p>> {
    child(parent, slot, |page| store.pool().shared(page), |guard| guard.page().tree_level())
}

/// [`child_shared`] with an exclusive latch.
#[inline]
pub(crate) fn child_exclusive<'p>(
    store: &'p Store,
    parent: PageRef<'_>,
    slot: usize,
) -> Result<ExclusiveGuard<'p>> {
    child(parent, slot, |page| store.pool().exclusive(page), |guard| guard.page().tree_level())
}

/// The child at `slot` of `parent`, latched by `latch`, if it is of the kind that the parent's children are.
#[inline(always)]
fn child<G>(
    parent: PageRef<'_>,
    slot: usize,
    latch: impl FnOnce(PageNo) -> buffer::Result<G>,
    tree_level: impl FnOnce(&G) -> TreeLevel,
) -> Result<G> {
    let child = parent.child(slot);
    let guard = latch(child)?;
    if tree_level(&guard) == parent.tree_level().of_children() { Ok(guard) } else { Err(broken(child)) }
}

/// Whether `right`, which `page` links to, continues where `page` ends.
#[inline]
pub(crate) fn follows(page: PageRef<'_>, right: PageRef<'_>) -> bool {
    right.tree_level() == page.tree_level() && page.upper_fence() == Some(right.lower_fence())
}

/// Leaves that a scan passes before it checks the fences of some.
pub(crate) const LEAVES_UNCHECKED: u32 = 4096;
/// Leaves whose fences it checks then.
const LEAVES_CHECKED: u32 = 64;

thread_local! {
    /// Leaves that this thread's scans have looked at because their way was long.
    static LOOKS: Cell<u32> = const { Cell::new(0) };
}

/// Leaves that a scan may pass until it checks fences again, after it has checked one because the scan was
/// long. A scan in a cycle of links checks every link in it sooner or later, as the checked stretches differ
/// in length.
pub(crate) fn leaves_until_next_look() -> u32 {
    let looks = LOOKS.get().wrapping_add(1);
    LOOKS.set(looks);
    if looks.is_multiple_of(LEAVES_CHECKED) {
        LEAVES_UNCHECKED + looks / LEAVES_CHECKED * 509 % 1021
    } else {
        1
    }
}
