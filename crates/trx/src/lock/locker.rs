//! A transaction's end of the lock table.

use std::fmt;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::sync::park::Wake;
use base::sync::wait_times::{WaitKind, timed};
use base::sync::{PlantedBug, planted};
use base::{IndexId, Lsn, TrxId};
use env::{Clock, RealClock};

use super::queue::Request;
use super::table::{GapId, Locks, Side, Wait, WaitState, WaitTarget};
use super::{LockMode, WaitPolicy};
use crate::commit_table::TrxOutcome;
use crate::error::Error;
use crate::read_view::ReadView;
use crate::slot::TrxSlot;
use crate::system::TrxSystem;
#[cfg(doc)]
use crate::transaction::Trx;
use crate::undo::UndoLog;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Attempt {
    /// The transaction has the lock. `new`: it is explicit and the transaction did not have it before.
    Granted {
        /// See above.
        new: bool,
    },
    /// Another has it, and SKIP LOCKED was asked for.
    Skipped,
    /// The request is queued. Let go of all latches, call [`Locker::wait`], and ask again.
    Wait,
}

/// A request for a row.
#[derive(Clone, Copy, Debug)]
pub struct RowRequest<'k> {
    /// The clustered index.
    pub index: IndexId,
    /// The row's clustered key.
    pub key: &'k [u8],
    /// The lock.
    pub mode: LockMode,
    /// The last writer of its record; [`TrxId::NONE`] if there is none.
    pub writer: TrxId,
    /// The lock stays if it is granted; else this only asks whether others leave the row alone, for a change
    /// that makes the transaction the writer before the latch goes.
    pub stays: bool,
    /// What to do if another has it.
    pub policy: WaitPolicy,
}

/// How often a waiting transaction checks that its client is still connected: the locks of a lost client
/// block others.
const CLIENT_LOOK: Duration = Duration::from_millis(250);

/// A transaction that locks.
#[derive(Clone, Copy)]
pub struct Locker<'t> {
    pub(crate) system: &'t TrxSystem,
    pub(crate) slot: &'t Arc<TrxSlot>,
    pub(crate) id: TrxId,
    pub(crate) timeout: Duration,
    pub(crate) interrupt: Option<&'t AtomicBool>,
}

impl fmt::Debug for Locker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locker").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Locker<'_> {
    /// The transaction.
    pub fn id(&self) -> TrxId {
        self.id
    }

    /// Ends the transaction, whose undo is `log` and whose commit is in the log up to `end`: what it did is
    /// visible from here on. [`Trx::note_committed`] is to follow once `log` is let go of.
    #[inline]
    pub fn end_committed(&self, log: &mut UndoLog, end: Lsn) {
        self.system.end_log(self.slot, log, TrxOutcome::Committed(end));
    }

    /// Whether the transaction may change the row. `changes`: how many it has made so far. Cost: two loads
    /// where the row is all-visible and no transaction has explicit locks.
    #[inline]
    pub fn try_write(
        &self,
        index: IndexId,
        key: &[u8],
        writer: TrxId,
        changes: u64,
    ) -> Result<Attempt, Error> {
        if !self.is_foreign(writer) && self.system.locks.is_row_free(index, key) {
            return Ok(Attempt::Granted { new: false });
        }
        let (mode, policy) = (LockMode::Exclusive, WaitPolicy::Wait);
        self.request(RowRequest { index, key, mode, writer, stays: false, policy }, changes)
    }

    /// Whether `writer` is another transaction that has not ended.
    #[inline]
    pub fn is_foreign(&self, writer: TrxId) -> bool {
        writer != self.id && self.system.is_in_progress(writer)
    }

    /// Asks for a row.
    /// # Errors  [`Error::LockNowait`], [`Error::Deadlock`], [`Error::ShuttingDown`].
    #[cold]
    pub fn request(&self, request: RowRequest<'_>, changes: u64) -> Result<Attempt, Error> {
        let RowRequest { index, key, mode, writer, stays, policy } = request;
        if planted(PlantedBug::UnprobedLock) {
            return Ok(Attempt::Granted { new: false });
        }
        let hash = Locks::hash(index, key);
        let mut locks = self.system.locks.lock();
        if writer != self.id && writer != TrxId::NONE {
            locks.convert(hash, index, key, writer, || self.system.is_in_progress(writer));
        }
        let queue = locks.queue(hash, index, key);
        if queue.as_ref().is_some_and(|queue| queue.holds(self.id, mode)) {
            return Ok(Attempt::Granted { new: false });
        }
        let is_free = queue.is_none_or(|queue| {
            let end = queue.requests.len();
            queue.blockers(self.id, mode, end).next().is_none()
        });
        if is_free {
            let new = stays && writer != self.id;
            if new {
                locks.add(hash, index, key, Request { trx: self.id, mode, granted: true });
            }
            return Ok(Attempt::Granted { new });
        }
        match policy {
            WaitPolicy::NoWait => return Err(Error::LockNowait),
            WaitPolicy::SkipLocked => return Ok(Attempt::Skipped),
            WaitPolicy::Wait => {}
        }
        locks.add(hash, index, key, Request { trx: self.id, mode, granted: false });
        self.begin_wait(locks, WaitTarget::Row { hash, index, key: key.into() }, changes)
    }

    /// Whether the transaction may insert the key into the index: no other has locked the gap. Cost: a load
    /// where no transaction has explicit locks.
    #[inline]
    pub fn try_insert(&self, index: IndexId, key: &[u8], changes: u64) -> Result<Attempt, Error> {
        if self.system.locks.is_index_free(index) {
            return Ok(Attempt::Granted { new: false });
        }
        self.request_insert(index, key, changes)
    }

    /// Whether the transaction may insert the key, that of no row, into the clustered `index`, as no explicit
    /// lock is near it. False: it must ask. Cost: two loads.
    #[inline]
    pub fn is_free(&self, index: IndexId, key: &[u8]) -> bool {
        self.system.locks.is_row_free(index, key) && self.system.locks.is_index_free(index)
    }

    #[cold]
    fn request_insert(&self, index: IndexId, key: &[u8], changes: u64) -> Result<Attempt, Error> {
        let locks = self.system.locks.lock();
        if locks.gap_holders(self.id, index, key).next().is_none() {
            return Ok(Attempt::Granted { new: false });
        }
        self.begin_wait(locks, WaitTarget::Gap { index, key: key.into() }, changes)
    }

    fn begin_wait(&self, mut locks: Locks<'_>, wanted: WaitTarget, changes: u64) -> Result<Attempt, Error> {
        let closed = locks.state.closed;
        let owner = locks.owner(self.id);
        owner.changes = changes;
        owner.wait = Some(Wait {
            wanted,
            state: WaitState::Yes,
            slot: Arc::clone(self.slot),
            since_ns: RealClock.monotonic_ns(),
        });
        let error = if closed {
            Error::ShuttingDown
        } else if locks.break_cycles(self.id) {
            return Ok(Attempt::Wait);
        } else {
            Error::Deadlock
        };
        self.give_up(&mut locks);
        Err(error)
    }

    fn give_up(&self, locks: &mut Locks<'_>) {
        locks.withdraw(self.id);
        locks.owner(self.id).wait = None;
    }

    /// Waits for what was asked for last. No latch is held.
    /// # Errors
    /// [`Error::LockWaitTimeout`], [`Error::Deadlock`], [`Error::Interrupted`], [`Error::ShuttingDown`].
    pub fn wait(&self) -> Result<(), Error> {
        debug_assert_eq!(base::sync::critical::depth(), 0, "a wait for a lock holds no latch");
        timed(WaitKind::Row, || self.wait_for_end())
    }

    fn wait_for_end(&self) -> Result<(), Error> {
        let deadline = env::deadline_in(self.timeout);
        let (mut timed_out, mut gone) = (false, false);
        loop {
            let ticket = self.slot.wake.ticket();
            {
                let mut locks = self.system.locks.lock();
                let closed = locks.state.closed;
                // At shutdown the transaction may be gone already.
                let Some(owner) = locks.state.owners.get_mut(&self.id) else {
                    return Err(Error::ShuttingDown);
                };
                let state = owner.wait.as_ref().map_or(WaitState::Granted, |wait| wait.state);
                if state != WaitState::Yes && !closed {
                    owner.wait = None;
                    return if state == WaitState::Victim { Err(Error::Deadlock) } else { Ok(()) };
                }
                let interrupted = gone || self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
                if closed || interrupted || timed_out {
                    self.give_up(&mut locks);
                    return Err(match (closed, interrupted) {
                        (true, _) => Error::ShuttingDown,
                        (_, true) => Error::Interrupted,
                        _ => Error::LockWaitTimeout,
                    });
                }
            }
            let look =
                if self.slot.has_client() { env::deadline_in(CLIENT_LOOK).min(deadline) } else { deadline };
            if self.slot.wake.wait(ticket, Some(look)) == Wake::TimedOut {
                timed_out = look == deadline;
                gone = self.slot.client_is_gone();
            }
        }
    }

    /// Keeps the transaction's lock on a row whose change it is about to take back, or whose leaf it is about
    /// to let go of.
    pub fn keep_row(&self, index: IndexId, key: &[u8]) {
        let hash = Locks::hash(index, key);
        let mut locks = self.system.locks.lock();
        if !locks.queue(hash, index, key).is_some_and(|queue| queue.holds(self.id, LockMode::Exclusive)) {
            locks.add(hash, index, key, Request { trx: self.id, mode: LockMode::Exclusive, granted: true });
        }
    }

    /// Gives up the lock on a row that [`Attempt::Granted`] said was new: it was not what the statement
    /// searched for.
    pub fn release_row(&self, index: IndexId, key: &[u8], mode: LockMode) {
        let hash = Locks::hash(index, key);
        let mut locks = self.system.locks.lock();
        locks.remove(hash, self.id, |queue, request| {
            request.granted && request.mode == mode && queue.index == index && *queue.key == *key
        });
    }

    /// Locks the keys between the bounds against inserts.
    pub fn lock_gap(&self, index: IndexId, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> GapId {
        self.system.locks.lock().add_gap(self.id, index, lower, upper)
    }

    /// Moves an end of a gap lock outwards.
    pub fn extend_gap(&self, index: IndexId, gap: GapId, side: Side, to: Bound<&[u8]>) {
        self.system.locks.lock().extend_gap(index, gap, side, to);
    }
}

/// How a statement locks what it reads; [`Locker`] that borrows nothing from the transaction.
#[derive(Clone)]
pub struct LockRead {
    pub(crate) system: Arc<TrxSystem>,
    pub(crate) slot: Arc<TrxSlot>,
    pub(crate) id: TrxId,
    pub(crate) timeout: Duration,
    pub(crate) interrupt: Option<Arc<AtomicBool>>,
    /// The lock on rows.
    pub mode: LockMode,
    /// What to do about rows that others have locked.
    pub policy: WaitPolicy,
    /// Whether gaps are locked, too.
    pub gaps: bool,
    /// Of a row that another has locked, what was committed is read first: see `engine::LockingScan`.
    /// Only for one who keeps versions ([`crate::Trx::keep_versions`]).
    pub semi_consistent: bool,
    /// See [`RowLocker::snapshot`].
    pub(crate) snapshot: Option<ReadView>,
    /// Changes that the transaction had made when the statement began.
    pub(crate) changes: u64,
}

impl fmt::Debug for LockRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("LockRead");
        out.field("id", &self.id).field("mode", &self.mode).field("policy", &self.policy);
        out.field("gaps", &self.gaps).finish_non_exhaustive()
    }
}

impl LockRead {
    /// The transaction that locks.
    pub fn locker(&self) -> Locker<'_> {
        Locker {
            system: &self.system,
            slot: &self.slot,
            id: self.id,
            timeout: self.timeout,
            interrupt: self.interrupt.as_deref(),
        }
    }

    /// How rows are locked.
    pub fn rows(&self) -> RowLocker<'_> {
        RowLocker {
            locker: self.locker(),
            mode: self.mode,
            policy: self.policy,
            changes: self.changes,
            snapshot: self.snapshot.as_ref(),
        }
    }
}

/// A transaction that locks rows in one way.
#[derive(Clone, Copy, Debug)]
pub struct RowLocker<'t> {
    /// The transaction that locks.
    pub locker: Locker<'t>,
    /// The lock.
    pub mode: LockMode,
    /// What to do about rows that others have locked.
    pub policy: WaitPolicy,
    /// Changes that the transaction has made.
    pub changes: u64,
    /// The view that must see a row's newest version; `None`: any may be locked.
    pub snapshot: Option<&'t ReadView>,
}

impl RowLocker<'_> {
    /// Asks for a row whose leaf is latched, to the end of the transaction; see [`Locker::request`].
    pub fn request(&self, index: IndexId, key: &[u8], writer: TrxId) -> Result<Attempt, Error> {
        let RowLocker { mode, policy, changes, .. } = *self;
        self.locker.request(RowRequest { index, key, mode, writer, stays: true, policy }, changes)
    }

    /// Whether the row's newest version, by a `writer` that has ended, is one that must not be locked: see
    /// [`RowLocker::snapshot`].
    #[inline]
    pub fn refuses(&self, writer: TrxId) -> bool {
        self.snapshot.is_some_and(|view| !view.sees(self.locker.system, writer))
    }

    /// Asks for a row whose leaf is not latched, and which `writer` had locked a moment ago: what is granted
    /// at once does not stay. Wait, or check again.
    pub fn request_unlatched(&self, index: IndexId, key: &[u8], writer: TrxId) -> Result<Attempt, Error> {
        let RowLocker { mode, policy, changes, .. } = *self;
        self.locker.request(RowRequest { index, key, mode, writer, stays: false, policy }, changes)
    }
}
