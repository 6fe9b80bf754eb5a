//! Tree pages and frames of the log whose bytes were changed and whose checksums were stamped again: reads
//! end in an error or in rows, other tables are untouched, and a startup that recovers refuses them or
//! continues.

use std::path::Path;
use std::sync::Arc;

use base::IndexId;
use base::checksum::crc32;
use base::codec::{get_u32, get_u64};
use base::prng::Prng;
use env::{Disk, OpenOptions, SimDisk};
use page::{PAGE_SIZE, PageBytes, PageRef, PageType, stamp_checksum};

use super::support::*;
use crate::*;

const DATA_FILE: &str = "/data/data.pages";
const ROWS: i32 = 400;
/// Bytes of a log file before its first frame.
const LOG_HEADER_BYTES: usize = 4096;

fn row(id: i32) -> Wide {
    let body = (id % 20 == 0).then(|| format!("{id} ").repeat(3000));
    Wide { body, ..Wide::new(id, id % 9, &format!("text of row {id:06} {}", "x".repeat(30))) }
}

/// Two tables with the same rows; the file is closed, or its server has lost its power after a checkpoint.
fn directory(is_closed: bool) -> (Arc<SimDisk>, [Vec<IndexId>; 2]) {
    let disk = Arc::new(SimDisk::new());
    let engine = open(&disk).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    let tables = ["t", "u"].map(|name| engine.create_table(wide_def(name)).unwrap());
    for table in &tables {
        for ids in [0..ROWS / 2, ROWS / 2..ROWS] {
            let mut trx = engine.begin(BeginOptions::default());
            for id in ids {
                insert(&engine, table, &mut trx, &row(id)).unwrap();
            }
            engine.commit(&mut trx).unwrap();
            engine.checkpoint().unwrap();
        }
    }
    for table in &tables {
        // Changes that recovery makes again.
        let mut trx = engine.begin(BeginOptions::default());
        insert(&engine, table, &mut trx, &row(ROWS)).unwrap();
        engine.commit(&mut trx).unwrap();
    }
    let indexes = tables.map(|table| table.index_ids().collect());
    if is_closed {
        engine.shutdown().unwrap();
    }
    (Arc::new(disk.crash()), indexes)
}

/// Opens the directory without the copies of the doublewrite files, which would undo damage.
fn open(disk: &Arc<SimDisk>) -> Result<Arc<Engine>> {
    Engine::open(EngineConfig { doublewrite: false, ..config(disk) })
}

/// Changes leaves of `indexes` on a copy of `disk`.
fn damaged(disk: &SimDisk, indexes: &[IndexId], mut damage: impl FnMut(&mut PageBytes)) -> Arc<SimDisk> {
    let disk = Arc::new(disk.crash());
    let file = disk.open(Path::new(DATA_FILE), OpenOptions::default()).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    for bytes in bytes.as_chunks_mut::<PAGE_SIZE>().0 {
        let page = PageRef::new(bytes);
        if page.page_type() == PageType::BTree && page.is_leaf() && indexes.contains(&page.index_id()) {
            damage(bytes);
            stamp_checksum(bytes);
        }
    }
    file.write_at(&bytes, 0).unwrap();
    disk
}

/// Reads all of a table by each of its indexes; the rows of each, or the error that ended it.
fn read_all(engine: &Arc<Engine>, name: &str) -> Vec<Result<usize>> {
    read_seen(engine, name, ReadView::newest())
}

/// The same of what `view` sees.
fn read_seen(engine: &Arc<Engine>, name: &str, view: ReadView) -> Vec<Result<usize>> {
    let table = engine.table("s", name).unwrap();
    let read = |index, direction| {
        let mut scan = Scan::open(engine, &table, index, view, KeyRange::all(), direction)?.detached();
        let mut rows = 0;
        while let Some(batch) = scan.next_batch()? {
            for row in batch.rows() {
                rows += 1;
                for position in (0..4).filter(|&position| table.indexes[index].format.covers(position)) {
                    if let Field::OffPage(reference) = row.field(position, &mut Vec::new()) {
                        engine.read_value(&reference, &mut Vec::new())?;
                    }
                }
                assert!(rows <= 4 * ROWS as usize, "a way without an end");
            }
        }
        Ok(rows)
    };
    let directions = [Direction::Forward, Direction::Backward];
    let ways = directions.iter().flat_map(|&direction| (0..4).map(move |index| (index, direction)));
    ways.map(|(index, direction)| read(index, direction)).collect()
}

#[test]
fn column_ends_that_leave_their_records_fail_the_reads_of_that_table_alone() {
    for is_closed in [true, false] {
        let (disk, [indexes, _]) = directory(is_closed);
        let disk = damaged(&disk, &indexes[..1], |bytes| {
            let payload = PageRef::new(bytes).payload(1);
            let from = payload.as_ptr().addr() - bytes.as_ptr().addr();
            // Behind the header and a byte of null bits.
            bytes[from + 18..from + 20].copy_from_slice(&[0xff, 0x7f]);
        });
        let engine = match open(&disk) {
            Ok(engine) => engine,
            // Recovery has the page in memory, with changes of its own.
            Err(error) => {
                assert!(!is_closed && error.is_corrupt_page(), "{error}");
                continue;
            }
        };
        assert!(is_closed);
        assert!(read_all(&engine, "u").into_iter().all(|rows| rows.unwrap() == ROWS as usize + 1));
        let read = read_all(&engine, "t");
        let is_refused = |rows: &Result<usize>| rows.as_ref().is_err_and(Error::is_corrupt_page);
        assert!(is_refused(&read[0]) && is_refused(&read[4]), "{read:?}");
        assert!(read[1..4].iter().all(Result::is_ok), "{read:?}");
    }
}

#[test]
fn changed_bytes_of_leaves_never_panic() {
    let mut prng = Prng::new(5);
    let (mut refused, mut starts_refused) = (0, 0);
    for is_closed in [true, false] {
        let (sound, [indexes, _]) = directory(is_closed);
        for _ in 0..60 {
            let disk = damaged(&sound, &indexes, |bytes| {
                let at = 16 + prng.below(PAGE_SIZE as u64 - 16) as usize;
                if prng.below(3) == 0 {
                    bytes[at] ^= 1 << prng.below(8);
                }
            });
            let Ok(engine) = open(&disk) else {
                starts_refused += 1;
                continue;
            };
            for read in read_all(&engine, "t") {
                refused += usize::from(read.is_err_and(|error| error.is_corrupt_page()));
            }
            assert!(read_all(&engine, "u").into_iter().all(|rows| rows.unwrap() == ROWS as usize + 1));
        }
    }
    assert!(refused > 40 && starts_refused > 5, "{refused} reads and {starts_refused} starts refused");
}

/// Frames of a log file: where each begins, and the bytes of its payload.
fn frames(log: &[u8]) -> Vec<(usize, usize)> {
    let (mut frames, mut from) = (Vec::new(), LOG_HEADER_BYTES);
    while let Some(header) = log.get(from..from + 8) {
        let len = get_u32(header, 0) as usize;
        if len == 0 || from + 8 + len > log.len() {
            break;
        }
        frames.push((from, len));
        from += 8 + len;
    }
    frames
}

/// Stamps the frame that begins at `from`, as docs/redo_log.md, section 2, has it.
fn stamp_frame(log: &mut [u8], from: usize, len: usize) {
    let lsn = get_u64(log, 40) + (from - LOG_HEADER_BYTES) as u64;
    let salt = ((lsn ^ (len as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
    let stamp = crc32(&log[from + 8..from + 8 + len]) ^ salt;
    log[from + 4..from + 8].copy_from_slice(&stamp.to_le_bytes());
}

/// A directory whose server lost its power: rows with values off page that were inserted, changed and deleted
/// by transactions that committed, were rolled back in part, or are open.
fn interrupted() -> Arc<SimDisk> {
    let disk = Arc::new(SimDisk::new());
    let engine = open(&disk).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..60 {
        insert(&engine, &table, &mut trx, &row(id)).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    for is_open in [false, true] {
        let mut trx = engine.begin(BeginOptions::default());
        for id in (0..60).filter(|id| id % 2 == i32::from(is_open)) {
            let body = (id % 3 == 0).then(|| "b".repeat(9000));
            let new = Wide { k: Some(id + 7), body, ..row(id) };
            update(&engine, &table, &mut trx, id, &new).unwrap();
            if id % 5 == 0 {
                delete(&engine, &table, &mut trx, id).unwrap();
            }
        }
        if is_open {
            engine.store().log().flush().unwrap();
            let disk = Arc::new(disk.crash());
            std::mem::forget(trx);
            return disk;
        }
        engine.commit(&mut trx).unwrap();
    }
    disk
}

/// The log's first file, and its bytes.
fn first_log_file(disk: &SimDisk) -> (&'static Path, Vec<u8>) {
    let path = Path::new("/data/redo/0000000000000001.redo");
    let file = disk.open(path, OpenOptions::default()).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    (path, bytes)
}

#[test]
fn changed_frames_of_the_log_never_panic() {
    let sound = interrupted();
    let (log, bytes) = first_log_file(&sound);
    let frames = frames(&bytes);
    assert!(frames.len() > 150, "{} frames", frames.len());
    assert!(open(&Arc::new(sound.crash())).is_ok());
    let mut prng = Prng::new(29);
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..600 {
        let mut bytes = bytes.clone();
        for _ in 0..=prng.below(2) {
            let (from, len) = frames[prng.below(frames.len() as u64) as usize];
            let at = from + 8 + prng.below(len.min(60) as u64) as usize;
            bytes[at] ^= 1 << prng.below(8);
            stamp_frame(&mut bytes, from, len);
        }
        let disk = Arc::new(sound.crash());
        disk.open(log, OpenOptions::default()).unwrap().write_at(&bytes, 0).unwrap();
        match open(&disk) {
            Ok(engine) => {
                opened += 1;
                read_all(&engine, "t");
            }
            Err(_) => refused += 1,
        }
    }
    assert!(opened > 50 && refused > 200, "{opened} opened, {refused} refused");
}

#[test]
fn changed_undo_of_an_open_transaction_is_refused_or_shows_rows_before_it_is_rolled_back() {
    let sound = interrupted();
    let (log, bytes) = first_log_file(&sound);
    let frames = frames(&bytes);
    // Those of the transaction that is open.
    let frames = &frames[frames.len() * 3 / 5..];
    let mut prng = Prng::new(31);
    let (mut opened, mut refused, mut unseen) = (0, 0, 0);
    for _ in 0..600 {
        let mut bytes = bytes.clone();
        let (from, len) = frames[prng.below(frames.len() as u64) as usize];
        // Undo follows the changes of pages: in the end of the frame.
        let at = from + 8 + len - 1 - prng.below(len.min(90) as u64) as usize;
        bytes[at] ^= 1 << prng.below(8);
        stamp_frame(&mut bytes, from, len);
        let disk = Arc::new(sound.crash());
        disk.open(log, OpenOptions::default()).unwrap().write_at(&bytes, 0).unwrap();
        let Ok(engine) = Engine::open_unfinished(&EngineConfig { doublewrite: false, ..config(&disk) })
        else {
            refused += 1;
            continue;
        };
        opened += 1;
        let mut trx = engine.begin(BeginOptions::default());
        let view = trx.view();
        for read in read_seen(&engine, "t", view) {
            unseen += usize::from(read.is_err_and(|error| matches!(error, Error::VersionDamaged { .. })));
        }
        // What cannot be undone is left.
        drop(engine.roll_back_unfinished());
        read_all(&engine, "t");
    }
    let told = format!("{opened} opened, {refused} refused, {unseen} versions that are no rows");
    assert!(opened > 50 && refused > 50 && unseen > 0, "{told}");
}
