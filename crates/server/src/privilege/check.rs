//! Whether a session's privileges allow what a statement wants.

use sql::ast::Statement;

use super::access::{Access, FileUse, Want, file_use, of_statement};
use super::dynamic::DynamicSet;
use super::grants::Grants;
use super::set::Privileges;
use crate::error_map::{self, SqlError};
use crate::full_name::FullName;
use crate::session::Session;
use crate::virtual_tables;

/// Fails if the session may not do what `statement` wants. Cost: a load, if it may do everything with data.
///
/// # Errors
/// As [`ensure`].
pub(crate) fn ensure_statement(session: &Session, statement: &Statement<'_>) -> Result<(), SqlError> {
    if !session.is_checked {
        return Ok(());
    }
    // These look themselves whether they set the session's own password.
    let sets_password = match statement {
        Statement::SetPassword(_) => true,
        Statement::User(user) => user.alter,
        _ => false,
    };
    if sets_password && session.rights.is_expired() {
        return Ok(());
    }
    ensure(session, &of_statement(session.database.as_deref(), statement))
}

/// Fails for the first of `accesses` that the session may not have.
///
/// # Errors
/// 1142, 1044; 1820 if the session's password has expired.
#[cold]
pub(crate) fn ensure(session: &Session, accesses: &[Access]) -> Result<(), SqlError> {
    if !session.rights.is_limited() {
        return Ok(());
    }
    ensure_by(session, &session.current_grants(), accesses)
}

/// As [`ensure`], of a session whose rights are limited to `grants`.
pub(super) fn ensure_by(session: &Session, grants: &Grants, accesses: &[Access]) -> Result<(), SqlError> {
    if session.rights.is_expired() {
        return Err(error_map::MUST_CHANGE_PASSWORD.bare());
    }
    accesses.iter().try_for_each(|access| one(session, grants, access))
}

fn one(session: &Session, grants: &Grants, access: &Access) -> Result<(), SqlError> {
    let Access { schema, table, want } = access;
    if virtual_tables::is_everybodys(schema) {
        return Ok(());
    }
    let broad = session.on_schema(grants, schema);
    let narrow = || grants.on_table(schema, table);
    let reached = || narrow() | grants.on_any_column(schema, table);
    match want {
        Want::All(privileges) => table_access(session, access, *privileges - broad, narrow),
        Want::Reached(privileges) => table_access(session, access, *privileges - broad, reached),
        Want::Seen => {
            let is_seen = broad.has(Privileges::SELECT) || !reached().is_empty();
            if is_seen { Ok(()) } else { Err(denied_table(session, "SELECT", table)) }
        }
        Want::Shown => {
            let is_shown = (broad | narrow()).has_any(Privileges::OF_TABLE);
            if is_shown { Ok(()) } else { Err(denied_table(session, "SHOW", table)) }
        }
        Want::Joined => {
            let is_joined = (broad | reached()).has_any(Privileges::SELECT | Privileges::UPDATE);
            if is_joined { Ok(()) } else { Err(denied_table(session, "SELECT", table)) }
        }
        Want::Locked => {
            let any = Privileges::UPDATE | Privileges::DELETE | Privileges::LOCK_TABLES;
            let may_lock = (broad | reached()).has_any(any);
            if may_lock { Ok(()) } else { Err(denied_table(session, "SELECT with locking clause", table)) }
        }
        Want::OnSchema(privileges) => {
            if broad.has(*privileges) {
                Ok(())
            } else {
                Err(denied_schema(session, schema))
            }
        }
        // A default database is entered again by what is granted now.
        Want::Entered => schema_access(session, grants, session.rights.in_schema(grants, schema), access),
        Want::Listed | Want::Described => schema_access(session, grants, broad, access),
    }
}

/// `missing`: what neither the database nor everything gives.
fn table_access(
    session: &Session,
    access: &Access,
    missing: Privileges,
    narrow: impl Fn() -> Privileges,
) -> Result<(), SqlError> {
    if missing.is_empty() {
        return Ok(());
    }
    if !(missing - Privileges::OF_TABLE).is_empty() {
        return Err(denied_schema(session, &access.schema));
    }
    let missing = missing - narrow();
    if missing.is_empty() {
        return Ok(());
    }
    Err(denied_table(session, &missing.names().collect::<Vec<_>>().join(", "), &access.table))
}

fn schema_access(
    session: &Session,
    grants: &Grants,
    broad: Privileges,
    access: &Access,
) -> Result<(), SqlError> {
    let schema = &*access.schema;
    let is_restricted = !session.rights.restrictions(grants).on(schema).is_empty();
    // Granting alone does not open a database that partial revokes leave out.
    let may_grant = if is_restricted { Privileges::NONE } else { Privileges::GRANT_OPTION };
    let of_schema = Privileges::OF_SCHEMA | may_grant;
    let lists = matches!(access.want, Want::Listed);
    if lists && session.server.engine.schema(schema).is_err() && virtual_tables::schema(schema).is_none() {
        // It is missed then.
        return Ok(());
    }
    let is_useful = |set: Privileges| lists || set.has_any(Privileges::OF_TABLE);
    let may = (broad | grants.on_schema(schema, session.server.accounts.schema_names())).has_any(of_schema)
        || grants
            .tables()
            .iter()
            .any(|grant| grant.schema == schema && is_useful(grant.set | grant.on_any_column()));
    if may {
        return Ok(());
    }
    if matches!(access.want, Want::Described) {
        return Err(error_map::DBACCESS_DENIED.with(&[&session.user, &session.peer.host(), &schema]));
    }
    Err(denied_schema(session, schema))
}

/// Whether SHOW DATABASES lists `schema`.
pub(crate) fn sees_schema(session: &Session, schema: &str) -> bool {
    let all = Privileges::OF_SCHEMA | Privileges::SHOW_DATABASES | Privileges::GRANT_OPTION;
    if virtual_tables::is_everybodys(schema) || !session.rights.is_limited() {
        return true;
    }
    let grants = session.current_grants();
    let broad = session.on_schema(&grants, schema);
    broad.has_any(all) || grants.has_table_in(schema)
}

/// Whether lists of tables have this one.
pub(crate) fn sees_table(session: &Session, schema: &str, table: &str) -> bool {
    if virtual_tables::is_everybodys(schema) || !session.rights.is_limited() {
        return true;
    }
    let grants = session.current_grants();
    let broad = session.on_schema(&grants, schema);
    let own = broad | grants.on_table(schema, table) | grants.on_any_column(schema, table);
    own.has_any(Privileges::OF_TABLE | Privileges::GRANT_OPTION)
}

/// Error 1227 unless the session has one of the static privileges or of the dynamic ones. `what` is what the
/// error calls them.
pub(crate) fn ensure_one_of(
    session: &Session,
    privileges: Privileges,
    dynamic: DynamicSet,
    what: &str,
) -> Result<(), SqlError> {
    let own = session.on_everything();
    let has_dynamic = !dynamic.is_empty() && own.dynamic.has(dynamic);
    if has_dynamic || own.privileges.has_any(privileges) {
        return Ok(());
    }
    Err(error_map::SPECIFIC_ACCESS_DENIED.with(&[&what]))
}

/// Error 1044 unless the session has the privileges on the schema.
pub(crate) fn ensure_on_schema(session: &Session, schema: &str, wanted: Privileges) -> Result<(), SqlError> {
    ensure(session, &[Access { schema: schema.into(), table: "".into(), want: Want::OnSchema(wanted) }])
}

/// Error 1370 unless the session has the privilege on the stored program, which only its schema can give.
pub(crate) fn ensure_program(session: &Session, name: &FullName, wanted: Privileges) -> Result<(), SqlError> {
    if ensure_on_schema(session, &name.schema, wanted).is_ok() {
        return Ok(());
    }
    let command = wanted.names().next().unwrap_or_default().to_ascii_lowercase();
    let (user, host) = session.account_name();
    Err(error_map::PROCACCESS_DENIED.with(&[&command, &user, &host, &name]))
}

/// Error 1227 or 1045 if `statement` uses a file on the server's machine and the session may not.
pub(crate) fn ensure_files(session: &Session, statement: &Statement<'_>) -> Result<(), SqlError> {
    if session.on_everything().privileges.has(Privileges::FILE) {
        return Ok(());
    }
    match file_use(statement) {
        FileUse::None => Ok(()),
        FileUse::Reads => Err(denied(session)),
        FileUse::Writes => Err(error_map::SPECIFIC_ACCESS_DENIED.with(&[&"FILE"])),
    }
}

/// Error 1045, which names the account.
#[cold]
pub(crate) fn denied(session: &Session) -> SqlError {
    let (user, host) = session.account_name();
    let has_password = session.account.as_ref().is_some_and(|account| account.credential.has_password());
    error_map::ACCESS_DENIED.with(&[&user, &host, &if has_password { "YES" } else { "NO" }])
}

/// Error 1142.
#[cold]
pub(crate) fn denied_table(session: &Session, command: &str, table: &str) -> SqlError {
    error_map::TABLEACCESS_DENIED.with(&[&command, &session.user, &session.peer.host(), &table])
}

/// Error 1143.
#[cold]
pub(crate) fn denied_column(session: &Session, privilege: Privileges, column: &str, table: &str) -> SqlError {
    let command = privilege.names().next().unwrap_or_default();
    error_map::COLUMNACCESS_DENIED.with(&[&command, &session.user, &session.peer.host(), &column, &table])
}

/// Error 1044, which names the account.
#[cold]
pub(crate) fn denied_schema(session: &Session, schema: &str) -> SqlError {
    let (user, host) = session.account_name();
    error_map::DBACCESS_DENIED.with(&[&user, &host, &schema])
}
