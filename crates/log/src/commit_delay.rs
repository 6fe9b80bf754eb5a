//! How long the leader of a group commit waits for more committers before it syncs.
//!
//! Clients that commit again and again fall into two groups otherwise, each of which comes while the other
//! one's sync runs: every client waits for two syncs, and half as many share each. Committers that the last
//! sync released, and those that came while it ran, are likely to be back soon. The leader waits for that
//! many, at most for half of the time that a sync takes, and less often after a wait without a new committer.
//! A single committer does not wait. (PostgreSQL's manual, 28.5, finds half of a sync's time the best value
//! of its `commit_delay`, which is fixed.)

use std::time::{Duration, Instant};

use base::sync::Event;
use base::sync::atomic::{AtomicU64, Ordering};
use env::{Clock, RealClock};

/// To wait less than this costs more than the sync it may save.
const DELAY_MIN_NS: u64 = 50_000;

/// One sync that takes much longer than the ones before does not make the next leader wait as long.
const SYNC_STEP_NS: u64 = 1_000_000;

/// How long a sync takes in a model, where no time goes by.
const MODEL_SYNC_NS: Option<u64> = if cfg!(loom) { Some(1_000_000) } else { None };

/// After this number of vain delays in a row, one sync in 2 to this power is delayed.
const MISSES_MAX: u32 = 6;

/// Counts the threads that wait for durability, for the leader that waits for more of them.
#[derive(Debug, Default)]
pub(crate) struct CommitWaiters {
    count: AtomicU64,
    /// The committer that raises `count` to this value wakes the leader.
    awaited: AtomicU64,
    all_here: Event,
}

impl CommitWaiters {
    /// One more thread is about to wait for durability. Its frame is in the ring.
    pub(crate) fn add(&self) {
        // SeqCst, here and in `wait_for`: either this thread sees what is awaited, or the leader sees this
        // thread.
        let count = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        if count == self.awaited.load(Ordering::SeqCst) {
            self.all_here.notify_all();
        }
    }

    /// Committers that came since the log was opened.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Waits until `count` have come. False if the time was up before. For the leader alone.
    fn wait_for(&self, count: u64, deadline: Option<Instant>) -> bool {
        let ticket = self.all_here.ticket();
        self.awaited.store(count, Ordering::SeqCst);
        if self.count() < count {
            self.all_here.wait(ticket, deadline);
        }
        self.count() >= count
    }
}

/// What the leader knows about earlier syncs. Belongs to the holder of the writer.
#[derive(Debug, Default)]
pub(crate) struct CommitDelay {
    /// Committers that had come when the leader of the last sync began.
    covered: u64,
    /// Committers that the last sync released, and those that came while it ran.
    group: u64,
    /// Committers that had come when the current leader began.
    begun: u64,
    /// How long a sync takes.
    sync_ns: u64,
    /// Delays in a row after which not all had come.
    misses: u32,
    /// Syncs left that are not delayed.
    pause: u32,
}

impl CommitDelay {
    /// A leader begins: waits for the committers that are likely to come.
    pub(crate) fn gather(&mut self, waiters: &CommitWaiters) {
        self.wait_for_group(waiters);
        self.begun = waiters.count();
    }

    fn wait_for_group(&mut self, waiters: &CommitWaiters) {
        let awaited = self.covered + self.group;
        let longest_ns = self.sync_ns / 2;
        if waiters.count() >= awaited || longest_ns < DELAY_MIN_NS {
            return;
        }
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        self.wait(waiters, awaited, Duration::from_nanos(longest_ns));
    }

    /// Out of line: a single committer does not wait.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, waiters: &CommitWaiters, awaited: u64, longest: Duration) {
        if waiters.wait_for(awaited, Some(env::deadline_in(longest))) {
            self.misses = 0;
        } else {
            self.misses = (self.misses + 1).min(MISSES_MAX);
            self.pause = (1 << self.misses) - 1;
        }
    }

    /// When a sync begins, if its time is measured. A thread that commits alone reads no clock.
    pub(crate) fn begun_ns(&self) -> Option<u64> {
        self.has_other_committers().then(monotonic_ns)
    }

    /// Whether more than one commits.
    fn has_other_committers(&self) -> bool {
        self.group > 1 || self.begun - self.covered > 1
    }

    /// The leader's sync is over.
    pub(crate) fn synced(&mut self, waiters: &CommitWaiters) {
        self.group = waiters.count() - self.covered;
        self.covered = self.begun;
    }

    /// The sync that is over began then.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_sync_time(&mut self, begun_ns: u64) {
        self.sync_took(MODEL_SYNC_NS.unwrap_or_else(|| monotonic_ns() - begun_ns));
    }

    fn sync_took(&mut self, took_ns: u64) {
        self.sync_ns = took_ns.min(2 * self.sync_ns + SYNC_STEP_NS);
    }
}

#[cold]
#[inline(never)]
fn monotonic_ns() -> u64 {
    RealClock.monotonic_ns()
}

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
