//! All accounts at a moment, by host and by name.

use std::collections::HashMap;
use std::sync::Arc;

use crate::account::Account;
use crate::roles::RoleName;

/// The accounts, and the roles that all of them are granted.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    /// The most specific hosts first, then named users before the anonymous one.
    sorted: Vec<Arc<Account>>,
    /// By user, a zero byte and host.
    by_name: HashMap<String, Arc<Account>>,
    /// `mandatory_roles`, by name. An account of such a name need not exist.
    mandatory: Vec<RoleName>,
}

impl Directory {
    /// A directory of `accounts`, whose names differ.
    pub(crate) fn new(accounts: Vec<Account>) -> Self {
        let mut directory = Directory::default();
        for account in accounts {
            directory.put(account);
        }
        directory.sort();
        directory
    }

    /// Every account, the most specific hosts first.
    pub(crate) fn all(&self) -> &[Arc<Account>] {
        &self.sorted
    }

    /// The account `'user'@'host'`.
    pub(crate) fn find(&self, user: &str, host: &str) -> Option<&Arc<Account>> {
        self.by_name.get(&key(user, host))
    }

    /// The account that is named as a role.
    pub(crate) fn role(&self, role: &RoleName) -> Option<&Arc<Account>> {
        self.find(&role.user, &role.host)
    }

    /// The roles of `mandatory_roles`, in order of their names.
    pub(crate) fn mandatory(&self) -> &[RoleName] {
        &self.mandatory
    }

    /// `roles`: in order of their names.
    pub(crate) fn set_mandatory(&mut self, roles: Vec<RoleName>) {
        self.mandatory = roles;
    }

    /// Adds the account or replaces the one of the same name. [`Directory::sort`] has to follow.
    pub(crate) fn put(&mut self, account: Account) {
        self.by_name.insert(key(&account.user, &account.host), Arc::new(account));
    }

    /// Removes the account, if there is one. [`Directory::sort`] has to follow.
    pub(crate) fn remove(&mut self, user: &str, host: &str) {
        self.by_name.remove(&key(user, host));
    }

    /// Lists the accounts anew, after changes.
    pub(crate) fn sort(&mut self) {
        self.sorted = self.by_name.values().cloned().collect();
        self.sorted.sort_by_cached_key(|a| {
            let wildcard = a.host.find(['%', '_']);
            let specific = wildcard.unwrap_or(usize::MAX);
            (std::cmp::Reverse(specific), a.user.is_empty(), a.host.clone(), a.user.clone())
        });
    }
}

fn key(user: &str, host: &str) -> String {
    format!("{user}\0{}", host.to_ascii_lowercase())
}
