//! How much undo there may be, in all and in memory. A row change asks the log for admission anyway, and is
//! sent here when a limit is passed: others pay nothing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use log::Log;

/// Swapping makes room for this number of chunks more than it has to, unless that were more than a quarter of
/// all.
const SPARE_CHUNKS: u64 = 32;

/// Counts chunks.
#[derive(Debug)]
pub(super) struct Room {
    chunks: AtomicU64,
    chunks_max: AtomicU64,
    /// Of `chunks`: those that are not written any more, and of these those in the swap file.
    retired: AtomicU64,
    swapped: AtomicU64,
    /// Chunks in memory beyond which the oldest are swapped.
    memory_max: AtomicU64,
    /// Whether there is a place for the swap file.
    can_swap: AtomicBool,
    log: OnceLock<Arc<Log>>,
}

impl Default for Room {
    fn default() -> Self {
        let [chunks, retired, swapped] = [(); 3].map(|()| AtomicU64::new(0));
        let [chunks_max, memory_max] = [(); 2].map(|()| AtomicU64::new(u64::MAX));
        let (can_swap, log) = (AtomicBool::new(false), OnceLock::new());
        Room { chunks, chunks_max, retired, swapped, memory_max, can_swap, log }
    }
}

impl Room {
    /// Makes `log` ask before row changes while a limit is passed.
    pub(super) fn set_log(&self, log: &Arc<Log>) {
        self.log.get_or_init(|| Arc::clone(log));
    }

    pub(super) fn set_max(&self, chunks: u64) {
        self.chunks_max.store(chunks.max(1), Ordering::Relaxed);
        self.publish();
    }

    pub(super) fn set_memory_max(&self, chunks: u64) {
        self.memory_max.store(chunks, Ordering::Relaxed);
        self.publish();
    }

    pub(super) fn allow_swap(&self) {
        self.can_swap.store(true, Ordering::Relaxed);
        self.publish();
    }

    pub(super) fn take(&self) {
        self.chunks.fetch_add(1, Ordering::Relaxed);
        self.publish();
    }

    /// A chunk is not written any more.
    pub(super) fn retire(&self) {
        self.retired.fetch_add(1, Ordering::Relaxed);
        self.publish();
    }

    /// A retired chunk is free, which was in memory.
    pub(super) fn give_back(&self) {
        self.retired.fetch_sub(1, Ordering::Relaxed);
        self.chunks.fetch_sub(1, Ordering::Relaxed);
        self.publish();
    }

    /// A retired chunk is in the swap file now.
    pub(super) fn swap(&self) {
        self.swapped.fetch_add(1, Ordering::Relaxed);
        self.publish();
    }

    /// A chunk is in the swap file no longer.
    pub(super) fn unswap(&self) {
        self.swapped.fetch_sub(1, Ordering::Relaxed);
    }

    /// Chunks in use, and the most there may be.
    pub(super) fn chunks(&self) -> (u64, u64) {
        (self.chunks.load(Ordering::Relaxed), self.chunks_max.load(Ordering::Relaxed))
    }

    /// Chunks in memory, and in the swap file. Counts that change meanwhile may disagree by a few.
    pub(super) fn memory_and_swapped(&self) -> (u64, u64) {
        let (chunks, swapped) = (self.chunks.load(Ordering::Relaxed), self.swapped.load(Ordering::Relaxed));
        (chunks.saturating_sub(swapped), swapped)
    }

    /// Whether memory has more chunks than it may, and one that can be swapped.
    pub(super) fn is_crowded(&self) -> bool {
        self.exceeds(0)
    }

    /// Whether memory will soon have more chunks than it may, and has one that can be swapped.
    pub(super) fn is_nearly_crowded(&self) -> bool {
        let max = self.memory_max.load(Ordering::Relaxed);
        self.exceeds(SPARE_CHUNKS.min(max / 4))
    }

    fn exceeds(&self, spare: u64) -> bool {
        let (memory, swapped) = self.memory_and_swapped();
        memory.saturating_add(spare) > self.memory_max.load(Ordering::Relaxed)
            && self.retired.load(Ordering::Relaxed) > swapped
            && self.can_swap.load(Ordering::Relaxed)
    }

    /// Tells the log how it is. Of two concurrent updates, the later may be the older figure; the reader
    /// therefore updates it again.
    pub(super) fn publish(&self) {
        let (chunks, max) = self.chunks();
        if let Some(log) = self.log.get() {
            log.set_check_of_changes(chunks >= max || self.is_crowded());
        }
    }
}
