//! Definition changes.
//!
//! Each one checks, makes what is new, writes the dictionary, shows the new catalog, and frees what is old, in that
//! order. One entry of the dictionary decides, in one mini-transaction; trees that are made or freed are put down there
//! first, so that a start after a crash frees what no table has (`recovery/trees.rs`).

mod index;
mod object;
mod schema;
mod table;

use std::sync::Arc;

use base::TrxId;
use buffer::TrxIds;
use page::{OverflowRef, PageRef, RowFormat, RowRef};
use trx::ExclusiveWait;

use crate::dictionary::{Kind, SchemaDef, decode_schema, encode_table, read_table};
use crate::engine::Engine;
use crate::error::Result;
use crate::table::{Index, Table, shape};

impl Engine {
    /// Reads the dictionary into the catalog.
    pub(crate) fn load_catalog(&self) -> Result<()> {
        let decode = |(_, bytes): &(Vec<u8>, Vec<u8>)| decode_schema(bytes);
        let schemas = self.dictionary.list(&self.store, Kind::Schema)?;
        let schemas: Vec<SchemaDef> = schemas.iter().map(decode).collect::<Result<_>>()?;
        let tables = self.dictionary.list(&self.store, Kind::Table)?;
        let records = tables.iter().map(|(_, bytes)| read_table(bytes)).collect::<Result<Vec<_>>>()?;
        self.change_catalog(|catalog| {
            for schema in schemas {
                catalog.add_schema(schema);
            }
            for record in records {
                catalog.add_table(&Table::open(record));
            }
        });
        self.know_records()
    }

    /// Has pages checked from now on against the row formats of their tables, first those that are in memory already.
    fn know_records(&self) -> Result<()> {
        let pool = self.store.pool();
        for index in self.catalog().all_tables().flat_map(|table| &table.indexes) {
            pool.register_format(index.tree.index, &index.format);
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

    /// Frees the trees of a table nobody can name any more. Its exclusive metadata lock is held.
    fn destroy_trees(&self, table: &Table) -> Result<()> {
        table.indexes.iter().try_for_each(|index| self.destroy_tree(index))
    }

    fn destroy_tree(&self, index: &Index) -> Result<()> {
        let tree = btree::Tree::open(index.tree.index, index.tree.root, shape(&index.format));
        let format = Arc::clone(&index.format);
        let mut find =
            |page: PageRef<'_>, found: &mut Vec<OverflowRef>| off_page_values(&format, page, found);
        let has_values = format.is_clustered() && !format.is_fixed_size();
        tree.destroy(&self.store, if has_values { Some(&mut find) } else { None })?;
        self.store.pool().forget_format(index.tree.index);
        Ok(())
    }
}

/// Off-page values of the records on a leaf. Those of delete-marked records are left to purge, or lost with it.
fn off_page_values(format: &RowFormat, page: PageRef<'_>, found: &mut Vec<OverflowRef>) {
    for slot in 0..page.count() {
        let row = RowRef::new(format, page.record(slot));
        if row.record().flags().is_deleted() {
            continue;
        }
        for ordinal in 0..format.var_columns().len() as u16 {
            if let (bytes, true) = row.var(ordinal) {
                found.push(OverflowRef::decode(bytes));
            }
        }
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
