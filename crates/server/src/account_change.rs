//! The accounts that one statement changes: all of them, or none.

use std::sync::Arc;

use crate::account::{Account, AccountStep};
use crate::error_map::SqlError;
use crate::server::Server;

/// Changes of accounts before they are made.
pub(crate) struct AccountChange {
    server: Arc<Server>,
    steps: Vec<AccountStep>,
}

impl AccountChange {
    /// No change yet.
    pub(crate) fn new(server: &Arc<Server>) -> Self {
        AccountChange { server: Arc::clone(server), steps: Vec::new() }
    }

    /// The account `'user'@'host'` as the changes so far leave it.
    pub(crate) fn find(&self, user: &str, host: &str) -> Option<Account> {
        let is_same = |step: &&AccountStep| {
            let (known_user, known_host) = step.name();
            known_user == user && known_host.eq_ignore_ascii_case(host)
        };
        match self.steps.iter().rev().find(is_same) {
            Some(AccountStep::Put(account)) => Some(account.clone()),
            Some(AccountStep::Remove(..)) => None,
            None => self.server.accounts.find(user, host).map(Arc::unwrap_or_clone),
        }
    }

    /// Adds the account or replaces the one of the same name.
    pub(crate) fn put(&mut self, account: Account) {
        self.steps.push(AccountStep::Put(account));
    }

    /// Removes the account `'user'@'host'`.
    pub(crate) fn remove(&mut self, user: String, host: String) {
        self.steps.push(AccountStep::Remove(user, host));
    }

    /// Makes the changes.
    ///
    /// # Errors
    /// No account has changed then.
    pub(crate) fn commit(self) -> Result<(), SqlError> {
        if self.steps.is_empty() { Ok(()) } else { self.server.accounts.change(self.steps) }
    }
}
