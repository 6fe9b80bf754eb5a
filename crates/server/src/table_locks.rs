//! LOCK TABLES and UNLOCK TABLES: while a session has tables locked, it uses no others, and those as it has
//! said.

use std::sync::Arc;
use std::time::Duration;

use engine::{ExclusiveWait, TableRequest};
use sql::ast::{LockTable, Statement, TableName};

use crate::catalog::open_table;
use crate::engine_error;
use crate::error_map::{self, SqlError};
use crate::full_name::FullName;
use crate::session::Session;
use crate::session::locked_tables::{LockedTable, TableLocks};
use crate::status::Com;
use crate::{transaction, virtual_tables};

/// LOCK TABLES: commits, and gives back what was locked before.
///
/// # Errors
/// 1044, 1142, 1046, 1049, 1146, 1066, 1205, 1317; nothing is locked then.
pub fn lock(
    session: &mut Session,
    statement: &Statement<'_>,
    tables: &[LockTable<'_>],
) -> Result<(), SqlError> {
    session.counters.count(Com::LockTables);
    virtual_tables::ensure_allowed(session, statement)?;
    transaction::commit(session)?;
    session.release_table_locks();
    if tables.iter().any(|table| table.write) {
        transaction::ensure_may_write(session)?;
    }
    let entries = entries(session, tables)?;
    let mut requests: Vec<TableRequest> = Vec::with_capacity(entries.len());
    for LockedTable { name, write, .. } in &entries {
        match requests.iter_mut().find(|known| known.schema == name.schema && known.name == name.table) {
            Some(known) => known.write |= write,
            None => requests.push(TableRequest {
                schema: name.schema.clone(),
                name: name.table.clone(),
                write: *write,
            }),
        }
    }
    let locked = session.server.engine.lock_tables(&requests, &lock_wait(session));
    let locks = locked.map_err(|error| engine_error::sql_error(&error, &session.variables.hot.time_zone))?;
    session.set_table_locks(Some(Box::new(TableLocks::new(entries, locks))));
    Ok(())
}

fn entries(session: &Session, tables: &[LockTable<'_>]) -> Result<Vec<LockedTable>, SqlError> {
    let mut entries: Vec<LockedTable> = Vec::with_capacity(tables.len());
    for table in tables {
        let name = FullName::resolve(session.database.as_deref(), &table.table)?;
        let alias = table.alias.unwrap_or(table.table.name).to_owned();
        if entries.iter().any(|known| known.alias == alias && known.name.schema == name.schema) {
            return Err(error_map::NONUNIQ_TABLE.with(&[&alias]));
        }
        if virtual_tables::is_lockable(session, &table.table) {
            continue;
        }
        open_table(session, &session.server.engine, &name)?;
        entries.push(LockedTable { name, alias, write: table.write });
    }
    Ok(entries)
}

/// UNLOCK TABLES: commits what was done with the tables. Without locked tables nothing happens.
///
/// # Errors
/// Those of [`transaction::commit`].
pub fn unlock(session: &mut Session) -> Result<(), SqlError> {
    session.counters.count(Com::UnlockTables);
    if session.table_locks.is_some() {
        transaction::commit(session)?;
        session.release_table_locks();
    }
    Ok(())
}

/// How long a statement waits for tables that others use, and its client.
pub(crate) fn lock_wait(session: &Session) -> ExclusiveWait {
    let timeout = Duration::from_secs(session.variables.hot.lock_wait_timeout);
    let process = Arc::clone(&session.process);
    ExclusiveWait { timeout, session: u64::from(process.id()), client: Some(process) }
}

/// Error 1100, 1099 or 1192 if the DDL statement `statement` may not be made with the session's locked
/// tables.
pub(crate) fn ensure_definable(session: &Session, statement: &Statement<'_>) -> Result<(), SqlError> {
    let Some(locks) = &session.table_locks else { return Ok(()) };
    let one = |table: &TableName<'_>| locks.ensure_written(session.database.as_deref(), table);
    match statement {
        Statement::DropTable(drop) => drop.tables.iter().try_for_each(one),
        Statement::Truncate(table) => one(table),
        Statement::AlterTable(alter) => one(&alter.table),
        Statement::CreateIndex(create) => one(&create.table),
        Statement::DropIndex(drop) => one(&drop.table),
        Statement::RenameTable(pairs) => locks.ensure_renamable(session.database.as_deref(), pairs),
        Statement::CreateTable(create) => Err(error_map::TABLE_NOT_LOCKED.with(&[&create.name.name])),
        _ => Err(error_map::LOCK_OR_ACTIVE_TRANSACTION.bare()),
    }
}
