//! Where to divide a full page.
//!
//! The record that needs room counts as if it were on the page already (the *virtual* records), so that a
//! page whose records are few and large is divided where it helps: the newcomer may even end up alone.

use page::{HEADER_BYTES, OWN_PREFIX_BYTES_MAX, PAGE_SIZE, PageRef};

use crate::separator::shortest;

/// How a page is divided.
#[derive(Debug)]
pub(crate) struct SplitPlan {
    /// Slots that stay on the left page; the rest goes right.
    pub(crate) left_count: usize,
    /// Fence between the two, and key of the right page above.
    pub(crate) separator: Vec<u8>,
}

/// What made a leaf too small.
#[derive(Clone, Copy)]
pub(crate) struct PendingRecord<'k> {
    pub(crate) key: &'k [u8],
    pub(crate) slot: usize,
    /// The record at `slot` has the key and grows, instead of a new one being inserted before it.
    pub(crate) found: bool,
    pub(crate) need: usize,
}

/// Bytes a record takes beside key and payload: two length words, head and slot.
const RECORD_OVERHEAD: usize = 10;

/// Array entries are made in pairs, so that a page may hold one that is not in use.
const ARRAY_SLACK: usize = 10;

/// Divides a leaf. `append`: everything stays left and the newcomer goes right alone.
pub(crate) fn plan_leaf(page: PageRef<'_>, pending: PendingRecord<'_>, append: bool) -> SplitPlan {
    let PendingRecord { key, slot, found, need } = pending;
    let inserted = usize::from(!found);
    let total = page.count() + inserted;
    let old_slot = |at: usize| if at > slot { at - inserted } else { at };
    let size =
        |at: usize| if at == slot { need + RECORD_OVERHEAD } else { page.slot_used_bytes(old_slot(at)) };
    let key_at = |at: usize| if at == slot { key.to_vec() } else { page.key(old_slot(at)) };
    let preferred = if append {
        total - 1
    } else {
        let replaced = if found { page.slot_used_bytes(slot) } else { 0 };
        let all = page.slots_used_bytes(0..page.count()) - replaced + need + RECORD_OVERHEAD;
        middle(total, all, size)
    };
    nearest(preferred, total, |boundary| {
        let left_count = if boundary > slot { boundary - inserted } else { boundary };
        divide(page, left_count, &key_at(boundary - 1), &key_at(boundary))
    })
}

/// Divides a leaf of at least two records into halves.
pub(crate) fn plan_halves(page: PageRef<'_>) -> SplitPlan {
    let total = page.count();
    let preferred = middle(total, page.slots_used_bytes(0..total), |slot| page.slot_used_bytes(slot));
    nearest(preferred, total, |boundary| divide(page, boundary, &page.key(boundary - 1), &page.key(boundary)))
}

/// Divides a leaf between the neighbouring keys `left` and `right`, if both parts fit on a page.
fn divide(page: PageRef<'_>, left_count: usize, left: &[u8], right: &[u8]) -> Option<SplitPlan> {
    // A fence with all of the page's prefix, so that the right half need not store it once more.
    let shared = if right.starts_with(page.prefix()) { page.prefix().len() } else { 0 };
    let separator = right[..shortest(left, right).len().max(shared)].to_vec();
    halves_fit(page, left_count, separator.len()).then_some(SplitPlan { left_count, separator })
}

/// Divides an inner page. `append`: it is about to grow at its right end, the tree's end; 15 of 16 slots stay
/// left.
pub(crate) fn plan_inner(page: PageRef<'_>, append: bool) -> SplitPlan {
    let total = page.count();
    let preferred = if append {
        (total - total / 16).min(total.saturating_sub(2)).max(1)
    } else {
        middle(total, page.slots_used_bytes(0..total), |slot| page.slot_used_bytes(slot))
    };
    nearest(preferred, total, |left_count| {
        let separator = page.key(left_count);
        halves_fit(page, left_count, separator.len()).then_some(SplitPlan { left_count, separator })
    })
}

/// The boundary, 1..total, that divides the `all` bytes most evenly.
fn middle(total: usize, all: usize, size: impl Fn(usize) -> usize) -> usize {
    debug_assert_eq!(all, (0..total).map(&size).sum::<usize>(), "bytes of all records");
    let mut left = 0;
    for at in 0..total {
        let with = left + size(at);
        if 2 * with >= all {
            // Whichever side of the record in the middle is the better one.
            let boundary = if with - all / 2 <= all / 2 - left.min(all / 2) { at + 1 } else { at };
            return boundary.clamp(1, total - 1);
        }
        left = with;
    }
    total - 1
}

/// The plan for the boundary nearest to `preferred` that has one.
fn nearest(preferred: usize, total: usize, plan: impl Fn(usize) -> Option<SplitPlan>) -> SplitPlan {
    let around =
        (0..total).flat_map(|distance| [preferred.checked_sub(distance), preferred.checked_add(distance)]);
    let boundaries = around.flatten().filter(|boundary| (1..total).contains(boundary));
    let found = boundaries.into_iter().find_map(plan);
    // Taking a record away frees more than a fence costs, which is no longer than the record's key.
    found.expect("some boundary leaves room for the fence on both sides")
}

/// Whether both halves of the page hold their slots and fences. Prefixes only grow in a split, so today's
/// sizes are enough beside a prefix that a half may have to store.
fn halves_fit(page: PageRef<'_>, left_count: usize, separator_len: usize) -> bool {
    let fixed = HEADER_BYTES + ARRAY_SLACK + OWN_PREFIX_BYTES_MAX + separator_len;
    let left = fixed + page.lower_fence().len() + page.slots_used_bytes(0..left_count);
    let right =
        fixed + page.upper_fence().map_or(0, <[u8]>::len) + page.slots_used_bytes(left_count..page.count());
    left <= PAGE_SIZE && right <= PAGE_SIZE
}
