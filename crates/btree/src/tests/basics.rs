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
