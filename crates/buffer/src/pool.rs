//! The pool and its hit path.

use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, OnceLock};

use base::sync::{Counter, Event, LatchLevel, Mutex, critical};
use base::{Lsn, PageNo};
use env::File;
use log::LogPosition;
use page::PAGE_SIZE;

use crate::background::Writer;
use crate::doublewrite::Doublewrite;
use crate::error::{Error, Result};
use crate::formats::Formats;
use crate::frames::Frames;
use crate::guard::{ExclusiveGuard, ExclusiveHold, SharedGuard, SharedHold};
use crate::read_ahead::Readers;
use crate::table::{Entry, LookupOutcome, PageTable};
use crate::write_back::Batch;

/// Fewest frames a pool is made with: one thread holds up to four pages and a split needs room to move.
const FRAMES_MIN: usize = 8;

/// How a pool is made.
#[derive(Clone, Copy, Debug)]
pub struct PoolConfig {
    /// Memory for pages, rounded down to whole frames.
    pub bytes: usize,
    /// Whether a thread writes dirty pages and keeps frames free. Without it a thread that finds no free
    /// frame does a step of that work itself (tests, tools).
    pub background: bool,
}

/// Counts of a pool. Sampled without stopping anything, so they may disagree by what happens meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Frames in the pool.
    pub frames: u32,
    /// Frames that hold no page.
    pub frames_free: u32,
    /// Pages with changes that are not on disk.
    pub pages_dirty: u32,
    /// Pages read from disk since the pool was made.
    pub page_reads: u64,
    /// Pages written to disk since the pool was made.
    pub page_writes: u64,
    /// Pages evicted since the pool was made.
    pub evictions: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) reads: Counter,
    pub(crate) writes: Counter,
    pub(crate) evictions: Counter,
}

/// The frame a page was in when it was asked for; 0 for none. Good for fetching ahead only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHint(pub u32);

/// The buffer pool of one file. All calls may be made from many threads at once.
#[derive(Debug)]
pub struct Pool {
    pub(crate) table: PageTable,
    pub(crate) frames: Frames,
    /// Why changes are refused, once they are: a failed write, or the pool was closed.
    pub(crate) refusal: OnceLock<Error>,
    pub(crate) file: Arc<dyn File>,
    pub(crate) log: Arc<dyn LogPosition>,
    pub(crate) batch: Mutex<Batch>,
    /// Pages being read at the moment; written on misses only.
    pub(crate) reads_under_way: AtomicU32,
    /// Notified after each attempt that freed frames or cleaned pages.
    pub(crate) refilled: Event,
    /// Whether a write that finds the disk full waits for space.
    pub(crate) waits_for_space: AtomicBool,
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    /// Boxed, as it is used by misses only.
    pub(crate) formats: Box<Formats>,
    /// Boxed, so that what every hit reads stays close together.
    pub(crate) counters: Box<Counters>,
}

impl Pool {
    /// A pool for `file` whose page writes follow `log`. Touches almost no memory.
    ///
    /// # Errors
    /// [`Error::Io`] if address space or the background thread cannot be had.
    pub fn new(file: Arc<dyn File>, config: PoolConfig, log: Arc<dyn LogPosition>) -> Result<Arc<Pool>> {
        Pool::with_doublewrite(file, config, log, None)
    }

    /// Like [`Pool::new`]; pages are written to `doublewrite`, if there is one, before they are written to
    /// `file`. Without it a page that a crash tears is lost.
    pub fn with_doublewrite(
        file: Arc<dyn File>,
        config: PoolConfig,
        log: Arc<dyn LogPosition>,
        doublewrite: Option<Doublewrite>,
    ) -> Result<Arc<Pool>> {
        let count = (config.bytes / PAGE_SIZE).clamp(FRAMES_MIN, 1 << 31);
        let pool = Arc::new(Pool {
            table: PageTable::new(),
            frames: Frames::new(count as u32).map_err(Error::io)?,
            refusal: OnceLock::new(),
            file,
            log,
            batch: Mutex::new(LatchLevel::WriteBack, Batch::new(doublewrite)),
            reads_under_way: AtomicU32::new(0),
            refilled: Event::new(),
            waits_for_space: AtomicBool::new(true),
            writer: Writer::new(config.background),
            readers: Readers::new(config.background),
            formats: Box::new(Formats::new()),
            counters: Box::default(),
        });
        if config.background {
            Writer::start(&pool)?;
            Readers::start(&pool)?;
        }
        Ok(pool)
    }

    /// Latches `page` shared, reading it from disk if it is not resident.
    ///
    /// Latches: waits for the page's; see docs/latching.md for what may be held. A thread must not hold the
    /// page already.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corruption`] from a read; [`Error::Exhausted`]. Nothing is held after an
    /// error.
    #[inline]
    pub fn shared(&self, page: PageNo) -> Result<SharedGuard<'_>> {
        let entry = self.table.entry(page);
        match self.resident_shared(page, entry) {
            Some(guard) => {
                entry.touch();
                Ok(guard)
            }
            None => self.fault_shared(page, entry),
        }
    }

    /// Latches `page` shared if it is resident; else nothing is held.
    #[inline(always)]
    pub(crate) fn resident_shared<'p>(
        &'p self,
        page_no: PageNo,
        entry: &'p Entry,
    ) -> Option<SharedGuard<'p>> {
        let held = LatchLevel::Page.acquire();
        entry.latch.shared();
        let hold = SharedHold::adopt(&entry.latch);
        let frame = entry.frame();
        if frame == 0 {
            return None;
        }
        let bytes = self.frames.bytes(frame);
        Some(SharedGuard { _hold: hold, bytes, page_no, _section: critical::enter(), _held: held })
    }

    /// Where the page is at the moment, if it is in memory.
    #[inline(always)]
    pub fn frame_hint(&self, page: PageNo) -> FrameHint {
        FrameHint(self.table.entry(page).frame())
    }

    /// Prefetches the latch word of `page`, which is about to be latched.
    #[inline(always)]
    pub fn will_latch(&self, page: PageNo) {
        base::prefetch(std::ptr::from_ref(self.table.entry(page)).cast());
    }

    /// Prefetches what a search of the leaf in `frame` reads first. Call it before the leaf is latched: a
    /// latch waits for all loads in progress. Cost: about 10 instructions.
    #[inline(always)]
    pub fn will_search(&self, frame: FrameHint) {
        // Fetches lines of another page at worst.
        self.frames.prefetch(frame.0);
    }

    /// Like [`Pool::shared`], for scans: the use does not count, so a page read for it is among the first to
    /// leave.
    pub fn shared_cold(&self, page: PageNo) -> Result<SharedGuard<'_>> {
        let entry = self.table.entry(page);
        self.resident_shared(page, entry).map_or_else(|| self.fault_cold(page, entry), Ok)
    }

    /// Like [`Pool::shared`], for the next page of a scan: a page that has to be read for it, or was read
    /// ahead, is among the first to leave until it is used again. Also returns whether read-ahead was, or
    /// would have been, of use.
    #[inline]
    pub fn shared_in_order(&self, page: PageNo) -> Result<(SharedGuard<'_>, LookupOutcome)> {
        let entry = self.table.entry(page);
        match self.resident_shared(page, entry) {
            Some(guard) => Ok((guard, entry.touch_in_order())),
            None => self.fault_in_order(page, entry),
        }
    }

    /// Latches `page` exclusively, reading it from disk if it is not resident.
    ///
    /// Latches and errors as [`Pool::shared`], and [`Error::ChangesRefused`] after a failed write.
    #[inline]
    pub fn exclusive(&self, page: PageNo) -> Result<ExclusiveGuard<'_>> {
        self.may_change()?;
        let entry = self.table.entry(page);
        let held = LatchLevel::Page.acquire();
        entry.latch.exclusive();
        self.exclusive_held(page, entry, held)
    }

    /// [`Pool::shared`] that never waits for a latch: `None` if it would. A page that is not resident is
    /// read.
    #[inline]
    pub fn try_shared(&self, page: PageNo) -> Result<Option<SharedGuard<'_>>> {
        let entry = self.table.entry(page);
        if !entry.latch.try_shared() {
            return Ok(None);
        }
        let hold = SharedHold::adopt(&entry.latch);
        let frame = entry.frame();
        if frame == 0 {
            drop(hold);
            return self.try_fault_shared(page, entry);
        }
        entry.touch();
        let (bytes, held) = (self.frames.bytes(frame), LatchLevel::Page.try_acquire());
        Ok(Some(SharedGuard { _hold: hold, bytes, page_no: page, _section: critical::enter(), _held: held }))
    }

    /// [`Pool::exclusive`] that never waits for a latch: `None` if it would. A page that is not resident is
    /// read.
    pub fn try_exclusive(&self, page: PageNo) -> Result<Option<ExclusiveGuard<'_>>> {
        self.may_change()?;
        let entry = self.table.entry(page);
        if !entry.latch.try_exclusive() {
            return Ok(None);
        }
        self.exclusive_held(page, entry, LatchLevel::Page.try_acquire()).map(Some)
    }

    /// [`Pool::try_exclusive`] of a page that is resident, for one who holds a page that others want; `None`
    /// also where changes are refused.
    #[inline]
    pub fn try_exclusive_resident(&self, page: PageNo) -> Option<ExclusiveGuard<'_>> {
        self.may_change().ok()?;
        let entry = self.table.entry(page);
        if entry.frame() == 0 || !entry.latch.try_exclusive() {
            return None;
        }
        // Should it have been evicted since, it is read.
        self.exclusive_held(page, entry, LatchLevel::Page.try_acquire()).ok()
    }

    /// Makes the guard of an exclusive hold that was just acquired.
    #[inline]
    pub(crate) fn exclusive_held<'p>(
        &'p self,
        page_no: PageNo,
        entry: &'p Entry,
        held: base::sync::HeldLatch,
    ) -> Result<ExclusiveGuard<'p>> {
        let hold = ExclusiveHold::adopt(&entry.latch);
        let section = critical::enter();
        let mut frame = entry.frame();
        if frame == 0 {
            frame = self.load(page_no, entry)?;
        }
        entry.touch();
        Ok(ExclusiveGuard {
            hold,
            bytes: self.frames.bytes(frame),
            page_no,
            pool: self,
            entry,
            section,
            held,
        })
    }

    /// An error once changes are refused. Cost: one load.
    #[inline]
    pub(crate) fn may_change(&self) -> Result<()> {
        match self.refusal.get() {
            None => Ok(()),
            Some(refusal) => Err(refusal.clone()),
        }
    }

    /// Refuses all later changes because of `cause`, unless they are refused already. Returns `cause`.
    #[cold]
    pub(crate) fn refuse_changes(&self, cause: Error) -> Error {
        // The first cause stays.
        let _ = self.refusal.set(Error::ChangesRefused(Arc::new(cause.clone())));
        cause
    }

    /// Where the log of the oldest change begins that may be missing on disk; `None` if nothing is. A change
    /// that is being made during the call may be missed: a checkpoint reads its upper bound from the log
    /// first.
    ///
    /// Cost: one pass over the states of used frames.
    pub fn oldest_change(&self) -> Option<Lsn> {
        self.frames.used().filter_map(|frame| self.frames.state(frame).oldest_change()).min()
    }

    /// Counts for monitoring. Cost: one pass over the states of used frames.
    pub fn stats(&self) -> PoolStats {
        let dirty = self.frames.used().filter(|&frame| self.frames.state(frame).oldest_change().is_some());
        PoolStats {
            frames: self.frames.count(),
            frames_free: self.frames.free_count(),
            pages_dirty: dirty.count() as u32,
            page_reads: self.counters.reads.sum(),
            page_writes: self.counters.writes.sum(),
            evictions: self.counters.evictions.sum(),
        }
    }

    /// Writes all changes, makes them durable, and ends the background thread. Later changes are refused with
    /// [`Error::Closed`]; reads continue. The last step of a clean shutdown.
    ///
    /// Latches: the caller holds none, and has seen to it that no thread changes pages any more. On an error
    /// the background thread is ended all the same.
    pub fn close(&self) -> Result<()> {
        let flushed = self.flush_all();
        let _ = self.refusal.set(Error::Closed);
        self.readers.stop();
        self.writer.stop();
        flushed
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.readers.stop();
        self.writer.stop();
    }
}
