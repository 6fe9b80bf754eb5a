use super::*;

/// A store of 512 frames whose tree has more leaves than that; only the last ones are in memory.
fn store_with_leaves(disk: &SimDisk) -> (Store, Tree) {
    let store = new_store(disk, 512);
    let tree = Tree::create(&store, IndexId(100), VARIABLE).unwrap();
    let mut build = BulkBuild::new(&store, &tree, base::TrxId(1)).unwrap();
    for n in 0..60_000 {
        build.push(format!("{n:08}").as_bytes(), &[b'x'; 200], SlotFlags::NONE).unwrap();
    }
    build.finish().unwrap();
    store.pool().flush_all().unwrap();
    (store, tree)
}

#[test]
fn a_scan_of_leaves_on_disk_reads_each_once_and_stops_for_few() {
    let disk = SimDisk::new();
    let (store, tree) = store_with_leaves(&disk);
    let reads = || store.pool().stats().page_reads;
    let before = reads();
    let (mut leaves, mut stops, mut records) = (0, 0, 0);
    let mut cursor = tree.seek(&store, b"", Seek::First).unwrap();
    while let Some(at) = cursor {
        leaves += 1;
        records += at.page().count();
        let read_so_far = reads();
        cursor = at.next_leaf().unwrap();
        stops += u64::from(reads() > read_so_far);
    }
    assert_eq!(records, 60_000);
    assert!(leaves > 700, "{leaves} leaves fit in the pool");
    assert!(reads() - before <= leaves + 3, "{} reads of {leaves} leaves", reads() - before);
    assert!(stops <= leaves / 20, "{stops} stops over {leaves} leaves");
}

#[test]
fn a_short_range_reads_no_further_than_it_goes() {
    let disk = SimDisk::new();
    let (store, tree) = store_with_leaves(&disk);
    let before = store.pool().stats().page_reads;
    for from in (0..60_000).step_by(10_000) {
        let at = tree.seek(&store, format!("{from:08}").as_bytes(), Seek::AtOrAfter).unwrap().unwrap();
        at.next_leaf().unwrap().unwrap();
    }
    let reads = store.pool().stats().page_reads - before;
    assert!(reads <= 6 * 2 + 10, "{reads} pages read for 12 leaves");
}
