//! Merging sparse pages and taking levels away.
//!
//! A merge is a mini-transaction of three pages: the left page takes over the records, right link and upper
//! fence of its right neighbour under the same parent, the parent loses the separator, the neighbour is
//! freed. The way down holds a parent and a child exclusively and merges every sparse page it meets, so that
//! inner pages empty out from the top. A root with a single child takes over the child's content: the tree
//! loses a level and keeps its root.

use base::PageNo;
use buffer::ExclusiveGuard;
use page::{HEADER_BYTES, OWN_PREFIX_BYTES_MAX, PAGE_SIZE, PageOp, PageRef};
use space::{Mtr, NewPage, Result, Store};

use crate::leaf_edit::SPARSE_BYTES;
use crate::links::child_exclusive;
use crate::separator::common_prefix_len;
use crate::split::{Bounds, PageKind, batch_of};
use crate::tree::Tree;

/// Two pages that both hold something are merged only if the result leaves this much free, so that the next
/// insertions do not split it again.
const MERGED_FREE_BYTES: usize = PAGE_SIZE / 4;

impl Tree {
    /// Merges the leaf that `key` belongs to with a neighbour if it is sparse and the two fit in one page;
    /// likewise the pages above it. Call it after an edit that was [`crate::LeafEdit::is_sparse`]. The caller
    /// holds no page latch.
    #[cold]
    pub fn shrink(&self, store: &Store, key: &[u8]) -> Result<()> {
        while self.shrink_once(store, key)? {}
        Ok(())
    }

    /// One way down; true if it has changed the tree, and there may be more to do.
    fn shrink_once(&self, store: &Store, key: &[u8]) -> Result<bool> {
        let mut parent = store.pool().exclusive(self.root)?;
        if parent.page().is_leaf() {
            return Ok(false);
        }
        if parent.page().count() == 1 {
            let child = child_exclusive(store, parent.page(), 0)?;
            collapse_root(self, store, parent, child)?;
            store.count_merge();
            return Ok(true);
        }
        loop {
            let slot = parent.page().child_for(key);
            let child = child_exclusive(store, parent.page(), slot)?;
            let Some(child) = (match merge_child(self, store, parent, child, slot)? {
                Merge::Merged => {
                    store.count_merge();
                    return Ok(true);
                }
                Merge::LeftAlone(child) => child,
            }) else {
                return Ok(false);
            };
            parent = child;
        }
    }
}

/// What became of a child.
enum Merge<'p> {
    /// It was merged with a neighbour.
    Merged,
    /// Nothing changed; the child to continue with, `None` if it is a leaf.
    LeftAlone(Option<ExclusiveGuard<'p>>),
}

/// Merges the child at `slot` of `parent` with a neighbour if that is worth it and possible.
fn merge_child<'p>(
    tree: &Tree,
    store: &'p Store,
    parent: ExclusiveGuard<'p>,
    child: ExclusiveGuard<'p>,
    slot: usize,
) -> Result<Merge<'p>> {
    let alone = |child: ExclusiveGuard<'p>| Merge::LeftAlone(Some(child).filter(|c| !c.page().is_leaf()));
    if !is_sparse(child.page()) {
        return Ok(alone(child));
    }
    let page = parent.page();
    if slot + 1 < page.count() {
        let right = child_exclusive(store, page, slot + 1)?;
        if !fit_together(child.page(), right.page()) {
            return Ok(alone(child));
        }
        merge_pair(tree, store, parent, child, right, slot + 1)?;
    } else if slot > 0 {
        // Left before right: the child is released and latched again. It stays the last child, as the parent
        // is held.
        let child_no = child.page_no();
        drop(child);
        let left = child_exclusive(store, page, slot - 1)?;
        let child = store.pool().exclusive(child_no)?;
        if !fit_together(left.page(), child.page()) {
            return Ok(alone(child));
        }
        merge_pair(tree, store, parent, left, child, slot)?;
    } else {
        return Ok(alone(child));
    }
    Ok(Merge::Merged)
}

fn is_sparse(page: PageRef<'_>) -> bool {
    page.used_bytes() < SPARSE_BYTES || page.count() <= 1
}

/// Whether one page can hold both, which it cannot while their records have different row format versions.
/// The common prefix may become shorter, and every key as much longer; an inner page's first separator, which
/// is stored nowhere, comes back.
fn fit_together(left: PageRef<'_>, right: PageRef<'_>) -> bool {
    if left.format_version() != right.format_version() {
        return false;
    }
    let upper = right.upper_fence();
    let prefix_len = upper.map_or(0, |upper| common_prefix_len(left.lower_fence(), upper));
    let grown = |page: PageRef<'_>| {
        let cells: usize = (0..page.count()).map(|slot| page.slot_used_bytes(slot)).sum();
        cells + page.count() * page.prefix().len().saturating_sub(prefix_len)
    };
    let first_separator = if left.is_leaf() { 0 } else { right.lower_fence().len() + 2 };
    let fences = left.lower_fence().len() + upper.map_or(0, <[u8]>::len) + OWN_PREFIX_BYTES_MAX;
    // Array entries are made in pairs.
    let array_slack = 10;
    let all = HEADER_BYTES + array_slack + fences + grown(left) + grown(right) + first_separator;
    let reserve = if left.count() == 0 || right.count() == 0 { 0 } else { MERGED_FREE_BYTES };
    all + reserve <= PAGE_SIZE
}

/// Moves everything of `right` to `left` and frees it. `right_slot`: where it is in the parent.
fn merge_pair<'p>(
    tree: &Tree,
    store: &'p Store,
    parent: ExclusiveGuard<'p>,
    left: ExclusiveGuard<'p>,
    right: ExclusiveGuard<'p>,
    right_slot: usize,
) -> Result<()> {
    let mut mtr = Mtr::new(store);
    let parent = mtr.adopt(parent);
    let left = mtr.adopt(left);
    let right = mtr.adopt(right);
    mtr.prepare_free(right)?;
    mtr.carry_garbage(right, left)?;

    let lower = mtr.page(left).lower_fence().to_vec();
    let old = mtr.page(right);
    let (kind, upper, next) = (PageKind::of(old), old.upper_fence().map(<[u8]>::to_vec), old.right());
    let batch = batch_of(old, 0..old.count());
    mtr.apply(left, &PageOp::SetFences { lower: &lower, upper: upper.as_deref() });
    kind.append(&mut mtr, left, &batch);
    mtr.apply(left, &PageOp::SetRight(next));
    mtr.apply(parent, &PageOp::Remove { slot: right_slot as u16 });
    if mtr.page(right).is_leaf() {
        tree.leaf_freed();
    }
    mtr.free(right);
    mtr.commit();
    Ok(())
}

/// Gives the root the content of its only child, which is freed.
fn collapse_root<'p>(
    tree: &Tree,
    store: &'p Store,
    root: ExclusiveGuard<'p>,
    child: ExclusiveGuard<'p>,
) -> Result<()> {
    let mut mtr = Mtr::new(store);
    let root = mtr.adopt(root);
    let child = mtr.adopt(child);
    mtr.prepare_free(child)?;
    mtr.carry_garbage(child, root)?;
    let old = mtr.page(child);
    let (kind, all) = (PageKind::of(old), 0..old.count());
    let above = mtr.page(root);
    let new = NewPage { at: root, page_no: above.page_no(), version: above.version() };
    kind.make(&mut mtr, new, &Bounds { lower: &[], upper: None, right: PageNo::NONE }, child, all);
    if mtr.page(child).is_leaf() {
        tree.leaf_freed();
    }
    mtr.free(child);
    mtr.commit();
    Ok(())
}
