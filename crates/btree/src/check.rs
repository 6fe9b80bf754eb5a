//! Looking at a whole tree: order, fences, levels, sibling links, ownership of pages.
//!
//! For CHECK TABLE and tests. The tree must not change meanwhile: the pages are visited one at a time.

use std::collections::BTreeSet;

use base::PageNo;
use page::{PageRef, PageType};

use crate::error::Result;
use crate::store::Store;
use crate::tree::Tree;

/// What a check has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeReport {
    /// Levels, 1 for a root that is a leaf.
    pub levels: usize,
    /// Leaf pages.
    pub leaf_pages: usize,
    /// Inner pages.
    pub inner_pages: usize,
    /// Records, delete-marked ones too.
    pub records: u64,
    /// Bytes in use on leaf pages, headers and fences included.
    pub leaf_bytes_used: u64,
    /// What is wrong, in plain words; empty for a sound tree. At most [`PROBLEMS_MAX`].
    pub problems: Vec<String>,
}

/// Where the search for problems stops.
pub const PROBLEMS_MAX: usize = 20;

/// Most levels a tree can have: 2^32 pages with two children each.
const LEVELS_MAX: usize = 33;

/// A page to visit, and what its parent says of it.
struct Expected {
    page_no: PageNo,
    lower: Vec<u8>,
    upper: Option<Vec<u8>>,
}

struct Check<'s> {
    store: &'s Store,
    tree: &'s Tree,
    seen: BTreeSet<PageNo>,
    report: TreeReport,
}

impl Tree {
    /// Visits every page of the tree and reports what is there and what is wrong.
    ///
    /// # Errors
    /// Only if a page cannot be read.
    pub fn check(&self, store: &Store) -> Result<TreeReport> {
        let mut check = Check { store, tree: self, seen: BTreeSet::new(), report: TreeReport::default() };
        let root = Expected { page_no: self.root, lower: Vec::new(), upper: None };
        let mut level = vec![root];
        while !level.is_empty() && check.report.levels < LEVELS_MAX {
            check.report.levels += 1;
            level = check.check_level(&level)?;
        }
        Ok(check.report)
    }
}

impl Check<'_> {
    fn problem(&mut self, page_no: PageNo, what: &str) {
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(format!("{page_no}: {what}"));
        }
    }

    fn expect(&mut self, holds: bool, page_no: PageNo, what: &str) {
        if !holds {
            self.problem(page_no, what);
        }
    }

    /// Visits the pages of one level from left to right; returns the level below.
    fn check_level(&mut self, pages: &[Expected]) -> Result<Vec<Expected>> {
        let mut below = Vec::new();
        let mut level = None;
        for (at, expected) in pages.iter().enumerate() {
            let page_no = expected.page_no;
            if !self.seen.insert(page_no) {
                self.problem(page_no, "is the child of two pages");
                continue;
            }
            let guard = self.store.pool.shared(page_no)?;
            let page = guard.page();
            let right = pages.get(at + 1).map_or(PageNo::NONE, |next| next.page_no);
            self.expect(page.right() == right, page_no, "links to another page than its right sibling");
            self.expect(
                *level.get_or_insert(page.level()) == page.level(),
                page_no,
                "has another level than its siblings",
            );
            self.check_page(page, expected);
            if page.is_leaf() {
                self.report.leaf_pages += 1;
                self.report.records += page.count() as u64;
                self.report.leaf_bytes_used += page.used_bytes() as u64;
            } else {
                self.report.inner_pages += 1;
                below.extend(children(page));
            }
        }
        if let (Some(level), Some(first)) = (level, below.first()) {
            let found = self.store.pool.shared(first.page_no)?.page().level();
            self.expect(found + 1 == level, first.page_no, "is not one level below its parent");
        }
        Ok(below)
    }

    fn check_page(&mut self, page: PageRef<'_>, expected: &Expected) {
        let page_no = expected.page_no;
        self.expect(page.page_no() == page_no, page_no, "carries another page number");
        self.expect(page.page_type() == PageType::BTree, page_no, "is no page of a tree");
        self.expect(page.index_id() == self.tree.index, page_no, "belongs to another tree");
        self.expect(
            page.lower_fence() == expected.lower,
            page_no,
            "has another lower fence than its parent says",
        );
        let upper_agrees = page.upper_fence() == expected.upper.as_deref();
        self.expect(upper_agrees, page_no, "has another upper fence than its parent says");
        self.expect(page.is_leaf() || page.count() > 0, page_no, "is an inner page without children");
        self.expect(self.store.space.owns(self.tree.index, page_no), page_no, "is not allocated to the tree");
        if let Err(corruption) = page::check::check_page(page) {
            self.problem(page_no, &format!("{:?}", corruption.what));
        }
    }
}

/// What an inner page says of its children.
fn children(page: PageRef<'_>) -> Vec<Expected> {
    let upper = |slot: usize| {
        if slot + 1 < page.count() {
            Some(page.key(slot + 1))
        } else {
            page.upper_fence().map(<[u8]>::to_vec)
        }
    };
    let child = |slot| Expected { page_no: page.child(slot), lower: page.key(slot), upper: upper(slot) };
    (0..page.count()).map(child).collect()
}
