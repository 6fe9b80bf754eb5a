//! Every order of appends, flushes and checkpoints, and a power failure anywhere.

#![cfg(debug_assertions)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use base::sync::{Event, sim};
use env::{FaultKind, IoError, SimDisk, simulate, spawn};

use super::*;
use crate::log::RING_BYTES_MIN;
use crate::{Error, LogPosition, SpaceObserver};

/// What happened before the power went off, seen from outside the simulation.
#[derive(Clone, Debug, Default)]
struct Seen(Arc<Mutex<Run>>);

#[derive(Debug, Default)]
struct Run {
    /// All frames, appended or about to be: those whose place is known.
    frames: Vec<Filler>,
    /// Everything below was said to be durable.
    durable: Lsn,
}

/// Three threads that append and commit, and a fourth that records checkpoints.
fn work(disk: &SimDisk, seed: u64, seen: &Seen) {
    disk.create_dir(dir()).unwrap();
    disk.sync_dir(Path::new("")).unwrap();
    let log = Arc::new(Log::create(&disk_of(disk), dir(), IDENTITY, FIRST_LSN, SMALL).unwrap());
    let committers: Vec<_> = (0..3u64)
        .map(|thread| {
            let (log, seen) = (Arc::clone(&log), seen.clone());
            let commit = move || {
                let mut dice = base::prng::Prng::new(seed * 4 + thread);
                for n in 0..12u64 {
                    // Some come into the ring piece by piece.
                    let longest = if dice.below(6) == 0 { 3 * RING_BYTES_MIN as u64 } else { 900 };
                    let bytes = vec![(thread * 50 + n) as u8; dice.below(longest) as usize];
                    let range = append(&log, &bytes);
                    seen.0.lock().unwrap().frames.push((range, bytes));
                    let Ok(()) = log.durable_up_to(range.end) else { return };
                    let mut run = seen.0.lock().unwrap();
                    run.durable = run.durable.max(range.end);
                }
            };
            spawn("committer", commit).unwrap()
        })
        .collect();
    let checkpoints = move || {
        for _ in 0..4 {
            if log.prepare_file().is_err() || log.checkpoint(log.safe_lsn(), Vec::new()).is_err() {
                return;
            }
        }
    };
    let checkpoints = spawn("checkpoints", checkpoints).unwrap();
    for thread in committers.into_iter().chain([checkpoints]) {
        thread.join();
    }
}

/// The frames that a log holds are the first ones that were appended from its checkpoint on, and all that
/// were durable.
fn assert_recovers(disk: &SimDisk, run: &mut Run, seed: u64) {
    // Before there was a durable log nothing was promised.
    let found = match read_all(disk) {
        Err(error) if run.durable == Lsn(0) => return drop(error),
        found => found,
    };
    let (found, reader) = found.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let redo_lsn = reader.checkpoint().redo_lsn;
    run.frames.sort_by_key(|(range, _)| range.start);
    run.frames.retain(|(range, _)| range.start >= redo_lsn);
    // A thread that was stopped between its append and its note left a frame that no list has.
    let known: Vec<_> = found.iter().filter(|frame| run.frames.contains(frame)).collect();
    assert!(found.len() - known.len() <= 3, "seed {seed}: frames that nobody wrote");
    let durable = run.frames.iter().filter(|(range, _)| range.end <= run.durable);
    for frame in durable {
        assert!(found.contains(frame), "seed {seed}: {:?} was durable", frame.0);
    }
    assert!(reader.position() >= run.durable.max(redo_lsn), "seed {seed}");
    let log = reader.into_log(SMALL).unwrap();
    let more = append(&log, b"more");
    log.flush().unwrap();
    let (again, _) = read_all(disk).unwrap();
    assert_eq!(again[..found.len()], found);
    assert_eq!(again[found.len()..], [(more, b"more".to_vec())]);
}

#[test]
fn what_was_durable_is_found_after_a_power_failure_anywhere() {
    let mut halted = 0;
    for seed in 0..300 {
        let disk = SimDisk::seeded(seed);
        let mut dice = base::prng::Prng::new(seed);
        disk.schedule(None, 20 + dice.below(140), FaultKind::PowerOff);
        let seen = Seen::default();
        let (inside, told) = (disk.clone(), seen.clone());
        let end = simulate(seed, 2_000_000, move || work(&inside, seed, &told));
        halted += u32::from(end.result.is_none());
        let crashed = disk.crash();
        assert_recovers(&crashed, &mut seen.0.lock().unwrap(), seed);
    }
    assert!(halted > 100, "{halted}");
}

#[test]
fn appends_and_flushes_in_any_order_lose_nothing() {
    for seed in 0..150 {
        let (disk, seen) = (SimDisk::seeded(seed), Seen::default());
        let (inside, told) = (disk.clone(), seen.clone());
        let end = simulate(seed, 2_000_000, move || work(&inside, seed, &told));
        assert!(end.result.is_some());
        assert_eq!(seen.0.lock().unwrap().frames.len(), 36);
        assert_recovers(&disk, &mut seen.0.lock().unwrap(), seed);
    }
}

/// Runs `decide` beside a [`Log::set_admission`] that leaves no room, in many orders; then `check`.
fn beside_a_narrower_limit(asked_before: bool, decide: fn(&Log), check: fn(&Arc<Log>)) {
    for seed in 0..100 {
        let end = simulate(seed, 100_000, move || {
            let disk = SimDisk::seeded(seed);
            disk.create_dir(dir()).unwrap();
            let log = Arc::new(Log::create(&disk_of(&disk), dir(), IDENTITY, FIRST_LSN, SMALL).unwrap());
            log.set_check_of_changes(asked_before);
            let decider = Arc::clone(&log);
            let decider = spawn("decider", move || decide(&decider)).unwrap();
            sim::switch();
            log.set_admission(FIRST_LSN, FIRST_LSN);
            decider.join();
            check(&log);
        });
        assert!(end.result.is_some());
    }
}

/// A change waits until there is room, and says whether it was asked to look elsewhere.
fn change_that_waits(log: &Arc<Log>) -> bool {
    let wanted = log.checkpoint_wanted().ticket();
    let changer = Arc::clone(log);
    let changer = spawn("changer", move || changer.admit_change().unwrap()).unwrap();
    // For ever, if the change was let in.
    log.checkpoint_wanted().wait(wanted, None);
    log.set_admission(Lsn(1 << 40), Lsn(1 << 41));
    changer.join().unwrap()
}

#[test]
fn of_two_who_decide_on_admission_at_once_none_is_forgotten() {
    beside_a_narrower_limit(
        false,
        |log| log.set_check_of_changes(true),
        |log| assert!(change_that_waits(log)),
    );
    beside_a_narrower_limit(
        true,
        |log| log.set_check_of_changes(false),
        |log| assert!(!change_that_waits(log)),
    );
    let fail = |log: &Log| drop(log.fail(Error::NoLog(dir().to_owned())));
    beside_a_narrower_limit(false, fail, |log| assert!(log.admit().is_err()));
}

/// A disk that stays full for an hour, and a rollback that the reserve is too small for: it asks for few
/// checkpoints, none of which gives anything back, and continues once there is room.
#[test]
fn a_rollback_on_a_full_disk_asks_for_few_checkpoints() {
    let run = simulate(1, 2_000_000, || {
        let (disk, log) = new_log(SMALL);
        let log = Arc::new(log);
        log.keep_space_ahead(Arc::new(Untold));
        log.expect_checkpoints();
        let unlimited = |log: &Log| log.set_admission(Lsn(u64::MAX), Lsn(u64::MAX - 1));
        unlimited(&log);
        disk.set_capacity(disk.used());
        let checkpoints = Arc::clone(&log);
        let (asked, is_over) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, stop) = (Arc::clone(&asked), Arc::clone(&is_over));
        let rounds = move || {
            while !stop.load(Ordering::Relaxed) {
                let ticket = checkpoints.checkpoint_wanted().ticket();
                counted.fetch_add(u32::from(checkpoints.wants_files_back()), Ordering::Relaxed);
                unlimited(&checkpoints);
                checkpoints.note_round();
                checkpoints.checkpoint_wanted().wait(ticket, None);
            }
        };
        let rounds = spawn("checkpoints", rounds).unwrap();
        let rolling_back = Arc::clone(&log);
        let rollback = move || {
            for _ in 0..12 {
                rolling_back.admit_reserved().unwrap();
                rolling_back.durable_up_to(append(&rolling_back, &[2; 1000]).end).unwrap();
            }
        };
        let rollback = spawn("rollback", rollback).unwrap();
        let sleep = Event::new();
        sleep.wait(sleep.ticket(), Some(env::deadline_in(Duration::from_hours(1))));
        let written = log.current();
        disk.set_capacity(u64::MAX);
        rollback.join();
        is_over.store(true, Ordering::Relaxed);
        log.ask_for_checkpoint();
        rounds.join();
        (asked.load(Ordering::Relaxed), written.0 < log.current().0)
    });
    let (asked, has_waited) = run.result.unwrap();
    assert!(has_waited && (2..150).contains(&asked), "{asked} checkpoints");
}

#[derive(Debug)]
struct Untold;

impl SpaceObserver for Untold {
    fn rollback_bytes(&self, _tail: Lsn) -> u64 {
        0
    }

    fn note_full(&self, _error: &IoError) {}

    fn note_wait(&self, _error: &IoError) {}
}
