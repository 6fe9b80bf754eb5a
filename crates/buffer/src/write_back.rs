//! Write-back: dirty pages to disk, in batches, ordered by position.

use std::sync::atomic::Ordering;

use base::sync::{LatchLevel, PlantedBug, planted};
use base::{Lsn, PageNo, invariant};
use env::wait_for_space_if;
use page::{PAGE_SIZE, PageBytes, PageRef};

use crate::doublewrite::{BATCH_PAGES_MAX, Doublewrite, Image};
use crate::error::{Error, Result};
use crate::file_offset::offset_of;
use crate::guard::SharedHold;
use crate::pool::Pool;

/// Pages written together: just below 2 MiB.
pub(crate) const BATCH_PAGES: usize = BATCH_PAGES_MAX;

/// Pages on their way to disk. One batch at a time: its mutex is what orders two writes of one page.
pub(crate) struct Batch {
    /// Copies, made as they are first needed; the first `items.len()` are in use.
    images: Vec<Box<Image>>,
    items: Vec<Item>,
    doublewrite: Option<Doublewrite>,
}

/// A dirty page and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item {
    pub(crate) page: PageNo,
    pub(crate) frame: u32,
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}

impl Batch {
    pub(crate) fn new(doublewrite: Option<Doublewrite>) -> Self {
        Batch { images: Vec::new(), items: Vec::with_capacity(BATCH_PAGES), doublewrite }
    }

    /// Adds a copy of `bytes`.
    fn push(&mut self, item: Item, bytes: &PageBytes) {
        let at = self.items.len();
        if at == self.images.len() {
            self.images.push(Image::zeroed());
        }
        self.images[at].0.copy_from_slice(bytes);
        self.items.push(item);
    }
}

impl Pool {
    /// Writes up to `max_pages` (at most a batch, 127) dirty pages, those the clock hand reaches first, and
    /// returns how many. Pages that another thread holds exclusively are passed over. Not durable before a
    /// sync. For tests and tools that decide themselves when a part of the pages is written.
    ///
    /// Latches: waits for no page latch.
    ///
    /// # Errors
    /// Any error refuses all later changes.
    pub fn write_back_step(&self, max_pages: usize) -> Result<usize> {
        let dirty = self.frames.beginning_at_hand().filter_map(|frame| self.dirty_item(frame));
        let mut items = dirty.take(max_pages.min(BATCH_PAGES)).collect();
        self.write_pages(&mut items)
    }

    /// Writes up to `max_pages` pages that have changes logged below `lsn`, those with the oldest first, and
    /// returns how many. Fewer than `max_pages`: there were no more when it was called. Waits for writers of
    /// single pages. Not durable before a sync: see [`Pool::sync_below`].
    ///
    /// For checkpoints: a background thread that calls this with the end of the log less a fixed distance,
    /// again and again, writes each page as late as that distance allows, and as many as the log makes
    /// necessary.
    ///
    /// Latches: the caller holds none. Cost: one pass over the states of used frames, then the writes.
    ///
    /// # Errors
    /// Any error refuses all later changes.
    pub fn write_back_below(&self, lsn: Lsn, max_pages: usize) -> Result<usize> {
        // Pages whose write has failed are not dirty any more, and keep the log all the same.
        self.may_change()?;
        let changed = |frame| self.frames.state(frame).rec_lsn().filter(|rec_lsn| *rec_lsn < lsn);
        let mut old: Vec<(Lsn, Item)> =
            self.frames.used().filter_map(|frame| changed(frame).zip(self.dirty_item(frame))).collect();
        if old.len() > max_pages {
            old.select_nth_unstable_by_key(max_pages, |(rec_lsn, _)| *rec_lsn);
            old.truncate(max_pages);
        }
        let mut items: Vec<Item> = old.into_iter().map(|(_, item)| item).collect();
        self.write_all(&mut items)?;
        Ok(items.len())
    }

    /// Writes all pages that are dirty when it is called and makes them durable. Waits for writers of single
    /// pages.
    ///
    /// Latches: the caller holds none.
    ///
    /// # Errors
    /// Any error refuses all later changes.
    pub fn flush_all(&self) -> Result<()> {
        let mut dirty: Vec<Item> = self.frames.used().filter_map(|frame| self.dirty_item(frame)).collect();
        self.write_all(&mut dirty)?;
        self.sync()
    }

    /// Writes a page, if it is dirty, and makes it durable. Waits while another thread holds it exclusively.
    ///
    /// Latches: the caller holds none.
    ///
    /// # Errors
    /// Any error refuses all later changes.
    pub fn flush_page(&self, page: PageNo) -> Result<()> {
        let frame = self.table.entry(page).frame();
        if frame != 0 {
            self.write_all(&mut [Item { page, frame }])?;
        }
        self.sync()
    }

    /// Makes all pages written so far durable and returns the LSN below which every change is durable in the
    /// file: the least of `safe` and where the log of the oldest change begins that was not written when it
    /// was called. The limit of a checkpoint.
    ///
    /// `safe`: a position read from the log before the call, below which no mini-transaction is still to mark
    /// its pages dirty. Latches: the caller holds none.
    ///
    /// # Errors
    /// Any error refuses all later changes.
    pub fn sync_below(&self, safe: Lsn) -> Result<Lsn> {
        let unwritten = self.oldest_change();
        self.sync()?;
        Ok(unwritten.map_or(safe, |unwritten| unwritten.min(safe)))
    }

    /// Sets whether a write that finds the disk full waits for space. If not, it fails.
    pub fn set_waits_for_space(&self, waits: bool) {
        self.waits_for_space.store(waits, Ordering::Relaxed);
    }

    /// Makes all pages written so far durable.
    fn sync(&self) -> Result<()> {
        // A batch that another thread began before this call ends before the sync.
        let written = self.batch.lock().doublewrite.as_ref().map(Doublewrite::written_below);
        self.may_change()?;
        if !planted(PlantedBug::UnsyncedPages) {
            self.file.sync_data().map_err(|error| self.refuse_changes(Error::io(error)))?;
        }
        if let Some((doublewrite, written)) = self.batch.lock().doublewrite.as_mut().zip(written) {
            doublewrite.note_synced(written);
        }
        Ok(())
    }

    /// Writes `items` in order of their places, waiting for pages that are held exclusively.
    fn write_all(&self, items: &mut [Item]) -> Result<()> {
        items.sort_unstable();
        for items in items.chunks(BATCH_PAGES) {
            let mut items = items.to_vec();
            self.write_pages(&mut items)?;
            for passed_over in items {
                self.write_patiently(passed_over)?;
            }
        }
        Ok(())
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

    /// The page in `frame`, if it is dirty.
    fn dirty_item(&self, frame: u32) -> Option<Item> {
        let state = self.frames.state(frame);
        state.owner().filter(|_| state.is_dirty()).map(|page| Item { page, frame })
    }

    /// Writes those of `items` (at most a batch) that are still dirty and not held exclusively; returns how
    /// many. The ones that are held exclusively stay in `items`.
    pub(crate) fn write_pages(&self, items: &mut Vec<Item>) -> Result<usize> {
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
            // The pages stay marked as being written: they are never evicted, and reads continue finding
            // them.
            Err(error) => Err(self.refuse_changes(error)),
        }
    }

    /// Copies a page into the batch if it is still dirty. False if another thread holds it exclusively.
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

    /// Log first, then the checksums, then the copies, then one write per run of adjacent pages. A write that
    /// finds the disk full is repeated, except for a startup's: the pages' space is reserved, so that only a
    /// file system which copies on write refuses it.
    fn write_batch(&self, batch: &mut Batch) -> Result<()> {
        let Batch { images, items, doublewrite } = batch;
        if items.is_empty() {
            return Ok(());
        }
        let images = &mut images[..items.len()];
        let newest = images.iter().map(|image| PageRef::new(&image.0).lsn()).max().unwrap_or(Lsn(0));
        self.log.durable_up_to(newest).map_err(Error::log)?;
        for (image, item) in images.iter_mut().zip(&*items) {
            let page = PageRef::new(&image.0).page_no();
            invariant!(page == item.page, "{page} is about to be written in place of {}", item.page);
            page::stamp_checksum(&mut image.0);
        }
        let waits = self.waits_for_space.load(Ordering::Relaxed);
        if let Some(doublewrite) = doublewrite {
            let pages: Vec<(PageNo, &PageBytes)> =
                items.iter().zip(&*images).map(|(item, image)| (item.page, &image.0)).collect();
            doublewrite.write(&pages, &*self.file, waits).map_err(Error::io)?;
        }
        if doublewrite.is_none() && self.file.atomic_write_bytes() >= PAGE_SIZE {
            for (image, item) in images.iter().zip(&*items) {
                let write = || self.file.write_atomic_at(&image.0, offset_of(item.page));
                wait_for_space_if(waits, write).map_err(Error::io)?;
            }
            return Ok(());
        }
        let mut done = 0;
        for run in items.chunk_by(|a, b| u64::from(a.page.0) + 1 == u64::from(b.page.0)) {
            let parts: Vec<&[u8]> = images[done..done + run.len()].iter().map(|i| &i.0[..]).collect();
            let write = || self.file.write_vectored_at(&parts, offset_of(run[0].page));
            wait_for_space_if(waits, write).map_err(Error::io)?;
            done += run.len();
        }
        Ok(())
    }
}
