//! Former passwords of an account, kept so that they are not used again.
//!
//! An account keeps the newest passwords that its policy counts, and those younger than its interval, up to
//! [`ENTRIES_MAX`]. The current password is one of them if it was set while a policy was in force.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use types::{DateTime, TimeZone};
use wire::auth::{AuthPlugin, Credential, Password};

use crate::error_map::SqlError;

/// Most passwords that one account keeps. Each comparison runs SHA-crypt: some milliseconds.
const ENTRIES_MAX: usize = 1024;
const MICROS_PER_SECOND: u64 = 1_000_000;
const MICROS_PER_DAY: u64 = 24 * 60 * 60 * MICROS_PER_SECOND;

/// The kept passwords of one account, newest first, which all versions of the account share.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PasswordHistory(Arc<[Entry]>);

/// One password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// When it was set, in microseconds since 1970; no two of an account are equal.
    set_at: u64,
    /// As the account's plugin stores it.
    pub(crate) stored: Box<[u8]>,
}

impl Entry {
    /// When it was set.
    pub(crate) fn set_at(&self, zone: &TimeZone) -> DateTime {
        let seconds = i64::try_from(self.set_at / MICROS_PER_SECOND).unwrap_or(i64::MAX);
        zone.to_local(seconds, (self.set_at % MICROS_PER_SECOND) as u32)
    }
}

impl fmt::Debug for PasswordHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PasswordHistory({})", self.0.len())
    }
}

/// Which former passwords are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReusePolicy {
    /// How many of the latest ones.
    pub(crate) count: u64,
    /// Those that were set within this many days.
    pub(crate) days: u64,
}

impl ReusePolicy {
    /// Whether any password may be used again.
    pub(crate) fn is_off(self) -> bool {
        self.count == 0 && self.days == 0
    }
}

/// A comparison of a new password that is done.
pub(crate) struct Compared {
    history: PasswordHistory,
    /// For each of the newest passwords, whether it is the new one.
    is_same: Vec<bool>,
}

impl Compared {
    /// Whether the password is one of them.
    pub(crate) fn found(&self) -> bool {
        self.is_same.contains(&true)
    }

    /// Whether the new password is `entry`'s; `None` if they were not compared.
    fn of(&self, entry: &Entry) -> Option<bool> {
        let known = &self.history.0[..self.is_same.len()];
        let at = known.binary_search_by(|other| entry.set_at.cmp(&other.set_at)).ok()?;
        (known[at] == *entry).then(|| self.is_same[at])
    }
}

impl PasswordHistory {
    /// All of it, newest first.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// Those that must not be used again.
    fn counted(&self, policy: ReusePolicy) -> &[Entry] {
        let now = now();
        let since = now.saturating_sub(policy.days.saturating_mul(MICROS_PER_DAY));
        let young = self.0.iter().take_while(|entry| policy.days > 0 && entry.set_at > since).count();
        let latest = usize::try_from(policy.count).unwrap_or(usize::MAX);
        &self.0[..young.max(latest).min(self.0.len())]
    }

    /// Compares a new password with all that must not be used again. The time does not depend on whether it
    /// is found. Cost: some milliseconds for each of them; `go_on` is asked before each.
    pub(crate) fn compare(
        &self,
        policy: ReusePolicy,
        (plugin, password): (AuthPlugin, Password<'_>),
        go_on: impl Fn() -> Result<(), SqlError>,
    ) -> Result<Compared, SqlError> {
        let is_same = self.counted(policy).iter().map(|entry| {
            go_on()?;
            Ok(is_same(entry, (plugin, password)))
        });
        Ok(Compared { is_same: is_same.collect::<Result<_, _>>()?, history: self.clone() })
    }

    /// Whether a new password must not be used. `ahead`: a comparison of the same password with an earlier
    /// state; what it has compared is not compared again.
    pub(crate) fn contains(
        &self,
        policy: ReusePolicy,
        new: (AuthPlugin, Password<'_>),
        ahead: &Compared,
        go_on: impl Fn() -> Result<(), SqlError>,
    ) -> Result<bool, SqlError> {
        let mut found = false;
        for entry in self.counted(policy) {
            found |= if let Some(known) = ahead.of(entry) {
                known
            } else {
                go_on()?;
                is_same(entry, new)
            };
        }
        Ok(found)
    }

    /// The history once `credential`, which has a password, is set: passwords that do not count any more are
    /// forgotten.
    pub(crate) fn renewed(&self, policy: ReusePolicy, credential: &Credential) -> Self {
        if policy.is_off() {
            return PasswordHistory::default();
        }
        let newest = self.0.first().map_or(0, |entry| entry.set_at + 1);
        let set_at = now().max(newest);
        let new = Entry { set_at, stored: credential.to_stored().into() };
        let all = PasswordHistory([&[new], &self.0[..]].concat().into());
        let counted = all.counted(policy);
        PasswordHistory(counted[..counted.len().min(ENTRIES_MAX)].into())
    }

    /// As bytes: for each password when it was set, its length (both little-endian) and what is stored.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in &*self.0 {
            bytes.extend(entry.set_at.to_le_bytes());
            bytes.extend((entry.stored.len() as u16).to_le_bytes());
            bytes.extend(&*entry.stored);
        }
        bytes
    }

    /// Reads what [`PasswordHistory::encode`] has written.
    pub(crate) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let mut entries = Vec::new();
        while !bytes.is_empty() {
            let (set_at, rest) = bytes.split_first_chunk()?;
            let (length, rest) = rest.split_first_chunk()?;
            let (stored, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
            entries.push(Entry { set_at: u64::from_le_bytes(*set_at), stored: stored.into() });
            bytes = rest;
        }
        Some(PasswordHistory(entries.into()))
    }
}

/// Whether `password` is the one of `entry`. Cost: some milliseconds.
fn is_same(entry: &Entry, (plugin, password): (AuthPlugin, Password<'_>)) -> bool {
    let former = Credential::from_stored(plugin, &entry.stored);
    former.is_ok_and(|former| former.accepts_password(password))
}

/// Microseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_map;

    const PLUGIN: AuthPlugin = AuthPlugin::Native;

    fn password(text: &str) -> Password<'_> {
        Password::new(text.as_bytes()).unwrap()
    }

    fn policy(count: u64, days: u64) -> ReusePolicy {
        ReusePolicy { count, days }
    }

    fn after(policy: ReusePolicy, texts: &[&str]) -> PasswordHistory {
        texts.iter().fold(PasswordHistory::default(), |history, text| {
            history.renewed(policy, &Credential::from_password(PLUGIN, password(text)).unwrap())
        })
    }

    fn has(history: &PasswordHistory, policy: ReusePolicy, text: &str) -> bool {
        history.compare(policy, (PLUGIN, password(text)), || Ok(())).unwrap().found()
    }

    #[test]
    fn the_latest_and_the_young_count() {
        let history = after(policy(2, 0), &["a", "b", "c"]);
        assert_eq!(history.entries().len(), 2);
        let counted = |policy| ["a", "b", "c"].map(|text| has(&history, policy, text));
        assert_eq!(counted(policy(2, 0)), [false, true, true]);
        assert_eq!(counted(policy(1, 0)), [false, false, true]);
        assert_eq!(counted(policy(0, 1)), [false, true, true]);
        assert_eq!(counted(policy(0, 0)), [false; 3]);
        let of = |set_at: u64| {
            PasswordHistory([Entry { set_at, ..history.entries()[0].clone() }].as_slice().into())
        };
        let now = now();
        assert!(!has(&of(now - MICROS_PER_DAY - 1), policy(0, 1), "c"), "a day has passed");
        assert!(has(&of(now - MICROS_PER_DAY + 60_000_000), policy(0, 1), "c"));
        assert!(has(&of(now - 9 * MICROS_PER_DAY), policy(1, 1), "c"));
        assert!(has(&of(0), policy(0, u64::MAX), "c") || of(0).counted(policy(0, u64::MAX)).is_empty());
        assert_eq!(after(policy(0, 0), &["a", "b"]), PasswordHistory::default());
    }

    #[test]
    fn a_history_is_bounded() {
        let texts: Vec<String> = (0..ENTRIES_MAX + 5).map(|i| i.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let history = after(policy(u64::MAX, u64::MAX), &texts);
        assert_eq!(history.entries().len(), ENTRIES_MAX);
        assert!(history.entries().is_sorted_by(|a, b| a.set_at > b.set_at));
        let stored = PasswordHistory::decode(&history.encode()).unwrap();
        assert_eq!(stored, history);
        assert!(has(&stored, policy(u64::MAX, 0), "5") && !has(&stored, policy(u64::MAX, 0), "4"));
        let cut = history.encode();
        assert_eq!(PasswordHistory::decode(&cut[..cut.len() - 1]), None);
    }

    #[test]
    fn what_was_compared_is_not_compared_again() {
        let policy = policy(3, 0);
        let history = after(policy, &["a", "b"]);
        let new = |text| (PLUGIN, password(text));
        let stops = || Err(error_map::UNKNOWN.bare());
        for (text, found) in [("a", true), ("x", false)] {
            let ahead = history.compare(policy, new(text), || Ok(())).unwrap();
            assert_eq!(history.contains(policy, new(text), &ahead, stops).unwrap(), found);
            let added = history.renewed(policy, &Credential::from_password(PLUGIN, password("x")).unwrap());
            assert!(added.contains(policy, new(text), &ahead, stops).is_err(), "one is new");
            assert!(added.contains(policy, new(text), &ahead, || Ok(())).unwrap());
            let fresh = PasswordHistory::default();
            assert!(!fresh.contains(policy, new(text), &ahead, stops).unwrap(), "the account is another");
        }
        assert!(history.compare(policy, new("a"), stops).is_err());
    }

    #[test]
    fn a_history_that_has_moved_on_costs_one_comparison_for_each_new_password() {
        let policy = policy(4, 0);
        let history = after(policy, &["a", "b", "c", "d"]);
        let compared = |history: &PasswordHistory, text: &str, ahead: &Compared| {
            let count = std::cell::Cell::new(0);
            let go_on = || {
                count.set(count.get() + 1);
                Ok(())
            };
            let found = history.contains(policy, (PLUGIN, password(text)), ahead, go_on).unwrap();
            (found, count.get())
        };
        let moved = ["x", "y"].iter().fold(history.clone(), |history, text| {
            history.renewed(policy, &Credential::from_password(PLUGIN, password(text)).unwrap())
        });
        for (text, found) in [("a", false), ("b", false), ("c", true), ("d", true), ("x", true), ("z", false)]
        {
            let ahead = history.compare(policy, (PLUGIN, password(text)), || Ok(())).unwrap();
            assert_eq!(compared(&moved, text, &ahead), (found, 2), "{text}");
        }
        // The same time alone is not the same password.
        let ahead = history.compare(policy, (PLUGIN, password("d")), || Ok(())).unwrap();
        let [newest, rest @ ..] = history.entries() else { panic!("the history is empty") };
        let other = Entry { stored: rest[0].stored.clone(), ..newest.clone() };
        let other = PasswordHistory([other].as_slice().into());
        assert_eq!(compared(&other, "d", &ahead), (false, 1));
        assert_eq!(compared(&other, "c", &ahead), (true, 1));
    }
}
