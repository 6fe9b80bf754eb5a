//! Mistakes in the making of key intervals that tests make on purpose: the comparison of ranges with scans
//! has to find them.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeBug {
    /// An open end is treated as a closed one.
    ClosedEnd,
    /// NULL in a list of rows finds NULL.
    NullInRow,
    /// The key of a prefix is made as if the column's collation did not pad with spaces.
    UnpaddedPrefix,
}

/// Whether the code makes the mistake `bug`.
#[cfg(not(test))]
#[inline(always)]
pub(crate) const fn is_planted(_bug: RangeBug) -> bool {
    false
}

#[cfg(test)]
pub(crate) use planted::{is_planted, plant};

#[cfg(test)]
mod planted {
    use std::cell::Cell;

    use super::RangeBug;

    thread_local! {
        static PLANTED: Cell<Option<RangeBug>> = const { Cell::new(None) };
    }

    pub(crate) fn is_planted(bug: RangeBug) -> bool {
        PLANTED.get() == Some(bug)
    }

    /// Plants `bug`, or none, in this thread.
    pub(crate) fn plant(bug: Option<RangeBug>) {
        PLANTED.set(bug);
    }
}
