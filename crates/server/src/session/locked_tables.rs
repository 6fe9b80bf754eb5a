//! The tables that LOCK TABLES has locked for a session.

use engine::TableLock;
use sql::ast::TableName;
use sql::plan::{Plan, TableUsed};

use crate::error_map::{self, SqlError};
use crate::full_name::FullName;

/// The tables that a session has locked.
#[derive(Debug)]
pub struct TableLocks {
    entries: Vec<LockedTable>,
    /// Held until they are dropped.
    _locks: Vec<TableLock>,
}

/// A table as LOCK TABLES has named it.
#[derive(Debug)]
pub(crate) struct LockedTable {
    pub(crate) name: FullName,
    pub(crate) alias: String,
    /// It may be written.
    pub(crate) write: bool,
}

impl TableLocks {
    /// The tables `entries`, which `locks` keep from others.
    pub(crate) fn new(entries: Vec<LockedTable>, locks: Vec<TableLock>) -> Self {
        TableLocks { entries, _locks: locks }
    }

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
        let fits = |entry: &LockedTable| {
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
    /// pairs give are those of such tables. `default`: the default database.
    pub(crate) fn ensure_renamable(
        &self,
        default: Option<&str>,
        pairs: &[(TableName<'_>, TableName<'_>)],
    ) -> Result<(), SqlError> {
        let mut given: Vec<FullName> = Vec::with_capacity(pairs.len());
        for (from, to) in pairs {
            if !given.contains(&FullName::resolve(default, from)?) {
                self.ensure_written(default, from)?;
            }
            given.push(FullName::resolve(default, to)?);
        }
        Ok(())
    }

    /// Error 1100 if `table` is not locked. `default`: the default database.
    pub(crate) fn ensure_locked(&self, default: Option<&str>, table: &TableName<'_>) -> Result<(), SqlError> {
        let name = FullName::resolve(default, table)?;
        let is_locked = self.entries.iter().any(|entry| entry.name == name);
        if is_locked { Ok(()) } else { Err(error_map::TABLE_NOT_LOCKED.with(&[&table.name])) }
    }

    /// Error 1100 or 1099 if `table` is not locked for writing. `default`: the default database.
    pub(crate) fn ensure_written(
        &self,
        default: Option<&str>,
        table: &TableName<'_>,
    ) -> Result<(), SqlError> {
        let name = FullName::resolve(default, table)?;
        let mut entries = self.entries.iter().filter(|entry| entry.name == name).peekable();
        if entries.peek().is_none() {
            return Err(error_map::TABLE_NOT_LOCKED.with(&[&table.name]));
        }
        let written = entries.any(|entry| entry.write);
        if written { Ok(()) } else { Err(error_map::TABLE_NOT_LOCKED_FOR_WRITE.with(&[&table.name])) }
    }
}
