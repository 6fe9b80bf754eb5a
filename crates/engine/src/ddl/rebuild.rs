//! ALTER TABLE that makes all records of a table anew.
//!
//! | phase | function | lock |
//! |---|---|---|
//! | trees for the new table | [`Engine::create_new_table`] | nobody changes rows |
//! | scan, convert, clustered records | the caller's, with [`NewRows`] | the same |
//! | secondary indexes | [`Engine::build`] | the same |
//! | switch | [`Engine::switch_table`] | exclusive |
//!
//! Readers use the old table until the switch. An error, KILL or a crash before it leaves the old table as it
//! was, and the new trees are freed as pending ones.

use std::sync::Arc;

use base::{ColumnId, IndexId, Lsn};
use trx::{ExclusiveWait, ReadView};
use types::{KeyPart, RowHistory, TableDef};

use super::DefinitionLock;
use super::alter::Alteration;
use super::new_rows::NewRows;
use super::table::choose_clustered;
use crate::dictionary::{Change, Kind};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::index_sort::SortMemory;
use crate::limits;
use crate::table::{Index, Table};

/// For each column of the new table, the column of the old one whose bytes it keeps in every row; `None`: it
/// is new, or gets other bytes.
pub type KeptColumns = [Option<u16>];

impl Engine {
    /// Rebuilds the table whose definition is `old` with the definition of `alteration`, whose index ids are
    /// ignored, and with the rows that `copy` pushes: all of that, or nothing. Waits up to `wait` for writers
    /// to end before the copy, and for readers to end after it; the session has committed.
    ///
    /// # Errors
    /// Those of `copy`; [`Error::TableChanged`] if `old` is not the table's definition any more;
    /// [`Error::Definition`]; [`Error::Name`]; [`Error::DuplicateKey`].
    pub fn rebuild_table<E: From<Error>>(
        &self,
        old: &Arc<TableDef>,
        alteration: Alteration,
        kept: &KeptColumns,
        memory: &SortMemory,
        wait: impl Into<ExclusiveWait>,
        copy: impl FnOnce(&mut NewRows<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.ensure_open()?;
        if self.is_read_only() {
            return Err(Error::Forced.into());
        }
        let wait = wait.into();
        let table = self.table(&old.schema, &old.name)?;
        let lock = DefinitionLock::lock(Arc::clone(&table), &wait)?;
        if !table.is_current() || !Arc::ptr_eq(&table.def, old) {
            return Err(Error::TableChanged.into());
        }
        let Alteration { mut def, auto_increment } = alteration;
        prepare(&mut def)?;
        self.ensure_name_is_free(old, &def)?;
        let made = self.number_new_indexes(&mut def)?;
        let in_order = keeps_order(old, &def, kept);
        let built = self.build_anew(&table, def, in_order, memory, copy);
        let switched = built.and_then(|(new, rows)| {
            let exclusive = lock.into_exclusive(&wait)?;
            Ok((self.switch_table(&table, &new, rows, auto_increment)?, exclusive))
        });
        match switched {
            Ok((gone, _exclusive)) => {
                let settled = self.keep_made_trees(&made);
                self.give_up_trees(gone)?;
                Ok(settled?)
            }
            Err(error) => Err(self.give_up_made(made, error)),
        }
    }

    /// Makes the trees of `def` and fills them; returns the table, not yet in the catalog, and how many rows
    /// it has.
    fn build_anew<E: From<Error>>(
        &self,
        old: &Arc<Table>,
        def: TableDef,
        in_order: bool,
        memory: &SortMemory,
        copy: impl FnOnce(&mut NewRows<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(Arc<Table>, u64), E> {
        let named = |error| E::from(self.name_damage(error, std::slice::from_ref(old)));
        let new = self.create_new_table(old, def).map_err(named)?;
        let mut rows = NewRows::new(self, old, &new, in_order).map_err(named)?;
        copy(&mut rows)?;
        let count = rows.finish().map_err(named)?;
        // Nobody else has the table.
        let built = self.build(&new, &new.indexes[1..], &ReadView::newest(), memory, &|| Ok(()));
        built.map_err(named)?;
        Ok((new, count))
    }

    fn create_new_table(&self, old: &Table, def: TableDef) -> Result<Arc<Table>> {
        let indexes = self.create_trees(&def, Lsn::default())?;
        Ok(Table::with(def, RowHistory::default(), indexes, Arc::clone(&old.state)))
    }

    /// Puts `new` with its `rows` rows in place of `old`, whose exclusive lock is held; returns the trees of
    /// the old table.
    fn switch_table(&self, old: &Table, new: &Table, rows: u64, wanted: Option<u64>) -> Result<Vec<IndexId>> {
        let next = self.next_number_of(old, new, wanted)?;
        let _definition = self.definition.lock();
        self.ensure_name_is_free(&old.def, &new.def)?;
        let gone: Vec<IndexId> = old.index_ids().collect();
        self.put_pending_trees(&gone)?;
        // The new trees lack the older versions of rows, which older views need.
        let usable_from = self.trx.advance(self.store.log().current());
        let index = |index: &Index| {
            Index::new(&index.def, Arc::clone(&index.tree), Arc::clone(&index.format), usable_from)
        };
        let indexes = new.indexes.iter().map(index).collect();
        let new = Table::with((*new.def).clone(), RowHistory::default(), indexes, Arc::clone(&old.state));
        let limit = if next == 0 { 0 } else { new.auto_increment_limit_after(next) };
        let mut change = Change::new();
        change.put(Kind::Counters, &old.def.id.0.to_be_bytes(), &new.counters(limit));
        self.replace_tables(&[(old, Some(new))], change, |_| {})?;
        old.state.begin_rebuilt(next, limit, rows);
        Ok(gone)
    }

    /// The next AUTO_INCREMENT number of the new table; 0: it has no such column.
    fn next_number_of(&self, old: &Table, new: &Table, wanted: Option<u64>) -> Result<u64> {
        if new.def.auto_increment_column().is_none() {
            return Ok(0);
        }
        let before =
            if old.def.auto_increment_column().is_some() { old.next_auto_increment(self)? } else { None };
        new.free_auto_increment(self, wanted.or(before).unwrap_or(1))
    }
}

/// Chooses the clustered index, and takes the old ids of columns and indexes away, and the versions of rows.
fn prepare(def: &mut TableDef) -> Result<()> {
    for index in &mut def.indexes {
        index.id = IndexId(0);
    }
    choose_clustered(def);
    def.format_version = 1;
    for (position, column) in def.columns.iter_mut().enumerate() {
        column.id = ColumnId(position as u16);
    }
    Ok(limits::table(def)?)
}

/// Whether rows in the order of the old clustered key are in the order of the new one.
fn keeps_order(old: &TableDef, new: &TableDef, kept: &KeptColumns) -> bool {
    if new.hidden_row_id {
        // Rows without an id of their own get one in the order in which they come.
        return true;
    }
    let is_same = |(before, after): (&KeyPart, &KeyPart)| {
        let column = usize::from(after.column);
        let (before_column, after_column) = (&old.columns[usize::from(before.column)], &new.columns[column]);
        kept[column] == Some(before.column)
            && (before.desc, before.prefix_len) == (after.desc, after.prefix_len)
            && before_column.ty == after_column.ty
    };
    let (before, after) = (&old.clustered().parts, &new.clustered().parts);
    after.len() <= before.len() && before.iter().zip(after).all(is_same)
}
