//! Extents with records that wait to be removed: delete-marked ones and closed entries.
//!
//! The map has a bit per extent, so that after a crash only those extents are swept whose purge was lost with
//! memory (docs/file_format.md, 1.2). Each extent is in one of these states:
//!
//! ```text
//!   map bit  bit here
//!   0        0         nothing waits
//!   1        1         something was marked since the start: purge knows of it, and a crash would forget it
//!   1        0         the bit was found at the start: the extent is unswept, or being swept
//! ```
//! The bit here is read under the latch of the page on which something is about to be marked, and set
//! under the allocation state, with the map's if that is not set. A sweep clears the map's bit only while the
//! bit here is not set: a writer that marks something on a page later finds neither bit, and the marks of a
//! writer before the sweep reached the page were seen there. Records that move to another extent take the
//! bits along.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use base::PageNo;
use page::PageRef;

use crate::error::Result;
use crate::extent_no::{ExtentNo, extent_of};
use crate::mtr::{Latched, Mtr};
use crate::store::Store;

/// Words of a chunk of bits, and chunks: all extents that page numbers reach.
const CHUNK_WORDS: usize = 1024;
const CHUNKS: usize = 1024;

type Chunk = Box<[AtomicU64]>;

/// One bit an extent; memory is taken as extents come into use.
#[derive(Debug)]
pub(crate) struct GarbageBits {
    chunks: Box<[OnceLock<Chunk>]>,
}

impl Default for GarbageBits {
    fn default() -> Self {
        GarbageBits { chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect() }
    }
}

fn place_of(extent: ExtentNo) -> (usize, usize, u64) {
    let word = extent as usize / 64;
    (word / CHUNK_WORDS, word % CHUNK_WORDS, 1 << (extent % 64))
}

impl GarbageBits {
    /// Cost: three loads.
    #[inline]
    pub(crate) fn is_set(&self, extent: ExtentNo) -> bool {
        let (chunk, word, bit) = place_of(extent);
        // Latches and the allocation state order this with changes of the bit.
        self.chunks[chunk].get().is_some_and(|chunk| chunk[word].load(Ordering::Relaxed) & bit != 0)
    }

    pub(crate) fn set(&self, extent: ExtentNo) {
        let (chunk, word, bit) = place_of(extent);
        let new = || (0..CHUNK_WORDS).map(|_| AtomicU64::new(0)).collect();
        self.chunks[chunk].get_or_init(new)[word].fetch_or(bit, Ordering::Relaxed);
    }

    pub(crate) fn clear(&self, extent: ExtentNo) {
        let (chunk, word, bit) = place_of(extent);
        if let Some(chunk) = self.chunks[chunk].get() {
            chunk[word].fetch_and(!bit, Ordering::Relaxed);
        }
    }
}

impl Mtr<'_> {
    /// Notes that something on `page` is about to be marked as deleted or closed. On an error nothing has
    /// happened. Cost: a few loads, except for the first time in an extent.
    #[inline]
    pub fn note_garbage(&mut self, page: PageNo) -> Result<()> {
        let extent = extent_of(page);
        if self.store.space.garbage().is_set(extent) {
            return Ok(());
        }
        self.set_garbage(extent)
    }

    #[cold]
    #[inline(never)]
    fn set_garbage(&mut self, extent: ExtentNo) -> Result<()> {
        if !self.space().get(extent).garbage {
            self.prepare_map(extent)?;
        }
        if self.space().mark_garbage(extent) {
            self.write_map_entry(extent)?;
        }
        Ok(())
    }

    /// Records of the page `from` are about to move to the page `to`. On an error nothing has happened.
    pub fn carry_garbage(&mut self, from: Latched, to: Latched) -> Result<()> {
        let to = self.page(to).page_no();
        self.carry_garbage_to(from, to)
    }

    /// [`Mtr::carry_garbage`] to a page that is not formatted yet.
    pub fn carry_garbage_to(&mut self, from: Latched, to: PageNo) -> Result<()> {
        let (page, to) = (from, extent_of(to));
        let from = extent_of(self.page(page).page_no());
        if !self.space().get(from).garbage || !has_marks(self.page(page)) {
            return Ok(());
        }
        if !self.space().get(to).garbage {
            self.prepare_map(to)?;
        }
        if self.space().carry_garbage(from, to) {
            self.write_map_entry(to)?;
        }
        Ok(())
    }
}

/// Whether a record of the page is marked as deleted or closed.
fn has_marks(page: PageRef<'_>) -> bool {
    page.is_leaf() && (0..page.count()).any(|slot| page.flags(slot).is_deleted())
}

/// An extent that is being swept.
#[derive(Debug)]
pub struct Sweep {
    extent: ExtentNo,
    /// Its pages in use.
    pub pages: Vec<PageNo>,
}

impl Store {
    /// Begins the sweep of an extent that had its bit at the start and was not swept since; `None` if there
    /// is none. One sweep at a time.
    pub fn begin_sweep(&self) -> Option<Sweep> {
        let (extent, pages) = self.space.lock().begin_sweep()?;
        Some(Sweep { extent, pages })
    }

    /// Ends an incomplete sweep: it is repeated after those of all other extents.
    pub fn postpone_sweep(&self, sweep: &Sweep) {
        self.space.lock().postpone_sweep(sweep.extent);
    }

    /// Ends a sweep. `is_clean`: nothing was found that is left.
    pub fn end_sweep(&self, sweep: &Sweep, is_clean: bool) -> Result<()> {
        if !is_clean {
            // The map keeps the extent's bit, so its page is not read.
            self.space.lock().end_sweep(sweep.extent, false);
            return Ok(());
        }
        let mut mtr = Mtr::new(self);
        mtr.prepare_map(sweep.extent)?;
        if mtr.space().end_sweep(sweep.extent, true) {
            mtr.write_map_entry(sweep.extent)?;
        }
        mtr.commit();
        Ok(())
    }

    /// Takes all bits back but those of unswept extents: everything that was marked since startup has been
    /// purged. No other thread changes anything.
    pub fn forget_garbage(&self) -> Result<()> {
        let marked = self.space.lock().marked();
        for extent in marked {
            let mut mtr = Mtr::new(self);
            mtr.prepare_map(extent)?;
            mtr.space().unmark_garbage(extent);
            mtr.write_map_entry(extent)?;
            mtr.commit();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_apart_up_to_the_last_extent() {
        let bits = GarbageBits::default();
        let last = extent_of(PageNo(u32::MAX));
        for extent in [0, 63, 64, 65_535, 65_536, last] {
            assert!(!bits.is_set(extent));
            bits.set(extent);
            assert!(bits.is_set(extent) && !bits.is_set(extent ^ 1));
            bits.clear(extent);
            assert!(!bits.is_set(extent));
        }
    }
}
