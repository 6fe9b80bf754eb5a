//! Read-ahead for scans: which leaves come next is read off the pages above them.

use space::Store;

use std::cell::Cell;

use base::PageNo;
use buffer::{LookupOutcome, SharedGuard};
use page::PageRef;

/// Leaves read ahead when a scan has missed two in a row.
const FIRST_LEAVES: usize = 16;
/// Leaves read ahead when a scan comes to the middle of the last ones.
const MORE_LEAVES: usize = 64;
/// Scans of one thread, such as those of a join, that are distinguished.
const SCANS: usize = 4;

thread_local! {
    /// The leaves that this thread's scans missed last, in turn.
    static MISSED: Cell<[PageNo; SCANS]> = const { Cell::new([PageNo::NONE; SCANS]) };
}

/// Reads ahead what follows the right neighbour of `leaf`, which a scan has just latched, if there is reason
/// to. `leaf` is still latched, so pages above it are only tried for.
#[cold]
#[inline(never)]
pub(crate) fn follow(store: &Store, root: PageNo, leaf: PageRef<'_>, arrival: LookupOutcome) {
    let leaves = match arrival {
        LookupOutcome::Resident | LookupOutcome::ReadAhead => return,
        LookupOutcome::AsksForMore => MORE_LEAVES,
        LookupOutcome::Missed if is_second_miss(leaf) => FIRST_LEAVES,
        LookupOutcome::Missed => return,
    };
    if let Some(following) = leaves_after_right(store, root, leaf, leaves) {
        store.pool().read_ahead(&following);
    }
}

/// Notes that the right neighbour of `leaf` was missed; whether `leaf` was, too.
fn is_second_miss(leaf: PageRef<'_>) -> bool {
    let mut missed = MISSED.get();
    let known = missed.iter().position(|&page| page == leaf.page_no());
    // A scan that continues keeps its place; a new one takes the place of the oldest.
    missed[..=known.unwrap_or(SCANS - 1)].rotate_right(1);
    missed[0] = leaf.right();
    MISSED.set(missed);
    known.is_some()
}

/// The leaves that follow the right neighbour of `leaf`, at most `max`; `None` while pages above them are
/// being changed.
fn leaves_after_right(store: &Store, root: PageNo, leaf: PageRef<'_>, max: usize) -> Option<Vec<PageNo>> {
    let fence = leaf.upper_fence()?;
    let mut parent = try_shared(store, root)?;
    while parent.page().level() > 1 {
        let page = parent.page();
        parent = try_shared(store, page.child(page.child_for(fence)))?;
    }
    let mut from = parent.page().child_for(fence) + 1;
    let mut leaves = Vec::with_capacity(max);
    loop {
        let page = parent.page();
        leaves.extend((from..page.count()).take(max - leaves.len()).map(|slot| page.child(slot)));
        if leaves.len() == max || page.right().is_none() {
            return Some(leaves);
        }
        let right = page.right();
        parent = try_shared(store, right)?;
        from = 0;
    }
}

/// An inner page, if it can be had at once.
fn try_shared(store: &Store, page_no: PageNo) -> Option<SharedGuard<'_>> {
    let guard = store.pool().try_shared(page_no).ok()??;
    (!guard.page().is_leaf()).then_some(guard)
}
