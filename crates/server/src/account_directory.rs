//! All accounts at a moment, by host and by name.

use std::cmp::Reverse;
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

    /// Adds the account or replaces the one of the same name.
    pub(crate) fn put(&mut self, account: Account) {
        let account = Arc::new(account);
        match self.place(&account.user, &account.host) {
            Ok(at) => self.sorted[at] = Arc::clone(&account),
            Err(at) => self.sorted.insert(at, Arc::clone(&account)),
        }
        self.by_name.insert(key(&account.user, &account.host), account);
    }

    /// Removes the account, if there is one.
    pub(crate) fn remove(&mut self, user: &str, host: &str) {
        self.by_name.remove(&key(user, host));
        if let Ok(at) = self.place(user, host) {
            self.sorted.remove(at);
        }
    }

    /// The position of the account, or the one that it would have.
    fn place(&self, user: &str, host: &str) -> Result<usize, usize> {
        self.sorted.binary_search_by(|known| order(&known.user, &known.host).cmp(&order(user, host)))
    }
}

/// Orders accounts by how specific their hosts are, then named users before the anonymous one.
fn order<'n>(user: &'n str, host: &'n str) -> (Reverse<usize>, bool, &'n str, &'n str) {
    let specific = host.find(['%', '_']).unwrap_or(usize::MAX);
    (Reverse(specific), user.is_empty(), host, user)
}

fn key(user: &str, host: &str) -> String {
    format!("{user}\0{}", host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use base::prng::Prng;
    use wire::auth::{AuthPlugin, Credential};

    use super::*;

    #[test]
    fn both_orders_hold_the_same_accounts_after_any_changes() {
        let prng = &mut Prng::new(7);
        let mut directory = Directory::default();
        for _ in 0..2000 {
            let user = ["", "a", "b", "c"][prng.below(4) as usize];
            let host = ["%", "localhost", "10.0.%", "10.0.0.1", "_", "10.%"][prng.below(6) as usize];
            if prng.below(3) == 0 {
                directory.remove(user, host);
                assert!(directory.find(user, host).is_none());
            } else {
                let credential = Credential::empty(AuthPlugin::Native);
                directory.put(Account::new(user.to_owned(), host.to_owned(), credential));
            }
            assert_eq!(directory.sorted.len(), directory.by_name.len());
            assert!(directory.sorted.is_sorted_by_key(|a| order(&a.user, &a.host)));
            let is_found = |a: &Arc<Account>| Arc::ptr_eq(a, directory.find(&a.user, &a.host).unwrap());
            assert!(directory.sorted.iter().all(is_found));
        }
    }
}
