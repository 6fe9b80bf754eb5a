//! Definition changes.
//!
//! Each one checks, makes what is new, writes the dictionary, shows the new catalog, and gives up what is old, in that
//! order. One entry of the dictionary decides, in one mini-transaction; trees that are made or freed are put down there
//! first, so that a start after a crash frees what no table has (`recovery/trees.rs`).

pub(crate) mod gone_trees;
mod index;
mod object;
mod schema;
mod table;

use base::TrxId;
use buffer::TrxIds;
use trx::ExclusiveWait;

use crate::dictionary::{Kind, SchemaDef, decode_schema, encode_table, read_table};
use crate::engine::Engine;
use crate::error::Result;
use crate::table::Table;

impl Engine {
    /// Reads the dictionary into the catalog.
    pub(crate) fn load_catalog(&self) -> Result<()> {
        let schemas: Vec<SchemaDef> = self.definitions(Kind::Schema, decode_schema)?;
        let records = self.definitions(Kind::Table, read_table)?;
        self.change_catalog(|catalog| {
            for schema in schemas {
                catalog.add_schema(schema);
            }
            for record in records {
                if catalog.schema(&record.def.schema).is_err() {
                    catalog.add_schema(SchemaDef::unreadable(&record.def.schema));
                }
                catalog.add_table(&Table::open(record));
            }
        });
        self.know_records()
    }

    /// The definitions of a kind. Where the start passes over damage, those that cannot be read are left out.
    fn definitions<T>(&self, kind: Kind, decode: impl Fn(&[u8]) -> Result<T>) -> Result<Vec<T>> {
        let mut found = Vec::new();
        for (name, bytes) in self.dictionary.list(&self.store, kind)? {
            match decode(&bytes) {
                Ok(definition) => found.push(definition),
                Err(error) if self.force.is_forced() => {
                    self.dictionary.leave_out(&*self.notes, &name, &error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Has pages checked from now on against the row formats of their tables, first those that are in memory already.
    fn know_records(&self) -> Result<()> {
        let pool = self.store.pool();
        for index in self.catalog().all_tables().flat_map(|table| &table.indexes) {
            pool.register_format(index.tree.index, &index.format);
        }
        if !self.force.applies_log() {
            // Pages may be older than others, and than the file header.
            return Ok(());
        }
        let (start, horizon) = (self.store.log().current(), self.restart_horizon.max(TrxId(1)));
        pool.register_ids(TrxIds { start, horizon, limit: horizon });
        Ok(pool.ensure_resident_sound().map_err(btree::Error::from)?)
    }

    /// Takes the next number of a counter in the file header. The caller holds the definition mutex.
    fn next_number(&self, counter: impl FnOnce(&mut page::FileHeader) -> &mut u32) -> Result<u32> {
        Ok(self.store.update_header(|header| {
            let next = counter(header);
            *next += 1;
            *next - 1
        })?)
    }

    fn put_table(&self, table: &Table) -> Result<()> {
        self.log_table(table)?;
        Ok(self.store.log().flush()?)
    }

    /// [`Engine::put_table`] that leaves the flush to the caller.
    fn log_table(&self, table: &Table) -> Result<()> {
        self.store.log().admit()?;
        let bytes = encode_table(&table.record());
        self.dictionary.put(&self.store, Kind::Table, &table.def.id.0.to_be_bytes(), &bytes)
    }

    fn forget_table(&self, table: &Table) -> Result<()> {
        self.delete_entry(Kind::Table, &table.def.id.0.to_be_bytes()).map(drop)
    }

    /// Writes a definition, durable on return. The caller holds the definition mutex.
    fn put_entry(&self, kind: Kind, name: &[u8], value: &[u8]) -> Result<()> {
        self.store.log().admit()?;
        self.dictionary.put(&self.store, kind, name, value)?;
        Ok(self.store.log().flush()?)
    }

    /// Removes a definition, durable on return; whether there was one. The caller holds the definition mutex.
    fn delete_entry(&self, kind: Kind, name: &[u8]) -> Result<bool> {
        self.store.log().admit()?;
        let deleted = self.dictionary.delete(&self.store, kind, name)?;
        self.store.log().flush()?;
        Ok(deleted)
    }
}

/// The exclusive metadata lock of a table, given back when dropped.
pub(crate) struct Exclusive<'t>(pub(crate) &'t Table);

impl<'t> Exclusive<'t> {
    /// Waits up to `wait`. The session holds no metadata lock on the table: it has committed first.
    fn lock(table: &'t Table, wait: &ExclusiveWait) -> Result<Self> {
        table.state.lock.lock_exclusive(wait)?;
        Ok(Exclusive(table))
    }
}

impl Drop for Exclusive<'_> {
    fn drop(&mut self) {
        self.0.state.lock.unlock_exclusive();
    }
}
