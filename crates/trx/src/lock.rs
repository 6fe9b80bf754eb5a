//! Row and interval locks: lasting signatures over this stage's policy, one writer at a time.
//!
//! Every exclusive or shared row lock stands for the writer token, so whoever holds a lock is the only one who may
//! change rows, and everything committed is final. NOWAIT and SKIP LOCKED do not wait for the token.

use std::sync::Arc;
use std::time::Duration;

use base::IndexId;
use base::sync::plain::{Condvar, Mutex};

use crate::deadline::Deadline;
use crate::error::Error;
use crate::slot::TrxSlot;
use crate::transaction::Trx;

/// How much others are kept out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// FOR SHARE, checks of duplicates and foreign keys.
    Shared,
    /// FOR UPDATE and writes.
    Exclusive,
}

/// What to do about a lock that is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Wait up to the transaction's lock wait timeout.
    #[default]
    Wait,
    /// Fail with [`Error::LockNowait`].
    NoWait,
    /// Answer [`LockOutcome::Skipped`].
    SkipLocked,
}

/// Whether the caller has the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum LockOutcome {
    /// It has.
    Granted,
    /// Another holds it and SKIP LOCKED was asked for.
    Skipped,
}

/// A locked stretch of an index, both ends included; an end left out is infinite.
#[derive(Clone, Copy, Debug)]
pub struct Interval<'a> {
    /// Lowest key.
    pub lower: Option<&'a [u8]>,
    /// Highest key.
    pub upper: Option<&'a [u8]>,
}

/// Locks the row of `key` in `index` to the end of the transaction.
pub fn lock_row(
    trx: &mut Trx,
    _index: IndexId,
    _key: &[u8],
    _mode: LockMode,
    policy: WaitPolicy,
) -> Result<LockOutcome, Error> {
    take_token(trx, policy)
}

/// Locks a stretch of `index`, gaps included, to the end of the transaction.
pub fn lock_interval(
    trx: &mut Trx,
    _index: IndexId,
    _interval: Interval<'_>,
    _mode: LockMode,
    policy: WaitPolicy,
) -> Result<LockOutcome, Error> {
    take_token(trx, policy)
}

/// Both modes, in READ ONLY transactions too: they may lock what they read.
fn take_token(trx: &mut Trx, policy: WaitPolicy) -> Result<LockOutcome, Error> {
    if trx.holds_token() { Ok(LockOutcome::Granted) } else { trx.take_token(policy) }
}

/// The one writer's seat.
#[derive(Debug, Default)]
pub(crate) struct WriterToken {
    seat: Mutex<Seat>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct Seat {
    holder: Option<Arc<TrxSlot>>,
    closed: bool,
}

/// How long and under which orders to wait for the token.
pub(crate) struct TokenWait<'a> {
    pub(crate) policy: WaitPolicy,
    pub(crate) timeout: Duration,
    pub(crate) interrupted: &'a dyn Fn() -> bool,
}

impl WriterToken {
    /// Takes the seat for the transaction of `slot`; once seated, `seated` runs under the seat's mutex.
    pub(crate) fn take(
        &self,
        slot: &Arc<TrxSlot>,
        wait: &TokenWait<'_>,
        seated: impl FnOnce(),
    ) -> Result<LockOutcome, Error> {
        let mut seat = self.seat.lock();
        let mut deadline = None;
        while seat.holder.is_some() && !seat.closed {
            match wait.policy {
                WaitPolicy::NoWait => return Err(Error::LockNowait),
                WaitPolicy::SkipLocked => return Ok(LockOutcome::Skipped),
                WaitPolicy::Wait => {}
            }
            if (wait.interrupted)() {
                return Err(Error::Interrupted);
            }
            let until = *deadline.get_or_insert_with(|| Deadline::after(wait.timeout));
            if until.wait(&self.freed, &mut seat) && seat.holder.is_some() {
                return Err(Error::LockWaitTimeout);
            }
        }
        if seat.closed {
            return Err(Error::ShuttingDown);
        }
        seat.holder = Some(Arc::clone(slot));
        seated();
        Ok(LockOutcome::Granted)
    }

    /// Frees the seat if `slot`'s transaction has it.
    pub(crate) fn release(&self, slot: &Arc<TrxSlot>) {
        let mut seat = self.seat.lock();
        if seat.holder.as_ref().is_some_and(|holder| Arc::ptr_eq(holder, slot)) {
            seat.holder = None;
            drop(seat);
            self.freed.notify_one();
        }
    }

    /// Lets nobody sit down any more; returns who still sits.
    pub(crate) fn close(&self) -> Option<Arc<TrxSlot>> {
        let mut seat = self.seat.lock();
        seat.closed = true;
        let holder = seat.holder.take();
        drop(seat);
        self.freed.notify_all();
        holder
    }

    /// Makes waiters look at their interrupt flags.
    pub(crate) fn wake_waiters(&self) {
        drop(self.seat.lock());
        self.freed.notify_all();
    }
}
