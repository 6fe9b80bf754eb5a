//! Appending: order, wrap-around, concurrency, the thread that writes and syncs.

use std::sync::atomic::{AtomicBool, Ordering};

use env::IoOp;

use super::*;
use crate::LogPosition;

#[test]
fn frames_come_back_in_order_over_many_files_and_rings() {
    let (disk, log) = new_log(SMALL);
    let mut dice = base::prng::Prng::new(1);
    let mut expected = Vec::new();
    for n in 0..400u32 {
        // Some frames are longer than the ring and than a file.
        let len = dice.below(if n % 50 == 7 { 20_000 } else { 300 });
        let bytes: Vec<u8> = (0..len).map(|at| (at as u32 ^ n) as u8).collect();
        expected.push((append(&log, &bytes), bytes));
        if n % 10 == 0 {
            log.durable_up_to(log.current()).unwrap();
        }
    }
    log.flush().unwrap();
    let (found, reader) = read_all(&disk).unwrap();
    assert_eq!(found, expected);
    assert_eq!(reader.position(), log.current());
    assert!(names(&disk).len() > 5);
    assert!(!reader.is_clean());
}

#[test]
fn pieces_make_one_payload() {
    let (disk, log) = new_log(SMALL);
    let whole = payload(b"some bytes");
    let range = log.append(&whole[..1], &whole[1..]).range();
    log.flush().unwrap();
    assert_eq!(read_all(&disk).unwrap().0, [(range, b"some bytes".to_vec())]);
}

#[test]
fn a_lone_durable_commit_is_one_write_and_one_sync() {
    let (disk, log) = new_log(LogConfig::default());
    for _ in 0..10 {
        let before = (disk.count(IoOp::Write), disk.count(IoOp::Sync));
        let end = append(&log, &[1; 300]).end;
        log.durable_up_to(end).unwrap();
        assert_eq!((disk.count(IoOp::Write), disk.count(IoOp::Sync)), (before.0 + 1, before.1 + 1));
        log.durable_up_to(end).unwrap();
        log.flush().unwrap();
        assert_eq!(disk.count(IoOp::Sync), before.1 + 1, "durable already");
    }
    assert_eq!((log.stats().writes, log.stats().syncs), (10, 10));
}

#[test]
fn writing_alone_syncs_nothing() {
    let (disk, log) = new_log(SMALL);
    let syncs = disk.count(IoOp::Sync);
    let range = append(&log, b"x");
    log.written_up_to(range.end).unwrap();
    assert_eq!(disk.count(IoOp::Sync), syncs);
    assert_eq!(log.durable(), FIRST_LSN);
    assert_eq!(read_all(&disk).unwrap().0.len(), 1);
}

#[test]
fn a_frame_whose_pages_are_not_marked_holds_the_safe_position_back() {
    let (_, log) = new_log(SMALL);
    let first = append(&log, b"first");
    let pending = log.append(&[], &payload(b"second"));
    append(&log, b"third");
    assert_eq!(log.safe_lsn(), first.end);
    log.durable_up_to(first.end).unwrap();
    let second = pending.range();
    assert_eq!(log.durable(), second.start);
    drop(pending);
    log.flush().unwrap();
    assert_eq!(log.safe_lsn(), log.current());
}

#[test]
fn concurrent_appends_are_whole_in_order_and_durable_when_they_say_so() {
    let (disk, log) = new_log(SMALL);
    let mut expected: Vec<Filler> = std::thread::scope(|scope| {
        let work = |thread: u64| {
            let (log, disk) = (&log, &disk);
            move || {
                let mut dice = base::prng::Prng::new(thread);
                let mut frames = Vec::new();
                for n in 0..300u64 {
                    let bytes = vec![(thread * 31 + n) as u8; dice.below(400) as usize];
                    let range = append(log, &bytes);
                    frames.push((range, bytes));
                    if n.is_multiple_of(16) {
                        log.durable_up_to(range.end).unwrap();
                    }
                }
                let last = frames[frames.len() - 1].0.end;
                log.durable_up_to(last).unwrap();
                // Not to the end of the log, which moves while others write.
                let mut reader = reader(disk).unwrap();
                while reader.position() < last {
                    assert!(reader.next_frame().unwrap().is_some(), "durable");
                }
                frames
            }
        };
        let threads: Vec<_> = (0..6).map(|thread| scope.spawn(work(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    expected.sort_by_key(|(range, _)| range.start);
    assert_eq!(read_all(&disk).unwrap().0, expected);
    assert_eq!(log.stats().frames, 1800);
}

#[test]
fn committers_share_syncs() {
    let (_, log) = new_log(LogConfig::default());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let end = append(&log, &[0; 100]).end;
                    log.durable_up_to(end).unwrap();
                    assert!(log.durable() >= end);
                }
            });
        }
    });
    assert!(log.stats().syncs <= 400);
}

#[test]
fn changes_wait_for_admission_until_the_limit_moves() {
    let (_, log) = new_log(SMALL);
    log.admit().unwrap();
    log.set_admission(Lsn(u64::MAX), FIRST_LSN);
    let admitted = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ticket = log.checkpoint_wanted().ticket();
        scope.spawn(|| {
            log.admit().unwrap();
            admitted.store(true, Ordering::Release);
        });
        log.checkpoint_wanted().wait(ticket, None);
        assert!(!admitted.load(Ordering::Acquire));
        log.set_admission(Lsn(u64::MAX), Lsn(FIRST_LSN.0 + 1));
    });
    assert!(admitted.load(Ordering::Acquire));
    assert_eq!(log.stats().admission_waits, 1);
}
