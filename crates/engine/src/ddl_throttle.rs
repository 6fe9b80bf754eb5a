//! How much of its time an index build or a rebuild works, where statements go on beside it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// All of its time, in hundredths.
pub(crate) const ALL: u32 = 100;

/// The setting, and what came of it.
#[derive(Debug)]
pub(crate) struct DdlThrottle {
    percent: AtomicU32,
    rested_micros: AtomicU64,
}

impl Default for DdlThrottle {
    fn default() -> Self {
        DdlThrottle { percent: AtomicU32::new(ALL), rested_micros: AtomicU64::new(0) }
    }
}

impl DdlThrottle {
    /// Hundredths of its time that a build works from now on, 1 to 100.
    pub(crate) fn set_percent(&self, percent: u32) {
        self.percent.store(percent.clamp(1, ALL), Ordering::Relaxed);
    }

    /// How long builds have rested since the start, in microseconds.
    pub(crate) fn rested_micros(&self) -> u64 {
        self.rested_micros.load(Ordering::Relaxed)
    }

    /// Notes a rest.
    pub(crate) fn add_rest(&self, rested: Duration) {
        self.rested_micros.fetch_add(rested.as_micros() as u64, Ordering::Relaxed);
    }

    /// The hundredths, now.
    #[inline]
    pub(crate) fn percent(&self) -> u32 {
        self.percent.load(Ordering::Relaxed)
    }
}
