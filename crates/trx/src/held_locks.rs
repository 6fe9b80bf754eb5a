//! The metadata locks that a transaction holds.

use std::sync::Arc;

use crate::metadata_lock::{MetadataLock, TableUse};

/// Locks that are remembered between transactions, at most.
const KEPT_LOCKS: usize = 16;

/// Locks held shared, in the order they were taken. Those of the last transaction are remembered: a session
/// that uses the same tables again does not count references to them each time.
#[derive(Debug, Default)]
pub(crate) struct HeldLocks {
    /// Those held, then some that were; what each is held for.
    locks: Vec<(Arc<MetadataLock>, TableUse)>,
    held: usize,
}

impl HeldLocks {
    /// Whether none is held.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// What `lock` is held for, if it is.
    #[inline]
    pub(crate) fn use_of(&mut self, lock: &Arc<MetadataLock>) -> Option<&mut TableUse> {
        self.locks[..self.held].iter_mut().find(|(held, _)| Arc::ptr_eq(held, lock)).map(|(_, use_)| use_)
    }

    /// The locks that are held.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<MetadataLock>> {
        self.locks[..self.held].iter().map(|(lock, _)| lock)
    }

    /// Takes over a hold of `lock` that the caller has just acquired.
    #[inline]
    pub(crate) fn adopt(&mut self, lock: &Arc<MetadataLock>, use_: TableUse) {
        match self.locks.get_mut(self.held) {
            Some((last, last_use)) if Arc::ptr_eq(last, lock) => *last_use = use_,
            _ => {
                self.locks.truncate(self.held);
                self.locks.push((Arc::clone(lock), use_));
            }
        }
        self.held += 1;
    }

    /// Gives back the one taken last.
    pub(crate) fn release_newest(&mut self) {
        if let Some(newest) = self.held.checked_sub(1) {
            let (lock, use_) = &self.locks[newest];
            lock.unlock_shared(*use_);
            self.held = newest;
        }
    }

    /// Gives all back.
    #[inline]
    pub(crate) fn release_all(&mut self) {
        for (lock, use_) in &self.locks[..self.held] {
            lock.unlock_shared(*use_);
        }
        self.held = 0;
        if self.locks.len() > KEPT_LOCKS {
            self.locks = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Whether the lock is free.
    fn is_free(lock: &MetadataLock) -> bool {
        let free = lock.lock_exclusive(&Duration::ZERO.into()).is_ok();
        if free {
            lock.unlock_exclusive();
        }
        free
    }

    #[test]
    fn what_is_remembered_is_not_held() {
        let mut held = HeldLocks::default();
        let locks: Vec<Arc<MetadataLock>> = (0..3).map(|_| Arc::default()).collect();
        let take = |held: &mut HeldLocks, i: usize| {
            assert!(locks[i].try_shared(TableUse::Write, false));
            held.adopt(&locks[i], TableUse::Write);
        };
        for order in [[0, 1], [0, 1], [0, 2], [2, 0], [1, 0]] {
            for i in order {
                take(&mut held, i);
            }
            for (i, lock) in locks.iter().enumerate() {
                assert_eq!(
                    (held.use_of(lock).is_some(), is_free(lock)),
                    (order.contains(&i), !order.contains(&i))
                );
            }
            held.release_newest();
            assert!(is_free(&locks[order[1]]) && held.use_of(&locks[order[1]]).is_none() && !held.is_empty());
            held.release_all();
            assert!(held.is_empty() && locks.iter().all(|lock| is_free(lock) && held.use_of(lock).is_none()));
        }
    }

    #[test]
    fn a_transaction_over_many_tables_leaves_no_long_list() {
        let mut held = HeldLocks::default();
        for _ in 0..=KEPT_LOCKS {
            let lock = Arc::new(MetadataLock::default());
            assert!(lock.try_shared(TableUse::Read, false));
            held.adopt(&lock, TableUse::Read);
        }
        held.release_all();
        assert_eq!(held.locks.len(), 0);
    }
}
