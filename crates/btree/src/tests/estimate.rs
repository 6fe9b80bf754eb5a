//! Estimates of how many records lie between two keys.

use super::*;
use crate::Stretch;
use base::prng::Prng;

const RECORDS: u64 = 60_000;

fn key(n: u64) -> [u8; 8] {
    (2 * n).to_be_bytes()
}

/// A tree of [`RECORDS`] even numbers, inserted by chance, so that pages differ in how full they are.
fn start(store: &Store) -> Tree {
    let tree = Tree::create(store, INDEX, VARIABLE).unwrap();
    for n in 0..RECORDS {
        insert(store, &tree, &key(n * 7_919 % RECORDS), &[1; 40]);
    }
    tree
}

#[test]
fn a_short_stretch_is_counted_without_deleted_records() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 1024);
    let tree = start(&store);
    let between = |from: u64, to: u64| tree.estimate_between(&store, &key(from), Some(&key(to))).unwrap();
    for from in [0, 1, 777, 30_000, RECORDS - 40] {
        for count in [0, 1, 2, 40] {
            assert_eq!(between(from, from + count), Stretch::Counted(count), "{count} from {from}");
        }
    }
    let odd = |n: u64| (2 * n + 1).to_be_bytes();
    assert_eq!(tree.estimate_between(&store, &odd(9), Some(&odd(14))).unwrap(), Stretch::Counted(5));
    assert_eq!(tree.estimate_between(&store, &key(RECORDS), None).unwrap(), Stretch::Counted(0));
    assert_eq!(tree.estimate_between(&store, &key(RECORDS - 3), None).unwrap(), Stretch::Counted(3));
    assert_eq!(tree.estimate_between(&store, &key(9), Some(&key(5))).unwrap(), Stretch::Counted(0));
    let deleted = key(778);
    let mut edit = tree.edit(&store, &deleted, 0).unwrap();
    edit.set_flags(SlotFlags::DELETED);
    edit.commit();
    assert_eq!(between(777, 781), Stretch::Counted(3));
}

#[test]
fn a_long_stretch_is_estimated_within_a_fifth() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 1024);
    let tree = start(&store);
    let mut random = Prng::new(7);
    let mut estimated = 0;
    for _ in 0..500 {
        let from = random.below(RECORDS);
        let rows = random.below(RECORDS - from);
        let upper = key(from + rows);
        let upper = (from + rows < RECORDS - 1).then_some(&upper[..]);
        let Stretch::Share(share) = tree.estimate_between(&store, &key(from), upper).unwrap() else {
            continue;
        };
        estimated += 1;
        let (found, rows) = (share * RECORDS as f64, rows as f64);
        assert!((found - rows).abs() < rows / 5.0 + 300.0, "{rows} from {from}: {found}");
    }
    assert!(estimated > 400, "{estimated}");
    let all = tree.estimate_between(&store, &[], None).unwrap();
    assert!(matches!(all, Stretch::Share(share) if share > 0.97), "{all:?}");
}

#[test]
fn an_estimate_meets_a_tree_that_grows() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 1024);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..RECORDS {
                insert(&store, &tree, &key(n * 7_919 % RECORDS), &[1; 40]);
            }
        });
        for n in (0..2_000).map(|n| n * 17 % (RECORDS / 2)) {
            let found = tree.estimate_between(&store, &key(n), Some(&key(n + RECORDS / 2))).unwrap();
            assert!(!matches!(found, Stretch::Share(share) if !(0.0..=1.0).contains(&share)), "{found:?}");
        }
    });
    assert_sound(&store, &tree);
}
