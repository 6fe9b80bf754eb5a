//! The system variable `partial_revokes`.

use crate::account::Accounts;
use crate::error_map::{self, SqlError};
use crate::sysvars::{SetValue, VarValue, Variables};

const NAME: &str = "partial_revokes";

/// Fails if the variable `name` may not be set so.
///
/// # Errors
/// 3896 where it would be switched off and some account is restricted.
pub(crate) fn refuse_setting(accounts: &Accounts, name: &str, set: &SetValue) -> Result<(), SqlError> {
    if name != NAME || !is_any_restricted(accounts) {
        return Ok(());
    }
    // An invalid value of the variable is refused.
    let switches_off = match set {
        SetValue::Default | SetValue::Int(0) => true,
        SetValue::Text(text) => ["OFF", "FALSE"].iter().any(|known| known.eq_ignore_ascii_case(text)),
        _ => false,
    };
    if switches_off { Err(error_map::PARTIAL_REVOKES_EXIST.bare()) } else { Ok(()) }
}

/// Takes over the variable after `name` has been set.
pub(crate) fn changed(accounts: &Accounts, variables: &Variables, name: &str) {
    if name == NAME {
        accounts.set_partial_revokes(variables.named(NAME).as_bool());
    }
}

/// Takes over the variable at startup. It is on where an account is restricted.
pub(crate) fn configure(accounts: &Accounts, variables: &mut Variables) {
    if is_any_restricted(accounts) {
        variables.put_named(NAME, VarValue::Bool(true));
    }
    changed(accounts, variables, NAME);
}

fn is_any_restricted(accounts: &Accounts) -> bool {
    accounts.directory().all().iter().any(|account| !account.grants.restrictions.is_empty())
}
