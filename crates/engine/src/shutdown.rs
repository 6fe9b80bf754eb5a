//! Closing a data directory.

use std::sync::atomic::Ordering;

use base::sync::plain::Mutex;

use crate::engine::Engine;
use crate::error::{Error, Result};

/// How much is done before the server ends (`innodb_fast_shutdown`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownMode {
    /// All that committed transactions have left is purged.
    Slow,
    /// Off-page values without a row are freed, as they would not be found later; the next server sweeps the
    /// rest.
    Fast,
    /// The log is written, and no more: the next startup recovers.
    Abrupt,
}

impl Engine {
    /// [`Engine::shut_down`] after which nothing is left to do.
    pub fn shutdown(&self) -> Result<()> {
        self.shut_down(ShutdownMode::Slow)
    }

    /// Rolls open transactions back, writes everything and marks the directory as cleanly closed, or leaves
    /// that to the next startup, as [`ShutdownMode::Abrupt`] says, or where a disk is too full to purge.
    /// Later calls of any kind fail with [`Error::Closed`](crate::Error::Closed) or a lock error; a second
    /// shutdown does nothing.
    ///
    /// Sessions need not have ended, but none may be inside a read or hold a scan.
    pub fn shut_down(&self, mode: ShutdownMode) -> Result<()> {
        if self.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        // Work that a forced startup has skipped is left to the next one.
        if mode == ShutdownMode::Abrupt || !self.cleans_up() {
            self.stop_threads();
            return Ok(self.store.log().flush()?);
        }
        // It checks whether the engine is closed.
        end(&self.recovery_thread);
        match self.past_damage(|| self.trx.close(|log| self.undo_all(log))) {
            // The next startup has it from the log.
            Err(Error::UndoUnreadable(error)) => {
                self.notes.note(&format!("shutdown: open transactions are left to the next start: {error}"));
                self.stop_threads();
                return Ok(self.store.log().flush()?);
            }
            closed => closed?,
        }
        self.forget_unfinished();
        // A reader still keeps it from being purged.
        let is_purged = self.trx.purge_horizon() != self.trx.newest() || self.purge_at_end(mode)?;
        self.free_dropped_trees()?;
        self.stop_threads();
        if !is_purged || self.dropped_trees.are_waiting() || !self.is_dictionary_written()? {
            // The next startup finds what is left in the log.
            return Ok(self.store.log().flush()?);
        }
        self.store.update_header(|header| header.trx_limit = self.trx.next_id())?;
        self.store.close()?;
        self.remove_spills();
        Ok(())
    }

    /// Writes what the next startup finds in the dictionary. False: a full disk, or a damaged page of it, has
    /// kept some of that from being written.
    fn is_dictionary_written(&self) -> Result<bool> {
        let settle = || {
            let _definition = self.definition.lock();
            self.dictionary.settle(&self.store)
        };
        match settle().and_then(|()| self.note_search()).and_then(|()| self.save_counters()) {
            Err(error) if error.is_full_disk() || error.is_corrupt_page() => Ok(false),
            written => written.map(|()| true),
        }
    }

    /// False: a full disk has kept some of it.
    fn purge_at_end(&self, mode: ShutdownMode) -> Result<bool> {
        if mode == ShutdownMode::Fast {
            return self.purge_values_only();
        }
        self.purge_step(usize::MAX)?;
        self.finish_search()?;
        let _turn = self.purge.pause();
        let is_purged = self.trx.purge_pending() == 0;
        if is_purged {
            self.store.forget_garbage()?;
        }
        Ok(is_purged)
    }

    fn stop_threads(&self) {
        end(&self.recovery_thread);
        self.purge.stop();
        end(&self.purge_thread);
        // After all threads that may wait for a checkpoint.
        self.checkpoints.stop(self.store.log());
        end(&self.checkpoint_thread);
    }
}

/// Waits for a background thread that was asked to stop.
fn end(thread: &Mutex<Option<env::Thread<()>>>) {
    if let Some(thread) = thread.lock().take()
        && !thread.is_current()
    {
        thread.join();
    }
}
