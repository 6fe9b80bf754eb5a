//! The log: appending frames, positions, admission.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::Lsn;
use base::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use base::sync::wait_times::{WaitKind, timed};
use base::sync::{Counter, Event, LatchLevel, Mutex, Padded, PlantedBug, critical, interrupt, planted, sim};
use env::Disk;

use crate::commit_delay::{CommitDelay, CommitWaiters};
use crate::error::{Error, Result};
use crate::files::{Files, Folder};
use crate::frame::{FRAME_HEADER_BYTES, FrameSum, PAYLOAD_BYTES_MAX};
use crate::group_commit::{Complete, Writer};
use crate::header::Identity;
use crate::in_flight::{InFlight, Word};
use crate::position::FrameRange;
use crate::reserve::Space;
use crate::ring::Ring;

/// Sizes of a log.
#[derive(Clone, Copy, Debug)]
pub struct LogConfig {
    /// Bytes of all files together, as far as the redo LSN allows (`innodb_redo_log_capacity`).
    pub capacity_bytes: u64,
    /// Bytes of the ring in memory (`innodb_log_buffer_size`), rounded up to a power of two.
    pub buffer_bytes: usize,
    /// Bytes of the first file of a new log, and least bytes of any.
    pub file_bytes_min: u64,
}

impl Default for LogConfig {
    fn default() -> Self {
        LogConfig { capacity_bytes: 100 << 20, buffer_bytes: 64 << 20, file_bytes_min: 1 << 20 }
    }
}

/// How often a statement that waits for room checks whether it was killed.
const INTERRUPT_LOOK: Duration = Duration::from_millis(50);
/// Largest file.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// A log has room for this many files, so that giving one back gives an eighth of the room back.
const FILES: u64 = 8;

/// Fewest bytes of the ring; few in a model, so that it is full at times.
pub(crate) const RING_BYTES_MIN: usize = if cfg!(loom) { 32 } else { 4096 };

impl LogConfig {
    /// Bytes of a file: a power of two.
    pub(crate) fn file_bytes(&self) -> u64 {
        let share = (self.capacity_bytes / FILES).max(self.file_bytes_min);
        (1 << share.ilog2()).min(FILE_BYTES_MAX)
    }
}

/// How far the stream has got on its way to disk.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Everything below is in the files, durable or not.
    pub(crate) written: AtomicU64,
    /// Everything below survives a crash.
    pub(crate) durable: AtomicU64,
    /// Written up to here, the log wants a checkpoint.
    pub(crate) checkpoint_due: AtomicU64,
}

/// What threads that wait for each other share.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Notified when `written` or `durable` has grown, and on failure.
    pub(crate) progress: Event,
    /// Threads that wait for it.
    pub(crate) sleepers: AtomicU64,
    /// Threads that came to wait for durability.
    pub(crate) waiters: CommitWaiters,
    /// Notified when admission may continue.
    pub(crate) admitted: Event,
    /// Notified when a checkpoint is wanted.
    pub(crate) checkpoint_wanted: Event,
    /// A checkpoint is wanted and has not been done since.
    pub(crate) checkpoint_asked: AtomicBool,
}

/// Counts of a log since it was opened. Sampled without stopping anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogStats {
    /// Write requests to the files.
    pub writes: u64,
    /// Syncs of the files.
    pub syncs: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Frames appended.
    pub frames: u64,
    /// Appends that found the ring full.
    pub ring_waits: u64,
    /// Changes that waited for a checkpoint before they began.
    pub admission_waits: u64,
    /// Checkpoints recorded.
    pub checkpoints: u64,
    /// Files whose part of the stream was no longer needed: used again or removed.
    pub files_recycled: u64,
}

/// Nothing depends on a count.
type Count = std::sync::atomic::AtomicU64;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) writes: Count,
    pub(crate) syncs: Count,
    pub(crate) bytes_written: Count,
    pub(crate) frames: Counter,
    pub(crate) ring_waits: Count,
    pub(crate) admission_waits: Count,
    pub(crate) checkpoints: Count,
    pub(crate) files_recycled: Count,
}

/// The redo log of a data directory. All calls may be made from many threads at once.
///
/// What every append touches lies on three lines of its own: the tail, which all appends change; the
/// progress, which flushes change; and the thread's in-flight word.
#[derive(Debug)]
pub struct Log {
    pub(crate) tail: Padded<AtomicU64>,
    pub(crate) progress: Padded<Progress>,
    /// Changes begin only while the tail is below this; 0 after a failure, or while changes of rows are
    /// asked.
    admission_limit: Padded<AtomicU64>,
    /// The same except for who is asked, and for the space ahead.
    room_limit: AtomicU64,
    pub(crate) space: Space,
    /// Whether row changes must also check the undo limits.
    asks_changes: AtomicBool,
    pub(crate) in_flight: InFlight,
    pub(crate) ring: Ring,
    /// Taken by the leader of a flush, for its write and sync.
    pub(crate) writer: Mutex<Writer>,
    pub(crate) waiting: Padded<Waiting>,
    /// The first failed write or sync; nothing is written any more.
    pub(crate) failure: OnceLock<Error>,
    pub(crate) counters: Box<Counters>,
    pub(crate) config: LogConfig,
}

/// A frame whose bytes are in the log while its pages may not be marked yet. Dropping it says that they are:
/// a checkpoint counts on `rec_lsn` from then on. Nothing can wait between the two but the thread that holds
/// it.
#[derive(Debug)]
#[must_use = "the pages are stamped while this lives"]
pub struct Pending<'l> {
    range: FrameRange,
    // Declared before the section: the word is idle when the section ends.
    _word: Word<'l>,
    _section: critical::Section,
}

impl Pending<'_> {
    /// Where the frame lies.
    #[inline]
    pub fn range(&self) -> FrameRange {
        self.range
    }
}

impl Log {
    /// Makes a new log whose first byte has the position `first_lsn` (above 0), in the existing folder
    /// `path`, which is emptied. Durable on return.
    pub fn create(
        disk: &Arc<dyn Disk>,
        path: &Path,
        identity: Identity,
        first_lsn: Lsn,
        config: LogConfig,
    ) -> Result<Log> {
        let folder = Folder { disk: Arc::clone(disk), path: path.to_path_buf(), identity };
        let files = Files::create(folder, first_lsn, config.file_bytes_min)?;
        Ok(Log::with_files(files, first_lsn, config))
    }

    /// The log that continues at `end` in `files`.
    pub(crate) fn with_files(mut files: Files, end: Lsn, config: LogConfig) -> Log {
        files.set_sizes(config.file_bytes(), config.capacity_bytes);
        Log {
            tail: Padded(AtomicU64::new(end.0)),
            progress: Padded(Progress {
                written: AtomicU64::new(end.0),
                durable: AtomicU64::new(end.0),
                checkpoint_due: AtomicU64::new(u64::MAX),
            }),
            admission_limit: Padded(AtomicU64::new(u64::MAX)),
            room_limit: AtomicU64::new(u64::MAX),
            space: Space::new(),
            asks_changes: AtomicBool::new(false),
            in_flight: InFlight::new(),
            ring: Ring::new(config.buffer_bytes.max(RING_BYTES_MIN)),
            writer: Mutex::new(LatchLevel::Log, Writer { files, delay: CommitDelay::default() }),
            waiting: Padded::default(),
            failure: OnceLock::new(),
            counters: Box::default(),
            config,
        }
    }

    /// Appends a frame whose payload is `front` and then `back` (at least one byte, at most 1 GiB in all).
    ///
    /// The caller then stamps the changed pages, `rec_lsn` and page LSN, and drops the result. After a
    /// failure of the log positions continue and the bytes are lost: nothing is acknowledged any more.
    ///
    /// Latches: called with the changed pages latched exclusively. Waits only for room in the ring, which
    /// needs no page latch. Cost: the checksum and copy of the bytes, one compare-and-exchange, one atomic
    /// add.
    #[inline]
    pub fn append(&self, front: &[u8], back: &[u8]) -> Pending<'_> {
        let sum = FrameSum::of(front, back);
        debug_assert!((1..=PAYLOAD_BYTES_MAX).contains(&(sum.frame_bytes() - FRAME_HEADER_BYTES)));
        let section = critical::enter();
        let word = match self.in_flight.publish(&self.tail.0) {
            Some(word) => word,
            None => self.wait_for_word(),
        };
        sim::switch();
        // AcqRel: release publishes the word to threads that load the tail; acquire orders positions after
        // what others did.
        let start = self.tail.0.fetch_add(sum.frame_bytes(), Ordering::AcqRel);
        sim::switch();
        if planted(PlantedBug::EarlyRingClear) {
            word.advance(u64::MAX);
        }
        let end = start + sum.frame_bytes();
        let header = sum.header(Lsn(start));
        // Acquire pairs with the leader's store: the place's old bytes are written before new ones come.
        if end <= self.progress.0.written.load(Ordering::Acquire) + self.ring.len() {
            let at = start + FRAME_HEADER_BYTES;
            self.store(start, &header);
            sim::linger();
            if !front.is_empty() {
                self.store(at, front);
            }
            self.store(at + front.len() as u64, back);
        } else {
            self.store_patiently(start, [&header, front, back], &word);
        }
        self.counters.frames.add(1);
        sim::switch();
        Pending { range: FrameRange { start: Lsn(start), end: Lsn(end) }, _word: word, _section: section }
    }

    /// Stores bytes of a reservation of this thread.
    #[inline]
    #[expect(unsafe_code, reason = "the ring cannot know who reserved what")]
    fn store(&self, at: u64, bytes: &[u8]) {
        debug_assert!(
            at + bytes.len() as u64 <= self.progress.0.written.load(Ordering::Relaxed) + self.ring.len()
        );
        // SAFETY: both callers pass a part of what `append` reserved, inside the window (ring.rs, invariant
        // 1).
        unsafe { self.ring.store(at, bytes) };
    }

    /// Stores a frame piece by piece as the ring gets room; the frame may be longer than the ring.
    #[cold]
    #[inline(never)]
    fn store_patiently(&self, start: u64, pieces: [&[u8]; 3], word: &Word<'_>) {
        self.counters.ring_waits.fetch_add(1, Ordering::Relaxed);
        let mut at = start;
        for mut piece in pieces {
            while !piece.is_empty() {
                let limit = self.progress.0.written.load(Ordering::Acquire) + self.ring.len();
                let room = limit.saturating_sub(at).min(piece.len() as u64) as usize;
                if room > 0 {
                    let (now, later) = piece.split_at(room);
                    self.store(at, now);
                    at += room as u64;
                    piece = later;
                    continue;
                }
                word.advance(at);
                if self.make_room(at).is_err() {
                    return;
                }
            }
        }
    }

    /// The position that the next frame will have.
    #[inline]
    pub fn current(&self) -> Lsn {
        Lsn(self.tail.0.load(Ordering::Acquire))
    }

    /// The begin of a frame such that every frame below it is complete: its bytes are in the log and its
    /// pages have their `rec_lsn`. A checkpoint reads this before it reads pages.
    pub fn safe_lsn(&self) -> Lsn {
        // The tail first: see `InFlight`.
        let tail = self.tail.0.load(Ordering::Acquire);
        Lsn(self.in_flight.least(tail))
    }

    /// [`Log::safe_lsn`], and up to where bytes are in the ring: further in the middle of a frame that waits
    /// for room.
    pub(crate) fn in_ring(&self) -> Complete {
        let tail = self.tail.0.load(Ordering::Acquire);
        let (frames, bytes) = self.in_flight.least_in_ring(tail);
        Complete { frames: Lsn(frames), bytes: Lsn(bytes) }
    }

    /// Everything below this survives a crash.
    pub fn durable(&self) -> Lsn {
        Lsn(self.progress.0.durable.load(Ordering::Acquire))
    }

    /// Asked before a change takes its first latch: waits while the log is too far ahead of the last
    /// checkpoint, and makes space for what is about to be logged.
    ///
    /// Latches: none may be held. Cost: two loads when there is room.
    ///
    /// # Errors
    /// [`Error::Full`]; the failure that ended the log.
    #[inline]
    pub fn admit(&self) -> Result<()> {
        if self.tail.0.load(Ordering::Relaxed) < self.admission_limit.0.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.wait_for_admission(false)
    }

    /// [`Log::admit`] for what must continue while the disk is full, such as a rollback: the reserve has its
    /// space (`reserve.rs`). Waits where little is left of it.
    ///
    /// # Errors
    /// The failure that ended the log.
    #[inline]
    pub fn admit_reserved(&self) -> Result<()> {
        if self.tail.0.load(Ordering::Relaxed) < self.admission_limit.0.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.wait_for_reserve()
    }

    /// [`Log::admit`] for a statement that KILL ends. True: [`Log::set_check_of_changes`] has said that the
    /// caller, if it is about to change a row, is to look for another reason to wait.
    ///
    /// # Errors
    /// As [`Log::admit`], and [`Error::Interrupted`].
    #[inline]
    pub fn admit_change(&self) -> Result<bool> {
        if self.tail.0.load(Ordering::Relaxed) < self.admission_limit.0.load(Ordering::Relaxed) {
            return Ok(false);
        }
        self.wait_for_admission(true)?;
        Ok(self.asks_changes.load(Ordering::Relaxed))
    }

    /// Set when row changes must also check the undo limits. It costs others nothing.
    pub fn set_check_of_changes(&self, ask: bool) {
        if self.asks_changes.swap(ask, Ordering::SeqCst) != ask {
            self.publish_admission();
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_for_admission(&self, interruptible: bool) -> Result<()> {
        loop {
            self.wait_for_room(interruptible)?;
            if self.has_space() {
                return Ok(());
            }
            self.make_space(interruptible)?;
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_for_reserve(&self) -> Result<()> {
        self.wait_for_room(false)?;
        self.leave_last_reserve()
    }

    #[cold]
    #[inline(never)]
    fn wait_for_room(&self, interruptible: bool) -> Result<()> {
        if self.has_room() {
            return self.ensure_works();
        }
        self.counters.admission_waits.fetch_add(1, Ordering::Relaxed);
        timed(WaitKind::LogRoom, || self.wait_until_there_is_room(interruptible))
    }

    fn wait_until_there_is_room(&self, interruptible: bool) -> Result<()> {
        loop {
            let ticket = self.waiting.0.admitted.ticket();
            self.ensure_works()?;
            if self.has_room() {
                return Ok(());
            }
            self.ask_for_checkpoint();
            self.wait_for_checkpoint(ticket, interruptible)?;
        }
    }

    /// Sleeps until a checkpoint was done after `ticket`; returns early at times.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(crate) fn wait_for_checkpoint(&self, ticket: u32, interruptible: bool) -> Result<()> {
        if interruptible && interrupt::is_registered() {
            if interrupt::is_requested() {
                return Err(Error::Interrupted);
            }
            self.waiting.0.admitted.wait(ticket, Some(env::deadline_in(INTERRUPT_LOOK)));
        } else {
            self.waiting.0.admitted.wait(ticket, None);
        }
        Ok(())
    }

    /// Whether changes may have to wait for a checkpoint.
    pub(crate) fn has_room_limit(&self) -> bool {
        self.room_limit.load(Ordering::Acquire) != u64::MAX
    }

    /// A checkpoint is wanted once the log is written up to `due`, and changes begin only while its tail is
    /// below `limit`. Without this call neither is set: the checkpointer sets both, and moves them after each
    /// checkpoint.
    pub fn set_admission(&self, due: Lsn, limit: Lsn) {
        self.waiting.0.checkpoint_asked.store(false, Ordering::Release);
        self.progress.0.checkpoint_due.store(due.0, Ordering::Relaxed);
        self.room_limit.store(limit.0, Ordering::SeqCst);
        self.publish_admission();
        self.waiting.0.admitted.notify_all();
    }

    /// Whether the tail is not too far ahead of the last checkpoint.
    fn has_room(&self) -> bool {
        self.tail.0.load(Ordering::Acquire) < self.room_limit.load(Ordering::Acquire)
    }

    /// Publishes the decision to changes. Of two threads that decide at the same time, the one that publishes
    /// last checks again afterwards and so has seen both.
    pub(crate) fn publish_admission(&self) {
        let decided = || {
            let is_closed = self.asks_changes.load(Ordering::SeqCst) || self.failure.get().is_some();
            if is_closed { 0 } else { self.room_limit.load(Ordering::SeqCst).min(self.space.limit()) }
        };
        loop {
            // The fence is for `failure`, whose accesses are no part of the order among the others.
            fence(Ordering::SeqCst);
            let limit = decided();
            sim::switch();
            self.admission_limit.0.store(limit, Ordering::SeqCst);
            sim::switch();
            fence(Ordering::SeqCst);
            if decided() == limit {
                return;
            }
        }
    }

    /// Wakes who waits for [`Log::checkpoint_wanted`].
    pub fn ask_for_checkpoint(&self) {
        if !self.waiting.0.checkpoint_asked.swap(true, Ordering::AcqRel) {
            self.waiting.0.checkpoint_wanted.notify_all();
        }
    }

    /// Notified when the log wants a checkpoint: for the thread that does them.
    pub fn checkpoint_wanted(&self) -> &Event {
        &self.waiting.0.checkpoint_wanted
    }

    /// # Errors  The failure that ended the log.
    pub(crate) fn ensure_works(&self) -> Result<()> {
        self.failure.get().cloned().map_or(Ok(()), Err)
    }

    /// Ends the log permanently: every waiting or later caller gets this error, or an earlier one.
    #[cold]
    pub(crate) fn fail(&self, error: Error) -> Error {
        let first = self.failure.get_or_init(|| error).clone();
        self.publish_admission();
        self.waiting.0.progress.notify_all();
        self.waiting.0.admitted.notify_all();
        first
    }

    /// Counts so far.
    pub fn stats(&self) -> LogStats {
        let counters = &self.counters;
        LogStats {
            writes: counters.writes.load(Ordering::Relaxed),
            syncs: counters.syncs.load(Ordering::Relaxed),
            bytes_written: counters.bytes_written.load(Ordering::Relaxed),
            frames: counters.frames.sum(),
            ring_waits: counters.ring_waits.load(Ordering::Relaxed),
            admission_waits: counters.admission_waits.load(Ordering::Relaxed),
            checkpoints: counters.checkpoints.load(Ordering::Relaxed),
            files_recycled: counters.files_recycled.load(Ordering::Relaxed),
        }
    }
}

#[cfg(all(test, loom))]
mod models;
