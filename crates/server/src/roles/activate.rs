//! Active roles: SET ROLE, SET DEFAULT ROLE, and those of a login.

use std::sync::Arc;

use sql::ast::{self, RoleChoice};

use super::graph::{all_granted, is_granted};
use super::name::RoleName;
use crate::account::Account;
use crate::account_change::AccountChange;
use crate::account_directory::Directory;
use crate::error_map::{self, SqlError};
use crate::session::Session;
use crate::user_statement::{ensure_may_change, name_of, require_user_admin};

/// The roles that a statement names, in order of the names, each once.
///
/// # Errors
/// 1470.
pub(crate) fn named(session: &Session, written: &[ast::Account<'_>]) -> Result<Vec<RoleName>, SqlError> {
    let mut roles = Vec::with_capacity(written.len());
    for role in written {
        let (user, host) = name_of(session, role)?;
        roles.push(RoleName { user, host });
    }
    roles.sort();
    roles.dedup();
    Ok(roles)
}

/// SET ROLE. A failed one leaves the active roles as they were.
///
/// # Errors
/// 3530 for a role that is not granted to the session's account.
pub(crate) fn set(session: &mut Session, choice: &RoleChoice<'_>) -> Result<(), SqlError> {
    let named = match choice {
        RoleChoice::None | RoleChoice::Default => Vec::new(),
        RoleChoice::All(roles) | RoleChoice::These(roles) => named(session, roles)?,
    };
    let server = Arc::clone(&session.server);
    let active = {
        let directory = server.accounts.directory();
        let (user, host) = session.account_name();
        let account = directory.find(user, host);
        match choice {
            RoleChoice::None => Vec::new(),
            RoleChoice::Default => account.map_or_else(Vec::new, |account| defaults(&directory, account)),
            RoleChoice::All(_) => {
                let mut all = account.map_or_else(Vec::new, |account| all_granted(&directory, account));
                all.retain(|role| named.binary_search(role).is_err());
                all
            }
            RoleChoice::These(_) => {
                ensure_granted(&directory, account.map(|account| &**account), (user, host), &named)?;
                named
            }
        }
    };
    session.activate_roles(active);
    Ok(())
}

/// The default roles that are granted to the account still.
fn defaults(directory: &Directory, account: &Account) -> Vec<RoleName> {
    account.default_roles.iter().filter(|role| is_granted(directory, account, role)).cloned().collect()
}

/// The roles that a login as `'user'@'host'` activates. `all`: `activate_all_roles_on_login`.
pub(crate) fn at_login(directory: &Directory, user: &str, host: &str, all: bool) -> Vec<RoleName> {
    let Some(account) = directory.find(user, host) else { return Vec::new() };
    if all { all_granted(directory, account) } else { defaults(directory, account) }
}

/// Error 3530 for the first of `roles` that is not granted to `account`, which is called `name`.
fn ensure_granted(
    directory: &Directory,
    account: Option<&Account>,
    (user, host): (&str, &str),
    roles: &[RoleName],
) -> Result<(), SqlError> {
    let is_missing = |role: &&RoleName| !account.is_some_and(|account| is_granted(directory, account, role));
    match roles.iter().find(is_missing) {
        None => Ok(()),
        Some(role) => {
            let grantee = RoleName { user: user.to_owned(), host: host.to_owned() };
            Err(error_map::ROLE_NOT_GRANTED.with(&[role, &grantee]))
        }
    }
}

/// SET DEFAULT ROLE, of all accounts or none.
///
/// # Errors
/// 1227 for others' without CREATE USER; 3530 for a role that is not granted, 3523 for an account that is not
/// there.
pub(crate) fn set_default(
    session: &mut Session,
    choice: &RoleChoice<'_>,
    users: &[ast::Account<'_>],
) -> Result<(), SqlError> {
    let roles = match choice {
        RoleChoice::These(roles) => named(session, roles)?,
        _ => Vec::new(),
    };
    let mut names = Vec::with_capacity(users.len());
    for user in users {
        names.push(name_of(session, user)?);
    }
    if names.iter().any(|(user, host)| session.account_name() != (user, host)) {
        require_user_admin(session)?;
    }
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    for (user, host) in names {
        let account = change.find(&user, &host);
        account.iter().try_for_each(|account| ensure_may_change(session, account))?;
        let default_roles = {
            let directory = server.accounts.directory();
            match choice {
                RoleChoice::These(_) => {
                    ensure_granted(&directory, account.as_ref(), (&user, &host), &roles)?;
                    roles.clone()
                }
                RoleChoice::All(_) => match &account {
                    Some(account) => all_granted(&directory, account),
                    None => return Err(super::grant::unknown(&RoleName { user, host })),
                },
                RoleChoice::None | RoleChoice::Default => Vec::new(),
            }
        };
        if let Some(account) = account {
            change.put(Account { default_roles, ..account });
        }
    }
    change.commit()
}
