//! Splitting full pages.
//!
//! A split is a mini-transaction of three pages: the parent gets a separator, the page keeps its left part, a
//! new page gets the right part.
//!
//! ```text
//!        [ .. | a | .. ]                    [ .. | a | s | .. ]
//!               |                 ->               |   |
//!     a <= [ N: 1 2 3 4 ] < b          a <= [ N: 1 2 ] < s <= [ R: 3 4 ] < b
//! ```
//!
//! The usual split latches just the page above the leaf and the leaf. If that has no room for the separator,
//! the way down is repeated with exclusive latches from the root, and every inner page without room for the
//! separator is split on the way, each in a mini-transaction of its own, so that never more than a parent and
//! a child are held. If that turns out to need room for another separator, there is a way down for that one:
//! each splits a page or is the last. A root that is full moves its content into two new children and stays
//! where it is.

use std::ops::Range;

use base::{IndexId, PageNo, TrxId, invariant};
use buffer::ExclusiveGuard;
use page::{Batch, Fit, FormatPage, PAGE_SIZE, PageMut, PageOp, PageRef};
use space::{Latched, Locality, Mtr, NewPage, Result, Store};

use crate::descend::leaf_parent_exclusive;
use crate::leaf_edit::{has_room, is_append};
use crate::links::child_exclusive;
use crate::split_plan::{PendingRecord, SplitPlan, plan_halves, plan_inner, plan_leaf};
use crate::tree::{KEY_BYTES_MAX, Tree};

/// A tree whose root has fewer children takes single pages from extents that it shares with other small
/// trees.
pub(crate) const SMALL_TREE_CHILDREN: usize = 32;

const _: () = assert!(
    page::HEADER_BYTES + page::OWN_PREFIX_BYTES_MAX + 5 * KEY_BYTES_MAX + 4 * 12 + 16 <= page::PAGE_SIZE,
    "an inner page with its fences and two separators has room for a third, so one without room can be divided"
);

/// Result of one descent.
enum Step {
    /// The leaf was split, or another thread made room: search again.
    Done,
    /// A page on the way was split: go down again.
    Again,
    /// The parent has no room for this separator.
    NoRoomFor(Vec<u8>),
}

/// The purpose of a leaf split.
#[derive(Clone, Copy)]
enum SplitGoal {
    /// Room for as many bytes.
    Room(usize),
    /// Two leaves about as full as each other, unless it has another row format version by now.
    Halves(u16),
}

/// Splits the leaf that `key` belongs to unless it has room for `need` by now. The caller holds no page
/// latch. One call may not be enough when records are large.
#[cold]
pub(crate) fn make_room(tree: &Tree, store: &Store, key: &[u8], need: usize) -> Result<()> {
    split_for(tree, store, key, SplitGoal::Room(need))
}

/// Splits the leaf that `key` belongs to into halves, unless it has another row format version than `version`
/// by now. The caller holds no page latch.
#[cold]
pub(crate) fn halve(tree: &Tree, store: &Store, key: &[u8], version: u16) -> Result<()> {
    split_for(tree, store, key, SplitGoal::Halves(version))
}

fn split_for(tree: &Tree, store: &Store, key: &[u8], aim: SplitGoal) -> Result<()> {
    let mut step = split_leaf_below_parent(tree, store, key, aim)?;
    // As good a guess as any until there is a separator.
    let mut separator = key.to_vec();
    loop {
        match step {
            Step::Done => return Ok(()),
            Step::Again => {}
            Step::NoRoomFor(other) => separator = other,
        }
        step = split_from_root(tree, store, key, aim, &separator)?;
    }
}

/// The usual split: with the leaf and the page above it in hand, nothing else.
fn split_leaf_below_parent(tree: &Tree, store: &Store, key: &[u8], aim: SplitGoal) -> Result<Step> {
    let parent = leaf_parent_exclusive(store, tree, key)?;
    if parent.page().is_leaf() {
        return Ok(Step::Again);
    }
    let slot = parent.page().child_for(key);
    let leaf = child_exclusive(store, parent.page(), slot)?;
    split_leaf(tree, store, parent, leaf, key, aim)
}

/// The way down with exclusive latches, splitting what is too full for `separator`.
fn split_from_root(tree: &Tree, store: &Store, key: &[u8], aim: SplitGoal, separator: &[u8]) -> Result<Step> {
    let mut parent = store.pool().exclusive(tree.root)?;
    if parent.page().is_leaf() {
        let page = parent.page();
        let Some(plan) = plan_for(page, key, aim) else { return Ok(Step::Done) };
        split_root(tree, store, parent, &plan, Locality::Shared)?;
        store.count_splits(1);
        return Ok(Step::Done);
    }
    if parent.page().fits(separator, 0) == Fit::No {
        let plan = plan_inner(parent.page(), goes_to_end(parent.page(), key));
        split_root(tree, store, parent, &plan, Locality::Own)?;
        return Ok(Step::Again);
    }
    loop {
        let page = parent.page();
        let child = child_exclusive(store, page, page.child_for(key))?;
        if child.page().is_leaf() {
            return split_leaf(tree, store, parent, child, key, aim);
        }
        if child.page().fits(separator, 0) == Fit::No {
            let plan = plan_inner(child.page(), goes_to_end(child.page(), key));
            let split = split_child(tree, store, parent, child, &plan, Locality::Own)?;
            return Ok(if split { Step::Again } else { Step::NoRoomFor(plan.separator) });
        }
        parent = child;
    }
}

fn split_leaf<'p>(
    tree: &Tree,
    store: &'p Store,
    parent: ExclusiveGuard<'p>,
    leaf: ExclusiveGuard<'p>,
    key: &[u8],
    aim: SplitGoal,
) -> Result<Step> {
    let Some(plan) = plan_for(leaf.page(), key, aim) else { return Ok(Step::Done) };
    let is_small = parent.page_no() == tree.root && parent.page().count() < SMALL_TREE_CHILDREN;
    let locality = if is_small { Locality::Shared } else { Locality::Own };
    let split = split_child(tree, store, parent, leaf, &plan, locality)?;
    store.count_splits(u64::from(split));
    Ok(if split { Step::Done } else { Step::NoRoomFor(plan.separator) })
}

/// How to divide the leaf; `None` if that is not needed any more.
fn plan_for(leaf: PageRef<'_>, key: &[u8], aim: SplitGoal) -> Option<SplitPlan> {
    let need = match aim {
        SplitGoal::Room(need) => need,
        SplitGoal::Halves(version) => {
            return (leaf.format_version() == version && leaf.count() > 1).then(|| plan_halves(leaf));
        }
    };
    let at = leaf.search(key);
    if has_room(leaf, key, at, need) {
        return None;
    }
    let append = !at.found && is_append(leaf, at.slot);
    Some(plan_leaf(leaf, PendingRecord { key, slot: at.slot, found: at.found, need }, append))
}

/// Whether `key` goes to the last child of an inner page at the tree's right edge.
fn goes_to_end(page: PageRef<'_>, key: &[u8]) -> bool {
    page.upper_fence().is_none() && page.child_for(key) + 1 == page.count()
}

/// Splits `child`, whose parent is `parent`, as planned. False, and nothing done, if the parent has no room
/// for the separator.
fn split_child<'p>(
    tree: &Tree,
    store: &'p Store,
    parent: ExclusiveGuard<'p>,
    child: ExclusiveGuard<'p>,
    plan: &SplitPlan,
    locality: Locality,
) -> Result<bool> {
    if parent.page().fits(&plan.separator, 0) == Fit::No {
        return Ok(false);
    }
    let slot = parent.page().child_for(child.page().lower_fence());
    debug_assert_eq!(parent.page().child(slot), child.page_no(), "the child stands under its lower fence");
    let mut mtr = Mtr::new(store);
    let parent = mtr.adopt(parent);
    let child = mtr.adopt(child);
    let [right] = mtr.allocate(tree.index, locality)?;
    carry_to_new(&mut mtr, child, &[right]);

    let old = mtr.page(child);
    let kind = PageKind::of(old);
    let (lower, upper) = (old.lower_fence().to_vec(), old.upper_fence().map(<[u8]>::to_vec));
    let bounds = Bounds { lower: &plan.separator, upper: upper.as_deref(), right: old.right() };
    let moved = plan.left_count..old.count();
    kind.make(&mut mtr, right, &bounds, child, moved);

    mtr.apply(child, &PageOp::Truncate { from: plan.left_count as u16 });
    mtr.apply(child, &PageOp::SetFences { lower: &lower, upper: Some(&plan.separator) });
    mtr.apply(child, &PageOp::SetRight(right.page_no));
    let op = PageOp::InsertChild { slot: slot as u16 + 1, key: &plan.separator, child: right.page_no };
    mtr.apply(parent, &op);
    mtr.commit();
    Ok(true)
}

/// Moves the root's content into two new children; the root becomes the page above them.
fn split_root<'p>(
    tree: &Tree,
    store: &'p Store,
    root: ExclusiveGuard<'p>,
    plan: &SplitPlan,
    locality: Locality,
) -> Result<()> {
    let mut mtr = Mtr::new(store);
    let root = mtr.adopt(root);
    let [left, right] = mtr.allocate(tree.index, locality)?;
    carry_to_new(&mut mtr, root, &[left, right]);
    let old = mtr.page(root);
    let (kind, version) = (PageKind::of(old), old.version());
    let (left_part, right_part) = (0..plan.left_count, plan.left_count..old.count());
    let bounds = Bounds { lower: &[], upper: Some(&plan.separator), right: right.page_no };
    kind.make(&mut mtr, left, &bounds, root, left_part);
    let bounds = Bounds { lower: &plan.separator, upper: None, right: PageNo::NONE };
    kind.make(&mut mtr, right, &bounds, root, right_part);

    let above = FormatPage {
        page_no: tree.root,
        level: kind.level + 1,
        index_id: tree.index,
        version,
        format_version: 0,
        fixed_key_len: None,
        lower: &[],
        upper: None,
        right: PageNo::NONE,
    };
    mtr.apply(root, &PageOp::Format(above));
    mtr.apply(root, &PageOp::InsertChild { slot: 0, key: &[], child: left.page_no });
    mtr.apply(root, &PageOp::InsertChild { slot: 1, key: &plan.separator, child: right.page_no });
    mtr.commit();
    Ok(())
}

/// Some records of `from` are about to move to pages that were just allocated.
fn carry_to_new(mtr: &mut Mtr<'_>, from: Latched, to: &[NewPage]) {
    for page in to {
        mtr.carry_garbage_to(from, page.page_no).expect("allocation has latched the map page");
    }
}

/// A page's place among its siblings.
pub(crate) struct Bounds<'k> {
    pub(crate) lower: &'k [u8],
    pub(crate) upper: Option<&'k [u8]>,
    pub(crate) right: PageNo,
}

/// Header values that the pages that take over a page's slots inherit.
#[derive(Clone, Copy)]
pub(crate) struct PageKind {
    level: u8,
    index_id: IndexId,
    format_version: u16,
    fixed_key_len: Option<u16>,
    trx_max: TrxId,
}

impl PageKind {
    pub(crate) fn of(page: PageRef<'_>) -> Self {
        PageKind {
            level: page.level(),
            index_id: page.index_id(),
            format_version: page.format_version(),
            fixed_key_len: page.fixed_key_len(),
            trx_max: page.trx_max(),
        }
    }

    /// Formats `new` as a page of this kind with the slots `part` of `from`, which lie within the bounds. It
    /// reaches the log as an image, which is made at once and is no longer than the records.
    pub(crate) fn make(
        self,
        mtr: &mut Mtr<'_>,
        new: NewPage,
        bounds: &Bounds<'_>,
        from: Latched,
        part: Range<usize>,
    ) {
        let format = FormatPage {
            page_no: new.page_no,
            level: self.level,
            index_id: self.index_id,
            version: new.version,
            format_version: self.format_version,
            fixed_key_len: self.fixed_key_len,
            lower: bounds.lower,
            upper: bounds.upper,
            right: bounds.right,
        };
        let mut image = [0; PAGE_SIZE];
        let made = PageMut::new(&mut image).format_with(&format, mtr.page(from), part);
        invariant!(made.is_ok(), "no room for a part of {}", mtr.page(from).page_no());
        mtr.apply(new.at, &PageOp::image_of(PageRef::new(&image)));
    }

    /// Appends the slots of `batch`, which come from a page of this kind; their highest transaction id comes
    /// with them.
    pub(crate) fn append(self, mtr: &mut Mtr<'_>, to: Latched, batch: &[u8]) {
        if !batch.is_empty() {
            mtr.append_batch(to, Batch(batch));
        }
        if mtr.page(to).trx_max() < self.trx_max {
            mtr.apply(to, &PageOp::RaiseTrxMax(self.trx_max));
        }
    }
}

/// The slots `range` of a page, as the log and [`PageKind::append`] take them.
pub(crate) fn batch_of(page: PageRef<'_>, range: Range<usize>) -> Vec<u8> {
    let mut batch = Vec::new();
    Batch::push_slots(&mut batch, page, range);
    batch
}
