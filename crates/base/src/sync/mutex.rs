//! A mutex that has a place in the latch order and makes its holder's thread critical.

use std::ops::{Deref, DerefMut};

use super::critical::{self, Section};
use super::level::{HeldLatch, LatchLevel};
use super::plain;

/// A mutex at a [`LatchLevel`]. Not poisoned by panics: a panic under it ends the process (see [`critical`]).
#[derive(Debug)]
pub struct Mutex<T> {
    level: LatchLevel,
    inner: plain::Mutex<T>,
}

/// Exclusive use of a [`Mutex`]'s value until dropped.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    // Declared first: the mutex is released before its section and its place in the order end.
    value: plain::MutexGuard<'a, T>,
    _section: Section,
    _held: HeldLatch,
}

impl<T> Mutex<T> {
    /// A mutex around `value` at `level`.
    pub fn new(level: LatchLevel, value: T) -> Self {
        Mutex { level, inner: plain::Mutex::new(value) }
    }

    /// Waits for the mutex.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let held = self.level.acquire();
        let value = self.inner.lock();
        MutexGuard { value, _section: critical::enter(), _held: held }
    }

    /// Takes the mutex if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let value = self.inner.try_lock()?;
        Some(MutexGuard { value, _section: critical::enter(), _held: self.level.try_acquire() })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_mutex_is_critical_and_refuses_a_second_taker() {
        let mutex = Mutex::new(LatchLevel::Leaf, 1);
        let mut guard = mutex.lock();
        *guard += 1;
        assert_eq!(critical::depth(), 1);
        assert!(mutex.try_lock().is_none());
        drop(guard);
        assert_eq!(critical::depth(), 0);
        assert_eq!(mutex.try_lock().map(|g| *g), Some(2));
    }
}
