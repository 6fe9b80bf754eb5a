//! The percentage of its time that an index build or a rebuild works while statements change rows.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// The percentage of a build that never rests.
pub(crate) const PERCENT_MAX: u32 = 100;
/// The percentage unless it is set: at 100 a build of an index may take more than half of two processors from
/// statements.
const PERCENT_DEFAULT: u32 = 50;

/// The setting, and how long builds have rested.
#[derive(Debug)]
pub(crate) struct DdlThrottle {
    percent: AtomicU32,
    rested_micros: AtomicU64,
}

impl Default for DdlThrottle {
    fn default() -> Self {
        DdlThrottle { percent: AtomicU32::new(PERCENT_DEFAULT), rested_micros: AtomicU64::new(0) }
    }
}

impl DdlThrottle {
    /// Sets the percentage, 1 to 100, also for builds in progress.
    pub(crate) fn set_percent(&self, percent: u32) {
        self.percent.store(percent.clamp(1, PERCENT_MAX), Ordering::Relaxed);
    }

    /// How long builds have rested since the start, in microseconds.
    pub(crate) fn rested_micros(&self) -> u64 {
        self.rested_micros.load(Ordering::Relaxed)
    }

    /// Notes a rest.
    pub(crate) fn add_rest(&self, rested: Duration) {
        self.rested_micros.fetch_add(rested.as_micros() as u64, Ordering::Relaxed);
    }

    /// The percentage.
    #[inline]
    pub(crate) fn percent(&self) -> u32 {
        self.percent.load(Ordering::Relaxed)
    }
}
