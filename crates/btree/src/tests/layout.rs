//! Where pages come from, how full they are, and where they go.

use base::prng::Prng;
use base::{PageNo, TrxId};
use page::OverflowRef;

use super::*;

fn pages_used(store: &Store) -> u64 {
    store.space_report().pages_used
}

fn fill_factor(report: &TreeReport) -> f64 {
    report.leaf_bytes_used as f64 / (report.leaf_pages * page::PAGE_SIZE) as f64
}

#[test]
fn ascending_inserts_fill_their_pages() {
    for (payload, count) in [(0, 50_000), (20, 30_000), (190, 10_000), (1000, 3000)] {
        let disk = SimDisk::new();
        let store = new_store(&disk, 2048);
        let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
        (0..count).for_each(|n: u32| insert(&store, &tree, &n.to_be_bytes(), &vec![1; payload]));
        let report = assert_sound(&store, &tree);
        assert!(fill_factor(&report) >= if payload == 1000 { 0.85 } else { 0.9 }, "{report:?}");
    }
}

/// A leaf at the tree's end has no upper fence, so its keys are stored whole; once the next leaf follows, its
/// prefix is taken off and the page is that much emptier.
#[test]
fn long_ascending_keys_without_payload_fill_less() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 2048);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    (0..10_000u64).for_each(|n| insert(&store, &tree, &n.to_be_bytes(), b""));
    assert!(fill_factor(&assert_sound(&store, &tree)) >= 0.6);
}

#[test]
fn random_inserts_leave_pages_two_thirds_full() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 2048);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let mut prng = Prng::new(5);
    (0..20_000).for_each(|_| insert(&store, &tree, &prng.next_u64().to_be_bytes(), &[1; 60]));
    let report = assert_sound(&store, &tree);
    assert!(fill_factor(&report) > 0.6, "{report:?}");
}

#[test]
fn a_destroyed_tree_leaves_no_page_behind_and_its_space_is_used_again() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 1024);
    let mut sizes = Vec::new();
    for round in 0..3 {
        let other = Tree::create(&store, IndexId(500 + round), VARIABLE).unwrap();
        let tree = Tree::create(&store, IndexId(100 + round), VARIABLE).unwrap();
        (0..8000u32).for_each(|n| insert(&store, &tree, &n.to_be_bytes(), &[1; 200]));
        tree.write_overflow(&store, &vec![7; 30_000], |_| []).unwrap();
        other.write_overflow(&store, &vec![7; 30_000], |_| []).unwrap();
        (0..50u32).for_each(|n| insert(&store, &other, &n.to_be_bytes(), &[1; 200]));
        sizes.push(store.space_report().pages_total);
        store.free_trees(&[tree.index].into()).unwrap();
        store.free_trees(&[other.index].into()).unwrap();
        assert_eq!(pages_used(&store), 0);
    }
    assert!(sizes.iter().all(|&size| size == sizes[0]), "{sizes:?}");
    assert_eq!(store.punch_free_extents(100).unwrap(), 0, "recovery may need the bytes");
    checkpoint(&store);
    assert!(store.punch_free_extents(100).unwrap() > 0);
    assert_eq!(store.punch_free_extents(100).unwrap(), 0);
}

#[test]
fn deleting_everything_shrinks_the_tree_to_its_root() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 1024);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    (0..20_000u32).for_each(|n| insert(&store, &tree, &n.to_be_bytes(), &[1; 100]));
    let order: Vec<u32> = (0..20_000).map(|n| n * 7919 % 20_000).collect();
    for n in order {
        let key = n.to_be_bytes();
        let mut edit = tree.edit(&store, &key, 0).unwrap();
        edit.remove();
        let sparse = edit.is_sparse();
        edit.commit();
        if sparse {
            tree.shrink(&store, &key).unwrap();
        }
    }
    let report = assert_sound(&store, &tree);
    assert_eq!((report.records, report.levels, pages_used(&store)), (0, 1, 1));
}

#[test]
fn values_outside_their_record_come_back_and_are_freed() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 256);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let lengths = [0, 1, page::OVERFLOW_CAPACITY, page::OVERFLOW_CAPACITY + 1, 200_000, 1_500_000, 5_000_000];
    let values: Vec<Vec<u8>> =
        lengths.iter().map(|&len| (0..len).map(|at| (at * 31 % 251) as u8).collect()).collect();
    let references: Vec<OverflowRef> =
        values.iter().map(|value| tree.write_overflow(&store, value, |_| []).unwrap()).collect();
    for (value, reference) in values.iter().zip(&references) {
        let mut out = b"before".to_vec();
        store.read_overflow(reference, &mut out).unwrap();
        assert_eq!(out[6..], value[..]);
    }
    for reference in &references {
        store.free_overflow(reference, &[]).unwrap();
    }
    assert_eq!(pages_used(&store), 1);
    let reused = tree.write_overflow(&store, &values[4], |_| []).unwrap();
    let mut out = Vec::new();
    assert!(
        store.read_overflow(&references[4], &mut out).is_err() || reused.version == references[4].version
    );
    assert!(out.is_empty());
}

#[test]
fn a_damaged_reference_frees_no_page_of_the_file_itself() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 256);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let sound = tree.write_overflow(&store, &[7; 100], |_| []).unwrap();
    for first in [0, 1] {
        let damaged = OverflowRef { first: PageNo(first), ..sound };
        let freed = store.free_overflow(&damaged, &[]);
        assert!(matches!(freed, Err(Error::Corruption(_))), "{freed:?}");
    }
    store.free_overflow(&sound, &[]).unwrap();
    assert_eq!(pages_used(&store), 1);
}

#[test]
fn a_killed_statement_stops_writing_and_reading_a_long_value() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use base::sync::interrupt;

    let disk = SimDisk::new();
    let store = new_store(&disk, 256);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let value = vec![7; 5_000_000];
    let whole = tree.write_overflow(&store, &value, |_| []).unwrap();
    let mut part = None;
    interrupt::set_flag(Some(Arc::new(AtomicBool::new(true))));
    let mut out = Vec::new();
    let written = tree.write_overflow(&store, &value, |reference| {
        part = Some(*reference);
        []
    });
    let read = store.read_overflow_of_statement(&whole, &mut out);
    // A rollback reads on.
    store.read_overflow(&whole, &mut out).unwrap();
    interrupt::set_flag(None);
    assert!(matches!((written, read), (Err(Error::Interrupted), Err(Error::Interrupted))));
    assert_eq!(out, value);
    for reference in [whole, part.unwrap()] {
        store.free_overflow(&reference, &[]).unwrap();
    }
    assert_eq!(pages_used(&store), 1);
}

#[test]
fn the_file_keeps_its_numbers() {
    let disk = SimDisk::new();
    let path = Path::new("data.pages");
    let store = new_store(&disk, 64);
    store.update_header(|header| header.catalog_version = 42).unwrap();
    let before = store.log().current();
    store.close().unwrap();
    let store = Store::open(&shared(&disk), path, config(64), &mut ()).unwrap();
    let header = store.header().unwrap();
    assert_eq!((header.catalog_version, header.identity, header.clean), (42, [7; 16], base::Lsn(0)));
    assert!(store.log().current() >= before, "positions never repeat");
}

#[test]
fn a_file_of_several_groups_of_extents_opens_again() {
    // On a real disk: 600 MiB that are never touched cost nothing there.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.pages");
    let real: Arc<dyn env::Disk> = Arc::new(env::RealDisk);
    let store = Store::create(&real, &path, config(256)).unwrap();
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    // Two runs cannot be in the first group together.
    let runs: Vec<_> = [400, 150]
        .map(|extents| {
            let mut mtr = space::Mtr::new(&store);
            let run = mtr.allocate_run(INDEX, extents * 64, space::Locality::Own).unwrap();
            mtr.commit();
            run.first
        })
        .into();
    assert!(runs[0].0 < 508 * 64 && runs[1].0 > 508 * 64, "{runs:?}");
    (0..100u32).for_each(|n| insert(&store, &tree, &n.to_be_bytes(), &[1; 1000]));
    let report = store.space_report();
    store.close().unwrap();
    let store = Store::open(&real, &path, config(256), &mut ()).unwrap();
    assert_eq!(store.space_report(), report);
    let tree = Tree::open(INDEX, tree.root, VARIABLE);
    assert_eq!(assert_sound(&store, &tree).records, 100);
    store.free_trees(&[tree.index].into()).unwrap();
    assert_eq!(pages_used(&store), 0);
    // The tree itself was in the first extent, which is never free.
    checkpoint(&store);
    assert_eq!(store.punch_free_extents(1000).unwrap(), 550);
}

/// All keys and payloads of a tree.
fn content(store: &Store, tree: &Tree) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut rows = Vec::new();
    let mut cursor = tree.seek(store, &[], Seek::First).unwrap();
    while let Some(at) = cursor.take() {
        rows.push((at.page().key(at.slot()), at.record().payload().to_vec()));
        cursor = at.next().unwrap();
    }
    rows
}

fn build(store: &Store, tree: &Tree, rows: &[(Vec<u8>, Vec<u8>)]) {
    let mut build = BulkBuild::new(store, tree, TrxId(9)).unwrap();
    for (key, payload) in rows {
        build.push(key, payload, SlotFlags::NONE).unwrap();
    }
    build.finish().unwrap();
}

#[test]
fn a_build_that_is_cut_short_is_freed_by_the_next_start_with_the_page_that_it_had_not_written() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 256);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let mut build = BulkBuild::new(&store, &tree, TrxId::NONE).unwrap();
    for n in 0..300u32 {
        build.push(&n.to_be_bytes(), &[1; 200], SlotFlags::NONE).unwrap();
    }
    // As when the power fails: its drop would give the pages back.
    let _cut_short = std::mem::ManuallyDrop::new(build);
    assert!(pages_used(&store) > 3);
    store.close().unwrap();
    let store = Store::open(&shared(&disk), Path::new("data.pages"), config(256), &mut ()).unwrap();
    store.free_trees(&[INDEX].into()).unwrap();
    assert_eq!(pages_used(&store), 0);
}

#[test]
fn a_built_tree_equals_an_inserted_one() {
    let mut prng = Prng::new(1);
    let long = |prng: &mut Prng| {
        let mut key = vec![b'a' + prng.below(3) as u8; [4, 900, 3000][prng.below(3) as usize]];
        key.extend_from_slice(&prng.next_u64().to_be_bytes());
        key
    };
    let sets: [Vec<Vec<u8>>; 5] = [
        vec![],
        vec![b"one".to_vec()],
        (0..30_000u64).map(|n| n.to_be_bytes().to_vec()).collect(),
        (0..5000).map(|_| format!("user{}", prng.next_u64()).into_bytes()).collect(),
        (0..900).map(|_| long(&mut prng)).collect(),
    ];
    for mut keys in sets {
        keys.sort();
        keys.dedup();
        let rows: Vec<_> = keys.into_iter().map(|key| (key, vec![1; prng.below(90) as usize])).collect();
        let disk = SimDisk::new();
        let store = new_store(&disk, 2048);
        let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
        build(&store, &tree, &rows);
        let report = assert_sound(&store, &tree);
        assert_eq!(pages_used(&store), (report.leaf_pages + report.inner_pages) as u64);
        assert_eq!(content(&store, &tree), rows);
        if rows.len() > 1000 {
            assert!(fill_factor(&report) > 0.85, "{report:?}");
            assert!(tree.seek(&store, &[], Seek::First).unwrap().unwrap().page().trx_max() == TrxId(9));
        }
        // It can be changed like any other.
        rows.iter().step_by(3).for_each(|(key, _)| {
            let more = [&key[..], b"+"].concat();
            insert(&store, &tree, &more, b"later");
        });
        assert_sound(&store, &tree);
    }
}

#[test]
fn an_abandoned_build_gives_its_pages_back() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 512);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let mut build = BulkBuild::new(&store, &tree, TrxId::NONE).unwrap();
    (0..5000u32).for_each(|n| build.push(&n.to_be_bytes(), &[1; 100], SlotFlags::NONE).unwrap());
    drop(build);
    assert_eq!(pages_used(&store), 1);
    assert!(tree.seek(&store, &[], Seek::First).unwrap().is_none());
}
