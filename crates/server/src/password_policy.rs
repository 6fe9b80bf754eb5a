//! The rules of an account for its new passwords: PASSWORD HISTORY, REUSE INTERVAL and REQUIRE CURRENT.

use std::fmt;

use sql::ast::{PasswordRules, Rule};

/// The rules of one account; `None`: the server's variable decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PasswordPolicy {
    /// Number of the latest passwords that are not used again; 0: any is.
    pub history: Option<u16>,
    /// Days in which a password is not used again; 0: at once it is.
    pub reuse_days: Option<u16>,
    /// Whether the account's own sessions have to give the current password to set another.
    pub requires_current: Option<bool>,
}

const HAS_HISTORY: u8 = 1;
const HAS_REUSE_DAYS: u8 = 2;
const HAS_REQUIRES_CURRENT: u8 = 4;
const REQUIRES_CURRENT: u8 = 8;

impl PasswordPolicy {
    /// The policy as a statement leaves it. Numbers beyond 65535 count as 65535, as in MySQL.
    pub(crate) fn with(self, rules: &PasswordRules) -> Self {
        let number = |number: u64| u16::try_from(number).unwrap_or(u16::MAX);
        PasswordPolicy {
            history: changed(self.history, rules.history, number),
            reuse_days: changed(self.reuse_days, rules.reuse_days, number),
            requires_current: changed(self.requires_current, rules.requires_current, |requires| requires),
        }
    }

    /// As bytes: which rules are the account's own, then the two numbers, little-endian.
    pub(crate) fn encode(self) -> [u8; 5] {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let flags = flag(self.history.is_some(), HAS_HISTORY)
            | flag(self.reuse_days.is_some(), HAS_REUSE_DAYS)
            | flag(self.requires_current.is_some(), HAS_REQUIRES_CURRENT)
            | flag(self.requires_current == Some(true), REQUIRES_CURRENT);
        let [a, b] = self.history.unwrap_or_default().to_le_bytes();
        let [c, d] = self.reuse_days.unwrap_or_default().to_le_bytes();
        [flags, a, b, c, d]
    }

    /// Reads what [`PasswordPolicy::encode`] has written.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let &[flags, a, b, c, d] = bytes else { return None };
        let has = |flag: u8| flags & flag != 0;
        Some(PasswordPolicy {
            history: has(HAS_HISTORY).then(|| u16::from_le_bytes([a, b])),
            reuse_days: has(HAS_REUSE_DAYS).then(|| u16::from_le_bytes([c, d])),
            requires_current: has(HAS_REQUIRES_CURRENT).then(|| has(REQUIRES_CURRENT)),
        })
    }
}

fn changed<T, U>(old: Option<U>, rule: Rule<T>, own: impl Fn(T) -> U) -> Option<U> {
    match rule {
        Rule::Unsaid => old,
        Rule::Default => None,
        Rule::Own(new) => Some(own(new)),
    }
}

/// The clauses of SHOW CREATE USER.
impl fmt::Display for PasswordPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.history {
            Some(count) => write!(f, "PASSWORD HISTORY {count}"),
            None => f.write_str("PASSWORD HISTORY DEFAULT"),
        }?;
        match self.reuse_days {
            Some(days) => write!(f, " PASSWORD REUSE INTERVAL {days} DAY"),
            None => f.write_str(" PASSWORD REUSE INTERVAL DEFAULT"),
        }?;
        f.write_str(match self.requires_current {
            Some(true) => " PASSWORD REQUIRE CURRENT",
            Some(false) => " PASSWORD REQUIRE CURRENT OPTIONAL",
            None => " PASSWORD REQUIRE CURRENT DEFAULT",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_survives_being_stored() {
        for history in [None, Some(0), Some(300), Some(u16::MAX)] {
            for reuse_days in [None, Some(0), Some(1)] {
                for requires_current in [None, Some(false), Some(true)] {
                    let policy = PasswordPolicy { history, reuse_days, requires_current };
                    assert_eq!(PasswordPolicy::decode(&policy.encode()), Some(policy));
                }
            }
        }
        assert_eq!(PasswordPolicy::decode(&[0; 4]), None);
        assert_eq!(PasswordPolicy::decode(&[0; 6]), None);
    }

    #[test]
    fn what_a_statement_does_not_say_stays() {
        let own = PasswordRules {
            history: Rule::Own(70_000),
            reuse_days: Rule::Own(3),
            requires_current: Rule::Own(true),
        };
        let policy = PasswordPolicy::default().with(&own);
        let expected =
            PasswordPolicy { history: Some(u16::MAX), reuse_days: Some(3), requires_current: Some(true) };
        assert_eq!(policy, expected);
        assert_eq!(policy.with(&PasswordRules::default()), expected);
        let rules = PasswordRules { history: Rule::Default, ..PasswordRules::default() };
        assert_eq!(policy.with(&rules), PasswordPolicy { history: None, ..expected });
    }
}
