//! SHOW GRANTS.

use std::sync::Arc;

use sql::ast::Account as AccountName;

use super::definition_text::quoted;
use crate::account::Account;
use crate::answer::{Cell, Column, Table};
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// What everybody may do: tables have no privileges of their own.
const DATA_PRIVILEGES: &str = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER, SHOW DATABASES";

/// The grants of an account; of the session's own if none is named.
///
/// # Errors
/// 1141 for accounts that are not there, 1044 for others' unless the session may administer the server.
pub(super) fn table(session: &Session, name: Option<&AccountName<'_>>) -> Result<Table, SqlError> {
    let account = find(session, name)?;
    let (user, host) = (&account.user, &account.host);
    let mut table = Table::new(vec![Column::text(format!("Grants for {user}@{host}"), 1024)]);
    let target = format!("{}@{}", quoted(user), quoted(host));
    table.push(vec![Cell::Text(if user == "root" {
        format!("GRANT ALL PRIVILEGES ON *.* TO {target} WITH GRANT OPTION")
    } else {
        format!("GRANT {DATA_PRIVILEGES} ON *.* TO {target}")
    })]);
    Ok(table)
}

fn find(session: &Session, name: Option<&AccountName<'_>>) -> Result<Arc<Account>, SqlError> {
    let missing = |user: &str, host: &str| error_map::NONEXISTING_GRANT.with(&[&user, &host]);
    match name {
        None | Some(AccountName::Current) => {
            session.account.clone().ok_or_else(|| missing(&session.user, &session.peer.host()))
        }
        Some(AccountName::Named { user, host }) => {
            let host = host.unwrap_or("%").to_lowercase();
            let is_own = session.account.as_ref().is_some_and(|own| own.user == *user && own.host == host);
            if !is_own && !session.is_admin() {
                return Err(error_map::DBACCESS_DENIED.with(&[
                    &session.user,
                    &session.peer.host(),
                    &"mysql",
                ]));
            }
            session.server.accounts.find(user, &host).ok_or_else(|| missing(user, &host))
        }
    }
}
