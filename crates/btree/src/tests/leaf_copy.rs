//! Trees built of leaves of other trees.

use base::ROW_HEADER_BYTES;
use base::prng::Prng;
use base::{IndexId, TrxId};

use super::directory::remove;
use super::*;

const NEW: IndexId = IndexId(101);
/// The longest of rows here, beside its key.
const PAYLOAD_BYTES_MAX: u64 = 300;

/// Key and payload.
type Row = (Vec<u8>, Vec<u8>);

type MakeKey = dyn Fn(&mut Prng) -> Vec<u8>;

/// Rows whose headers name a writer.
fn rows(prng: &mut Prng, count: usize, key: &MakeKey) -> Vec<Row> {
    let payload = |prng: &mut Prng| vec![3; ROW_HEADER_BYTES + prng.below(PAYLOAD_BYTES_MAX) as usize];
    let rows: std::collections::BTreeMap<_, _> = (0..count).map(|_| (key(prng), payload(prng))).collect();
    rows.into_iter().collect()
}

/// Fills an empty tree bottom-up.
fn fill(store: &Store, tree: &Tree, rows: &[Row]) {
    let mut build = BulkBuild::new(store, tree, TrxId(9)).unwrap();
    for (key, payload) in rows {
        build.push(key, payload, SlotFlags::NONE).unwrap();
    }
    build.finish().unwrap();
}

/// All rows of a tree, with header or without.
fn content(store: &Store, tree: &Tree, with_header: bool) -> Vec<Row> {
    let (mut rows, from) = (Vec::new(), if with_header { 0 } else { ROW_HEADER_BYTES });
    let mut cursor = tree.seek(store, &[], Seek::First).unwrap();
    while let Some(at) = cursor.take() {
        rows.push((at.page().key(at.slot()), at.record().payload()[from..].to_vec()));
        cursor = at.next().unwrap();
    }
    rows
}

/// Copies all leaves of `old`, taking over what can be, to a build of `new`; returns how many were taken.
fn copy<'s>(store: &'s Store, old: &Tree, new: &'s Tree) -> (BulkBuild<'s>, usize) {
    let mut build = BulkBuild::new(store, new, TrxId::NONE).unwrap();
    let (mut taken, mut image) = (0, [0; page::PAGE_SIZE]);
    let mut cursor = old.seek(store, &[], Seek::First).unwrap();
    while let Some(mut at) = cursor.take() {
        at.page().copy_to(&mut image);
        let leaf = page::PageRef::new(&image);
        at.set_slot(leaf.count() - 1);
        cursor = at.next().unwrap();
        if build.push_leaf(leaf).unwrap() {
            taken += 1;
            continue;
        }
        for slot in 0..leaf.count() {
            build.push_row(&leaf.record(slot), &[0; ROW_HEADER_BYTES]).unwrap();
        }
    }
    (build, taken)
}

fn without_headers(rows: &[Row]) -> Vec<Row> {
    rows.iter().map(|(key, payload)| (key.clone(), payload[ROW_HEADER_BYTES..].to_vec())).collect()
}

#[test]
fn leaves_are_taken_over_or_packed_anew() {
    let mut prng = Prng::new(11);
    let fixed = TreeShape { fixed_key_len: Some(8), format_version: 1 };
    let number = |prng: &mut Prng| prng.below(1 << 40).to_be_bytes().to_vec();
    let text = |prng: &mut Prng| {
        let name = ["an", "another", "a key with a long beginning, "][prng.below(3) as usize];
        format!("{name}{}", prng.below(1 << 40)).into_bytes()
    };
    for round in 0..24 {
        let (shape, key): (_, &MakeKey) = if round % 2 == 0 { (fixed, &number) } else { (VARIABLE, &text) };
        let count = [0, 1, 80, 400, 3000, 6000][round / 2 % 6];
        let mut rows = rows(&mut prng, count, key);
        let disk = SimDisk::new();
        let store = new_store(&disk, 2048);
        let old = Tree::create(&store, INDEX, shape).unwrap();
        if round < 12 {
            fill(&store, &old, &rows);
        } else {
            for (key, payload) in &rows {
                insert(&store, &old, key, payload);
            }
        }
        // Stretches of thin leaves between full ones, and perhaps at the end.
        let (gap, till) =
            (1 + prng.below(400) as usize, rows.len() - prng.below(2) as usize * rows.len() / 9);
        let is_gone =
            |i: usize| round % 3 > 0 && i < till && i / 700 % 2 == 1 && !(i % 700).is_multiple_of(gap.min(3));
        rows.iter()
            .enumerate()
            .filter(|(i, _)| is_gone(*i))
            .for_each(|(_, (key, _))| remove(&store, &old, key));
        let mut at = 0;
        rows.retain(|_| {
            at += 1;
            !is_gone(at - 1)
        });
        let new = Tree::create(&store, NEW, shape).unwrap();
        let (build, taken) = copy(&store, &old, &new);
        build.finish().unwrap();
        let report = assert_sound(&store, &new);
        assert_eq!(content(&store, &new, false), without_headers(&rows), "round {round}");
        assert!(taken > 0 || count < 400 || round >= 12, "round {round}: {taken} taken");
        let bytes: usize = rows.iter().map(|(key, payload)| key.len() + payload.len() + 8).sum();
        let pages_max = bytes * 10 / 8 / page::PAGE_SIZE + 2;
        assert!(report.leaf_pages <= pages_max, "round {round}: {pages_max} pages, {report:?}");
        // It can be changed like any other.
        rows.iter().step_by(3).for_each(|(key, _)| remove(&store, &new, key));
        rows.iter().step_by(3).for_each(|(key, payload)| insert(&store, &new, key, payload));
        assert_sound(&store, &new);
        assert_eq!(content(&store, &new, false), without_headers(&rows), "round {round}");
    }
}

#[test]
fn a_build_of_leaves_that_is_abandoned_gives_its_pages_back() {
    let mut prng = Prng::new(12);
    let rows = rows(&mut prng, 2000, &|prng| prng.next_u64().to_be_bytes().to_vec());
    let disk = SimDisk::new();
    let store = new_store(&disk, 512);
    let old = Tree::create(&store, INDEX, VARIABLE).unwrap();
    fill(&store, &old, &rows);
    let new = Tree::create(&store, NEW, VARIABLE).unwrap();
    let used = store.space_report().pages_used;
    let (build, taken) = copy(&store, &old, &new);
    assert!(taken > 10 && store.space_report().pages_used > used + 10);
    drop(build);
    assert_eq!(store.space_report().pages_used, used);
    assert_eq!(content(&store, &old, true), rows);
}

#[test]
fn the_last_leaf_may_be_one_that_was_taken_over() {
    let mut prng = Prng::new(13);
    let rows = rows(&mut prng, 2000, &|prng| prng.next_u64().to_be_bytes().to_vec());
    for leaves in [1, 2, 7] {
        let disk = SimDisk::new();
        let store = new_store(&disk, 512);
        let old = Tree::create(&store, INDEX, VARIABLE).unwrap();
        fill(&store, &old, &rows);
        let new = Tree::create(&store, NEW, VARIABLE).unwrap();
        let mut build = BulkBuild::new(&store, &new, TrxId::NONE).unwrap();
        let mut image = [0; page::PAGE_SIZE];
        let (mut at, mut count) = (old.seek(&store, &[], Seek::First).unwrap().unwrap(), 0);
        for _ in 0..leaves {
            at.page().copy_to(&mut image);
            count += at.page().count();
            assert!(build.push_leaf(page::PageRef::new(&image)).unwrap());
            assert!(at.to_next_leaf().unwrap());
        }
        drop(at);
        build.finish().unwrap();
        assert_eq!(assert_sound(&store, &new).leaf_pages, leaves);
        assert_eq!(content(&store, &new, false), without_headers(&rows[..count]), "{leaves} leaves");
    }
}
