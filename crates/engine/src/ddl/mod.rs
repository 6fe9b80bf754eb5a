//! DDL: changes of the dictionary and the catalog, one for each statement.
//!
//! Each one locks all tables that it names, checks, makes what is new, logs the change of the dictionary,
//! shows the new catalog, gives its locks back, flushes the log, and gives up what is old, in that order. No
//! other session waits for a sync behind its locks: what others commit meanwhile is behind the change in the
//! log, so that no crash loses the change and keeps theirs. The dictionary changes at once, however many
//! tables a statement names (`dictionary/change.rs`), and so does the catalog: a crash, an error or a reader
//! finds all of a statement or nothing. Trees that are made or freed are recorded in the dictionary before,
//! so that a start after a crash frees what no table has (`recovery/trees.rs`).

mod add_indexes;
mod alter;
mod change_columns;
mod drop;
mod free_trees;
mod index;
mod new_entries;
mod new_record;
mod new_rows;
mod object;
mod pace;
mod rebuild;
mod rename;
mod replay;
mod rounds;
mod row_replay;
mod schema;
mod snapshot;
mod table;
mod whole_rows;

use std::sync::Arc;
use std::time::Duration;

use base::TrxId;
use buffer::TrxIds;
use trx::{ExclusiveWait, MetadataLock};

pub use add_indexes::BuildOptions;
pub use alter::Alteration;
pub use change_columns::{InitialValues, NewColumns};
pub use rebuild::{KeptColumns, PutRow, RowOrder, keeps_clustered_key};
pub use rename::QualifiedName;
pub use table::clustered_index;
pub use whole_rows::WholeRows;

use crate::catalog::Catalog;
use crate::dictionary::{Change, Kind, SchemaDef, decode_schema, encode_table, read_table};
use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::table::Table;
use crate::table_lock::FOREVER;

/// Interval between replays of the side log while a build waits for the exclusive lock.
const BETWEEN_CALLS: Duration = Duration::from_millis(100);

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

    /// From now on pages are checked against the row formats of their tables; pages that are in memory are
    /// checked first.
    fn know_records(&self) -> Result<()> {
        let pool = self.store.pool();
        for index in self.catalog().all_tables().flat_map(|table| &table.indexes) {
            index.register_with(pool);
        }
        if self.catalog().all_tables().any(|table| table.older_versions() > 0) {
            self.conversion.want();
        }
        if !self.force.applies_log() || self.store.header_damage().is_some() {
            // Pages may be older than others, and than the file header.
            return Ok(());
        }
        let (start, horizon) = (self.store.log().current(), self.restart_horizon.max(TrxId(1)));
        pool.register_ids(TrxIds { start, horizon, limit: horizon });
        Ok(pool.ensure_resident_sound().map_err(space::Error::from)?)
    }

    /// Takes the next number of a counter in the file header. The caller holds the definition mutex.
    ///
    /// # Errors
    /// The log's: a statement that a full disk refuses again and again must not use the reserve up.
    fn next_number(&self, counter: impl FnOnce(&mut page::FileHeader) -> &mut u32) -> Result<u32> {
        self.store.log().admit()?;
        Ok(self.store.update_header(|header| {
            let next = counter(header);
            *next += 1;
            *next - 1
        })?)
    }

    /// Writes a table's definition; the caller flushes the log.
    fn log_table(&self, table: &Table) -> Result<()> {
        self.store.log().admit()?;
        let bytes = encode_table(&table.record());
        self.dictionary.put(&self.store, Kind::Table, &table.def.id.0.to_be_bytes(), &bytes)
    }

    /// Makes a change of the dictionary. The caller holds the definition mutex, and ends with
    /// [`Engine::flush_change`].
    fn log_change(&self, change: Change) -> Result<()> {
        self.store.log().admit()?;
        if let Some(error) = self.dictionary.commit(&self.store, change)?
            && !error.is_full_disk()
        {
            self.notes.note(&format!(
                "dictionary: a DDL statement is decided and could not be applied: {error}; the next start applies it"
            ));
        }
        Ok(())
    }

    /// Makes what the statement has logged durable. It has given its locks back.
    fn flush_change(&self) -> Result<()> {
        Ok(self.store.log().flush()?)
    }

    /// Puts the new version of each table, or nothing, in place of the old one: with what `change` does to
    /// the dictionary and `also` to the catalog, as one change. The tables' locks and the definition mutex
    /// are held; the caller ends with [`Engine::flush_change`].
    fn replace_tables(
        &self,
        tables: &[(&Table, Option<Arc<Table>>)],
        mut change: Change,
        also: impl FnOnce(&mut Catalog),
    ) -> Result<()> {
        for (old, new) in tables {
            let id = old.def.id.0.to_be_bytes();
            if let Some(new) = new {
                change.put(Kind::Table, &id, &encode_table(&new.record()));
            } else {
                change.delete(Kind::Table, &id);
                change.delete(Kind::Counters, &id);
            }
        }
        self.log_change(change)?;
        for (old, _) in tables {
            old.retire();
        }
        self.change_catalog(|catalog| {
            for (old, _) in tables {
                catalog.remove_table(&old.def.schema, &old.def.name);
            }
            for new in tables.iter().filter_map(|(_, new)| new.as_ref()) {
                catalog.add_table(new);
            }
            also(catalog);
        });
        Ok(())
    }

    /// Writes a definition, durable on return. The caller holds the definition mutex.
    fn put_entry(&self, kind: Kind, name: &[u8], value: &[u8]) -> Result<()> {
        self.store.log().admit()?;
        self.dictionary.put(&self.store, kind, name, value)?;
        self.flush_change()
    }

    /// Removes a definition, durable on return; whether there was one. The caller holds the definition mutex.
    fn delete_entry(&self, kind: Kind, name: &[u8]) -> Result<bool> {
        self.store.log().admit()?;
        let deleted = self.dictionary.delete(&self.store, kind, name)?;
        self.flush_change()?;
        Ok(deleted)
    }
}

/// The exclusive metadata lock of a table, given back when dropped.
pub(crate) struct Exclusive(pub(crate) Arc<Table>);

impl Exclusive {
    /// Waits up to `wait`. The session holds no metadata lock on the table: it has committed first.
    fn lock(table: &Arc<Table>, wait: &ExclusiveWait) -> Result<Self> {
        table.state.lock.lock_exclusive(wait)?;
        Exclusive(Arc::clone(table)).unless_interrupted()
    }

    /// The lock, unless the session was asked to end: its client may know that already.
    fn unless_interrupted(self) -> Result<Self> {
        fail_if_interrupted()?;
        Ok(self)
    }
}

impl Drop for Exclusive {
    fn drop(&mut self) {
        self.0.state.lock.unlock_exclusive();
    }
}

/// A table whose definition stays, and whose rows no thread changes, unless writers were let in; readers go
/// on.
pub(crate) struct DefinitionLock {
    /// `None`: the lock was handed to an [`Exclusive`].
    table: Option<Arc<Table>>,
    has_writers: bool,
}

impl DefinitionLock {
    fn lock(table: Arc<Table>, wait: &ExclusiveWait) -> Result<Self> {
        table.state.lock.lock_for_rebuild(wait)?;
        Ok(DefinitionLock { table: Some(table), has_writers: false })
    }

    /// Lets others change rows.
    fn admit_writers(mut self) -> Self {
        if let Some(table) = &self.table {
            table.state.lock.admit_writers();
            self.has_writers = true;
        }
        self
    }

    /// Waits up to `wait` for all others to end.
    fn into_exclusive(self, wait: &ExclusiveWait) -> Result<Exclusive> {
        self.into_exclusive_with(wait, || Ok(()))
    }

    /// As [`DefinitionLock::into_exclusive`]; where writers were let in, `meanwhile` is called again and
    /// again.
    fn into_exclusive_with<E: From<Error>>(
        mut self,
        wait: &ExclusiveWait,
        mut meanwhile: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Exclusive, E> {
        let table = self.table.as_ref().expect("the lock is held until it is dropped");
        let lock = &table.state.lock;
        if self.has_writers {
            take_from_writers(lock, wait, &mut meanwhile)?;
        } else {
            lock.make_exclusive(wait).map_err(Error::from)?;
        }
        Ok(Exclusive(self.table.take().expect("as above")).unless_interrupted()?)
    }
}

/// Makes the lock exclusive, waiting up to `wait` and calling `meanwhile` between waits.
fn take_from_writers<E: From<Error>>(
    lock: &MetadataLock,
    wait: &ExclusiveWait,
    meanwhile: &mut impl FnMut() -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let deadline = env::deadline_in(wait.timeout.min(FOREVER));
    loop {
        let left = deadline - env::deadline_in(Duration::ZERO);
        let timeout = left.min(BETWEEN_CALLS);
        match lock.make_exclusive_from_writer(&ExclusiveWait { timeout, ..wait.clone() }) {
            Err(trx::Error::LockWaitTimeout) if left > timeout => meanwhile()?,
            taken => return Ok(taken.map_err(Error::from)?),
        }
    }
}

impl Drop for DefinitionLock {
    fn drop(&mut self) {
        match &self.table {
            Some(table) if self.has_writers => table.state.lock.end_build(),
            Some(table) => table.state.lock.unlock_read_only(),
            None => {}
        }
    }
}
