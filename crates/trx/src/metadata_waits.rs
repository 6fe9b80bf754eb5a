//! Deadlocks of transactions with rebuilds of tables.
//!
//! A rebuild that has copied a table's rows waits for all shared holders of its metadata lock, and blocks row
//! changes meanwhile. So a transaction that has read the table and wants to write another one, which is
//! rebuilt too, may be part of a cycle:
//!
//! ```text
//!   T1 has read a, wants to write b   --->   the rebuild of b waits for its readers
//!           ^                                              |
//!           |                                              v
//!   the rebuild of a waits for its readers   <---   T2 has read b, wants to write a
//! ```
//! Nothing else closes one: other DDL statements and LOCK TABLES hold no lock while they wait
//! (`metadata_lock.rs`). The victim is a transaction, never the rebuild, as in MySQL.
//!
//! A transaction notes what it holds and what it waits for, and then searches for a cycle. A rebuild first
//! says that it waits for readers, and then wakes the waiters of its table, which check again. So whichever
//! comes last, one member of the cycle finds it complete.

use std::sync::Arc;

use base::sync::plain::Mutex;

use crate::error::Error;
use crate::held_locks::HeldLocks;
use crate::metadata_lock::MetadataLock;

/// The transactions that hold metadata locks and wait for another one.
#[derive(Debug, Default)]
pub(crate) struct MetadataWaits(Mutex<Vec<Arc<Wait>>>);

/// The wait of one transaction, and the locks that it holds meanwhile.
#[derive(Debug)]
struct Wait {
    wanted: Arc<MetadataLock>,
    held: Vec<Arc<MetadataLock>>,
}

impl Wait {
    fn holds(&self, lock: &Arc<MetadataLock>) -> bool {
        self.held.iter().any(|held| Arc::ptr_eq(held, lock))
    }
}

/// A noted wait; forgotten when dropped.
#[derive(Debug)]
pub(crate) struct NotedWait<'w> {
    waits: &'w MetadataWaits,
    /// `None`: the transaction holds nothing, and so no other waits for it.
    wait: Option<Arc<Wait>>,
}

impl MetadataWaits {
    /// Notes that a transaction that holds `held` waits for `wanted`.
    pub(crate) fn note(&self, wanted: &Arc<MetadataLock>, held: &HeldLocks) -> NotedWait<'_> {
        let wait = (!held.is_empty()).then(|| {
            Arc::new(Wait { wanted: Arc::clone(wanted), held: held.iter().map(Arc::clone).collect() })
        });
        self.0.lock().extend(wait.clone());
        NotedWait { waits: self, wait }
    }
}

impl NotedWait<'_> {
    /// Looks whether the wait is part of a cycle. Once it has been found to be one it counts no more, so that
    /// a cycle has one victim.
    ///
    /// # Errors
    /// [`Error::Deadlock`].
    pub(crate) fn ensure_no_cycle(&self) -> Result<(), Error> {
        let Some(own) = self.wait.as_ref().filter(|wait| wait.wanted.rebuild_waits()) else { return Ok(()) };
        let mut waits = self.waits.0.lock();
        if !closes_cycle(&waits, own) {
            return Ok(());
        }
        waits.retain(|wait| !Arc::ptr_eq(wait, own));
        Err(Error::Deadlock)
    }
}

impl Drop for NotedWait<'_> {
    fn drop(&mut self) {
        if let Some(own) = &self.wait {
            self.waits.0.lock().retain(|wait| !Arc::ptr_eq(wait, own));
        }
    }
}

/// Whether a rebuild waits for `own`, directly or through other transactions, which `own` waits for.
fn closes_cycle(waits: &[Arc<Wait>], own: &Wait) -> bool {
    let mut reached = vec![&own.wanted];
    let mut at = 0;
    while let Some(&lock) = reached.get(at) {
        at += 1;
        if !lock.rebuild_waits() {
            continue;
        }
        if own.holds(lock) {
            return true;
        }
        for wait in waits.iter().filter(|wait| wait.holds(lock)) {
            if !reached.iter().any(|lock| Arc::ptr_eq(lock, &wait.wanted)) {
                reached.push(&wait.wanted);
            }
        }
    }
    false
}

#[cfg(all(test, loom))]
mod models;

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::metadata_lock::TableUse;

    const LONG: Duration = Duration::from_mins(1);
    const SHORT: Duration = Duration::from_millis(20);

    fn reading(locks: &[&Arc<MetadataLock>]) -> HeldLocks {
        let mut held = HeldLocks::default();
        for lock in locks {
            assert!(lock.try_shared(TableUse::Read, true));
            held.adopt(lock, TableUse::Read);
        }
        held
    }

    /// Runs until the rebuild of `lock`, whose readers are there, is over.
    fn rebuild(lock: &Arc<MetadataLock>) -> thread::JoinHandle<()> {
        lock.lock_for_rebuild(&SHORT.into()).unwrap();
        let lock = Arc::clone(lock);
        thread::spawn(move || {
            lock.make_exclusive(&LONG.into()).unwrap();
            lock.unlock_exclusive();
        })
    }

    fn write(waits: &MetadataWaits, held: &HeldLocks, lock: &Arc<MetadataLock>) -> Result<(), Error> {
        let noted = waits.note(lock, held);
        lock.lock_shared_unless(TableUse::Write, true, LONG, &|| noted.ensure_no_cycle())?;
        lock.unlock_shared(TableUse::Write);
        Ok(())
    }

    #[test]
    fn a_reader_that_wants_to_write_gives_way_to_a_rebuild_that_waits_for_it() {
        let (waits, lock) = (MetadataWaits::default(), Arc::new(MetadataLock::default()));
        let mut held = reading(&[&lock]);
        let rebuild = rebuild(&lock);
        let noted = waits.note(&lock, &held);
        assert_eq!(lock.upgrade(LONG, &|| noted.ensure_no_cycle()), Err(Error::Deadlock));
        drop(noted);
        held.release_all();
        rebuild.join().unwrap();
        assert!(lock.try_shared(TableUse::Write, false));
    }

    #[test]
    fn of_transactions_that_rebuilds_lead_in_a_cycle_one_is_the_victim() {
        let waits = Arc::new(MetadataWaits::default());
        let locks: Vec<Arc<MetadataLock>> = (0..3).map(|_| Arc::default()).collect();
        let held: Vec<HeldLocks> = locks.iter().map(|lock| reading(&[lock])).collect();
        let rebuilds: Vec<_> = locks.iter().map(rebuild).collect();
        let writers: Vec<_> = held
            .into_iter()
            .enumerate()
            .map(|(at, mut held)| {
                let (waits, wanted) = (Arc::clone(&waits), Arc::clone(&locks[(at + 1) % 3]));
                thread::spawn(move || {
                    let written = write(&waits, &held, &wanted);
                    held.release_all();
                    written
                })
            })
            .collect();
        let ends: Vec<_> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        for rebuild in rebuilds {
            rebuild.join().unwrap();
        }
        assert_eq!(ends.iter().filter(|end| **end == Err(Error::Deadlock)).count(), 1, "{ends:?}");
        assert_eq!(waits.0.lock().len(), 0);
    }

    #[test]
    fn waits_for_rebuilds_without_a_cycle_go_on() {
        let waits = MetadataWaits::default();
        let (a, b, c) = (Arc::default(), Arc::default(), Arc::default());
        // The rebuild of `a` waits for a transaction that wants `b`, whose rebuild waits for one that wants
        // `c`, which is not being rebuilt.
        let (first, second) = (reading(&[&a]), reading(&[&b, &c]));
        let rebuilds = [rebuild(&a), rebuild(&b)];
        let noted = [waits.note(&b, &first), waits.note(&c, &second), waits.note(&b, &HeldLocks::default())];
        while !(a.rebuild_waits() && b.rebuild_waits()) {
            thread::yield_now();
        }
        assert!(noted.iter().all(|noted| noted.ensure_no_cycle().is_ok()));
        drop(noted);
        for mut held in [first, second] {
            held.release_all();
        }
        for rebuild in rebuilds {
            rebuild.join().unwrap();
        }
    }
}
