//! CREATE TABLE, DROP TABLE, TRUNCATE TABLE, RENAME TABLE.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::{IndexId, Lsn, TableId};
use btree::Tree;
use page::RowFormat;
use trx::ExclusiveWait;
use types::{IndexDef, IndexKind, TableDef};

use super::Exclusive;
use crate::engine::Engine;
use crate::error::{Error, NameError, Result};
use crate::limits;
use crate::table::{Index, Table, TableState, shape};

/// Name of the clustered index of a table without a key that can be one.
pub(super) const ROW_ID_INDEX: &str = "GEN_CLUST_INDEX";

impl Engine {
    /// CREATE TABLE. Ids of the definition are given here, and the clustered index is put first: the primary key, else
    /// the first unique one without nullable columns or prefixes, else an invisible row id.
    ///
    /// # Errors
    /// [`Error::Definition`], [`Error::Name`]; nothing has been made then.
    pub fn create_table(&self, mut def: TableDef) -> Result<Arc<Table>> {
        self.ensure_open()?;
        choose_clustered(&mut def);
        limits::table(&def)?;
        let definition = self.definition.lock();
        {
            let catalog = self.catalog();
            if catalog.schema(&def.schema)?.tables.contains_key(&def.name) {
                return Err(NameError::TableExists(def.name).into());
            }
        }
        def.id = TableId(self.next_number(|header| &mut header.next_table.0)?);
        def.format_version = 1;
        if def.create_time == 0 {
            def.create_time = Engine::now_seconds();
        }
        for (position, column) in def.columns.iter_mut().enumerate() {
            column.id = base::ColumnId(position as u16);
        }
        for index in &mut def.indexes {
            index.id = IndexId(self.next_number(|header| &mut header.next_index.0)?);
        }
        let state = TableState::new(def.auto_increment_start.max(1), 1);
        let ids: Vec<IndexId> = def.indexes.iter().map(|index| index.id).collect();
        self.put_pending_trees(&ids)?;
        let made = self.create_trees(&def, Lsn::default()).and_then(|indexes| {
            let table = Table::with(def, indexes, Arc::new(state));
            self.log_table(&table).map(|()| table)
        });
        let table = match made {
            Ok(table) => table,
            Err(error) => {
                drop(definition);
                self.give_up_trees(ids)?;
                return Err(error);
            }
        };
        self.forget_pending_trees(&ids)?;
        self.store.log().flush()?;
        self.change_catalog(|catalog| catalog.add_table(&table));
        Ok(table)
    }

    fn create_trees(&self, def: &TableDef, usable_from: Lsn) -> Result<Vec<Index>> {
        def.indexes.iter().map(|index| self.create_tree(def, index, usable_from)).collect()
    }

    pub(super) fn create_tree(&self, def: &TableDef, index: &IndexDef, usable_from: Lsn) -> Result<Index> {
        let format = if index.id == def.clustered().id {
            RowFormat::clustered(def)
        } else {
            RowFormat::secondary(def, index)
        };
        let format = Arc::new(format);
        self.store.pool().register_format(index.id, &format);
        let tree = Tree::create(&self.store, index.id, shape(&format))?;
        Ok(Index::new(index, Arc::new(tree), format, usable_from))
    }

    /// DROP TABLE. Waits up to `wait` for the table to be unused; the session has committed.
    pub fn drop_table(&self, schema: &str, name: &str, wait: impl Into<ExclusiveWait>) -> Result<()> {
        self.ensure_open()?;
        let missing = |error| match error {
            Error::Name(name) => match *name {
                NameError::NoSuchTable { schema, table } => NameError::NoTableToDrop { schema, table }.into(),
                other => other.into(),
            },
            other => other,
        };
        self.with_exclusive(schema, name, wait, |exclusive| self.drop_locked(exclusive)).map_err(missing)
    }

    /// Drops a table whose lock is held.
    pub(super) fn drop_locked(&self, exclusive: &Exclusive<'_>) -> Result<()> {
        let table = exclusive.0;
        let ids: Vec<IndexId> = table.index_ids().collect();
        {
            let _definition = self.definition.lock();
            self.put_pending_trees(&ids)?;
            self.forget_table(table)?;
            self.forget_counters(table)?;
            table.retire();
            self.change_catalog(|catalog| catalog.remove_table(&table.def.schema, &table.def.name));
        }
        self.give_up_trees(ids)
    }

    /// TRUNCATE TABLE: new trees, old ones given up, counters from the start.
    pub fn truncate_table(&self, schema: &str, name: &str, wait: impl Into<ExclusiveWait>) -> Result<()> {
        self.ensure_open()?;
        self.with_exclusive(schema, name, wait, |exclusive| {
            let old = exclusive.0;
            let definition = self.definition.lock();
            let mut def = (*old.def).clone();
            for index in &mut def.indexes {
                index.id = IndexId(self.next_number(|header| &mut header.next_index.0)?);
            }
            let ids: Vec<IndexId> = def.indexes.iter().map(|index| index.id).chain(old.index_ids()).collect();
            self.put_pending_trees(&ids)?;
            // A snapshot from before would find an empty table where it should find rows.
            let usable_from = self.trx.advance(self.store.log().current());
            let replaced = self.create_trees(&def, usable_from).and_then(|indexes| {
                let table = Table::with(def, indexes, Arc::clone(&old.state));
                self.replace_table(old, &table).map(|()| table)
            });
            let table = match replaced {
                Ok(table) => table,
                Err(error) => {
                    drop(definition);
                    self.give_up_trees(ids)?;
                    return Err(error);
                }
            };
            table.state.auto_increment.store(1, Ordering::Relaxed);
            table.state.next_row_id.store(1, Ordering::Relaxed);
            table.state.rows.store(0, Ordering::Relaxed);
            table.state.expect_rows(0);
            self.forget_counters(&table)?;
            drop(definition);
            self.give_up_trees(ids)
        })
    }

    /// RENAME TABLE, also into another schema.
    pub fn rename_table(
        &self,
        from: (&str, &str),
        to: (&str, &str),
        wait: impl Into<ExclusiveWait>,
    ) -> Result<()> {
        self.ensure_open()?;
        self.with_exclusive(from.0, from.1, wait, |exclusive| {
            let old = exclusive.0;
            let _definition = self.definition.lock();
            if self.catalog().schema(to.0)?.tables.contains_key(to.1) {
                return Err(NameError::TableExists(to.1.into()).into());
            }
            let mut def = (*old.def).clone();
            (def.schema, def.name) = (to.0.into(), to.1.into());
            let indexes = old.indexes.iter().map(Index::again).collect();
            let table = Table::with(def, indexes, Arc::clone(&old.state));
            self.replace_table(old, &table)
        })
    }

    /// ALTER TABLE of words alone: `def` may give the columns and indexes of its table other names, other defaults and
    /// comments, and the table another comment.
    ///
    /// # Errors
    /// [`Error::TableChanged`] if `def` does not describe the table's records; [`Error::Definition`] for names that are
    /// there twice; [`Error::Name`].
    pub fn redefine_table(&self, def: TableDef, wait: impl Into<ExclusiveWait>) -> Result<()> {
        self.ensure_open()?;
        let (schema, name) = (def.schema.clone(), def.name.clone());
        self.with_exclusive(&schema, &name, wait, |exclusive| {
            let old = exclusive.0;
            if !has_same_records(&old.def, &def) {
                return Err(Error::TableChanged);
            }
            limits::table(&def)?;
            let indexes = old.indexes.iter().zip(&def.indexes);
            let indexes = indexes.map(|(index, def)| index.redefined(def)).collect();
            let table = Table::with(def, indexes, Arc::clone(&old.state));
            let _definition = self.definition.lock();
            self.replace_table(old, &table)
        })
    }

    /// Puts `new` in the dictionary and the catalog in place of `old`. Lock and definition mutex are held.
    pub(super) fn replace_table(&self, old: &Table, new: &Arc<Table>) -> Result<()> {
        self.put_table(new)?;
        old.retire();
        self.change_catalog(|catalog| {
            catalog.remove_table(&old.def.schema, &old.def.name);
            catalog.add_table(new);
        });
        Ok(())
    }

    /// Runs `work` with the exclusive metadata lock of the table that has the name when the lock is granted.
    pub(crate) fn with_exclusive<R>(
        &self,
        schema: &str,
        name: &str,
        wait: impl Into<ExclusiveWait>,
        work: impl FnOnce(&Exclusive<'_>) -> Result<R>,
    ) -> Result<R> {
        let wait = wait.into();
        loop {
            let table = self.table(schema, name)?;
            let exclusive = Exclusive::lock(&table, &wait)?;
            if table.is_current() {
                return work(&exclusive);
            }
        }
    }
}

/// Whether records of `a` are records of `b`.
fn has_same_records(a: &TableDef, b: &TableDef) -> bool {
    let columns = a.columns.iter().zip(&b.columns);
    let indexes = a.indexes.iter().zip(&b.indexes);
    a.columns.len() == b.columns.len()
        && a.indexes.len() == b.indexes.len()
        && (a.id, &a.schema, &a.name, a.format_version) == (b.id, &b.schema, &b.name, b.format_version)
        && columns.into_iter().all(|(a, b)| (a.id, &a.ty, a.nullable) == (b.id, &b.ty, b.nullable))
        && indexes.into_iter().all(|(a, b)| (a.id, a.kind, &a.parts) == (b.id, b.kind, &b.parts))
}

/// Puts the clustered index first, a made one if none of the definition's can be it.
fn choose_clustered(def: &mut TableDef) {
    def.indexes.retain(|index| !index.parts.is_empty());
    let primary = def.indexes.iter().position(|index| index.kind == IndexKind::Primary);
    let is_row_key = |index: &IndexDef| {
        let whole = |part: &types::KeyPart| {
            part.prefix_len.is_none()
                && def.columns.get(usize::from(part.column)).is_some_and(|c| !c.nullable)
        };
        index.kind == IndexKind::Unique && !index.parts.is_empty() && index.parts.iter().all(whole)
    };
    let chosen = primary.or_else(|| def.indexes.iter().position(is_row_key));
    def.hidden_row_id = chosen.is_none();
    let clustered = match chosen {
        Some(position) => def.indexes.remove(position),
        None => IndexDef {
            id: IndexId(0),
            name: ROW_ID_INDEX.into(),
            kind: IndexKind::Unique,
            parts: Vec::new(),
            comment: "".into(),
        },
    };
    def.indexes.insert(0, clustered);
}
