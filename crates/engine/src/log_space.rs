//! The log that changes may still need once they are admitted: what it takes to roll them back.

use std::sync::{Arc, Weak};

use base::Lsn;
use env::IoError;
use log::SpaceObserver;
use trx::TrxSystem;

use crate::startup_log::StartupLog;

/// Undoing a record logs what its undo has, and who it is of.
const ROLLBACK_PER_UNDO: u64 = 2;

/// The transactions' answers to the log.
#[derive(Debug)]
pub(crate) struct LogSpace {
    /// Weak: the transactions' undo keeps the log.
    trx: Weak<TrxSystem>,
    notes: Arc<dyn StartupLog>,
}

impl LogSpace {
    pub(crate) fn new(trx: &Arc<TrxSystem>, notes: &Arc<dyn StartupLog>) -> Self {
        LogSpace { trx: Arc::downgrade(trx), notes: Arc::clone(notes) }
    }
}

impl SpaceObserver for LogSpace {
    /// Rolling back logs less than what it undoes has logged, which lies above the first undo of all that is
    /// open; and all undo there is bounds it, too, where one transaction is old and has changed little.
    fn rollback_bytes(&self, tail: Lsn) -> u64 {
        let Some(trx) = self.trx.upgrade() else { return 0 };
        let Some(first_undo) = trx.unfinished().into_iter().map(|(_, first)| first).min() else { return 0 };
        tail.0.saturating_sub(first_undo.0).min(ROLLBACK_PER_UNDO * trx.undo().bytes().0)
    }

    fn note_full(&self, error: &IoError) {
        self.notes.note(&format!(
            "changes of rows are refused: the disk has no room for more redo log, and checkpoints free none: {error}"
        ));
    }

    fn note_wait(&self, error: &IoError) {
        self.notes
            .note(&format!("the disk is full: waiting for somebody to free space for the redo log: {error}"));
    }
}
