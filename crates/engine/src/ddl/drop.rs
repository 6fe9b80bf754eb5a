//! DROP TABLE, DROP SCHEMA.

use std::sync::Arc;

use base::IndexId;
use trx::ExclusiveWait;

use super::QualifiedName;
use crate::catalog::Catalog;
use crate::dictionary::{Change, Kind};
use crate::engine::Engine;
use crate::error::{NameError, Result};
use crate::table::Table;

impl Engine {
    /// [`Engine::drop_tables`] of one table.
    pub fn drop_table(&self, schema: &str, name: &str, wait: impl Into<ExclusiveWait>) -> Result<()> {
        self.drop_tables(&[(schema, name)], wait)
    }

    /// DROP TABLE of tables given as schema and name, none twice: all are dropped, or none. Waits up to
    /// `wait` for them to be unused; the session has committed.
    ///
    /// # Errors
    /// [`Error::Name`] for the first that is not there; lock errors.
    pub fn drop_tables(&self, names: &[QualifiedName<'_>], wait: impl Into<ExclusiveWait>) -> Result<()> {
        self.ensure_open()?;
        if names.is_empty() {
            return Ok(());
        }
        let find = |catalog: &Catalog| {
            let table = |&(schema, name): &QualifiedName<'_>| {
                let missing =
                    |_| NameError::NoTableToDrop { schema: schema.into(), table: name.into() }.into();
                catalog.table(schema, name).cloned().map_err(missing)
            };
            names.iter().map(table).collect()
        };
        let gone = self.with_all_exclusive(&wait.into(), find, |tables| {
            self.drop_locked(tables, Change::new(), |_| {})
        })?;
        self.flush_change()?;
        self.free_trees_later(gone)
    }

    /// DROP SCHEMA with all its tables, as one change; returns how many there were. Waits up to `wait` for
    /// them to be unused.
    ///
    /// Memory: a lock for each table, and an entry of the dictionary that lists their ids.
    pub fn drop_schema(&self, name: &str, wait: impl Into<ExclusiveWait>) -> Result<usize> {
        self.ensure_open()?;
        let find = |catalog: &Catalog| {
            let schema = catalog.schemas.get(name).ok_or_else(|| NameError::NoSchemaToDrop(name.into()))?;
            Ok(schema.tables.values().cloned().collect())
        };
        let (gone, dropped) = self.with_all_exclusive(&wait.into(), find, |tables| {
            let mut change = Change::new();
            change.delete(Kind::Schema, name.as_bytes());
            let gone = self.drop_locked(tables, change, |catalog| drop(catalog.schemas.remove(name)))?;
            Ok((gone, tables.len()))
        })?;
        self.flush_change()?;
        self.free_trees_later(gone)?;
        Ok(dropped)
    }

    /// Drops tables whose locks are held, with what `change` does to the dictionary and `also` to the
    /// catalog; returns the trees to be given up. The definition mutex is held.
    fn drop_locked(
        &self,
        tables: &[Arc<Table>],
        change: Change,
        also: impl FnOnce(&mut Catalog),
    ) -> Result<Vec<IndexId>> {
        let gone: Vec<IndexId> = tables.iter().flat_map(|table| table.index_ids()).collect();
        if !gone.is_empty() {
            self.put_pending_trees(&gone)?;
        }
        let dropped: Vec<(&Table, Option<Arc<Table>>)> =
            tables.iter().map(|table| (&**table, None)).collect();
        self.replace_tables(&dropped, change, also)?;
        Ok(gone)
    }
}
