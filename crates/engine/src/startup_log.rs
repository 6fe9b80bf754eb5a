//! Where the engine reports what no statement's answer can report.

use std::sync::Arc;

use env::{Clock, RealClock};

/// Where a startup reports its progress, and later what no statement's answer can report: lines for people.
pub trait StartupLog: Send + Sync + std::fmt::Debug {
    /// One line.
    fn note(&self, line: &str);
}

/// Reports nothing.
#[derive(Debug)]
pub(crate) struct NoStartupLog;

impl StartupLog for NoStartupLog {
    fn note(&self, _line: &str) {}
}

/// Seconds between two lines about the same work.
const NOTE_SECONDS: u64 = 5;

/// Lines about work of a known amount: done so far, and how long the rest may take.
pub(crate) struct Pace {
    log: Arc<dyn StartupLog>,
    began_ns: u64,
    noted_ns: u64,
}

impl Pace {
    pub(crate) fn new(log: &Arc<dyn StartupLog>) -> Self {
        let now = RealClock.monotonic_ns();
        Pace { log: Arc::clone(log), began_ns: now, noted_ns: now }
    }

    /// Notes that `done` of `total` of `what` are done, unless the last note is recent.
    pub(crate) fn report(&mut self, what: &str, done: u64, total: u64) {
        let now = RealClock.monotonic_ns();
        if now - self.noted_ns < NOTE_SECONDS * 1_000_000_000 || done == 0 {
            return;
        }
        self.noted_ns = now;
        let seconds = u128::from(now - self.began_ns) * u128::from(total.saturating_sub(done))
            / u128::from(done)
            / 1_000_000_000;
        let percent = 100 * done / total.max(1);
        self.log.note(&format!("recovery: {what}: {percent} % done, about {seconds} s left"));
    }
}
