//! CREATE TABLE, TRUNCATE TABLE.

use std::sync::Arc;

use base::{IndexId, Lsn, TableId};
use btree::Tree;
use trx::ExclusiveWait;
use types::{IndexDef, IndexKind, RowHistory, TableDef};

use super::Exclusive;
use crate::catalog::Catalog;
use crate::dictionary::{Change, Kind};
use crate::engine::Engine;
use crate::error::{NameError, Result};
use crate::index::{Index, format_of, shape};
use crate::limits;
use crate::table::{Table, TableState};
use crate::table_lock::lock_all;

/// Name of the clustered index of a table without a key that can be one.
pub(super) const ROW_ID_INDEX: &str = "GEN_CLUST_INDEX";

impl Engine {
    /// CREATE TABLE. Ids of the definition are given here, and the clustered index is put first: the primary
    /// key, else the first unique one without nullable columns or prefixes, else an invisible row id.
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
            let table = Table::with(def, RowHistory::default(), indexes, Arc::new(state));
            self.log_table(&table).map(|()| table)
        });
        let table = match made {
            Ok(table) => table,
            Err(error) => {
                drop(definition);
                return Err(self.free_made(ids, error));
            }
        };
        self.forget_pending_trees(&ids)?;
        self.change_catalog(|catalog| catalog.add_table(&table));
        drop(definition);
        self.flush_change()?;
        Ok(table)
    }

    pub(super) fn create_trees(&self, def: &TableDef, usable_from: Lsn) -> Result<Vec<Index>> {
        def.indexes.iter().map(|index| self.create_tree(def, index, usable_from)).collect()
    }

    pub(super) fn create_tree(&self, def: &TableDef, index: &IndexDef, usable_from: Lsn) -> Result<Index> {
        let format = Arc::new(format_of(def, index));
        self.store.pool().register_format(index.id, &format, None);
        let tree = Tree::create(&self.store, index.id, shape(&format))?;
        Ok(Index::new(index, Arc::new(tree), format, usable_from))
    }

    /// TRUNCATE TABLE: new trees, old ones given up, counters from the start.
    pub fn truncate_table(&self, schema: &str, name: &str, wait: impl Into<ExclusiveWait>) -> Result<()> {
        self.ensure_open()?;
        let ids = self.with_exclusive(schema, name, wait, |exclusive| {
            let old = &*exclusive.0;
            let definition = self.definition.lock();
            let mut def = (*old.def).clone();
            for index in &mut def.indexes {
                index.id = IndexId(self.next_number(|header| &mut header.next_index.0)?);
            }
            let ids: Vec<IndexId> = def.indexes.iter().map(|index| index.id).chain(old.index_ids()).collect();
            self.put_pending_trees(&ids)?;
            // An older view would find an empty table instead of the rows that it sees.
            let usable_from = self.trx.advance(self.store.log().current());
            let replaced = self.create_trees(&def, usable_from).and_then(|indexes| {
                let table = Table::with(def, RowHistory::default(), indexes, Arc::clone(&old.state));
                let mut change = Change::new();
                change.delete(Kind::Counters, &table.def.id.0.to_be_bytes());
                self.replace_tables(&[(old, Some(table))], change, |_| {})
            });
            if replaced.is_ok() {
                old.state.begin_again();
            }
            drop(definition);
            match replaced {
                Ok(()) => Ok(ids),
                // The table has the old ones: the new ones are freed.
                Err(error) => Err(self.free_made(ids, error)),
            }
        })?;
        self.flush_change()?;
        self.free_trees_later(ids)
    }

    /// Runs `work` with the exclusive metadata lock of the table that has the name when the lock is granted.
    pub(crate) fn with_exclusive<R>(
        &self,
        schema: &str,
        name: &str,
        wait: impl Into<ExclusiveWait>,
        work: impl FnOnce(&Exclusive) -> Result<R>,
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

    /// Runs `work` on the tables that `find` returns, with the exclusive metadata lock of each, and with the
    /// definition mutex. Looks again until the tables are the same before and after they are locked.
    pub(super) fn with_all_exclusive<R>(
        &self,
        wait: &ExclusiveWait,
        find: impl Fn(&Catalog) -> Result<Vec<Arc<Table>>>,
        work: impl FnOnce(&[Arc<Table>]) -> Result<R>,
    ) -> Result<R> {
        loop {
            let wanted = find(&self.catalog())?;
            let _locks = lock_all(wanted.len(), wait, |at, wait| Exclusive::lock(&wanted[at], wait))?;
            let _definition = self.definition.lock();
            let found = find(&self.catalog())?;
            if wanted.len() == found.len() && wanted.iter().zip(&found).all(|(a, b)| Arc::ptr_eq(a, b)) {
                return work(&found);
            }
        }
    }
}

/// Puts the clustered index first, a made one if none of the definition's can be it.
pub(super) fn choose_clustered(def: &mut TableDef) {
    def.indexes.retain(|index| !index.parts.is_empty());
    let chosen = clustered_position(def);
    def.hidden_row_id = chosen.is_none();
    let clustered = match chosen {
        Some(position) => def.indexes.remove(position),
        None => IndexDef {
            id: IndexId(0),
            name: ROW_ID_INDEX.into(),
            kind: IndexKind::Unique,
            parts: Vec::new(),
            comment: "".into(),
            names_btree: false,
            invisible: false,
            unknown: None,
        },
    };
    def.indexes.insert(0, clustered);
}

/// The declared index that a table of this definition is clustered by; `None`: by an invisible row id.
pub fn clustered_index(def: &TableDef) -> Option<&IndexDef> {
    clustered_position(def).map(|position| &def.indexes[position])
}

fn clustered_position(def: &TableDef) -> Option<usize> {
    let primary = def.indexes.iter().position(|index| index.kind == IndexKind::Primary);
    let is_row_key = |index: &IndexDef| {
        let whole = |part: &types::KeyPart| {
            part.prefix_len.is_none()
                && def.columns.get(usize::from(part.column)).is_some_and(|c| !c.nullable)
        };
        index.kind == IndexKind::Unique && !index.parts.is_empty() && index.parts.iter().all(whole)
    };
    primary.or_else(|| def.indexes.iter().position(is_row_key))
}
