//! Finding a key in a page: prefix once, a guess among the heads, bisection where it fails, suffixes only
//! where heads are equal.

use std::cmp::Ordering;
use std::hint::select_unpredictable;

use base::codec::get_u16;
use base::prefetch;

use crate::layout::{FIXED_KEY_LEN, HEAD_BYTES, HEADER_BYTES, HINT_ARRAY, HINT_COUNT_MIN, HINTS};
use crate::page_ref::{PageRef, head_of, load_u32};

/// Heads that are compared at once.
const WINDOW: usize = 16;

/// Heads around a guess that was wrong.
const MISS_WINDOW: usize = 32;

/// Where a key is or would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// First slot whose key is not below the sought one; the page's count if there is none.
    pub slot: usize,
    /// Whether that slot's key equals the sought one.
    pub found: bool,
}

/// Heads as they are stored: little-endian.
type Heads = [[u8; HEAD_BYTES]];

#[inline(always)]
fn at(heads: &Heads, slot: usize) -> u32 {
    u32::from_le_bytes(heads[slot])
}

impl<'a> PageRef<'a> {
    /// Lower bound of `key` among the page's slots. Slot 0 of an inner page counts as below every key. Cost:
    /// about 70 instructions and 3 cache lines where heads are spread evenly; a bisection elsewhere; a
    /// compare of suffixes for each further equal head.
    #[inline]
    pub fn search(self, key: &[u8]) -> Search {
        if self.is_leaf() { self.search_leaf(key) } else { self.find::<false>(key) }
    }

    /// [`PageRef::search`] on a leaf.
    #[inline]
    pub fn search_leaf(self, key: &[u8]) -> Search {
        debug_assert!(self.is_leaf(), "{} is no leaf", self.page_no());
        self.find::<true>(key)
    }

    /// Slot of the child whose subtree holds `key`: the last slot whose key is not above it.
    #[inline]
    pub fn child_for(self, key: &[u8]) -> usize {
        debug_assert!(!self.is_leaf(), "{} has no children", self.page_no());
        let Search { slot, found } = self.find::<false>(key);
        slot.wrapping_sub(usize::from(!found && slot > 0))
    }

    /// Slot of the child whose subtree holds the greatest keys below `key`, of an inner page.
    #[inline]
    pub fn child_below(self, key: &[u8]) -> usize {
        debug_assert!(!self.is_leaf(), "{} has no children", self.page_no());
        self.find::<false>(key).slot.saturating_sub(1)
    }

    #[inline(always)]
    fn find<const LEAF: bool>(self, key: &[u8]) -> Search {
        let prefix_len = self.prefix_len();
        let Some((start, rest)) = key.split_at_checked(prefix_len) else {
            return self.search_outside(key);
        };
        if !is_equal(start, self.prefix()) {
            return self.search_outside(key);
        }
        let (head, heads) = (head_of(rest), self.heads());
        let first = usize::from(!LEAF);
        let fetch = |slot| prefetch(self.word_of::<LEAF>(slot));
        let slot = match guess(heads, first, head, fetch) {
            Ok(slot) => slot,
            Err(missed) => self.lower_bound_near::<LEAF>(head, missed),
        };
        self.search_from::<LEAF>(heads, slot, head, rest)
    }

    /// [`PageRef::lower_bound_head`] of a head whose bound is probably near `missed`.
    #[inline(never)]
    fn lower_bound_near<const LEAF: bool>(self, head: u32, missed: usize) -> usize {
        let heads = self.heads();
        match bound_in_window::<MISS_WINDOW>(heads, missed, head) {
            Some(slot) => slot,
            None => self.lower_bound_head(heads, usize::from(!LEAF), head),
        }
    }

    /// [`PageRef::search_leaf`] of a key that probably belongs near `slot`. Cost: about 60 instructions if it
    /// is among the next few.
    #[inline]
    pub fn search_leaf_near(self, key: &[u8], slot: usize) -> Search {
        let Some((start, rest)) = key.split_at_checked(self.prefix_len()) else {
            return self.search_outside(key);
        };
        if !is_equal(start, self.prefix()) {
            return self.search_outside(key);
        }
        let (head, heads) = (head_of(rest), self.heads());
        let slot = match bound_in_window::<WINDOW>(heads, slot, head) {
            Some(slot) => slot,
            None => self.lower_bound_head(heads, 0, head),
        };
        self.search_from::<true>(heads, slot, head, rest)
    }

    /// Ends a search that has found `slot`, the lower bound of the sought key's head.
    #[inline(always)]
    fn search_from<const LEAF: bool>(self, heads: &Heads, slot: usize, head: u32, rest: &[u8]) -> Search {
        if heads.get(slot).is_none_or(|&other| u32::from_le_bytes(other) != head) {
            return Search { slot, found: false };
        }
        if LEAF && rest.len() == HEAD_BYTES && self.key_ends_with_head(slot) {
            return Search { slot, found: true };
        }
        self.search_equal_heads(slot, head, rest)
    }

    /// Where the caller looks next who has found `slot`: its slot word, or its child.
    #[inline(always)]
    fn word_of<const LEAF: bool>(self, slot: usize) -> *const u8 {
        let behind_heads = if LEAF { 4 * self.cap() + 2 * slot } else { 6 * self.cap() + 4 * slot };
        self.0.as_ptr().wrapping_add(HEADER_BYTES + behind_heads)
    }

    /// The key does not start with the page's prefix, so it is below or above all keys here.
    #[cold]
    #[inline(never)]
    fn search_outside(self, key: &[u8]) -> Search {
        let slot = if key < self.prefix() { usize::from(!self.is_leaf()) } else { self.count() };
        Search { slot: slot.min(self.count()), found: false }
    }

    /// Continues among slots from `from` on, the first whose head is `head`, by their suffixes.
    #[inline(never)]
    fn search_equal_heads(self, from: usize, head: u32, rest: &[u8]) -> Search {
        match self.compare_beyond_head(from, rest) {
            Ordering::Equal => return Search { slot: from, found: true },
            Ordering::Greater => return Search { slot: from, found: false },
            Ordering::Less => {}
        }
        let mut low = from + 1;
        let first = usize::from(!self.is_leaf());
        let mut high = match head.checked_add(1) {
            Some(next) => self.lower_bound_head(self.heads(), first, next).max(low),
            None => self.count(),
        };
        while low < high {
            let middle = low + (high - low) / 2;
            match self.compare_beyond_head(middle, rest) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Search { slot: middle, found: true },
                Ordering::Greater => high = middle,
            }
        }
        Search { slot: low, found: false }
    }

    /// The heads of the slots in use.
    #[inline(always)]
    fn heads(self) -> &'a Heads {
        let (heads, _) = self.0[HEADER_BYTES..].as_chunks::<HEAD_BYTES>();
        &heads[..self.count()]
    }

    /// Whether the leaf key at `slot` is as long as prefix and head together, known without its cell's length
    /// word for variable keys.
    #[inline(always)]
    fn key_ends_with_head(self, slot: usize) -> bool {
        let fixed = usize::from(get_u16(self.0, FIXED_KEY_LEN));
        fixed == self.prefix_len() + HEAD_BYTES && !self.flags(slot).has_begin()
    }

    /// First slot from `first` on whose head is not below `head`; the number of slots if there is none.
    #[inline(never)]
    fn lower_bound_head(self, heads: &Heads, first: usize, head: u32) -> usize {
        let Some(last) = heads.last().filter(|_| heads.len() > first) else { return heads.len() };
        if head <= at(heads, first) {
            return first;
        }
        if head > u32::from_le_bytes(*last) {
            return heads.len();
        }
        self.bisect(heads, head)
    }

    /// First slot whose head is not below `head`, which is above the head of the first key: a slot without a
    /// key has head 0 and is passed over.
    #[inline]
    fn bisect(self, heads: &Heads, head: u32) -> usize {
        let (mut base, mut len) = (0, heads.len());
        if len >= HINT_COUNT_MIN {
            (base, len) = self.narrow(head, len);
        }
        while len > WINDOW {
            let half = len / 2;
            let below = at(heads, base + half - 1) < head;
            base = select_unpredictable(below, base + half, base);
            len -= half;
        }
        // All before `base` are below and none after the stretch is, so the window may begin earlier.
        let start = base.min(heads.len().saturating_sub(WINDOW));
        match heads[start..].first_chunk::<WINDOW>() {
            Some(window) => start + window.iter().filter(|&&other| u32::from_le_bytes(other) < head).count(),
            None => heads.iter().filter(|&&other| u32::from_le_bytes(other) < head).count(),
        }
    }

    /// The stretch between two hints, `(first slot, slots)`, in which or right after which the lower bound
    /// lies.
    #[inline]
    fn narrow(self, head: u32, count: usize) -> (usize, usize) {
        let distance = count / (HINTS + 1);
        let is_below = |i: usize| load_u32(self.0, HINT_ARRAY + 4 * i) < head;
        let below = (0..HINTS).filter(|&i| is_below(i)).count();
        let base = below * distance;
        (base, if below == HINTS { count - base } else { distance })
    }
}

/// The lower bound of `head`, if it is one of the `N` slots around `slot` and not the first of them. A head
/// without a key, 0, is below every other.
#[inline(always)]
fn bound_in_window<const N: usize>(heads: &Heads, slot: usize, head: u32) -> Option<usize> {
    let from = slot.saturating_sub(N / 2).min(heads.len().saturating_sub(N));
    let window = heads.get(from..)?.first_chunk::<N>()?;
    let is_inside = at(window, 0) < head && head <= at(window, N - 1);
    is_inside.then(|| from + window.iter().filter(|&&other| u32::from_le_bytes(other) < head).count())
}

/// The lower bound of `head`, if it is at an end or heads are spread so evenly that interpolation hits it;
/// else a slot that it is probably near to. `fetch` gets the guess before the heads there are read.
#[inline(always)]
fn guess(heads: &Heads, first: usize, head: u32, fetch: impl FnOnce(usize)) -> Result<usize, usize> {
    let (Some(low), Some(high)) = (heads.get(first), heads.last()) else { return Ok(heads.len()) };
    let (low, high) = (u32::from_le_bytes(*low), u32::from_le_bytes(*high));
    if head <= low {
        return Ok(first);
    }
    if head > high {
        return Ok(heads.len());
    }
    // low < head <= high, so the guess is a slot from `first` on, and the last one's head is not below
    // `head`.
    let steps = u64::from(head - low) * (heads.len() - 1 - first) as u64;
    let guess = first + (steps / u64::from(high - low)) as usize;
    fetch(guess);
    let Some(&there) = heads.get(guess) else { return Err(guess) };
    let slot = guess + usize::from(u32::from_le_bytes(there) < head);
    let Some(&bound) = heads.get(slot) else { return Err(guess) };
    let is_bound = u32::from_le_bytes(bound) >= head && at(heads, slot.wrapping_sub(1)) < head;
    if is_bound { Ok(slot) } else { Err(guess) }
}

/// Equality of two slices of one length. Prefixes are short: two overlapping loads beat a call up to 16
/// bytes.
#[inline]
pub(crate) fn is_equal(a: &[u8], b: &[u8]) -> bool {
    if let (Some(a8), Some(b8)) = (a.first_chunk::<8>(), b.first_chunk::<8>()) {
        return a8 == b8 && (a.len() <= 16 && a.last_chunk::<8>() == b.last_chunk::<8>() || a == b);
    }
    if let (Some(a4), Some(b4)) = (a.first_chunk::<4>(), b.first_chunk::<4>()) {
        return a4 == b4 && a.last_chunk::<4>() == b.last_chunk::<4>();
    }
    a.iter().zip(b).all(|(a, b)| a == b)
}
