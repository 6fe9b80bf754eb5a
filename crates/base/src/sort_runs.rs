//! Sorting in short runs that are merged as they are read, so that a long sort can end early: between two
//! runs, and whenever the reader of the merge stops. The sorts of the standard library cannot be stopped, and
//! their comparison must not lie to end them.

use std::cmp::Ordering;
use std::ops::Range;

use crate::loser_tree::LoserTree;

/// Most entries of a run.
const RUN_ENTRIES_MAX: usize = 16 * 1024;
/// Most key bytes of a run of several entries. A run is sorted in a few milliseconds.
const RUN_KEY_BYTES_MAX: usize = 1 << 20;

/// Sorts `entries` in runs; the range of each run. One run is the whole sort. `key_bytes`: what an entry's
/// comparison reads, at most. `look` is asked before each run.
///
/// # Errors
/// Those of `look`, which end the sort.
pub fn sort_runs<T, E>(
    entries: &mut [T],
    key_bytes: impl Fn(&T) -> usize,
    mut compare: impl FnMut(&T, &T) -> Ordering,
    mut look: impl FnMut() -> Result<(), E>,
) -> Result<Vec<Range<usize>>, E> {
    let mut runs = Vec::new();
    let mut start = 0;
    while start < entries.len() {
        look()?;
        let (mut end, mut bytes) = (start, 0);
        while end < entries.len()
            && end - start < RUN_ENTRIES_MAX
            && (bytes < RUN_KEY_BYTES_MAX || end == start)
        {
            bytes += key_bytes(&entries[end]);
            end += 1;
        }
        entries[start..end].sort_unstable_by(&mut compare);
        runs.push(start..end);
        start = end;
    }
    Ok(runs)
}

/// The entries of sorted runs, in order. Cost: log2(runs) comparisons an entry; none for a single run.
#[derive(Debug)]
pub struct Merge<'e, T, C> {
    entries: &'e [T],
    compare: C,
    /// The rest of each run.
    runs: Vec<Range<usize>>,
    order: LoserTree<()>,
}

impl<'e, T, C: FnMut(&T, &T) -> Ordering> Merge<'e, T, C> {
    /// Merges `runs`, as [`sort_runs`] has made them with the same order. Entries of different runs are never
    /// equal in it.
    pub fn new(entries: &'e [T], mut runs: Vec<Range<usize>>, mut compare: C) -> Self {
        if runs.is_empty() {
            runs.push(0..0);
        }
        let order =
            LoserTree::new(runs.iter().map(drop), |a, b| is_less(entries, &runs[a], &runs[b], &mut compare));
        Merge { entries, compare, runs, order }
    }
}

/// Whether run `a` has the lesser first entry. A run at its end has none.
fn is_less<T>(
    entries: &[T],
    a: &Range<usize>,
    b: &Range<usize>,
    mut compare: impl FnMut(&T, &T) -> Ordering,
) -> bool {
    !a.is_empty() && (b.is_empty() || compare(&entries[a.start], &entries[b.start]) == Ordering::Less)
}

impl<'e, T, C: FnMut(&T, &T) -> Ordering> Iterator for Merge<'e, T, C> {
    type Item = &'e T;

    fn next(&mut self) -> Option<&'e T> {
        let Merge { entries, compare, runs, order } = self;
        let entry = &entries[runs[order.winner()].next()?];
        order.replay((), |a, b| is_less(entries, &runs[a], &runs[b], &mut *compare));
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prng::Prng;

    /// Entries of a key and their place among all.
    type Entry = (Vec<u8>, usize);

    fn key_bytes(entry: &Entry) -> usize {
        entry.0.len()
    }

    #[test]
    fn merged_runs_are_the_whole_in_stable_order() {
        let mut prng = Prng::new(7);
        let shapes = [
            (0, 4),
            (1, 4),
            (RUN_ENTRIES_MAX, 2),
            (RUN_ENTRIES_MAX * 9 / 2, 2),
            (40, RUN_KEY_BYTES_MAX / 3),
            (5, RUN_KEY_BYTES_MAX),
        ];
        for (count, len) in shapes {
            let mut entries: Vec<Entry> = (0..count).map(|i| (vec![prng.below(200) as u8; len], i)).collect();
            let mut expected = entries.clone();
            expected.sort_unstable();
            let runs = sort_runs(&mut entries, key_bytes, Entry::cmp, || Ok::<(), ()>(())).unwrap();
            let merged = Merge::new(&entries, runs.clone(), Entry::cmp);
            assert!(merged.eq(&expected), "{count} keys of {len} bytes in {} runs", runs.len());
        }
    }

    #[test]
    fn a_sort_ends_between_two_runs() {
        let mut entries: Vec<Entry> = (0..RUN_ENTRIES_MAX * 4).map(|i| (vec![i as u8], i)).collect();
        let mut looks = 0;
        let ended = sort_runs(&mut entries, key_bytes, Entry::cmp, || {
            looks += 1;
            if looks == 3 { Err("ended") } else { Ok(()) }
        });
        assert_eq!((ended, looks), (Err("ended"), 3));
    }
}
