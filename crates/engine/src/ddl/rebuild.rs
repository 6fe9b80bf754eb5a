//! ALTER TABLE that rewrites the records of a table.
//!
//! | phase | function | lock |
//! |---|---|---|
//! | trees for the new table | [`Engine::create_new_table`] | no thread changes rows |
//! | scan, convert, clustered records | [`Engine::copy_rows`] | the same, or others change rows |
//! | secondary indexes | [`Engine::build`] | the same |
//! | rows that others have changed | [`RowReplay::catch_up`] | others change rows |
//! | the last of these | [`RowReplay::finish`] | exclusive |
//! | switch | [`Engine::switch_table`] | exclusive |
//!
//! Readers use the old table until the switch. Writers do so too where [`BuildOptions::lets_writers_on`] is
//! set and the clustered key stays what it is ([`keeps_clustered_key`]). An error, KILL or a crash before the
//! switch leaves the old table as it was, and the new trees are freed as pending ones.

use std::sync::Arc;

use base::{ColumnId, IndexId, Lsn};
use trx::{ExclusiveWait, ReadView};
use types::{KeyPart, RowHistory, TableDef};

use super::add_indexes::{BuildOptions, Noted};
use super::alter::Alteration;
use super::new_rows::NewRows;
use super::pace::Pace;
use super::row_replay::RowReplay;
use super::snapshot::Snapshot;
use super::table::choose_clustered;
use super::whole_rows::{RowValues, WholeRows};
use super::{DefinitionLock, Exclusive};
use crate::dictionary::{Change, Kind};
use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::index::Index;
use crate::index_sort::{Charged, EntryLens, IndexSort, Layout, SortPlace};
use crate::limits;
use crate::row::key::Value;
use crate::side_log::{ChangedRows, TableSideLog};
use crate::table::Table;

/// Rows copied between two checks of the kill flag.
const ROWS_BETWEEN_LOOKS: usize = 64;
/// Bytes of a row's place in a [`RowOrder`] that count: a sort entry has room for them and a clustered key.
const ROW_ORDER_BYTES_MAX: usize = 2048;

const _: () = assert!(ROW_ORDER_BYTES_MAX + size_of::<u64>() <= btree::KEY_BYTES_MAX);

/// For each column of the new table, the column of the old one whose bytes it keeps in every row; `None`: it
/// is new, or gets other bytes.
pub type KeptColumns = [Option<u16>];

/// Takes a row of the new table: storage bytes per column.
pub type PutRow<'p> = dyn FnMut(&[Option<&[u8]>]) -> Result<()> + 'p;

/// Appends the bytes that place a row of the old table among the others. No two rows have bytes of which one
/// begins with the other's, unless they are equal.
pub type RowOrder<'o> = dyn Fn(&[Option<&[u8]>], &mut Vec<u8>) + 'o;

/// Makes the new table's row of one of the old table, and puts it.
pub(super) type MakeRow<'m, E> = dyn FnMut(&[Value<'_>], &mut PutRow<'_>) -> std::result::Result<(), E> + 'm;

impl Engine {
    /// Rebuilds the table whose definition is `old` with the definition of `alteration`, whose index ids are
    /// ignored: all of that, or nothing; returns how many rows the new one has.
    /// `make` is called with each row whose record does not stay as it is, and puts what becomes of it. Where
    /// writers continue, it is called again for rows that they change; an error then counts if it comes again
    /// at the end. Waits up to `wait` for writers to end before the copy, and for all others to end after it;
    /// the session has committed.
    ///
    /// # Errors
    /// Those of `make`; [`Error::SideLogFull`]; [`Error::TableChanged`] if `old` is not the table's
    /// definition any more; [`Error::Definition`]; [`Error::Name`]; [`Error::DuplicateKey`].
    pub fn rebuild_table<E: From<Error>>(
        &self,
        old: &Arc<TableDef>,
        alteration: Alteration,
        kept: &KeptColumns,
        options: &BuildOptions,
        wait: impl Into<ExclusiveWait>,
        make: impl FnMut(&[Option<&[u8]>], &mut PutRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        self.rebuild_table_in_order(old, alteration, kept, (options, None), wait, make)
    }

    /// As [`Engine::rebuild_table`]. With a [`RowOrder`], the new table has no key of its own, its rows are
    /// in that order, and no thread changes rows meanwhile.
    ///
    /// # Errors
    /// Those of [`Engine::rebuild_table`]; [`Error::Memory`].
    pub fn rebuild_table_in_order<E: From<Error>>(
        &self,
        old: &Arc<TableDef>,
        alteration: Alteration,
        kept: &KeptColumns,
        (options, row_order): (&BuildOptions, Option<&RowOrder<'_>>),
        wait: impl Into<ExclusiveWait>,
        mut make: impl FnMut(&[Option<&[u8]>], &mut PutRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
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
        let order = Order::of(old, &def, kept);
        let rebuild = Rebuild { engine: self, old: &table, kept, order, row_order, options, wait: &wait };
        let built = rebuild.run(def, lock, &mut make);
        let switched = built.and_then(|(new, rows, exclusive)| {
            Ok((self.switch_table(&table, &new, rows, auto_increment)?, rows, exclusive))
        });
        match switched {
            Ok((gone, rows, exclusive)) => {
                let settled = self.keep_made_trees(&made);
                drop(exclusive);
                self.flush_change()?;
                self.free_trees_later(gone)?;
                settled?;
                Ok(rows)
            }
            Err(error) => Err(self.free_made(made, error)),
        }
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

/// A rebuild up to the switch.
struct Rebuild<'a> {
    engine: &'a Engine,
    old: &'a Arc<Table>,
    kept: &'a KeptColumns,
    order: Order,
    row_order: Option<&'a RowOrder<'a>>,
    options: &'a BuildOptions,
    wait: &'a ExclusiveWait,
}

impl Rebuild<'_> {
    /// Makes the trees of `def` and fills them; returns the table, not yet in the catalog, how many rows it
    /// has, and the exclusive lock that keeps rows from changing.
    fn run<E: From<Error>>(
        &self,
        def: TableDef,
        lock: DefinitionLock,
        make: &mut MakeRow<'_, E>,
    ) -> std::result::Result<(Arc<Table>, u64, Exclusive), E> {
        let new = self.engine.create_new_table(self.old, def).map_err(|error| self.named(error))?;
        let (rows, exclusive) =
            if self.options.lets_writers_on && self.order == Order::SameKey && self.row_order.is_none() {
                self.fill_beside_writers(&new, lock, make)?
            } else {
                let rows = self.fill(&new, &ReadView::newest(), &|| Ok(()), make)?;
                (rows, lock.into_exclusive(self.wait)?)
            };
        Ok((new, rows, exclusive))
    }

    /// Fills the trees with the rows that `view` sees; returns how many there are. `look` is called now and
    /// then; an error of it ends the rebuild.
    fn fill<E: From<Error>>(
        &self,
        new: &Table,
        view: &ReadView,
        look: &dyn Fn() -> Result<()>,
        make: &mut MakeRow<'_, E>,
    ) -> std::result::Result<u64, E> {
        let Rebuild { engine, old, options, .. } = self;
        let rows = match self.row_order {
            Some(row_order) => self.copy_sorted_rows(new, view, row_order, make)?,
            None => self.copy_rows(new, view, look, make)?,
        };
        // No other thread has the new table.
        let built = engine.build(new, &new.indexes[1..], &ReadView::newest(), &options.memory, look);
        built.map_err(|error| E::from(engine.name_damage(error, std::slice::from_ref(*old))))?;
        Ok(rows)
    }

    fn copy_rows<E: From<Error>>(
        &self,
        new: &Table,
        view: &ReadView,
        look: &dyn Fn() -> Result<()>,
        make: &mut MakeRow<'_, E>,
    ) -> std::result::Result<u64, E> {
        let Rebuild { engine, old, order, options, .. } = self;
        let named = |error| self.named(error);
        let mut rows = NewRows::new(engine, new, *order != Order::Other).map_err(named)?;
        let charged = Charged::new(&options.memory);
        charged.set(rows.memory_max())?;
        let keeps_records = *order == Order::SameKey
            && new.clustered().format.has_records_of(&old.clustered().format, self.kept);
        let (whole, mut values) = (WholeRows::new(engine, old, *view), RowValues::default());
        whole.for_each_batch(|batch| {
            look()?;
            if keeps_records && rows.push_leaf(&batch)? {
                return Ok(());
            }
            batch.try_for_each_row(|row| {
                if keeps_records && rows.push_record(&row)? {
                    return Ok(());
                }
                values.visit_values(&whole, &row, |row, row_id| make(row, &mut |new| rows.push(new, row_id)))
            })
        })?;
        Ok(rows.finish().map_err(named)?)
    }

    /// Copies the rows in another order than that of the clustered key: sorts their keys, and reads each row
    /// again by its key.
    fn copy_sorted_rows<E: From<Error>>(
        &self,
        new: &Table,
        view: &ReadView,
        row_order: &RowOrder<'_>,
        make: &mut MakeRow<'_, E>,
    ) -> std::result::Result<u64, E> {
        let Rebuild { engine, old, options, .. } = self;
        let name = format!("rows-{}", new.clustered().def.id.0);
        let place = SortPlace { folder: &engine.temp_folder, name: &name, counters: &engine.sort_counters };
        let mut sort = IndexSort::new(place, vec![Layout::Headed], &options.memory)?;
        let (whole, mut values) = (WholeRows::new(engine, old, *view), RowValues::default());
        let mut number = 0u64;
        whole.for_each_batch(|batch| {
            batch.try_for_each_row(|row| {
                number += 1;
                values.visit_values(&whole, &row, |values, _| {
                    sort.add(0, |entry| {
                        let start = entry.len();
                        row_order(values, entry);
                        entry.truncate(start + ROW_ORDER_BYTES_MAX);
                        // Equal rows keep their order.
                        entry.extend_from_slice(&number.to_be_bytes());
                        let key = entry.len() - start;
                        old.clustered().append_clustered_key(&row, entry);
                        Ok(EntryLens { key, declared: 0 })
                    })
                })
            })
        })?;
        let mut rows = NewRows::new(engine, new, true).map_err(|error| self.named(error))?;
        let mut sorted = sort.finish()?;
        let mut entries = sorted.take(0)?.headed().expect("the layout asked for");
        let mut count = 0usize;
        while let Some(entry) = entries.next()? {
            if count.is_multiple_of(ROWS_BETWEEN_LOOKS) {
                fail_if_interrupted()?;
            }
            count += 1;
            whole.visit_one(entry.payload(), &mut values, |row| make(row, &mut |new| rows.push(new, 0)))?;
        }
        Ok(rows.finish().map_err(|error| self.named(error))?)
    }

    /// [`Rebuild::fill`] while others change rows, and the changes of these.
    fn fill_beside_writers<E: From<Error>>(
        &self,
        new: &Table,
        lock: DefinitionLock,
        make: &mut MakeRow<'_, E>,
    ) -> std::result::Result<(u64, Exclusive), E> {
        let Rebuild { engine, old, options, wait, .. } = self;
        let changed = Arc::new(ChangedRows::new(&engine.temp_folder, &new.def, options.side_log_bytes_max));
        let snapshot = Snapshot::take(engine);
        let noted = Noted::begin(old, TableSideLog::Rows(Arc::clone(&changed)));
        let lock = lock.admit_writers();
        let pace = Pace::new(&engine.ddl_throttle, &engine.trx);
        let look = || pace.keep().and_then(|()| changed.ensure_whole());
        let rows = self.fill(new, &snapshot.view, &look, make)?;
        drop(snapshot);
        let mut replay = RowReplay::new(engine, (old, new), &changed, rows, &options.memory)?;
        replay.catch_up(make)?;
        let exclusive = lock.into_exclusive_with(wait, || replay.catch_up(make))?;
        let rows = replay.finish(make)?;
        drop(noted);
        Ok((rows, exclusive))
    }

    fn named(&self, error: Error) -> Error {
        self.engine.name_damage(error, std::slice::from_ref(self.old))
    }
}

/// In what order rows come that are read by the old clustered key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// That of the new clustered key, which has the same bytes.
    SameKey,
    /// That of the new clustered key.
    Kept,
    /// Another.
    Other,
}

impl Order {
    fn of(old: &TableDef, new: &TableDef, kept: &KeptColumns) -> Self {
        if new.hidden_row_id {
            // Rows without an id of their own get one in the order in which they come.
            return if old.hidden_row_id { Order::SameKey } else { Order::Kept };
        }
        let is_same = |(before, after): (&KeyPart, &KeyPart)| {
            let column = usize::from(after.column);
            let (before_column, after_column) =
                (&old.columns[usize::from(before.column)], &new.columns[column]);
            kept[column] == Some(before.column)
                && (before.desc, before.prefix_len) == (after.desc, after.prefix_len)
                && before_column.ty == after_column.ty
        };
        let (before, after) = (&old.clustered().parts, &new.clustered().parts);
        if after.len() > before.len() || !before.iter().zip(after).all(is_same) {
            return Order::Other;
        }
        let is_whole = after.len() == before.len() && !old.hidden_row_id;
        if is_whole { Order::SameKey } else { Order::Kept }
    }
}

/// Whether rows of `old` have the same clustered keys as rows of `new`, a definition without ids. Others can
/// change rows while such a table is rebuilt.
pub fn keeps_clustered_key(old: &TableDef, new: &TableDef, kept: &KeptColumns) -> bool {
    let mut new = new.clone();
    choose_clustered(&mut new);
    Order::of(old, &new, kept) == Order::SameKey
}
