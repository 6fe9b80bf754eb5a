//! Building a tree bottom-up from records in key order, for CREATE INDEX and loads into an empty tree.
//!
//! Each level collects entries until they fill a page. When the next entry comes, the page's upper fence is known: the page
//! is written once, with its final prefix, in a mini-transaction of its own, and the level above gets its entry. A page's
//! right sibling is the page that the collected entries will go to, so a level is one page number ahead of what it has
//! written. The root is written last: until then the tree is empty for everybody, and an abandoned build gives its pages
//! back.

use base::{PageNo, TrxId, invariant};
use page::{Batch, FormatPage, PAGE_SIZE, PageOp, SlotFlags};

use crate::allocate::free_run;
use crate::error::{Error, Result};
use crate::extents::Locality;
use crate::mtr::{Latched, Mtr};
use crate::separator::{common_prefix_len, shortest};
use crate::split::SMALL_TREE_CHILDREN;
use crate::store::Store;
use crate::tree::{KEY_BYTES_MAX, RECORD_BYTES_MAX, Tree};

/// Bytes of header, fences, arrays and cells at which a page counts as full: 15/16, so that a later insertion does not split
/// it at once.
const FILL_BYTES: usize = PAGE_SIZE - PAGE_SIZE / 16;

/// A build in progress.
#[derive(Debug)]
pub struct BulkBuild<'s> {
    store: &'s Store,
    tree: &'s Tree,
    max_trx: TrxId,
    /// The leaves first.
    levels: Vec<Level>,
    /// Pages taken so far, given back if the build does not finish.
    taken: Vec<PageNo>,
}

/// The page that a level is filling.
#[derive(Debug, Default)]
struct Level {
    /// Where the page will stand, its version; none while it may be the only one, which becomes the root.
    place: Option<(PageNo, u32)>,
    /// Its lower fence.
    lower: Vec<u8>,
    /// Its entries as the log takes them.
    batch: Vec<u8>,
    /// Where each entry starts in `batch`.
    starts: Vec<usize>,
    /// Key bytes, payload bytes and array bytes, no prefix taken off.
    bytes: usize,
    last_key: Vec<u8>,
}

impl<'s> BulkBuild<'s> {
    /// A build of `tree`, which must be empty and used by nobody else. `max_trx`: no record to come was changed by a
    /// later transaction.
    pub fn new(store: &'s Store, tree: &'s Tree, max_trx: TrxId) -> Result<Self> {
        let root = store.pool.shared(tree.root)?;
        invariant!(root.page().is_leaf() && root.page().count() == 0, "{} is not empty", tree.index);
        drop(root);
        Ok(BulkBuild { store, tree, max_trx, levels: vec![Level::default()], taken: Vec::new() })
    }

    /// Adds a record; its key is above all keys before.
    ///
    /// # Errors
    /// [`Error::RecordTooLarge`]; errors of writing pages. The build can only be dropped then.
    pub fn push(&mut self, key: &[u8], payload: &[u8], flags: SlotFlags) -> Result<()> {
        let need = key.len() + payload.len();
        if need > RECORD_BYTES_MAX || key.len() > KEY_BYTES_MAX {
            return Err(Error::RecordTooLarge { need, max: RECORD_BYTES_MAX });
        }
        let leaf = &self.levels[0];
        debug_assert!(leaf.starts.is_empty() || leaf.last_key.as_slice() < key, "keys ascend");
        // Two length words, head and slot.
        let bytes = need + 10;
        if leaf.is_full_with(key, bytes) {
            let separator = shortest(&leaf.last_key, key).to_vec();
            self.close_page(0, separator)?;
        }
        self.levels[0].add(key, bytes, |batch| Batch::push_record(batch, key, payload, flags));
        Ok(())
    }

    /// Writes what is left. The tree then has all records.
    pub fn finish(mut self) -> Result<()> {
        let mut at = 0;
        while let Some((page_no, version)) = self.levels[at].place {
            let level = std::mem::take(&mut self.levels[at]);
            self.write_page(at, &level, (page_no, version), None, PageNo::NONE)?;
            self.add_child(at + 1, &level.lower, page_no)?;
            at += 1;
        }
        let level = std::mem::take(&mut self.levels[at]);
        let mut mtr = Mtr::new(self.store);
        let root = mtr.latch(self.tree.root)?;
        let place = (self.tree.root, mtr.page(root).version());
        self.fill_page(&mut mtr, root, at, &level, place, None, PageNo::NONE);
        mtr.commit();
        self.taken.clear();
        Ok(())
    }

    /// Writes the page a level has collected; the next one begins at `separator`.
    fn close_page(&mut self, at: usize, separator: Vec<u8>) -> Result<()> {
        let place = match self.levels[at].place {
            Some(place) => place,
            None => self.take_page(at)?,
        };
        let next = self.take_page(at)?;
        let new = Level { place: Some(next), lower: separator, ..Level::default() };
        let level = std::mem::replace(&mut self.levels[at], new);
        let separator = self.levels[at].lower.clone();
        self.write_page(at, &level, place, Some(&separator), next.0)?;
        self.add_child(at + 1, &level.lower, place.0)
    }

    /// Adds a page to the level above it.
    fn add_child(&mut self, at: usize, lower: &[u8], child: PageNo) -> Result<()> {
        if at == self.levels.len() {
            self.levels.push(Level::default());
        }
        // A length word, head, slot and child.
        let bytes = lower.len() + 12;
        if self.levels[at].is_full_with(lower, bytes) {
            self.close_page(at, lower.to_vec())?;
        }
        self.levels[at].add(lower, bytes, |batch| Batch::push_child(batch, lower, child));
        Ok(())
    }

    fn take_page(&mut self, at: usize) -> Result<(PageNo, u32)> {
        let is_small = at == 0 && self.taken.len() < SMALL_TREE_CHILDREN;
        let locality = if is_small { Locality::Shared } else { Locality::Own };
        let mut mtr = Mtr::new(self.store);
        let run = mtr.allocate_run(self.tree.index, 1, locality)?;
        mtr.commit();
        self.taken.push(run.first);
        Ok((run.first, run.version))
    }

    fn write_page(
        &self,
        at: usize,
        level: &Level,
        place: (PageNo, u32),
        upper: Option<&[u8]>,
        right: PageNo,
    ) -> Result<()> {
        let mut mtr = Mtr::new(self.store);
        let page = mtr.adopt(self.store.pool.create(place.0)?);
        self.fill_page(&mut mtr, page, at, level, place, upper, right);
        mtr.commit();
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "a page's bounds and content")]
    fn fill_page(
        &self,
        mtr: &mut Mtr<'_>,
        page: Latched,
        at: usize,
        level: &Level,
        place: (PageNo, u32),
        upper: Option<&[u8]>,
        right: PageNo,
    ) {
        let shape = self.tree.shape;
        let format = FormatPage {
            page_no: place.0,
            level: at as u8,
            index_id: self.tree.index,
            version: place.1,
            format_version: if at == 0 { shape.format_version } else { 0 },
            fixed_key_len: shape.fixed_key_len.filter(|_| at == 0),
            lower: &level.lower,
            upper,
            right,
        };
        mtr.apply(page, &PageOp::Format(format));
        mtr.apply(page, &PageOp::Append(Batch(&level.batch)));
        if at == 0 && self.max_trx > TrxId::NONE {
            mtr.apply(page, &PageOp::RaiseMaxTrx(self.max_trx));
        }
    }
}

impl Level {
    fn add(&mut self, key: &[u8], bytes: usize, push: impl FnOnce(&mut Vec<u8>)) {
        self.starts.push(self.batch.len());
        push(&mut self.batch);
        self.bytes += bytes;
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
    }

    /// Whether the page is better closed before the entry with `key` comes. The upper fence will be between the last key
    /// and the one that closes the page, so what the lower fence shares with the closing key is surely prefix.
    fn is_full_with(&self, key: &[u8], bytes: usize) -> bool {
        if self.starts.is_empty() {
            return false;
        }
        let prefix_len = common_prefix_len(&self.lower, key);
        let entries = self.starts.len() + 1;
        let fences = self.lower.len() + key.len();
        let all = page::HEADER_BYTES + fences + self.bytes + bytes - entries * prefix_len;
        all > FILL_BYTES
    }
}

impl Drop for BulkBuild<'_> {
    fn drop(&mut self) {
        for &page in &self.taken {
            // Nothing better can be done with an error here: the page stays taken until the file is checked.
            let _ = free_run(self.store, page, 1);
        }
    }
}
