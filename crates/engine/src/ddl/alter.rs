//! ALTER TABLE, CREATE INDEX, DROP INDEX: one change of a table's definition, however many actions it has.
//!
//! New indexes are built first, as pending trees (`ddl/add_indexes.rs`). Then one change of the dictionary,
//! under the exclusive metadata lock, puts the new definition in place of the old one. Until then nothing has
//! happened; an error gives the new trees up.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::sync::{PlantedBug, planted};
use base::{IndexId, Lsn};
use trx::ExclusiveWait;
use types::{IndexDef, RowHistory, TableDef};

use super::DefinitionLock;
use super::add_indexes::BuildOptions;
use crate::column_changes::has_same_storage;
use crate::dictionary::{Change, Kind};
use crate::engine::Engine;
use crate::error::{Error, NameError, Result};
use crate::index::{Index, format_of};
use crate::limits;
use crate::table::Table;

/// What becomes of a table's rows and indexes.
pub(super) enum Rows {
    /// They stay, and these indexes were built.
    Same(Vec<Index>),
    /// The rows stay; columns are added, dropped or moved. The history describes rows of older versions.
    Versioned(RowHistory),
}

/// What ALTER TABLE makes of a table.
#[derive(Clone, Debug)]
pub struct Alteration {
    /// The definition to be. Columns may have other names, defaults and comments, and the table another
    /// schema, name and comment. Indexes may have other names. Those whose id is 0 are built, and those that
    /// are left out are dropped.
    pub def: TableDef,
    /// The next AUTO_INCREMENT number, if the statement names one. It does not get below what is in the
    /// table.
    pub auto_increment: Option<u64>,
}

impl Engine {
    /// ALTER TABLE of the table whose definition is `old`: all of `alteration`, or nothing. Waits up to
    /// `wait` for the table to be unused, and, if indexes are to be built, before that for writers to end;
    /// the session has committed.
    ///
    /// # Errors
    /// [`Error::TableChanged`] if `old` is not the table's definition any more, or does not describe the
    /// records of the new one; [`Error::Definition`]; [`Error::Name`]; [`Error::DuplicateKey`] if rows clash
    /// in a new unique index; [`Error::SideLogFull`].
    pub fn alter_table(
        &self,
        old: &Arc<TableDef>,
        alteration: Alteration,
        options: &BuildOptions,
        wait: impl Into<ExclusiveWait>,
    ) -> Result<()> {
        self.ensure_open()?;
        let wait = wait.into();
        let is_same = |table: &Table| {
            if Arc::ptr_eq(&table.def, old) { Ok(()) } else { Err(Error::TableChanged) }
        };
        if alteration.def.indexes.iter().all(|index| index.id != IndexId(0)) {
            let gone = self.with_exclusive(&old.schema, &old.name, wait, |exclusive| {
                is_same(&exclusive.0)?;
                self.alter_locked(&exclusive.0, alteration)
            })?;
            self.flush_change()?;
            return self.free_trees_later(gone);
        }
        let table = self.table(&old.schema, &old.name)?;
        let lock = DefinitionLock::lock(Arc::clone(&table), &wait)?;
        if !table.is_current() {
            return Err(Error::TableChanged);
        }
        is_same(&table)?;
        self.add_indexes(&table, alteration, options, lock, &wait)
    }

    /// CREATE INDEX: `index` without an id. Waits as [`Engine::alter_table`] does; the session has committed.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`] when rows clash in a unique index; [`Error::Definition`], [`Error::Name`].
    pub fn create_index(
        &self,
        schema: &str,
        table: &str,
        index: IndexDef,
        wait: impl Into<ExclusiveWait>,
    ) -> Result<()> {
        let wait = wait.into();
        loop {
            let old = self.table(schema, table)?;
            let mut def = (*old.def).clone();
            def.indexes.push(IndexDef { id: IndexId(0), ..index.clone() });
            let alteration = Alteration { def, auto_increment: None };
            match self.alter_table(&old.def, alteration, &BuildOptions::default(), wait.clone()) {
                // Another statement has altered it since it was looked up.
                Err(Error::TableChanged) if !old.is_current() => {}
                done => return done,
            }
        }
    }

    /// DROP INDEX, by name without regard to case.
    pub fn drop_index(
        &self,
        schema: &str,
        table: &str,
        name: &str,
        wait: impl Into<ExclusiveWait>,
    ) -> Result<()> {
        self.ensure_open()?;
        let gone = self.with_exclusive(schema, table, wait, |exclusive| {
            let mut def = (*exclusive.0.def).clone();
            limits::dropped_index(&def, name)?;
            def.indexes.retain(|index| !index.name.eq_ignore_ascii_case(name));
            self.alter_locked(&exclusive.0, Alteration { def, auto_increment: None })
        })?;
        self.flush_change()?;
        self.free_trees_later(gone)
    }

    /// [`Engine::alter_table`] without new indexes, of a table whose exclusive lock is held; returns the
    /// trees of the indexes that it drops.
    fn alter_locked(&self, old: &Arc<Table>, alteration: Alteration) -> Result<Vec<IndexId>> {
        let Alteration { def, auto_increment } = alteration;
        ensure_alterable(&old.def, &def)?;
        self.ensure_name_is_free(&old.def, &def)?;
        let put = self.put_altered(old, def, Rows::Same(Vec::new()), auto_increment);
        put.map_err(|error| self.name_damage(error, std::slice::from_ref(old)))
    }

    /// Removes the note that the trees in `made` are pending: a table has them now. Its lock is held, so that
    /// no other statement can note them as pending meanwhile.
    pub(super) fn keep_made_trees(&self, made: &[IndexId]) -> Result<()> {
        if made.is_empty() {
            return Ok(());
        }
        let _definition = self.definition.lock();
        match self.forget_pending_trees(made) {
            // The next startup removes the note.
            Err(error) if error.is_full_disk() => Ok(()),
            forgotten => forgotten,
        }
    }

    pub(super) fn ensure_name_is_free(&self, old: &TableDef, new: &TableDef) -> Result<()> {
        if (&old.schema, &old.name) == (&new.schema, &new.name) {
            return Ok(());
        }
        if self.catalog().schema(&new.schema)?.tables.contains_key(&new.name) {
            return Err(NameError::TableExists(new.name.clone()).into());
        }
        Ok(())
    }

    /// Gives new indexes their ids, and notes these as pending trees.
    pub(super) fn number_new_indexes(&self, def: &mut TableDef) -> Result<Vec<IndexId>> {
        let _definition = self.definition.lock();
        let mut made = Vec::new();
        for index in def.indexes.iter_mut().filter(|index| index.id == IndexId(0)) {
            index.id = IndexId(self.next_number(|header| &mut header.next_index.0)?);
            made.push(index.id);
        }
        if !made.is_empty() {
            self.put_pending_trees(&made)?;
        }
        Ok(made)
    }

    /// Puts the table of `def` in place of `old`, whose exclusive lock is held; returns the trees of the
    /// indexes that it drops. `next`: the next AUTO_INCREMENT number that was asked for. The caller ends with
    /// [`Engine::flush_change`].
    pub(super) fn put_altered(
        &self,
        old: &Table,
        def: TableDef,
        rows: Rows,
        next: Option<u64>,
    ) -> Result<Vec<IndexId>> {
        let next = next.map(|next| old.free_auto_increment(self, next)).transpose()?;
        let _definition = self.definition.lock();
        self.ensure_name_is_free(&old.def, &def)?;
        let is_kept = |id: &IndexId| def.indexes.iter().any(|index| index.id == *id);
        let gone: Vec<IndexId> = old.index_ids().filter(|id| !is_kept(id)).collect();
        if !gone.is_empty() {
            self.put_pending_trees(&gone)?;
        }
        let mut change = Change::new();
        let limit = next.map(|next| (next, old.auto_increment_limit_after(next)));
        if let Some((_, limit)) = limit {
            change.put(Kind::Counters, &old.def.id.0.to_be_bytes(), &old.counters(limit));
        }
        if *old.def == def {
            self.log_change(change)?;
        } else {
            let (history, indexes) = match rows {
                Rows::Same(built) => (old.history(), indexes_of(old, &def, built)),
                Rows::Versioned(history) => {
                    // An older view would read versions of rows that are in another format.
                    let now = self.trx.advance(self.store.log().current());
                    let usable_from = if planted(PlantedBug::OldViewReads) { Lsn::default() } else { now };
                    let indexes = versioned_indexes(old, &def, &history, usable_from);
                    (history, indexes)
                }
            };
            let new = Table::with(def, history, indexes, Arc::clone(&old.state));
            self.replace_tables(&[(old, Some(Arc::clone(&new)))], change, |_| {})?;
            // Not before: pages are checked against the types that the table has. No thread uses it yet.
            for index in &new.indexes {
                index.register_with(self.store.pool());
            }
            if new.older_versions() > 0 {
                self.conversion.want();
            }
        }
        if let Some((next, limit)) = limit {
            old.state.auto_increment.store(next, Ordering::Relaxed);
            old.state.auto_increment_limit.store(limit, Ordering::Release);
        }
        Ok(gone)
    }
}

/// The indexes of `def`: those of `old` that it keeps, and those that were `built`, in its order.
fn indexes_of(old: &Table, def: &TableDef, built: Vec<Index>) -> Vec<Index> {
    let mut built = built.into_iter();
    let has_new_types = old.def.columns.iter().zip(&def.columns).any(|(a, b)| a.ty != b.ty);
    let index = |new: &IndexDef| match old.indexes.iter().find(|index| index.def.id == new.id) {
        Some(index) if has_new_types => index.retyped(new, format_of(def, new)),
        Some(index) => index.redefined(new),
        None => built.next().expect("an index is kept or built"),
    };
    def.indexes.iter().map(index).collect()
}

/// The indexes of `def`, all of them kept, of a table whose columns have changed.
fn versioned_indexes(old: &Table, def: &TableDef, history: &RowHistory, usable_from: Lsn) -> Vec<Index> {
    let has_new_rows = old.def.format_version != def.format_version;
    let index = |new: &IndexDef| {
        let kept = old.indexes.iter().find(|index| index.def.id == new.id).expect("indexes are kept");
        if has_new_rows && new.id == def.clustered().id {
            return Index::open(def, history, new, kept.tree.root, usable_from);
        }
        kept.reordered(def, history, new, usable_from)
    };
    def.indexes.iter().map(index).collect()
}

/// Whether a table `old` can become `new`.
pub(super) fn ensure_alterable(old: &TableDef, new: &TableDef) -> Result<()> {
    if !has_same_records(old, new) {
        return Err(Error::TableChanged);
    }
    let is_kept = |index: &IndexDef| new.indexes.iter().any(|new| new.id == index.id);
    for index in old.indexes.iter().filter(|index| !is_kept(index)) {
        limits::dropped_index(old, &index.name)?;
    }
    let (kept, added): (Vec<_>, Vec<_>) =
        new.indexes.iter().cloned().partition(|index| index.id != IndexId(0));
    let mut def = TableDef { indexes: kept, ..new.clone() };
    for index in added {
        limits::added_index(&def, &index)?;
        def.indexes.push(index);
    }
    Ok(limits::table(&def)?)
}

/// Whether records of `old` are records of `new`, and each of its indexes that `new` keeps is what it was.
fn has_same_records(old: &TableDef, new: &TableDef) -> bool {
    let mut columns = old.columns.iter().zip(&new.columns);
    let mut kept = new.indexes.iter().filter(|index| index.id != IndexId(0));
    (old.id, old.format_version, old.hidden_row_id) == (new.id, new.format_version, new.hidden_row_id)
        && old.columns.len() == new.columns.len()
        && columns.all(|(a, b)| (a.id, a.nullable) == (b.id, b.nullable) && has_same_storage(&a.ty, &b.ty))
        && kept.all(|new| {
            let old = old.indexes.iter().find(|old| old.id == new.id);
            old.is_some_and(|old| (old.kind, &old.parts) == (new.kind, &new.parts))
        })
}
