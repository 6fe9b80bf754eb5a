//! Links of a closed file that lead elsewhere, with checksums that agree: errors, and no way without an end.

use std::collections::BTreeSet;

use base::PageNo;
use env::OpenOptions;
use page::{PAGE_SIZE, PageBytes, PageMut, PageOp, PageRef, PageType, TreeLevel, stamp_checksum};

use super::*;

const OTHER: IndexId = IndexId(101);
const FILE: &str = "data.pages";

/// A closed file with two trees of the same keys, of three levels each.
fn closed_file() -> (SimDisk, [PageNo; 2]) {
    let disk = SimDisk::new();
    let store = new_store(&disk, 512);
    let roots = [INDEX, OTHER].map(|index| {
        let tree = Tree::create(&store, index, VARIABLE).unwrap();
        for n in 0..900u32 {
            insert(&store, &tree, &key(n), &[n as u8; 200]);
        }
        tree.root
    });
    store.close().unwrap();
    (disk, roots)
}

fn key(n: u32) -> Vec<u8> {
    // Separators within a group are long, so that few records make a tree of three levels.
    [&(n / 8).to_be_bytes()[..], &[b'k'; 1200], &[n as u8 % 8]].concat()
}

/// The pages of the file, changed by `damage`, with a tree of each kind.
fn damaged(damage: impl FnOnce(&mut Pages)) -> (Store, [Tree; 2]) {
    let (disk, roots) = closed_file();
    let file = disk.open(Path::new(FILE), OpenOptions::default()).unwrap();
    let mut pages = Pages { bytes: vec![0; file.len().unwrap() as usize] };
    file.read_exact_at(&mut pages.bytes, 0).unwrap();
    damage(&mut pages);
    file.write_at(&pages.bytes, 0).unwrap();
    let store = Store::open(&shared(&disk), Path::new(FILE), config(512), &mut ()).unwrap();
    (store, [(INDEX, roots[0]), (OTHER, roots[1])].map(|(index, root)| Tree::open(index, root, VARIABLE)))
}

struct Pages {
    bytes: Vec<u8>,
}

impl Pages {
    fn page(&self, page: PageNo) -> PageRef<'_> {
        PageRef::new(self.bytes[page.0 as usize * PAGE_SIZE..].first_chunk().unwrap())
    }

    fn apply(&mut self, page: PageNo, op: &PageOp<'_>) {
        let bytes: &mut PageBytes = self.bytes[page.0 as usize * PAGE_SIZE..].first_chunk_mut().unwrap();
        op.apply(&mut PageMut::new(bytes)).unwrap();
        stamp_checksum(bytes);
    }

    /// The pages of a level of a tree, in order.
    fn level(&self, index: IndexId, level: u8) -> Vec<PageNo> {
        let pages = (0..(self.bytes.len() / PAGE_SIZE) as u32).map(|page| self.page(PageNo(page)));
        let found = pages.filter(|page| {
            page.page_type() == PageType::BTree && page.tree_level() == TreeLevel::of(index, level)
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|page| page.lower_fence().to_vec());
        found.into_iter().map(PageRef::page_no).collect()
    }
}

fn is_broken<T>(found: Result<T>) -> bool {
    matches!(found, Err(Error::Corruption(bad)) if bad.what == page::CorruptionKind::Link)
}

/// Reads all records in one direction; how many, and whether a broken link ended it.
fn read_all(store: &Store, tree: &Tree, forward: bool) -> (usize, bool) {
    let mut cursor = tree.seek(store, &[], if forward { Seek::First } else { Seek::Last });
    let mut count = 0;
    loop {
        match cursor {
            Ok(Some(at)) => {
                count += 1;
                assert!(count <= 200_000, "a way without an end");
                cursor = if forward { at.next() } else { at.prev() };
            }
            Ok(None) => return (count, false),
            broken => return (count, is_broken(broken)),
        }
    }
}

#[test]
fn a_sound_file_is_read_in_both_directions() {
    let (store, [tree, _]) = damaged(|pages| assert!(pages.level(INDEX, 2).len() == 1));
    for _ in 0..2 {
        assert_eq!(read_all(&store, &tree, true), (900, false));
        assert_eq!(read_all(&store, &tree, false), (900, false));
    }
}

#[test]
fn a_sibling_link_that_leads_back_ends_the_scan_with_an_error() {
    for back in [1, 2, 5] {
        let (store, [tree, _]) = damaged(|pages| {
            let leaves = pages.level(INDEX, 0);
            pages.apply(leaves[40], &PageOp::SetRight(leaves[40 - back]));
        });
        // The second time all pages are in memory, and only a long way shows that there is no end.
        for max in [900, 200_000] {
            let (count, is_broken) = read_all(&store, &tree, true);
            assert!(is_broken && count < max, "back {back}: {count} records");
        }
    }
}

#[test]
fn a_link_into_another_tree_or_to_another_level_is_an_error() {
    for level in [0, 1] {
        let (store, [tree, other]) = damaged(|pages| {
            let leaf = pages.level(INDEX, 0)[7];
            let target = if level == 0 { pages.level(OTHER, 0)[8] } else { pages.level(INDEX, 1)[1] };
            pages.apply(leaf, &PageOp::SetRight(target));
        });
        // The other tree's leaves are in memory, and known to follow each other.
        assert_eq!(read_all(&store, &other, true), (900, false));
        for _ in 0..2 {
            assert!(read_all(&store, &tree, true).1);
        }
    }
}

#[test]
fn a_chain_that_ends_too_early_is_an_error() {
    let (store, [tree, _]) = damaged(|pages| {
        let leaf = pages.level(INDEX, 0)[7];
        pages.apply(leaf, &PageOp::SetRight(PageNo::NONE));
    });
    assert!(read_all(&store, &tree, true).1);
}

#[test]
fn a_child_that_is_no_child_is_an_error_for_reads_and_edits() {
    type Choice = fn(&Pages) -> PageNo;
    let choices: [Choice; 5] = [
        |pages| pages.level(OTHER, 0)[0],
        |pages| pages.level(INDEX, 1)[2],
        |pages| pages.level(INDEX, 0)[30],
        |pages| pages.level(INDEX, 2)[0],
        |_| PageNo(1),
    ];
    for choice in choices {
        let mut lost = Vec::new();
        let (store, [tree, _]) = damaged(|pages| {
            let child = choice(pages);
            let parent = pages.level(INDEX, 1)[0];
            lost = pages.page(pages.page(parent).child(1)).key(0);
            pages.apply(parent, &PageOp::SetChild { slot: 1, child });
        });
        assert!(is_broken(tree.point(&store, &lost)));
        assert!(is_broken(tree.edit(&store, &lost, 0)));
        assert!(is_broken(tree.seek(&store, &lost, Seek::AtOrAfter)));
        // Backward the way leads through the parent.
        assert!(read_all(&store, &tree, false).1);
        let probed = Probe::new(&store, &tree).find(&lost);
        assert!(is_broken(probed));
    }
}

#[test]
fn a_tree_says_which_of_many_pages_its_inner_pages_lead_to() {
    let mut of_tree = Vec::new();
    let mut of_other = Vec::new();
    let (store, [tree, other]) = damaged(|pages| {
        let levels = |index| (0..3).flat_map(|level| pages.level(index, level)).collect::<Vec<_>>();
        (of_tree, of_other) = (levels(INDEX), levels(OTHER));
    });
    let wanted = of_tree.iter().chain(&of_other).step_by(3).copied().collect();
    let expected: Vec<_> = of_tree.iter().filter(|page| BTreeSet::contains(&wanted, page)).copied().collect();
    assert!(expected.len() > 10, "{expected:?}");
    assert!(tree.leads_to(&store, &wanted).iter().eq(BTreeSet::from_iter(expected).iter()));
    let all = wanted.len();
    assert_eq!(tree.leads_to(&store, &wanted).len() + other.leads_to(&store, &wanted).len(), all);
    assert!(tree.leads_to(&store, &BTreeSet::new()).is_empty());
}
