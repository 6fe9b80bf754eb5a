//! Write-back: dirty pages to disk, in batches, ordered by position.

use base::sync::LatchLevel;
use base::{Lsn, PageNo, invariant};
use page::{PAGE_SIZE, PageBytes, PageRef};

use crate::error::{Error, Result};
use crate::guard::SharedHold;
use crate::pool::{Pool, offset_of};

/// Pages written together: 1 MiB.
pub(crate) const BATCH_PAGES: usize = 64;

/// A page image that direct I/O accepts.
#[repr(C, align(4096))]
struct Image(PageBytes);

/// Pages on their way to disk. One batch at a time: its mutex is what orders two writes of one page.
pub(crate) struct Batch {
    /// Copies, made as they are first needed; the first `items.len()` are in use.
    images: Vec<Box<Image>>,
    items: Vec<Item>,
}

/// A dirty page and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    page: PageNo,
    frame: u32,
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}

impl Batch {
    pub(crate) fn new() -> Self {
        Batch { images: Vec::new(), items: Vec::with_capacity(BATCH_PAGES) }
    }

    /// Adds a copy of `bytes`.
    fn push(&mut self, item: Item, bytes: &PageBytes) {
        let at = self.items.len();
        if at == self.images.len() {
            self.images.push(Box::new(Image([0; PAGE_SIZE])));
        }
        self.images[at].0.copy_from_slice(bytes);
        self.items.push(item);
    }
}

impl Pool {
    /// Writes up to `max_pages` (at most 64) dirty pages, those the clock hand reaches first, and returns how many. Pages
    /// that somebody holds exclusively are passed over. Not durable before a sync.
    ///
    /// Latches: waits for no page latch.
    ///
    /// # Errors
    /// Any error refuses all later changes.
    pub fn write_back_step(&self, max_pages: usize) -> Result<usize> {
        let max_pages = max_pages.min(BATCH_PAGES);
        let mut items = self.dirty_from_hand(max_pages, |pool, page| !pool.table.entry(page).is_referenced());
        if items.is_empty() {
            items = self.dirty_from_hand(max_pages, |_, _| true);
        }
        self.write_pages(&mut items)
    }

    /// Writes all pages that are dirty when it is called and makes them durable. Waits for writers of single pages.
    ///
    /// Latches: the caller holds none.
    ///
    /// # Errors
    /// Any error refuses all later changes.
    pub fn flush_all(&self) -> Result<()> {
        let mut dirty = self.dirty_from_hand(usize::MAX, |_, _| true);
        dirty.sort_unstable();
        for items in dirty.chunks(BATCH_PAGES) {
            let mut items = items.to_vec();
            self.write_pages(&mut items)?;
            for passed_over in items {
                self.write_patiently(passed_over)?;
            }
        }
        // A batch that another thread began before this call ends before the sync.
        drop(self.batch.lock());
        self.may_change()?;
        self.file.sync_data().map_err(|error| self.refuse_changes(Error::io(error)))
    }

    /// Writes a page that was held exclusively, as soon as it is not.
    fn write_patiently(&self, item: Item) -> Result<()> {
        let mut items = vec![item];
        while !items.is_empty() {
            let entry = self.table.entry(item.page);
            let held = LatchLevel::Page.acquire();
            entry.latch.shared();
            drop((SharedHold::adopt(&entry.latch), held));
            self.write_pages(&mut items)?;
        }
        Ok(())
    }

    /// Up to `max` dirty pages for which `wanted` holds, beginning at the clock hand.
    fn dirty_from_hand(&self, max: usize, wanted: impl Fn(&Pool, PageNo) -> bool) -> Vec<Item> {
        let dirty = |frame: u32| {
            let state = self.frames.state(frame);
            state.owner().filter(|_| state.is_dirty()).map(|page| Item { page, frame })
        };
        self.frames
            .beginning_at_hand()
            .filter_map(dirty)
            .filter(|item| wanted(self, item.page))
            .take(max)
            .collect()
    }

    /// Writes those of `items` (at most a batch) that are still dirty and not held exclusively; returns how many. The ones
    /// that are held exclusively stay in `items`.
    fn write_pages(&self, items: &mut Vec<Item>) -> Result<usize> {
        if items.is_empty() {
            return Ok(0);
        }
        items.sort_unstable();
        let mut batch = self.batch.lock();
        self.may_change()?;
        batch.items.clear();
        items.retain(|&item| !self.collect(&mut batch, item));
        match self.write_batch(&mut batch) {
            Ok(()) => {
                batch.items.iter().for_each(|item| self.frames.state(item.frame).end_write());
                self.counters.writes.add(batch.items.len() as u64);
                Ok(batch.items.len())
            }
            // The pages stay marked as being written: they are never evicted, and reads go on finding them.
            Err(error) => Err(self.refuse_changes(error)),
        }
    }

    /// Copies a page into the batch if it is still dirty. False if somebody holds it exclusively.
    fn collect(&self, batch: &mut Batch, item: Item) -> bool {
        let entry = self.table.entry(item.page);
        if !entry.latch.try_shared() {
            return false;
        }
        let _hold = SharedHold::adopt(&entry.latch);
        let state = self.frames.state(item.frame);
        if entry.frame() == item.frame && state.is_dirty() {
            #[expect(unsafe_code, reason = "frames are reached by address")]
            // SAFETY: the frame of a page held shared (lib.rs, invariants 1 and 3).
            let bytes = unsafe { self.frames.bytes(item.frame).as_ref() };
            batch.push(item, bytes);
            state.begin_write();
        }
        true
    }

    /// Log first, then the checksums, then one write per run of adjacent pages.
    fn write_batch(&self, batch: &mut Batch) -> Result<()> {
        let Batch { images, items } = batch;
        let images = &mut images[..items.len()];
        let newest = images.iter().map(|image| PageRef::new(&image.0).lsn()).max().unwrap_or(Lsn(0));
        self.log.durable_up_to(newest).map_err(Error::log)?;
        for (image, item) in images.iter_mut().zip(&*items) {
            let page = PageRef::new(&image.0).page_no();
            invariant!(page == item.page, "{page} is about to be written in place of {}", item.page);
            page::stamp_checksum(&mut image.0);
        }
        let mut done = 0;
        for run in items.chunk_by(|a, b| u64::from(a.page.0) + 1 == u64::from(b.page.0)) {
            let parts: Vec<&[u8]> = images[done..done + run.len()].iter().map(|i| &i.0[..]).collect();
            self.file.write_vectored_at(&parts, offset_of(run[0].page)).map_err(Error::io)?;
            done += run.len();
        }
        Ok(())
    }
}
