//! Requests that keep newcomers out while they wait.
//!
//! A change of a definition does so in attempts: newcomers are held for [`HOLD`], pass during a pause, which
//! gets longer each time, and so on. So a change that waits for an idle transaction blocks others no longer
//! than that. LOCK TABLES holds newcomers until it has its turn.

use std::time::Duration;

use super::{PENDING, PENDING_READ_ONLY, WAITED};

/// How long newcomers are held in an attempt.
const HOLD: Duration = Duration::from_millis(50);
/// The first pause, and the longest.
const PAUSES: (Duration, Duration) = (HOLD, Duration::from_secs(1));

/// A session's pending request that blocks others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// To change the definition.
    Change,
    /// To keep rows from changing while the table is rebuilt.
    Rebuild,
    /// To put in place what was built while others changed rows.
    EndOfBuild,
    /// LOCK TABLES .. WRITE.
    Own,
    /// LOCK TABLES .. READ.
    ReadOnly,
}

impl Request {
    const COUNT: usize = 5;

    /// The mark that keeps newcomers out.
    fn mark(self) -> u64 {
        match self {
            Request::Change | Request::EndOfBuild | Request::Own => PENDING,
            Request::Rebuild | Request::ReadOnly => PENDING_READ_ONLY,
        }
    }

    /// Whether it lets newcomers pass now and then.
    fn pauses(self) -> bool {
        !matches!(self, Request::Own | Request::ReadOnly)
    }
}

/// An attempt to get the lock by keeping newcomers out, and the pause after it.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    /// When it began, in nanoseconds of the monotonic clock.
    began: u64,
    pause: Duration,
}

/// The requests that wait for one lock.
#[derive(Debug, Default)]
pub(super) struct Requests {
    waiting: [u32; Request::COUNT],
    /// Indexes are built while others change rows.
    build_goes_on: bool,
    attempt: Option<Attempt>,
}

/// What [`Requests::marks`] says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// Those that the state of the lock has to have, of all that there are.
    pub(super) marks: u64,
    /// How long, unless requests come or go.
    pub(super) lasting: Duration,
}

impl Requests {
    /// All marks.
    pub(super) const MARKS: u64 = PENDING | PENDING_READ_ONLY | WAITED;

    /// `request` begins to wait.
    pub(super) fn begin(&mut self, request: Request) {
        self.waiting[request as usize] += 1;
    }

    /// `request` waits no more, as it `has` the lock or has given up.
    pub(super) fn end(&mut self, request: Request, has: bool) {
        self.waiting[request as usize] -= 1;
        if has && request.pauses() {
            self.attempt = None;
        }
    }

    /// How many wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> u32 {
        self.waiting.iter().sum()
    }

    /// Says whether indexes are built while others change rows. Until that ends no other request can get its
    /// lock, so none keeps others out.
    pub(super) fn set_build_goes_on(&mut self, goes_on: bool) {
        self.build_goes_on = goes_on;
        self.attempt = None;
    }

    /// The current attempt is over, or the pause after it.
    #[cfg(loom)]
    pub(super) fn end_pause(&mut self) {
        if let Some(attempt) = &mut self.attempt {
            attempt.began = attempt.began.saturating_sub(HOLD.as_nanos() as u64);
        }
    }

    /// The marks at the time `now`, in nanoseconds of the monotonic clock.
    pub(super) fn marks(&mut self, now: u64) -> Marks {
        use Request::{Change, EndOfBuild, Own, ReadOnly, Rebuild};
        let counted: &[Request] =
            if self.build_goes_on { &[EndOfBuild] } else { &[Change, Rebuild, EndOfBuild, Own, ReadOnly] };
        let waiting = counted.iter().filter(|&&request| self.waiting[request as usize] > 0);
        let of = |pauses| {
            let those = waiting.clone().filter(|request| request.pauses() == pauses);
            those.fold(0, |marks, request| marks | request.mark())
        };
        let (changing, holding) = (of(true), of(false));
        if changing == 0 {
            return Marks { marks: marks_of(holding, holding), lasting: Duration::MAX };
        }
        let (holds, lasting) = self.attempt_at(now);
        let held = if holds { changing | holding } else { holding };
        Marks { marks: marks_of(held, changing | holding), lasting }
    }

    /// Whether newcomers are held at the time `now`, and how long that lasts. A new attempt begins after a
    /// pause.
    fn attempt_at(&mut self, now: u64) -> (bool, Duration) {
        let (shortest, longest) = PAUSES;
        let pause = match self.attempt {
            None => shortest,
            Some(Attempt { began, pause }) => {
                let gone = Duration::from_nanos(now.saturating_sub(began));
                if let Some(left) = HOLD.checked_sub(gone).filter(|left| !left.is_zero()) {
                    return (true, left);
                }
                if let Some(left) = (HOLD + pause).checked_sub(gone).filter(|left| !left.is_zero()) {
                    return (false, left);
                }
                longest.min(pause * 2)
            }
        };
        self.attempt = Some(Attempt { began: now, pause });
        (true, HOLD)
    }
}

/// `held`, and the mark of a waiter if any of `wanted` is set.
fn marks_of(held: u64, wanted: u64) -> u64 {
    if wanted == 0 { 0 } else { held | WAITED }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(requests: &mut Requests, ms: u64) -> (u64, u64) {
        let Marks { marks, lasting } = requests.marks(ms * MS);
        (marks, u64::try_from(lasting.as_millis()).unwrap_or(u64::MAX))
    }

    #[test]
    fn a_change_holds_newcomers_for_a_moment_and_pauses_longer_each_time() {
        let mut requests = Requests::default();
        assert_eq!(at(&mut requests, 0), (0, u64::MAX));
        requests.begin(Request::Change);
        let (held, passing) = (PENDING | WAITED, WAITED);
        assert_eq!(at(&mut requests, 7), (held, 50));
        assert_eq!([at(&mut requests, 37), at(&mut requests, 57)], [(held, 20), (passing, 50)]);
        assert_eq!([at(&mut requests, 106), at(&mut requests, 107)], [(passing, 1), (held, 50)]);
        assert_eq!([at(&mut requests, 157), at(&mut requests, 257)], [(passing, 100), (held, 50)]);
        requests.begin(Request::Rebuild);
        assert_eq!(at(&mut requests, 258), (held | PENDING_READ_ONLY, 49));
        requests.end(Request::Change, false);
        assert_eq!(at(&mut requests, 306), (PENDING_READ_ONLY | WAITED, 1));
        assert_eq!(at(&mut requests, 307), (passing, 200));
        let mut now = 507;
        for pause in [400, 800, 1000, 1000] {
            assert_eq!(at(&mut requests, now), (PENDING_READ_ONLY | WAITED, 50));
            assert_eq!(at(&mut requests, now + 50), (passing, pause));
            now += 50 + pause;
        }
        requests.end(Request::Rebuild, true);
        assert_eq!(at(&mut requests, now), (0, u64::MAX));
        requests.begin(Request::Change);
        at(&mut requests, now);
        assert_eq!(at(&mut requests, now + 50), (passing, 50), "the next one begins anew");
    }

    #[test]
    fn lock_tables_holds_newcomers_all_the_time() {
        let mut requests = Requests::default();
        requests.begin(Request::ReadOnly);
        assert_eq!(at(&mut requests, 0), (PENDING_READ_ONLY | WAITED, u64::MAX));
        requests.begin(Request::Change);
        assert_eq!(at(&mut requests, 1), (PENDING | PENDING_READ_ONLY | WAITED, 50));
        assert_eq!(at(&mut requests, 60), (PENDING_READ_ONLY | WAITED, 41));
        requests.begin(Request::Own);
        assert_eq!(at(&mut requests, 60), (PENDING | PENDING_READ_ONLY | WAITED, 41));
    }

    #[test]
    fn while_a_build_lets_others_change_rows_only_its_end_holds_newcomers() {
        let mut requests = Requests::default();
        requests.begin(Request::Own);
        requests.begin(Request::Rebuild);
        requests.set_build_goes_on(true);
        assert_eq!(at(&mut requests, 0), (0, u64::MAX));
        requests.begin(Request::EndOfBuild);
        assert_eq!([at(&mut requests, 9), at(&mut requests, 59)], [(PENDING | WAITED, 50), (WAITED, 50)]);
        requests.end(Request::EndOfBuild, true);
        requests.set_build_goes_on(false);
        assert_eq!(at(&mut requests, 60), (PENDING | PENDING_READ_ONLY | WAITED, 50));
    }
}
