//! What names mean: an immutable snapshot that every DDL statement replaces.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::IndexId;
use base::hash::{self, HashState};
use types::TableDef;

use crate::dictionary::SchemaDef;
use crate::error::{Error, Result};
use crate::table::Table;

/// A schema and its tables.
#[derive(Clone, Debug)]
pub(crate) struct SchemaEntry {
    pub(crate) def: Arc<SchemaDef>,
    pub(crate) tables: Arc<BTreeMap<Box<str>, Arc<Table>>>,
}

/// How many tables are open and have been opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableCounts {
    /// Those that are there.
    pub open: u64,
    /// Those that startup and DDL have opened, each version of a table by itself.
    pub opened: u64,
}

/// All names. Schemas and tables are case-sensitive, as in MySQL on Linux.
#[derive(Clone, Debug)]
pub(crate) struct Catalog {
    pub(crate) schemas: BTreeMap<Box<str>, SchemaEntry>,
    by_index: HashMap<IndexId, (Arc<Table>, usize), HashState>,
    /// Versions of tables that have been added.
    opened: u64,
}

impl Default for Catalog {
    fn default() -> Self {
        Catalog { schemas: BTreeMap::new(), by_index: HashMap::with_hasher(hash::state()), opened: 0 }
    }
}

impl Catalog {
    /// The table whose definition is `def` itself, if it is in force.
    pub(crate) fn defined_by(&self, def: &Arc<TableDef>) -> Option<&Arc<Table>> {
        let (table, _) = self.index(def.clustered().id)?;
        Arc::ptr_eq(&table.def, def).then_some(table)
    }

    pub(crate) fn schema(&self, name: &str) -> Result<&SchemaEntry> {
        self.schemas.get(name).ok_or_else(|| Error::unknown_schema(name))
    }

    pub(crate) fn table(&self, schema: &str, name: &str) -> Result<&Arc<Table>> {
        let table = self.schema(schema)?.tables.get(name);
        table.ok_or_else(|| Error::no_such_table(schema, name))
    }

    /// The table of a tree and the index's position; `None` once it is gone.
    pub(crate) fn index(&self, index: IndexId) -> Option<&(Arc<Table>, usize)> {
        self.by_index.get(&index)
    }

    pub(crate) fn add_schema(&mut self, def: SchemaDef) {
        let tables = Arc::default();
        self.schemas.insert(def.name.clone(), SchemaEntry { def: Arc::new(def), tables });
    }

    /// Adds a table, in place of another version of it. Its schema is there.
    pub(crate) fn add_table(&mut self, table: &Arc<Table>) {
        self.remove_table(&table.def.schema, &table.def.name);
        self.opened += 1;
        if table.has_damage() {
            table.restrict();
        }
        for (position, id) in table.index_ids().enumerate() {
            self.by_index.insert(id, (Arc::clone(table), position));
        }
        if let Some(schema) = self.schemas.get_mut(&table.def.schema) {
            Arc::make_mut(&mut schema.tables).insert(table.def.name.clone(), Arc::clone(table));
        }
    }

    pub(crate) fn remove_table(&mut self, schema: &str, name: &str) {
        let Some(entry) = self.schemas.get_mut(schema) else { return };
        if let Some(table) = Arc::make_mut(&mut entry.tables).remove(name) {
            for id in table.index_ids() {
                self.by_index.remove(&id);
            }
        }
    }

    pub(crate) fn table_counts(&self) -> TableCounts {
        TableCounts {
            open: self.schemas.values().map(|schema| schema.tables.len() as u64).sum(),
            opened: self.opened,
        }
    }

    pub(crate) fn all_tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.schemas.values().flat_map(|schema| schema.tables.values())
    }
}
