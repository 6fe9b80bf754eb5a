//! Threads, time, randomness and power failure in simulations.

#![allow(clippy::unwrap_used, reason = "test code")]

use super::*;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use base::sync::park::Wake;
use base::sync::{Event, Latch, LatchLevel, Mutex, plain};

use crate::{
    Clock, Disk, FaultKind, File, IoOp, OpenOptions, RealClock, SimDisk, Thread, deadline_in, random_bytes,
    spawn,
};

const STEPS_MAX: u64 = 1_000_000;

fn run<T: Send + 'static>(seed: u64, main: impl FnOnce() -> T + Send + 'static) -> Simulated<T> {
    simulate(seed, STEPS_MAX, main)
}

fn join(threads: Vec<Thread<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Three threads that note their turns under every kind of lock; returns the order of turns.
fn turns() -> Vec<u32> {
    let mutex = Arc::new(Mutex::new(LatchLevel::Leaf, Vec::new()));
    let (latch, plain) = (Arc::new(Latch::new()), Arc::new(plain::Mutex::new(0)));
    let threads: Vec<_> = (0..3)
        .map(|n| {
            let (mutex, latch, plain) = (Arc::clone(&mutex), Arc::clone(&latch), Arc::clone(&plain));
            let work = move || {
                for _ in 0..5 {
                    latch.exclusive();
                    mutex.lock().push(n);
                    latch.release_exclusive();
                    *plain.lock() += 1;
                }
            };
            spawn("worker", work).unwrap()
        })
        .collect();
    join(threads);
    assert_eq!(*plain.lock(), 15);
    let turns = mutex.lock();
    turns.clone()
}

#[test]
fn one_seed_is_one_run_and_other_seeds_are_others() {
    let mut runs = BTreeSet::new();
    for seed in 0..30 {
        let (first, second) = (run(seed, turns), run(seed, turns));
        assert_eq!((&first.result, first.trace), (&second.result, second.trace), "seed {seed}");
        runs.insert(first.result.unwrap());
    }
    assert!(runs.len() > 10, "only {} different runs", runs.len());
}

#[test]
fn a_lost_update_is_found_and_a_latch_prevents_it() {
    let count = |seed: u64, latched: bool| {
        let add = move || {
            let (count, latch) = (Arc::new(AtomicU32::new(0)), Arc::new(Latch::new()));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let (count, latch) = (Arc::clone(&count), Arc::clone(&latch));
                    let work = move || {
                        if latched {
                            latch.exclusive();
                        }
                        let before = count.load(Ordering::Relaxed);
                        base::sync::sim::switch();
                        count.store(before + 1, Ordering::Relaxed);
                        if latched {
                            latch.release_exclusive();
                        }
                    };
                    spawn("adder", work).unwrap()
                })
                .collect();
            join(threads);
            count.load(Ordering::Relaxed)
        };
        run(seed, add).result.unwrap()
    };
    assert!((0..200).any(|seed| count(seed, false) == 1));
    assert!((0..200).all(|seed| count(seed, true) == 2));
}

#[test]
fn waiting_takes_simulated_time_only() {
    let started = std::time::Instant::now();
    let waited = run(1, || {
        let event = Event::new();
        let before = RealClock.monotonic_ns();
        assert_eq!(event.wait(event.ticket(), Some(deadline_in(Duration::from_secs(3600)))), Wake::TimedOut);
        let (gate, condvar) = (plain::Mutex::new(()), plain::Condvar::new());
        assert!(condvar.wait_for(&mut gate.lock(), Duration::from_secs(60)).timed_out());
        Duration::from_nanos(RealClock.monotonic_ns() - before).as_secs()
    });
    assert_eq!(waited.result, Some(3660));
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn notifications_reach_waiters_of_every_kind() {
    for seed in 0..100 {
        run(seed, || {
            let shared = Arc::new((plain::Mutex::new(0), plain::Condvar::new(), plain::RwLock::new(0)));
            let waiter = {
                let shared = Arc::clone(&shared);
                let wait = move || {
                    let mut value = shared.0.lock();
                    while *value == 0 {
                        shared.1.wait(&mut value);
                    }
                    *value + *shared.2.read()
                };
                spawn("waiter", wait).unwrap()
            };
            *shared.2.write() += 10;
            *shared.0.lock() += 1;
            shared.1.notify_one();
            assert_eq!(waiter.join(), Some(11));
        });
    }
}

#[test]
fn readers_share_and_a_writer_is_alone() {
    for seed in 0..50 {
        run(seed, || {
            let lock = Arc::new((plain::RwLock::new(()), AtomicU64::new(0)));
            let threads: Vec<_> = (0..4)
                .map(|n| {
                    let lock = Arc::clone(&lock);
                    let work = move || {
                        let _guards =
                            if n < 2 { (Some(lock.0.write()), None) } else { (None, Some(lock.0.read())) };
                        let unit = if n < 2 { 1000 } else { 1 };
                        let before = lock.1.fetch_add(unit, Ordering::Relaxed);
                        base::sync::sim::switch();
                        lock.1.fetch_sub(unit, Ordering::Relaxed);
                        assert!(if n < 2 { before == 0 } else { before < 1000 });
                    };
                    spawn("user", work).unwrap()
                })
                .collect();
            join(threads);
        });
    }
}

#[test]
fn randomness_and_civil_time_come_from_the_seed() {
    let draw = || {
        let mut bytes = [0; 20];
        random_bytes(&mut bytes).unwrap();
        (bytes, RealClock.wall())
    };
    assert_eq!(run(5, draw).result, run(5, draw).result);
    assert_ne!(run(5, draw).result.unwrap().0, run(6, draw).result.unwrap().0);
}

#[test]
#[should_panic(expected = "simulation 3: nobody can run: main is Parked")]
fn a_deadlock_is_reported_with_its_seed() {
    run(3, || {
        let event = Event::new();
        event.wait(event.ticket(), None);
    });
}

#[test]
#[should_panic(expected = "simulation 4: too many steps")]
fn a_run_without_end_is_reported() {
    simulate(4, 1000, || {
        loop {
            base::sync::sim::switch();
        }
    });
}

#[test]
#[should_panic(expected = "simulation 9: a thread panicked")]
fn a_panic_of_any_thread_ends_the_simulation() {
    run(9, || {
        let never = Event::new();
        let _thread = spawn("unlucky", || panic!("on purpose")).unwrap();
        never.wait(never.ticket(), None);
    });
}

#[test]
fn power_failure_ends_the_simulation_and_the_disk_can_be_restarted() {
    let mut lens = BTreeSet::new();
    for seed in 0..50 {
        let disk = SimDisk::seeded(seed);
        disk.schedule(None, 4 + seed % 20, FaultKind::PowerOff);
        let files = disk.clone();
        let outcome = run(seed, move || {
            let file = files.create(Path::new("f"), OpenOptions::default()).unwrap();
            files.sync_dir(Path::new("")).unwrap();
            let threads: Vec<_> =
                (0..3).map(|n| spawn("writer", write(Arc::clone(&file), n)).unwrap()).collect();
            join(threads);
        });
        assert_eq!(outcome.result, None);
        let disk = disk.crash();
        lens.insert(disk.open(Path::new("f"), OpenOptions::default()).unwrap().len().unwrap());
        assert_eq!(disk.count(IoOp::Write), 0);
    }
    assert!(lens.len() > 3, "{lens:?}");
}

fn write(file: Arc<dyn File>, n: u64) -> impl FnOnce() + Send {
    move || {
        for round in 0..10 {
            file.write_at(&[n as u8; 512], (round * 3 + n) * 512).unwrap();
            file.sync_data().unwrap();
        }
    }
}
