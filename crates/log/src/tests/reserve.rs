//! The space that is kept ahead: changes are refused on a full disk, and what was admitted is not.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use env::IoError;

use super::*;
use crate::{Error, LogPosition, SpaceObserver};

/// Transactions that have logged everything from a position on and are all open.
#[derive(Debug, Default)]
struct Open {
    since: AtomicU64,
    told: AtomicUsize,
    waits_told: AtomicUsize,
    /// The disk on which space is freed for waiting writers.
    frees: OnceLock<SimDisk>,
}

impl SpaceObserver for Arc<Open> {
    fn rollback_bytes(&self, tail: Lsn) -> u64 {
        tail.0.saturating_sub(self.since.load(Ordering::Relaxed))
    }

    fn note_full(&self, _error: &IoError) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    fn note_wait(&self, _error: &IoError) {
        self.waits_told.fetch_add(1, Ordering::Relaxed);
        self.frees.get().expect("nobody is to wait").set_capacity(u64::MAX);
    }
}

/// A log on a disk with room for this number of bytes more, and its transactions.
fn log_with_room(bytes: u64) -> (SimDisk, Log, Arc<Open>) {
    let (disk, log) = new_log(SMALL);
    let open = Arc::new(Open { since: AtomicU64::new(u64::MAX), ..Open::default() });
    log.keep_space_ahead(Arc::new(Arc::clone(&open)));
    log.expect_checkpoints();
    disk.set_capacity(disk.used() + bytes);
    (disk, log, open)
}

/// Appends until a change is refused.
fn fill(log: &Log) -> u64 {
    let from = log.current();
    loop {
        match log.admit_change() {
            Ok(_) => log.durable_up_to(append(log, &[1; 300]).end).unwrap(),
            Err(Error::Full(_)) => return log.current().0 - from.0,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_full_disk_refuses_changes_until_there_is_room() {
    let (disk, log, open) = log_with_room(40 << 10);
    assert!(fill(&log) > 2 << 10);
    assert!(matches!(log.admit(), Err(Error::Full(_))), "a definition change is one, too");
    assert_eq!((fill(&log), open.told.load(Ordering::Relaxed)), (0, 1));
    disk.set_capacity(u64::MAX);
    log.admit_change().unwrap();
    disk.set_capacity(disk.used());
    assert!(fill(&log) > 0);
    assert_eq!(open.told.load(Ordering::Relaxed), 2, "told again after it had room");
}

#[test]
fn a_long_transaction_reserves_whole_files() {
    let (_disk, log) = new_log(LogConfig { capacity_bytes: 128 << 20, ..LARGE });
    let open = Arc::new(Open { since: AtomicU64::new(FIRST_LSN.0), ..Open::default() });
    log.keep_space_ahead(Arc::new(Arc::clone(&open)));
    while log.current().0 < 24 << 20 {
        log.admit_change().unwrap();
        let _ = append(&log, &vec![1; 64 << 10]);
    }
    let sizes: Vec<u64> = log.hold_writer().files.linked().iter().map(|file| file.head.size_bytes).collect();
    let whole = sizes.iter().filter(|&&size| size == 16 << 20).count();
    // A small one only where the log has come into its last file.
    assert!(whole >= 3 && sizes.len() <= 2 * whole, "{sizes:?}");
}

#[test]
fn files_that_are_waited_for_one_after_the_other_grow() {
    let (_disk, log) = new_log(LogConfig { capacity_bytes: 256 << 20, ..LARGE });
    let nothing_to_undo = Open { since: AtomicU64::new(u64::MAX), ..Open::default() };
    log.keep_space_ahead(Arc::new(Arc::new(nothing_to_undo)));
    let page = vec![7; 64 << 10];
    while log.hold_writer().files.linked().len() < 6 {
        log.admit_change().unwrap();
        let _ = append(&log, &page);
    }
    let linked = log.hold_writer().files.linked();
    let sizes: Vec<u64> = linked.iter().map(|file| file.head.size_bytes >> 20).collect();
    assert_eq!(sizes[..5], [1, 4, 8, 16, 32], "{sizes:?}");
}

#[test]
fn what_was_admitted_has_its_space() {
    let (disk, log, _) = log_with_room(40 << 10);
    fill(&log);
    let used = disk.used();
    for _ in 0..15 {
        log.admit_reserved().unwrap();
        log.durable_up_to(append(&log, &[2; 1000]).end).unwrap();
    }
    assert_eq!(disk.used(), used);
}

#[test]
fn undoing_everything_that_is_open_has_its_space() {
    let (disk, log, open) = log_with_room(100 << 10);
    open.since.store(FIRST_LSN.0, Ordering::Relaxed);
    let logged = fill(&log);
    let used = disk.used();
    assert!(logged > 16 << 10, "{logged}");
    for _ in 0..logged / 300 {
        log.admit_reserved().unwrap();
        log.durable_up_to(append(&log, &[2; 280]).end).unwrap();
    }
    assert_eq!(disk.used(), used);
}

#[test]
fn a_rollback_looks_at_the_files_once_for_many_records() {
    let (_disk, log, _) = log_with_room(40 << 10);
    fill(&log);
    log.set_admission(Lsn(u64::MAX), Lsn(u64::MAX - 1));
    log.admit_reserved().unwrap();
    // No other thread reads them meanwhile.
    let _writer = log.hold_writer();
    for _ in 0..10 {
        log.admit_reserved().unwrap();
        append(&log, &[2; 20]);
    }
}

#[test]
fn a_rollback_that_the_reserve_is_too_small_for_waits_for_space_and_leaves_the_last_of_it() {
    let (disk, log, open) = log_with_room(40 << 10);
    fill(&log);
    open.frees.get_or_init(|| disk.clone());
    let (log, stop) = (Arc::new(log), Arc::new(AtomicU64::new(0)));
    log.set_admission(Lsn(u64::MAX), Lsn(u64::MAX - 1));
    let rounds = {
        let (log, stop) = (Arc::clone(&log), Arc::clone(&stop));
        move || {
            while stop.load(Ordering::Acquire) == 0 {
                let ticket = log.checkpoint_wanted().ticket();
                log.set_admission(Lsn(u64::MAX), Lsn(u64::MAX - 1));
                log.note_round();
                log.checkpoint_wanted().wait(ticket, None);
            }
        }
    };
    let used = disk.used();
    std::thread::scope(|scope| {
        scope.spawn(rounds);
        while open.waits_told.load(Ordering::Relaxed) == 0 {
            assert_eq!(disk.used(), used);
            log.admit_reserved().unwrap();
            append(&log, &[2; 1000]);
        }
        log.flush().unwrap();
        assert!(disk.used() > used);
        stop.store(1, Ordering::Release);
        log.ask_for_checkpoint();
    });
    assert_eq!(open.waits_told.load(Ordering::Relaxed), 1);
}

#[test]
fn files_made_ahead_of_a_crash_stay_for_a_start_on_a_full_disk() {
    let (disk, log, _) = log_with_room(1 << 20);
    log.admit_change().unwrap();
    let capacity = log.file_bytes().0;
    log.durable_up_to(append(&log, &[1; 300]).end).unwrap();
    let disk = disk.crash();
    disk.set_capacity(0);
    let log = read_all(&disk).unwrap().1.into_log(SMALL).unwrap();
    assert_eq!(log.file_bytes().0, capacity);
    // As much as the files have room for, half of each of which is its header, and no more.
    while log.current().0 + 600 < FIRST_LSN.0 + capacity / 2 {
        log.durable_up_to(append(&log, &[2; 300]).end).unwrap();
    }
    for _ in 0..1000 {
        append(&log, &[3; 300]);
    }
    let refused = log.flush().unwrap_err();
    assert!(matches!(&refused, Error::Io(error) if error.is_out_of_space()), "{refused}");
}

#[test]
fn files_that_a_checkpoint_gives_back_are_used_before_a_change_is_refused() {
    let (disk, log, open) = log_with_room(40 << 10);
    let (log, stop) = (Arc::new(log), Arc::new(AtomicU64::new(0)));
    log.set_admission(Lsn(u64::MAX), Lsn(u64::MAX - 1));
    let checkpoints = {
        let (log, stop) = (Arc::clone(&log), Arc::clone(&stop));
        move || {
            while stop.load(Ordering::Acquire) == 0 {
                let ticket = log.checkpoint_wanted().ticket();
                if log.wants_files_back() {
                    log.checkpoint(log.safe_lsn(), Vec::new()).unwrap();
                }
                log.set_admission(Lsn(u64::MAX), Lsn(u64::MAX - 1));
                log.note_round();
                log.checkpoint_wanted().wait(ticket, None);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(checkpoints);
        for _ in 0..600 {
            log.admit_change().unwrap();
            log.durable_up_to(append(&log, &[1; 300]).end).unwrap();
        }
        stop.store(1, Ordering::Release);
        log.ask_for_checkpoint();
    });
    assert!(log.stats().files_recycled > 5);
    assert_eq!(open.told.load(Ordering::Relaxed), 0);
    assert!(read_all(&disk).is_ok());
}

#[test]
fn a_file_that_finds_no_room_leaves_nothing_behind() {
    let (disk, log, _) = log_with_room(3 << 10);
    let before = (names(&disk), disk.used());
    assert!(matches!(log.admit_change(), Err(Error::Full(_))));
    assert!(!log.prepare_file().unwrap());
    assert_eq!((names(&disk), disk.used()), before);
}
