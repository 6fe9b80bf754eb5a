//! FAILED_LOGIN_ATTEMPTS and PASSWORD_LOCK_TIME: consecutive failed logins lock an account for a number of
//! days.
//!
//! Failures are counted in memory, as in MySQL: a new start of the server, FLUSH PRIVILEGES, ACCOUNT UNLOCK
//! and a change of these options start again; a new password and a new name do not.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use sql::ast::PasswordLockTime;

use crate::error_map::{self, SqlError};
use crate::peer::Peer;

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;
/// How days without end are written.
const UNBOUNDED: i16 = -1;

/// The two options of an account and its failures so far, which all versions of the account share.
#[derive(Clone, Debug, Default)]
pub struct Lockout {
    /// Failures that lock; 0: none do.
    attempts: u16,
    /// Days; 0: it is never locked, [`UNBOUNDED`].
    days: i16,
    failures: Arc<Mutex<Failures>>,
}

/// Without the failures, which are not kept.
impl PartialEq for Lockout {
    fn eq(&self, other: &Self) -> bool {
        (self.attempts, self.days) == (other.attempts, other.days)
    }
}

impl Eq for Lockout {}

#[derive(Debug, Default)]
struct Failures {
    /// Wrong passwords in a row.
    count: u16,
    /// The day since 1970 on which the account was locked.
    locked_on: Option<u64>,
}

/// Refuses a login regardless of its password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocked {
    /// For how long from its beginning, and from now on; `None`: for ever.
    days: Option<(u64, u64)>,
    attempts: u16,
}

impl Blocked {
    /// Error 3955.
    pub(crate) fn error(self, user: &str, peer: Peer) -> SqlError {
        let (all, left) = match self.days {
            Some((all, left)) => (all.to_string(), left.to_string()),
            None => ("unlimited".to_owned(), "unlimited".to_owned()),
        };
        error_map::BLOCKED_BY_PASSWORD_LOCK.with(&[&user, &peer.host(), &all, &left, &self.attempts])
    }
}

impl Lockout {
    /// The options as a statement leaves them; what it does not say stays. Failures are forgotten.
    ///
    /// # Errors
    /// 1525 for a number beyond 32767.
    pub(crate) fn with(
        &self,
        attempts: Option<u64>,
        lock_time: Option<PasswordLockTime>,
    ) -> Result<Self, SqlError> {
        let number = |name: &str, value: u64| {
            i16::try_from(value).map_err(|_| error_map::WRONG_VALUE.with(&[&name, &value]))
        };
        let attempts = match attempts {
            Some(attempts) => number("FAILED_LOGIN_ATTEMPTS", attempts)?.unsigned_abs(),
            None => self.attempts,
        };
        let days = match lock_time {
            Some(PasswordLockTime::Days(days)) => number("PASSWORD_LOCK_TIME", days)?,
            Some(PasswordLockTime::Unbounded) => UNBOUNDED,
            None => self.days,
        };
        Ok(Lockout { attempts, days, failures: Arc::default() })
    }

    /// Whether the account has either option.
    pub(crate) fn is_set(&self) -> bool {
        self.attempts != 0 || self.days != 0
    }

    /// The account is not locked, and has not failed.
    pub(crate) fn forget(&self) {
        *self.failures.lock() = Failures::default();
    }

    /// Whether logins are refused now, whatever the password.
    pub(crate) fn is_blocked(&self) -> bool {
        let since = self.failures.lock().locked_on;
        since.is_some_and(|since| self.blocked(since, today()).is_some())
    }

    /// Counts a login. `succeeded`: the password was right.
    pub(crate) fn record(&self, succeeded: bool) -> Result<(), Blocked> {
        if self.attempts == 0 || self.days == 0 {
            return Ok(());
        }
        self.record_on(succeeded, today())
    }

    fn record_on(&self, succeeded: bool, today: u64) -> Result<(), Blocked> {
        let mut failures = self.failures.lock();
        if let Some(since) = failures.locked_on {
            if let Some(blocked) = self.blocked(since, today) {
                return Err(blocked);
            }
            *failures = Failures::default();
        }
        if succeeded {
            failures.count = 0;
            return Ok(());
        }
        failures.count += 1;
        if failures.count < self.attempts {
            return Ok(());
        }
        failures.locked_on = Some(today);
        self.blocked(today, today).map_or(Ok(()), Err)
    }

    /// The lock that began on the day `since_day`, if it lasts on the day `today`.
    fn blocked(&self, since_day: u64, today: u64) -> Option<Blocked> {
        let Ok(all) = u64::try_from(self.days) else {
            return Some(Blocked { days: None, attempts: self.attempts });
        };
        let left = (since_day + all).saturating_sub(today);
        (left > 0).then_some(Blocked { days: Some((all, left)), attempts: self.attempts })
    }

    /// The options as bytes: failures, then days; little-endian.
    pub(crate) fn encode(&self) -> [u8; 4] {
        let ([a, b], [c, d]) = (self.attempts.to_le_bytes(), self.days.to_le_bytes());
        [a, b, c, d]
    }

    /// What [`Lockout::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let &[a, b, c, d] = bytes else { return None };
        let (attempts, days) = (u16::from_le_bytes([a, b]), i16::from_le_bytes([c, d]));
        Some(Lockout { attempts, days, failures: Arc::default() })
    }

    /// The member of `mysql.user.User_attributes`.
    pub(crate) fn to_json(&self) -> String {
        let Lockout { attempts, days, .. } = self;
        format!(
            "\"Password_locking\": {{\"failed_login_attempts\": {attempts}, \"password_lock_time_days\": {days}}}"
        )
    }
}

/// The clauses of SHOW CREATE USER, each after a space.
impl fmt::Display for Lockout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.attempts != 0 {
            write!(f, " FAILED_LOGIN_ATTEMPTS {}", self.attempts)?;
        }
        match self.days {
            0 => Ok(()),
            UNBOUNDED => f.write_str(" PASSWORD_LOCK_TIME UNBOUNDED"),
            days => write!(f, " PASSWORD_LOCK_TIME {days}"),
        }
    }
}

/// Days since 1970.
fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / SECONDS_PER_DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lockout(attempts: u64, days: u64) -> Lockout {
        Lockout::default().with(Some(attempts), Some(PasswordLockTime::Days(days))).unwrap()
    }

    #[test]
    fn so_many_failures_in_a_row_lock_for_so_many_days() {
        let account = lockout(2, 3);
        assert_eq!(account.record_on(false, 10), Ok(()));
        assert_eq!(account.record_on(true, 10), Ok(()), "not two in a row");
        assert_eq!(account.record_on(false, 11), Ok(()));
        let blocked = |left| Err(Blocked { days: Some((3, left)), attempts: 2 });
        assert_eq!(account.record_on(false, 12), blocked(3));
        assert_eq!(account.record_on(true, 14), blocked(1), "though the password is right");
        let renamed = account.clone();
        assert_eq!(renamed.record_on(true, 14), blocked(1));
        assert_eq!(account.record_on(false, 15), Ok(()), "counted anew");
        assert_eq!(account.record_on(false, 15), blocked(3));
        let changed = account.with(None, Some(PasswordLockTime::Unbounded)).unwrap();
        assert_eq!(changed.record_on(false, 15), Ok(()));
        assert_eq!(changed.record_on(false, 15), Err(Blocked { days: None, attempts: 2 }));
        assert_eq!(changed.record_on(true, 40_000), Err(Blocked { days: None, attempts: 2 }));
        changed.forget();
        assert_eq!(changed.record_on(true, 15), Ok(()));
    }

    #[test]
    fn one_option_alone_locks_nothing() {
        for account in [lockout(1, 0), lockout(0, 1), Lockout::default()] {
            (0..9).for_each(|_| assert_eq!(account.record(false), Ok(())));
        }
    }

    #[test]
    fn options_are_read_as_they_were_written() {
        let account = lockout(7, 32767).with(None, Some(PasswordLockTime::Unbounded)).unwrap();
        for account in [account, lockout(32767, 1)] {
            assert_eq!(Lockout::decode(&account.encode()), Some(account));
        }
        assert_eq!(Lockout::decode(&[1, 2, 3]), None);
    }
}
