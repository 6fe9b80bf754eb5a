//! Metadata locks: a table's definition stays while a transaction uses it.
//!
//! Shared for every statement, kept to the transaction's end; exclusive for DDL statements and LOCK
//! TABLES ... WRITE. Shared holders say whether they change rows: LOCK TABLES ... READ keeps those out, and
//! waits for them. A shared lock costs one compare-and-exchange. A session that already holds metadata locks
//! passes a waiting (not a granted) request to keep it out, so that two sessions cannot wait for each other;
//! one that holds none queues behind it, for a moment or, behind LOCK TABLES, until it has its turn
//! ([`requests`]).

use std::sync::Arc;
use std::time::Duration;

use base::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use base::sync::plain::{Condvar, Mutex, MutexGuard};
use base::sync::wait_times::{WaitKind, timed};
use env::{Clock, RealClock};

use crate::client::{Client, TableWaiter};
use crate::deadline::Deadline;
use crate::error::Error;

use requests::{Request, Requests};

mod requests;

const EXCLUSIVE: u64 = 1 << 63;
/// A transaction waits for an exclusive lock, and keeps new requests out.
const PENDING: u64 = 1 << 62;
/// A transaction waits for row changers to end, and keeps new ones out.
const PENDING_READ_ONLY: u64 = 1 << 61;
/// A session has the table for itself by LOCK TABLES ... WRITE.
const OWNED: u64 = 1 << 60;
/// A transaction waits for shared holders to end, and they wake it.
const WAITED: u64 = 1 << 59;
/// One who keeps others from changing rows.
const READ_ONLY: u64 = 1 << 40;
const READ_ONLYS: u64 = WAITED - READ_ONLY;
/// A shared holder that changes rows.
const WRITER: u64 = 1 << 20;
const WRITERS: u64 = READ_ONLY - WRITER;
/// One who shares.
const SHARED: u64 = 1;
const SHARERS: u64 = WRITER - SHARED;

/// A session that waits looks this often whether it is to stop.
const LOOK: Duration = Duration::from_millis(50);

/// A transaction's use of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableUse {
    /// It reads rows.
    Read,
    /// It changes rows, or locks them to do so.
    Write,
    /// It removes what no view sees, also while a session has the table for itself.
    Purge,
}

impl TableUse {
    /// What it counts for.
    #[inline]
    fn count(self) -> u64 {
        match self {
            TableUse::Read | TableUse::Purge => SHARED,
            TableUse::Write => SHARED | WRITER,
        }
    }

    /// What keeps it out.
    #[inline]
    fn blockers(self, may_pass: bool) -> u64 {
        match (self, may_pass) {
            (TableUse::Read, true) => EXCLUSIVE | OWNED,
            (TableUse::Read, false) => EXCLUSIVE | OWNED | PENDING,
            (TableUse::Write, true) => EXCLUSIVE | OWNED | READ_ONLYS,
            (TableUse::Write, false) => EXCLUSIVE | OWNED | READ_ONLYS | PENDING | PENDING_READ_ONLY,
            (TableUse::Purge, _) => EXCLUSIVE,
        }
    }
}

/// How long to wait for an exclusive lock, and for which holders.
#[derive(Clone, Debug)]
pub struct ExclusiveWait {
    /// How long.
    pub timeout: Duration,
    /// The session that asks; 0: one that locks no tables. One that has the table locked for writing has what
    /// it asks for.
    pub session: u64,
    /// Its client: the wait ends when that is killed or gone.
    pub client: Option<Arc<dyn Client>>,
}

impl From<Duration> for ExclusiveWait {
    fn from(timeout: Duration) -> Self {
        ExclusiveWait { timeout, session: 0, client: None }
    }
}

/// The lock of one table. Lives as long as the table's identity, over all versions of its definition.
#[derive(Debug, Default)]
pub struct MetadataLock {
    state: AtomicU64,
    /// The session that has the table for itself; 0: none.
    owner: AtomicU64,
    /// A rebuild of the table waits for readers to end.
    rebuild_waits: AtomicBool,
    /// Held by threads that begin to wait, and by threads that wake them.
    requests: Mutex<Requests>,
    changed: Condvar,
}

impl MetadataLock {
    /// Takes a shared lock if no lock conflicts, or (unless `may_pass`) no waiting request does.
    #[inline]
    pub fn try_shared(&self, use_: TableUse, may_pass: bool) -> bool {
        self.try_add(use_.count(), use_.blockers(may_pass))
    }

    #[inline]
    fn try_add(&self, count: u64, blockers: u64) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while state & blockers == 0 {
            // Acquire pairs with the release in `unlock_exclusive`: the new definition is seen.
            let added = state + count;
            match self.state.compare_exchange_weak(state, added, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    /// Whether a transaction waits for the exclusive lock and keeps new requests out.
    pub fn is_wanted(&self) -> bool {
        self.state.load(Ordering::Relaxed) & PENDING != 0
    }

    /// Takes a shared lock, waiting up to `timeout`.
    pub fn lock_shared(&self, use_: TableUse, may_pass: bool, timeout: Duration) -> Result<(), Error> {
        self.share(timeout, None, || self.try_shared(use_, may_pass))
    }

    /// As [`MetadataLock::lock_shared`]; ends with the error of `look`, which is called before each sleep:
    /// now and then, when another thread gives up the lock, and when a rebuild begins to wait for readers.
    pub(crate) fn lock_shared_unless(
        &self,
        use_: TableUse,
        may_pass: bool,
        timeout: Duration,
        look: &dyn Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.share(timeout, Some(look), || self.try_shared(use_, may_pass))
    }

    /// Makes the caller's lock for reading one for writing; `look` as above.
    pub(crate) fn upgrade(
        &self,
        timeout: Duration,
        look: &dyn Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.share(timeout, Some(look), || self.try_add(WRITER, READ_ONLYS))
    }

    /// Whether a rebuild of the table waits for all shared holders, and blocks row changes.
    pub(crate) fn rebuild_waits(&self) -> bool {
        self.rebuild_waits.load(Ordering::Relaxed)
    }

    /// Waits until `take` succeeds or the client of `wait` wants it no more, keeping newcomers out as
    /// `request` does.
    fn request(
        &self,
        request: Request,
        wait: &ExclusiveWait,
        mut take: impl FnMut() -> bool,
    ) -> Result<(), Error> {
        if take() {
            return Ok(());
        }
        let is_to_stop = |client: &dyn Client| client.is_killed() || client.is_gone();
        let look = || match &wait.client {
            Some(client) if is_to_stop(&**client) => Err(Error::Interrupted),
            _ => Ok(()),
        };
        timed(WaitKind::TableChange, || {
            let _waiter = TableWaiter::new(wait.client.clone());
            let mut requests = self.requests.lock();
            requests.begin(request);
            let taken = self.wait_for_change(&mut requests, wait.timeout, Some(&look), take);
            requests.end(request, taken.is_ok());
            self.mark(&mut requests);
            taken
        })
    }

    /// Brings the state's marks up to date; for how long they are so. Wakes the waiters that no mark keeps
    /// out any more.
    fn mark(&self, requests: &mut Requests) -> Duration {
        let now = requests.marks(now());
        let set = |state| Some(state & !Requests::MARKS | now.marks);
        let before = self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, set);
        let gone = before.unwrap_or_else(|state| state) & !now.marks;
        if gone & (PENDING | PENDING_READ_ONLY) != 0 {
            self.changed.notify_all();
        }
        now.lasting
    }

    /// Waits for a shared lock until `take` succeeds or `look` fails.
    fn share(
        &self,
        timeout: Duration,
        look: Option<&dyn Fn() -> Result<(), Error>>,
        mut take: impl FnMut() -> bool,
    ) -> Result<(), Error> {
        if take() {
            return Ok(());
        }
        timed(WaitKind::TableUse, || self.wait_for_change(&mut self.requests.lock(), timeout, look, take))
    }

    fn wait_for_change(
        &self,
        requests: &mut MutexGuard<'_, Requests>,
        timeout: Duration,
        look: Option<&dyn Fn() -> Result<(), Error>>,
        mut take: impl FnMut() -> bool,
    ) -> Result<(), Error> {
        let deadline = Deadline::after(timeout);
        loop {
            let lasting = self.mark(requests);
            if take() {
                return Ok(());
            }
            look.map_or(Ok(()), |look| look())?;
            let slice = if look.is_some() { lasting.min(LOOK) } else { lasting };
            if deadline.wait_up_to(slice, &self.changed, requests) {
                return if take() { Ok(()) } else { Err(Error::LockWaitTimeout) };
            }
        }
    }

    /// Gives a shared lock back.
    #[inline]
    pub fn unlock_shared(&self, use_: TableUse) {
        // Release pairs with the acquire in `lock_exclusive`: uses of the old definition come before the
        // change.
        let before = self.state.fetch_sub(use_.count(), Ordering::Release);
        debug_assert!(before & SHARERS != 0, "metadata lock is not held");
        if before & WAITED != 0 {
            self.wake();
        }
    }

    /// Keeps others from changing rows, if none does so now.
    pub(crate) fn try_read_only(&self) -> bool {
        self.try_add(SHARED | READ_ONLY, EXCLUSIVE | OWNED | PENDING | WRITERS)
    }

    /// As [`MetadataLock::try_read_only`], waiting as long as `wait` says.
    pub fn lock_read_only(&self, wait: &ExclusiveWait) -> Result<(), Error> {
        self.request(Request::ReadOnly, wait, || self.try_read_only())
    }

    /// As [`MetadataLock::lock_read_only`], and excludes others that block row changes: one rebuild of a
    /// table runs at a time. The session of `wait` may have the table for itself: it passes waiting exclusive
    /// requests, because they wait for that session.
    pub fn lock_for_rebuild(&self, wait: &ExclusiveWait) -> Result<(), Error> {
        let passes = if self.is_owned_by(wait.session) { OWNED | PENDING } else { 0 };
        let blockers = (EXCLUSIVE | OWNED | PENDING | WRITERS | READ_ONLYS) & !passes;
        self.request(Request::Rebuild, wait, || self.try_add(SHARED | READ_ONLY, blockers))
    }

    /// Makes the caller's lock of [`MetadataLock::lock_for_rebuild`] the exclusive one, waiting as long as
    /// `wait` says. After an error the caller still has the lock that it had.
    pub fn make_exclusive(&self, wait: &ExclusiveWait) -> Result<(), Error> {
        let passes = if self.is_owned_by(wait.session) { OWNED } else { 0 };
        let take = || self.try_exclusive(SHARED | READ_ONLY, passes, EXCLUSIVE);
        if take() {
            return Ok(());
        }
        self.rebuild_waits.store(true, Ordering::Relaxed);
        // Waiting writers check whether this closes a cycle.
        self.wake();
        let locked = self.request(Request::Change, wait, take);
        self.rebuild_waits.store(false, Ordering::Relaxed);
        locked
    }

    /// Downgrades the caller's lock of [`MetadataLock::lock_for_rebuild`] to a writer's: other sessions may
    /// write, and none can take the lock that excludes writers.
    pub fn admit_writers(&self) {
        self.state.fetch_sub(READ_ONLY - WRITER, Ordering::Release);
        self.set_build_goes_on(true);
    }

    /// [`MetadataLock::make_exclusive`] of what [`MetadataLock::admit_writers`] has left. A session that
    /// holds other metadata locks passes this request, so it cannot be part of a cycle. After an error the
    /// caller still has the lock that it had.
    pub fn make_exclusive_from_writer(&self, wait: &ExclusiveWait) -> Result<(), Error> {
        let passes = if self.is_owned_by(wait.session) { OWNED } else { 0 };
        let take = || self.try_exclusive(TableUse::Write.count(), passes, EXCLUSIVE);
        let locked = self.request(Request::EndOfBuild, wait, take);
        if locked.is_ok() {
            self.set_build_goes_on(false);
        }
        locked
    }

    /// Gives back what [`MetadataLock::admit_writers`] has left.
    pub fn end_build(&self) {
        self.unlock_shared(TableUse::Write);
        self.set_build_goes_on(false);
    }

    fn set_build_goes_on(&self, goes_on: bool) {
        let mut requests = self.requests.lock();
        requests.set_build_goes_on(goes_on);
        self.mark(&mut requests);
        self.changed.notify_all();
    }

    /// Lets others change rows.
    pub fn unlock_read_only(&self) {
        self.state.fetch_sub(SHARED | READ_ONLY, Ordering::Release);
        self.wake();
    }

    /// Takes the exclusive lock, waiting as long as `wait` says. The caller shares no metadata lock on this
    /// table.
    pub fn lock_exclusive(&self, wait: &ExclusiveWait) -> Result<(), Error> {
        let passes = if self.is_owned_by(wait.session) { OWNED } else { 0 };
        self.request(Request::Change, wait, || self.try_exclusive(0, passes, EXCLUSIVE))
    }

    /// Sets `mark` in place of the caller's lock `own` if no other transaction has any lock except those in
    /// `passes`.
    fn try_exclusive(&self, own: u64, passes: u64, mark: u64) -> bool {
        let blockers = (EXCLUSIVE | OWNED | SHARERS) & !passes;
        let mut state = self.state.load(Ordering::Relaxed);
        // Again when the state has changed: another waiter's mark is no reason to wait, and setting a mark
        // wakes no thread.
        while (state - own) & blockers == 0 {
            let taken = (state - own) | mark;
            match self.state.compare_exchange(state, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    /// Gives the exclusive lock back.
    pub fn unlock_exclusive(&self) {
        let before = self.state.fetch_and(!EXCLUSIVE, Ordering::Release);
        debug_assert!(before & EXCLUSIVE != 0, "metadata lock is not held exclusively");
        self.wake();
    }

    /// Gives `session` the table for itself, if no thread uses it.
    pub(crate) fn try_own(&self, session: u64) -> bool {
        let owns = self.try_exclusive(0, 0, OWNED);
        if owns {
            self.owner.store(session, Ordering::Relaxed);
        }
        owns
    }

    /// As [`MetadataLock::try_own`] for the session of `wait`, waiting as long as that says.
    pub fn own(&self, wait: &ExclusiveWait) -> Result<(), Error> {
        self.request(Request::Own, wait, || self.try_own(wait.session))
    }

    /// Whether `session`, which asks itself, has the table for itself.
    pub fn is_owned_by(&self, session: u64) -> bool {
        session != 0 && self.owner.load(Ordering::Relaxed) == session
    }

    /// Allows others to use the table again.
    pub fn disown(&self) {
        self.owner.store(0, Ordering::Relaxed);
        self.state.fetch_and(!OWNED, Ordering::Release);
        self.wake();
    }

    #[cold]
    fn wake(&self) {
        // The mutex orders this after a waiter's check, so that no wake-up is lost.
        drop(self.requests.lock());
        self.changed.notify_all();
    }
}

/// The monotonic clock, in nanoseconds; under the model checker it stands still.
fn now() -> u64 {
    if cfg!(loom) { 1 << 40 } else { RealClock.monotonic_ns() }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(test)]
mod tests;
