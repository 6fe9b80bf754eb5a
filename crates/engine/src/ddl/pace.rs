//! The pace of index builds and rebuilds: see [`DdlThrottle`].
//!
//! A build that has worked for a while rests in proportion, where it holds no latch, if a transaction has
//! begun to change rows meanwhile. It does not rest while others wait for it: not where it keeps writers out,
//! nor when it applies what they have changed.

use std::cell::Cell;
use std::time::{Duration, Instant};

use base::TrxId;
use base::sync::Event;
use trx::TrxSystem;

use crate::ddl_throttle::{DdlThrottle, PERCENT_MAX};
use crate::error::{Result, fail_if_interrupted};

/// Less work is followed by no rest.
const WORK_MIN: Duration = Duration::from_millis(1);
/// More work is followed by no longer rest: nobody may have changed rows for most of it.
const WORK_MAX: Duration = Duration::from_millis(100);
/// Between two checks of the kill flag and the setting during a rest.
const SLICE: Duration = Duration::from_millis(10);

/// The pace of one build.
pub(super) struct Pace<'t> {
    throttle: &'t DdlThrottle,
    trx: &'t TrxSystem,
    /// The id that the next transaction was to get after the last rest.
    next_id: Cell<TrxId>,
    /// When it began to work after its last rest, if there was a reason to know.
    works_since: Cell<Option<Instant>>,
}

impl<'t> Pace<'t> {
    pub(super) fn new(throttle: &'t DdlThrottle, trx: &'t TrxSystem) -> Self {
        Pace { throttle, trx, next_id: Cell::new(trx.next_id()), works_since: Cell::new(None) }
    }

    /// Rests, if enough work was done. The caller holds no latch. Cost: one load where nothing is throttled,
    /// two while nobody changes rows.
    ///
    /// # Errors
    /// [`trx::Error::Interrupted`].
    #[inline]
    pub(super) fn keep(&self) -> Result<()> {
        if self.throttle.percent() == PERCENT_MAX {
            self.works_since.set(None);
            return Ok(());
        }
        if self.trx.next_id() == self.next_id.get() {
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
        let worked = (begins - since).min(WORK_MAX);
        if worked < WORK_MIN {
            return Ok(());
        }
        let ended = self.rest_after(worked, begins);
        self.throttle.add_rest(now() - begins);
        self.works_since.set(Some(now()));
        self.next_id.set(self.trx.next_id());
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
    use std::sync::Arc;

    use trx::BeginOptions;

    use super::*;
    use crate::engine::Engine;
    use crate::tests::support::config;

    #[test]
    fn a_build_rests_in_proportion_while_others_change_rows_and_not_at_all_at_100() {
        let disk = Arc::new(env::SimDisk::seeded(1));
        let engine = Engine::open(config(&disk)).unwrap();
        let throttle = DdlThrottle::default();
        throttle.set_percent(100);
        let pace = Pace::new(&throttle, &engine.trx);
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
        for _ in 0..2 {
            work();
            pace.keep().unwrap();
        }
        assert_eq!(throttle.rested_micros(), 0, "nobody changes rows");
        engine.begin(BeginOptions::default()).begin_write().unwrap();
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
