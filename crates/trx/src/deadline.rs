//! When a wait gives up.

use std::time::Duration;

use base::sync::plain::{Condvar, MutexGuard};
use env::{Clock, RealClock};

/// The end of a wait, on the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(u64);

impl Deadline {
    /// `timeout` from now; beyond the clock's end is its end.
    pub(crate) fn after(timeout: Duration) -> Self {
        let timeout = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        Deadline(RealClock.monotonic_ns().saturating_add(timeout))
    }

    /// Waits for a notification, for `slice` at most; whether the deadline has passed. A wake-up without
    /// cause is possible.
    pub(crate) fn wait_up_to<T>(
        self,
        slice: Duration,
        condvar: &Condvar,
        guard: &mut MutexGuard<'_, T>,
    ) -> bool {
        let left = self.0.saturating_sub(RealClock.monotonic_ns());
        if left > 0 {
            condvar.wait_for(guard, Duration::from_nanos(left).min(slice));
        }
        left == 0
    }
}
