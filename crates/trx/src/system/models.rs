//! Commits, views and purge under the model checker. The rows' ids lie in atomics of their own: pages have
//! latches.

use base::sync::Latch;
use base::sync::model::{JoinHandle, UnsafeCell, explore, spawn};

use super::*;

/// Transactions of sessions of their own, a log to commit to, and the id of each transaction's row.
#[derive(Debug)]
struct World {
    system: Arc<TrxSystem>,
    slots: Vec<Arc<TrxSlot>>,
    log: AtomicU64,
    rows: [AtomicU64; 2],
}

const FIRST: TrxId = TrxId(1);
const SECOND: TrxId = TrxId(2);

impl World {
    /// With that many open transactions, from the first id on, and one session more.
    fn new(open: usize) -> Arc<World> {
        let system = TrxSystem::new(FIRST, Lsn(100));
        let slots: Vec<_> = (0..=open).map(|_| system.slots.register(system.undo())).collect();
        for slot in &slots[..open] {
            system.begin(slot).unwrap();
        }
        Arc::new(World { system, slots, log: AtomicU64::new(100), rows: [0, 0].map(AtomicU64::new) })
    }

    /// Runs `work` on a thread of its own.
    fn spawn<R: 'static>(self: &Arc<Self>, work: impl FnOnce(&World) -> R + 'static) -> JoinHandle<R> {
        let world = Arc::clone(self);
        spawn(move || work(&world))
    }

    /// Commits as `Engine::commit` does: with the mark, then the number.
    fn commit(&self, id: TrxId) -> Lsn {
        self.end(id, |world| {
            let number = world.log.fetch_add(10, Ordering::AcqRel) + 10;
            TrxOutcome::Committed(Lsn(number))
        })
    }

    fn end(&self, id: TrxId, ending: impl FnOnce(&World) -> TrxOutcome) -> Lsn {
        let slot = &self.slots[id.0 as usize - 1];
        let finish = |log: &mut UndoLog| {
            log.begin_commit();
            ending(self)
        };
        self.system.end(slot, id, finish).unwrap().number()
    }

    /// A view of the session without a transaction.
    fn view(&self) -> ReadView {
        self.system.view(self.reader(), None)
    }

    fn reader(&self) -> &TrxSlot {
        self.slots.last().unwrap()
    }
}

#[test]
fn a_view_sees_all_of_a_commit_or_nothing_and_all_that_was_answered() {
    explore(2, || {
        let world = World::new(2);
        let answered = Arc::new(AtomicU64::new(0));
        let done = Arc::clone(&answered);
        let writer = world.spawn(move |world| {
            world.rows.iter().for_each(|row| row.store(FIRST.0, Ordering::Release));
            world.commit(FIRST);
            done.store(1, Ordering::Release);
        });
        let other = world.spawn(|world| world.commit(SECOND));
        let was_answered = answered.load(Ordering::Acquire) == 1;
        let view = world.view();
        let seen = [0, 1].map(|row: usize| {
            let id = world.rows[row].load(Ordering::Acquire);
            id != 0 && view.sees(&world.system, TrxId(id))
        });
        assert_eq!(seen[0], seen[1], "half of a commit");
        assert!(seen[0] || !was_answered, "an answered commit is missing");
        writer.join().unwrap();
        other.join().unwrap();
        assert_eq!(view.sees(&world.system, FIRST), seen[0], "a view changed its mind");
    });
}

#[test]
fn what_is_below_the_limit_of_a_view_has_ended_within_its_number() {
    explore(2, || {
        let world = World::new(2);
        let threads = [FIRST, SECOND].map(|id| world.spawn(move |world| world.commit(id)));
        let view = world.view();
        for id in [FIRST, SECOND] {
            if view.sees_whole_page(id) {
                let number = world.system.number(id).expect("it has ended");
                assert!(number <= view.number(), "{number:?} is beyond the view's {:?}", view.number());
                assert!(!world.system.is_in_progress(id));
            }
        }
        threads.into_iter().for_each(|thread| drop(thread.join().unwrap()));
        assert!(world.view().sees_whole_page(SECOND), "the limit stays behind");
    });
}

#[test]
fn two_views_one_after_the_other_see_no_less() {
    explore(2, || {
        let world = World::new(2);
        let threads = [FIRST, SECOND].map(|id| world.spawn(move |world| world.commit(id)));
        let [before, after] = [0; 2].map(|_| {
            let view = world.view();
            [FIRST, SECOND].map(|id| view.sees(&world.system, id))
        });
        assert!(before.iter().zip(after).all(|(&before, after)| after || !before));
        threads.into_iter().for_each(|thread| drop(thread.join().unwrap()));
    });
}

/// The version before the first transaction, which purge destroys and readers need.
#[test]
fn the_horizon_does_not_pass_a_live_view() {
    explore(2, || {
        let world = World::new(2);
        world.end(SECOND, |_| TrxOutcome::Nothing);
        let old_version = Arc::new(UnsafeCell::new(()));
        let writer = world.spawn(|world| world.commit(FIRST));
        let reader = {
            let old_version = Arc::clone(&old_version);
            world.spawn(move |world| {
                let view = world.view();
                let sees = view.sees(&world.system, FIRST);
                if !sees {
                    old_version.with(|_| ());
                    assert!(!view.sees(&world.system, FIRST), "its id became all-visible under the view");
                }
                world.reader().clear_view();
            })
        };
        let horizon = world.system.purge_horizon();
        if world.system.number(FIRST).is_some_and(|number| number <= horizon) {
            old_version.with_mut(|_| ());
            world.system.free_undo(horizon);
        }
        writer.join().unwrap();
        reader.join().unwrap();
    });
}

/// Of the rollback that restores a delete mark and the purge that is to remove it, one removes the record.
#[test]
fn a_delete_mark_that_comes_back_is_removed_by_rollback_or_purge() {
    const REPLACED: u64 = 0;
    const MARKED: u64 = 1;
    const REMOVED: u64 = 2;
    explore(2, || {
        let world = World::new(1);
        let number = world.commit(FIRST);
        let last = UndoPtr(1 << 24 | 1);
        world.system.enqueue(PurgeEntry {
            id: FIRST,
            number,
            last,
            rest: last,
            first_undo: Lsn(100),
            has_values: false,
            values_freed: 0,
        });
        let record = Arc::new((Latch::new(), AtomicU64::new(REPLACED)));
        let rollback = {
            let record = Arc::clone(&record);
            world.spawn(move |world| {
                record.0.exclusive();
                let state = if world.system.purge_has_begun(FIRST) { REMOVED } else { MARKED };
                record.1.store(state, Ordering::Relaxed);
                record.0.release_exclusive();
            })
        };
        assert!(world.system.next_purge(world.system.purge_horizon(), 0).is_some());
        record.0.exclusive();
        if record.1.load(Ordering::Relaxed) == MARKED {
            record.1.store(REMOVED, Ordering::Relaxed);
        }
        record.0.release_exclusive();
        rollback.join().unwrap();
        assert_eq!(record.1.load(Ordering::Relaxed), REMOVED);
    });
}

#[test]
fn a_checkpoint_misses_no_transaction_whose_undo_lies_below_it() {
    explore(2, || {
        let world = World::new(1);
        let writer = world.spawn(|world| {
            let slot = &world.slots[0];
            slot.note_first_undo(Lsn(world.log.load(Ordering::Acquire)));
            // The frame with the undo, and later that of the commit.
            world.log.fetch_add(10, Ordering::AcqRel);
            let wants_purge = PurgeEntry {
                id: FIRST,
                number: Lsn(120),
                last: UndoPtr::NONE,
                rest: UndoPtr::NONE,
                first_undo: slot.first_undo(),
                has_values: false,
                values_freed: 0,
            };
            world.system.enqueue(wants_purge);
            world.commit(FIRST);
        });
        let safe = world.log.load(Ordering::Acquire);
        let listed = world.system.unfinished();
        let kept = world.system.first_unpurged();
        if safe > 100 {
            let first = listed.first().map(|(_, first)| *first).or(kept);
            assert_eq!(first, Some(Lsn(100)), "the log of its undo would go");
        }
        writer.join().unwrap();
    });
}

#[test]
fn who_begins_while_the_system_closes_is_refused_or_rolled_back() {
    explore(3, || {
        let world = World::new(0);
        let writer = world.spawn(|world| {
            let began = world.system.begin(world.reader());
            began.map(|id| world.system.end(world.reader(), id, |_| TrxOutcome::Nothing).is_ok())
        });
        world.system.close(|_| Ok::<_, Error>(TrxOutcome::Nothing)).unwrap();
        let open = world.reader().undo.lock().id();
        assert_eq!(open, None, "somebody writes in a closed system");
        let _ = writer.join().unwrap();
    });
}
