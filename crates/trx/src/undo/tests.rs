//! Undo records through chunks: round trips, chains, reuse.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{IndexId, ROW_HEADER_BYTES, TrxId};
use env::{Disk, FaultKind, IoOp, SimDisk};

use super::*;
use crate::commit_table::CommitTable;

fn entry<'a>(kind: UndoKind, key: &'a [u8], image: &'a [u8]) -> NewUndo<'a> {
    NewUndo { kind, index: IndexId(70), flags: 0x60, patch_offset: 0, key, row_header: None, image }
}

#[test]
fn every_part_of_a_record_comes_back() {
    let store = Arc::new(UndoStore::default());
    let mut log = UndoLog::new(Arc::clone(&store));
    log.begin(TrxId(5), &CommitTable::new(TrxId(5)));
    let header: [u8; ROW_HEADER_BYTES] = std::array::from_fn(|i| i as u8 + 100);
    for len in 0..40usize {
        let bytes: Vec<u8> = (0..len as u8).collect();
        let undo = NewUndo {
            patch_offset: 513,
            row_header: (len % 2 == 0).then_some(&header),
            ..entry(UndoKind::RowPatch, &bytes, &bytes[len / 2..])
        };
        let before = log.mark();
        let ptr = log.append(&undo);
        let mut record = UndoRecord::default();
        store.read(ptr, true, &mut record).unwrap();
        assert_eq!((record.kind, record.prev, record.index), (UndoKind::RowPatch, before, IndexId(70)));
        assert_eq!((record.flags, record.patch_offset), (0x60, 513));
        assert_eq!(record.row_header, (len % 2 == 0).then_some(header));
        assert_eq!((record.key.as_slice(), record.image.as_slice()), (&bytes[..], &bytes[len / 2..]));
    }
}

#[test]
fn a_record_of_a_key_alone_is_appended_as_any_other() {
    let stores = [(), ()].map(|()| Arc::new(UndoStore::default()));
    let [mut one, mut other] = stores.each_ref().map(|store| UndoLog::new(Arc::clone(store)));
    for log in [&mut one, &mut other] {
        log.begin(TrxId(5), &CommitTable::new(TrxId(5)));
    }
    for len in 0..300usize {
        let key: Vec<u8> = (0..len).map(|i| i as u8).collect();
        let kind = [UndoKind::RowInsert, UndoKind::EntryInsert, UndoKind::EntryClose][len % 3];
        let undo = entry(kind, &key, b"");
        assert_eq!(one.append_key(kind, undo.index, undo.flags, &key), other.append(&undo));
        assert_eq!(one.parts(), other.parts());
        let [mut a, mut b] = [UndoRecord::default(), UndoRecord::default()];
        stores[0].read(one.mark(), true, &mut a).unwrap();
        stores[1].read(other.mark(), true, &mut b).unwrap();
        assert_eq!((a.kind, a.key, a.image, a.flags, a.prev), (b.kind, b.key, b.image, b.flags, b.prev));
    }
}

#[test]
fn a_short_record_is_appended_as_any_other() {
    let stores = [(), ()].map(|()| Arc::new(UndoStore::default()));
    let [mut short, mut long] = stores.each_ref().map(|store| UndoLog::new(Arc::clone(store)));
    for log in [&mut short, &mut long] {
        log.begin(TrxId(1 << 40), &CommitTable::new(TrxId(1 << 40)));
    }
    let bytes: [u8; 20] = std::array::from_fn(|i| i as u8 + 0xe0);
    let header: [u8; ROW_HEADER_BYTES] = std::array::from_fn(|i| i as u8 + 100);
    let lens = (0..=20).flat_map(|key| (0..=20).map(move |image| (key, image)));
    for (n, (key, image)) in lens.enumerate() {
        let kind = [UndoKind::RowPatch, UndoKind::RowDelete, UndoKind::EntryClose][n % 3];
        let undo = NewUndo {
            kind,
            index: IndexId([70, 1 << 20, u32::MAX][n / 2 % 3]),
            flags: 0xe0,
            patch_offset: if kind == UndoKind::RowPatch { [5, 0x3fff, u16::MAX][n / 3 % 3] } else { 0 },
            key: &bytes[..key],
            row_header: (n % 2 == 0).then_some(&header),
            image: &bytes[20 - image..],
        };
        assert_eq!(short.append(&undo), long.append_plainly(&undo), "{key} and {image} bytes");
        assert_eq!(short.parts(), long.parts(), "{key} and {image} bytes");
        let [mut a, mut b] = [UndoRecord::default(), UndoRecord::default()];
        stores[0].read(short.mark(), true, &mut a).unwrap();
        stores[1].read(long.mark(), true, &mut b).unwrap();
        assert_eq!((a.kind, a.prev, a.index, a.flags), (b.kind, b.prev, b.index, b.flags));
        assert_eq!((a.patch_offset, a.row_header), (b.patch_offset, b.row_header));
        assert_eq!((a.key.as_slice(), a.image.as_slice()), (undo.key, undo.image));
        assert_eq!((a.key, a.image), (b.key, b.image));
    }
}

#[test]
fn popping_walks_backwards_over_chunks_to_the_mark() {
    let store = Arc::new(UndoStore::default());
    let mut log = UndoLog::new(Arc::clone(&store));
    log.begin(TrxId(5), &CommitTable::new(TrxId(5)));
    let image = vec![7u8; 1000];
    let mut mark = UndoPtr::NONE;
    for i in 0..200u32 {
        if i == 100 {
            mark = log.mark();
        }
        log.append(&entry(UndoKind::RowImage, &i.to_be_bytes(), &image));
    }
    assert!(store.chunk_count() > 1);
    let mut record = UndoRecord::default();
    for i in (100..200u32).rev() {
        assert!(log.pop(mark, &mut record).unwrap());
        assert_eq!(record.key, i.to_be_bytes());
    }
    assert!(!log.pop(mark, &mut record).unwrap());
    assert_eq!(log.mark(), mark);
}

#[test]
fn chunks_are_freed_below_the_horizon_and_used_again() {
    let store = Arc::new(UndoStore::default());
    let mut log = UndoLog::new(Arc::clone(&store));
    let (image, ids) = (vec![7u8; 8000], CommitTable::new(TrxId(1)));
    for id in 1..=40 {
        log.begin(TrxId(id), &ids);
        log.append(&entry(UndoKind::RowImage, b"k", &image));
        log.end();
    }
    let all = store.chunk_count();
    assert!(all >= 10);
    assert_eq!(store.free_where(|id| id < TrxId(1)), 0);
    assert!(store.free_where(|id| id < TrxId(30)) >= 6);
    drop(log);
    store.free_where(|id| id < TrxId(41));
    assert_eq!(store.chunk_count(), 0);
    let mut log = UndoLog::new(Arc::clone(&store));
    log.begin(TrxId(50), &ids);
    assert!(log.append(&entry(UndoKind::RowInsert, b"k", b"")).0 >> 24 <= all as u64);
}

const SWAP_FILE: &str = "swap";

/// A store that swaps all that it can, and its disk.
fn swapping() -> (Arc<UndoStore>, SimDisk) {
    let (store, disk) = (Arc::new(UndoStore::default()), SimDisk::new());
    let theirs: Arc<dyn Disk> = Arc::new(disk.clone());
    store.swap_to(&theirs, PathBuf::from(SWAP_FILE));
    store.set_memory_max(0);
    (store, disk)
}

/// Appends records whose keys are `numbers`, each a quarter of a chunk, swapping whenever that can be; where
/// they are.
fn append_swapping(log: &mut UndoLog, store: &UndoStore, numbers: std::ops::Range<u32>) -> Vec<UndoPtr> {
    let append = |n: u32| {
        store.swap_out().unwrap();
        log.append(&entry(UndoKind::RowImage, &n.to_be_bytes(), &[n as u8; 8000]))
    };
    numbers.map(append).collect()
}

fn is_at(store: &UndoStore, ptr: UndoPtr, number: u32) -> bool {
    let mut record = UndoRecord::default();
    store.read(ptr, true, &mut record).unwrap();
    record.key == number.to_be_bytes() && record.image == [number as u8; 8000]
}

#[test]
fn swapped_records_are_read_and_popped_as_any_other() {
    let (store, disk) = swapping();
    let mut log = UndoLog::new(Arc::clone(&store));
    log.begin(TrxId(5), &CommitTable::new(TrxId(5)));
    let places = append_swapping(&mut log, &store, 0..1000);
    let (memory, swapped) = store.memory_and_swapped();
    assert!(memory <= 64 << 10 && swapped >= 7 << 20, "{memory} in memory, {swapped} swapped");
    assert_eq!(store.bytes().0, memory + swapped);
    assert!(disk.used() <= swapped);
    assert!((0..1000).step_by(7).all(|n| is_at(&store, places[n as usize], n)));
    let mut record = UndoRecord::default();
    for n in (400..1000u32).rev() {
        assert!(log.pop(places[399], &mut record).unwrap());
        assert_eq!(record.key, n.to_be_bytes());
    }
    assert_eq!(log.mark(), places[399]);
    // A chunk that was read stays for its other records.
    assert!(store.swaps_and_reads().1 < 600);
}

#[test]
fn slots_of_freed_chunks_are_used_again_and_the_file_is_cut_in_the_end() {
    let (store, disk) = swapping();
    let ids = CommitTable::new(TrxId(1));
    let mut most = 0;
    for id in 1..=20 {
        let mut log = UndoLog::new(Arc::clone(&store));
        log.begin(TrxId(id), &ids);
        let numbers = id as u32 * 1000..id as u32 * 1000 + 100;
        let places = append_swapping(&mut log, &store, numbers.clone());
        // Those of the transaction before are gone, cached ones among them: their places have other records
        // now.
        store.free_where(|newest| newest < TrxId(id));
        assert!(numbers.zip(places).all(|(n, place)| is_at(&store, place, n)), "transaction {id}");
        most = most.max(disk.used());
    }
    assert!(most <= 2 << 20, "{most}");
    assert!(disk.exists(Path::new(SWAP_FILE)).unwrap());
    store.free_where(|_| true);
    assert_eq!((store.chunk_count(), store.memory_and_swapped(), disk.used()), (0, (0, 0), 0));
}

#[test]
fn chunks_that_the_disk_does_not_take_stay_in_memory() {
    let (store, disk) = swapping();
    let mut log = UndoLog::new(Arc::clone(&store));
    log.begin(TrxId(5), &CommitTable::new(TrxId(5)));
    disk.set_capacity(100 << 10);
    let image = [9; 8000];
    let places: Vec<UndoPtr> =
        (0..100u32).map(|n| log.append(&entry(UndoKind::RowImage, &n.to_be_bytes(), &image))).collect();
    for _ in 0..2 {
        assert_eq!(store.swap_out().unwrap_err().kind, ErrorKind::StorageFull);
    }
    assert_eq!(store.memory_and_swapped().1, 96 << 10);
    for fault in [FaultKind::Error(ErrorKind::Other), FaultKind::PartialWrite(ErrorKind::Other)] {
        disk.set_capacity(u64::MAX);
        disk.schedule(Some(IoOp::Write), 1, fault);
        assert_eq!(store.swap_out().unwrap_err().kind, ErrorKind::Other);
        store.swap_out().unwrap();
        let mut record = UndoRecord::default();
        for (n, place) in (0..100u32).zip(&places) {
            store.read(*place, true, &mut record).unwrap();
            assert_eq!((record.key.as_slice(), record.image.as_slice()), (&n.to_be_bytes()[..], &image[..]));
        }
        // More to swap for the second round.
        for n in 0..20u32 {
            log.append(&entry(UndoKind::RowImage, &n.to_be_bytes(), &image));
        }
    }
}

#[test]
fn what_cannot_be_read_back_is_named_and_never_something_else() {
    let (store, disk) = swapping();
    let mut log = UndoLog::new(Arc::clone(&store));
    log.begin(TrxId(5), &CommitTable::new(TrxId(5)));
    let places = append_swapping(&mut log, &store, 0..20);
    let mut record = UndoRecord::default();
    for byte in [0, 9000, (32 << 10) - 1] {
        disk.flip_bit(Path::new(SWAP_FILE), byte);
        let damaged = SwapError::Damaged { file: PathBuf::from(SWAP_FILE), offset: 0 };
        assert_eq!(store.read(places[0], true, &mut record), Err(Box::new(damaged)));
        disk.flip_bit(Path::new(SWAP_FILE), byte);
    }
    disk.schedule(Some(IoOp::Read), 1, FaultKind::Error(ErrorKind::Other));
    assert!(matches!(*store.read(places[0], true, &mut record).unwrap_err(), SwapError::Io(_)));
    assert!(is_at(&store, places[0], 0));
    // A record that cannot be popped is the newest one still.
    while log.mark() != places[11] {
        assert!(log.pop(UndoPtr::NONE, &mut record).unwrap());
    }
    let parts = log.parts().len();
    disk.schedule(Some(IoOp::Read), 1, FaultKind::Error(ErrorKind::Other));
    log.pop(UndoPtr::NONE, &mut record).unwrap_err();
    assert_eq!((log.mark(), log.parts().len()), (places[11], parts));
    assert!(log.pop(UndoPtr::NONE, &mut record).unwrap());
    assert_eq!(record.key, 11u32.to_be_bytes());
}

/// The records of one transaction by their addresses, as the log has them.
fn logged(store: &Arc<UndoStore>, records: u64) -> (Vec<(UndoPtr, UndoRecord)>, UndoLog) {
    let mut log = UndoLog::new(Arc::clone(store));
    log.begin(TrxId(5), &CommitTable::new(TrxId(5)));
    let header = [9; ROW_HEADER_BYTES];
    let records = (0..records).map(|n| {
        let bytes = vec![n as u8; (n * 37 % 500) as usize];
        let kind = if n % 2 == 0 { UndoKind::RowPatch } else { UndoKind::RowImage };
        let row_header = (n % 2 == 0).then_some(&header);
        let at = log.append(&NewUndo { row_header, ..entry(kind, &n.to_be_bytes(), &bytes) });
        let mut record = UndoRecord::default();
        store.read(at, true, &mut record).unwrap();
        (at, record)
    });
    (records.collect(), log)
}

fn parts(record: &UndoRecord) -> (UndoKind, UndoPtr, &[u8], &[u8], Option<[u8; ROW_HEADER_BYTES]>) {
    (record.kind, record.prev, &record.key, &record.image, record.row_header)
}

#[test]
fn undo_is_put_back_where_it_was_and_new_undo_goes_elsewhere() {
    let (records, before) = logged(&Arc::default(), 900);
    assert!(Address::of(records.last().unwrap().0).chunk > 4);
    let store = Arc::new(UndoStore::default());
    let mut restorer = store.restorer(TrxId(5));
    // The first chunk had undo of others alone.
    let from = records.iter().position(|(at, _)| Address::of(*at).chunk == 2).unwrap();
    let mut prev = UndoPtr::NONE;
    let restored: Vec<_> = records[from..].iter().filter(|(at, _)| at.0 % 3 > 0).cloned().collect();
    for (at, record) in &restored {
        restorer.put(*at, &UndoRecord { prev, ..record.clone() }).unwrap();
        prev = *at;
    }
    let mut log = UndoLog::of_unfinished(Arc::clone(&store), TrxId(5), restorer.finish());
    store.end_restoring();
    assert_eq!((log.id(), log.mark(), log.records()), (Some(TrxId(5)), prev, restored.len() as u64));
    let mut other = UndoLog::new(Arc::clone(&store));
    other.begin(TrxId(6), &CommitTable::new(TrxId(6)));
    let numbers: Vec<u32> = (0..900)
        .map(|_| Address::of(other.append(&entry(UndoKind::RowImage, b"new", &[1; 300]))).chunk)
        .filter(|number| restored.iter().any(|(at, _)| Address::of(*at).chunk == *number))
        .collect();
    assert_eq!(numbers, [0; 0], "a chunk was given out twice");
    let mut record = UndoRecord::default();
    for (at, expected) in restored.iter().rev() {
        assert_eq!(log.mark(), *at);
        assert!(log.pop(UndoPtr::NONE, &mut record).unwrap());
        assert_eq!(parts(&UndoRecord { prev: expected.prev, ..record.clone() }), parts(expected));
    }
    assert!(!log.pop(UndoPtr::NONE, &mut record).unwrap());
    let chunks = store.chunk_count();
    assert_eq!(store.free_where(|trx| trx == TrxId(5)), Address::of(before.mark()).chunk as usize - 1);
    assert!(store.chunk_count() < chunks);
}

#[test]
fn a_record_that_cannot_have_been_where_the_log_says_is_refused() {
    let (records, _) = logged(&Arc::default(), 3);
    let store = UndoStore::default();
    let [first, second, third] = &records[..] else { unreachable!() };
    let mut one = store.restorer(TrxId(5));
    let mut refuses = |at: UndoPtr, record: &UndoRecord| one.put(at, record) == Err(MisplacedUndo);
    assert!(refuses(UndoPtr::NONE, &first.1), "no chunk");
    assert!(refuses(Address { chunk: u32::MAX, word: 0 }.ptr(), &first.1), "no such chunk");
    assert!(refuses(Address { chunk: 1, word: 4095 }.ptr(), &first.1), "over the end of the chunk");
    assert!(refuses(second.0, &second.1), "its predecessor is missing");
    assert!(!refuses(first.0, &first.1) && !refuses(second.0, &second.1));
    assert!(refuses(first.0, &UndoRecord { prev: second.0, ..third.1.clone() }), "over another record");
    let mut other = store.restorer(TrxId(6));
    assert_eq!(other.put(first.0, &first.1), Err(MisplacedUndo), "the chunk is another transaction's");
}
