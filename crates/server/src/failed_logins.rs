//! Delays of logins after failed ones, as MySQL's `connection_control` plugin makes them.
//!
//! ```text
//! name known -> too few failures ------------------------> exchange -> counted, or forgotten after a success
//!            -> delayed: no place, until its time is over -^
//!            -> too many are delayed: error 1040
//! ```
//! Failures are counted by the user name and the host of the client. The plugin takes the host of the account
//! where there is one; a client at two hosts could find out by that which names have an account, and lock all
//! hosts of an account out.
//!
//! The delay comes before the server's first answer, and the plugin's after the last. So a client is delayed
//! before it learns whether a fast answer of `caching_sha2_password` was right. A client that leaves in the
//! middle of the exchange has failed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::error_map::{self, SqlError};
use crate::peer::Peer;
use crate::status::Status;
use crate::sysvars::{SetValue, Variables};

const THRESHOLD: &str = "connection_control_failed_connections_threshold";
const MIN_DELAY: &str = "connection_control_min_connection_delay";
const MAX_DELAY: &str = "connection_control_max_connection_delay";

/// Least value of both delays, in ms, and what each further failure adds.
const DELAY_UNIT_MS: u64 = 1000;
/// Largest value of all three variables.
const SETTING_MAX: i64 = i32::MAX as i64;

/// Logins that may be delayed at a time. Each has a thread and a socket.
const DELAYED_MAX: usize = 100;
/// Names whose failures are counted. Beyond these the ones with the fewest and oldest failures are forgotten.
const NAMES_MAX: usize = 8192;
/// Longest user name that has a count of its own, in characters: longer ones have no account.
const NAME_CHARS_MAX: usize = 32;

/// The three variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    threshold: u64,
    min_ms: u64,
    max_ms: u64,
}

impl Settings {
    /// Their values.
    pub(crate) fn of(variables: &Variables) -> Self {
        Settings {
            threshold: variables.named(THRESHOLD).as_u64(),
            min_ms: variables.named(MIN_DELAY).as_u64(),
            max_ms: variables.named(MAX_DELAY).as_u64(),
        }
    }

    /// Whether failures are counted.
    pub(crate) fn counts(self) -> bool {
        self.threshold > 0
    }

    /// How long a login is delayed whose name has failed `failures` times; the plugin's formula.
    pub(crate) fn delay(self, failures: u64) -> Option<Duration> {
        if self.threshold == 0 || failures < self.threshold {
            return None;
        }
        let ms = (failures + 1 - self.threshold).saturating_mul(DELAY_UNIT_MS);
        Some(Duration::from_millis(if ms < self.max_ms { ms.max(self.min_ms) } else { self.max_ms }))
    }
}

/// Failed logins since the last success, and the logins that are delayed for them.
#[derive(Debug, Default)]
pub struct FailedLogins {
    counts: Mutex<Counts>,
    delayed: AtomicUsize,
}

impl FailedLogins {
    /// How often logins as `user` from `peer` have failed since the last success.
    pub(crate) fn failures(&self, user: &str, peer: Peer) -> u64 {
        self.counts.lock().failures(&name(user, peer))
    }

    /// Counts a login as `user` that has failed, or forgets the failures before one that has not.
    pub(crate) fn record(&self, user: &str, peer: Peer, succeeded: bool) {
        let name = name(user, peer);
        let mut counts = self.counts.lock();
        if succeeded {
            counts.by_name.remove(&name);
        } else {
            counts.failed(name);
        }
    }

    /// One more login is delayed; false if it is one too many. [`FailedLogins::end_delay`] follows in either
    /// case.
    pub(crate) fn begin_delay(&self) -> bool {
        self.delayed.fetch_add(1, Ordering::Relaxed) < DELAYED_MAX
    }

    /// A login is delayed no longer.
    pub(crate) fn end_delay(&self) {
        self.delayed.fetch_sub(1, Ordering::Relaxed);
    }

    /// A new threshold begins to count again.
    pub(crate) fn changed(&self, status: &Status, variable: &str) {
        if variable == THRESHOLD {
            *self.counts.lock() = Counts::default();
            status.login_delays.store(0, Ordering::Relaxed);
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    by_name: HashMap<String, Count>,
    /// Failures of all names so far.
    clock: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Count {
    failures: u64,
    /// The clock at the last one.
    last: u64,
}

impl Counts {
    fn failures(&self, name: &str) -> u64 {
        self.by_name.get(name).map_or(0, |count| count.failures)
    }

    fn failed(&mut self, name: String) {
        if self.by_name.len() >= NAMES_MAX && !self.by_name.contains_key(&name) {
            self.forget_some();
        }
        self.clock += 1;
        let count = self.by_name.entry(name).or_default();
        *count = Count { failures: count.failures + 1, last: self.clock };
    }

    /// Forgets an eighth of the names, those with the fewest and oldest failures. Cost: linear, at most once
    /// in `NAMES_MAX / 8` failures.
    fn forget_some(&mut self) {
        let mut counts: Vec<Count> = self.by_name.values().copied().collect();
        let (_, &mut cut, _) = counts.select_nth_unstable(NAMES_MAX / 8);
        self.by_name.retain(|_, count| *count >= cut);
    }
}

/// Error 1231 for a value that these variables do not take; other variables clamp it.
pub(crate) fn refuse_setting(variables: &Variables, name: &str, set: &SetValue) -> Result<(), SqlError> {
    let setting = |name| variables.named(name).as_u64() as i64;
    let allowed = match name {
        THRESHOLD => 0..=SETTING_MAX,
        MIN_DELAY => DELAY_UNIT_MS as i64..=setting(MAX_DELAY),
        MAX_DELAY => setting(MIN_DELAY)..=SETTING_MAX,
        _ => return Ok(()),
    };
    match *set {
        SetValue::Int(value) if !allowed.contains(&value) => Err(wrong_value(name, &value)),
        SetValue::UInt(value) => Err(wrong_value(name, &value)),
        _ => Ok(()),
    }
}

#[cold]
fn wrong_value(name: &str, value: &dyn std::fmt::Display) -> SqlError {
    error_map::WRONG_VALUE_FOR_VAR.with(&[&name, value])
}

/// What failures are counted by.
fn name(user: &str, peer: Peer) -> String {
    let user: String = user.chars().take(NAME_CHARS_MAX).collect();
    format!("'{user}'@'{}'", peer.host())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_by_a_second_between_their_bounds() {
        let delays = |threshold, min_ms, max_ms| {
            let settings = Settings { threshold, min_ms, max_ms };
            [0, 2, 3, 4, 5, 6].map(|failures| settings.delay(failures).map_or(0, |delay| delay.as_millis()))
        };
        assert_eq!(delays(3, 1000, 1 << 30), [0, 0, 1000, 2000, 3000, 4000]);
        assert_eq!(delays(3, 2500, 1 << 30), [0, 0, 2500, 2500, 3000, 4000]);
        assert_eq!(delays(3, 1000, 3000), [0, 0, 1000, 2000, 3000, 3000]);
        assert_eq!(delays(1, 1000, 1000), [0, 1000, 1000, 1000, 1000, 1000]);
        assert_eq!(delays(0, 1000, 1000), [0; 6]);
    }

    #[test]
    fn names_are_clipped_and_have_the_clients_host() {
        let long = "u".repeat(100_000);
        let peer = Peer::Remote("10.0.0.1".parse().unwrap());
        assert_eq!(name(&long, peer), format!("'{}'@'10.0.0.1'", "u".repeat(32)));
        assert_eq!(name("bob", Peer::Local), "'bob'@'localhost'");
    }

    #[test]
    fn the_names_that_failed_most_are_remembered() {
        let mut counts = Counts::default();
        (0..5).for_each(|_| counts.failed("target".to_owned()));
        for i in 0..3 * NAMES_MAX {
            counts.failed(format!("noise{i}"));
            assert!(counts.by_name.len() <= NAMES_MAX);
        }
        assert_eq!(counts.failures("target"), 5);
        assert_eq!(counts.failures("noise0"), 0);
        assert_eq!(counts.failures(&format!("noise{}", 3 * NAMES_MAX - 1)), 1);
    }
}
