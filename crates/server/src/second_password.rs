//! Second passwords: RETAIN CURRENT PASSWORD keeps the current one beside a new one, so that clients can
//! change over one by one.

use sql::ast::SecondPassword;
use wire::auth::Credential;

use crate::account::Account;
use crate::error_map::{self, SqlError};

/// Sets the second password of `account`, whose credential was `former`. A new plugin and no password discard
/// it.
///
/// # Errors
/// 3878, 3894 and 3895 for a password that cannot be retained.
pub(crate) fn follow(
    account: &mut Account,
    former: &Credential,
    said: SecondPassword,
) -> Result<(), SqlError> {
    let keeps_plugin = former.plugin() == account.credential.plugin();
    match said {
        SecondPassword::Retain => {
            ensure_retainable(account, former, keeps_plugin)?;
            account.second_password = Some(former.clone());
        }
        SecondPassword::Discard => account.second_password = None,
        SecondPassword::Unsaid if keeps_plugin && account.credential.has_password() => {}
        SecondPassword::Unsaid => account.second_password = None,
    }
    Ok(())
}

fn ensure_retainable(account: &Account, former: &Credential, keeps_plugin: bool) -> Result<(), SqlError> {
    let error = if !keeps_plugin {
        &error_map::PASSWORD_CANNOT_BE_RETAINED_ON_PLUGIN_CHANGE
    } else if !former.plugin().takes_passwords() || !former.has_password() {
        &error_map::SECOND_PASSWORD_CANNOT_BE_EMPTY
    } else if !account.credential.has_password() {
        &error_map::CURRENT_PASSWORD_CANNOT_BE_RETAINED
    } else {
        return Ok(());
    };
    Err(error.with(&[&account.user, &account.host]))
}
