//! [`crate::sync::plain`] in a model: the same calls, the checker's locks.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

pub use crate::sync::wait_result::WaitResult;

/// A mutex.
#[derive(Debug, Default)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

/// Exclusive use of a [`Mutex`]'s value until dropped.
#[derive(Debug)]
pub struct MutexGuard<'a, T>(Option<loom::sync::MutexGuard<'a, T>>);

impl<T> Mutex<T> {
    /// A mutex around `value`.
    pub fn new(value: T) -> Self {
        Mutex(loom::sync::Mutex::new(value))
    }

    /// Waits for the mutex.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().expect("never poisoned")))
    }

    /// Takes the mutex if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok().map(|guard| MutexGuard(Some(guard)))
    }

    /// The value, of which the caller is the only user.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().expect("never poisoned")
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner().expect("never poisoned")
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0.as_ref().expect("taken out while it waits alone")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("taken out while it waits alone")
    }
}

/// A condition variable.
#[derive(Debug, Default)]
pub struct Condvar(loom::sync::Condvar);

impl Condvar {
    /// A condition variable without waiters.
    pub fn new() -> Self {
        Condvar(loom::sync::Condvar::new())
    }

    /// Lets go of the mutex, waits for a notification, and takes the mutex again.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        guard.0 = guard.0.take().map(|held| self.0.wait(held).expect("never poisoned"));
    }

    /// [`Condvar::wait`]: time does not go by in a model.
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, _timeout: Duration) -> WaitResult {
        self.wait(guard);
        WaitResult(false)
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// A lock that many readers or one writer hold.
#[derive(Debug, Default)]
pub struct RwLock<T>(loom::sync::RwLock<T>);

/// Shared use of a [`RwLock`]'s value until dropped.
pub type ReadGuard<'a, T> = loom::sync::RwLockReadGuard<'a, T>;

/// Exclusive use of a [`RwLock`]'s value until dropped.
pub type WriteGuard<'a, T> = loom::sync::RwLockWriteGuard<'a, T>;

impl<T> RwLock<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        RwLock(loom::sync::RwLock::new(value))
    }

    /// Waits until no writer holds the lock.
    pub fn read(&self) -> ReadGuard<'_, T> {
        self.0.read().expect("never poisoned")
    }

    /// Waits until no thread holds the lock.
    pub fn write(&self) -> WriteGuard<'_, T> {
        self.0.write().expect("never poisoned")
    }
}
