//! Files: checkpoints, recycling, capacity, opening again.

use base::UndoPtr;
use env::IoOp;

use super::*;
use crate::{LogPosition, TrxPhase, TrxState};

/// Appends and flushes about `bytes` bytes of frames.
fn fill(log: &Log, bytes: u64) -> Vec<Filler> {
    let end = log.current().0 + bytes;
    let mut frames = Vec::new();
    while log.current().0 < end {
        let bytes = vec![frames.len() as u8; 200];
        frames.push((append(log, &bytes), bytes));
    }
    log.flush().unwrap();
    frames
}

#[test]
fn a_checkpoint_gives_files_back_and_moves_the_start() {
    let (disk, log) = new_log(SMALL);
    for round in 0..30 {
        fill(&log, 10_000);
        let redo_lsn = log.safe_lsn();
        log.checkpoint(redo_lsn, Vec::new()).unwrap();
        let expected = fill(&log, 1_000);
        let (found, reader) = read_all(&disk).unwrap();
        assert_eq!(found, expected, "round {round}");
        assert_eq!(reader.checkpoint(), log.last_checkpoint());
        assert_eq!(reader.checkpoint().redo_lsn, redo_lsn);
        assert!(log.file_bytes().0 <= SMALL.capacity_bytes);
    }
    assert!(disk.count(IoOp::Create) < 20, "files are used again");
}

#[test]
fn transactions_of_a_checkpoint_come_back() {
    let (disk, log) = new_log(SMALL);
    let redo_lsn = append(&log, b"undo of the transaction").start;
    let state = TrxState {
        trx: base::TrxId(7),
        phase: TrxPhase::Active,
        first_undo: redo_lsn,
        newest_undo: UndoPtr(99),
        spilled_bytes: 0,
    };
    log.checkpoint(redo_lsn, vec![state]).unwrap();
    let mut reader = reader(&disk).unwrap();
    let mut seen = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        seen.extend(frame.parts().map(Result::unwrap).filter_map(|part| match part {
            Part::Checkpoint { redo_lsn, transactions } => Some((redo_lsn, transactions)),
            _ => None,
        }));
    }
    assert_eq!(seen, [(redo_lsn, vec![state])]);
}

#[test]
fn a_closed_log_is_clean_and_goes_on_where_it_ended() {
    let (disk, mut log) = new_log(SMALL);
    let mut end = FIRST_LSN;
    for _ in 0..20 {
        assert!(log.current() >= end, "positions never repeat");
        let kept = fill(&log, 5_000);
        let clean = log.close().unwrap();
        assert_eq!(clean, log.current());
        end = clean;
        let (found, reader) = read_all(&disk).unwrap();
        assert!(found.is_empty() && !kept.is_empty());
        assert!(reader.is_clean());
        log = reader.into_log(SMALL).unwrap();
        assert_eq!(log.current(), end);
        assert!(!read_all(&disk).unwrap().1.is_clean(), "an open log is not marked as closed");
    }
}

#[test]
fn a_log_that_was_not_closed_is_read_from_the_checkpoint_and_goes_on() {
    let (disk, mut log) = new_log(SMALL);
    let mut expected = Vec::new();
    for round in 0..10 {
        expected.extend(fill(&log, 3_000));
        append(&log, b"never written");
        let (found, reader) = read_all(&disk).unwrap();
        assert_eq!(found, expected, "round {round}");
        log = reader.into_log(SMALL).unwrap();
    }
}

#[test]
fn files_prepared_ahead_spare_the_committer_the_work() {
    let (disk, log) = new_log(SMALL);
    let mut made = 0;
    for _ in 0..200 {
        made += u32::from(log.prepare_file().unwrap());
        let (creates, syncs) = (disk.count(IoOp::Create), disk.count(IoOp::Sync));
        log.durable_up_to(append(&log, &[0; 100]).end).unwrap();
        assert_eq!(disk.count(IoOp::Create), creates);
        assert!(disk.count(IoOp::Sync) - syncs <= 2, "a commit that ends in the next file syncs both");
    }
    assert!(made >= 5);
    let (found, reader) = read_all(&disk).unwrap();
    assert_eq!(found.len(), 200);
    let log = reader.into_log(SMALL).unwrap();
    assert_eq!(fill(&log, 20_000).len() + 200, read_all(&disk).unwrap().0.len());
}

/// Appends until there is a next file, preparing it where that is due; bytes of the last file that were
/// written before.
fn written_before_next(log: &Log) -> u64 {
    loop {
        let (begin, end) = {
            let writer = log.hold_writer();
            let last = writer.files.linked().pop().unwrap();
            (last.head.first_lsn, last.end())
        };
        let written = log.current().0.saturating_sub(begin.0);
        if log.prepare_file().unwrap() && log.hold_writer().files.end() > end {
            return written;
        }
        fill(log, 200);
    }
}

#[test]
fn the_next_file_is_made_early_within_the_capacity_and_later_beyond_it() {
    let (_disk, log) = new_log(SMALL);
    let file_bytes = SMALL.file_bytes();
    let room = file_bytes - crate::header::HEADER_BYTES;
    // The first file is as large as the others: two to eight of them are within the capacity.
    for files in 2..=SMALL.capacity_bytes / file_bytes {
        let written = written_before_next(&log);
        assert!((room / 8..room / 4).contains(&written), "file {files}: after {written} bytes");
    }
    let written = written_before_next(&log);
    assert!((room / 2..room * 5 / 8).contains(&written), "beyond: after {written} bytes");
}

#[test]
fn a_file_that_is_waited_for_is_small() {
    let (disk, log) = new_log(LogConfig { capacity_bytes: 128 << 20, ..LARGE });
    let page = vec![7; 64 << 10];
    let first = log.hold_writer().files.end();
    while log.current() <= first {
        let _ = append(&log, &page);
    }
    log.flush().unwrap();
    assert_eq!(log.hold_writer().files.end(), Lsn(first.0 + (4 << 20) - crate::header::HEADER_BYTES));
    fill(&log, 2 << 20);
    let syncs = disk.count(IoOp::Sync);
    assert!(log.prepare_file().unwrap());
    assert!(disk.count(IoOp::Sync) - syncs >= 4, "its zeros are synced in parts");
    let writer = log.hold_writer();
    assert_eq!(writer.files.linked().pop().unwrap().head.size_bytes, 16 << 20);
}

#[test]
fn nothing_of_an_earlier_use_is_left_in_a_begun_block() {
    let (disk, log) = new_log(LogConfig { capacity_bytes: 256 << 10, ..SMALL });
    for round in 0..3_000 {
        log.durable_up_to(append(&log, &vec![0xff; 1 + round % 700]).end).unwrap();
        let end = log.current();
        if let Some(file) = log.hold_writer().files.linked().into_iter().find(|file| file.holds(end)) {
            let offset = file.offset(end) as usize;
            let rest = &bytes_of(&disk, &file.name)[offset..offset.next_multiple_of(4096)];
            assert!(rest.iter().all(|byte| *byte == 0), "round {round}, {end}");
        }
        if round % 50 == 0 {
            log.checkpoint(log.safe_lsn(), Vec::new()).unwrap();
        }
    }
    assert!(log.stats().files_recycled > 20);
    assert!(read_all(&disk).unwrap().0.len() >= 49);
}

#[test]
fn capacity_changes_while_the_log_is_in_use() {
    let (_, log) = new_log(SMALL);
    let churn = |rounds: u32| {
        for _ in 0..rounds {
            fill(&log, 7_000);
            log.checkpoint(log.safe_lsn(), Vec::new()).unwrap();
        }
        log.file_bytes().0
    };
    churn(20);
    log.set_capacity(512 << 10).unwrap();
    assert!(churn(60) > 64 << 10);
    log.set_capacity(32 << 10).unwrap();
    assert!(churn(100) <= 64 << 10);
}

#[test]
fn another_directory_s_log_is_refused() {
    let (disk, log) = new_log(SMALL);
    log.close().unwrap();
    let refused = LogReader::open(&disk_of(&disk), dir(), [8; 16]).unwrap_err();
    assert_eq!(refused, crate::Error::NoLog(dir().to_path_buf()));
}
