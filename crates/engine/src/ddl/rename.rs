//! RENAME TABLE.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use trx::ExclusiveWait;

use crate::catalog::Catalog;
use crate::dictionary::Change;
use crate::engine::Engine;
use crate::error::{Error, NameError, Result};
use crate::index::Index;
use crate::table::Table;

/// A schema and a table in it.
pub type QualifiedName<'n> = (&'n str, &'n str);

impl Engine {
    /// [`Engine::rename_tables`] of one table.
    pub fn rename_table(
        &self,
        from: QualifiedName<'_>,
        to: QualifiedName<'_>,
        wait: impl Into<ExclusiveWait>,
    ) -> Result<()> {
        self.rename_tables(&[(from, to)], wait)
    }

    /// RENAME TABLE, also into other schemas: pair after pair, each finding the names that the pairs before
    /// it have left. All are renamed, or none. Waits up to `wait` for the tables to be unused; the session
    /// has committed.
    ///
    /// # Errors
    /// [`Error::Name`]; lock errors.
    pub fn rename_tables(
        &self,
        pairs: &[(QualifiedName<'_>, QualifiedName<'_>)],
        wait: impl Into<ExclusiveWait>,
    ) -> Result<()> {
        self.ensure_open()?;
        // The last look's tables: those that are locked when the work begins.
        let moved = RefCell::default();
        let find = |catalog: &Catalog| {
            let found = find_moved(catalog, pairs)?;
            let tables = found.iter().map(|(_, table)| Arc::clone(table)).collect();
            moved.replace(found);
            Ok(tables)
        };
        self.with_all_exclusive(&wait.into(), find, |_| {
            let mut moved = moved.take();
            moved.retain(|(name, table)| !is_named(table, *name));
            if moved.is_empty() {
                return Ok(());
            }
            let replaced: Vec<(&Table, Option<Arc<Table>>)> =
                moved.iter().map(|(name, table)| (&**table, Some(renamed(table, *name)))).collect();
            self.replace_tables(&replaced, Change::new(), |_| {})
        })?;
        self.flush_change()
    }
}

fn is_named(table: &Table, (schema, name): QualifiedName<'_>) -> bool {
    (&*table.def.schema, &*table.def.name) == (schema, name)
}

/// The table under another name.
fn renamed(table: &Table, (schema, name): QualifiedName<'_>) -> Arc<Table> {
    let mut def = (*table.def).clone();
    (def.schema, def.name) = (schema.into(), name.into());
    let indexes = table.indexes.iter().map(Index::again).collect();
    Table::with(def, table.history(), indexes, Arc::clone(&table.state))
}

/// The tables that the pairs move, each with the name that it has at last.
fn find_moved<'n>(
    catalog: &Catalog,
    pairs: &[(QualifiedName<'n>, QualifiedName<'n>)],
) -> Result<Vec<(QualifiedName<'n>, Arc<Table>)>> {
    // Names that pairs have given or taken.
    let mut names: BTreeMap<QualifiedName<'n>, Option<Arc<Table>>> = BTreeMap::new();
    for &(from, to) in pairs {
        let is_taken = match names.get(&to) {
            Some(table) => table.is_some(),
            None => catalog.table(to.0, to.1).is_ok(),
        };
        if is_taken {
            return Err(NameError::TableExists(to.1.into()).into());
        }
        let table = match names.get(&from) {
            Some(Some(table)) => Arc::clone(table),
            Some(None) => return Err(Error::no_such_table(from.0, from.1)),
            None => Arc::clone(catalog.table(from.0, from.1)?),
        };
        catalog.schema(to.0)?;
        names.insert(from, None);
        names.insert(to, Some(table));
    }
    Ok(names.into_iter().filter_map(|(name, table)| Some((name, table?))).collect())
}
