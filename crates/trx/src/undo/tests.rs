//! Undo records through chunks: round trips, chains, reuse.

use std::sync::Arc;

use base::{IndexId, TrxId};

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
        store.read(ptr, true, &mut record);
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
        stores[0].read(one.mark(), true, &mut a);
        stores[1].read(other.mark(), true, &mut b);
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
        stores[0].read(short.mark(), true, &mut a);
        stores[1].read(long.mark(), true, &mut b);
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
        assert!(log.pop(mark, &mut record));
        assert_eq!(record.key, i.to_be_bytes());
    }
    assert!(!log.pop(mark, &mut record));
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
    assert!(log.append(&entry(UndoKind::RowInsert, b"k", b"")).raw() >> 24 <= all as u64);
}
