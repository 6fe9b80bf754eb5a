//! Requests of several transactions for rows and gaps, step by step.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{IndexId, Lsn, TrxId};

use super::*;
use crate::commit_table::TrxOutcome;
use crate::error::Error;
use crate::slot::TrxSlot;
use crate::system::TrxSystem;

mod check;
mod scripts;

const INDEX: IndexId = IndexId(70);
const LONG: Duration = Duration::from_mins(1);

/// A transaction with an id.
struct Session {
    system: Arc<TrxSystem>,
    slot: Arc<TrxSlot>,
    id: TrxId,
    timeout: Duration,
    interrupt: AtomicBool,
}

impl Session {
    fn locker(&self) -> Locker<'_> {
        Locker {
            system: &self.system,
            slot: &self.slot,
            id: self.id,
            timeout: self.timeout,
            interrupt: Some(&self.interrupt),
        }
    }

    /// Asks for the row of `key`, whose record `writer` has written.
    fn ask(&self, key: &[u8], mode: LockMode, writer: TrxId) -> Result<Attempt, Error> {
        let policy = WaitPolicy::Wait;
        let request = RowRequest { index: INDEX, key, mode, writer, stays: true, policy };
        self.locker().request(request, 1)
    }

    fn has(&self, key: &[u8], mode: LockMode) -> bool {
        let hash = super::table::Locks::hash(INDEX, key);
        let mut locks = self.system.locks.lock();
        locks.queue(hash, INDEX, key).is_some_and(|queue| queue.holds(self.id, mode))
    }

    fn end(&self) {
        let number = self.system.newest().0 + 10;
        self.system.end(&self.slot, self.id, |_| TrxOutcome::Committed(Lsn(number))).unwrap();
    }
}

fn sessions<const N: usize>() -> [Session; N] {
    let system = TrxSystem::new(TrxId(1), Lsn(7));
    std::array::from_fn(|_| {
        let slot = system.slots.register(system.undo());
        let id = system.begin(&slot).unwrap();
        let system = Arc::clone(&system);
        Session { system, slot, id, timeout: LONG, interrupt: AtomicBool::new(false) }
    })
}

const S: LockMode = LockMode::Shared;
const X: LockMode = LockMode::Exclusive;
const FRESH: Result<Attempt, Error> = Ok(Attempt::Granted { new: true });
const HELD: Result<Attempt, Error> = Ok(Attempt::Granted { new: false });
const WAIT: Result<Attempt, Error> = Ok(Attempt::Wait);
const SETTLED: TrxId = TrxId::NONE;

#[test]
fn shared_locks_share_and_waiters_are_served_in_order() {
    let [a, b, c, d] = sessions();
    assert_eq!((a.ask(b"k", S, SETTLED), b.ask(b"k", S, SETTLED)), (FRESH, FRESH));
    assert_eq!(c.ask(b"k", X, SETTLED), WAIT);
    // Behind a waiter no thread gets through.
    assert_eq!(d.ask(b"k", S, SETTLED), WAIT);
    a.end();
    assert!(!c.has(b"k", X));
    b.end();
    assert!(c.has(b"k", X) && !d.has(b"k", S));
    assert_eq!(c.locker().wait(), Ok(()));
    c.end();
    assert_eq!(d.locker().wait(), Ok(()));
    assert!(d.has(b"k", S));
    d.end();
    assert_eq!(d.system.locks.owner_count(), 0);
}

#[test]
fn the_writer_of_a_record_has_its_lock_until_it_ends() {
    let [a, b, c] = sessions();
    assert_eq!(a.locker().try_write(INDEX, b"k", a.id, 1), HELD);
    assert_eq!(a.system.locks.owner_count(), 0);
    assert_eq!(b.locker().try_write(INDEX, b"k", a.id, 1), WAIT);
    assert!(a.has(b"k", X));
    assert_eq!(c.ask(b"k", S, a.id), WAIT);
    a.end();
    assert_eq!(b.locker().wait(), Ok(()));
    assert_eq!(b.locker().try_write(INDEX, b"k", a.id, 1), HELD);
    b.end();
    assert_eq!(c.locker().wait(), Ok(()));
    // A writer that has ended needs no lock made for it.
    let [d] = sessions();
    assert_eq!(d.ask(b"k", X, TrxId(0)), FRESH);
    c.end();
    assert_eq!(c.system.locks.owner_count(), 0);
}

#[test]
fn a_stronger_lock_overtakes_those_who_wait_for_the_weaker_one() {
    let [a, b] = sessions();
    assert_eq!(a.ask(b"k", S, SETTLED), FRESH);
    assert_eq!(b.ask(b"k", X, SETTLED), WAIT);
    assert_eq!(a.ask(b"k", X, SETTLED), FRESH);
    a.end();
    assert_eq!(b.locker().wait(), Ok(()));
}

#[test]
fn who_came_first_does_not_lose_for_locks_that_were_made_explicit_later() {
    let [a, b] = sessions();
    // Each has changed a row: the locks of both are implicit until the other asks.
    assert_eq!(a.ask(b"of b", S, b.id), WAIT);
    assert_eq!(b.ask(b"of a", S, a.id), Err(Error::Deadlock));
    b.end();
    assert_eq!(a.locker().wait(), Ok(()));
}

#[test]
fn two_who_want_more_than_both_have_are_a_deadlock() {
    let [a, b] = sessions();
    assert_eq!((a.ask(b"k", S, SETTLED), b.ask(b"k", S, SETTLED)), (FRESH, FRESH));
    assert_eq!(a.ask(b"k", X, SETTLED), WAIT);
    assert_eq!(b.ask(b"k", X, SETTLED), Err(Error::Deadlock));
    b.end();
    assert_eq!(a.locker().wait(), Ok(()));
}

#[test]
fn the_cheapest_of_a_cycle_gives_up() {
    let [a, b, c] = sessions();
    for (session, key) in [(&a, b"a"), (&b, b"b"), (&c, b"c")] {
        assert_eq!(session.ask(key, X, SETTLED), FRESH);
    }
    let ask = |session: &Session, key: &[u8], changes| {
        let request =
            RowRequest { index: INDEX, key, mode: X, writer: SETTLED, stays: true, policy: WaitPolicy::Wait };
        session.locker().request(request, changes)
    };
    assert_eq!((ask(&a, b"b", 100), ask(&b, b"c", 5)), (WAIT, WAIT));
    // The cycle is closed by a transaction that has done more than `b`.
    assert_eq!(ask(&c, b"a", 50), WAIT);
    assert_eq!(b.locker().wait(), Err(Error::Deadlock));
    b.end();
    assert_eq!(a.locker().wait(), Ok(()));
    a.end();
    assert_eq!(c.locker().wait(), Ok(()));
}

#[test]
fn gaps_keep_inserts_out_but_not_each_other() {
    let [a, b, c] = sessions();
    let within = |session: &Session, key: &[u8]| session.locker().try_insert(INDEX, key, 1);
    let gap = a.locker().lock_gap(INDEX, Bound::Excluded(b"b"), Bound::Excluded(b"d"));
    b.locker().lock_gap(INDEX, Bound::Included(b"c"), Bound::Unbounded);
    assert_eq!((within(&c, b"b"), within(&a, b"bb")), (HELD, HELD));
    assert_eq!(within(&c, b"bb"), WAIT);
    a.end();
    assert_eq!(c.locker().wait(), Ok(()));
    assert_eq!((within(&c, b"bb"), within(&c, b"x")), (HELD, WAIT));
    a.locker().extend_gap(INDEX, gap, Side::Upper, Bound::Unbounded);
    b.end();
    assert_eq!(c.locker().wait(), Ok(()));
}

#[test]
fn inserts_into_each_others_gaps_are_a_deadlock() {
    let [a, b] = sessions();
    let gap = a.locker().lock_gap(INDEX, Bound::Unbounded, Bound::Excluded(b"c"));
    b.locker().lock_gap(INDEX, Bound::Unbounded, Bound::Unbounded);
    assert_eq!(a.locker().try_insert(INDEX, b"z", 1), WAIT);
    assert_eq!(b.locker().try_insert(INDEX, b"d", 1), HELD);
    // A gap that grows while its owner waits is found when the next one waits.
    a.locker().extend_gap(INDEX, gap, Side::Upper, Bound::Included(b"e"));
    assert_eq!(b.locker().try_insert(INDEX, b"d", 1), Err(Error::Deadlock));
}

#[test]
fn nobody_waits_who_does_not_want_to() {
    let [a, b] = sessions();
    assert_eq!(a.ask(b"k", X, SETTLED), FRESH);
    let ask = |policy| {
        let request = RowRequest { index: INDEX, key: b"k", mode: S, writer: SETTLED, stays: true, policy };
        b.locker().request(request, 1)
    };
    assert_eq!(ask(WaitPolicy::NoWait), Err(Error::LockNowait));
    assert_eq!(ask(WaitPolicy::SkipLocked), Ok(Attempt::Skipped));
    a.end();
    assert_eq!(ask(WaitPolicy::NoWait), FRESH);
}

#[test]
fn a_wait_that_is_given_up_lets_those_behind_it_through() {
    let [a, mut b, c] = sessions();
    b.timeout = Duration::from_millis(20);
    assert_eq!(a.ask(b"k", S, SETTLED), FRESH);
    assert_eq!((b.ask(b"k", X, SETTLED), c.ask(b"k", S, SETTLED)), (WAIT, WAIT));
    assert_eq!(b.locker().wait(), Err(Error::LockWaitTimeout));
    assert_eq!(c.locker().wait(), Ok(()));
    assert!(c.has(b"k", S) && !b.has(b"k", S));
}

#[test]
fn interrupts_and_shutdown_end_waits() {
    let [a, b, c] = sessions();
    assert_eq!(a.ask(b"k", X, SETTLED), FRESH);
    assert_eq!((b.ask(b"k", X, SETTLED), c.ask(b"k", X, SETTLED)), (WAIT, WAIT));
    std::thread::scope(|scope| {
        let waiters = [&b, &c].map(|session| scope.spawn(|| session.locker().wait()));
        b.interrupt.store(true, Ordering::Relaxed);
        let [b, c] = waiters;
        while !b.is_finished() {
            a.system.wake_waiters();
            std::thread::yield_now();
        }
        assert_eq!(b.join().unwrap(), Err(Error::Interrupted));
        let rolled_back = a.system.close(|_| Ok::<TrxOutcome, ()>(TrxOutcome::Nothing));
        assert_eq!((rolled_back, c.join().unwrap()), (Ok(()), Err(Error::ShuttingDown)));
    });
    assert_eq!(a.system.locks.owner_count(), 0);
}

#[test]
fn a_row_given_up_goes_to_who_waits() {
    let [a, b] = sessions();
    assert_eq!(a.ask(b"k", X, SETTLED), FRESH);
    assert_eq!(b.ask(b"k", X, SETTLED), WAIT);
    a.locker().release_row(INDEX, b"k", X);
    assert_eq!(b.locker().wait(), Ok(()));
    a.locker().keep_row(INDEX, b"other");
    assert!(a.has(b"other", X) && !a.has(b"k", S));
}
