//! Building a tree bottom-up from records in key order, for CREATE INDEX and loads into an empty tree.
//!
//! Each level collects entries until they fill a page. When the next entry comes, the page's upper fence is
//! known: the page is written once, with its final prefix, in a mini-transaction of its own, and the level
//! above gets its entry. A page's right sibling is the page that the collected entries will go to, so a level
//! is one page number ahead of what it has written. The root is written last: until then the tree is empty
//! for all readers, and an abandoned build gives its pages back.

mod leaf_copy;
mod level;

use self::leaf_copy::LeafCopy;
use self::level::{Level, Place};
use base::{PageNo, ROW_HEADER_BYTES, TrxId, invariant};
use page::{Batch, FormatPage, PageOp, Record, SHORT_KEY_BYTES_MAX, SlotFlags};
use space::{Error, Latched, Locality, Mtr, Result, Store};

use crate::separator::shortest;
use crate::split::{Bounds, SMALL_TREE_CHILDREN};
use crate::tree::{KEY_BYTES_MAX, RECORD_BYTES_MAX, Tree};

/// A build in progress.
#[derive(Debug)]
pub struct BulkBuild<'s> {
    store: &'s Store,
    tree: &'s Tree,
    trx_max: TrxId,
    /// The leaves first.
    levels: Vec<Level>,
    /// Pages taken so far, given back if the build does not finish.
    taken: Vec<PageNo>,
    copy: LeafCopy,
}

impl<'s> BulkBuild<'s> {
    /// A build of `tree`, which must be empty and used by no other thread. `trx_max`: no record to come was
    /// changed by a later transaction.
    pub fn new(store: &'s Store, tree: &'s Tree, trx_max: TrxId) -> Result<Self> {
        let root = store.pool().shared(tree.root)?;
        invariant!(root.page().is_leaf() && root.page().count() == 0, "{} is not empty", tree.index);
        drop(root);
        Ok(BulkBuild {
            store,
            tree,
            trx_max,
            levels: vec![Level::leaf(tree.shape.fixed_key_len.is_some())],
            taken: Vec::new(),
            copy: LeafCopy::default(),
        })
    }

    /// Adds a record; its key is above all keys before.
    ///
    /// # Errors
    /// [`Error::RecordTooLarge`]; the log's, if a full disk has no room for more of it; errors of writing
    /// pages. The build can only be dropped then.
    #[inline]
    pub fn push(&mut self, key: &[u8], payload: &[u8], flags: SlotFlags) -> Result<()> {
        if self.levels[0].may_be_full_for_record(key.len(), payload.len()) {
            self.make_room(key, payload.len())?;
        }
        self.levels[0].push_record(key, payload, flags);
        Ok(())
    }

    /// As [`BulkBuild::push`] of a record that is nothing but the first `len` bytes of `key`, the others of
    /// which are zero.
    #[inline(always)]
    pub fn push_short_key(&mut self, key: [u8; SHORT_KEY_BYTES_MAX], len: usize) -> Result<()> {
        if self.levels[0].may_be_full_for_record(len, 0) {
            self.make_room(&key[..len], 0)?;
        }
        self.levels[0].push_short_key(key, len);
        Ok(())
    }

    /// As [`BulkBuild::push`] of a clustered record without marks: `record` with `header` in place of its
    /// own.
    #[inline]
    pub fn push_row(&mut self, record: &Record<'_>, header: &[u8; ROW_HEADER_BYTES]) -> Result<()> {
        if self.levels[0].may_be_full_for_record(record.key_len(), record.payload().len()) {
            record.with_key(|key| self.make_room(key, record.payload().len()))?;
        }
        self.levels[0].push_row(record, header);
        Ok(())
    }

    /// Closes the leaf if a record after its last one should not be there.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, key: &[u8], payload_len: usize) -> Result<()> {
        let need = key.len() + payload_len;
        if need > RECORD_BYTES_MAX || key.len() > KEY_BYTES_MAX {
            return Err(Error::RecordTooLarge { need, max: RECORD_BYTES_MAX });
        }
        self.write_copy()?;
        if self.levels[0].is_full_for_record(key, payload_len) {
            let separator = shortest(self.levels[0].last_key(), key).to_vec();
            self.close_page(0, &separator)?;
        }
        Ok(())
    }

    /// Whether the tree is one of those whose leaves are in shared extents, as far as it has come.
    pub fn is_small(&self) -> bool {
        self.taken.len() < SMALL_TREE_CHILDREN
    }

    /// Writes what is left. The tree then has all records.
    pub fn finish(mut self) -> Result<()> {
        self.unpack_copy();
        let mut at = 0;
        while self.levels[at].place.is_some() {
            self.write_pages(at, None, None)?;
            at += 1;
        }
        let count = self.levels[at].count();
        let batch = self.levels[at].split_off_front(count);
        let mut mtr = Mtr::new(self.store);
        let page = mtr.latch(self.tree.root)?;
        let place = Place { page_no: self.tree.root, version: mtr.page(page).version() };
        let bounds = Bounds { lower: &[], upper: None, right: PageNo::NONE };
        self.fill_page(&mut mtr, page, at, place, &bounds, &batch);
        mtr.commit();
        self.taken.clear();
        Ok(())
    }

    /// Writes the page a level has collected; the next one begins at `separator`.
    ///
    /// No latch is held: a checkpoint may have to make room for the page's log.
    fn close_page(&mut self, at: usize, separator: &[u8]) -> Result<()> {
        self.store.log().admit_bulk()?;
        if self.levels[at].place.is_none() {
            self.levels[at].place = Some(self.take_page(at)?);
        }
        let next = self.take_page(at)?;
        let entries = self.levels[at].count() + 1;
        self.write_pages(at, Some(separator), Some(next))?;
        self.levels[at] = self.levels[at].next(next, separator.to_vec(), entries);
        Ok(())
    }

    /// Writes all entries of a level, to one page as a rule, and passes them to the level above. `upper` and
    /// `next`: the fence after them and the page after it.
    fn write_pages(&mut self, at: usize, upper: Option<&[u8]>, next: Option<Place>) -> Result<()> {
        while self.levels[at].count() > 0 {
            let count = self.levels[at].count_that_fits(upper);
            let place = self.levels[at].place.expect("a level that is written has a place");
            let within = count < self.levels[at].count();
            let (upper, next) = if within {
                let separator = match at {
                    0 => self.levels[0].separator_before(count),
                    _ => self.levels[at].key(count).to_vec(),
                };
                (Some(separator), Some(self.take_page(at)?))
            } else {
                (upper.map(<[u8]>::to_vec), next)
            };
            let right = next.map_or(PageNo::NONE, |next| next.page_no);
            let batch = self.levels[at].split_off_front(count);
            let lower = std::mem::take(&mut self.levels[at].lower);
            let bounds = Bounds { lower: &lower, upper: upper.as_deref(), right };
            self.write_page(at, place, &bounds, &batch)?;
            self.add_child(at + 1, &lower, place.page_no)?;
            if let (true, Some(upper)) = (within, upper) {
                (self.levels[at].lower, self.levels[at].place) = (upper, next);
            }
        }
        Ok(())
    }

    /// Adds a page to the level above it.
    fn add_child(&mut self, at: usize, lower: &[u8], child: PageNo) -> Result<()> {
        if at == self.levels.len() {
            self.levels.push(Level::inner());
        }
        if self.levels[at].is_full_for_child(lower) {
            self.close_page(at, lower)?;
        }
        self.levels[at].push_child(lower, child);
        Ok(())
    }

    fn take_page(&mut self, at: usize) -> Result<Place> {
        let is_small = at == 0 && self.is_small();
        let mut mtr = Mtr::new(self.store);
        let run = if is_small {
            mtr.allocate_labelled_run(self.tree.index, 1)?
        } else {
            mtr.allocate_run(self.tree.index, 1, Locality::Own)?
        };
        mtr.commit();
        self.taken.push(run.first);
        Ok(Place { page_no: run.first, version: run.version })
    }

    fn write_page(&self, at: usize, place: Place, bounds: &Bounds<'_>, batch: &[u8]) -> Result<()> {
        let mut mtr = Mtr::new(self.store);
        let page = mtr.adopt(self.store.pool().create(place.page_no)?);
        self.fill_page(&mut mtr, page, at, place, bounds, batch);
        mtr.commit();
        Ok(())
    }

    fn format_of<'p>(&self, at: usize, place: Place, bounds: &Bounds<'p>) -> FormatPage<'p> {
        let shape = self.tree.shape;
        FormatPage {
            page_no: place.page_no,
            level: at as u8,
            index_id: self.tree.index,
            version: place.version,
            format_version: if at == 0 { shape.format_version } else { 0 },
            fixed_key_len: shape.fixed_key_len.filter(|_| at == 0),
            lower: bounds.lower,
            upper: bounds.upper,
            right: bounds.right,
        }
    }

    fn fill_page(
        &self,
        mtr: &mut Mtr<'_>,
        page: Latched,
        at: usize,
        place: Place,
        bounds: &Bounds<'_>,
        batch: &[u8],
    ) {
        mtr.apply(page, &PageOp::Format(self.format_of(at, place, bounds)));
        mtr.append_batch(page, Batch(batch));
        if at == 0 && self.trx_max > TrxId::NONE {
            mtr.apply(page, &PageOp::RaiseTrxMax(self.trx_max));
        }
    }
}

impl Drop for BulkBuild<'_> {
    fn drop(&mut self) {
        for &page in &self.taken {
            // Nothing better can be done with an error here: the page stays taken until the file is checked.
            let _ = self.store.free_page(page);
        }
    }
}
