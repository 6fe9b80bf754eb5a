//! Jumps within one leaf: groups that end before their leaf does need no descent of their own.

use std::ops::Range;

use engine::Batch;
use sql::plan::Take;

use super::End;
use crate::key_runs::first_not;

/// The ends of a stretch, over the key bytes after the parts that are skipped.
#[derive(Clone, Copy)]
pub(super) struct StretchEnds<'k> {
    pub(super) low: End,
    pub(super) high: End,
    pub(super) lower: &'k [u8],
    pub(super) upper: &'k [u8],
}

impl StretchEnds<'_> {
    /// Whether `rest` is at or above the lower end.
    pub(super) fn is_above(&self, rest: &[u8]) -> bool {
        match self.low {
            End::Open => true,
            End::Included => rest >= self.lower,
            End::Excluded => rest > self.lower && !rest.starts_with(self.lower),
        }
    }

    /// Whether `rest` is at or below the upper end.
    pub(super) fn is_below(&self, rest: &[u8]) -> bool {
        match self.high {
            End::Open => true,
            End::Included => rest < self.upper || rest.starts_with(self.upper),
            End::Excluded => rest < self.upper,
        }
    }
}

/// Returns the rows of `group`, positions in `batch` of rows that agree in their first `len` key bytes, that
/// lie between `ends`.
pub(super) fn stretch_in(
    batch: &Batch<'_>,
    group: Range<usize>,
    len: usize,
    ends: &StretchEnds<'_>,
) -> Range<usize> {
    let rest =
        |i: usize, test: &dyn Fn(&[u8]) -> bool| batch.row(i).record().with_key(|key| test(&key[len..]));
    let start = match ends.low {
        End::Open => group.start,
        _ => first_not(group.clone(), |i| rest(i, &|rest| !ends.is_above(rest))),
    };
    let end = match ends.high {
        End::Open => group.end,
        _ => first_not(start..group.end, |i| rest(i, &|rest| ends.is_below(rest))),
    };
    start..end
}

/// Returns the positions of the rows of `stretch` that `take` wants, each once. `first_not_null`: the first
/// one whose next part is not NULL.
pub(super) fn taken(take: Take, stretch: Range<usize>, first_not_null: Option<usize>) -> [Option<usize>; 3] {
    let Take::Ends { first, last, .. } = take else { return [None; 3] };
    let first = first.then_some(stretch.start);
    let last = last.then_some(stretch.end - 1).filter(|at| first != Some(*at));
    let not_null = first_not_null.filter(|at| first != Some(*at) && last != Some(*at));
    [first, last, not_null]
}
