//! Statements by kind: one call per arm.

use std::borrow::Cow;
use std::sync::Arc;

use sql::ast::{
    Begin, Completion, ComponentStatement, Explain, ExplainTarget, Flush, FlushTarget, Kill as KillStatement,
    MaintainKind, Query, RoleStatement, SetItem, Statement,
};
use types::OwnedValue;
use wire::OkPacket;

use crate::answer::{Answer, Cell, Column, Table};
use crate::audit::{self, Event};
use crate::components;
use crate::constant::evaluate;
use crate::default_database::use_database;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::inputs::Inputs;
use crate::kill;
use crate::new_password::{Generated, GeneratedPassword};
use crate::privilege::{self, DynamicSet, Privileges, ensure_one_of};
use crate::process_list::Kill;
use crate::run::{named, take_rows};
use crate::session::Session;
use crate::status::Com;
use crate::{ddl, roles, set_statement, show, table_locks, transaction, user_statement, virtual_tables};

/// Runs `statement`, whose own text is `text`, and writes its answer.
///
/// # Errors
/// Nothing of the answer has been written then, or the error ends a result set that was begun.
pub fn run(
    session: &mut Session,
    statement: &Statement<'_>,
    text: &[u8],
    inputs: Inputs<'_>,
    answer: &mut Answer<'_>,
) -> Result<(), SqlError> {
    if session.server.is_audited()
        && let Some(kind) = audited_as(statement)
    {
        return run_audited(session, (statement, kind), text, inputs, answer);
    }
    dispatch(session, statement, inputs, answer)
}

/// Runs a statement that goes into the audit log, under the name that comes with it.
#[cold]
fn run_audited(
    session: &mut Session,
    (statement, kind): (&Statement<'_>, &'static str),
    text: &[u8],
    inputs: Inputs<'_>,
    answer: &mut Answer<'_>,
) -> Result<(), SqlError> {
    let lex_mode = session.variables.hot.lex_mode;
    let done = dispatch(session, statement, inputs, answer);
    let text = text.trim_ascii();
    let text = text.strip_suffix(b";").unwrap_or(text);
    let status = done.as_ref().err().map_or(0, |error| error.code);
    let shown = match statement {
        Statement::User(_) | Statement::SetPassword(_) => Cow::Owned(sql::without_secrets(text, lex_mode)),
        _ => Cow::Borrowed(text),
    };
    session.server.audit(|| Event::statement(session.who(), kind, &shown, status));
    done
}

/// Whether the variable that an item sets decides about privileges or the audit log.
fn is_audited(item: &SetItem<'_>) -> bool {
    let SetItem::System(variable, _) = item else { return false };
    let is = |name: &str| variable.name.eq_ignore_ascii_case(name);
    components::is_variable(variable.name)
        || ["mandatory_roles", "activate_all_roles_on_login", "partial_revokes"].into_iter().any(is)
        || audit::VARIABLES.into_iter().any(is)
}

/// MySQL's name of a statement that goes into the audit log: those that change accounts, privileges,
/// definitions or what the log has.
fn audited_as(statement: &Statement<'_>) -> Option<&'static str> {
    Some(match statement {
        Statement::User(user) if user.alter => "alter_user",
        Statement::User(_) => "create_user",
        Statement::SetPassword(_) => "set_password",
        Statement::DropUser(drop) if drop.role => "drop_role",
        Statement::DropUser(_) => "drop_user",
        Statement::RenameUser(_) => "rename_user",
        Statement::Role(role) => match role {
            RoleStatement::Create { .. } => "create_role",
            RoleStatement::Grant { .. } => "grant_roles",
            RoleStatement::Revoke { .. } => "revoke_roles",
            RoleStatement::SetDefault { .. } => "alter_user_default_role",
            RoleStatement::Set(_) => return None,
        },
        Statement::Grant(_) => "grant",
        Statement::Revoke(_) => "revoke",
        Statement::ReloadTls(_) => "alter_instance",
        Statement::Shutdown => "shutdown",
        Statement::Component(component) if component.install => "install_component",
        Statement::Component(_) => "uninstall_component",
        Statement::Set(items) if items.iter().any(is_audited) => "set_option",
        _ => return ddl::command_name(statement),
    })
}

fn dispatch(
    session: &mut Session,
    statement: &Statement<'_>,
    inputs: Inputs<'_>,
    answer: &mut Answer<'_>,
) -> Result<(), SqlError> {
    privilege::ensure_statement(session, statement)?;
    match *statement {
        Statement::Set(items) => {
            session.counters.count(Com::SetOption);
            set_statement::run(session, items, inputs)?;
        }
        Statement::SetTransaction(set) => {
            session.counters.count(Com::SetOption);
            set_statement::set_transaction(session, set)?;
        }
        Statement::SetPassword(_) | Statement::User(_) => {
            return change_passwords(session, statement, answer);
        }
        Statement::Use(name) => use_schema(session, name)?,
        Statement::Begin(begin) => start(session, begin)?,
        Statement::Commit(completion) => finish(session, completion, true)?,
        Statement::Rollback(completion) => finish(session, completion, false)?,
        Statement::Savepoint(name) => transaction::savepoint(session, name)?,
        Statement::RollbackTo(name) => transaction::rollback_to(session, name)?,
        Statement::ReleaseSavepoint(name) => transaction::release_savepoint(session, name)?,
        Statement::DropUser(_) | Statement::RenameUser(_) | Statement::Grant(_) | Statement::Revoke(_) => {
            change_accounts(session, statement)?;
        }
        Statement::Role(role) => run_role(session, role)?,
        Statement::Kill(kill) => run_kill(session, kill, inputs)?,
        Statement::Flush(flush) => {
            session.counters.count(Com::Flush);
            run_flush(session, flush)?;
        }
        Statement::Query(query @ Query { into: Some(sql::ast::Into::Vars(names)), .. }) => {
            return take_rows::into_variables(session, query, names, inputs, answer);
        }
        Statement::Prepare(prepare) => return named::prepare(session, prepare, answer),
        Statement::Execute(execute) => return named::execute(session, execute, answer),
        Statement::Deallocate(name) => named::deallocate(session, name)?,
        Statement::UnlockTables => table_locks::unlock(session)?,
        Statement::LockTables(tables) => table_locks::lock(session, statement, tables)?,
        Statement::Show(_) | Statement::Describe(_) | Statement::Explain(_) => {
            return run_show(session, statement, inputs, answer);
        }
        Statement::Maintain(maintain) => {
            begin_maintenance(session, maintain.kind)?;
            return run_show(session, statement, inputs, answer);
        }
        Statement::Truncate(table) if virtual_tables::is_host_cache(session, &table) => {
            session.server.hosts.clear();
        }
        _ if ddl::is_definition(statement) => return run_definition(session, statement, inputs, answer),
        Statement::Call(call) => return Err(ddl::program::unknown_procedure(session, &call.procedure)),
        Statement::Shutdown => shut_down(session)?,
        Statement::Component(component) => change_components(session, component)?,
        Statement::ReloadTls(gives_up) => reload_tls(session, gives_up)?,
        _ => return Err(not_yet(statement.name())),
    }
    answer.plain_ok(session);
    Ok(())
}

/// CREATE USER, ALTER USER and SET PASSWORD, which answer with the passwords that they generate; OK if there
/// are none.
#[cold]
fn change_passwords(
    session: &mut Session,
    statement: &Statement<'_>,
    answer: &mut Answer<'_>,
) -> Result<(), SqlError> {
    session.counters.count(match statement {
        Statement::User(user) if user.alter => Com::AlterUser,
        Statement::User(_) => Com::CreateUser,
        _ => Com::SetOption,
    });
    transaction::commit_implicitly(session)?;
    let generated = match *statement {
        Statement::User(user) => user_statement::create_or_alter(session, user)?,
        Statement::SetPassword(set) => user_statement::set_password(session, set)?,
        _ => return Err(not_yet(statement.name())),
    };
    if generated.all().is_empty() {
        answer.plain_ok(session);
        return Ok(());
    }
    let warnings = session.diagnostics.packet_count();
    answer.table(session, &generated_table(&generated), warnings);
    Ok(())
}

/// The factor of logins that passwords are: there is no other.
const AUTH_FACTOR: i64 = 1;

fn generated_table(generated: &Generated) -> Table {
    let [user, host, password] = ["user", "host", "generated password"].map(Column::name);
    let mut table = Table::new(vec![user, host, password, Column::int("auth_factor")]);
    for GeneratedPassword { user, host, password } in generated.all() {
        let [user, host, password] = [user, host, password].map(Cell::text);
        table.push(vec![user, host, password, Cell::Int(AUTH_FACTOR)]);
    }
    table
}

/// DROP and RENAME USER, GRANT, REVOKE.
#[cold]
fn change_accounts(session: &mut Session, statement: &Statement<'_>) -> Result<(), SqlError> {
    match statement {
        Statement::DropUser(drop) if drop.role => session.counters.count(Com::DropRole),
        Statement::DropUser(_) => session.counters.count(Com::DropUser),
        Statement::Grant(_) => session.counters.count(Com::Grant),
        Statement::Revoke(_) => session.counters.count(Com::Revoke),
        _ => {}
    }
    transaction::commit_implicitly(session)?;
    match *statement {
        Statement::DropUser(drop) => user_statement::drop(session, drop),
        Statement::RenameUser(pairs) => user_statement::rename(session, pairs),
        Statement::Grant(grant) => privilege::grant(session, grant),
        Statement::Revoke(revoke) => privilege::revoke(session, revoke),
        _ => Err(not_yet(statement.name())),
    }
}

/// CREATE ROLE, GRANT and REVOKE of roles, SET ROLE.
#[cold]
fn run_role(session: &mut Session, statement: &RoleStatement<'_>) -> Result<(), SqlError> {
    session.counters.count(match statement {
        RoleStatement::Create { .. } => Com::CreateRole,
        RoleStatement::Grant { .. } => Com::GrantRoles,
        RoleStatement::Revoke { .. } => Com::RevokeRoles,
        RoleStatement::Set(_) => Com::SetRole,
        RoleStatement::SetDefault { .. } => Com::AlterUserDefaultRole,
    });
    if !matches!(statement, RoleStatement::Set(_)) {
        transaction::commit_implicitly(session)?;
    }
    match *statement {
        RoleStatement::Create { if_not_exists, roles } => roles::create(session, roles, if_not_exists),
        RoleStatement::Grant { roles, users, with_admin } => roles::grant(session, roles, users, with_admin),
        RoleStatement::Revoke { if_exists, roles, users, ignores_unknown } => {
            roles::revoke(session, roles, users, if_exists, ignores_unknown)
        }
        RoleStatement::Set(choice) => roles::set(session, &choice),
        RoleStatement::SetDefault { roles, users } => roles::set_default(session, &roles, users),
    }
}

fn use_schema(session: &mut Session, name: &str) -> Result<(), SqlError> {
    session.counters.count(Com::ChangeDb);
    use_database(session, name)
}

/// Whether running `statement` leaves the diagnostics area as it is: it reads the conditions of the one
/// before.
pub(crate) fn keeps_diagnostics(statement: &Statement<'_>) -> bool {
    use sql::ast::ShowKind::{CountErrors, CountWarnings, Errors, Warnings};
    matches!(statement, Statement::Show(show) if matches!(show.kind, Warnings | Errors | CountWarnings | CountErrors))
}

/// Whether MySQL counts a statement as one that changes data.
pub(crate) fn changes_data(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::LoadData(_) => true,
        Statement::User(_) | Statement::SetPassword(_) => true,
        Statement::DropUser(_) | Statement::RenameUser(_) => true,
        Statement::Grant(_) | Statement::Revoke(_) | Statement::ReloadTls(_) => true,
        Statement::Role(role) => !matches!(role, RoleStatement::Set(_)),
        Statement::Maintain(maintain) => maintain.kind == MaintainKind::Optimize,
        Statement::Explain(Explain { target: ExplainTarget::Statement(explained), .. }) => {
            changes_data(explained)
        }
        _ => ddl::is_definition(statement),
    }
}

#[cold]
fn not_yet(what: &str) -> SqlError {
    error_map::NOT_SUPPORTED_YET.with(&[&what])
}

fn start(session: &mut Session, begin: Begin) -> Result<(), SqlError> {
    session.counters.count(Com::Begin);
    let next = session.next_transaction.read_only;
    let read_only = begin.read_only.or(next).unwrap_or(session.variables.hot.transaction_read_only);
    transaction::begin(session, read_only, begin.consistent_snapshot)
}

fn finish(session: &mut Session, completion: Completion, keep: bool) -> Result<(), SqlError> {
    let usual = session.variables.hot.completion;
    let chains = completion.chain.or(usual.chain) == Some(true);
    let releases = completion.release.or(usual.release) == Some(true);
    let read_only = session.transaction.read_only;
    if keep {
        session.counters.count(Com::Commit);
        transaction::commit(session)?;
    } else {
        session.counters.count(Com::Rollback);
        transaction::rollback(session);
    }
    if chains {
        transaction::begin(session, read_only, false)?;
    }
    if releases {
        session.process.kill_self(Kill::Connection);
    }
    Ok(())
}

/// SHUTDOWN: the server ends, as by SIGTERM, once the client has the answer.
fn shut_down(session: &mut Session) -> Result<(), SqlError> {
    ensure_one_of(session, Privileges::SHUTDOWN, DynamicSet::default(), "SHUTDOWN")?;
    session.ends_server = true;
    session.process.kill_self(Kill::Connection);
    Ok(())
}

/// INSTALL COMPONENT, UNINSTALL COMPONENT.
#[cold]
fn change_components(session: &mut Session, statement: &ComponentStatement<'_>) -> Result<(), SqlError> {
    transaction::commit_implicitly(session)?;
    let server = &session.server;
    if statement.install {
        let variables = (&server.variables, &server.options.variables);
        return server.components.install(&server.engine, statement.urns, variables);
    }
    server.components.uninstall(&server.engine, statement.urns)
}

/// ALTER INSTANCE RELOAD TLS. `gives_up`: after an error, which is a warning then, TLS is not offered.
#[cold]
fn reload_tls(session: &mut Session, gives_up: bool) -> Result<(), SqlError> {
    ensure_one_of(session, Privileges::NONE, DynamicSet::CONNECTION_ADMIN, "CONNECTION_ADMIN")?;
    transaction::commit_implicitly(session)?;
    let Err(line) = session.server.reload_tls() else { return Ok(()) };
    let error = error_map::SSL_LIBRARY_ERROR.with(&[&line]);
    if !gives_up {
        return Err(error);
    }
    session.server.tls.store(None);
    session.warn(Severity::Warning, error);
    Ok(())
}

fn run_kill(session: &mut Session, kill: &KillStatement<'_>, inputs: Inputs<'_>) -> Result<(), SqlError> {
    session.counters.count(Com::Kill);
    let id = match evaluate(session, &kill.id, inputs)? {
        OwnedValue::Int(id) => u64::try_from(id).unwrap_or(u64::MAX),
        OwnedValue::UInt(id) => id,
        other => other.as_value().display_text().parse().unwrap_or(0),
    };
    kill::kill(session, id, if kill.query { Kill::Query } else { Kill::Connection })
}

/// FLUSH forgets what is known of hosts, and failed logins and counts of accounts. All else that it may name
/// is never stale here.
fn run_flush(session: &Session, flush: &Flush<'_>) -> Result<(), SqlError> {
    flush.targets.iter().try_for_each(|target| ensure_may_flush(session, target))?;
    let idle = |target: &FlushTarget<'_>| {
        matches!(
            target,
            FlushTarget::Privileges
                | FlushTarget::Status
                | FlushTarget::Logs
                | FlushTarget::Hosts
                | FlushTarget::UserResources
                | FlushTarget::OptimizerCosts
        )
    };
    if !flush.targets.iter().all(idle) {
        return Err(not_yet("FLUSH TABLES"));
    }
    if flush.targets.iter().any(|target| matches!(target, FlushTarget::UserResources)) {
        session.server.resource_use.reset_all();
    }
    if flush.targets.iter().any(|target| matches!(target, FlushTarget::Privileges)) {
        session.server.resource_use.renew_all(&session.server.accounts);
        session.server.accounts.directory().all().iter().for_each(|account| account.lockout.forget());
    }
    if flush.targets.iter().any(|target| matches!(target, FlushTarget::Hosts)) {
        session.server.hosts.clear();
    }
    Ok(())
}

/// Error 1227 unless the account may flush `target`.
fn ensure_may_flush(session: &Session, target: &FlushTarget<'_>) -> Result<(), SqlError> {
    let (dynamic, what) = match target {
        FlushTarget::Tables(_) | FlushTarget::TablesWithReadLock(_) | FlushTarget::TablesForExport(_) => {
            (DynamicSet::FLUSH_TABLES, "RELOAD or FLUSH_TABLES")
        }
        FlushTarget::Privileges => (DynamicSet::FLUSH_PRIVILEGES, "RELOAD or FLUSH_PRIVILEGES"),
        FlushTarget::Status => (DynamicSet::FLUSH_STATUS, "RELOAD or FLUSH_STATUS"),
        FlushTarget::Logs | FlushTarget::Hosts => (DynamicSet::default(), "RELOAD"),
        FlushTarget::UserResources => (DynamicSet::FLUSH_USER_RESOURCES, "RELOAD or FLUSH_USER_RESOURCES"),
        FlushTarget::OptimizerCosts => (DynamicSet::FLUSH_OPTIMIZER_COSTS, "RELOAD or FLUSH_OPTIMIZER_COSTS"),
    };
    ensure_one_of(session, Privileges::RELOAD, dynamic, what)
}

fn begin_maintenance(session: &mut Session, kind: MaintainKind) -> Result<(), SqlError> {
    if kind == MaintainKind::Checksum {
        // It reads in the session's transaction.
        return Ok(());
    }
    transaction::commit(session)?;
    match kind {
        MaintainKind::Optimize if session.server.engine.is_read_only() => {
            Err(error_map::INNODB_READ_ONLY.bare())
        }
        MaintainKind::Optimize | MaintainKind::Repair => transaction::ensure_may_write(session),
        MaintainKind::Analyze | MaintainKind::Check | MaintainKind::Checksum => Ok(()),
    }
}

/// Answers with a small table.
fn run_show(
    session: &mut Session,
    statement: &Statement<'_>,
    inputs: Inputs<'_>,
    answer: &mut Answer<'_>,
) -> Result<(), SqlError> {
    let engine = Arc::clone(&session.server.engine);
    let table = show::rows(session, &engine, statement, inputs)?;
    let (row_count, found_rows) = (session.row_count, session.found_rows);
    let keeps = keeps_diagnostics(statement);
    // The conditions that SHOW WARNINGS shows are those of the statement before.
    let warnings = if keeps { 0 } else { session.diagnostics.packet_count() };
    answer.table(session, &table, warnings);
    if keeps {
        (session.row_count, session.found_rows) = (row_count, found_rows);
    }
    Ok(())
}

/// Changes definitions, in a transaction of their own.
fn run_definition(
    session: &mut Session,
    statement: &Statement<'_>,
    inputs: Inputs<'_>,
    answer: &mut Answer<'_>,
) -> Result<(), SqlError> {
    transaction::commit_implicitly(session)?;
    let engine = Arc::clone(&session.server.engine);
    if engine.is_read_only() {
        return Err(error_map::INNODB_READ_ONLY.bare());
    }
    let done = ddl::execute(session, &engine, statement, inputs)?;
    session.row_count = done.affected as i64;
    let ok = OkPacket { affected_rows: done.affected, info: done.info.as_bytes(), ..OkPacket::default() };
    answer.ok(session, &ok);
    Ok(())
}
