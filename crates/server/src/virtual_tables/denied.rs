//! Statements that would change what is not there to be changed: virtual tables and their schemas.

use sql::ast::{AlterAction, Statement, TableName, TableRef};

use super::{INFORMATION, MYSQL, PERFORMANCE, find, schema};
use crate::error_map::{self, SqlError};
use crate::privilege::{denied_schema, denied_table};
use crate::session::Session;

/// Error 1044, 1142 or 3552 if `statement` would change a virtual table or one of their schemas; rows of a
/// join are the binder's.
pub(crate) fn ensure_allowed(session: &Session, statement: &Statement<'_>) -> Result<(), SqlError> {
    let one = |command, table: &TableName<'_>| ensure_table(session, command, table);
    let all = |command, tables: &[TableName<'_>]| tables.iter().try_for_each(|table| one(command, table));
    match statement {
        Statement::Insert(insert) => one("INSERT", &insert.table),
        Statement::LoadData(load) => one("INSERT", &load.table),
        Statement::Update(update) => only_table(update.tables).map_or(Ok(()), |table| one("UPDATE", table)),
        Statement::Delete(delete) if delete.targets.is_empty() => {
            only_table(delete.from).map_or(Ok(()), |table| one("DELETE", table))
        }
        Statement::Delete(delete) => all("DELETE", delete.targets),
        Statement::Truncate(table) => one("DROP", table),
        Statement::DropTable(drop) => all("DROP", drop.tables),
        Statement::DropView(drop) => all("DROP", drop.tables),
        Statement::LockTables(tables) => {
            let mut changed =
                tables.iter().filter(|table| table.write || !is_lockable(session, &table.table));
            changed.try_for_each(|table| one("SELECT, LOCK TABLES", &table.table))
        }
        Statement::CreateTable(create) => ensure_schema(session, create.name.schema),
        Statement::AlterTable(alter) => {
            let new_names = alter.actions.iter().filter_map(|action| match action {
                AlterAction::RenameTable(name) => Some(name.schema),
                _ => None,
            });
            ensure_definable(session, "ALTER", &alter.table)?;
            new_names.into_iter().try_for_each(|name| ensure_schema(session, name))
        }
        Statement::CreateIndex(create) => ensure_definable(session, "INDEX", &create.table),
        Statement::DropIndex(drop) => ensure_definable(session, "INDEX", &drop.table),
        Statement::RenameTable(pairs) => pairs.iter().try_for_each(|(from, to)| {
            ensure_definable(session, "DROP, ALTER", from).and_then(|()| ensure_schema(session, to.schema))
        }),
        // It is there.
        Statement::CreateDatabase(create) if create.if_not_exists && create.name == MYSQL => Ok(()),
        Statement::CreateDatabase(create) => ensure_no_system_schema(session, Some(create.name)),
        Statement::AlterDatabase(alter) => ensure_no_system_schema(session, alter.name),
        Statement::DropDatabase(drop) => ensure_no_system_schema(session, Some(drop.name)),
        _ => Ok(()),
    }
}

fn only_table<'a>(tables: &'a [TableRef<'a>]) -> Option<&'a TableName<'a>> {
    match tables {
        [TableRef::Table(factor)] => Some(&factor.name),
        _ => None,
    }
}

/// The virtual schema that is meant, if it is one.
fn meant(session: &Session, written: Option<&str>) -> Option<&'static str> {
    schema(written.or(session.database.as_deref())?)
}

/// Whether `table` is `performance_schema.host_cache`, which can be emptied and nothing else.
pub(crate) fn is_host_cache(session: &Session, table: &TableName<'_>) -> bool {
    meant(session, table.schema) == Some(PERFORMANCE) && table.name.eq_ignore_ascii_case("host_cache")
}

/// Whether a statement may lock `table` for reading, which takes no lock.
pub(crate) fn is_lockable(session: &Session, table: &TableName<'_>) -> bool {
    meant(session, table.schema) == Some(MYSQL) && find(MYSQL, table.name).is_some()
}

fn ensure_table(session: &Session, command: &str, table: &TableName<'_>) -> Result<(), SqlError> {
    match meant(session, table.schema) {
        Some(INFORMATION) => ensure_schema(session, Some(INFORMATION)),
        // One that is not there is missed later.
        Some(schema) if find(schema, table.name).is_none() => Ok(()),
        Some(_) => Err(denied_table(session, command, table.name)),
        None => Ok(()),
    }
}

/// As [`ensure_table`] for statements that change a definition. Tables of a database `mysql` from before it
/// was the system's can be moved out of it.
fn ensure_definable(session: &Session, command: &str, table: &TableName<'_>) -> Result<(), SqlError> {
    match meant(session, table.schema) {
        Some(MYSQL) => ensure_table(session, command, table),
        _ => ensure_schema(session, table.schema),
    }
}

/// Error 3552 for `mysql`, 1044 for the others.
fn ensure_no_system_schema(session: &Session, written: Option<&str>) -> Result<(), SqlError> {
    match meant(session, written) {
        Some(MYSQL) => Err(error_map::NO_SYSTEM_SCHEMA_ACCESS.with(&[&MYSQL])),
        _ => ensure_schema(session, written),
    }
}

pub(crate) fn ensure_schema(session: &Session, written: Option<&str>) -> Result<(), SqlError> {
    meant(session, written).map_or(Ok(()), |schema| Err(denied_schema(session, schema)))
}
