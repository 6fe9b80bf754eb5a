//! The order of a page's keys.

use std::cmp::Ordering;

use crate::corruption::{Corruption, CorruptionKind};
use crate::layout::HEADER_BYTES;
use crate::page_ref::{PageRef, head_of};

/// Keys ascend and lie within the fences, as far as searches look: heads, and suffixes of equal heads. Header
/// and slots are checked. Cost: about two instructions a slot where all heads differ; else five a slot, and
/// sixty more where a head is its neighbour's; no allocation.
pub(super) fn check_order(page: PageRef<'_>) -> Result<(), Corruption> {
    let fail = |what| Err(Corruption { page: page.page_no(), what });
    let (count, first) = (page.count(), usize::from(!page.is_leaf()));
    let (heads, _) = page.0[HEADER_BYTES..HEADER_BYTES + 4 * count].as_chunks::<4>();
    let heads = heads.get(first..).unwrap_or_default();
    if !all_ascend(heads) && !ascend_with_suffixes(page, heads, first) {
        return fail(CorruptionKind::KeyOrder);
    }
    let is_below = |slot, fence: &[u8]| page.compare_key(slot, fence) == Ordering::Less;
    let escapes = count > first
        && (is_below(first, page.lower_fence())
            || page.upper_fence().is_some_and(|upper| !is_below(count - 1, upper)));
    if escapes { fail(CorruptionKind::KeyBounds) } else { Ok(()) }
}

/// Whether each head is greater than the one before. Without a branch, so that several are compared at once.
fn all_ascend(heads: &[[u8; 4]]) -> bool {
    let later = heads.get(1..).unwrap_or_default();
    let ascends = |(a, b): (&[u8; 4], &[u8; 4])| u32::from_le_bytes(*a) < u32::from_le_bytes(*b);
    heads.iter().zip(later).fold(true, |all, pair| all & ascends(pair))
}

/// Whether keys ascend whose heads, from slot `first` on, may be equal.
fn ascend_with_suffixes(page: PageRef<'_>, heads: &[[u8; 4]], first: usize) -> bool {
    heads.windows(2).zip(first + 1..).all(|(pair, slot)| {
        match u32::from_le_bytes(pair[0]).cmp(&u32::from_le_bytes(pair[1])) {
            Ordering::Less => true,
            Ordering::Equal => ascends_beyond_head(page, slot),
            Ordering::Greater => false,
        }
    })
}

/// Whether the key at `slot` is greater than the one before, whose head is the same.
fn ascends_beyond_head(page: PageRef<'_>, slot: usize) -> bool {
    let beyond_head = |slot| {
        if page.is_leaf() {
            let record = page.record(slot);
            (record.suffix, record.rest_len)
        } else {
            let (rest_len, suffix) = page.inner_rest(slot);
            (suffix, rest_len)
        }
    };
    beyond_head(slot - 1) < beyond_head(slot)
}

/// Keys ascend and lie within the fences; heads of short keys are padded with zeros.
pub(super) fn check_keys(page: PageRef<'_>) -> Result<(), Corruption> {
    let fail = |what| Err(Corruption { page: page.page_no(), what });
    let first = usize::from(!page.is_leaf());
    let mut before: Option<Vec<u8>> = None;
    for slot in first..page.count() {
        let key = page.key(slot);
        if page.head(slot) != head_of(&key[page.prefix_len()..]) || !page.covers(&key) {
            return fail(CorruptionKind::KeyBounds);
        }
        if before.is_some_and(|before| before >= key) {
            return fail(CorruptionKind::KeyOrder);
        }
        before = Some(key);
    }
    Ok(())
}
