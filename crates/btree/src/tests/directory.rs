//! The leaf directory: lookups through it find what lookups without it find, whatever has become of the
//! leaves.

use std::collections::BTreeMap;

use super::*;
use crate::descend;
use base::prng::Prng;

/// Looks up keys until the directory has been built.
fn warm_up(store: &Store, tree: &Tree, keys: &[Vec<u8>]) {
    for _ in 0..20 {
        for key in keys {
            tree.point(store, key).unwrap().unwrap();
        }
    }
    assert!(tree.directory.len() > 4, "{} leaves known", tree.directory.len());
}

pub(super) fn remove(store: &Store, tree: &Tree, key: &[u8]) {
    let mut edit = tree.edit(store, key, 0).unwrap();
    assert!(edit.found());
    edit.remove();
    let sparse = edit.is_sparse();
    edit.commit();
    if sparse {
        tree.shrink(store, key).unwrap();
    }
}

fn payload_of(store: &Store, tree: &Tree, key: &[u8]) -> Option<u8> {
    tree.point(store, key).unwrap().map(|at| at.record().payload()[0])
}

/// Random changes and lookups of `count` keys against a map, with keys that `key` makes of numbers.
fn compare_with_map(count: u64, key: impl Fn(u64) -> Vec<u8>) {
    let disk = SimDisk::new();
    let store = new_store(&disk, 512);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let (mut prng, mut map) = (Prng::new(count), BTreeMap::new());
    let mut longest = 0;
    for step in 0..60_000u64 {
        let key = key(prng.below(count));
        let grows = prng.below(100) < if step / 10_000 % 2 == 0 { 60 } else { 40 };
        match map.get(&key).copied() {
            None if grows => {
                insert(&store, &tree, &key, &[step as u8; 80]);
                map.insert(key, step as u8);
            }
            Some(_) if !grows => {
                remove(&store, &tree, &key);
                map.remove(&key);
            }
            there => assert_eq!(payload_of(&store, &tree, &key), there),
        }
        longest = longest.max(tree.directory.len());
    }
    let leaves = descend::level_one(&store, &tree).unwrap().map_or(1, |level| level.leaves);
    assert!(longest > 8, "{longest} leaves known at most, of {leaves} at the end");
    for n in 0..count {
        let key = key(n);
        assert_eq!(payload_of(&store, &tree, &key), map.get(&key).copied(), "{n}");
    }
    assert_sound(&store, &tree);
}

#[test]
fn lookups_agree_with_a_map_where_keys_are_even() {
    compare_with_map(6_000, |n| (n as u32 + 7).to_be_bytes().to_vec());
}

#[test]
fn lookups_agree_with_a_map_where_keys_are_uneven_or_share_a_long_start() {
    compare_with_map(6_000, |n| (n * n * n * n).to_be_bytes().to_vec());
    compare_with_map(6_000, |n| format!("all/the/same/{}", n % 7 * 100_000 + n).into_bytes());
    compare_with_map(6_000, |n| [&[b'x'; 40][..], &n.to_be_bytes()].concat());
}

#[test]
fn a_leaf_that_was_split_is_left_for_its_right_neighbours() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 512);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let keys: Vec<_> = (0..2_000u32).map(|n| (n * 16).to_be_bytes().to_vec()).collect();
    for key in &keys {
        insert(&store, &tree, key, &[1; 100]);
    }
    warm_up(&store, &tree, &keys);
    for n in 0..4_000u32 {
        insert(&store, &tree, &(8_000 + n * 4 + 1).to_be_bytes(), &[2; 100]);
    }
    for n in 0..4_000u32 {
        assert_eq!(payload_of(&store, &tree, &(8_000 + n * 4 + 1).to_be_bytes()), Some(2));
        assert_eq!(payload_of(&store, &tree, &(8_000 + n * 4 + 2).to_be_bytes()), None);
    }
    assert_sound(&store, &tree);
}

/// A leaf that was on disk is freed, becomes part of an off-page value and is forgotten with it: on disk are
/// its old bytes again, records and all. Neither a lookup nor an insertion after all others may believe
/// them.
#[test]
fn the_old_bytes_of_a_freed_leaf_are_not_believed() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 4096);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let keys: Vec<_> = (0..3_000u32).map(|n| n.to_be_bytes().to_vec()).collect();
    for key in &keys {
        insert(&store, &tree, key, &[1; 100]);
    }
    warm_up(&store, &tree, &keys);
    let mut leaves = Vec::new();
    let level = descend::level_one(&store, &tree).unwrap().unwrap();
    descend::for_each_leaf(&store, &level, |_, page_no| {
        leaves.push(page_no);
        true
    })
    .unwrap();
    tree.directory.freeze();
    checkpoint(&store);
    for key in &keys[5..] {
        remove(&store, &tree, key);
    }
    let values: Vec<_> =
        (0..200).map(|_| tree.write_overflow(&store, &[b'v'; 12_000], |_| Vec::new()).unwrap()).collect();
    let reused = values.iter().filter(|value| leaves.contains(&value.first)).count();
    assert!(reused > leaves.len() / 2, "{reused} of {} leaves used again", leaves.len());
    for value in &values {
        store.free_overflow(value, &[]).unwrap();
    }
    for key in &keys[5..] {
        assert_eq!(payload_of(&store, &tree, key), None);
    }
    insert(&store, &tree, &9_999u32.to_be_bytes(), &[3; 100]);
    assert_eq!(assert_sound(&store, &tree).records, 6);
}

#[test]
fn an_ascending_load_builds_no_directory_and_changes_of_its_rows_do() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 512);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let keys: Vec<Vec<u8>> = (0..4000u32).map(|n| n.to_be_bytes().to_vec()).collect();
    for key in &keys {
        insert(&store, &tree, key, &[1; 200]);
    }
    assert_eq!(tree.directory.len(), 0);
    for key in keys.iter().cycle().take(4 * keys.len()) {
        let mut edit = tree.edit(&store, key, 0).unwrap();
        assert!(edit.found());
        edit.patch(0, &[2]);
        edit.commit();
    }
    assert!(tree.directory.len() > 4, "{} leaves known", tree.directory.len());
}
