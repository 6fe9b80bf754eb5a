//! Reserving, filling, flushing and checkpoints under the model checker: the whole log, over a disk in
//! memory.
//!
//! The ring's bytes have a race check: a leader that reads what is not filled, and an append that overwrites
//! what is not written, fail the model.

use base::sync::model::{JoinHandle, UnsafeCell, explore, spawn};
use env::SimDisk;

use super::*;
use crate::part::Part;
use crate::position::{FrameRange, LogPosition};
use crate::reader::LogReader;

const FIRST: u64 = 8192;
const IDENTITY: Identity = [9; 16];
/// Bytes of a frame with [`payload`].
const FRAME: u64 = FRAME_HEADER_BYTES + 3;

/// A log with a ring of this number of bytes.
fn new_log(buffer_bytes: usize) -> (SimDisk, Arc<Log>) {
    let disk = SimDisk::new();
    disk.create_dir(Path::new("redo")).unwrap();
    let config = LogConfig { capacity_bytes: 64 << 10, buffer_bytes, file_bytes_min: 8192 };
    let log = Log::create(&disk_of(&disk), Path::new("redo"), IDENTITY, Lsn(FIRST), config).unwrap();
    (disk, Arc::new(log))
}

fn disk_of(disk: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

fn payload(byte: u8) -> Vec<u8> {
    let mut payload = Vec::new();
    Part::Filler(&[byte]).encode(&mut payload);
    payload
}

fn append(log: &Log, byte: u8) -> FrameRange {
    log.append(&[], &payload(byte)).range()
}

fn at_once<R: 'static>(log: &Arc<Log>, work: impl FnOnce(&Log) -> R + 'static) -> JoinHandle<R> {
    let log = Arc::clone(log);
    spawn(move || work(&log))
}

/// The fillers in the files, each with where its frame lies.
fn read_back(disk: &SimDisk) -> Vec<(FrameRange, u8)> {
    let mut reader = LogReader::open(&disk_of(disk), Path::new("redo"), IDENTITY).unwrap();
    let mut found = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        for part in frame.parts() {
            if let Part::Filler(bytes) = part.unwrap() {
                found.push((frame.range, bytes[0]));
            }
        }
    }
    found
}

fn ensure_apart(ranges: &[FrameRange]) {
    for (n, one) in ranges.iter().enumerate() {
        for other in &ranges[n + 1..] {
            assert!(one.end <= other.start || other.end <= one.start, "{one:?} and {other:?} overlap");
        }
    }
}

#[test]
fn what_is_durable_is_filled_and_reservations_are_apart() {
    explore(2, || {
        let (disk, log) = new_log(64);
        let committer = at_once(&log, |log| {
            let range = append(log, 1);
            log.durable_up_to(range.end).unwrap();
            assert!(log.durable() >= range.end);
            range
        });
        let other = append(&log, 2);
        let durable = log.durable();
        let committed = committer.join().unwrap();
        ensure_apart(&[committed, other]);
        let found = read_back(&disk);
        assert!(found.contains(&(committed, 1)), "a durable frame is not there: {found:?}");
        assert!(other.end > durable || found.contains(&(other, 2)));
    });
}

#[test]
fn committers_who_follow_a_leader_are_woken() {
    explore(1, || {
        let (disk, log) = new_log(128);
        let commit = |byte| {
            move |log: &Log| {
                let range = append(log, byte);
                log.durable_up_to(range.end).unwrap();
                (range, byte)
            }
        };
        let threads = [at_once(&log, commit(1)), at_once(&log, commit(2))];
        let mut committed = threads.map(|thread| thread.join().unwrap());
        committed.sort_by_key(|(range, _)| range.start);
        assert_eq!(read_back(&disk), committed);
    });
}

#[test]
fn who_holds_the_files_wakes_who_waits_for_them() {
    explore(2, || {
        let (_, log) = new_log(64);
        let range = append(&log, 1);
        let committer = at_once(&log, move |log| log.durable_up_to(range.end).unwrap());
        log.last_checkpoint();
        committer.join().unwrap();
        assert!(log.durable() >= range.end);
    });
}

/// Frames of equal length, so that a position says which page a frame has changed.
#[test]
fn a_checkpoint_counts_on_no_page_that_is_not_marked() {
    explore(2, || {
        let (_, log) = new_log(64);
        let pages: Arc<[UnsafeCell<()>; 2]> = Arc::default();
        let change = |pages: &[UnsafeCell<()>; 2], log: &Log, byte| {
            let pending = log.append(&[], &payload(byte));
            let page = (pending.range().start.0 - FIRST) / FRAME;
            pages[page as usize].with_mut(|_| ());
        };
        let threads = [1, 2].map(|byte| {
            let pages = Arc::clone(&pages);
            at_once(&log, move |log| change(&pages, log, byte))
        });
        let safe = log.safe_lsn().0 - FIRST;
        assert!(safe.is_multiple_of(FRAME), "in the middle of a frame");
        pages[..(safe / FRAME) as usize].iter().for_each(|page| page.with(|_| ()));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(log.safe_lsn(), Lsn(FIRST + 2 * FRAME));
    });
}

#[test]
fn a_full_ring_is_not_overwritten() {
    explore(1, || {
        let (disk, log) = new_log(32);
        let other = at_once(&log, |log| [append(log, 1), append(log, 2)]);
        let mine = [append(&log, 3), append(&log, 4)];
        let ranges = [mine, other.join().unwrap()].concat();
        ensure_apart(&ranges);
        log.flush().unwrap();
        let mut found = read_back(&disk);
        found.sort_by_key(|(_, byte)| *byte);
        let expected: Vec<_> = [2, 3, 0, 1].iter().zip(1..).map(|(&at, byte)| (ranges[at], byte)).collect();
        assert_eq!(found, expected);
    });
}

/// The third frame takes a byte of the first, which a thread that appends nothing writes out.
#[test]
fn a_place_is_taken_again_only_after_it_was_written() {
    explore(2, || {
        let (disk, log) = new_log(32);
        let first = append(&log, 1);
        let leader = at_once(&log, move |log| log.written_up_to(first.end).unwrap());
        let ranges = [first, append(&log, 2), append(&log, 3)];
        leader.join().unwrap();
        log.flush().unwrap();
        assert!(ranges[2].end.0 > FIRST + 32, "the ring is not full");
        let expected: Vec<_> = ranges.into_iter().zip(1..).collect();
        assert_eq!(read_back(&disk), expected);
    });
}

#[test]
fn a_frame_longer_than_the_ring_gets_through_beside_others() {
    explore(1, || {
        let (disk, log) = new_log(32);
        let long = at_once(&log, |log| {
            let mut payload = Vec::new();
            Part::Filler(&[7; 40]).encode(&mut payload);
            log.append(&[], &payload).range()
        });
        let short = append(&log, 1);
        log.durable_up_to(short.end).unwrap();
        let long = long.join().unwrap();
        log.durable_up_to(long.end).unwrap();
        ensure_apart(&[long, short]);
        let mut found = read_back(&disk);
        found.sort_by_key(|(_, byte)| *byte);
        assert_eq!(found, [(short, 1), (long, 7)]);
    });
}

#[test]
fn of_those_who_decide_on_admission_none_is_forgotten() {
    const DUE: Lsn = Lsn(1 << 40);
    const LIMIT: Lsn = Lsn(1 << 41);
    explore(3, || {
        let (_, log) = new_log(32);
        let asker = at_once(&log, |log| log.set_check_of_changes(true));
        log.set_admission(DUE, LIMIT);
        asker.join().unwrap();
        assert!(log.admit_change().unwrap(), "the question is forgotten");
    });
    explore(3, || {
        let (_, log) = new_log(32);
        log.set_check_of_changes(true);
        let asker = at_once(&log, |log| log.set_check_of_changes(false));
        log.set_admission(DUE, LIMIT);
        asker.join().unwrap();
        assert_eq!(log.admission_limit.0.load(Ordering::Relaxed), LIMIT.0, "an older limit is in force");
    });
}
