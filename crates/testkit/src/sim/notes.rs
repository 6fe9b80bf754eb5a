//! What the threads of a simulation share: the model, what was covered, why a round ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use engine::{Engine, Error};
use env::SimDisk;

use super::coverage::{Coverage, Event};
use super::model::Model;

/// Changes that a full disk refuses before space is freed.
const REFUSALS: u64 = 12;

/// Why a thread has stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// The engine has returned an error.
    Refused(Error),
    /// Something is not as it must be.
    Wrong(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Refused(error)
    }
}

impl From<env::IoError> for Stop {
    fn from(error: env::IoError) -> Self {
        Stop::Refused(error.into())
    }
}

impl From<String> for Stop {
    fn from(wrong: String) -> Self {
        Stop::Wrong(wrong)
    }
}

pub(super) type Result<T> = std::result::Result<T, Stop>;

/// State that the threads share, and that checks read later.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) model: Model,
    pub(super) coverage: Coverage,
    /// Whether the start was found to be right.
    pub(super) started: bool,
    /// Threads continue until `coverage` has as many operations.
    pub(super) operations: u64,
    /// Sessions that change rows and have not ended.
    pub(super) writers: u64,
    /// A commit has failed permanently.
    pub(super) log_failed: bool,
    /// Whether the engine's log has named a damaged page.
    pub(super) damage_told: bool,
    /// Changes that the full disk of this round has refused.
    refusals: u64,
    disk: Option<SimDisk>,
    /// Weak: its last owner ends its threads, which only the simulation can.
    pub(super) engine: Weak<Engine>,
}

impl Shared {
    /// Begins a round that ends after this number of operations in all.
    pub(super) fn begin(&mut self, operations: u64, disk: &SimDisk) {
        (self.started, self.log_failed, self.damage_told) = (false, false, false);
        (self.refusals, self.disk) = (0, Some(disk.clone()));
        self.operations = operations;
        self.engine = Weak::new();
        self.coverage.add(Event::Rounds, 1);
    }

    /// Counts a change that a full disk has refused. After some of them space is freed.
    pub(super) fn refused(&mut self) {
        self.coverage.add(Event::DiskFull, 1);
        self.refusals += 1;
        if self.refusals == REFUSALS
            && let Some(disk) = &self.disk
        {
            disk.set_capacity(u64::MAX);
            self.coverage.add(Event::SpaceFreed, 1);
        }
    }

    /// Adds what the engine has counted. It is not asked again.
    pub(super) fn take_stats(&mut self, engine: &Engine) {
        self.engine = Weak::new();
        let store = engine.store();
        let (pool, log) = (store.pool().stats(), store.log().stats());
        let (splits, merges) = store.splits_and_merges();
        let (undo_swaps, undo_reads) = engine.trx_system().undo().swaps_and_reads();
        for (event, times) in [
            (Event::Evictions, pool.evictions),
            (Event::PageReads, pool.page_reads),
            (Event::Splits, splits),
            (Event::Merges, merges),
            (Event::Checkpoints, log.checkpoints),
            (Event::Recycled, log.files_recycled),
            (Event::AdmissionWaits, log.admission_waits),
            (Event::RingWaits, log.ring_waits),
            (Event::LogBytes, log.bytes_written),
            (Event::LogSpills, engine.undo_spills()),
            (Event::UndoSwaps, undo_swaps),
            (Event::UndoReads, undo_reads),
            (Event::IndexChanges, engine.side_log_totals().applied),
            (Event::RowsCopiedAgain, engine.side_log_totals().copied),
            (Event::LeavesConverted, store.conversions()),
        ] {
            self.coverage.add(event, times);
        }
    }
}

/// No simulated thread stops while it holds this.
pub(super) type Notes = Arc<Mutex<Shared>>;

pub(super) fn lock(notes: &Notes) -> MutexGuard<'_, Shared> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn count(notes: &Notes, event: Event, times: u64) {
    lock(notes).coverage.add(event, times);
}

pub(super) fn is_done(notes: &Notes) -> bool {
    let shared = lock(notes);
    shared.writers == 0 || shared.coverage.of(Event::Operations) >= shared.operations
}
