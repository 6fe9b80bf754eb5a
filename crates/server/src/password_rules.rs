//! A new password against the rules of its account: whether it was used before.

use sql::ast::PasswordRules;
use types::{OwnedValue, TimeZone};
use wire::auth::{AuthPlugin, Password};

use crate::account::Account;
use crate::error_map::{self, SqlError};
use crate::password_history::{Compared, PasswordHistory, ReusePolicy};
use crate::password_policy::PasswordPolicy;
use crate::sysvars::Variables;

/// What a session has to do with it.
pub(crate) struct Setting<'a> {
    /// The server's variables.
    pub(crate) variables: Variables,
    /// The session's.
    pub(crate) zone: &'a TimeZone,
    /// Fails once the session is killed.
    pub(crate) go_on: &'a dyn Fn() -> Result<(), SqlError>,
}

/// Compares `text`, which is to be the account's password, with its former ones. This takes milliseconds for
/// each of them: it is done before the statement's turn to change accounts, for which others wait. `rules`:
/// what the statement changes.
///
/// # Errors
/// When the session is killed.
pub(crate) fn compare_ahead(
    setting: &Setting<'_>,
    account: &Account,
    text: &str,
    rules: &PasswordRules,
) -> Result<Option<Compared>, SqlError> {
    let plugin = account.credential.plugin();
    let policy = setting.reuse_policy(account.password_policy.with(rules));
    match Password::new(text.as_bytes()) {
        Some(password) if !text.is_empty() => {
            account.password_history.compare(policy, (plugin, password), setting.go_on).map(Some)
        }
        _ => Ok(None),
    }
}

/// A password that a statement sets.
pub(crate) struct NewPassword<'a> {
    /// The password, if it is known and was not generated.
    pub(crate) text: Option<&'a str>,
    /// What [`compare_ahead`] has found.
    pub(crate) ahead: Option<&'a Compared>,
    /// The plugin of the account before.
    pub(crate) former_plugin: Option<AuthPlugin>,
    /// The statement has set a password of this account before.
    pub(crate) is_second: bool,
}

/// The history of `account`, which has its new credential and policy already, follows `new`. A history is of
/// one plugin.
///
/// # Errors
/// 3638 for a password that was used before, 1062 for a second one of the same statement.
pub(crate) fn renew_history(
    setting: &Setting<'_>,
    account: &mut Account,
    new: NewPassword<'_>,
) -> Result<(), SqlError> {
    let plugin = account.credential.plugin();
    if new.former_plugin.is_some_and(|former| former != plugin) {
        account.password_history = PasswordHistory::default();
    }
    if !plugin.takes_passwords() || !account.credential.has_password() {
        return Ok(());
    }
    let policy = setting.reuse_policy(account.password_policy);
    let history = &account.password_history;
    if new.is_second && !policy.is_off() {
        // As in MySQL, and comparisons while other statements wait stay few.
        return Err(second_password(setting.zone, account));
    }
    if let Some(password) = new.text.and_then(|text| Password::new(text.as_bytes())) {
        let (password, go_on) = ((plugin, password), setting.go_on);
        let is_used = match new.ahead {
            Some(ahead) => history.contains(policy, password, ahead, go_on)?,
            None => history.compare(policy, password, go_on)?.found(),
        };
        if is_used {
            let name = format!("{}@{}", account.user, account.host);
            return Err(error_map::CREDENTIALS_CONTRADICT_TO_HISTORY.with(&[&name]));
        }
    }
    account.password_history = history.renewed(policy, &account.credential);
    Ok(())
}

#[cold]
fn second_password(zone: &TimeZone, account: &Account) -> SqlError {
    let mut name = format!("{}-{}-", account.host, account.user).into_bytes();
    if let [newest, ..] = account.password_history.entries() {
        OwnedValue::DateTime(newest.set_at(zone), 6).as_value().write_text(&mut name);
    }
    let name = String::from_utf8_lossy(&name).into_owned();
    error_map::DUP_ENTRY.with(&[&name, &"password_history.PRIMARY"])
}

impl Setting<'_> {
    fn reuse_policy(&self, of_account: PasswordPolicy) -> ReusePolicy {
        let or_default =
            |own: Option<u16>, name| own.map_or_else(|| self.variables.named(name).as_u64(), u64::from);
        ReusePolicy {
            count: or_default(of_account.history, "password_history"),
            days: or_default(of_account.reuse_days, "password_reuse_interval"),
        }
    }
}
