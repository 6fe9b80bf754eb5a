//! Recovery: what a startup does about a directory that was not closed.
//!
//! ```text
//!  space::Store::open   log read (History listens), pages redone
//!    catalog loaded     the dictionary has no transactions: it is whole
//!    unfinished.rs      open transactions become transactions in progress, their undo at the addresses it had
//!    trees              that a DDL statement left half built or half freed are freed; open transactions are undone first
//!    unpurged.rs        records of committed transactions with dead values, as far as the log shows, are purged
//!                       clients are let in; what follows is done in background
//!    checkpoint
//!    unfinished.rs      open transactions are undone by the code that rolls back
//! ```
//! Any of it may be cut short and begun again. Undo continues from the last compensation in the log; the
//! rest reads what is there.
//!
//! Ids below the limit in the file header may have been given out, ids from there on were not: the limit
//! found is where new ids begin, and every older one has ended, except those of the unfinished transactions.
//! The undo pointers of the others lead nowhere and are not followed.

mod history;
mod trees;
mod undo_stacks;
mod unfinished;
mod unpurged;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use buffer::CorruptPage;
use env::{Clock, RealClock};

pub(crate) use history::{History, SpilledUndo};
pub(crate) use undo_stacks::UndoStacks;
pub(crate) use unfinished::{Unfinished, run};

use crate::engine::Engine;
use crate::error::Result;
use crate::quarantine::DamageScope;

/// Where a startup reports its progress, and later what no statement's answer can report: lines for people.
pub trait StartupLog: Send + Sync + std::fmt::Debug {
    /// One line.
    fn note(&self, line: &str);
}

/// Reports nothing.
#[derive(Debug)]
pub(crate) struct NoStartupLog;

impl StartupLog for NoStartupLog {
    fn note(&self, _line: &str) {}
}

/// Seconds between two lines about the same work.
const NOTE_SECONDS: u64 = 5;

/// Lines about work of a known amount: done so far, and how long the rest may take.
pub(crate) struct Pace {
    log: Arc<dyn StartupLog>,
    began_ns: u64,
    told_ns: u64,
}

impl Pace {
    pub(crate) fn new(log: &Arc<dyn StartupLog>) -> Self {
        let now = RealClock.monotonic_ns();
        Pace { log: Arc::clone(log), began_ns: now, told_ns: now }
    }

    /// Tells, if it is time to, that `done` of `total` of `what` are done.
    pub(crate) fn report(&mut self, what: &str, done: u64, total: u64) {
        let now = RealClock.monotonic_ns();
        if now - self.told_ns < NOTE_SECONDS * 1_000_000_000 || done == 0 {
            return;
        }
        self.told_ns = now;
        let seconds = u128::from(now - self.began_ns) * u128::from(total.saturating_sub(done))
            / u128::from(done)
            / 1_000_000_000;
        let percent = 100 * done / total.max(1);
        self.log.note(&format!("recovery: {what}: {percent} % done, about {seconds} s left"));
    }
}

impl Engine {
    /// Brings a directory whose pages have been redone to a state that sessions may see. The catalog is
    /// loaded.
    pub(crate) fn recover(&self, history: History, log: &Arc<dyn StartupLog>) -> Result<()> {
        let mut found = history.into_found();
        self.lose_pages(&found.lost)?;
        if found.undo_stacks.has_moved() {
            log.note("recovery: memory has no room for the undo of open transactions: some lies in undo/recovery.undo");
        }
        if let Some(why) = found.undo_stacks.refusal() {
            log.note(&format!("recovery: the undo of open transactions stays in memory: {why}"));
        }
        let mut unfinished = self.adopt_unfinished(&mut found, &**log)?;
        found.undo_stacks.close();
        self.checkpoints.adopt_spills(&found.spilled)?;
        if !self.cleans_up() {
            log.note(&format!(
                "recovery: {unfinished} unfinished transactions are not rolled back; their changes stay invisible"
            ));
            return Ok(());
        }
        // Before the checkpoint, which may spill undo to files of the same names.
        self.checkpoints.remove_unneeded_files()?;
        if unfinished > 0 && !self.dead_trees()?.is_empty() {
            log.note("recovery: rolling back before trees of an interrupted definition change are freed");
            self.roll_back_unfinished()?;
            unfinished = 0;
        }
        self.free_pending_trees()?;
        self.purge_unpurged(found.unpurged)?;
        // The undo that was restored came from the log, like the redo before.
        self.store.pool().ensure_resident_sound().map_err(space::Error::from)?;
        if unfinished > 0 {
            log.note(&format!("recovery: rolling back {unfinished} open transactions"));
        }
        self.is_recovering.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Takes the indexes out of use whose pages lack changes of the log.
    fn lose_pages(&self, lost: &[CorruptPage]) -> Result<()> {
        let owners = self.find_owners(lost.iter().map(|corrupt| corrupt.page), DamageScope::All);
        for corrupt in lost {
            match owners.get(&corrupt.page) {
                Some(&index) => self.lose(index, &format!("{corrupt}; the redo log has changes of it"))?,
                None => self.notes.note(&format!("data file: {corrupt}; no table is known to have it")),
            }
        }
        Ok(())
    }

    /// Does what recovery leaves for later: the checkpoint, and the rollbacks.
    pub(crate) fn finish_recovery(&self) -> Result<()> {
        if self.is_recovering.swap(false, Ordering::Relaxed) {
            self.checkpoint()?;
            self.roll_back_unfinished()?;
            // The undo that was restored came from the log, too.
            self.store.pool().ensure_resident_sound().map_err(space::Error::from)?;
            // Files of undo that was spilled go.
            self.checkpoint()?;
        }
        Ok(())
    }
}
