//! GRANT and REVOKE of privileges on everything, on databases, on tables and on columns.

use std::collections::HashMap;
use std::sync::Arc;

use sql::ast::{Grant, GrantTarget};

use super::access::{Access, Want};
use super::check::{denied, denied_column, denied_schema, denied_table, ensure};
use super::column_check::OnColumns;
use super::dynamic::DynamicSet;
use super::grants::{Grants, SchemaNames};
use super::proxy_statement;
use super::restrictions::Restrictions;
use super::set::Privileges;
use crate::account::Account;
use crate::account_change::AccountChange;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::full_name::{FullName, schema_or_default};
use crate::session::Session;
use crate::show::definition_text::quoted;
use crate::user_statement::{ensure_may_change, name_of, require_user_admin};
use crate::virtual_tables;

/// What privileges are granted on.
#[derive(Debug, PartialEq, Eq)]
enum Level {
    Everything,
    /// Name pattern of databases.
    Schema(String),
    Table(FullName),
}

/// The privileges of a statement.
#[derive(Debug, Default)]
struct Named {
    privileges: Privileges,
    dynamic: DynamicSet,
    /// Static ones on columns, each column once.
    columns: Vec<(String, Privileges)>,
    /// Dynamic ones that there are not.
    unknown: Vec<String>,
}

impl Named {
    /// `places`: of all columns so far, by their names in lower case.
    fn add_column(&mut self, name: &str, privilege: Privileges, places: &mut HashMap<String, usize>) {
        let place = *places.entry(name.to_ascii_lowercase()).or_insert(self.columns.len());
        match self.columns.get_mut(place) {
            Some((_, set)) => *set = *set | privilege,
            None => self.columns.push((name.to_owned(), privilege)),
        }
    }

    /// The privileges named for some column.
    fn on_columns(&self) -> Privileges {
        self.columns.iter().fold(Privileges::NONE, |all, (_, set)| all | *set)
    }
}

/// GRANT, to all accounts or none.
///
/// # Errors
/// 1044, 1045, 1142, 1227 without the privilege to grant; 1144, 1149, 1221, 3619 for a privilege that the
/// level does not have; 1054, 1143, 1146, 1410 for a column, table or account that is missing or not the
/// session's to grant; 1041 beyond the limit of grants; 1235 for programs. As [`proxy_statement::grant`] for
/// PROXY.
pub(crate) fn grant(session: &mut Session, grant: &Grant<'_>) -> Result<(), SqlError> {
    if let GrantTarget::Proxy(proxied) = &grant.target {
        return proxy_statement::grant(session, grant, proxied);
    }
    refuse_unsupported(session, grant)?;
    let level = level(session, &grant.target)?;
    let mut named = named(session, grant, &level)?;
    if let Some(name) = named.unknown.first() {
        let kind =
            if level == Level::Everything { &error_map::SYNTAX } else { &error_map::ILLEGAL_PRIVILEGE_LEVEL };
        return Err(kind.with(&[name]));
    }
    if grant.grant_option {
        named.privileges = named.privileges | Privileges::GRANT_OPTION;
    }
    ensure_may_grant(session, &named, &level, false)?;
    if let Level::Table(name) = &level {
        ensure_table(session, name, &named)?;
    }
    let own = session.current_grants();
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    for written in grant.users {
        let (user, host) = name_of(session, written)?;
        let account =
            change.find(&user, &host).ok_or_else(|| error_map::CANT_CREATE_USER_WITH_GRANT.bare())?;
        ensure_may_change(session, &account)?;
        ensure_not_mandatory(session, &account, &named)?;
        let mut grants = (*account.grants).clone();
        let by = session.rights.restrictions(&own);
        add(&mut grants, &named, &level, (grant.grant_option, by));
        if !grants.is_within_limit(&account.grants) {
            return Err(error_map::OUT_OF_RESOURCES.bare());
        }
        change.put(Account { grants: Arc::new(grants), ..account });
    }
    change.commit()
}

/// Error 3897 for SYSTEM_USER to an account that is a mandatory role.
fn ensure_not_mandatory(session: &Session, account: &Account, named: &Named) -> Result<(), SqlError> {
    let role = account.role_name();
    let is_mandatory = || session.server.accounts.directory().mandatory().contains(&role);
    if named.dynamic.has(DynamicSet::SYSTEM_USER) && is_mandatory() {
        return Err(error_map::CANNOT_GRANT_TO_MANDATORY_ROLE.with(&[&role, &"SYSTEM_USER"]));
    }
    Ok(())
}

/// REVOKE, from all accounts or none.
///
/// # Errors
/// As [`grant`]; 1141, 1147, 1269 for what has not been granted; 3879 where partial revokes restrict the
/// session and not the account.
pub(crate) fn revoke(session: &mut Session, revoke: &Grant<'_>) -> Result<(), SqlError> {
    if let GrantTarget::Proxy(proxied) = &revoke.target {
        return proxy_statement::revoke(session, revoke, proxied);
    }
    refuse_unsupported(session, revoke)?;
    let takes_all = revoke.privileges.is_empty();
    if takes_all && revoke.grant_option {
        return revoke_everything(session, revoke);
    }
    let level = level(session, &revoke.target)?;
    if takes_all && level == Level::Everything {
        return revoke_everything(session, revoke);
    }
    let named = named(session, revoke, &level)?;
    if level != Level::Everything
        && let Some(name) = named.unknown.first()
    {
        return Err(error_map::ILLEGAL_PRIVILEGE_LEVEL.with(&[name]));
    }
    for name in &named.unknown {
        session.warn(Severity::Warning, error_map::UNREGISTERED_DYNAMIC_PRIVILEGE.with(&[name]));
    }
    ensure_may_grant(session, &named, &level, true)?;
    let restricts = session.server.accounts.schema_names() == SchemaNames::Exact;
    let taken = Some(named.privileges);
    change_each(session, revoke, (&level, taken), |grants| {
        take(grants, &named, &level, (takes_all, restricts))
    })
}

/// REVOKE ALL PRIVILEGES, GRANT OPTION and, as MySQL does, REVOKE ALL on everything: what was granted on
/// databases and tables goes, too.
fn revoke_everything(session: &mut Session, revoke: &Grant<'_>) -> Result<(), SqlError> {
    require_user_admin(session)?;
    change_each(session, revoke, (&Level::Everything, None), |grants| {
        *grants = Grants::default();
        true
    })
}

/// Takes something from each account that REVOKE names: `taken`, or all for none. `take` says whether there
/// was something to take.
fn change_each(
    session: &mut Session,
    revoke: &Grant<'_>,
    (level, taken): (&Level, Option<Privileges>),
    take: impl Fn(&mut Grants) -> bool,
) -> Result<(), SqlError> {
    let own = session.current_grants();
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    for written in revoke.users {
        let (user, host) = name_of(session, written)?;
        let Some(account) = change.find(&user, &host) else {
            if revoke.ignores_unknown {
                session.warn(Severity::Warning, error_map::USER_DOES_NOT_EXIST.with(&[&user]));
                continue;
            }
            return Err(no_such_account(revoke, level, &user, &host));
        };
        ensure_may_change(session, &account)?;
        if *level == Level::Everything {
            ensure_not_against(session, &own, taken, &account.grants)?;
        }
        let mut grants = (*account.grants).clone();
        if take(&mut grants) {
            // Restrictions are targets as well.
            if !grants.is_within_limit(&account.grants) {
                return Err(error_map::OUT_OF_RESOURCES.bare());
            }
            change.put(Account { grants: Arc::new(grants), ..account });
        } else if revoke.if_exists {
            session.warn(Severity::Warning, no_such_grant(level, &user, &host));
        } else {
            return Err(no_such_grant(level, &user, &host));
        }
    }
    change.commit()
}

/// Error 3879 if the session is restricted in a database where the account with `grants` is not. `own`: what
/// is granted to the session.
fn ensure_not_against(
    session: &Session,
    own: &Grants,
    taken: Option<Privileges>,
    grants: &Grants,
) -> Result<(), SqlError> {
    let by = session.rights.restrictions(own);
    let Some(schema) = by.against_taking(taken, &grants.restrictions) else { return Ok(()) };
    let (user, host) = session.account_name();
    Err(error_map::DB_ACCESS_DENIED.with(&[&user, &host, &schema]))
}

#[cold]
fn no_such_account(revoke: &Grant<'_>, level: &Level, user: &str, host: &str) -> SqlError {
    if revoke.privileges.is_empty() && *level == Level::Everything {
        return error_map::REVOKE_GRANTS.bare();
    }
    no_such_grant(level, user, host)
}

#[cold]
fn no_such_grant(level: &Level, user: &str, host: &str) -> SqlError {
    match level {
        Level::Table(name) => error_map::NONEXISTING_TABLE_GRANT.with(&[&user, &host, &name.table]),
        _ => error_map::NONEXISTING_GRANT.with(&[&user, &host]),
    }
}

fn refuse_unsupported(session: &Session, grant: &Grant<'_>) -> Result<(), SqlError> {
    let what = match grant.target {
        GrantTarget::Routine(_) => "privileges on stored programs",
        // It would be granted with the restrictions of another account.
        _ if grant.is_as_other && session.server.accounts.schema_names() == SchemaNames::Exact => {
            "GRANT .. AS"
        }
        _ => return Ok(()),
    };
    Err(error_map::NOT_SUPPORTED_YET.with(&[&what]))
}

fn level(session: &Session, target: &GrantTarget<'_>) -> Result<Level, SqlError> {
    Ok(match target {
        GrantTarget::Schema(name) => Level::Schema((*name).to_owned()),
        GrantTarget::CurrentSchema => {
            let schema = schema_or_default(session.database.as_deref(), None)?;
            // Its name is no pattern.
            Level::Schema(match session.server.accounts.schema_names() {
                SchemaNames::Patterns => schema.replace('_', "\\_").replace('%', "\\%"),
                SchemaNames::Exact => schema.into_owned(),
            })
        }
        GrantTarget::Table(table) => Level::Table(FullName::resolve(session.database.as_deref(), table)?),
        _ => Level::Everything,
    })
}

/// The privileges that the statement names, which `level` may have.
fn named(session: &Session, grant: &Grant<'_>, level: &Level) -> Result<Named, SqlError> {
    let all = match level {
        Level::Everything => Privileges::ALL,
        Level::Schema(_) => Privileges::OF_SCHEMA,
        Level::Table(_) => Privileges::OF_TABLE,
    };
    let mut named = Named::default();
    if grant.privileges.is_empty() {
        let dynamic =
            if *level == Level::Everything { session.on_everything().dynamic } else { DynamicSet::default() };
        return Ok(Named { privileges: all, dynamic, ..named });
    }
    let mut places = HashMap::new();
    for one in grant.privileges {
        match (Privileges::named(one.name), DynamicSet::named(one.name)) {
            (Some(privilege), _) if !one.columns.is_empty() => {
                if !matches!(level, Level::Table(_)) || !Privileges::OF_COLUMN.has(privilege) {
                    return Err(error_map::ILLEGAL_GRANT_FOR_TABLE.bare());
                }
                for column in one.columns {
                    named.add_column(column, privilege, &mut places);
                }
            }
            (Some(privilege), _) => named.privileges = named.privileges | privilege,
            (None, Some(dynamic)) if *level == Level::Everything => {
                named.dynamic = named.dynamic.with(dynamic);
            }
            _ => named.unknown.push(match level {
                // MySQL names the table.
                Level::Table(name) => name.table.clone(),
                _ => one.name.to_ascii_uppercase(),
            }),
        }
    }
    if (all | Privileges::GRANT_OPTION).has(named.privileges) {
        return Ok(named);
    }
    Err(match level {
        Level::Table(_) => error_map::ILLEGAL_GRANT_FOR_TABLE.bare(),
        _ => error_map::WRONG_USAGE.with(&[&"DB GRANT", &"GLOBAL PRIVILEGES"]),
    })
}

/// The grantor has what it grants, with GRANT OPTION. To take it from others, having it on some column is
/// enough.
fn ensure_may_grant(session: &Session, named: &Named, level: &Level, takes: bool) -> Result<(), SqlError> {
    let wanted = named.privileges | Privileges::GRANT_OPTION;
    let own = session.on_everything();
    if !own.dynamic_grantable.has(named.dynamic) {
        return Err(error_map::SPECIFIC_ACCESS_DENIED.with(&[&"GRANT OPTION"]));
    }
    match level {
        Level::Everything => {
            let only_dynamic = named.privileges.is_empty() && !named.dynamic.is_empty();
            if own.privileges.has(wanted) || only_dynamic { Ok(()) } else { Err(denied(session)) }
        }
        Level::Schema(pattern) => {
            if virtual_tables::is_everybodys(pattern) {
                return Err(denied_schema(session, pattern));
            }
            let grants = session.current_grants();
            let own = session.on_schema(&grants, pattern) | grants.of_pattern(pattern).unwrap_or_default();
            if (wanted - own).is_empty() { Ok(()) } else { Err(denied_schema(session, pattern)) }
        }
        Level::Table(name) if name.schema == virtual_tables::INFORMATION => {
            Err(denied_schema(session, &name.schema))
        }
        Level::Table(name) => {
            let grants = session.current_grants();
            let own = session.on_schema(&grants, &name.schema) | grants.on_table(&name.schema, &name.table);
            let on_columns = grants.on_any_column(&name.schema, &name.table);
            // The columns are checked once the table is known.
            let everywhere = (wanted | named.on_columns()) - (own | on_columns);
            // The error is about columns if only column privileges are missing.
            let missing = if takes || !everywhere.is_empty() { everywhere } else { wanted - own };
            if missing.is_empty() {
                return Ok(());
            }
            Err(denied_table(session, &listed(missing), &name.table))
        }
    }
}

/// What error 1142 calls these privileges: GRANT has its place among them.
#[cold]
fn listed(missing: Privileges) -> String {
    let before = Privileges::SELECT | Privileges::INSERT | Privileges::UPDATE | Privileges::DELETE;
    let first = missing & (before | Privileges::CREATE | Privileges::DROP);
    let grant = missing.has(Privileges::GRANT_OPTION).then_some("GRANT");
    let last = missing - first - Privileges::GRANT_OPTION;
    first.names().chain(grant).chain(last.names()).collect::<Vec<_>>().join(", ")
}

/// Error 1146 if there is no such table, unless the grantee may create it, and 1054 or 1143 for columns that
/// are not there or not the session's to grant.
fn ensure_table(session: &Session, name: &FullName, named: &Named) -> Result<(), SqlError> {
    let FullName { schema, table, .. } = name;
    let found = virtual_tables::find(schema, table).or_else(|| {
        let found = session.server.engine.table(schema, table);
        found.ok().map(|found| Arc::clone(&found.def))
    });
    let Some(def) = found else {
        if named.columns.is_empty() && named.privileges.has(Privileges::CREATE) {
            return Ok(());
        }
        if !named.columns.is_empty() && session.server.engine.schema(schema).is_err() {
            return Err(error_map::BAD_DB.with(&[schema]));
        }
        return Err(error_map::NO_SUCH_TABLE.with(&[schema, table]));
    };
    if named.columns.is_empty() {
        return Ok(());
    }
    let own = OnColumns::new(session, &def);
    for (column, set) in &named.columns {
        if def.find_column(column).is_none() {
            return Err(error_map::BAD_FIELD.with(&[column, table]));
        }
        let missing = *set - own.of(column);
        if !missing.is_empty() {
            return Err(denied_column(session, missing, column, table));
        }
    }
    Ok(())
}

/// `by`: the restrictions of the grantor.
fn add(grants: &mut Grants, named: &Named, level: &Level, (with_grant_option, by): (bool, &Restrictions)) {
    match level {
        Level::Everything => {
            // GRANT OPTION of dynamic privileges alone is theirs.
            let only_dynamic = named.privileges == Privileges::GRANT_OPTION && !named.dynamic.is_empty();
            if !(only_dynamic && with_grant_option) {
                grants.add_global(named.privileges, by);
            }
            grants.dynamic = grants.dynamic.with(named.dynamic);
            if with_grant_option {
                grants.dynamic_grantable = grants.dynamic_grantable.with(named.dynamic);
            }
        }
        Level::Schema(pattern) => {
            let added = grants.lift(pattern, named.privileges);
            let known = grants.of_pattern(pattern).unwrap_or_default();
            grants.set_schema(pattern, known | added);
        }
        Level::Table(name) => {
            let known = grants.on_table(&name.schema, &name.table);
            grants.set_table(&name.schema, &name.table, known | named.privileges);
            for (column, set) in &named.columns {
                let known = grants.on_column(&name.schema, &name.table, column);
                grants.set_column((&name.schema, &name.table), column, known | *set);
            }
        }
    }
}

/// Whether there was something to take: on everything that does not matter. `restricts`: what is taken from a
/// database and was not granted there is taken from what is granted on everything, with `partial_revokes`.
fn take(grants: &mut Grants, named: &Named, level: &Level, (takes_all, restricts): (bool, bool)) -> bool {
    match level {
        Level::Everything => {
            grants.take_global(named.privileges);
            grants.dynamic = grants.dynamic.without(named.dynamic);
            grants.dynamic_grantable = grants.dynamic_grantable.without(named.dynamic);
        }
        Level::Schema(pattern) => {
            return take_from_schema(grants, named.privileges, pattern, (takes_all, restricts));
        }
        Level::Table(name) => return take_from_table(grants, named, name, takes_all),
    }
    true
}

fn take_from_schema(
    grants: &mut Grants,
    taken: Privileges,
    schema: &str,
    (takes_all, restricts): (bool, bool),
) -> bool {
    let known = grants.of_pattern(schema).unwrap_or_default();
    let global = if restricts { grants.global } else { Privileges::NONE };
    // ALL takes all of it, unless something is granted on the database itself.
    let has_all = if known.is_empty() && !global.is_empty() {
        global.has(taken)
    } else {
        has_what_is_taken(known | global, taken, takes_all)
    };
    grants.set_schema(schema, known - taken);
    grants.restrict(schema, (taken & global) - known);
    has_all
}

/// A privilege that is revoked on a table is revoked on its columns, too.
fn take_from_table(grants: &mut Grants, named: &Named, name: &FullName, takes_all: bool) -> bool {
    let (schema, table) = (&*name.schema, &*name.table);
    let known = grants.on_table(schema, table) | grants.on_any_column(schema, table);
    let mut has_all = has_what_is_taken(known, named.privileges, takes_all);
    for (column, taken) in &named.columns {
        let known = grants.on_column(schema, table, column);
        has_all &= known.has(*taken);
        grants.set_column((schema, table), column, known - *taken);
    }
    grants.take_from_table(schema, table, named.privileges);
    has_all
}

/// ALL takes what there is; what is named has to be there.
fn has_what_is_taken(known: Privileges, taken: Privileges, takes_all: bool) -> bool {
    if takes_all { known.has_any(taken) } else { known.has(taken) }
}

/// Error 1142 unless the session may see what is granted to accounts: that takes SELECT on `mysql.user`.
pub(crate) fn ensure_may_see_accounts(session: &Session) -> Result<(), SqlError> {
    let access = Access { schema: "mysql".into(), table: "user".into(), want: Want::All(Privileges::SELECT) };
    ensure(session, &[access])
}

/// Name of an account as GRANT writes it.
pub(crate) fn grantee(account: &Account) -> String {
    format!("{}@{}", quoted(&account.user), quoted(&account.host))
}
