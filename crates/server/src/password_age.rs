//! How old an account's password is, and when it expires.

use std::time::{SystemTime, UNIX_EPOCH};

use sql::ast::PasswordExpire;

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// How long a password lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// That of `default_password_lifetime`.
    #[default]
    Default,
    /// No limit.
    Never,
    /// Lifetime in days.
    Days(u16),
}

impl Lifetime {
    /// In days, 0 for ever; `None` for the server's.
    pub(crate) fn days(self) -> Option<u16> {
        match self {
            Lifetime::Default => None,
            Lifetime::Never => Some(0),
            Lifetime::Days(days) => Some(days),
        }
    }
}

/// Age of an account's password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PasswordAge {
    /// When it was set, in seconds since 1970. 0: before that was kept; it does not expire by its age.
    pub set_at: u64,
    /// PASSWORD EXPIRE: another one has to be set.
    pub is_expired: bool,
    /// How long it lasts.
    pub lifetime: Lifetime,
}

impl PasswordAge {
    /// The password is set again, now.
    pub(crate) fn renew(&mut self) {
        self.set_at = now();
        self.is_expired = false;
    }

    /// A statement's PASSWORD EXPIRE.
    pub(crate) fn apply(&mut self, expire: PasswordExpire) {
        match expire {
            PasswordExpire::Now => self.is_expired = true,
            PasswordExpire::Default => self.lifetime = Lifetime::Default,
            PasswordExpire::Never => self.lifetime = Lifetime::Never,
            PasswordExpire::Days(days) => {
                self.lifetime = Lifetime::Days(u16::try_from(days).unwrap_or(u16::MAX));
            }
        }
    }

    /// Whether another password has to be set now. `default_days`: `default_password_lifetime`, 0 for ever.
    pub(crate) fn has_passed(&self, default_days: u64) -> bool {
        self.has_passed_at(default_days, now())
    }

    fn has_passed_at(&self, default_days: u64, now: u64) -> bool {
        let days = self.lifetime.days().map_or(default_days, u64::from);
        let is_old = days > 0 && self.set_at > 0 && now >= self.set_at + days * SECONDS_PER_DAY;
        self.is_expired || is_old
    }

    /// As bytes: when it was set, whether it is expired, then the lifetime in days if the account has its own
    /// (0 for ever); little-endian.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = self.set_at.to_le_bytes().to_vec();
        bytes.push(self.is_expired.into());
        bytes.extend(self.lifetime.days().iter().flat_map(|days| days.to_le_bytes()));
        bytes
    }

    /// Reads what [`PasswordAge::encode`] has written.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (set_at, rest) = bytes.split_first_chunk()?;
        let (is_expired, days) = rest.split_first()?;
        let lifetime = match days {
            [] => Lifetime::Default,
            [0, 0] => Lifetime::Never,
            &[low, high] => Lifetime::Days(u16::from_le_bytes([low, high])),
            _ => return None,
        };
        Some(PasswordAge { set_at: u64::from_le_bytes(*set_at), is_expired: *is_expired != 0, lifetime })
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_survives_being_stored() {
        for lifetime in [Lifetime::Default, Lifetime::Never, Lifetime::Days(1), Lifetime::Days(u16::MAX)] {
            for is_expired in [false, true] {
                let age = PasswordAge { set_at: 1 << 40, is_expired, lifetime };
                assert_eq!(PasswordAge::decode(&age.encode()), Some(age));
            }
        }
        assert_eq!(PasswordAge::decode(&[0; 8]), None);
        assert_eq!(PasswordAge::decode(&[0; 10]), None);
    }

    #[test]
    fn a_password_lasts_as_long_as_the_account_or_else_the_server_says() {
        let set_at = 1_000;
        let passed = |lifetime, default_days, days: u64| {
            let age = PasswordAge { set_at, is_expired: false, lifetime };
            age.has_passed_at(default_days, set_at + days * SECONDS_PER_DAY)
        };
        assert!(passed(Lifetime::Days(3), 0, 3) && !passed(Lifetime::Days(3), 1, 2));
        assert!(passed(Lifetime::Default, 2, 2) && !passed(Lifetime::Default, 0, 9_999));
        assert!(!passed(Lifetime::Never, 1, 9_999));
        let unknown = PasswordAge::default();
        assert!(!unknown.has_passed_at(1, 9 * SECONDS_PER_DAY));
        assert!(PasswordAge { is_expired: true, ..unknown }.has_passed_at(0, 0));
    }
}
