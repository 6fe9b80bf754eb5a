//! Checkpoints: keeping the log short while work continues.
//!
//! ```text
//!  redo LSN          pages LSN                                              tail
//!  |  undo of the    |  changes that are not in data.pages yet               |
//!  |  oldest open    |  <------- half the capacity ------->                  |
//!  |  transaction    |  <------- due --------------->   <-- limit of admission
//! ```
//! A background thread writes pages whose oldest change lies further back than half the log's capacity, and
//! records a checkpoint when that has moved the start of recovery by a sixteenth; it hastens both where much
//! freed space waits for them (`freed_space.rs`). Changes that would get seven eighths ahead of the pages
//! wait for it. The undo of a transaction that stays open is spilled when the log would be kept for it for
//! too long (`spill.rs`); where that is not possible, the files outgrow the capacity rather than make it wait
//! for itself.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use base::Lsn;
use log::Log;

use crate::checkpoint_control::CheckpointControl;
use crate::engine::Engine;
use crate::error::Result;
use crate::spill::PassLimits;

/// Pages written between two checks of the log.
const STEP_PAGES: usize = 256;

/// Steps in one round that write pages for the sake of freed space.
const STEPS_FOR_SPACE: usize = 32;

/// Freed extents (1 MiB each) given back to the file system in one round.
const HOLES_PER_ROUND: usize = 1024;

/// The background thread: ends on request, or with the engine.
pub(crate) fn run(engine: &Weak<Engine>, control: &CheckpointControl, log: &Arc<Log>) -> Result<()> {
    control.set_admission(log, *control.pages_lsn.lock());
    loop {
        let ticket = log.checkpoint_wanted().ticket();
        if control.is_stopped() {
            return Ok(());
        }
        let Some(engine) = engine.upgrade() else { return Ok(()) };
        engine.checkpoint_round()?;
        drop(engine);
        log.checkpoint_wanted().wait(ticket, Some(env::deadline_in(control.pause())));
    }
}

impl Engine {
    /// Writes all changes to data.pages and records a checkpoint. Recovery then begins here, or at the undo
    /// of the oldest open transaction.
    pub fn checkpoint(&self) -> Result<()> {
        let mut pages_lsn = self.checkpoints.pages_lsn.lock();
        let safe = self.store.log().safe_lsn();
        self.store.pool().flush_all()?;
        self.record(&mut pages_lsn, safe)
    }

    /// One round of the background thread: the log goes to disk, its next file is made, pages that keep it
    /// long are written, a checkpoint is recorded if that is worth it, and freed space goes back to the file
    /// system.
    pub fn checkpoint_round(&self) -> Result<()> {
        let log = self.store.log();
        log.flush()?;
        log.prepare_file()?;
        let mut pages_lsn = self.checkpoints.pages_lsn.lock();
        let capacity = self.checkpoints.capacity();
        let waiting = self.store.space_to_give_back();
        let space_waits =
            self.checkpoints.freed_space.lock().next_round(waiting, log.last_checkpoint().redo_lsn);
        if log.wants_files_back() {
            // The disk has no room for more log: changes wait for files that are given back.
            let safe = log.safe_lsn();
            self.store.pool().flush_all()?;
            self.record(&mut pages_lsn, safe)?;
        } else if log.current().0 - pages_lsn.0 > capacity / 2 {
            let safe = log.safe_lsn();
            let old = || Lsn(log.current().0.saturating_sub(capacity / 2));
            while self.store.pool().write_back_below(old(), STEP_PAGES)? == STEP_PAGES {}
            if self.written_below(safe).0 >= pages_lsn.0 + capacity / 16 {
                self.record(&mut pages_lsn, safe)?;
            }
        } else if let Some(freed_at) = space_waits {
            let safe = log.safe_lsn();
            for _ in 0..STEPS_FOR_SPACE {
                if self.store.pool().write_back_below(Lsn(freed_at.0 + 1), STEP_PAGES)? < STEP_PAGES {
                    break;
                }
            }
            if self.written_below(safe) > freed_at {
                self.record(&mut pages_lsn, safe)?;
            }
        } else if self.checkpoints.spills.lock().has_superfluous(&self.trx.unfinished()) {
            self.record(&mut pages_lsn, log.safe_lsn())?;
        }
        self.checkpoints.set_admission(log, *pages_lsn);
        drop(pages_lsn);
        log.note_round();
        self.store.punch_free_extents(HOLES_PER_ROUND)?;
        Ok(())
    }

    /// Every change below the returned position is written, if perhaps not yet durable. `safe` was read from
    /// the log before.
    fn written_below(&self, safe: Lsn) -> Lsn {
        self.store.pool().oldest_change().map_or(safe, |oldest| oldest.min(safe))
    }

    /// Records a checkpoint of what is written. `safe` was read from the log before.
    fn record(&self, pages_lsn: &mut Lsn, safe: Lsn) -> Result<()> {
        *pages_lsn = self.store.pool().sync_below(safe)?;
        let log = self.store.log();
        let last = log.last_checkpoint().redo_lsn;
        let back = |part: u64| Lsn(log.current().0.saturating_sub(self.checkpoints.capacity() / part));
        let mut spills = self.checkpoints.spills.lock();
        let limits = PassLimits { wanted: back(8), due: back(4).min(*pages_lsn), begin: last };
        let spilled = spills.spill(log, &self.trx.unfinished(), limits)?;
        self.checkpoints.spill_passes.fetch_add(u64::from(spilled), Ordering::Relaxed);
        let unfinished = self.trx.unfinished();
        let (states, ended) = spills.states(&unfinished, last);
        let redo_lsn = states.iter().fold(*pages_lsn, |lsn, state| lsn.min(state.first_undo));
        // What purge has still to do is found in the log after a crash. Views that keep it from purge for
        // long may not keep the log, too: then dead values stay.
        let unpurged = self.trx.first_unpurged().into_iter().chain(ended).min();
        let unpurged = unpurged.filter(|first_undo| *first_undo >= back(4).max(last));
        let redo_lsn = unpurged.map_or(redo_lsn, |first_undo| first_undo.min(redo_lsn));
        let superfluous = spills.has_superfluous(&unfinished);
        if redo_lsn > last || (redo_lsn == last && superfluous) {
            self.store.checkpoint(redo_lsn, states)?;
            spills.remove_superfluous(&unfinished);
        }
        Ok(())
    }

    /// How many times undo of open transactions was copied out of the log.
    pub fn undo_spills(&self) -> u64 {
        self.checkpoints.spill_passes.load(Ordering::Relaxed)
    }

    /// Removes spilled undo, and swapped undo, after the last checkpoint of a shutdown.
    pub(crate) fn remove_spills(&self) {
        let mut spills = self.checkpoints.spills.lock();
        spills.remove_superfluous(&[]);
        if self.trx.undo().swaps_and_reads().0 > 0 {
            spills.remove_swap();
        }
    }

    /// Changes how much room the log's files take (`innodb_redo_log_capacity`), while it is in use.
    pub fn set_log_capacity(&self, capacity_bytes: u64) -> Result<()> {
        self.store.log().set_capacity(capacity_bytes)?;
        self.checkpoints.capacity_bytes.store(capacity_bytes, Ordering::Relaxed);
        self.store.log().ask_for_checkpoint();
        Ok(())
    }

    /// How often the log goes to disk when no commit asks for it (`innodb_flush_log_at_timeout`).
    pub fn set_log_flush_pause(&self, pause: Duration) {
        self.checkpoints.pause_ms.store(pause.as_millis() as u64, Ordering::Relaxed);
    }
}
