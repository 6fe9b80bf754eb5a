//! How long threads have slept, by what they waited for.
//!
//! Of the whole process, since it began. A wait is counted when it ends, by the thread that slept: nothing is
//! counted where no thread sleeps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::sim;

/// The kind of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// A page latch, held by another thread.
    Latch,
    /// A row or a gap, locked by another transaction.
    Row,
    /// A table's metadata lock, to use the table.
    TableUse,
    /// A table's metadata lock, to change the table.
    TableChange,
    /// A commit that has begun to get its number.
    CommitNumber,
    /// Another thread that writes or syncs the log.
    LogWrite,
    /// A checkpoint: the log has no room for more.
    LogRoom,
    /// A free frame of the buffer pool.
    Frame,
}

/// All kinds, each at the place of its number.
pub const WAIT_KINDS: [WaitKind; 8] = [
    WaitKind::Latch,
    WaitKind::Row,
    WaitKind::TableUse,
    WaitKind::TableChange,
    WaitKind::CommitNumber,
    WaitKind::LogWrite,
    WaitKind::LogRoom,
    WaitKind::Frame,
];

/// Buckets of a histogram. Bucket 0 has waits below a microsecond, bucket n those of `2^(n - 1)` microseconds
/// and more, the last one all longer ones.
pub(crate) const WAIT_BUCKETS: usize = 32;

/// Waits of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitTimes {
    /// Time of all waits, in nanoseconds.
    pub sum_ns: u64,
    /// The shortest wait, in nanoseconds; 0 without waits.
    pub min_ns: u64,
    /// The longest wait, in nanoseconds.
    pub max_ns: u64,
    /// How many waits there were, by length.
    pub buckets: [u64; WAIT_BUCKETS],
}

impl WaitTimes {
    /// How many waits there were.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Where bucket `bucket` begins, in nanoseconds.
    pub const fn bucket_from_ns(bucket: usize) -> u64 {
        if bucket == 0 { 0 } else { 1000 << (bucket - 1) }
    }
}

struct Counts {
    sum_ns: AtomicU64,
    /// The shortest wait plus one; 0 without waits.
    min_ns_plus_one: AtomicU64,
    max_ns: AtomicU64,
    buckets: [AtomicU64; WAIT_BUCKETS],
}

static COUNTS: [Counts; WAIT_KINDS.len()] = [const {
    Counts {
        sum_ns: AtomicU64::new(0),
        min_ns_plus_one: AtomicU64::new(0),
        max_ns: AtomicU64::new(0),
        buckets: [const { AtomicU64::new(0) }; WAIT_BUCKETS],
    }
}; WAIT_KINDS.len()];

/// Does `wait`, which sleeps, and counts how long it took.
#[cold]
#[inline(never)]
pub fn timed<T>(kind: WaitKind, wait: impl FnOnce() -> T) -> T {
    let begin = now();
    let result = wait();
    count(kind, now().saturating_duration_since(begin));
    result
}

/// The waits of a kind so far.
pub fn of(kind: WaitKind) -> WaitTimes {
    let counts = &COUNTS[kind as usize];
    WaitTimes {
        sum_ns: counts.sum_ns.load(Ordering::Relaxed),
        min_ns: counts.min_ns_plus_one.load(Ordering::Relaxed).saturating_sub(1),
        max_ns: counts.max_ns.load(Ordering::Relaxed),
        buckets: std::array::from_fn(|bucket| counts.buckets[bucket].load(Ordering::Relaxed)),
    }
}

/// The clock that deadlines are of.
fn now() -> Instant {
    sim::now().map_or_else(Instant::now, |(now, _)| now)
}

fn count(kind: WaitKind, time: Duration) {
    let counts = &COUNTS[kind as usize];
    let ns = time.as_nanos() as u64;
    counts.sum_ns.fetch_add(ns, Ordering::Relaxed);
    counts.max_ns.fetch_max(ns, Ordering::Relaxed);
    // 0 less one is the greatest number, so that the first wait is below it.
    let shortest = |least: u64| (ns < least.wrapping_sub(1)).then_some(ns + 1);
    let _ = counts.min_ns_plus_one.fetch_update(Ordering::Relaxed, Ordering::Relaxed, shortest);
    counts.buckets[bucket_of(ns)].fetch_add(1, Ordering::Relaxed);
}

fn bucket_of(ns: u64) -> usize {
    let micros = ns / 1000;
    ((u64::BITS - micros.leading_zeros()) as usize).min(WAIT_BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_has_the_waits_from_where_it_begins_to_where_the_next_one_does() {
        for bucket in 0..WAIT_BUCKETS {
            let from = WaitTimes::bucket_from_ns(bucket);
            assert_eq!(bucket_of(from), bucket);
            if bucket > 0 {
                assert_eq!(bucket_of(from - 1), bucket - 1);
            }
        }
        assert_eq!(bucket_of(u64::MAX), WAIT_BUCKETS - 1);
    }

    #[test]
    fn waits_are_counted_with_the_shortest_and_the_longest() {
        // No other test of this crate waits for a frame.
        for ms in [5, 2, 9] {
            count(WaitKind::Frame, Duration::from_millis(ms));
        }
        let times = of(WaitKind::Frame);
        let of_ns = (times.sum_ns, times.min_ns, times.max_ns, times.count());
        assert_eq!(of_ns, (16_000_000, 2_000_000, 9_000_000, 3));
        assert_eq!((times.buckets[11], times.buckets[13], times.buckets[14]), (1, 1, 1));
    }

    #[test]
    fn each_kind_is_at_the_place_of_its_number() {
        for (place, kind) in WAIT_KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, place);
        }
    }
}
