//! SHOW GRANTS.

use std::sync::Arc;

use sql::ast::Account as AccountName;

use super::definition_text::quoted;
use crate::account::Account;
use crate::answer::{Cell, Column, Table};
use crate::error_map::{self, SqlError};
use crate::privilege::{Grants, Privileges, ensure_may_see_accounts, grantee};
use crate::session::Session;

/// The grants of an account; of the session's own if none is named.
///
/// # Errors
/// 1141 for accounts that are not there, 1142 for others' unless the session may read `mysql.user`.
pub(super) fn table(session: &Session, name: Option<&AccountName<'_>>) -> Result<Table, SqlError> {
    let account = find(session, name)?;
    let header = format!("Grants for {}@{}", account.user, account.host);
    let mut table = Table::new(vec![Column::text(header, 1024)]);
    for line in lines(&account.grants, &grantee(&account)) {
        table.push(vec![Cell::Text(line)]);
    }
    Ok(table)
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
    for (schema, table, set) in grants.tables() {
        let target = format!("{}.{}", quoted(schema), quoted(table));
        lines.push(line(*set, Privileges::OF_TABLE, &target, grantee));
    }
    lines
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
