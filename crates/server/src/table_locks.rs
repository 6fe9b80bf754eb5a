//! LOCK TABLES and UNLOCK TABLES: while a session has tables locked, it uses no others, and those as it has
//! said.

use engine::{TableLock, TableRequest};
use sql::ast::{LockTable, Statement, TableName};
use sql::plan::{Plan, TableUsed};

use crate::ddl::names::FullName;
use crate::ddl::{lock_wait, refused};
use crate::error_map::{self, SqlError};
use crate::session::Session;
use crate::status::Com;
use crate::{transaction, virtual_tables};

/// The tables that a session has locked.
#[derive(Debug)]
pub struct TableLocks {
    entries: Vec<Entry>,
    /// Held until they are dropped.
    _locks: Vec<TableLock>,
}

/// A table as LOCK TABLES has named it.
#[derive(Debug)]
struct Entry {
    name: FullName,
    alias: String,
    write: bool,
}

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
    release(session);
    if tables.iter().any(|table| table.write) {
        transaction::ensure_may_write(session)?;
    }
    let entries = entries(session, tables)?;
    let mut requests: Vec<TableRequest> = Vec::with_capacity(entries.len());
    for Entry { name, write, .. } in &entries {
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
    let locks = locked.map_err(|error| refused(session, &error))?;
    session.table_locks = Some(Box::new(TableLocks { entries, _locks: locks }));
    session.note_checks();
    transaction::note_table_locks(session);
    Ok(())
}

fn entries(session: &Session, tables: &[LockTable<'_>]) -> Result<Vec<Entry>, SqlError> {
    let mut entries: Vec<Entry> = Vec::with_capacity(tables.len());
    for table in tables {
        let name = FullName::resolve(session, &table.table)?;
        let alias = table.alias.unwrap_or(table.table.name).to_owned();
        if entries.iter().any(|known| known.alias == alias && known.name.schema == name.schema) {
            return Err(error_map::NONUNIQ_TABLE.with(&[&alias]));
        }
        if virtual_tables::is_lockable(session, &table.table) {
            continue;
        }
        name.open(session, &session.server.engine)?;
        entries.push(Entry { name, alias, write: table.write });
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
        release(session);
    }
    Ok(())
}

/// Gives back what is locked.
pub fn release(session: &mut Session) {
    if session.table_locks.take().is_some() {
        session.note_checks();
        transaction::note_table_locks(session);
    }
}

impl TableLocks {
    /// Error 1100 or 1099 if `plan` uses a table that is not locked, or not for that. Each name is good for
    /// one use.
    #[cold]
    pub(crate) fn ensure_covers(&self, plan: &Plan) -> Result<(), SqlError> {
        let mut spent = vec![false; self.entries.len()];
        let mut result = Ok(());
        plan.for_each_table(&mut |used| {
            if result.is_ok() {
                result = self.cover(&used, &mut spent);
            }
        });
        result
    }

    fn cover(&self, used: &TableUsed<'_>, spent: &mut [bool]) -> Result<(), SqlError> {
        let fits = |entry: &Entry| {
            entry.alias.eq_ignore_ascii_case(used.alias)
                && *entry.name.schema == *used.def.schema
                && *entry.name.table == *used.def.name
        };
        let found = self.entries.iter().zip(spent).find(|(entry, spent)| fits(entry) && !**spent);
        let (entry, spent) = found.ok_or_else(|| error_map::TABLE_NOT_LOCKED.with(&[&used.alias]))?;
        if used.writes && !entry.write {
            return Err(error_map::TABLE_NOT_LOCKED_FOR_WRITE.with(&[&used.alias]));
        }
        *spent = true;
        Ok(())
    }

    /// The table `from` has the name `to` now. It stays locked.
    pub(crate) fn rename(&mut self, from: &FullName, to: &FullName) {
        for entry in self.entries.iter_mut().filter(|entry| entry.name == *from) {
            if entry.alias == from.table {
                entry.alias.clone_from(&to.table);
            }
            entry.name = to.clone();
        }
    }

    /// Error 1100 or 1099 if RENAME TABLE uses a table that is not locked for writing. Names that earlier
    /// pairs give are those of such tables.
    fn ensure_renamable(
        &self,
        session: &Session,
        pairs: &[(TableName<'_>, TableName<'_>)],
    ) -> Result<(), SqlError> {
        let mut given: Vec<FullName> = Vec::with_capacity(pairs.len());
        for (from, to) in pairs {
            if !given.contains(&FullName::resolve(session, from)?) {
                self.ensure_written(session, from)?;
            }
            given.push(FullName::resolve(session, to)?);
        }
        Ok(())
    }

    /// Error 1100 if `table` is not locked.
    pub(crate) fn ensure_locked(&self, session: &Session, table: &TableName<'_>) -> Result<(), SqlError> {
        let name = FullName::resolve(session, table)?;
        let is_locked = self.entries.iter().any(|entry| entry.name == name);
        if is_locked { Ok(()) } else { Err(error_map::TABLE_NOT_LOCKED.with(&[&table.name])) }
    }

    /// Error 1100 or 1099 if `table` is not locked for writing.
    pub(crate) fn ensure_written(&self, session: &Session, table: &TableName<'_>) -> Result<(), SqlError> {
        let name = FullName::resolve(session, table)?;
        let mut entries = self.entries.iter().filter(|entry| entry.name == name).peekable();
        if entries.peek().is_none() {
            return Err(error_map::TABLE_NOT_LOCKED.with(&[&table.name]));
        }
        let written = entries.any(|entry| entry.write);
        if written { Ok(()) } else { Err(error_map::TABLE_NOT_LOCKED_FOR_WRITE.with(&[&table.name])) }
    }
}

/// Error 1100, 1099 or 1192 if the DDL statement `statement` may not be made with the session's locked
/// tables.
pub(crate) fn ensure_definable(session: &Session, statement: &Statement<'_>) -> Result<(), SqlError> {
    let Some(locks) = &session.table_locks else { return Ok(()) };
    let one = |table: &TableName<'_>| locks.ensure_written(session, table);
    match statement {
        Statement::DropTable(drop) => drop.tables.iter().try_for_each(one),
        Statement::Truncate(table) => one(table),
        Statement::AlterTable(alter) => one(&alter.table),
        Statement::CreateIndex(create) => one(&create.table),
        Statement::DropIndex(drop) => one(&drop.table),
        Statement::RenameTable(pairs) => locks.ensure_renamable(session, pairs),
        Statement::CreateTable(create) => Err(error_map::TABLE_NOT_LOCKED.with(&[&create.name.name])),
        _ => Err(error_map::LOCK_OR_ACTIVE_TRANSACTION.bare()),
    }
}
