//! What fails has no effect.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use base::prng::Prng;
use env::{FaultKind, IoOp, ScheduledFault};

use super::*;

/// Inserts, or removes the record if it is there; true if there is one now. The change is done before the
/// merge that may follow, so an error of that does not count.
fn toggle(store: &Store, tree: &Tree, key: &[u8], payload: &[u8]) -> Result<bool> {
    let mut edit = tree.edit(store, key, key.len() + payload.len())?;
    let remove = edit.found();
    if remove {
        edit.remove();
    } else {
        edit.insert(payload, SlotFlags::NONE).unwrap();
    }
    let sparse = edit.is_sparse();
    edit.commit();
    if sparse {
        tree.shrink(store, key).unwrap_or_default();
    }
    Ok(!remove)
}

#[test]
fn failed_reads_leave_the_tree_as_it_was() {
    for seed in 0..4 {
        let disk = SimDisk::new();
        let store = new_store(&disk, 10);
        let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
        let mut prng = Prng::new(seed);
        let mut model = BTreeMap::new();
        let mut errors = 0;
        for step in 0..6000 {
            if step % 5 == 0 && step < 5900 {
                let fault = FaultKind::Error(ErrorKind::Other);
                disk.schedule(Some(IoOp::Read), 1 + prng.below(5), fault);
                // A read that fails is repeated.
                disk.schedule(Some(IoOp::Read), 1, fault);
            }
            let (key, payload) = ((prng.below(1200) as u32).to_be_bytes(), vec![1; prng.below(900) as usize]);
            match toggle(&store, &tree, &key, &payload) {
                Ok(true) => assert!(model.insert(key, payload).is_none()),
                Ok(false) => assert!(model.remove(&key).is_some()),
                Err(_) => errors += 1,
            }
        }
        assert!(errors > 30, "{errors} errors");
        let report = assert_sound(&store, &tree);
        assert_eq!(report.records, model.len() as u64);
        assert_eq!(store.space_report().pages_used, (report.leaf_pages + report.inner_pages) as u64);
        for (key, payload) in model {
            assert_eq!(tree.point(&store, &key).unwrap().unwrap().record().payload(), payload);
        }
    }
}

#[test]
fn a_file_that_cannot_grow_refuses_the_insert_and_goes_on_later() {
    let disk = SimDisk::new();
    let store = new_store(&disk, 1024);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    let mut refused = 0;
    let mut count = 0u32;
    let extents = || store.space_report().pages_total / u64::from(page::EXTENT_PAGES);
    let of_pages = |fault| ScheduledFault { op: Some(IoOp::Resize), file: Some("data.pages"), nth: 1, fault };
    while count < 8000 {
        if count == 3000 {
            // Little is left: the file grows by one extent.
            disk.schedule_all(&[of_pages(FaultKind::Error(ErrorKind::StorageFull))]);
            let before = extents();
            while extents() == before {
                toggle(&store, &tree, &count.to_be_bytes(), &[1; 900]).unwrap();
                count += 1;
            }
            assert_eq!(extents(), before + 1);
            // Nothing is left.
            disk.schedule_all(&[of_pages(FaultKind::Error(ErrorKind::QuotaExceeded)); 2]);
        }
        match toggle(&store, &tree, &count.to_be_bytes(), &[1; 900]) {
            Ok(_) => count += 1,
            Err(error) => {
                assert_eq!(error, Error::FileFull);
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 1);
    let report = assert_sound(&store, &tree);
    assert_eq!(report.records, 8000);
    assert_eq!(store.space_report().pages_used, (report.leaf_pages + report.inner_pages) as u64);
}

/// Every number of pages that can be had is tried, so that some of a value's pages can and others cannot.
#[test]
fn a_value_of_a_new_tree_that_finds_no_frames_leaves_no_page() {
    const FRAMES: usize = 24;
    let disk = SimDisk::new();
    let store = new_store(&disk, FRAMES);
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    (0..400u32).for_each(|n| insert(&store, &tree, &n.to_be_bytes(), &[1; 2000]));
    let (used, value) = (store.space_report().pages_used, vec![7; 3 * page::PAGE_SIZE]);
    let mut refused = 0;
    for free in (0..12).rev() {
        checkpoint(&store);
        let shared = |page| store.pool().shared(base::PageNo(page)).ok();
        let held: Vec<_> = (2..).map_while(shared).take(FRAMES - free).collect();
        let written = tree.write_overflow_of_new_tree(&store, &value, true);
        drop(held);
        match written {
            Ok(reference) => {
                let mut read = Vec::new();
                store.read_overflow(&reference, &mut read).unwrap();
                assert_eq!(read, value);
                store.free_overflow(&reference, &[]).unwrap();
            }
            Err(error) => {
                assert!(matches!(error, Error::Buffer(buffer::Error::Exhausted { .. })), "{error:?}");
                refused += 1;
            }
        }
        assert_eq!(store.space_report().pages_used, used, "{free} frames");
    }
    assert!((3..12).contains(&refused), "{refused}");
}
