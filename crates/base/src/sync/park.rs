//! Parking by address: the one place where a thread of the storage layers goes to sleep.
//!
//! Timed waits take a deadline, which `env` makes: this crate reads the clock only to measure how long
//! threads slept ([`super::wait_times`]).

use std::time::Instant;

use super::atomic::{AtomicU32, Ordering};
#[cfg(loom)]
use super::model::park as lot;
use super::sim;

#[cfg(not(loom))]
mod lot;

/// A kind with exactly one waiter.
const KIND_ANY: usize = 0;

/// Why a parked thread runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Another thread woke it.
    Unparked,
    /// The condition no longer held when the queue was locked; it never slept.
    Stale,
    /// The time ran out.
    TimedOut,
}

/// Sleeps on `addr` until woken or until `deadline`, if `still_wanted` holds under the queue's lock.
///
/// `kind` tells the waker what this thread waits for. `still_wanted` must neither panic nor park nor wake.
pub(crate) fn park_on(
    addr: usize,
    kind: usize,
    deadline: Option<Instant>,
    still_wanted: impl FnOnce() -> bool,
) -> Wake {
    if sim::is_simulated() {
        return sim::park(addr, kind, deadline, still_wanted);
    }
    lot::park(addr, kind, deadline, still_wanted)
}

/// What [`unpark_matching`] does with one sleeper.
pub(crate) enum Choice {
    Wake,
    PassOver,
    Stop,
}

/// Wakes the sleepers on `addr` that `choose` picks, oldest first, by their `kind`. `done` runs under the
/// queue's lock with whether sleepers remain. Neither callback may panic, park or wake.
pub(crate) fn unpark_matching(addr: usize, choose: impl FnMut(usize) -> Choice, done: impl FnOnce(bool)) {
    if sim::is_simulated() {
        sim::unpark(addr, choose, done);
        return;
    }
    lot::unpark(addr, choose, done);
}

/// Sleeps while `*word == expected`, like a futex: returns at once when it differs. May return early; callers
/// loop.
pub(crate) fn wait_while_equal(word: &AtomicU32, expected: u32, deadline: Option<Instant>) -> Wake {
    let addr = std::ptr::from_ref(word).addr();
    // Acquire pairs with the Release store that the waker makes before `wake_all`.
    park_on(addr, KIND_ANY, deadline, || word.load(Ordering::Acquire) == expected)
}

/// Wakes every thread in [`wait_while_equal`] on `word`. The caller has changed the word before.
pub fn wake_all(word: &AtomicU32) {
    unpark_matching(std::ptr::from_ref(word).addr(), |_| Choice::Wake, |_| {});
}

/// An event counter: waiters take a ticket, read the state they wait for, and sleep until the next
/// notification.
///
/// Taking the ticket before looking makes a lost wake-up impossible.
#[derive(Debug, Default)]
pub struct Event(AtomicU32);

impl Event {
    /// An event without notifications.
    pub fn new() -> Self {
        Event(AtomicU32::new(0))
    }

    /// The number of notifications so far, to hand to [`Event::wait`].
    pub fn ticket(&self) -> u32 {
        // Acquire pairs with `notify_all`'s increment.
        self.0.load(Ordering::Acquire)
    }

    /// Sleeps until a notification later than `ticket`, or `deadline`.
    pub fn wait(&self, ticket: u32, deadline: Option<Instant>) -> Wake {
        wait_while_equal(&self.0, ticket, deadline)
    }

    /// Counts one notification and wakes all waiters.
    pub fn notify_all(&self) {
        self.0.fetch_add(1, Ordering::Release);
        wake_all(&self.0);
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_notified_after_the_ticket_is_not_slept_through() {
        let event = Event::new();
        let ticket = event.ticket();
        event.notify_all();
        assert_eq!(event.wait(ticket, None), Wake::Stale);
    }

    #[test]
    fn a_wait_without_notification_times_out() {
        let event = Event::new();
        assert_eq!(event.wait(event.ticket(), Some(Instant::now())), Wake::TimedOut);
    }
}
