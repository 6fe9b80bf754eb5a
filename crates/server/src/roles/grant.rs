//! GRANT and REVOKE of roles.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use sql::ast::{self, UserStatement};

use super::activate::named;
use super::graph::{members, reachable};
use super::name::{GrantedRole, RoleName};
use crate::account::Account;
use crate::account_change::AccountChange;
use crate::account_directory::Directory;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::privilege::{DynamicSet, Privileges, ensure_one_of};
use crate::session::Session;
use crate::user_statement::{ensure_may_change, name_of};

/// Most roles that are granted to one account.
const ROLES_PER_ACCOUNT_MAX: usize = 1000;
/// Most grants of roles altogether: as many are followed at most to find what an account may do.
const GRANTED_ROLES_MAX: usize = 100_000;

/// GRANT of roles, to all accounts or none.
///
/// # Errors
/// 1227 for a role that the session may not grant; 3523 for a missing role or account; 4027 for a cycle; 1041
/// beyond the limits of grants.
pub(crate) fn grant(
    session: &mut Session,
    roles: &[ast::Account<'_>],
    users: &[ast::Account<'_>],
    with_admin: bool,
) -> Result<(), SqlError> {
    let (roles, users) = (named(session, roles)?, names(session, users)?);
    ensure_may_grant(session, &roles)?;
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    let directory = server.accounts.directory();
    ensure_bounded(&directory, roles.len().saturating_mul(users.len()))?;
    let loops = loops(session, &directory, &roles, &users)?;
    for user in &users {
        let mut account = change.find(&user.user, &user.host).ok_or_else(|| unknown(user))?;
        ensure_may_change(session, &account)?;
        for role in &roles {
            ensure_may_change(session, directory.role(role).ok_or_else(|| unknown(role))?)?;
            if loops.contains(&(role, user)) {
                return Err(error_map::ROLE_GRANTED_TO_ITSELF.with(&[user, role]));
            }
        }
        add(&mut account, &roles, with_admin)?;
        change.put(account);
    }
    drop(directory);
    change.commit()
}

/// The accounts that a statement names, in its order.
fn names(session: &Session, written: &[ast::Account<'_>]) -> Result<Vec<RoleName>, SqlError> {
    let mut names = Vec::with_capacity(written.len());
    for account in written {
        let (user, host) = name_of(session, account)?;
        names.push(RoleName { user, host });
    }
    Ok(names)
}

/// A role and the account that it is to be granted to.
type Grant<'n> = (&'n RoleName, &'n RoleName);

/// The grants of `roles` to `users` that would close a loop: those whose role is granted the account already,
/// by however many steps, or is the account. A loop of several new grants has one of these.
fn loops<'n>(
    session: &Session,
    directory: &Directory,
    roles: &'n [RoleName],
    users: &'n [RoleName],
) -> Result<HashSet<Grant<'n>>, SqlError> {
    let users: HashMap<(&str, &str), &RoleName> =
        users.iter().map(|user| ((&*user.user, &*user.host), user)).collect();
    let mut loops = HashSet::new();
    for role in roles {
        session.fail_if_killed()?;
        let sources = std::iter::once(role).chain(directory.mandatory());
        let members = reachable(directory, sources);
        let reached = members.iter().filter_map(|member| users.get(&(&*member.user, &*member.host)));
        loops.extend(reached.map(|user| (role, *user)));
    }
    Ok(loops)
}

/// Grants `roles` to `account` before it is stored.
fn add(account: &mut Account, roles: &[RoleName], with_admin: bool) -> Result<(), SqlError> {
    let mut granted: BTreeMap<RoleName, bool> =
        account.roles.drain(..).map(|granted| (granted.role, granted.with_admin)).collect();
    for role in roles {
        *granted.entry(role.clone()).or_default() |= with_admin;
    }
    if granted.len() > ROLES_PER_ACCOUNT_MAX {
        return Err(error_map::OUT_OF_RESOURCES.bare());
    }
    account.roles = granted.into_iter().map(|(role, with_admin)| GrantedRole { role, with_admin }).collect();
    Ok(())
}

/// Error 1041 if there may be too many grants of roles with `added` more.
fn ensure_bounded(directory: &Directory, added: usize) -> Result<(), SqlError> {
    let known: usize = directory.all().iter().map(|account| account.roles.len()).sum();
    if known.saturating_add(added) > GRANTED_ROLES_MAX {
        return Err(error_map::OUT_OF_RESOURCES.bare());
    }
    Ok(())
}

/// Grants DEFAULT ROLE of the CREATE USER `statement` to `account`, which is new.
///
/// # Errors
/// As [`grant`], but 3162 for a missing role.
pub(crate) fn grant_defaults(
    session: &Session,
    account: &mut Account,
    statement: &UserStatement<'_>,
) -> Result<(), SqlError> {
    let roles = named(session, statement.default_roles)?;
    if roles.is_empty() {
        return Ok(());
    }
    ensure_may_grant(session, &roles)?;
    let directory = session.server.accounts.directory();
    ensure_bounded(&directory, roles.len().saturating_mul(statement.users.len()))?;
    for role in &roles {
        // A new account is granted to nobody, so its roles close no cycle.
        let found = directory.role(role).ok_or_else(|| error_map::USER_DOES_NOT_EXIST.with(&[role]))?;
        ensure_may_change(session, found)?;
    }
    add(account, &roles, false)?;
    account.default_roles = roles;
    Ok(())
}

/// REVOKE of roles, from all accounts or none.
///
/// # Errors
/// 1227 as [`grant`]; 3523 for a missing role or account; 3628 for a mandatory role.
pub(crate) fn revoke(
    session: &mut Session,
    roles: &[ast::Account<'_>],
    users: &[ast::Account<'_>],
    if_exists: bool,
    ignores_unknown: bool,
) -> Result<(), SqlError> {
    let roles = named(session, roles)?;
    ensure_may_grant(session, &roles)?;
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    for user in users {
        let (user, host) = name_of(session, user)?;
        let Some(mut account) = change.find(&user, &host) else {
            if !ignores_unknown {
                return Err(unknown(&RoleName { user, host }));
            }
            session.warn(Severity::Warning, error_map::USER_DOES_NOT_EXIST.with(&[&user]));
            continue;
        };
        ensure_may_change(session, &account)?;
        for role in &roles {
            take(session, &server.accounts.directory(), &mut account, role, if_exists)?;
        }
        change.put(account);
    }
    change.commit()
}

fn take(
    session: &mut Session,
    directory: &Directory,
    account: &mut Account,
    role: &RoleName,
    if_exists: bool,
) -> Result<(), SqlError> {
    let failed = match directory.role(role) {
        None => Some(unknown(role)),
        Some(found) => {
            ensure_may_change(session, found)?;
            let is_mandatory = directory.mandatory().contains(role);
            is_mandatory.then(|| error_map::MANDATORY_ROLE.with(&[role]))
        }
    };
    match failed {
        Some(error) if !if_exists => return Err(error),
        Some(error) => session.warn(Severity::Warning, error),
        None => {}
    }
    account.roles.retain(|granted| granted.role != *role);
    account.default_roles.retain(|default| default != role);
    Ok(())
}

/// Error 3523.
#[cold]
pub(super) fn unknown(role: &RoleName) -> SqlError {
    error_map::UNKNOWN_AUTHID.with(&[role])
}

/// Error 1227 unless the session may grant all of `roles`: by a privilege, or WITH ADMIN OPTION of its
/// account or of its active roles.
fn ensure_may_grant(session: &Session, roles: &[RoleName]) -> Result<(), SqlError> {
    const WHAT: &str = "WITH ADMIN, ROLE_ADMIN, SUPER";
    let by_privilege = ensure_one_of(session, Privileges::SUPER, DynamicSet::ROLE_ADMIN, WHAT);
    let Err(denied) = by_privilege else { return Ok(()) };
    let directory = session.server.accounts.directory();
    let (user, host) = session.account_name();
    let Some(account) = directory.find(user, host) else { return Err(denied) };
    let members = members(&directory, account, session.rights.roles());
    let admins: HashSet<&RoleName> = members
        .iter()
        .flat_map(|member| &member.roles)
        .filter(|granted| granted.with_admin)
        .map(|granted| &granted.role)
        .collect();
    if roles.iter().all(|role| admins.contains(role)) { Ok(()) } else { Err(denied) }
}
