//! The pace of index builds and rebuilds: see [`DdlThrottle`].
//!
//! A build that has worked for a while rests in proportion, where it holds no latch. It does not rest while
//! others wait for it: not where it keeps writers out, nor when it applies what they have changed meanwhile.

use std::cell::Cell;
use std::time::{Duration, Instant};

use base::sync::Event;

use crate::ddl_throttle::{DdlThrottle, PERCENT_MAX};
use crate::error::{Result, fail_if_interrupted};

/// Less work is followed by no rest.
const WORK_MIN: Duration = Duration::from_millis(1);
/// Between two checks of the kill flag and the setting during a rest.
const SLICE: Duration = Duration::from_millis(10);

/// The pace of one build.
pub(super) struct Pace<'t> {
    throttle: &'t DdlThrottle,
    /// When it began to work after its last rest, if there was a reason to know.
    works_since: Cell<Option<Instant>>,
}

impl<'t> Pace<'t> {
    pub(super) fn new(throttle: &'t DdlThrottle) -> Self {
        Pace { throttle, works_since: Cell::new(None) }
    }

    /// Rests, if enough work was done. The caller holds no latch. Cost: a load where nothing is throttled.
    ///
    /// # Errors
    /// [`trx::Error::Interrupted`].
    #[inline]
    pub(super) fn keep(&self) -> Result<()> {
        if self.throttle.percent() == PERCENT_MAX {
            self.works_since.set(None);
            return Ok(());
        }
        self.rest()
    }

    #[cold]
    #[inline(never)]
    fn rest(&self) -> Result<()> {
        let begins = now();
        let Some(since) = self.works_since.get() else {
            self.works_since.set(Some(begins));
            return Ok(());
        };
        let worked = begins - since;
        if worked < WORK_MIN {
            return Ok(());
        }
        let ended = self.rest_after(worked, begins);
        self.throttle.add_rest(now() - begins);
        self.works_since.set(Some(now()));
        ended
    }

    fn rest_after(&self, worked: Duration, begins: Instant) -> Result<()> {
        let event = Event::new();
        loop {
            let percent = self.throttle.percent();
            let left = (worked * (PERCENT_MAX - percent) / percent).saturating_sub(now() - begins);
            if left.is_zero() {
                return Ok(());
            }
            fail_if_interrupted()?;
            event.wait(event.ticket(), Some(env::deadline_in(left.min(SLICE))));
        }
    }
}

fn now() -> Instant {
    env::deadline_in(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_rests_in_proportion_and_not_at_all_at_100() {
        let throttle = DdlThrottle::default();
        let pace = Pace::new(&throttle);
        let work = || {
            let until = now() + 3 * WORK_MIN;
            while now() < until {
                std::hint::spin_loop();
            }
        };
        for _ in 0..3 {
            work();
            pace.keep().unwrap();
        }
        assert_eq!(throttle.rested_micros(), 0);
        throttle.set_percent(20);
        // What was done before is not charged.
        pace.keep().unwrap();
        assert_eq!(throttle.rested_micros(), 0);
        work();
        pace.keep().unwrap();
        // Three milliseconds and more of work, of which a fifth of all time is made.
        assert!(throttle.rested_micros() >= 12_000, "{}", throttle.rested_micros());
        throttle.set_percent(0);
        assert_eq!(throttle.percent(), 1);
    }
}
