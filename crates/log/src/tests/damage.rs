//! Torn tails, rotten bits, files that are short or gone.

use super::*;
use crate::{Error, LogPosition};

/// A log with a synced part, and after `synced` frames of which nothing says that they were durable.
struct Example {
    disk: SimDisk,
    frames: Vec<Filler>,
    /// Frames that a later flush proves durable.
    proven: usize,
}

fn example() -> Example {
    let (disk, log) = new_log(SMALL);
    let mut frames = Vec::new();
    let mut proven = 0;
    for n in 0..12u8 {
        let bytes = vec![n; 40 + usize::from(n)];
        frames.push((append(&log, &bytes), bytes));
        if n % 4 == 3 {
            proven = frames.iter().filter(|(range, _)| range.end <= log.durable()).count();
            log.durable_up_to(log.current()).unwrap();
        }
    }
    assert_eq!((frames.len(), proven), (12, 8));
    Example { disk, frames, proven }
}

/// The one file, and where in it a position is.
fn place(disk: &SimDisk, lsn: Lsn) -> (PathBuf, u64) {
    let name = names(disk).remove(0);
    (name, 4096 + lsn.0 - FIRST_LSN.0)
}

#[test]
fn a_tail_torn_at_any_byte_ends_the_log_before_the_torn_frame() {
    let Example { disk, frames, proven } = example();
    let (name, start) = place(&disk, frames[proven].0.start);
    let end = place(&disk, read_all(&disk).unwrap().1.position()).1;
    for cut in start..end {
        let torn = copy(&disk);
        let file = torn.open(&name, OpenOptions::default()).unwrap();
        file.write_at(&vec![0; (end - cut) as usize], cut).unwrap();
        let (found, reader) = read_all(&torn).unwrap();
        let whole = frames.iter().filter(|(range, _)| place(&torn, range.end).1 <= cut).count();
        assert_eq!(found, frames[..whole], "cut at {cut}");
        // The log continues there, and what is appended is found after what was whole.
        let log = reader.into_log(SMALL).unwrap();
        let more = append(&log, b"more");
        log.flush().unwrap();
        let (found, _) = read_all(&torn).unwrap();
        assert_eq!(found[..whole], frames[..whole]);
        assert_eq!(found[whole..], [(more, b"more".to_vec())]);
    }
}

#[test]
fn frames_behind_a_torn_one_never_come_back() {
    let Example { disk, frames, proven } = example();
    let lost = frames[proven].0;
    let (name, offset) = place(&disk, lost.start);
    disk.flip_bit(&name, offset + 20);
    let (found, reader) = read_all(&disk).unwrap();
    assert_eq!((found.len(), reader.position()), (proven, lost.start));
    let log = reader.into_log(SMALL).unwrap();
    // Fills the hole exactly, so that the next old frame would follow.
    append(&log, &frames[proven].1);
    log.written_up_to(log.current()).unwrap();
    assert_eq!(read_all(&disk).unwrap().0.len(), proven + 1);
}

#[test]
fn a_flipped_bit_below_what_was_durable_is_damage_with_file_and_offset() {
    let Example { disk, frames, proven } = example();
    let end = read_all(&disk).unwrap().1.position();
    for at in FIRST_LSN.0..end.0 {
        let rotten = copy(&disk);
        let (name, offset) = place(&rotten, Lsn(at));
        rotten.flip_bit(&name, offset);
        match read_all(&rotten) {
            Err(Error::Damaged(damage)) => {
                assert!(Lsn(at) < frames[proven].0.start, "byte {at}");
                assert_eq!(damage.file, name);
                assert!(damage.offset <= offset && damage.lsn.0 <= at && damage.durable > damage.lsn);
            }
            Ok((found, _)) => {
                assert!(at >= frames[proven - 1].0.end.0, "byte {at} was durable");
                assert!(found.len() >= proven);
            }
            Err(error) => panic!("byte {at}: {error}"),
        }
    }
}

#[test]
fn a_short_file_is_a_torn_tail_or_damage() {
    let Example { disk, frames, proven } = example();
    let end = place(&disk, read_all(&disk).unwrap().1.position()).1;
    for len in (4096..end).step_by(7) {
        let short = copy(&disk);
        let (name, proven_end) = place(&short, frames[proven - 1].0.end);
        short.open(&name, OpenOptions::default()).unwrap().set_len(len).unwrap();
        // Nothing after the cut is left to prove what was durable, but what is before it.
        match read_all(&short) {
            Ok((found, _)) => assert_eq!(found, frames[..found.len()]),
            Err(Error::Damaged(damage)) => assert!(damage.offset <= len && len < proven_end),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_missing_file_in_the_middle_is_damage_and_is_named() {
    let (disk, log) = new_log(SMALL);
    for _ in 0..100 {
        log.durable_up_to(append(&log, &[5; 300]).end).unwrap();
    }
    let all = names(&disk);
    assert!(all.len() > 5);
    for (at, name) in all.iter().enumerate() {
        let gap = copy(&disk);
        gap.remove(name).unwrap();
        match (at, read_all(&gap)) {
            (0, Err(Error::NoLog(_) | Error::Damaged(_))) => {}
            (_, Err(Error::Damaged(damage))) => assert_eq!(&damage.file, name),
            // The last file may hold nothing that was proven durable.
            (_, Ok(_)) => assert_eq!(at, all.len() - 1),
            (_, Err(error)) => panic!("{error}"),
        }
    }
}

#[test]
fn a_damaged_header_in_the_middle_is_damage() {
    let (disk, log) = new_log(SMALL);
    for _ in 0..100 {
        log.durable_up_to(append(&log, &[5; 300]).end).unwrap();
    }
    let name = names(&disk).remove(2);
    disk.flip_bit(&name, 40);
    assert!(matches!(read_all(&disk), Err(Error::Damaged(damage)) if damage.file == name));
}

#[test]
fn an_interrupted_recycling_leaves_a_log_that_opens() {
    let (disk, log) = new_log(SMALL);
    for _ in 0..60 {
        log.durable_up_to(append(&log, &[5; 300]).end).unwrap();
    }
    let expected = append(&log, b"last");
    log.flush().unwrap();
    log.checkpoint(expected.start, Vec::new()).unwrap();
    // A spare was renamed to the next number and its header not written yet.
    let all = names(&disk);
    assert!(all.len() > 3);
    let last = all.iter().rposition(|name| *name > all[0]).unwrap();
    let number = u64::from_str_radix(all[last].file_stem().unwrap().to_str().unwrap(), 16).unwrap();
    disk.rename(&all[0], &dir().join(format!("{:016x}.redo", number + 1))).unwrap();
    let (found, reader) = read_all(&disk).unwrap();
    assert_eq!(found, [(expected, b"last".to_vec())]);
    let log = reader.into_log(SMALL).unwrap();
    for _ in 0..60 {
        append(&log, &[6; 300]);
    }
    log.flush().unwrap();
    assert_eq!(read_all(&disk).unwrap().0.len(), 61);
}

#[test]
fn a_log_that_is_read_again_must_be_what_it_was() {
    let Example { disk, frames, .. } = example();
    let (_, mut reader) = read_all(&disk).unwrap();
    let end = reader.position();
    reader.rewind();
    assert_eq!(reader.skip_to_end().unwrap(), end);
    reader.rewind();
    // Nothing says that the last frame was durable, but it was there a moment ago.
    let last = frames.last().unwrap().0;
    let (name, at) = place(&disk, last.start);
    disk.open(&name, OpenOptions::default()).unwrap().write_at(&[0xff], at + 9).unwrap();
    let Err(Error::Damaged(damage)) = reader.skip_to_end() else { panic!("the change was not seen") };
    assert_eq!((damage.file.clone(), damage.offset, damage.lsn, damage.durable), (name, at, last.start, end));
}

#[test]
fn a_frame_longer_than_what_is_read_at_a_time_is_found_whole() {
    let big = LogConfig { capacity_bytes: 64 << 20, buffer_bytes: 1 << 20, file_bytes_min: 1 << 20 };
    let (disk, log) = new_log(big);
    let mut frames = Vec::new();
    for bytes in [1, 9 << 20, 70, (4 << 20) - 40, 5 << 20, 3] {
        let bytes = vec![bytes as u8; bytes];
        frames.push((append(&log, &bytes), bytes));
    }
    log.flush().unwrap();
    assert!(read_all(&disk).unwrap().0 == frames);
}
