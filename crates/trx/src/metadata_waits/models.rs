//! Cycles through rebuilds under the model checker, where no wait ends by its time.

use std::time::Duration;

use base::sync::model::{explore, spawn};

use super::*;
use crate::metadata_lock::TableUse;

const LONG: Duration = Duration::from_secs(1000);

/// Tables that are being rebuilt, each of which one transaction has read.
#[derive(Debug)]
struct Tables<const N: usize> {
    waits: MetadataWaits,
    locks: [Arc<MetadataLock>; N],
}

impl<const N: usize> Tables<N> {
    fn new() -> Arc<Self> {
        let tables = Tables { waits: MetadataWaits::default(), locks: [(); N].map(|()| Arc::default()) };
        for lock in &tables.locks {
            assert!(lock.try_shared(TableUse::Read, true));
            lock.lock_for_rebuild(&LONG.into()).unwrap();
        }
        Arc::new(tables)
    }

    /// Ends the rebuild of the table `at`.
    fn rebuild(&self, at: usize) {
        self.locks[at].make_exclusive(&LONG.into()).unwrap();
        self.locks[at].unlock_exclusive();
    }

    /// The transaction that has read the table `at` wants to write the next one, and ends.
    fn write_next(&self, at: usize) -> Result<(), Error> {
        let (read, wanted) = (&self.locks[at], &self.locks[(at + 1) % N]);
        let mut held = HeldLocks::default();
        held.adopt(read, TableUse::Read);
        let noted = self.waits.note(wanted, &held);
        let look = || noted.ensure_no_cycle();
        let written = if N == 1 {
            wanted.upgrade(LONG, &look)
        } else {
            wanted.lock_shared_unless(TableUse::Write, true, LONG, &look)
        };
        drop(noted);
        if written.is_ok() {
            wanted.unlock_shared(TableUse::Write);
        }
        held.release_all();
        written
    }
}

/// All at the same time: one transaction gives way, and none is left waiting.
fn one_gives_way<const N: usize>(preemptions: usize) {
    explore(preemptions, || {
        let tables = Tables::<N>::new();
        let start = |work: fn(&Tables<N>, usize) -> bool, at| {
            let tables = Arc::clone(&tables);
            spawn(move || work(&tables, at))
        };
        let mut threads = Vec::new();
        for at in 0..N {
            threads.push(start(
                |tables, at| {
                    tables.rebuild(at);
                    false
                },
                at,
            ));
            if at > 0 {
                threads.push(start(|tables, at| tables.write_next(at).is_err(), at));
            }
        }
        let mut victims = usize::from(tables.write_next(0) == Err(Error::Deadlock));
        victims += threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum::<usize>();
        assert_eq!(victims, 1);
    });
}

#[test]
fn a_reader_gives_way_to_the_rebuild_of_its_table() {
    one_gives_way::<1>(3);
}

#[test]
fn of_two_readers_and_two_rebuilds_one_reader_gives_way() {
    one_gives_way::<2>(1);
}
