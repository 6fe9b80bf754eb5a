//! Replacement: the clock hand, and how a thread gets a frame.

use std::sync::atomic::Ordering;
use std::time::Duration;

use base::sync::park::Wake;
use base::sync::wait_times::{WaitKind, timed};

use crate::error::{Error, Result};
use crate::guard::ExclusiveHold;
use crate::pool::Pool;
use crate::write_back::{BATCH_PAGES, Item};

/// Frames that a thread checks before it asks the background thread.
const LOOKS_MAX: u32 = 64;
/// Attempts without any progress before the pool counts as exhausted: a fifth of a second in all.
const IDLE_ROUNDS_MAX: u32 = 100;
/// How long a thread waits for a frame between two attempts.
const REFILL_WAIT: Duration = Duration::from_millis(2);

impl Pool {
    /// Below this many free frames the background thread is woken: 1 %.
    fn free_low(&self) -> u32 {
        (self.frames.count() / 100).max(1)
    }

    /// Up to this many free frames the background thread works: 3 %.
    fn free_goal(&self) -> u32 {
        (self.frames.count() / 100 * 3).max(2)
    }

    /// A frame that the caller owns (lib.rs, invariant 2). May be called with page latches held.
    pub(crate) fn allocate_frame(&self) -> Result<u32> {
        let Some(frame) = self.frames.take() else { return self.allocate_slow() };
        if self.frames.free_count() < self.free_low() {
            self.writer.request();
        }
        Ok(frame)
    }

    /// A frame that the caller owns, if one is free or becomes free within `looks` attempts.
    pub(crate) fn frame_without_waiting(&self, looks: u32) -> Option<u32> {
        let frame = self.frames.take().or_else(|| self.evict_one(looks))?;
        if self.frames.free_count() < self.free_low() {
            self.writer.request();
        }
        Some(frame)
    }

    /// No frame is free: evicts a clean page, else waits for one to become clean.
    ///
    /// Time in which pages are being read or written does not count towards exhaustion: it ends by itself,
    /// however slow the disk is. Latches are waited for a bounded time only, because their holders may be
    /// waiting for this thread.
    #[cold]
    fn allocate_slow(&self) -> Result<u32> {
        let mut idle_rounds = 0;
        while idle_rounds < IDLE_ROUNDS_MAX {
            let ticket = self.refilled.ticket();
            if let Some(frame) = self.frames.take().or_else(|| self.evict_one(LOOKS_MAX)) {
                return Ok(frame);
            }
            if !self.writer.request() && self.refill()? > 0 {
                continue;
            }
            let idle = !self.is_io_under_way();
            let until = env::deadline_in(REFILL_WAIT);
            let woken = timed(WaitKind::Frame, || self.refilled.wait(ticket, Some(until)));
            if idle && woken == Wake::TimedOut {
                self.may_change()?;
                idle_rounds += 1;
            }
        }
        Err(Error::Exhausted { frames: self.frames.count() })
    }

    /// Whether other threads are reading pages into frames or writing pages out.
    fn is_io_under_way(&self) -> bool {
        self.reads_under_way.load(Ordering::Relaxed) > 0 || self.batch.try_lock().is_none()
    }

    /// One attempt to bring the free frames to their goal: the hand moves on, evicting clean pages, until it
    /// has collected a batch of dirty ones or been everywhere twice; the batch is written and evicted.
    /// Returns how many pages were evicted or written.
    pub(crate) fn refill(&self) -> Result<usize> {
        let mut dirty = Vec::new();
        let mut evicted = 0;
        for _ in 0..self.frames.used().len() * 2 {
            if !self.wants_frames() || dirty.len() == BATCH_PAGES {
                break;
            }
            let Some(frame) = self.frames.advance_hand() else { break };
            match self.pass(frame) {
                Passed::Evicted => {
                    self.frames.give_back(frame);
                    evicted += 1;
                }
                Passed::Dirty(item) => dirty.push(item),
                Passed::Kept => {}
            }
        }
        // Failed attempts wake no thread: threads that find no frame would keep each other awake.
        if evicted > 0 {
            self.refilled.notify_all();
        }
        if !self.wants_frames() || self.refusal.get().is_some() {
            return Ok(evicted);
        }
        let written = self.write_pages(&mut dirty.clone())?;
        for item in dirty {
            if self.wants_frames() && self.evict(item.frame) {
                self.frames.give_back(item.frame);
                evicted += 1;
            }
        }
        if written > 0 {
            self.refilled.notify_all();
        }
        Ok(evicted + written)
    }

    /// Whether the background thread has more to do.
    pub(crate) fn wants_frames(&self) -> bool {
        self.frames.free_count() < self.free_goal()
    }

    /// Moves the hand on until a page could be evicted, at most `looks` times. The frame is the caller's.
    fn evict_one(&self, looks: u32) -> Option<u32> {
        (0..looks).map_while(|_| self.frames.advance_hand()).find(|&frame| self.evict(frame))
    }

    /// Evicts the page in `frame` if it was not used since the hand's last pass, is clean and no thread holds
    /// it.
    fn evict(&self, frame: u32) -> bool {
        matches!(self.pass(frame), Passed::Evicted)
    }

    /// The clock hand's decision about a frame. One that is evicted is the caller's.
    fn pass(&self, frame: u32) -> Passed {
        let state = self.frames.state(frame);
        let Some(page) = state.owner() else { return Passed::Kept };
        let entry = self.table.entry(page);
        if entry.is_referenced() {
            entry.clear_referenced();
            return Passed::Kept;
        }
        if state.is_dirty() {
            return Passed::Dirty(Item { page, frame });
        }
        // The file header stays: what everything else is found from is not read again, however the disk rots.
        if page.is_none() || !state.is_clean() || !entry.latch.try_exclusive() {
            return Passed::Kept;
        }
        let _hold = ExclusiveHold::adopt(&entry.latch);
        // Only now is it certain whose frame this is and that it is clean.
        if entry.frame() != frame || !state.is_clean() {
            return Passed::Kept;
        }
        entry.set_frame(0);
        state.set_owner(None);
        self.counters.evictions.add(1);
        Passed::Evicted
    }
}

/// What became of a frame that the clock hand passed.
enum Passed {
    /// It holds no page any more.
    Evicted,
    /// It could be evicted if its page were written.
    Dirty(Item),
    /// It is in use, or free.
    Kept,
}
