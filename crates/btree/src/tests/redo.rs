//! The log alone rebuilds the file.

use std::collections::BTreeMap;

use base::PageNo;
use base::codec::take_varint;
use base::prng::Prng;
use log::{LogReader, Part};
use page::{PAGE_SIZE, PageBytes, PageMut, PageOp, PageRef, PageType};

use super::*;

/// Applies all changes in the log of `disk`, in its order, to pages of zeros.
fn replay(disk: &SimDisk) -> BTreeMap<PageNo, Box<PageBytes>> {
    let mut reader = LogReader::open(&shared(disk), Path::new("redo"), config(0).identity).unwrap();
    let mut pages = BTreeMap::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        for part in frame.parts() {
            let Part::Changes(mut rest) = part.unwrap() else { continue };
            while !rest.is_empty() {
                let page_no = PageNo(take_varint(&mut rest).unwrap() as u32);
                let bytes = pages.entry(page_no).or_insert_with(|| Box::new([0; PAGE_SIZE]));
                let op = PageOp::decode(&mut rest).unwrap();
                let mut page = PageMut::new(bytes);
                op.apply(&mut page).unwrap();
                page.set_lsn(frame.range.end);
            }
        }
    }
    pages
}

/// Every page in use is, byte for byte, what the log says.
fn assert_rebuilt(store: &Store, disk: &SimDisk) {
    store.log().flush().unwrap();
    let pages = replay(disk);
    let mut compared = 0;
    for (page_no, bytes) in pages {
        let guard = store.pool().shared(page_no).unwrap();
        // The frames of freed pages may have been forgotten.
        if guard.page().page_type() == PageType::Free || PageRef::new(&bytes).page_type() == PageType::Free {
            continue;
        }
        compared += 1;
        // The checksum is made when a page is written.
        assert_eq!(guard.page().bytes()[4..], bytes[4..], "{page_no}");
    }
    assert!(compared > 10, "{compared} pages");
}

#[test]
fn replaying_the_log_gives_identical_pages() {
    for seed in 0..4 {
        eprintln!("seed {seed}");
        let disk = SimDisk::new();
        let store = new_store(&disk, 1024);
        let mut prng = Prng::new(seed);
        let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
        for _ in 0..6000 {
            let long = if prng.below(30) == 0 { 2000 } else { 0 };
            let key = vec![prng.below(40) as u8; 2 + long + prng.below(20) as usize];
            let payload = vec![1; prng.below(300) as usize];
            let grow = prng.below(3) > 0;
            let mut edit = tree.edit(&store, &key, if grow { key.len() + payload.len() } else { 0 }).unwrap();
            match (grow, edit.found()) {
                (true, false) => edit.insert(&payload, SlotFlags::NONE).unwrap(),
                (true, true) => edit.replace_payload(&payload).unwrap(),
                (false, true) => edit.remove(),
                (false, false) => {}
            }
            let sparse = edit.is_sparse();
            edit.commit();
            if sparse {
                tree.shrink(&store, &key).unwrap();
            }
        }
        (0..3000u32).for_each(|n| insert(&store, &tree, &[&[200][..], &n.to_be_bytes()].concat(), &[2; 30]));
        tree.write_overflow(&store, &vec![9; 100_000], |_| []).unwrap();
        assert_rebuilt(&store, &disk);
    }
}
