//! Statistics counters that threads do not fight over.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// `T` on cache lines of its own (two, for the adjacent-line prefetcher).
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(pub T);

const SHARDS: usize = 16;

/// A counter for statistics: each thread adds to one of 16 cache lines, a reader sums them.
#[derive(Debug, Default)]
pub struct Counter([Padded<AtomicU64>; SHARDS]);

thread_local! {
    /// This thread's shard plus one; 0 while it has none.
    static SHARD: Cell<usize> = const { Cell::new(0) };
}

/// Gives this thread the next shard in turn.
#[cold]
fn assign_shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let shard = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
    SHARD.set(shard + 1);
    shard
}

impl Counter {
    /// A counter at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `n`. Cost: one uncontended atomic add.
    #[inline]
    pub fn add(&self, n: u64) {
        let shard = match SHARD.get() {
            0 => assign_shard(),
            assigned => assigned - 1,
        };
        self.0[shard % SHARDS].0.fetch_add(n, Ordering::Relaxed);
    }

    /// The total so far; additions of the moment may be missing.
    pub fn sum(&self) -> u64 {
        self.0.iter().map(|shard| shard.0.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn additions_of_all_threads_are_summed() {
        let counter = super::Counter::new();
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| (0..100).for_each(|_| counter.add(2)));
            }
        });
        assert_eq!(counter.sum(), 4000);
    }
}
