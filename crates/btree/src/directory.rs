//! The leaf directory: where a tree's leaves begin, in one array, so that a lookup goes straight to its leaf.
//! On the way through inner pages each step waits for memory several times; here the only thing to wait for
//! is one entry.
//!
//! All of it is hints. An entry is believed only after its leaf, latched, has shown that it is this tree's
//! and encloses the key: a leaf that was split or is new costs a latch pair, and then the usual descent.
//! Hints that failed pay for the next build.
//!
//! # Why a believed hint is right
//! A page that left the tree answers for itself while it is in memory: it is formatted as free, or as what it
//! became. On disk its old bytes may remain after it was used for something else and forgotten without being
//! written. Therefore the thread that frees a leaf raises `frees` while it holds the leaf, and a reader that
//! followed a hint compares `frees`, after latching, with its value when the build began. `built_at` is
//! loaded before the entry is: if the page was freed after the entry was written, `frees` is above it, and
//! the latch of the page orders the two. An entry is written only while its page is a leaf.
//!
//! Entries are changed in place while others read them. An array is never given back, so there is nothing to
//! wait for.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use base::PageNo;
use buffer::{ExclusiveGuard, FrameHint, SharedGuard};
use page::{PageRef, PageType, Search};
use space::{Result, Store};

use crate::descend::{self, LevelOne};
use crate::separator::common_prefix_len;
use crate::tree::Tree;

/// Builds for tests, and those with assertions, keep a directory for almost every tree, so that tests meet
/// it.
const EAGER: bool = cfg!(any(test, debug_assertions));
/// Fewest leaves for which a directory is kept.
const LEAVES_MIN: usize = if EAGER { 4 } else { 32 };
/// Most leaves: two megabytes of entries for two gigabytes of leaves.
const LEAVES_MAX: usize = 1 << 17;
/// Array sizes: powers of two from [`LEAVES_MIN`] to [`LEAVES_MAX`].
const ARRAYS: usize = (LEAVES_MAX / LEAVES_MIN).ilog2() as usize + 1;

/// Entries around the guess that are read before the array is bisected.
const STEPS_MAX: usize = 4;
/// Set in the shape: leaves begin at uneven distances, so that guesses come from the guide. The sign bit, so
/// that one test shows that nothing can be guessed without it.
const UNEVEN: u64 = 1 << 63;
/// Guesses count as uneven if more than one in this number is off by half of that.
const UNEVEN_SHARE: usize = 8;
/// One descent in this number is counted, chosen by its key, so that readers seldom write shared memory.
const NOTICED: u64 = 16;
/// Entries that one descent without a hint pays for.
const ENTRIES_PER_DESCENT: u64 = 32;
/// Descents before the next check of a tree that is too small or too large for a directory.
const UNFIT_PRICE: u64 = if EAGER { 64 } else { 1 << 14 };

/// A leaf.
#[derive(Debug, Default)]
struct Entry {
    /// First bytes of its lower fence.
    start: AtomicU64,
    /// Its page number above, its frame when it was noted below.
    place: AtomicU64,
}

/// Room for leaves.
#[derive(Debug)]
struct Array {
    entries: Box<[Entry]>,
    /// For each of as many even steps as there may be leaves the first entry that starts in it, else the last
    /// one before.
    guide: Box<[AtomicU32]>,
}

impl Array {
    fn new(len: usize) -> Self {
        Array {
            entries: (0..len).map(|_| Entry::default()).collect(),
            guide: (0..len).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Makes the guide for `leaves`, which start in the steps that `step_of` says.
    fn fill_guide(&self, leaves: usize, step_of: impl Fn(usize) -> usize) {
        let mut before = 0;
        for (step, guess) in self.guide.iter().enumerate() {
            while before + 1 < leaves && step_of(before + 1) < step {
                before += 1;
            }
            let starts_here = before + 1 < leaves && step_of(before + 1) == step;
            guess.store((before + usize::from(starts_here)) as u32, Ordering::Relaxed);
        }
    }

    /// The entry to begin with for a key in this step.
    #[inline]
    fn guided(&self, step: usize) -> usize {
        self.guide.get(step).map_or(usize::MAX, |guess| guess.load(Ordering::Relaxed) as usize)
    }
}

/// The directory of one tree; empty until lookups have shown that it pays.
#[derive(Debug)]
pub(crate) struct LeafDirectory {
    /// [`UNEVEN`]; entries in use, above; which array they are in, below. 0: none.
    shape: AtomicU64,
    /// `frees` when the build began.
    built_at: AtomicU64,
    /// Leading key bytes that the starts leave out, as all leaves have them in common.
    skip: AtomicU64,
    /// Start of the second leaf. The first one's is below every key.
    low: AtomicU64,
    /// Entries per step of a leaf's start, times 2^64.
    scale: AtomicU64,
    arrays: [OnceLock<Array>; ARRAYS],
    churn: Box<BuildState>,
}

/// What changes while the rest is read.
#[derive(Debug, Default)]
struct BuildState {
    /// Leaves freed so far.
    frees: AtomicU64,
    /// Descents since the last build, as far as noticed.
    descents: AtomicU64,
    /// Descents that pay for the next build.
    price: AtomicU64,
    building: AtomicBool,
}

impl Default for LeafDirectory {
    fn default() -> Self {
        LeafDirectory {
            shape: AtomicU64::new(0),
            built_at: AtomicU64::new(0),
            skip: AtomicU64::new(0),
            low: AtomicU64::new(0),
            scale: AtomicU64::new(0),
            arrays: [const { OnceLock::new() }; ARRAYS],
            churn: Box::default(),
        }
    }
}

/// Where a key's leaf may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hint<'d> {
    entry: &'d Entry,
    page_no: PageNo,
    frame: FrameHint,
    frees: FreeCount,
}

impl Hint<'_> {
    /// Notes where the page, which is latched and has shown to be a leaf, is in memory now.
    #[inline]
    fn refresh(&self, store: &Store) {
        let frame = store.pool().frame_hint(self.page_no);
        if frame != self.frame {
            self.entry.place.store(place(self.page_no, frame), Ordering::Relaxed);
        }
    }
}

fn place(page_no: PageNo, frame: FrameHint) -> u64 {
    u64::from(page_no.0) << 32 | u64::from(frame.0)
}

/// How many leaves of a tree had been freed at some time before a page number was learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FreeCount(u64);

impl LeafDirectory {
    /// Where the leaf of `key` was when the directory was built. Cost: about 75 instructions and a cache line
    /// where leaves begin at even distances, 20 more and two lines where the guide has the position; a
    /// bisection elsewhere.
    #[inline]
    pub(crate) fn hint(&self, key: &[u8]) -> Option<Hint<'_>> {
        // Acquire: entries, and the shape, are from the build that stored this, or from a later one.
        let built_at = self.built_at.load(Ordering::Acquire);
        let shape = self.shape.load(Ordering::Acquire);
        // Even: the sign bit is not set.
        let entry = if shape as i64 > 0 {
            self.entry(shape, key, |_, step| 1 + step)
        } else {
            self.guided_entry(shape, key)
        }?;
        let place = entry.place.load(Ordering::Relaxed);
        let (page_no, frame) = (PageNo((place >> 32) as u32), FrameHint(place as u32));
        Some(Hint { entry, page_no, frame, frees: FreeCount(built_at) })
    }

    /// The last entry that does not start above `key`, of a directory of this shape.
    #[inline(always)]
    fn entry(&self, shape: u64, key: &[u8], guess: impl FnOnce(&Array, usize) -> usize) -> Option<&Entry> {
        let array = self.arrays.get(shape as u32 as usize)?.get()?;
        let entries = array.entries.get(..((shape & !UNEVEN) >> 32) as usize)?;
        let start = start_behind(key, self.skip.load(Ordering::Relaxed) as usize);
        let steps = start.saturating_sub(self.low.load(Ordering::Relaxed));
        let scaled = u128::from(steps) * u128::from(self.scale.load(Ordering::Relaxed));
        let guess = guess(array, (scaled >> 64) as usize);
        Some(near(entries, guess, start).unwrap_or_else(|| last_not_above(entries, start)))
    }

    /// [`LeafDirectory::entry`] by the guide, or none if there is nothing.
    #[inline(never)]
    fn guided_entry(&self, shape: u64, key: &[u8]) -> Option<&Entry> {
        if shape == 0 { None } else { self.entry(shape, key, Array::guided) }
    }

    /// Notes, while a leaf that is about to be freed is held exclusively, that no hint is to be believed that
    /// may be of it.
    pub(crate) fn leaf_freed(&self) {
        // Release pairs with the load in `frees`; a thread that latches the page later sees it.
        self.churn.frees.fetch_add(1, Ordering::Release);
    }

    /// Leaves freed so far. To be asked before a page number is learned that will be a guess later.
    #[inline]
    pub(crate) fn frees(&self) -> FreeCount {
        FreeCount(self.churn.frees.load(Ordering::Acquire))
    }

    /// Leaves that lookups are led to.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        ((self.shape.load(Ordering::Relaxed) & !UNEVEN) >> 32) as usize
    }

    /// The starts of the leaves that lookups are led to, and their pages.
    #[cfg(test)]
    pub(crate) fn entries(&self) -> Vec<(u64, PageNo)> {
        let shape = self.shape.load(Ordering::Relaxed);
        let Some(array) = self.arrays[shape as u32 as usize].get() else { return Vec::new() };
        let read = |entry: &Entry| {
            let place = entry.place.load(Ordering::Relaxed);
            (entry.start.load(Ordering::Relaxed), PageNo((place >> 32) as u32))
        };
        array.entries[..self.len()].iter().map(read).collect()
    }

    /// Prevents further builds.
    #[cfg(test)]
    pub(crate) fn freeze(&self) {
        self.churn.building.store(true, Ordering::Relaxed);
    }

    /// Prefetches what a lookup with `hint` reads first.
    #[inline]
    pub(crate) fn prefetch(hint: Hint<'_>, store: &Store) {
        store.pool().will_latch(hint.page_no);
        store.pool().will_search(hint.frame);
    }

    /// The leaf of `key` latched shared, and a search in it, if `hint` leads there.
    #[inline]
    pub(crate) fn shared<'p>(
        &self,
        hint: Hint<'_>,
        store: &'p Store,
        tree: &Tree,
        key: &[u8],
    ) -> Option<(SharedGuard<'p>, Search)> {
        let leaf = self.shared_leaf(store, tree, hint.page_no, hint.frees)?;
        hint.refresh(store);
        let at = search_if_enclosed(leaf.page(), key)?;
        Some((leaf, at))
    }

    /// [`LeafDirectory::shared`] with an exclusive latch, which is waited for: the caller holds no page.
    #[inline]
    pub(crate) fn exclusive<'p>(
        &self,
        store: &'p Store,
        tree: &Tree,
        key: &[u8],
    ) -> Option<(ExclusiveGuard<'p>, Search)> {
        let hint = self.hint(key)?;
        store.pool().will_search(hint.frame);
        self.search_in(hint, store, tree, key, store.pool().exclusive(hint.page_no).ok()?)
    }

    /// [`LeafDirectory::exclusive`] that waits for nothing, for one who holds pages of other trees.
    #[inline]
    pub(crate) fn try_exclusive<'p>(
        &self,
        store: &'p Store,
        tree: &Tree,
        key: &[u8],
    ) -> Option<(ExclusiveGuard<'p>, Search)> {
        let hint = self.hint(key)?;
        self.search_in(hint, store, tree, key, store.pool().try_exclusive_resident(hint.page_no)?)
    }

    /// A search in `leaf` if it is what `hint` promised.
    #[inline(always)]
    fn search_in<'p>(
        &self,
        hint: Hint<'_>,
        store: &'p Store,
        tree: &Tree,
        key: &[u8],
        leaf: ExclusiveGuard<'p>,
    ) -> Option<(ExclusiveGuard<'p>, Search)> {
        if !self.is_leaf_of(tree, leaf.page(), hint.frees) {
            return None;
        }
        hint.refresh(store);
        let at = search_if_enclosed(leaf.page(), key)?;
        Some((leaf, at))
    }

    /// A page that was a leaf of the tree when `frees` leaves had been freed, latched shared if it still is.
    /// Never waits for a latch: the page may have become one that the caller must not wait for.
    #[inline]
    pub(crate) fn shared_leaf<'p>(
        &self,
        store: &'p Store,
        tree: &Tree,
        page_no: PageNo,
        frees: FreeCount,
    ) -> Option<SharedGuard<'p>> {
        // A page that cannot be read is no reason to fail: it may have been given back.
        let leaf = store.pool().try_shared(page_no).ok()??;
        self.is_leaf_of(tree, leaf.page(), frees).then_some(leaf)
    }

    /// Whether a latched page, learned when `frees` leaves had been freed, is a leaf of the tree.
    #[inline]
    fn is_leaf_of(&self, tree: &Tree, page: PageRef<'_>, frees: FreeCount) -> bool {
        page.index_id() == tree.index
            && page.page_type() == PageType::BTree
            && page.is_leaf()
            && self.frees() == frees
    }

    /// Notes that a descent to `key` begins, and builds the directory again if enough of them have paid for
    /// it. The caller holds no page of the tree.
    #[inline]
    pub(crate) fn note_descent(&self, store: &Store, tree: &Tree, key: &[u8]) -> Result<()> {
        if Self::is_noticed(key) { self.pay(store, tree) } else { Ok(()) }
    }

    /// Whether descents to `key` are counted.
    #[inline]
    pub(crate) fn is_noticed(key: &[u8]) -> bool {
        let end = key.last_chunk::<4>().map_or(0, |end| u32::from_le_bytes(*end));
        // A multiplicative hash: its upper bits depend on all bits of the key's end.
        u64::from(end.wrapping_mul(0x9e37_79b1)) < (1 << 32) / NOTICED
    }

    /// Counts a descent that is noticed: see [`LeafDirectory::note_descent`].
    #[cold]
    #[inline(never)]
    pub(crate) fn pay(&self, store: &Store, tree: &Tree) -> Result<()> {
        let paid = self.churn.descents.fetch_add(NOTICED, Ordering::Relaxed);
        if paid < self.churn.price.load(Ordering::Relaxed)
            || self.churn.building.swap(true, Ordering::Acquire)
        {
            return Ok(());
        }
        let built = self.build(store, tree);
        self.churn.building.store(false, Ordering::Release);
        built
    }

    /// Reads the pages above the leaves and writes the entries. One thread at a time.
    fn build(&self, store: &Store, tree: &Tree) -> Result<()> {
        self.churn.descents.store(0, Ordering::Relaxed);
        // Before the first page is read.
        let built_at = self.churn.frees.load(Ordering::Acquire);
        let Some(level) = descend::level_one(store, tree)?.filter(|level| fits(level.leaves)) else {
            self.shape.store(0, Ordering::Release);
            self.churn.price.store(UNFIT_PRICE, Ordering::Relaxed);
            return Ok(());
        };
        let price = level.leaves as u64 / ENTRIES_PER_DESCENT;
        if self.churn.price.swap(price, Ordering::Relaxed) < price / 2 {
            // The tree is far larger than what was paid for.
            return Ok(());
        }
        let skip = common_prefix_len(&level.second, &level.last);
        let mut leaves = Vec::with_capacity(level.leaves);
        descend::for_each_leaf(store, &level, |fence, page_no| {
            leaves.push((start_behind(fence, skip), page_no));
            leaves.len() < LEAVES_MAX
        })?;
        if fits(leaves.len()) {
            self.fill(store, &level, skip, &leaves);
            self.built_at.store(built_at, Ordering::Release);
        }
        Ok(())
    }

    fn fill(&self, store: &Store, level: &LevelOne, skip: usize, leaves: &[(u64, PageNo)]) {
        let array = leaves.len().div_ceil(LEAVES_MIN).next_power_of_two().ilog2() as usize;
        let Some(of_size) = self.arrays.get(array) else { return };
        let in_use = of_size.get_or_init(|| Array::new(LEAVES_MIN << array));
        self.shape.store(0, Ordering::Release);
        for (entry, &(start, page_no)) in in_use.entries.iter().zip(leaves) {
            entry.start.store(start, Ordering::Relaxed);
            entry.place.store(place(page_no, store.pool().frame_hint(page_no)), Ordering::Relaxed);
        }
        let (low, high) = (start_behind(&level.second, skip), start_behind(&level.last, skip));
        // From the second leaf to the last. Leaves whose starts hardly differ are bisected.
        let scale = ((leaves.len() as u128 - 2) << 64) / u128::from(high.saturating_sub(low).max(1));
        let scale = u64::try_from(scale).unwrap_or(0);
        let step_of = |at: usize| {
            let steps = leaves[at].0.saturating_sub(low);
            ((u128::from(steps) * u128::from(scale)) >> 64) as usize
        };
        let far_off = (1..leaves.len()).filter(|&at| (1 + step_of(at)).abs_diff(at) >= STEPS_MAX / 2).count();
        let uneven = if far_off > leaves.len() / UNEVEN_SHARE { UNEVEN } else { 0 };
        if uneven != 0 {
            in_use.fill_guide(leaves.len(), step_of);
        }
        self.skip.store(skip as u64, Ordering::Relaxed);
        self.low.store(low, Ordering::Relaxed);
        self.scale.store(scale, Ordering::Relaxed);
        self.shape.store((leaves.len() as u64) << 32 | uneven | array as u64, Ordering::Release);
    }
}

fn fits(leaves: usize) -> bool {
    (LEAVES_MIN..=LEAVES_MAX).contains(&leaves)
}

/// Searches a leaf if its fences enclose `key`.
#[inline]
fn search_if_enclosed(page: PageRef<'_>, key: &[u8]) -> Option<Search> {
    let at = page.search_leaf(key);
    page.covers_searched(key, at).then_some(at)
}

/// The last entry that does not start above `start`, if it is next to the guess.
#[inline(always)]
fn near(entries: &[Entry], guess: usize, start: u64) -> Option<&Entry> {
    let starts_above = |at: usize| entries[at].start.load(Ordering::Relaxed) > start;
    let mut at = guess.min(entries.len() - 1);
    for _ in 0..STEPS_MAX {
        if starts_above(at) {
            at = at.checked_sub(1)?;
        } else if at + 1 == entries.len() || starts_above(at + 1) {
            return entries.get(at);
        } else {
            at += 1;
        }
    }
    None
}

/// The last entry that does not start above `start`, or the first.
#[cold]
#[inline(never)]
fn last_not_above(entries: &[Entry], start: u64) -> &Entry {
    let above = entries.partition_point(|entry| entry.start.load(Ordering::Relaxed) <= start);
    &entries[above.saturating_sub(1)]
}

/// The first bytes of a key after the first `skip`, in the order of keys.
#[inline]
fn start_behind(key: &[u8], skip: usize) -> u64 {
    // Keys as long as integers as a rule, out of which the skipped bytes are shifted.
    let whole = if let Ok(four) = <[u8; 4]>::try_from(key) {
        u64::from(u32::from_be_bytes(four)) << 32
    } else if let Ok(eight) = <[u8; 8]>::try_from(key) {
        u64::from_be_bytes(eight)
    } else {
        return key.get(skip..).map_or(0, start_of);
    };
    whole.checked_shl(8 * skip as u32).unwrap_or(0)
}

/// The first bytes of a key, in the order of keys.
#[inline]
fn start_of(key: &[u8]) -> u64 {
    if let Some(start) = key.first_chunk::<8>() {
        return u64::from_be_bytes(*start);
    }
    if let Some((start, rest)) = key.split_first_chunk::<4>() {
        let rest = rest.iter().fold(0, |start, &byte| start << 8 | u64::from(byte)) << (8 * (4 - rest.len()));
        return u64::from(u32::from_be_bytes(*start)) << 32 | rest;
    }
    (0..8).fold(0, |start, at| start << 8 | u64::from(key.get(at).copied().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::prng::Prng;

    #[test]
    fn a_start_is_the_bytes_behind_what_is_skipped() {
        let key: Vec<u8> = (1..=20).collect();
        for (len, skip) in (0..=key.len()).flat_map(|len| (0..12).map(move |skip| (len, skip))) {
            let mut padded = [0; 8];
            let behind = key[..len].iter().skip(skip).take(8);
            padded.iter_mut().zip(behind).for_each(|(byte, behind)| *byte = *behind);
            assert_eq!(
                start_behind(&key[..len], skip),
                u64::from_be_bytes(padded),
                "{len} bytes, {skip} skipped"
            );
        }
    }

    #[test]
    fn a_guide_leads_next_to_the_leaf_where_starts_are_uneven() {
        let mut prng = Prng::new(11);
        for leaves in [2usize, 5, 64, 1000] {
            let mut starts: Vec<u64> = (0..leaves).map(|_| 1 + prng.below(1 << 20) * prng.below(3)).collect();
            starts[0] = 0;
            starts.sort_unstable();
            let array = Array::new(leaves.next_power_of_two());
            for (entry, &start) in array.entries.iter().zip(&starts) {
                entry.start.store(start, Ordering::Relaxed);
            }
            let (low, span) = (starts[1], (starts[leaves - 1] - starts[1]).max(1));
            let step_of = |start: u64| (start.saturating_sub(low) as usize * (leaves - 2)) / span as usize;
            array.fill_guide(leaves, |at| step_of(starts[at]));
            let (entries, mut near_by) = (&array.entries[..leaves], 0);
            for _ in 0..1000 {
                let start = prng.below(2 * starts[leaves - 1] + 2);
                let guessed = near(entries, array.guided(step_of(start)), start);
                let wanted = last_not_above(entries, start);
                assert!(guessed.is_none_or(|entry| std::ptr::eq(entry, wanted)), "{start} of {leaves}");
                near_by += usize::from(guessed.is_some());
            }
            assert!(near_by > 700, "{near_by} of 1000 guesses next to the entry, {leaves} leaves");
        }
    }
}
