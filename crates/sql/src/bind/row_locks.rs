//! FOR UPDATE and FOR SHARE: which tables their rows are locked of.

use super::BindError;
use super::binder::Binder;
use super::scope::Scope;
use crate::ast::{LockClause, TableName};
use crate::plan::{RowLock, RowLocks};

impl<'a> Binder<'a, '_> {
    /// Resolves the locking clauses of the current query, whose FROM is bound.
    ///
    /// # Errors
    /// 3568 for a table after OF that the query does not have, 3569 for one that two clauses are about.
    pub(super) fn row_locks(&mut self, clauses: &'a [LockClause<'a>]) -> Result<RowLocks, BindError> {
        let scope = &self.level().scope;
        let mut locks = RowLocks::default();
        for clause in clauses {
            let lock = RowLock { exclusive: clause.exclusive, wait: clause.wait };
            if clause.of.is_empty() {
                lock_rest(&mut locks, lock, scope)?;
            }
            for name in clause.of {
                lock_named(&mut locks, lock, name, scope)?;
            }
        }
        Ok(locks)
    }
}

/// A clause without OF is about every table.
fn lock_rest(locks: &mut RowLocks, lock: RowLock, scope: &Scope) -> Result<(), BindError> {
    if let Some(table) = scope.tables.iter().find(|table| locks.of_rel(table.rel).is_some()) {
        return Err(BindError::DuplicateTableLock(table.alias.to_string()));
    }
    locks.rest = Some(lock);
    Ok(())
}

fn lock_named(
    locks: &mut RowLocks,
    lock: RowLock,
    name: &TableName<'_>,
    scope: &Scope,
) -> Result<(), BindError> {
    let Some(table) = scope.find_table(name) else {
        return Err(BindError::UnresolvedTableLock(name.name.to_owned()));
    };
    let (rel, is_derived) = (scope.tables[table].rel, scope.tables[table].schema().is_none());
    // MySQL takes the rows of a derived table for locked by its own query.
    if is_derived || locks.of_rel(rel).is_some() {
        return Err(BindError::DuplicateTableLock(format!("`{}`", name.name)));
    }
    locks.of.push((rel, lock));
    Ok(())
}
