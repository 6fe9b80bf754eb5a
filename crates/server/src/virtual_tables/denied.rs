//! Statements that would change what is not there to be changed: virtual tables and their schemas.

use sql::ast::{AlterAction, Statement, TableName, TableRef};

use super::{INFORMATION, PERFORMANCE, find, schema};
use crate::error_map::SqlError;
use crate::privilege::{denied_schema, denied_table};
use crate::session::Session;

/// Error 1044 or 1142 if `statement` would change a virtual table or one of their schemas; rows of a join are
/// the binder's.
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
            tables.iter().try_for_each(|table| one("SELECT, LOCK TABLES", &table.table))
        }
        Statement::CreateTable(create) => ensure_schema(session, create.name.schema),
        Statement::AlterTable(alter) => {
            let new_names = alter.actions.iter().filter_map(|action| match action {
                AlterAction::RenameTable(name) => Some(name.schema),
                _ => None,
            });
            std::iter::once(alter.table.schema)
                .chain(new_names)
                .try_for_each(|name| ensure_schema(session, name))
        }
        Statement::CreateIndex(create) => ensure_schema(session, create.table.schema),
        Statement::DropIndex(drop) => ensure_schema(session, drop.table.schema),
        Statement::RenameTable(pairs) => pairs.iter().try_for_each(|(from, to)| {
            ensure_schema(session, from.schema).and_then(|()| ensure_schema(session, to.schema))
        }),
        Statement::CreateDatabase(create) => ensure_schema(session, Some(create.name)),
        Statement::AlterDatabase(alter) => ensure_schema(session, alter.name),
        Statement::DropDatabase(drop) => ensure_schema(session, Some(drop.name)),
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

fn ensure_table(session: &Session, command: &str, table: &TableName<'_>) -> Result<(), SqlError> {
    match meant(session, table.schema) {
        // One that is not there is missed later.
        Some(PERFORMANCE) if find(PERFORMANCE, table.name).is_none() => Ok(()),
        Some(PERFORMANCE) => Err(denied_table(session, command, table.name)),
        Some(_) => ensure_schema(session, Some(INFORMATION)),
        None => Ok(()),
    }
}

pub(crate) fn ensure_schema(session: &Session, written: Option<&str>) -> Result<(), SqlError> {
    meant(session, written).map_or(Ok(()), |schema| Err(denied_schema(session, schema)))
}
