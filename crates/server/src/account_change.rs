//! The accounts that one statement changes: all of them, or none.

use std::sync::Arc;

use parking_lot::MutexGuard;

use crate::account::{Account, AccountStep, Accounts};
use crate::error_map::SqlError;

/// Changes of accounts before they are made.
pub(crate) struct AccountChange<'s> {
    accounts: &'s Accounts,
    /// No other statement changes accounts meanwhile.
    _turn: MutexGuard<'s, ()>,
    steps: Vec<AccountStep>,
}

impl<'s> AccountChange<'s> {
    /// No change yet.
    pub(crate) fn new(accounts: &'s Accounts) -> Self {
        AccountChange { accounts, _turn: accounts.begin_change(), steps: Vec::new() }
    }

    /// The account `'user'@'host'` as the changes so far leave it.
    pub(crate) fn find(&self, user: &str, host: &str) -> Option<Account> {
        match self.steps.iter().rev().find(|step| is_of(step, user, host)) {
            Some(AccountStep::Put(account)) => Some(Account::clone(account)),
            Some(AccountStep::Remove(..)) => None,
            None => self.accounts.find(user, host).map(Arc::unwrap_or_clone),
        }
    }

    /// Whether the changes so far have set a password of `account` that its history keeps.
    pub(crate) fn has_new_password(&self, account: &Account) -> bool {
        let before = self.accounts.find(&account.user, &account.host);
        let newest = account.password_history.entries().first();
        newest.is_some() && before.is_some_and(|before| newest != before.password_history.entries().first())
    }

    /// Adds the account or replaces the one of the same name. A statement that names an account again and
    /// again keeps one copy of it.
    pub(crate) fn put(&mut self, account: Account) {
        let last = self.steps.iter_mut().rev().find(|step| is_of(step, &account.user, &account.host));
        match last {
            Some(AccountStep::Put(earlier)) => **earlier = account,
            _ => self.steps.push(AccountStep::Put(Box::new(account))),
        }
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
        if self.steps.is_empty() { Ok(()) } else { self.accounts.change(self.steps) }
    }
}

/// Whether `step` is about the account `'user'@'host'`.
fn is_of(step: &AccountStep, user: &str, host: &str) -> bool {
    let (known_user, known_host) = step.name();
    known_user == user && known_host.eq_ignore_ascii_case(host)
}
