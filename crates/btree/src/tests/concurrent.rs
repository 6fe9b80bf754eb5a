//! Many threads on one tree.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;

use base::prng::Prng;

use super::*;

/// Keys of a writer: its number in the low bits, so that all writers meet on the same pages.
fn key_of(writer: u64, n: u64) -> [u8; 8] {
    (n * 4 + writer).to_be_bytes()
}

/// Inserts, deletes and grows keys of its own; checks at the end that exactly the right ones are there.
fn write(store: &Store, tree: &Tree, writer: u64, seed: u64, steps: u64) {
    let mut prng = Prng::new(seed);
    let mut present = [false; 700];
    for step in 0..steps {
        let n = prng.below(700);
        let key = key_of(writer, n);
        // Phases of growth and of shrinking, so that splits and merges are both frequent.
        let grow = prng.below(100) < if step / 1500 % 2 == 0 { 75 } else { 25 };
        let payload = vec![writer as u8; 20 + prng.below(180) as usize];
        let mut edit = tree.edit(store, &key, if grow { 8 + payload.len() } else { 0 }).unwrap();
        assert_eq!(edit.found(), present[n as usize], "writer {writer}, key {n}");
        let mut sparse = false;
        match (grow, edit.found()) {
            (true, true) => edit.replace_payload(&payload).unwrap(),
            (true, false) => edit.insert(&payload, SlotFlags::NONE).unwrap(),
            (false, true) => {
                edit.remove();
                sparse = edit.is_sparse();
            }
            (false, false) => {}
        }
        edit.commit();
        present[n as usize] = grow;
        if sparse {
            tree.shrink(store, &key).unwrap();
        }
    }
    for n in 0..700 {
        let found = tree.point(store, &key_of(writer, n)).unwrap().is_some();
        assert_eq!(found, present[n as usize], "writer {writer}, key {n}");
    }
}

/// Scans the whole tree: keys ascend (or descend), and the keys that no thread touches are all there.
fn scan(store: &Store, tree: &Tree, forward: bool) {
    let start = if forward { Seek::First } else { Seek::Last };
    let mut cursor = tree.seek(store, &[], start).unwrap();
    let mut previous: Option<Vec<u8>> = None;
    let mut untouched = 0;
    while let Some(at) = cursor.take() {
        let key = at.page().key(at.slot());
        if let Some(previous) = &previous {
            assert_eq!(*previous < key, forward, "keys are in order");
        }
        untouched += u32::from(key[7] & 3 == 3);
        previous = Some(key);
        cursor = if forward { at.next() } else { at.prev() }.unwrap();
    }
    assert_eq!(untouched, 700, "a scan misses nothing");
}

/// Looks up the keys that no thread touches, in order or not, keeping a leaf: none is missed.
fn look_up(store: &Store, tree: &Tree, prng: &mut Prng) {
    let mut probe = Probe::new(store, tree);
    let ordered = prng.below(2) == 0;
    for n in 0..700 {
        let key = key_of(3, if ordered { n } else { prng.below(700) });
        let at = probe.find(&key).unwrap();
        assert!(at.found && probe.page().unwrap().payload(at.slot) == [3; 60], "key {key:?}");
        if prng.below(4) == 0 {
            probe.release();
        }
    }
}

fn stress(frames: usize, steps: u64) {
    let disk = SimDisk::new();
    let store = new_store(&disk, frames);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    (0..700).for_each(|n| insert(&store, &tree, &key_of(3, n), &[3; 60]));
    let (done, scans) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for forward in [true, false] {
            let (store, tree, done, scans) = (&store, &tree, &done, &scans);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    scan(store, tree, forward);
                    scans.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| {
            let mut prng = Prng::new(99);
            while !done.load(Ordering::Relaxed) {
                look_up(&store, &tree, &mut prng);
            }
        });
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let (store, tree) = (&store, &tree);
                scope.spawn(move || write(store, tree, writer, 77 + writer, steps))
            })
            .collect();
        let results: Vec<_> = writers.into_iter().map(ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        for result in results {
            result.unwrap();
        }
    });
    assert!(scans.load(Ordering::Relaxed) > 0);
    let report = assert_sound(&store, &tree);
    assert_eq!(store.space_report().pages_used, (report.leaf_pages + report.inner_pages) as u64);
}

#[test]
fn writers_and_readers_share_a_tree() {
    stress(512, 6000);
}

#[test]
fn writers_and_readers_share_a_tree_in_a_small_pool() {
    stress(48, 3000);
}

#[test]
fn threads_that_append_to_one_tree_lose_nothing() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 512);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                (0..3000).for_each(|_| {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    insert(&store, &tree, &n.to_be_bytes(), &[7; 40]);
                });
            });
        }
    });
    assert_eq!(assert_sound(&store, &tree).records, 12_000);
}
