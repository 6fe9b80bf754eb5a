//! SHOW GRANTS.

use std::sync::Arc;

use sql::ast::Account as AccountName;

use super::definition_text::quoted;
use crate::account::Account;
use crate::answer::{Cell, Column, Table};
use crate::error_map::{self, SqlError};
use crate::privilege::{Grants, Privileges, TableGrant, ensure_may_see_accounts, grantee};
use crate::proxy_grants::{self, ProxyGrant};
use crate::roles::{self, RoleName};
use crate::session::Session;

/// The grants of an account; of the session's own, with its active roles, if none is named. With `using`
/// those of these roles are shown as the account's.
///
/// # Errors
/// 1141 for a missing account; 1142 for another account's unless the session may read `mysql.user`; 3530 for
/// roles that the account is not granted.
pub(super) fn table(
    session: &Session,
    name: Option<&AccountName<'_>>,
    using: &[AccountName<'_>],
) -> Result<Table, SqlError> {
    let account = find(session, name)?;
    let is_own = matches!(name, None | Some(AccountName::Current));
    let grants = if !using.is_empty() {
        Arc::new(with_roles(session, &account, using)?)
    } else if is_own && !session.rights.roles().is_empty() {
        session.current_grants()
    } else {
        Arc::clone(&account.grants)
    };
    let header = format!("Grants for {}@{}", account.user, account.host);
    let mut table = Table::new(vec![Column::text(header, 1024)]);
    let grantee = grantee(&account);
    for line in lines(&grants, &grantee) {
        table.push(vec![Cell::Text(line)]);
    }
    for line in proxy_lines(&account, &grantee) {
        table.push(vec![Cell::Text(line)]);
    }
    for line in role_lines(session, &account, name.is_none(), &grantee) {
        table.push(vec![Cell::Text(line)]);
    }
    Ok(table)
}

/// What `account` may do with `roles` active.
fn with_roles(session: &Session, account: &Account, roles: &[AccountName<'_>]) -> Result<Grants, SqlError> {
    let roles = roles::named(session, roles)?;
    let image = roles::granted_image(&session.server.accounts.directory(), account, &roles);
    image.map_err(|role| error_map::ROLE_NOT_GRANTED.with(&[&role, &account.role_name()]))
}

/// The statements that would grant PROXY to `account`.
fn proxy_lines(account: &Account, grantee: &str) -> Vec<String> {
    let line = |grant: &ProxyGrant| {
        let suffix = if grant.with_grant { " WITH GRANT OPTION" } else { "" };
        format!("GRANT PROXY ON {}@{} TO {grantee}{suffix}", quoted(&grant.user), quoted(&grant.host))
    };
    proxy_grants::in_order(account).into_iter().map(line).collect()
}

/// The statements that would grant its roles to `account`. `with_mandatory`: those that are granted to
/// everybody, too.
fn role_lines(session: &Session, account: &Account, with_mandatory: bool, grantee: &str) -> Vec<String> {
    let directory = session.server.accounts.directory();
    let (mut plain, mut with_admin) = (Vec::new(), Vec::new());
    for granted in &account.roles {
        if granted.with_admin { &mut with_admin } else { &mut plain }.push(&granted.role);
    }
    if with_mandatory {
        let is_new = |role: &&RoleName| account.granted(role).is_none() && directory.role(role).is_some();
        plain.extend(directory.mandatory().iter().filter(is_new));
        plain.sort();
    }
    let line = |roles: Vec<&RoleName>, suffix: &str| {
        (!roles.is_empty()).then(|| format!("GRANT {} TO {grantee}{suffix}", roles::listed(roles)))
    };
    [line(plain, ""), line(with_admin, " WITH ADMIN OPTION")].into_iter().flatten().collect()
}

fn find(session: &Session, name: Option<&AccountName<'_>>) -> Result<Arc<Account>, SqlError> {
    let (own_user, own_host) = session.account_name();
    let (user, host) = match name {
        None | Some(AccountName::Current) => (own_user, own_host.to_owned()),
        Some(AccountName::Named { user, host }) => (*user, host.unwrap_or("%").to_lowercase()),
    };
    if (user, &*host) != (own_user, own_host) {
        ensure_may_see_accounts(session)?;
    }
    let found = session.server.accounts.find(user, &host);
    found.ok_or_else(|| error_map::NONEXISTING_GRANT.with(&[&user, &host]))
}

/// The statements that would grant what `grants` has, as MySQL prints them.
fn lines(grants: &Grants, grantee: &str) -> Vec<String> {
    let mut lines = vec![line(grants.global, Privileges::NONE, "*.*", grantee)];
    let plain = grants.dynamic.without(grants.dynamic_grantable);
    for (set, suffix) in [(plain, ""), (grants.dynamic_grantable, " WITH GRANT OPTION")] {
        if !set.is_empty() {
            let names: Vec<_> = set.names().collect();
            lines.push(format!("GRANT {} ON *.* TO {grantee}{suffix}", names.join(",")));
        }
    }
    let mut schemas: Vec<_> = grants.schemas().iter().collect();
    schemas.sort();
    for (pattern, set) in schemas {
        lines.push(line(*set, Privileges::OF_SCHEMA, &format!("{}.*", quoted(pattern)), grantee));
    }
    for (schema, set) in grants.restrictions.list() {
        let names: Vec<_> = (*set - Privileges::GRANT_OPTION).names().collect();
        lines.push(format!("REVOKE {} ON {}.* FROM {grantee}", names.join(", "), quoted(schema)));
    }
    for grant in grants.tables() {
        // As in MySQL, ALL does not say what is granted on columns beside.
        let target = format!("{}.{}", quoted(&grant.schema), quoted(&grant.table));
        let has_all = grant.set - Privileges::GRANT_OPTION == Privileges::OF_TABLE;
        let line = if has_all || grant.on_any_column().is_empty() {
            line(grant.set, Privileges::OF_TABLE, &target, grantee)
        } else {
            line_with_columns(grant, &target, grantee)
        };
        lines.push(line);
    }
    lines
}

/// The statement for a table, with what is granted on its columns after what is granted on all of it, for
/// each privilege.
fn line_with_columns(grant: &TableGrant, target: &str, grantee: &str) -> String {
    let columns = grant.columns();
    let mut parts = Vec::new();
    for privilege in Privileges::OF_TABLE.each() {
        let name = privilege.names().next().unwrap_or_default();
        if grant.set.has(privilege) {
            parts.push(name.to_owned());
        }
        let with = columns.iter().filter(|(_, set)| set.has(privilege));
        let with: Vec<_> = with.map(|(column, _)| quoted(column)).collect();
        if !with.is_empty() {
            parts.push(format!("{name} ({})", with.join(", ")));
        }
    }
    let suffix = if grant.set.has(Privileges::GRANT_OPTION) { " WITH GRANT OPTION" } else { "" };
    format!("GRANT {} ON {target} TO {grantee}{suffix}", parts.join(", "))
}

/// `all`: the privileges that are called ALL together; none: they are always listed.
fn line(set: Privileges, all: Privileges, target: &str, grantee: &str) -> String {
    let listed = set - Privileges::GRANT_OPTION;
    let names = if listed.is_empty() {
        "USAGE".to_owned()
    } else if listed == all {
        "ALL PRIVILEGES".to_owned()
    } else {
        listed.names().collect::<Vec<_>>().join(", ")
    };
    let suffix = if set.has(Privileges::GRANT_OPTION) { " WITH GRANT OPTION" } else { "" };
    format!("GRANT {names} ON {target} TO {grantee}{suffix}")
}
