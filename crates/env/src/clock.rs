//! Time.

use std::fmt::Debug;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use base::sync::sim;

/// A point in civil time, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime {
    /// Seconds since 1970-01-01 00:00:00 UTC, leap seconds not counted.
    pub seconds: i64,
    /// Microseconds within the second, 0..1,000,000.
    pub micros: u32,
}

/// Source of time.
pub trait Clock: Send + Sync + Debug {
    /// Nanoseconds since an arbitrary start; never goes back.
    fn monotonic_ns(&self) -> u64;

    /// Civil time; may jump when the machine's clock is set.
    fn wall(&self) -> WallTime;
}

/// Civil time at the start of a simulation, in seconds since 1970.
const SIMULATED_START_SECONDS: i64 = 1_600_000_000;

/// The machine's clocks; in a simulation, its clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealClock;

impl Clock for RealClock {
    fn monotonic_ns(&self) -> u64 {
        if let Some((_, now_ns)) = sim::now() {
            return now_ns;
        }
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().as_nanos() as u64
    }

    fn wall(&self) -> WallTime {
        if let Some((_, now_ns)) = sim::now() {
            return wall_after(SIMULATED_START_SECONDS, now_ns);
        }
        // Asked directly: this is done for every commit.
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        // A clock before 1970 is wrong; 0 is as wrong as any other answer.
        let seconds = now.tv_sec.max(0);
        WallTime { seconds, micros: if now.tv_sec < 0 { 0 } else { now.tv_nsec as u32 / 1000 } }
    }
}

/// The instant `wait` from now, for the timed waits of `base::sync`.
pub fn deadline_in(wait: Duration) -> Instant {
    sim::now().map_or_else(Instant::now, |(now, _)| now) + wait
}

/// Civil time `ns` nanoseconds after `start_seconds`.
fn wall_after(start_seconds: i64, ns: u64) -> WallTime {
    let seconds = start_seconds + (ns / 1_000_000_000) as i64;
    WallTime { seconds, micros: (ns % 1_000_000_000 / 1000) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_time_does_not_go_back() {
        let before = RealClock.monotonic_ns();
        assert!(RealClock.monotonic_ns() >= before);
        assert!(RealClock.wall().seconds > 1_600_000_000);
    }
}
