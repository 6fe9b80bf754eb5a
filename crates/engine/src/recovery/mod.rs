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

pub(crate) use history::History;
pub(crate) use unfinished::run;

use crate::engine::Engine;
use crate::error::Result;
use crate::quarantine::DamageScope;
use crate::startup_log::StartupLog;

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
