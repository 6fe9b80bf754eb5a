//! A whole tree: pages, order, fences, levels, sibling links, ownership.

use base::PageNo;
use base::sync::interrupt;
use page::{PAGE_SIZE, PageBytes, PageRef, PageType};
use space::Store;

use crate::tree::Tree;
use space::check::{PageSet, Problems};

/// Result of the check of a tree.
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
    /// What is wrong.
    pub problems: Problems,
    /// Pages were left out, because they could not be read or trusted; what is below them was not seen
    /// either.
    pub is_partial: bool,
}

/// Most levels a tree can have: 2^32 pages with two children each.
const LEVELS_MAX: usize = 33;

/// Pages asked from the disk at a time.
const READ_AHEAD_PAGES: usize = 32;

/// Called with a copy of each sound leaf, in key order, and with what the check of the tree knows so far.
pub type VisitLeaf<'v> = &'v mut dyn FnMut(PageRef<'_>, &mut PageSet<'_>, &mut Problems);

/// A page to visit, and what its parent says of it.
struct Expected {
    page_no: PageNo,
    /// `None` for the root.
    level: Option<u8>,
    lower: Vec<u8>,
    upper: Option<Vec<u8>>,
}

struct Check<'s, 'p> {
    store: &'s Store,
    tree: &'s Tree,
    pages: &'s mut PageSet<'p>,
    visit_leaf: VisitLeaf<'s>,
    /// By level: the page visited last and its right link, unless what came after it was left out.
    last: Vec<Option<(PageNo, PageNo)>>,
    spare: Vec<Box<PageBytes>>,
    report: TreeReport,
}

impl Tree {
    /// Visits every page of the tree and reports what is there and what is wrong.
    pub fn check(&self, store: &Store) -> TreeReport {
        self.check_with(store, &mut PageSet::new(store), &mut |_, _, _| {})
    }

    /// The same; `pages` learns of the tree's pages.
    pub fn check_with(
        &self,
        store: &Store,
        pages: &mut PageSet<'_>,
        visit_leaf: VisitLeaf<'_>,
    ) -> TreeReport {
        let mut check = Check {
            store,
            tree: self,
            pages,
            visit_leaf,
            last: Vec::new(),
            spare: Vec::new(),
            report: TreeReport::default(),
        };
        check.check_subtree(&Expected { page_no: self.root, level: None, lower: Vec::new(), upper: None });
        check.check_ends();
        check.report
    }
}

impl Check<'_, '_> {
    /// Visits a page, then the pages below it, until the statement is killed. The depth is bounded: each
    /// level is one less than its parent's.
    fn check_subtree(&mut self, expected: &Expected) {
        let page_no = expected.page_no;
        let mut image = self.spare.pop().unwrap_or_else(|| Box::new([0; PAGE_SIZE]));
        let below = match self.copy(expected, &mut image) {
            Ok(()) => self.check_page(PageRef::new(&image), expected),
            Err(what) => {
                self.leave_out(expected, &what);
                Vec::new()
            }
        };
        self.spare.push(image);
        for (at, child) in below.iter().enumerate() {
            if interrupt::is_requested() {
                self.report.is_partial = true;
                return;
            }
            if at.is_multiple_of(READ_AHEAD_PAGES) && child.level == Some(0) {
                let ahead = below[at..].iter().take(READ_AHEAD_PAGES).map(|child| child.page_no);
                let ahead: Vec<PageNo> = ahead.filter(|&page| self.pages.has_room_for(page)).collect();
                self.store.pool().prefetch(&ahead);
            }
            debug_assert!(child.page_no != page_no, "check_page looks at the children");
            self.check_subtree(child);
        }
    }

    /// Copies a page that nothing else has claimed.
    fn copy(&mut self, expected: &Expected, image: &mut PageBytes) -> Result<(), String> {
        let page_no = expected.page_no;
        if page_no.is_none() || !self.pages.has_room_for(page_no) {
            return Err("is not in the file, but the tree leads to it".to_owned());
        }
        if !self.pages.claim(page_no) {
            return Err("belongs to two trees, parents or off-page values".to_owned());
        }
        let guard = self.store.pool().shared_cold(page_no).map_err(|error| error.to_string())?;
        guard.page().copy_to(image);
        drop(guard);
        let page = PageRef::new(image);
        if page.page_type() != PageType::BTree {
            return Err("is no page of a tree".to_owned());
        }
        match expected.level {
            Some(level) if level != page.level() => Err("is not one level below its parent".to_owned()),
            None if usize::from(page.level()) >= LEVELS_MAX => Err("has an impossible level".to_owned()),
            _ => Ok(()),
        }
    }

    /// Notes that a page and what is below it were not seen.
    fn leave_out(&mut self, expected: &Expected, what: &str) {
        self.report.problems.add(expected.page_no, what);
        self.report.is_partial = true;
        let levels = expected.level.map_or(self.last.len(), |level| usize::from(level) + 1);
        self.last.iter_mut().take(levels).for_each(|last| *last = None);
    }

    /// Looks at one page; returns its children, none if it is not sound.
    fn check_page(&mut self, page: PageRef<'_>, expected: &Expected) -> Vec<Expected> {
        let page_no = expected.page_no;
        if expected.level.is_none() {
            self.report.levels = usize::from(page.level()) + 1;
            self.last = vec![None; self.report.levels];
        }
        self.check_link(page);
        let problems = &mut self.report.problems;
        problems.expect(page.index_id() == self.tree.index, page_no, "belongs to another tree");
        problems.expect(
            page.lower_fence() == expected.lower,
            page_no,
            "has another lower fence than its parent says",
        );
        let upper_agrees = page.upper_fence() == expected.upper.as_deref();
        problems.expect(upper_agrees, page_no, "has another upper fence than its parent says");
        let is_owned = self.store.is_owned_by(self.tree.index, page_no);
        problems.expect(is_owned, page_no, "is not allocated to the tree");
        if let Err(corruption) = page::check::check_page(page) {
            self.leave_out(expected, corruption.what.words());
            return Vec::new();
        }
        if page.is_leaf() {
            self.report.leaf_pages += 1;
            self.report.records += page.count() as u64;
            self.report.leaf_bytes_used += page.used_bytes() as u64;
            (self.visit_leaf)(page, self.pages, &mut self.report.problems);
            return Vec::new();
        }
        self.report.inner_pages += 1;
        children(page)
    }

    /// The page visited before on this level links to this one.
    fn check_link(&mut self, page: PageRef<'_>) {
        let this = page.page_no();
        let last = self.last[usize::from(page.level())].replace((this, page.right()));
        if let Some((left, right)) = last
            && right != this
        {
            self.report.problems.add(left, format!("links to {right}, not to its right sibling, {this}"));
        }
    }

    /// The last page of each level links to none.
    fn check_ends(&mut self) {
        for (left, right) in std::mem::take(&mut self.last).into_iter().flatten() {
            if right != PageNo::NONE {
                self.report.problems.add(left, format!("is the last of its level, but links to {right}"));
            }
        }
    }
}

/// The expectations of an inner page about its children.
fn children(page: PageRef<'_>) -> Vec<Expected> {
    let upper = |slot: usize| {
        if slot + 1 < page.count() {
            Some(page.key(slot + 1))
        } else {
            page.upper_fence().map(<[u8]>::to_vec)
        }
    };
    let level = Some(page.level() - 1);
    let child =
        |slot| Expected { page_no: page.child(slot), level, lower: page.key(slot), upper: upper(slot) };
    (0..page.count()).map(child).collect()
}
