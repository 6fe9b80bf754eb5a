//! Failing writes and syncs end the log.

use std::io::ErrorKind;

use env::{FaultKind, IoOp};

use super::*;
use crate::{Error, LogPosition};

fn failing(op: IoOp) -> (SimDisk, Log) {
    let (disk, log) = new_log(SMALL);
    log.durable_up_to(append(&log, b"before").end).unwrap();
    disk.schedule(Some(op), 1, FaultKind::Error(ErrorKind::Other));
    (disk, log)
}

#[test]
fn a_failed_write_or_sync_is_told_to_everybody_and_never_retried() {
    for op in [IoOp::Write, IoOp::Sync] {
        let (disk, log) = failing(op);
        let durable = log.durable();
        let end = append(&log, b"lost").end;
        let error = log.durable_up_to(end).unwrap_err();
        assert!(matches!(&error, Error::Io(io) if io.op == op && io.kind == ErrorKind::Other));
        let counts = (disk.count(IoOp::Write), disk.count(IoOp::Sync));
        assert_eq!(log.durable_up_to(end), Err(error.clone()));
        assert_eq!(log.flush(), Err(error.clone()));
        assert_eq!(log.checkpoint(FIRST_LSN, Vec::new()), Err(error.clone()));
        assert_eq!(log.prepare_file(), Err(error.clone()));
        assert_eq!(log.admit(), Err(error));
        assert_eq!((disk.count(IoOp::Write), disk.count(IoOp::Sync)), counts);
        assert_eq!(log.durable(), durable);
    }
}

#[test]
fn what_was_durable_before_stays_so() {
    let (_, log) = failing(IoOp::Sync);
    let durable = log.durable();
    append(&log, b"lost");
    log.flush().unwrap_err();
    assert_eq!(log.durable_up_to(durable), Ok(()));
}

#[test]
fn appends_after_a_failure_neither_wait_nor_hang() {
    let (_, log) = failing(IoOp::Write);
    for _ in 0..100 {
        append(&log, &[1; 1000]);
    }
    assert!(log.flush().is_err());
}

#[test]
fn all_waiting_committers_get_the_failure() {
    let (_, log) = failing(IoOp::Sync);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let end = append(&log, &[1; 50]).end;
                assert!(log.durable_up_to(end).is_err());
            });
        }
    });
}

#[test]
fn a_file_that_cannot_be_made_ends_the_log() {
    let (disk, log) = new_log(SMALL);
    disk.schedule(Some(IoOp::Create), 1, FaultKind::Error(ErrorKind::Other));
    append(&log, &[1; 6000]);
    assert!(log.flush().is_err());
    assert!(log.admit().is_err());
}

#[test]
fn a_sync_that_finds_the_disk_full_ends_the_log() {
    let (disk, log) = new_log(SMALL);
    disk.schedule(Some(IoOp::Sync), 1, FaultKind::Error(ErrorKind::StorageFull));
    append(&log, b"lost");
    assert!(log.flush().is_err() && log.admit().is_err());
}

#[test]
fn what_finds_the_disk_full_is_done_again_when_there_is_room() {
    for op in [IoOp::Write, IoOp::Create, IoOp::Resize, IoOp::Rename] {
        for nth in 1..6 {
            let (disk, log) = new_log(SMALL);
            disk.schedule(Some(op), nth, FaultKind::Error(ErrorKind::StorageFull));
            let frames: Vec<_> = (0..40u8)
                .map(|n| {
                    let range = append(&log, &[n; 700]);
                    log.durable_up_to(range.end).unwrap();
                    (range, vec![n; 700])
                })
                .collect();
            assert_eq!(disk.happened().len(), 1, "{op:?} {nth}");
            assert_eq!(read_all(&disk).unwrap().0, frames, "{op:?} {nth}");
        }
    }
}
