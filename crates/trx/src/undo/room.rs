//! How much undo there may be. Who changes a row asks the log for admission anyway, and is asked to look here when the
//! limit is passed: nobody else pays.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use log::Log;

/// Counts chunks.
#[derive(Debug)]
pub(super) struct Room {
    chunks: AtomicU64,
    chunks_max: AtomicU64,
    log: OnceLock<Arc<Log>>,
}

impl Default for Room {
    fn default() -> Self {
        Room { chunks: AtomicU64::new(0), chunks_max: AtomicU64::new(u64::MAX), log: OnceLock::new() }
    }
}

impl Room {
    /// Lets `log` ask those who want to change rows while the limit is passed.
    pub(super) fn ask_by(&self, log: &Arc<Log>) {
        self.log.get_or_init(|| Arc::clone(log));
    }

    pub(super) fn set_max(&self, chunks: u64) {
        self.chunks_max.store(chunks.max(1), Ordering::Relaxed);
        self.tell();
    }

    pub(super) fn take(&self) {
        self.chunks.fetch_add(1, Ordering::Relaxed);
        self.tell();
    }

    pub(super) fn give_back(&self) {
        self.chunks.fetch_sub(1, Ordering::Relaxed);
        self.tell();
    }

    /// Chunks in use, and the most there may be.
    pub(super) fn chunks(&self) -> (u64, u64) {
        (self.chunks.load(Ordering::Relaxed), self.chunks_max.load(Ordering::Relaxed))
    }

    /// Tells the log how it is. Of two who tell at once the later may be the one who knows less: who is asked tells again.
    pub(super) fn tell(&self) {
        let (chunks, max) = self.chunks();
        if let Some(log) = self.log.get() {
            log.ask_changes(chunks >= max);
        }
    }
}
