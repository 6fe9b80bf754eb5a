//! Making the log durable: one thread at a time leads, writes what is complete, syncs it, and has done so for
//! all.
//!
//! A thread that wants durability tries for the writer. The thread that gets it is the leader; the others
//! sleep until a leader has made progress and then check again. A single committer is its own leader: one
//! write, one sync, no other thread.

use std::time::Duration;

use base::Lsn;
use base::sync::atomic::{Ordering, fence, pauses, spin_loop};
use base::sync::wait_times::{WaitKind, timed};
use base::sync::{MutexGuard, PlantedBug, planted};

use crate::commit_delay::CommitDelay;
use crate::error::Result;
use crate::files::Files;
use crate::frame::{FRAME_HEADER_BYTES, FrameSum};
use crate::in_flight::Word;
use crate::log::{Log, Waiting};
use crate::part::{SYNCED_UP_TO_BYTES, synced_up_to};
use crate::position::{FrameRange, LogPosition};

/// How far the log is to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlushGoal {
    /// Into the files.
    Written,
    /// Onto the disk.
    Durable,
}

/// What may be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Complete {
    /// The begin of a frame such that all below are complete.
    pub(crate) frames: Lsn,
    /// Bytes below are in the ring; `frames`, or in the middle of the frame that begins there.
    pub(crate) bytes: Lsn,
}

/// How often a leader checks whether a frame that is being appended is complete, before it goes without it.
const APPEND_PAUSES: usize = pauses(40);

/// How long a thread sleeps that waits for another one in the middle of an append: the end of an append wakes
/// no thread.
const APPEND_WAIT: Duration = Duration::from_micros(50);

/// The writer's state, and what is known about earlier writes. Held by the leader of a flush, and by threads
/// that link or recycle files, or read positions.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) files: Files,
    pub(crate) delay: CommitDelay,
}

/// The writer, held. A thread that sleeps because it was held is woken when it is given back: it may have to
/// lead.
pub(crate) struct WriterHold<'l> {
    /// Taken out by the drop alone.
    writer: Option<MutexGuard<'l, Writer>>,
    waiting: &'l Waiting,
}

impl std::ops::Deref for WriterHold<'_> {
    type Target = Writer;
    fn deref(&self) -> &Writer {
        self.writer.as_ref().expect("held until dropped")
    }
}

impl std::ops::DerefMut for WriterHold<'_> {
    fn deref_mut(&mut self) -> &mut Writer {
        self.writer.as_mut().expect("held until dropped")
    }
}

impl Drop for WriterHold<'_> {
    fn drop(&mut self) {
        drop(self.writer.take());
        fence(Ordering::SeqCst);
        if self.waiting.sleepers.load(Ordering::SeqCst) > 0 {
            self.waiting.progress.notify_all();
        }
    }
}

impl LogPosition for Log {
    fn durable_up_to(&self, lsn: Lsn) -> Result<()> {
        debug_assert!(lsn <= self.current(), "{lsn} was never reserved");
        self.reach(lsn, FlushGoal::Durable)
    }

    fn end(&self) -> Lsn {
        self.current()
    }
}

impl Log {
    /// Returns once everything below `lsn` is in the files: it survives the end of this process, though not
    /// of the machine.
    ///
    /// Latches: as [`LogPosition::durable_up_to`].
    pub fn written_up_to(&self, lsn: Lsn) -> Result<()> {
        self.reach(lsn, FlushGoal::Written)
    }

    /// Makes everything appended so far durable.
    pub fn flush(&self) -> Result<()> {
        self.reach(self.current(), FlushGoal::Durable)
    }

    fn has_reached(&self, lsn: Lsn, goal: FlushGoal) -> bool {
        let progress = &self.progress.0;
        let reached = match goal {
            FlushGoal::Written => &progress.written,
            FlushGoal::Durable => &progress.durable,
        };
        reached.load(Ordering::Acquire) >= lsn.0
    }

    fn reach(&self, lsn: Lsn, goal: FlushGoal) -> Result<()> {
        let is_done = || self.has_reached(lsn, goal);
        if goal == FlushGoal::Durable && !is_done() {
            self.waiting.0.waiters.add();
        }
        while !is_done() {
            self.ensure_works()?;
            self.lead_or_follow(|writer| Ok(is_done() || self.flush_as_leader(writer, lsn, goal)?), is_done)?;
        }
        Ok(())
    }

    /// Room in the ring for the byte at `at`.
    pub(crate) fn make_room(&self, at: u64) -> Result<()> {
        let has_room = || at < self.progress.0.written.load(Ordering::Acquire) + self.ring.len();
        while !has_room() {
            self.ensure_works()?;
            let lead = |writer: &mut Writer| {
                Ok(has_room() || self.flush_as_leader(writer, Lsn(at), FlushGoal::Written)?)
            };
            self.lead_or_follow(lead, has_room)?;
        }
        Ok(())
    }

    /// A word, after all were taken.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_for_word(&self) -> Word<'_> {
        loop {
            if let Some(word) = self.in_flight.publish(&self.tail.0) {
                return word;
            }
            let ticket = self.waiting.0.progress.ticket();
            self.waiting.0.progress.wait(ticket, Some(env::deadline_in(APPEND_WAIT)));
        }
    }

    /// Does `work` as the leader, or sleeps until the leader of the moment has made progress. Returns early
    /// at times; the caller checks again whether it has what it wants.
    fn lead_or_follow(
        &self,
        work: impl FnOnce(&mut Writer) -> Result<bool>,
        is_done: impl FnOnce() -> bool,
    ) -> Result<()> {
        if let Some(writer) = self.try_hold_writer() {
            return self.lead(writer, work);
        }
        let waiting = &self.waiting.0;
        let ticket = waiting.progress.ticket();
        waiting.sleepers.fetch_add(1, Ordering::SeqCst);
        // Pairs with the fence of `WriterHold`: either this thread finds the writer free, or the holder finds
        // it asleep.
        fence(Ordering::SeqCst);
        let result = if let Some(writer) = self.try_hold_writer() {
            self.lead(writer, work)
        } else {
            if !is_done() && self.failure.get().is_none() {
                timed(WaitKind::LogWrite, || waiting.progress.wait(ticket, None));
            }
            Ok(())
        };
        waiting.sleepers.fetch_sub(1, Ordering::Relaxed);
        result
    }

    fn try_hold_writer(&self) -> Option<WriterHold<'_>> {
        self.writer.try_lock().map(|writer| WriterHold { writer: Some(writer), waiting: &self.waiting.0 })
    }

    /// Waits for the writer.
    pub(crate) fn hold_writer(&self) -> WriterHold<'_> {
        WriterHold { writer: Some(self.writer.lock()), waiting: &self.waiting.0 }
    }

    fn lead(&self, mut writer: WriterHold<'_>, work: impl FnOnce(&mut Writer) -> Result<bool>) -> Result<()> {
        let progress = self.ensure_works().and_then(|()| work(&mut writer).map_err(|error| self.fail(error)));
        drop(writer);
        if !progress? {
            // Another thread is in the middle of an append. It may have lost its processor, so this one gives
            // its own up.
            let waiting = &self.waiting.0;
            waiting.progress.wait(waiting.progress.ticket(), Some(env::deadline_in(APPEND_WAIT)));
        }
        Ok(())
    }

    /// Writes what is complete, and syncs it for [`FlushGoal::Durable`]. False if there was nothing to do.
    /// `wanted` may be complete in a moment if it is not yet.
    fn flush_as_leader(&self, writer: &mut Writer, wanted: Lsn, goal: FlushGoal) -> Result<bool> {
        if goal == FlushGoal::Durable {
            writer.delay.gather(&self.waiting.0.waiters);
        }
        let complete = match self.complete_with_own_frame(goal) {
            Some(complete) if complete.bytes >= wanted => complete,
            _ => self.complete_prefix(wanted),
        };
        let wrote = self.write_out(&mut writer.files, complete.bytes)?;
        // The reported durable LSN is the end of a frame: a frame that was cut off is no damage.
        if goal == FlushGoal::Written || self.has_reached(complete.frames, FlushGoal::Durable) {
            return Ok(wrote);
        }
        if !planted(PlantedBug::UnsyncedLog) {
            self.sync(writer)?;
        }
        self.progress.0.durable.store(complete.frames.0, Ordering::Release);
        Ok(true)
    }

    fn sync(&self, writer: &mut Writer) -> Result<()> {
        let begun_ns = writer.delay.begun_ns();
        let syncs = writer.files.sync()?;
        self.counters.syncs.fetch_add(syncs, Ordering::Relaxed);
        writer.delay.synced(&self.waiting.0.waiters);
        if let Some(begun_ns) = begun_ns {
            writer.delay.note_sync_time(begun_ns);
        }
        Ok(())
    }

    /// Adds the frame that says what is durable, if there is something to make durable. What is complete with
    /// it, if it came right after what was complete before: no other frame is below its end then.
    #[inline]
    fn complete_with_own_frame(&self, goal: FlushGoal) -> Option<Complete> {
        if goal == FlushGoal::Written {
            return None;
        }
        let before = self.in_ring().frames;
        if before <= self.durable() {
            return None;
        }
        let FrameRange { start, end } = self.append_synced_up_to()?;
        (start == before).then_some(Complete { frames: end, bytes: end })
    }

    /// What is complete. Looks a few times while `wanted` is not: frames before it may be about to be.
    fn complete_prefix(&self, wanted: Lsn) -> Complete {
        let mut complete = self.in_ring();
        for _ in 0..APPEND_PAUSES {
            if complete.bytes >= wanted {
                break;
            }
            spin_loop();
            complete = self.in_ring();
        }
        complete
    }

    /// Writes the ring's bytes below `end`. False if there are none.
    #[expect(unsafe_code, reason = "the ring cannot know who may load")]
    fn write_out(&self, files: &mut Files, end: Lsn) -> Result<bool> {
        let from = self.progress.0.written.load(Ordering::Relaxed);
        if from >= end.0 {
            return Ok(false);
        }
        // SAFETY: `files` is the writer's; `end` is a safe prefix, and only the writer moves `written`
        // (ring.rs, 2).
        let pieces = unsafe { self.ring.load(from, end.0) };
        files.write(Lsn(from), pieces)?;
        self.counters.writes.fetch_add(1, Ordering::Relaxed);
        self.counters.bytes_written.fetch_add(end.0 - from, Ordering::Relaxed);
        // Release pairs with `Log::append`: the ring's places are free when this is seen.
        self.progress.0.written.store(end.0, Ordering::Release);
        if end.0 >= self.progress.0.checkpoint_due.load(Ordering::Relaxed) {
            self.ask_for_checkpoint();
        }
        Ok(true)
    }

    /// Adds a frame that says what is durable, if the ring has room for it: the leader must not wait for
    /// room, which it alone can make. It needs no in-flight word, because only the leader computes what is
    /// complete for writing, and a frame without changes does not matter to a checkpoint. Where it is.
    #[expect(unsafe_code, reason = "the ring cannot know who reserved what")]
    fn append_synced_up_to(&self) -> Option<FrameRange> {
        let payload = synced_up_to(self.durable());
        let sum = FrameSum::of(&[], &payload);
        let has_room = |tail: u64| {
            let end = tail + sum.frame_bytes();
            (end <= self.progress.0.written.load(Ordering::Relaxed) + self.ring.len()).then_some(end)
        };
        let start = self.tail.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, has_room).ok()?;
        let mut frame = [0; FRAME_HEADER_BYTES as usize + SYNCED_UP_TO_BYTES];
        frame[..FRAME_HEADER_BYTES as usize].copy_from_slice(&sum.header(Lsn(start)));
        frame[FRAME_HEADER_BYTES as usize..].copy_from_slice(&payload);
        // SAFETY: reserved just now, inside the window (ring.rs, 1).
        unsafe { self.ring.store(start, &frame) };
        Some(FrameRange { start: Lsn(start), end: Lsn(start + sum.frame_bytes()) })
    }
}
