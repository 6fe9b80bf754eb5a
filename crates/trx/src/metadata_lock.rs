//! Metadata locks: a table's definition stays while a transaction uses it.
//!
//! Shared for every statement, kept to the transaction's end; exclusive for definition changes. A shared lock costs one
//! compare-and-exchange. A session that already holds metadata locks passes a waiting (not a granted) exclusive
//! request, so that two sessions cannot wait for each other; one that holds none queues behind it, so that the
//! request is not starved.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use base::sync::plain::{Condvar, Mutex};

use crate::deadline::Deadline;
use crate::error::Error;

const EXCLUSIVE: u32 = 1 << 31;
/// Somebody waits for an exclusive lock.
const PENDING: u32 = 1 << 30;
const SHARED: u32 = PENDING - 1;

/// The lock of one table. Lives as long as the table's identity, over all versions of its definition.
#[derive(Debug, Default)]
pub struct MetadataLock {
    state: AtomicU32,
    gate: Mutex<()>,
    changed: Condvar,
}

impl MetadataLock {
    /// Takes a shared lock if nobody holds or (unless `may_pass`) waits for the exclusive one.
    #[inline]
    pub fn try_shared(&self, may_pass: bool) -> bool {
        let blockers = if may_pass { EXCLUSIVE } else { EXCLUSIVE | PENDING };
        let mut state = self.state.load(Ordering::Relaxed);
        while state & blockers == 0 {
            // Acquire pairs with the release in `unlock_exclusive`: the new definition is seen.
            match self.state.compare_exchange_weak(state, state + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    /// Takes a shared lock, waiting up to `timeout`.
    #[inline]
    pub fn lock_shared(&self, may_pass: bool, timeout: Duration) -> Result<(), Error> {
        if self.try_shared(may_pass) { Ok(()) } else { self.wait_shared(may_pass, timeout) }
    }

    #[cold]
    fn wait_shared(&self, may_pass: bool, timeout: Duration) -> Result<(), Error> {
        let deadline = Deadline::after(timeout);
        let mut gate = self.gate.lock();
        while !self.try_shared(may_pass) {
            if deadline.wait(&self.changed, &mut gate) {
                return if self.try_shared(may_pass) { Ok(()) } else { Err(Error::LockWaitTimeout) };
            }
        }
        Ok(())
    }

    /// Gives a shared lock back.
    #[inline]
    pub fn unlock_shared(&self) {
        // Release pairs with the acquire in `lock_exclusive`: uses of the old definition come before the change.
        let before = self.state.fetch_sub(1, Ordering::Release);
        debug_assert!(before & SHARED != 0, "metadata lock is not held");
        if before & PENDING != 0 {
            self.wake();
        }
    }

    /// Takes the exclusive lock, waiting up to `timeout`. The caller holds no metadata lock on this table.
    pub fn lock_exclusive(&self, timeout: Duration) -> Result<(), Error> {
        let deadline = Deadline::after(timeout);
        let mut gate = self.gate.lock();
        loop {
            let before = self.state.fetch_or(PENDING, Ordering::Relaxed);
            if before & (EXCLUSIVE | SHARED) == 0
                && self
                    .state
                    .compare_exchange(PENDING, EXCLUSIVE, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                return Ok(());
            }
            if deadline.wait(&self.changed, &mut gate) {
                // Others that still wait set the mark again when woken.
                self.state.fetch_and(!PENDING, Ordering::Relaxed);
                self.changed.notify_all();
                return Err(Error::LockWaitTimeout);
            }
        }
    }

    /// Gives the exclusive lock back.
    pub fn unlock_exclusive(&self) {
        let before = self.state.fetch_and(!EXCLUSIVE, Ordering::Release);
        debug_assert!(before & EXCLUSIVE != 0, "metadata lock is not held exclusively");
        self.wake();
    }

    #[cold]
    fn wake(&self) {
        // The mutex orders this after a waiter's check, so that no wake-up is lost.
        drop(self.gate.lock());
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn shared_locks_share_and_exclude_the_exclusive_one() {
        let lock = MetadataLock::default();
        assert!(lock.try_shared(false) && lock.try_shared(false));
        assert_eq!(lock.lock_exclusive(SHORT), Err(Error::LockWaitTimeout));
        lock.unlock_shared();
        lock.unlock_shared();
        assert_eq!(lock.lock_exclusive(SHORT), Ok(()));
        assert!(!lock.try_shared(true));
        assert_eq!(lock.lock_shared(true, SHORT), Err(Error::LockWaitTimeout));
        lock.unlock_exclusive();
        assert!(lock.try_shared(false));
    }

    #[test]
    fn a_waiting_exclusive_request_stops_newcomers_but_not_holders_of_other_locks() {
        let lock = Arc::new(MetadataLock::default());
        assert!(lock.try_shared(false));
        let waiter = std::thread::spawn({
            let lock = Arc::clone(&lock);
            move || lock.lock_exclusive(LONG)
        });
        while lock.state.load(Ordering::Relaxed) & PENDING == 0 {
            std::thread::yield_now();
        }
        assert!(!lock.try_shared(false));
        assert!(lock.try_shared(true));
        lock.unlock_shared();
        lock.unlock_shared();
        assert_eq!(waiter.join().unwrap(), Ok(()));
        lock.unlock_exclusive();
    }

    #[test]
    fn many_threads_never_see_a_half_change() {
        let lock = Arc::new((MetadataLock::default(), AtomicU32::new(0)));
        let threads: Vec<_> = (0..4)
            .map(|n| {
                let lock = Arc::clone(&lock);
                std::thread::spawn(move || {
                    for i in 0..300 {
                        if (i + n) % 5 == 0 {
                            lock.0.lock_exclusive(LONG).unwrap();
                            lock.1.fetch_add(1, Ordering::Relaxed);
                            std::thread::yield_now();
                            lock.1.fetch_add(1, Ordering::Relaxed);
                            lock.0.unlock_exclusive();
                        } else {
                            lock.0.lock_shared(false, LONG).unwrap();
                            assert_eq!(lock.1.load(Ordering::Relaxed) % 2, 0);
                            lock.0.unlock_shared();
                        }
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }
}
