//! Row formats of trees, and the transaction ids in use: what the check of a leaf needs to read its
//! records.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::sync::{LatchLevel, Mutex};
use base::{IndexId, Lsn, PageNo, TrxId};
use page::check::{check_records, check_structure};
use page::{Corruption, CorruptionKind, PageRef, PageType, RowFormat, RowVersions};

use crate::error::{Error, PageDefect, Result};
use crate::pool::Pool;

/// What records of tree pages are checked against. Looked at once for each page that is read.
#[derive(Debug)]
pub(crate) struct Formats {
    known: Mutex<Known>,
    /// Whether there are lost pages.
    has_lost: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    trees: HashMap<IndexId, TreeFormats>,
    ids: Option<TrxIds>,
    /// Pages of which the log had changes that were not made.
    lost: BTreeSet<PageNo>,
}

/// Formats of the records of one tree.
#[derive(Clone, Debug)]
struct TreeFormats {
    current: Arc<RowFormat>,
    /// If leaves may have others.
    versions: Option<Arc<RowVersions>>,
}

impl TreeFormats {
    /// Checks the records of a leaf against the format of its version.
    fn check(&self, page: PageRef<'_>) -> std::result::Result<(), Corruption> {
        let version = page.format_version();
        match &self.versions {
            Some(versions) if version != self.current.format_version() => match versions.format(version) {
                Some(format) => check_records(page, format),
                None => Err(Corruption { page: page.page_no(), what: CorruptionKind::Record }),
            },
            _ => check_records(page, &self.current),
        }
    }
}

/// Which transaction ids pages may have.
#[derive(Clone, Copy, Debug)]
pub struct TrxIds {
    /// Where the log ended when the server started.
    pub start: Lsn,
    /// Pages that were not changed since have ids below.
    pub horizon: TrxId,
    /// No id at or above it was given out.
    pub limit: TrxId,
}

impl Formats {
    pub(crate) fn new() -> Self {
        Formats { known: Mutex::new(LatchLevel::Leaf, Known::default()), has_lost: AtomicBool::new(false) }
    }

    /// Whether changes of the page are missing. Cost: a load where no page is lost.
    pub(crate) fn is_lost(&self, page: PageNo) -> bool {
        // Set before anybody reads pages but recovery, which is done with the page.
        self.has_lost.load(Ordering::Relaxed) && self.known.lock().lost.contains(&page)
    }

    /// The page is made again.
    pub(crate) fn find_again(&self, page: PageNo) {
        if self.has_lost.load(Ordering::Relaxed) {
            self.known.lock().lost.remove(&page);
        }
    }

    /// Checks the transaction ids of a tree page, and its records if it is a leaf whose format is known.
    pub(crate) fn verify(&self, page: PageRef<'_>) -> std::result::Result<(), Corruption> {
        if page.page_type() != PageType::BTree || !page.is_leaf() {
            return Ok(());
        }
        let (formats, ids) = {
            let known = self.known.lock();
            (known.trees.get(&page.index_id()).cloned(), known.ids)
        };
        let is_given_out =
            |ids: TrxIds| page.trx_max() < if page.lsn() <= ids.start { ids.horizon } else { ids.limit };
        if !ids.is_none_or(is_given_out) {
            return Err(Corruption { page: page.page_no(), what: CorruptionKind::Header });
        }
        formats.map_or(Ok(()), |formats| formats.check(page))
    }
}

impl Pool {
    /// From now on the records of leaves of `tree` are checked when a page is read: against `format`, or,
    /// with `versions`, against the format of their version.
    pub fn register_format(
        &self,
        tree: IndexId,
        format: &Arc<RowFormat>,
        versions: Option<&Arc<RowVersions>>,
    ) {
        let formats = TreeFormats { current: Arc::clone(format), versions: versions.map(Arc::clone) };
        self.formats.known.lock().trees.insert(tree, formats);
    }

    /// Reads of `page` fail until it is created again: the log has changes of it that recovery could not
    /// apply.
    #[cold]
    pub fn lose_page(&self, page: PageNo) {
        self.formats.known.lock().lost.insert(page);
        self.formats.has_lost.store(true, Ordering::Relaxed);
    }

    /// From now on the transaction ids of pages are checked when a page is read.
    pub fn register_ids(&self, ids: TrxIds) {
        self.formats.known.lock().ids = Some(ids);
    }

    /// Ids below `limit` are about to be given out.
    pub fn raise_id_limit(&self, limit: TrxId) {
        if let Some(ids) = &mut self.formats.known.lock().ids {
            ids.limit = ids.limit.max(limit);
        }
    }

    /// The tree is gone.
    pub fn forget_format(&self, tree: IndexId) {
        self.formats.known.lock().trees.remove(&tree);
    }

    /// Checks the tree pages that are in memory: those that were read before their formats were registered,
    /// and those that recovery changed. No other thread uses the pool yet. Cost: that of the check when a
    /// page is read, without its checksum.
    ///
    /// # Errors
    /// [`Error::Corruption`] for the first damaged page.
    pub fn ensure_resident_sound(&self) -> Result<()> {
        let pages: Vec<PageNo> =
            self.frames.used().filter_map(|frame| self.frames.state(frame).owner()).collect();
        self.ensure_sound(&pages)
    }

    /// [`Pool::ensure_resident_sound`] for `pages`. One that was evicted meanwhile is checked when it is read
    /// again, which a page that was freed never is.
    pub(crate) fn ensure_sound(&self, pages: &[PageNo]) -> Result<()> {
        for &page in pages {
            let Some(guard) = self.resident_shared(page, self.table.entry(page)) else { continue };
            let is_tree_page = guard.page().page_type() == PageType::BTree;
            let structure = if is_tree_page { check_structure(guard.page()) } else { Ok(()) };
            let verified = structure.and_then(|()| self.formats.verify(guard.page()));
            verified.map_err(|bad| Error::corrupt(self.file.path(), page, PageDefect::Bytes(bad.what)))?;
        }
        Ok(())
    }
}
