//! Space ahead of the tail: what has been admitted never meets a full disk.
//!
//! ```text
//!   tail          limit                                            end of the chain
//!   |             |                <----------- reserve ---------> |
//!   | <- admitted -> <- as much again, to undo what was admitted -> |
//! ```
//! Changes are admitted only while the tail is below the limit. A thread that reaches the limit links another
//! file, or creates one. If the disk has no room for it, the log asks for a checkpoint that gives files back;
//! if it has none to give, the change is refused with [`Error::Full`], and the next one tries again.
//! Rollback, commits and checkpoints are never asked: the reserve is theirs, and that of changes that are
//! under way. Rollback leaves the last part of it to commits and checkpoints: it waits for space before it
//! takes anything that a checkpoint needs.
//!
//! A startup that finds the disk full does not wait, as the cause would be hidden: its writes fail, and so
//! does the startup. From [`Log::set_waits_for_space`] on, writes that must succeed wait.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use base::Lsn;
use base::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use base::sync::plain::Mutex;
use base::sync::{PlantedBug, planted};
use env::IoError;

use crate::error::{Error, Result};
use crate::log::Log;

/// Knows how much log rollbacks may need, and is notified of a full disk.
pub trait SpaceObserver: Send + Sync + Debug {
    /// Most bytes of log that it takes to roll back everything that is open, while the log ends at `tail`.
    fn rollback_bytes(&self, tail: Lsn) -> u64;

    /// The disk has no room for more log. Called again after it had.
    fn note_full(&self, error: &IoError);

    /// Something that cannot be refused waits until the disk has room for more log. Called again after it
    /// had.
    fn note_wait(&self, error: &IoError);
}

/// The least reserve: for changes under way, commits and checkpoints. A quarter of a file, and not less than
/// this, except for logs of less than four times as much.
const RESERVE_BYTES_MIN: u64 = 256 << 10;
/// The most, what rollbacks need aside.
const RESERVE_BYTES_MAX: u64 = 16 << 20;

/// The reserve of a log of `capacity_bytes` whose last file has `last_file_bytes`, without what rollbacks
/// need.
fn least_reserve(last_file_bytes: u64, capacity_bytes: u64) -> u64 {
    let least = RESERVE_BYTES_MIN.min(capacity_bytes / 4);
    (last_file_bytes / 4).clamp(least, RESERVE_BYTES_MAX)
}

/// The part of the reserve that commits and checkpoints have for themselves.
fn last_reserve(reserve_bytes: u64) -> u64 {
    reserve_bytes / 8
}

/// Rounds of checkpoints that a change waits for: the first may have begun before it asked.
const ROUNDS: u64 = 2;

/// How often rollbacks that wait for the reserve check whether the disk has room.
const LOOK: Duration = Duration::from_millis(100);
/// The longest time between two checkpoints that they ask for. A checkpoint that gives no file back takes a
/// little of what is left ahead.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// When rollbacks that wait for the reserve ask for a checkpoint: at once, and then ever more seldom while
/// checkpoints give nothing back. One for all of them.
#[derive(Debug, Default)]
struct Pace {
    next: Option<Instant>,
    pause: Duration,
}

impl Pace {
    /// Whether to ask now; the next time is later then.
    fn is_due(&mut self) -> bool {
        let now = env::deadline_in(Duration::ZERO);
        let is_due = self.next.is_none_or(|next| next <= now);
        if is_due {
            self.pause = (self.pause * 2).clamp(LOOK, PAUSE_MAX);
            self.next = Some(now + self.pause);
        }
        is_due
    }
}

/// What is known of the space ahead.
#[derive(Debug)]
pub(crate) struct Space {
    /// Changes begin only while the tail is below this; `u64::MAX`: none is kept.
    limit: AtomicU64,
    /// More than the last part of the reserve is ahead while the tail is below this.
    reserve_limit: AtomicU64,
    observer: OnceLock<Arc<dyn SpaceObserver>>,
    /// One thread at a time moves the limits.
    extending: Mutex<Pace>,
    /// The disk had no room when a file was last wanted.
    is_short: AtomicBool,
    /// The next round of checkpoints is to give back what it can.
    wants_files: AtomicBool,
    /// A change was refused, and no file was made since.
    is_told: AtomicBool,
    /// A wait was noted, and no file was made since.
    is_wait_noted: AtomicBool,
    /// A thread makes checkpoints on request.
    has_checkpoints: AtomicBool,
    /// Rounds of checkpoints so far.
    rounds: AtomicU64,
}

impl Space {
    pub(crate) fn new() -> Self {
        Space {
            limit: AtomicU64::new(u64::MAX),
            reserve_limit: AtomicU64::new(0),
            observer: OnceLock::new(),
            extending: Mutex::default(),
            is_short: AtomicBool::new(false),
            wants_files: AtomicBool::new(false),
            is_told: AtomicBool::new(false),
            is_wait_noted: AtomicBool::new(false),
            has_checkpoints: AtomicBool::new(false),
            rounds: AtomicU64::new(0),
        }
    }

    /// Changes begin only while the tail is below this.
    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Ordering::SeqCst)
    }
}

impl Log {
    /// From now on changes are admitted only where the space for their log, and for undoing them, is there.
    pub fn keep_space_ahead(&self, observer: Arc<dyn SpaceObserver>) {
        self.hold_writer().files.set_observer(Arc::clone(self.space.observer.get_or_init(|| observer)));
        self.set_space_limit(Lsn(0));
    }

    /// From now on a thread does rounds of checkpoints while [`Log::set_admission`] sets a limit, and calls
    /// [`Log::note_round`].
    pub fn expect_checkpoints(&self) {
        self.space.has_checkpoints.store(true, Ordering::Relaxed);
    }

    /// Sets whether what must be written waits for space on a full disk. If not, a full disk ends the log.
    pub fn set_waits_for_space(&self, waits: bool) {
        self.hold_writer().files.set_waits_for_space(waits);
    }

    /// Makes the last part of the reserve, without which the log takes no checkpoint.
    ///
    /// # Errors
    /// [`Error::Full`]; what ends the log.
    pub fn make_last_reserve(&self) -> Result<()> {
        match self.link_for_last_reserve()? {
            Some((full, _)) => Err(Error::Full(full)),
            None => Ok(()),
        }
    }

    /// Waits until more than the last part of the reserve is ahead. The caller holds nothing that a
    /// checkpoint needs.
    ///
    /// # Errors
    /// What ends the log.
    pub(crate) fn leave_last_reserve(&self) -> Result<()> {
        while self.current().0 >= self.space.reserve_limit.load(Ordering::Relaxed)
            && self.space.has_checkpoints.load(Ordering::Relaxed)
            && self.has_room_limit()
        {
            let ticket = self.waiting.0.admitted.ticket();
            self.ensure_works()?;
            let Some((full, is_due)) = self.link_for_last_reserve()? else { break };
            self.space.is_short.store(true, Ordering::Relaxed);
            if !self.space.is_wait_noted.swap(true, Ordering::Relaxed)
                && let Some(observer) = self.space.observer.get()
            {
                observer.note_wait(&full);
            }
            if is_due {
                self.space.wants_files.store(true, Ordering::Release);
                self.ask_for_checkpoint();
            }
            self.waiting.0.admitted.wait(ticket, Some(env::deadline_in(LOOK)));
        }
        Ok(())
    }

    /// Links files until the last part of the reserve is ahead. What the disk says if it has no room, and
    /// whether a checkpoint is to be asked for.
    fn link_for_last_reserve(&self) -> Result<Option<(Box<IoError>, bool)>> {
        let mut pace = self.space.extending.lock();
        loop {
            let (end, reserve) = self.ahead_and_reserve();
            let limit = end.0.saturating_sub(last_reserve(reserve));
            if self.current().0 < limit {
                self.space.reserve_limit.store(limit, Ordering::Relaxed);
                *pace = Pace::default();
                return Ok(None);
            }
            match self.link_another() {
                Ok(()) => {}
                Err(Error::Io(error)) if error.is_out_of_space() => {
                    return Ok(Some((error, pace.is_due())));
                }
                Err(error) => return Err(self.fail(error)),
            }
        }
    }

    /// Where the last file ends, and the least reserve.
    fn ahead_and_reserve(&self) -> (Lsn, u64) {
        let writer = self.hold_writer();
        let files = &writer.files;
        (files.end(), least_reserve(files.last_file_bytes(), files.capacity_bytes()))
    }

    /// Whether a change waits for files that a checkpoint gives back. Called by the checkpointer before it
    /// begins; a change that asks later waits for the next one.
    pub fn wants_files_back(&self) -> bool {
        self.space.wants_files.swap(false, Ordering::AcqRel)
    }

    /// Whether the disk had no room for more log when that was last wanted.
    pub(crate) fn is_short_of_space(&self) -> bool {
        self.space.is_short.load(Ordering::Relaxed)
    }

    /// A round of checkpoints is over.
    pub fn note_round(&self) {
        self.space.rounds.fetch_add(1, Ordering::Release);
        self.waiting.0.admitted.notify_all();
    }

    /// Whether the tail is below the limit.
    pub(crate) fn has_space(&self) -> bool {
        self.tail.0.load(Ordering::Acquire) < self.space.limit() || planted(PlantedBug::UnreservedLog)
    }

    fn set_space_limit(&self, limit: Lsn) {
        self.space.limit.store(limit.0, Ordering::SeqCst);
        self.publish_admission();
    }

    /// Moves the limit on, linking files as needed.
    ///
    /// # Errors
    /// [`Error::Full`]; what ends the log.
    #[cold]
    pub(crate) fn make_space(&self, interruptible: bool) -> Result<()> {
        if self.try_space()?.is_none() {
            return Ok(());
        }
        self.space.is_short.store(true, Ordering::Relaxed);
        self.space.wants_files.store(true, Ordering::Release);
        self.wait_for_rounds(interruptible)?;
        let Some(full) = self.try_space()? else { return Ok(()) };
        if !self.space.is_told.swap(true, Ordering::Relaxed)
            && let Some(observer) = self.space.observer.get()
        {
            observer.note_full(&full);
        }
        Err(Error::Full(full))
    }

    /// Waits until checkpoints, if there are any, may have given files back.
    fn wait_for_rounds(&self, interruptible: bool) -> Result<()> {
        let wanted = self.space.rounds.load(Ordering::Acquire) + ROUNDS;
        while self.space.has_checkpoints.load(Ordering::Relaxed) && self.has_room_limit() {
            let ticket = self.waiting.0.admitted.ticket();
            self.ensure_works()?;
            if self.space.rounds.load(Ordering::Acquire) >= wanted {
                break;
            }
            self.ask_for_checkpoint();
            self.wait_for_checkpoint(ticket, interruptible)?;
        }
        Ok(())
    }

    /// Sets the limit as far as the files that are there allow, and links others as long as that is not
    /// beyond the tail. What the disk says if it has no room.
    fn try_space(&self) -> Result<Option<Box<IoError>>> {
        // One at a time: of two who come to the limit, the second finds it moved.
        let _turn = self.space.extending.lock();
        while !self.has_space() {
            self.ensure_works()?;
            if self.move_limit() {
                self.space.is_short.store(false, Ordering::Relaxed);
                break;
            }
            match self.link_another() {
                Ok(()) => {}
                Err(Error::Io(error)) if error.is_out_of_space() => return Ok(Some(error)),
                Err(error) => return Err(self.fail(error)),
            }
        }
        Ok(None)
    }

    /// Moves the limit beyond the tail, if there is enough space ahead: all that is logged up to there may
    /// have to be undone.
    fn move_limit(&self) -> bool {
        let (end, base) = self.ahead_and_reserve();
        let capacity_bytes = self.file_bytes().1;
        let tail = self.current();
        let rollback = self.space.observer.get().map_or(0, |observer| observer.rollback_bytes(tail));
        let reserve = base + rollback.min(capacity_bytes / 2);
        let room = end.0.saturating_sub(tail.0 + reserve);
        let moved = room >= base / 4;
        if moved {
            self.set_space_limit(Lsn(tail.0 + room / 2));
        }
        moved
    }

    /// Links another file: a spare one, or a new one, a small one if there is no room for another.
    fn link_another(&self) -> Result<()> {
        let (folder, file_bytes, spare) = {
            let mut writer = self.hold_writer();
            let files = &mut writer.files;
            (files.folder().clone(), files.awaited_file_bytes(), files.take_spare())
        };
        let small = self.config.file_bytes_min.next_power_of_two();
        let is_new = spare.is_none();
        let spare = match spare {
            Some(spare) => spare,
            None => match folder.make(file_bytes) {
                Err(Error::Io(error)) if error.is_out_of_space() && small < file_bytes => {
                    folder.make(small)?
                }
                made => made?,
            },
        };
        if is_new {
            self.space.is_told.store(false, Ordering::Relaxed);
            self.space.is_wait_noted.store(false, Ordering::Relaxed);
        }
        self.hold_writer().files.link_next(spare)
    }
}
