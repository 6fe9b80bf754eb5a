//! Values that are outside their record, on consecutive pages of their own.

use base::checksum::crc32;
use base::sync::interrupt;
use base::{IndexId, PageNo};
use page::extent_map::EXTENTS_PER_MAP;
use page::{OverflowRef, PageMut, PageOp, PageRef, check_overflow_value};

use crate::allocate::{NewRun, free_run};
use crate::error::{Error, Result};
use crate::extents::Locality;
use crate::mtr::Mtr;
use crate::space::EXTENT_BYTES;
use crate::store::Store;

/// Longest value: it is within one group of extents.
pub(crate) const OVERFLOW_BYTES_MAX: u64 = (EXTENTS_PER_MAP as u64 - 2) * (EXTENT_BYTES - 64 * 64);

/// Pages written between two checks whether the statement is to end.
const PAGES_BETWEEN_LOOKS: u32 = 64;

/// Pages asked from the disk at a time when a value is read.
const READ_AHEAD_PAGES: u32 = 32;

/// # Errors  [`Error::RecordTooLarge`].
fn ensure_fits(value: &[u8]) -> Result<()> {
    if value.len() as u64 > OVERFLOW_BYTES_MAX {
        return Err(Error::RecordTooLarge { need: value.len(), max: OVERFLOW_BYTES_MAX as usize });
    }
    Ok(())
}

fn reference_to(value: &[u8], run: &NewRun) -> OverflowRef {
    let (len, pages) = (value.len() as u64, overflow_pages(value));
    OverflowRef { len, first: run.first, pages, crc: crc32(value), version: run.version }
}

/// Pages of a value of these bytes.
pub fn overflow_pages(value: &[u8]) -> u32 {
    OverflowRef::pages_for(value.len() as u64).max(1)
}

/// # Errors  [`Error::Interrupted`].
fn fail_if_interrupted() -> Result<()> {
    if interrupt::is_requested() { Err(Error::Interrupted) } else { Ok(()) }
}

impl Store {
    /// Writes `value` to pages of its own for tree `index`, in extents of `locality`, and returns the
    /// reference that a record keeps. The pages belong to the tree but nothing points at them: if the record
    /// is not written after all, the caller frees them. `note` is called once, when the pages are taken and
    /// before that is in the log, and gives the parts for that frame: how to free them again.
    ///
    /// Latches: the caller holds none. Cost: one mini-transaction for the space and one a page.
    ///
    /// # Errors
    /// [`Error::RecordTooLarge`] beyond [`OVERFLOW_BYTES_MAX`]; [`Error::Interrupted`]; the log's, if a full
    /// disk has no room for more of it. An error after `note` leaves the pages to the caller.
    pub fn write_overflow<P: AsRef<[u8]>>(
        &self,
        index: IndexId,
        locality: Locality,
        value: &[u8],
        note: impl FnOnce(&OverflowRef) -> P,
    ) -> Result<OverflowRef> {
        ensure_fits(value)?;
        let mut mtr = Mtr::new(self);
        let run = mtr.allocate_run(index, overflow_pages(value), locality)?;
        let reference = reference_to(value, &run);
        mtr.commit_with(note(&reference).as_ref());
        self.fill_overflow(index, &reference, value)?;
        Ok(reference)
    }

    /// As [`Store::write_overflow`], for a tree in the making that is freed as a whole if it does not come to
    /// be: the value's pages are labelled as the tree's by the frame that allocates them, so that neither an
    /// error nor a crash loses one.
    ///
    /// # Errors
    /// As [`Store::write_overflow`].
    pub fn write_overflow_of_new_tree(
        &self,
        index: IndexId,
        locality: Locality,
        value: &[u8],
    ) -> Result<OverflowRef> {
        ensure_fits(value)?;
        let pages = overflow_pages(value);
        let mut mtr = Mtr::new(self);
        let run = match locality {
            Locality::Shared => mtr.allocate_labelled_run(index, pages)?,
            // Extents of the tree's own are freed without reading their pages.
            Locality::Own => mtr.allocate_run(index, pages, locality)?,
        };
        mtr.commit();
        let reference = reference_to(value, &run);
        self.fill_overflow(index, &reference, value)?;
        Ok(reference)
    }

    /// Writes the pages of a value. The log admits each of them: a long value logs more than the log has room
    /// for.
    fn fill_overflow(&self, index: IndexId, reference: &OverflowRef, value: &[u8]) -> Result<()> {
        let mut image = Box::new([0; page::PAGE_SIZE]);
        for position in 0..reference.pages {
            if position % PAGES_BETWEEN_LOOKS == PAGES_BETWEEN_LOOKS - 1 {
                fail_if_interrupted()?;
            }
            self.log.admit_change()?;
            let page_no = PageNo(reference.first.0 + position);
            let mut mtr = Mtr::new(self);
            let page = mtr.adopt(self.pool.create(page_no)?);
            PageMut::new(&mut image).format_overflow(page_no, index, reference.version, position, value);
            mtr.apply(page, &PageOp::image_of(PageRef::new(&image)));
            mtr.commit();
        }
        Ok(())
    }

    /// Appends the value that `reference` points to to `out`. Holds one page at a time.
    ///
    /// # Errors
    /// [`Error::Corruption`] if the pages are not those of the value; `out` then has lost nothing it had
    /// before.
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

    /// Frees the pages of a value. No record points at it any more, and no thread reads it. `parts`, encoded,
    /// go into the last frame of it.
    pub fn free_overflow(&self, reference: &OverflowRef, parts: &[u8]) -> Result<()> {
        free_run(self, reference.first, reference.pages, parts)
    }
}
