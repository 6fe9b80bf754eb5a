//! Mutex, condition variable and reader-writer lock without a place in the latch order.
//!
//! For state whose holders may wait for locks of transactions, call code that may panic, or be unwound:
//! nothing is asserted about order and nothing becomes critical. Everything else uses [`super::Mutex`]. The
//! calls are those of `parking_lot`, which does the work, except in a simulation ([`super::sim`]).

use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use super::park::{Choice, Wake};
use super::sim;
pub use super::wait_result::WaitResult;

/// A mutex.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Mutex<T>(parking_lot::Mutex<T>);

/// Exclusive use of a [`Mutex`]'s value until dropped.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    // Declared first: others are woken after the mutex is free.
    value: parking_lot::MutexGuard<'a, T>,
    _released: Released,
}

impl<T> Mutex<T> {
    /// A mutex around `value`.
    pub fn new(value: T) -> Self {
        Mutex(parking_lot::Mutex::new(value))
    }

    /// Waits for the mutex.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let value = match acquire_simulated(self.addr(), || self.0.try_lock(), || self.0.is_locked()) {
            Some(value) => value,
            None => self.0.lock(),
        };
        MutexGuard { value, _released: Released::of(self.addr()) }
    }

    /// Takes the mutex if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        sim::switch();
        Some(MutexGuard { value: self.0.try_lock()?, _released: Released::of(self.addr()) })
    }

    /// The value, of which the caller is the only user.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    fn addr(&self) -> usize {
        std::ptr::from_ref(self).addr() | sim::LOCK
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

/// A condition variable. Wake-ups without cause are possible.
#[derive(Debug, Default)]
pub struct Condvar(parking_lot::Condvar);

impl Condvar {
    /// A condition variable without waiters.
    pub fn new() -> Self {
        Condvar(parking_lot::Condvar::new())
    }

    /// Lets go of the mutex, waits for a notification, and takes the mutex again.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        if sim::is_simulated() {
            self.wait_simulated(guard, None);
        } else {
            self.0.wait(&mut guard.value);
        }
    }

    /// [`Condvar::wait`] for at most `timeout`.
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, timeout: Duration) -> WaitResult {
        match sim::now() {
            Some((now, _)) => {
                // Beyond the end of time there is no deadline.
                let wake = self.wait_simulated(guard, now.checked_add(timeout));
                WaitResult(wake == Wake::TimedOut)
            }
            None => WaitResult(self.0.wait_for(&mut guard.value, timeout).timed_out()),
        }
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        if sim::is_simulated() {
            let mut woken = false;
            let choose = |_| if std::mem::replace(&mut woken, true) { Choice::Stop } else { Choice::Wake };
            sim::unpark(self.addr(), choose, |_| {});
        } else {
            self.0.notify_one();
        }
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        if sim::is_simulated() {
            sim::unpark(self.addr(), |_| Choice::Wake, |_| {});
        } else {
            self.0.notify_all();
        }
    }

    fn wait_simulated<T>(&self, guard: &mut MutexGuard<'_, T>, deadline: Option<Instant>) -> Wake {
        let mutex = parking_lot::MutexGuard::mutex(&guard.value);
        let addr = std::ptr::from_ref(mutex).addr() | sim::LOCK;
        parking_lot::MutexGuard::unlocked(&mut guard.value, || {
            // No thread can notify in between: this thread has the baton until it is parked.
            let wake = sim::sleep_released(addr, self.addr(), deadline);
            // When this returns the mutex is free, and is taken before anybody else runs.
            while mutex.is_locked() {
                sim::park(addr, 0, None, || mutex.is_locked());
            }
            wake
        })
    }

    fn addr(&self) -> usize {
        std::ptr::from_ref(self).addr() | sim::CONDVAR
    }
}

/// A lock that many readers or one writer hold.
#[derive(Debug, Default)]
pub struct RwLock<T>(parking_lot::RwLock<T>);

/// Shared use of a [`RwLock`]'s value until dropped.
#[derive(Debug)]
pub struct ReadGuard<'a, T> {
    value: parking_lot::RwLockReadGuard<'a, T>,
    _released: Released,
}

/// Exclusive use of a [`RwLock`]'s value until dropped.
#[derive(Debug)]
pub struct WriteGuard<'a, T> {
    value: parking_lot::RwLockWriteGuard<'a, T>,
    _released: Released,
}

impl<T> RwLock<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        RwLock(parking_lot::RwLock::new(value))
    }

    /// Waits until no writer holds the lock.
    #[inline]
    pub fn read(&self) -> ReadGuard<'_, T> {
        let is_held = || self.0.is_locked_exclusive();
        let value = match acquire_simulated(self.addr(), || self.0.try_read(), is_held) {
            Some(value) => value,
            None => self.0.read(),
        };
        ReadGuard { value, _released: Released::of(self.addr()) }
    }

    /// Waits until no thread holds the lock.
    #[inline]
    pub fn write(&self) -> WriteGuard<'_, T> {
        let value = match acquire_simulated(self.addr(), || self.0.try_write(), || self.0.is_locked()) {
            Some(value) => value,
            None => self.0.write(),
        };
        WriteGuard { value, _released: Released::of(self.addr()) }
    }

    fn addr(&self) -> usize {
        std::ptr::from_ref(self).addr() | sim::LOCK
    }
}

impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

/// Takes what `attempt` takes, parking on `addr` while `is_held`; `None` outside of a simulation.
#[inline]
fn acquire_simulated<G>(
    addr: usize,
    attempt: impl Fn() -> Option<G>,
    is_held: impl Fn() -> bool,
) -> Option<G> {
    if !sim::is_simulated() {
        return None;
    }
    sim::switch();
    loop {
        if let Some(guard) = attempt() {
            return Some(guard);
        }
        sim::park(addr, 0, None, &is_held);
    }
}

/// Wakes the simulated threads that wait on an address when it is dropped. Nothing where there is no
/// simulation.
#[derive(Debug)]
struct Released {
    #[cfg(debug_assertions)]
    addr: usize,
}

impl Released {
    #[inline]
    fn of(addr: usize) -> Released {
        let _ = addr;
        Released {
            #[cfg(debug_assertions)]
            addr,
        }
    }
}

#[cfg(debug_assertions)]
impl Drop for Released {
    fn drop(&mut self) {
        sim::wake_released(self.addr);
    }
}
