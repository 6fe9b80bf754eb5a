//! Tree pages whose bytes were changed and whose checksums were stamped again: reads of them end in an error or in rows, other
//! tables are untouched, and a start that recovers them refuses them or goes on.

use std::path::Path;
use std::sync::Arc;

use base::IndexId;
use base::prng::Prng;
use env::{Disk, OpenOptions, SimDisk};
use page::{PAGE_SIZE, PageBytes, PageRef, PageType, stamp_checksum};

use super::support::*;
use crate::*;

const DATA_FILE: &str = "/data/data.rdb";
const ROWS: i32 = 400;

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
    let table = engine.table("s", name).unwrap();
    let read = |index, direction| {
        let view = ReadView::newest();
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
