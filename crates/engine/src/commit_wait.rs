//! What commits wait for.

use std::sync::atomic::{AtomicU8, Ordering};

/// What a commit waits for (`innodb_flush_log_at_trx_commit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CommitWait {
    /// Nothing: the log goes to disk about once a second.
    Nothing = 0,
    /// The log is on disk.
    #[default]
    Durable = 1,
    /// The log is with the operating system, which survives the end of this process; it goes to disk about
    /// once a second.
    Written = 2,
}

/// A [`CommitWait`] that can be changed at any time.
#[derive(Debug)]
pub(crate) struct CommitWaitCell(AtomicU8);

impl Default for CommitWaitCell {
    fn default() -> Self {
        CommitWaitCell(AtomicU8::new(CommitWait::default() as u8))
    }
}

impl CommitWaitCell {
    pub(crate) fn get(&self) -> CommitWait {
        match self.0.load(Ordering::Relaxed) {
            0 => CommitWait::Nothing,
            2 => CommitWait::Written,
            _ => CommitWait::Durable,
        }
    }

    pub(crate) fn set(&self, wait: CommitWait) {
        self.0.store(wait as u8, Ordering::Relaxed);
    }
}
