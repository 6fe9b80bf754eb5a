//! Row and gap locks: what others may not change or insert until a transaction ends.
//!
//! ```text
//!  a row's lock    implicit: the id in its clustered record is in progress      nothing is stored
//!                  explicit: a request in the queue of (index, clustered key)   granted, or waiting in order of arrival
//!  a gap's lock    a stretch of an index's keys into which others do not insert
//! ```
//! Rows are locked by their clustered key, whichever index led to them. Gap locks do not exclude each other;
//! they belong to the index that was read.
//!
//! # Protocol
//! 1. A lock is asked for under the latch of the leaf that has the record, or would have it. A grant counts
//!    before the latch is released, so that a writer that latches the leaf next finds it: the tests that need
//!    no mutex are sound.
//! 2. No thread waits while it holds a latch. A request that has to wait is queued under the latch; the
//!    caller lets go, calls [`Locker::wait`], descends again and asks again. Everything may have changed
//!    meanwhile.
//! 3. A transaction that has to wait for an implicit lock first makes it explicit for its holder. The holder
//!    counts as in progress until its end is public, and searches for locks made in its name after that.
//! 4. A deadlock is detected when the last wait of its cycle begins.

mod deadlock;
mod locker;
mod queue;
mod report;
mod table;

#[cfg(test)]
mod tests;

pub use locker::{Attempt, LockRead, Locker, RowLocker, RowRequest};
pub use report::{Deadlock, DeadlockMember, LockInfo, LockKind, LockReport, OwnerInfo, WaitInfo};
pub use table::{GapId, Side};

pub(crate) use table::LockTable;

/// How much others are kept out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// FOR SHARE, checks of duplicates and foreign keys.
    Shared,
    /// FOR UPDATE and writes.
    Exclusive,
}

impl LockMode {
    /// Whether two transactions cannot have these locks on one row.
    #[inline]
    fn conflicts(self, other: LockMode) -> bool {
        self == LockMode::Exclusive || other == LockMode::Exclusive
    }
}

/// What to do about a lock that is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Wait up to the transaction's lock wait timeout.
    #[default]
    Wait,
    /// Fail with [`crate::Error::LockNowait`].
    NoWait,
    /// Answer [`Attempt::Skipped`].
    SkipLocked,
}
