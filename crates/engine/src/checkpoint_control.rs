//! What checkpoints remember between rounds, and how their thread is ended.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base::sync::plain::Mutex;
use base::{Lsn, TrxId};
use log::Log;

use crate::error::Result;
use crate::freed_space::FreedSpace;
use crate::spill::{SpilledUndo, Spills};

/// What checkpoints remember between rounds.
#[derive(Debug)]
pub(crate) struct CheckpointControl {
    stop: AtomicBool,
    /// Milliseconds between two rounds that were not requested.
    pub(crate) pause_ms: AtomicU64,
    pub(crate) capacity_bytes: AtomicU64,
    /// One round at a time. Everything below is durable in data.pages.
    pub(crate) pages_lsn: Mutex<Lsn>,
    pub(crate) spills: Mutex<Spills>,
    pub(crate) freed_space: Mutex<FreedSpace>,
    /// Passes over the log that have spilled undo.
    pub(crate) spill_passes: AtomicU64,
}

impl CheckpointControl {
    /// For a log of this capacity of which nothing below `pages_lsn` is needed for pages.
    pub(crate) fn new(capacity_bytes: u64, pages_lsn: Lsn, spills: Spills) -> Self {
        CheckpointControl {
            stop: AtomicBool::new(false),
            pause_ms: AtomicU64::new(1000),
            capacity_bytes: AtomicU64::new(capacity_bytes),
            pages_lsn: Mutex::new(pages_lsn),
            spills: Mutex::new(spills),
            freed_space: Mutex::default(),
            spill_passes: AtomicU64::new(0),
        }
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn pause(&self) -> Duration {
        Duration::from_millis(self.pause_ms.load(Ordering::Relaxed))
    }

    /// Goes on with the spill files that the last checkpoint names.
    pub(crate) fn adopt_spills(&self, spilled: &BTreeMap<TrxId, SpilledUndo>) -> Result<()> {
        self.spills.lock().adopt(spilled)
    }

    /// Removes the files in the folder of undo that no thread needs.
    pub(crate) fn remove_unneeded_files(&self) -> Result<()> {
        self.spills.lock().remove_unneeded_files()
    }

    /// Ends the thread after the round it is in. Changes are admitted without limit from now on.
    pub(crate) fn stop(&self, log: &Log) {
        self.stop.store(true, Ordering::Release);
        log.checkpoint_wanted().notify_all();
        log.set_admission(Lsn(u64::MAX), Lsn(u64::MAX));
    }

    /// Whether the thread is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Sets the position up to which the log admits changes, and that from which on a round is due.
    pub(crate) fn set_admission(&self, log: &Log, pages_lsn: Lsn) {
        if !self.is_stopped() {
            let capacity = self.capacity();
            log.set_admission(Lsn(pages_lsn.0 + capacity / 8 * 5), Lsn(pages_lsn.0 + capacity / 8 * 7));
        }
    }
}
