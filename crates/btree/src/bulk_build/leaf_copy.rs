//! Leaves that a bulk build takes over from another tree.
//!
//! Whether another leaf comes after the one that was taken over last is known when the next record comes:
//! until then it is not written, and its level counts as full.

use base::ROW_HEADER_BYTES;
use page::{PAGE_SIZE, PageBytes, PageMut, PageOp, PageRef};
use space::{Mtr, Result};

use super::BulkBuild;
use crate::split::Bounds;

/// A leaf with fewer bytes in use is better packed again.
pub(super) const TAKEN_BYTES_MIN: usize = PAGE_SIZE - PAGE_SIZE / 8;

/// The leaf that was taken over last.
#[derive(Debug, Default)]
pub(super) struct LeafCopy {
    image: Option<Box<PageBytes>>,
    is_pending: bool,
}

impl BulkBuild<'_> {
    /// Adds all records of `leaf`, of a clustered tree with the same record format, as a page of their own.
    /// Their keys are above all before; none is marked as deleted; they keep their row headers, whose
    /// transactions all readers of the new tree see. False: nothing was added, as the leaf is not full
    /// enough, or the last one. Cost: about 40 instructions a record and three
    /// copies of the page.
    ///
    /// # Errors
    /// As [`BulkBuild::push`].
    pub fn push_leaf(&mut self, leaf: PageRef<'_>) -> Result<bool> {
        let Some(upper) = leaf.upper_fence().filter(|_| leaf.used_bytes() >= TAKEN_BYTES_MIN) else {
            return Ok(false);
        };
        if self.copy.is_pending {
            self.write_copy()?;
        } else if self.levels[0].count() > 0 {
            if !self.levels[0].is_nearly_full() {
                return Ok(false);
            }
            self.close_page(0, leaf.lower_fence())?;
        }
        if self.levels[0].place.is_none() {
            self.levels[0].place = Some(self.take_page(0)?);
        }
        let place = self.levels[0].place.expect("it was taken");
        let bounds = Bounds { lower: &self.levels[0].lower, upper: Some(upper), right: base::PageNo::NONE };
        let format = self.format_of(0, place, &bounds);
        let mut image = self.copy.image.take().unwrap_or_else(|| Box::new([0; PAGE_SIZE]));
        let fits = PageMut::new(&mut image).format_with(&format, leaf, 0..leaf.count()).is_ok();
        self.copy = LeafCopy { image: Some(image), is_pending: fits };
        if fits {
            self.levels[0].count_as_full();
        }
        Ok(fits)
    }

    /// Writes the leaf that was taken over, if there is one; the next leaf begins at its upper fence.
    pub(super) fn write_copy(&mut self) -> Result<()> {
        let LeafCopy { image: Some(mut image), is_pending: true } = std::mem::take(&mut self.copy) else {
            return Ok(());
        };
        self.store.log().admit_bulk()?;
        let next = self.take_page(0)?;
        PageMut::new(&mut image).set_right(next.page_no);
        let leaf = PageRef::new(&image);
        let place = self.levels[0].place.expect("a leaf that was taken over has a place");
        let mut mtr = Mtr::new(self.store);
        let page = mtr.adopt(self.store.pool().create(place.page_no)?);
        mtr.apply(page, &PageOp::image_of(leaf));
        mtr.commit();
        let lower = std::mem::take(&mut self.levels[0].lower);
        let upper = leaf.upper_fence().expect("only such leaves are taken over").to_vec();
        self.add_child(1, &lower, place.page_no)?;
        self.levels[0] = self.levels[0].next(next, upper, 0);
        self.copy.image = Some(image);
        Ok(())
    }

    /// Collects the records of the leaf that was taken over, if there is one, as if it had not been: it is
    /// the last one.
    pub(super) fn unpack_copy(&mut self) {
        let LeafCopy { image: Some(image), is_pending: true } = std::mem::take(&mut self.copy) else {
            return;
        };
        let leaf = PageRef::new(&image);
        self.levels[0].count_as_empty();
        for slot in 0..leaf.count() {
            self.levels[0].push_row(&leaf.record(slot), &[0; ROW_HEADER_BYTES]);
        }
    }
}
