//! CREATE ROLE, and what dropped and renamed accounts are to those that are granted them.

use std::collections::HashSet;
use std::sync::Arc;

use sql::ast;
use wire::auth::{AuthPlugin, Credential};

use super::name::RoleName;
use crate::account::{Account, Accounts};
use crate::account_change::AccountChange;
use crate::account_directory::Directory;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::privilege::{DynamicSet, Privileges, ensure_one_of};
use crate::session::Session;
use crate::user_statement::name_of;

/// CREATE ROLE, of all roles or none: locked accounts without a password, which is expired.
///
/// # Errors
/// 1227 without CREATE ROLE and CREATE USER; 1396 for names that are taken or empty.
pub(crate) fn create(
    session: &mut Session,
    roles: &[ast::Account<'_>],
    if_not_exists: bool,
) -> Result<(), SqlError> {
    let allowed = Privileges::CREATE_USER | Privileges::CREATE_ROLE;
    ensure_one_of(session, allowed, DynamicSet::default(), "CREATE USER, CREATE ROLE")?;
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    let mut failed = Vec::new();
    for role in roles {
        let (user, host) = name_of(session, role)?;
        let name = format!("'{user}'@'{host}'");
        if user.is_empty() {
            failed.push("anonymous user".to_owned());
        } else if change.find(&user, &host).is_none() {
            let mut account = Account::new(user, host, Credential::empty(AuthPlugin::CachingSha2));
            account.locked = true;
            account.password_age.is_expired = true;
            change.put(account);
        } else if if_not_exists {
            session.warn(Severity::Note, error_map::USER_ALREADY_EXISTS.with(&[&name]));
        } else {
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        return Err(error_map::CANNOT_USER.with(&[&"CREATE ROLE", &failed.join(",")]));
    }
    change.commit()
}

/// Takes accounts that a statement drops from all that are granted them.
///
/// # Errors
/// 3628 for a mandatory role.
pub(crate) fn forget(
    accounts: &Accounts,
    change: &mut AccountChange<'_>,
    dropped: &[RoleName],
) -> Result<(), SqlError> {
    let directory = accounts.directory();
    if let Some(role) = dropped.iter().find(|role| directory.mandatory().contains(role)) {
        return Err(error_map::MANDATORY_ROLE.with(&[role]));
    }
    let dropped: HashSet<&RoleName> = dropped.iter().collect();
    for account in directory.all() {
        let has_one = account.roles.iter().any(|granted| dropped.contains(&granted.role))
            || account.default_roles.iter().any(|role| dropped.contains(role));
        if has_one && !dropped.contains(&account.role_name()) {
            let mut account = Account::clone(account);
            account.roles.retain(|granted| !dropped.contains(&granted.role));
            account.default_roles.retain(|role| !dropped.contains(role));
            change.put(account);
        }
    }
    Ok(())
}

/// Error 3532 for an account that is granted to another: the grants refer to it by its name.
pub(crate) fn ensure_renamable(directory: &Directory, user: &str, host: &str) -> Result<(), SqlError> {
    let is_this = |role: &RoleName| (role.user.as_str(), role.host.as_str()) == (user, host);
    let is_granted = directory.all().iter().flat_map(|account| &account.roles).any(|g| is_this(&g.role));
    if is_granted { Err(error_map::RENAME_ROLE.bare()) } else { Ok(()) }
}
