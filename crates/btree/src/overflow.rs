//! Values that stand outside their record, on consecutive pages of their own.

use base::PageNo;
use base::checksum::crc32;
use base::sync::interrupt;
use page::extent_map::EXTENTS_PER_MAP;
use page::{OverflowRef, PageMut, PageOp, PageRef, PageType, check_overflow_value};

use crate::allocate::free_run;
use crate::error::{Error, Result};
use crate::extents::Locality;
use crate::mtr::Mtr;
use crate::space::EXTENT_BYTES;
use crate::split::SMALL_TREE_CHILDREN;
use crate::store::Store;
use crate::tree::Tree;

/// A value with more pages than this never goes to extents that small trees share.
const SHARED_PAGES_MAX: u32 = 4;

/// Longest value: it stands within one group of extents.
pub const OVERFLOW_BYTES_MAX: u64 = (EXTENTS_PER_MAP as u64 - 2) * (EXTENT_BYTES - 64 * 64);

/// Pages written between two looks whether the statement is to end.
const PAGES_BETWEEN_LOOKS: u32 = 64;

/// Pages asked from the disk at a time when a value is read.
const READ_AHEAD_PAGES: u32 = 32;

/// # Errors  [`Error::Interrupted`].
fn fail_if_interrupted() -> Result<()> {
    if interrupt::is_requested() { Err(Error::Interrupted) } else { Ok(()) }
}

impl Tree {
    /// Writes `value` to pages of its own and returns the reference that a record keeps. The pages belong to the tree but
    /// nothing points at them: if the record is not written after all, the caller frees them. `note` is called once, when
    /// the pages are taken and before that is in the log, and gives the parts for that frame: how to free them again.
    ///
    /// Latches: the caller holds none. Cost: one mini-transaction for the space and one a page.
    ///
    /// # Errors
    /// [`Error::RecordTooLarge`] beyond [`OVERFLOW_BYTES_MAX`]; [`Error::Interrupted`]. An error after `note` leaves the
    /// pages to the caller.
    pub fn write_overflow<P: AsRef<[u8]>>(
        &self,
        store: &Store,
        value: &[u8],
        note: impl FnOnce(&OverflowRef) -> P,
    ) -> Result<OverflowRef> {
        let len = value.len() as u64;
        if len > OVERFLOW_BYTES_MAX {
            return Err(Error::RecordTooLarge { need: value.len(), max: OVERFLOW_BYTES_MAX as usize });
        }
        let pages = OverflowRef::pages_for(len).max(1);
        let locality = self.overflow_locality(store, pages)?;
        let mut mtr = Mtr::new(store);
        let run = mtr.allocate_run(self.index, pages, locality)?;
        let reference = OverflowRef { len, first: run.first, pages, crc: crc32(value), version: run.version };
        mtr.commit_with(note(&reference).as_ref());
        self.fill(store, &reference, value)?;
        Ok(reference)
    }

    /// As [`Tree::write_overflow`], for a tree in the making that is freed as a whole if it does not come to be: the value's pages
    /// are labelled as the tree's by the frame that allocates them, so that neither an error nor a crash loses one.
    pub fn write_overflow_of_new_tree(&self, store: &Store, value: &[u8]) -> Result<OverflowRef> {
        let len = value.len() as u64;
        if len > OVERFLOW_BYTES_MAX {
            return Err(Error::RecordTooLarge { need: value.len(), max: OVERFLOW_BYTES_MAX as usize });
        }
        let pages = OverflowRef::pages_for(len).max(1);
        let locality = self.overflow_locality(store, pages)?;
        let mut mtr = Mtr::new(store);
        let run = mtr.allocate_run(self.index, pages, locality)?;
        // Extents of the tree's own are freed without a look at their pages.
        let shared = if locality == Locality::Shared { pages } else { 0 };
        let labelled: Result<()> = (0..shared).try_for_each(|position| {
            let page_no = PageNo(run.first.0 + position);
            let page = mtr.adopt(store.pool.create(page_no)?);
            let (page_type, index_id, version) = (PageType::Free, self.index, run.version);
            mtr.apply(page, &PageOp::FormatOther { page_no, page_type, index_id, version });
            Ok(())
        });
        mtr.commit();
        if labelled.is_err() {
            free_run(store, run.first, pages, &[])?;
        }
        labelled?;
        let reference = OverflowRef { len, first: run.first, pages, crc: crc32(value), version: run.version };
        self.fill(store, &reference, value)?;
        Ok(reference)
    }

    fn overflow_locality(&self, store: &Store, pages: u32) -> Result<Locality> {
        if pages > SHARED_PAGES_MAX {
            return Ok(Locality::Own);
        }
        let root = store.pool.shared(self.root)?;
        let page = root.page();
        let is_small = page.is_leaf() || page.level() == 1 && page.count() < SMALL_TREE_CHILDREN;
        Ok(if is_small { Locality::Shared } else { Locality::Own })
    }

    fn fill(&self, store: &Store, reference: &OverflowRef, value: &[u8]) -> Result<()> {
        let mut image = Box::new([0; page::PAGE_SIZE]);
        for position in 0..reference.pages {
            if position % PAGES_BETWEEN_LOOKS == PAGES_BETWEEN_LOOKS - 1 {
                fail_if_interrupted()?;
            }
            let page_no = PageNo(reference.first.0 + position);
            let mut mtr = Mtr::new(store);
            let page = mtr.adopt(store.pool.create(page_no)?);
            PageMut::new(&mut image).format_overflow(page_no, self.index, reference.version, position, value);
            mtr.apply(page, &PageOp::image_of(PageRef::new(&image)));
            mtr.commit();
        }
        Ok(())
    }
}

impl Store {
    /// Appends the value behind `reference` to `out`. Holds one page at a time.
    ///
    /// # Errors
    /// [`Error::Corruption`] if the pages are not those of the value; `out` then has lost nothing it had before.
    pub fn read_overflow(&self, reference: &OverflowRef, out: &mut Vec<u8>) -> Result<()> {
        self.read_overflow_while(reference, out, || Ok(()))
    }

    /// As [`Store::read_overflow`], for a statement: KILL ends it.
    ///
    /// # Errors
    /// [`Error::Interrupted`] as well.
    pub fn read_overflow_of_statement(&self, reference: &OverflowRef, out: &mut Vec<u8>) -> Result<()> {
        self.read_overflow_while(reference, out, fail_if_interrupted)
    }

    fn read_overflow_while(
        &self,
        reference: &OverflowRef,
        out: &mut Vec<u8>,
        look: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let before = out.len();
        let read = self.read_overflow_pages(reference, out, look);
        let checked = read.and_then(|()| Ok(check_overflow_value(reference, &out[before..])?));
        if checked.is_err() {
            out.truncate(before);
        }
        checked
    }

    fn read_overflow_pages(
        &self,
        reference: &OverflowRef,
        out: &mut Vec<u8>,
        look: impl Fn() -> Result<()>,
    ) -> Result<()> {
        for position in 0..reference.pages {
            if position % READ_AHEAD_PAGES == 0 && reference.pages > 1 {
                look()?;
                let end = reference.pages.min(position + READ_AHEAD_PAGES);
                let ahead: Vec<PageNo> = (position..end).map(|at| PageNo(reference.first.0 + at)).collect();
                self.pool.prefetch(&ahead);
            }
            let page = self.pool.shared_cold(PageNo(reference.first.0 + position))?;
            out.extend_from_slice(page.page().overflow_bytes(reference, position)?);
        }
        Ok(())
    }

    /// Frees the pages of a value. No record points at it any more, and nobody reads it. `parts`, encoded, go into the
    /// last frame of it.
    pub fn free_overflow(&self, reference: &OverflowRef, parts: &[u8]) -> Result<()> {
        free_run(self, reference.first, reference.pages, parts)
    }
}
