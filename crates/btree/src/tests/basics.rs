//! Single steps of a tree's life.

use super::*;

#[test]
fn what_was_inserted_is_found_again() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 256);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    for n in 0..20_000u32 {
        let key = n.wrapping_mul(2_654_435_761).to_be_bytes();
        insert(&store, &tree, &key, &[n as u8; 50]);
    }
    let report = assert_sound(&store, &tree);
    assert_eq!(report.records, 20_000);
    for n in 0..20_000u32 {
        let key = n.wrapping_mul(2_654_435_761).to_be_bytes();
        let at = tree.point(&store, &key).unwrap().unwrap();
        assert_eq!(at.record().payload(), [n as u8; 50]);
    }
    assert!(tree.point(&store, b"none").unwrap().is_none());
}

#[test]
fn an_edit_moves_on_within_its_leaf_only() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 256);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    for n in 0..2000u32 {
        insert(&store, &tree, &(2 * n).to_be_bytes(), &[0; 50]);
    }
    let keys: Vec<[u8; 4]> = (0..4002u32).map(u32::to_be_bytes).collect();
    let mut at = 1;
    while at < keys.len() {
        let mut edit = tree.edit(&store, &keys[at], 60).unwrap();
        loop {
            assert_eq!((edit.key(), edit.found()), (&keys[at][..], at.is_multiple_of(2) && at < 4000));
            if !edit.found() {
                edit.insert(&[1; 50], SlotFlags::NONE).unwrap();
            }
            at += 1;
            if at == keys.len() || !edit.move_to(&keys[at], 60) {
                break;
            }
        }
        // Not to a leaf on the left.
        assert!(!edit.move_to(&keys[0], 0) || at < 600);
        edit.commit();
    }
    assert_eq!(assert_sound(&store, &tree).records, 4002);
}

#[test]
fn an_edit_goes_on_in_other_leaves_and_waits_for_none() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 256);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    for n in 0..8000u32 {
        insert(&store, &tree, &(4 * n).to_be_bytes(), &[0; 50]);
    }
    // Lookups build the directory by which other leaves are found.
    for n in 0..8000u32 {
        tree.point(&store, &(4 * n).to_be_bytes()).unwrap().unwrap();
    }
    let keys: Vec<[u8; 4]> = (0..300u32).map(|n| (4 * 26 * n + 1).to_be_bytes()).collect();
    let held = tree.point(&store, &(4 * 26 * 150u32).to_be_bytes()).unwrap().unwrap();
    let held_leaf = held.page().page_no();
    let (mut at, mut inserted, mut frames) = (0, 0, 0);
    let mut leaves = std::collections::BTreeSet::new();
    while at < keys.len() {
        if (130..170).contains(&at) {
            // The held leaf, or a split beside it, would be waited for.
            at = 170;
            continue;
        }
        let mut edit = tree.edit(&store, &keys[at], 60).unwrap();
        loop {
            assert_ne!(edit.page().page_no(), held_leaf);
            leaves.insert(edit.page().page_no());
            edit.insert(&[1; 50], SlotFlags::NONE).unwrap();
            (at, inserted) = (at + 1, inserted + 1);
            if at == keys.len() || !(edit.move_to(&keys[at], 60) || edit.move_beside(&store, &keys[at], 60)) {
                break;
            }
        }
        edit.commit();
        frames += 1;
    }
    assert!(frames * 4 < leaves.len(), "{frames} frames for {} leaves", leaves.len());
    drop(held);
    assert_eq!(assert_sound(&store, &tree).records, 8000 + inserted);
}

#[test]
fn an_edit_finds_the_version_it_wants_in_its_leaf() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 256);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    for (key, begin) in [("a", 1), ("k", 1), ("k", 2), ("k", 3), ("m", 9)] {
        let key = [key.as_bytes(), &[0, 0, 0, 0, 0, begin]].concat();
        let mut edit = tree.edit(&store, &key, 30).unwrap();
        edit.insert(&[begin], SlotFlags::HAS_BEGIN).unwrap();
        edit.commit();
    }
    for (key, wanted, found) in
        [("k", 3, true), ("k", 1, true), ("k", 4, false), ("l", 9, false), ("z", 1, false)]
    {
        let mut edit = tree.edit(&store, key.as_bytes(), 0).unwrap();
        let version = edit.move_to_version(|record| record.payload() == [wanted]);
        assert_eq!(version.map(|record| record.begin_trx()), found.then(|| wanted.into()), "{key} {wanted}");
        assert_eq!(edit.found(), found);
        assert!(!found || edit.record().begin_trx() == u64::from(wanted));
    }
}
