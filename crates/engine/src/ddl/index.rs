//! Building indexes.
//!
//! The new indexes of a statement are built bottom-up from the clustered one, as a view sees it: one scan for
//! all of them. Their entries are sorted in bounded memory (`index_sort`). What changes of rows meanwhile is
//! done to them afterwards (`ddl/replay.rs`).

use btree::BulkBuild;
use page::{RowRef, SlotFlags};
use trx::ReadView;

use crate::column_set::ColumnSet;
use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::index::Index;
use crate::index_sort::{Headed, IndexSort, Merge, MergeOf, ShortKeys, SortMemory, SortPlace};
use crate::range::{Direction, KeyRange};
use crate::row::built_entry;
use crate::row::duplicate;
use crate::row::int_entry::IntEntries;
use crate::row::key::{Value, append_declared_key, row_id_of};
use crate::row::row_image::{RowImage, value_of, with_values};
use crate::scan::{Batch, Scan};
use crate::table::Table;

/// Entries that a build adds between two checks of the kill flag.
const ENTRIES_BETWEEN_LOOKS: usize = 256;

impl Engine {
    /// Fills the empty trees of `indexes` with the rows of `table` that `view` sees. `look` is called now and
    /// then; an error of it ends the build.
    pub(super) fn build(
        &self,
        table: &Table,
        indexes: &[Index],
        view: &ReadView,
        memory: &SortMemory,
        look: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let Some(first) = indexes.first() else { return Ok(()) };
        let name = format!("index-{}", first.def.id.0);
        let place = SortPlace { folder: &self.temp_folder, name: &name, counters: &self.sort_counters };
        let layouts = indexes.iter().map(built_entry::layout).collect();
        let sort = IndexSort::new(place, layouts, memory)?;
        let made = Vec::with_capacity(indexes.len());
        let mut collector = Collector { engine: self, table, indexes, sort, made, scratch: Vec::new() };
        collector.collect(view, look)?;
        let mut entries = collector.sort.finish()?;
        for (position, index) in indexes.iter().enumerate() {
            look()?;
            self.build_from(entries.take(position)?, table, view, index, look)?;
        }
        Ok(())
    }

    /// Fills the empty tree of `index` with `entries`, those of the rows of `table` that `view` sees.
    fn build_from(
        &self,
        entries: Merge<'_>,
        table: &Table,
        view: &ReadView,
        index: &Index,
        look: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let build = BulkBuild::new(&self.store, &index.tree, base::TrxId::NONE)?;
        let target = Target { engine: self, table, view, index };
        match entries {
            Merge::Headed(entries) => target.build_from_entries(entries, build, look),
            Merge::Short(keys) => target.build_from_keys(keys, build, look),
        }
    }
}

/// An index in the making.
struct Target<'a> {
    engine: &'a Engine,
    table: &'a Table,
    view: &'a ReadView,
    index: &'a Index,
}

impl Target<'_> {
    fn build_from_entries(
        &self,
        mut entries: MergeOf<'_, Headed>,
        mut build: BulkBuild<'_>,
        look: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        // Key bytes that no other entry may begin with.
        let mut last = Vec::new();
        let mut count = 0usize;
        while let Some(entry) = entries.next()? {
            if count.is_multiple_of(ENTRIES_BETWEEN_LOOKS) {
                fail_if_interrupted()?;
                look()?;
            }
            count += 1;
            if self.index.is_unique() {
                let declared = entry.declared();
                if !declared.is_empty() && declared == last {
                    return Err(self.clash(&entry.key()[declared.len()..])?);
                }
                last.clear();
                last.extend_from_slice(declared);
            }
            build.push(entry.key(), entry.payload(), SlotFlags::NONE)?;
        }
        Ok(build.finish()?)
    }

    fn build_from_keys(
        &self,
        mut merge: MergeOf<'_, ShortKeys>,
        mut build: BulkBuild<'_>,
        look: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let keys = merge.keys();
        let (mut last, mut count) = (None, 0usize);
        while let Some(number) = merge.next()? {
            if count.is_multiple_of(ENTRIES_BETWEEN_LOOKS) {
                fail_if_interrupted()?;
                look()?;
            }
            count += 1;
            let key = number.to_be_bytes();
            let declared = keys.declared_of(number);
            if declared.is_some() && declared == last {
                return Err(self.clash(&key[keys.declared()..keys.len()])?);
            }
            last = declared;
            build.push_short_key(key, keys.len())?;
        }
        Ok(build.finish()?)
    }

    /// The error for the row with `clustered_key`.
    #[cold]
    fn clash(&self, clustered_key: &[u8]) -> Result<Error> {
        clash(self.engine, self.table, self.view, self.index, clustered_key)
    }
}

/// The error for the row with `clustered_key`, which `view` sees, and whose key in `index` is another's too.
#[cold]
pub(super) fn clash(
    engine: &Engine,
    table: &Table,
    view: &ReadView,
    index: &Index,
    clustered_key: &[u8],
) -> Result<Error> {
    let error =
        with_key_values(engine, table, view, index, clustered_key, |row| duplicate::error(table, index, row));
    Ok(error?.unwrap_or(Error::IndexDisagrees { index: table.clustered().tree.index }))
}

/// As [`clash`], if the row has the declared key `declared` as `view` sees it.
#[cold]
pub(super) fn find_clash(
    engine: &Engine,
    table: &Table,
    view: &ReadView,
    index: &Index,
    declared: &[u8],
    clustered_key: &[u8],
) -> Result<Option<Error>> {
    let error = with_key_values(engine, table, view, index, clustered_key, |row| {
        let mut key = Vec::new();
        append_declared_key(index, row, &mut key);
        (key == declared).then(|| duplicate::error(table, index, row))
    });
    Ok(error?.flatten())
}

/// Calls `work` with the row, in which the columns of `index` are whole. `None`: `view` sees no such row.
fn with_key_values<R>(
    engine: &Engine,
    table: &Table,
    view: &ReadView,
    index: &Index,
    clustered_key: &[u8],
    work: impl FnOnce(&[Value<'_>]) -> R,
) -> Result<Option<R>> {
    let (mut values, mut spans, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    let mut image = RowImage { values: &mut values, spans: &mut spans };
    let found = table.get(engine, view, clustered_key, |row| {
        image.fill(&row, table.def.columns.len(), &mut scratch);
    })?;
    if found.is_none() {
        return Ok(None);
    }
    let columns: ColumnSet = index.def.parts.iter().map(|part| usize::from(part.column)).collect();
    let (values, spans) = image.fetched(&engine.store, &columns)?;
    Ok(Some(with_values(spans.len(), |i| value_of(&values, spans[i]), work)))
}

/// Reads the rows of a table once, and adds the entries of each.
struct Collector<'a> {
    engine: &'a Engine,
    table: &'a Table,
    indexes: &'a [Index],
    sort: IndexSort<'a>,
    /// Which indexes have the entries of the current leaf's rows.
    made: Vec<bool>,
    scratch: Vec<u8>,
}

impl Collector<'_> {
    fn collect(&mut self, view: &ReadView, look: &dyn Fn() -> Result<()>) -> Result<()> {
        let (engine, table) = (self.engine, self.table);
        let mut scan = Scan::open(engine, table, 0, *view, KeyRange::all(), Direction::Forward)?.detached();
        while let Some(batch) = scan.next_batch()? {
            fail_if_interrupted()?;
            look()?;
            if self.add_leaf(&batch)? {
                continue;
            }
            batch.try_for_each_row(
                |row| {
                    if row.has_off_page() { self.add_large(&row) } else { self.add(&row) }
                },
            )?;
        }
        Ok(())
    }

    /// Adds the entries that indexes of integers have of the rows of `batch`; whether these are all entries.
    fn add_leaf(&mut self, batch: &Batch<'_>) -> Result<bool> {
        self.made.clear();
        let has_room = self.sort.makes_room(batch.len())?;
        for (position, index) in self.indexes.iter().enumerate() {
            let entries = if has_room { IntEntries::of_leaf(index, batch) } else { None };
            let is_made = entries.is_some_and(|entries| {
                self.sort.add_numbers(position, |numbers| entries.append_all(batch, numbers))
            });
            self.made.push(is_made);
        }
        Ok(self.made.iter().all(|&made| made))
    }

    #[inline]
    fn add(&mut self, row: &RowRef<'_>) -> Result<()> {
        let Collector { indexes, sort, scratch, made, .. } = self;
        for (position, index) in indexes.iter().enumerate().filter(|&(position, _)| !made[position]) {
            sort.add(position, |bytes| built_entry::append_of_record(index, row, bytes, scratch))?;
        }
        Ok(())
    }

    /// A row with values off page, which are read if an index has them.
    #[cold]
    fn add_large(&mut self, row: &RowRef<'_>) -> Result<()> {
        let columns = self.table.def.columns.len();
        let wanted: ColumnSet = self.indexes.iter().flat_map(|index| index.columns.below(columns)).collect();
        let (mut values, mut spans) = (Vec::new(), Vec::new());
        let mut image = RowImage { values: &mut values, spans: &mut spans };
        image.fill_only(&wanted, row, columns, &mut self.scratch);
        let mut row_id = 0;
        if self.table.def.hidden_row_id {
            self.scratch.clear();
            self.table.clustered().append_clustered_key(row, &mut self.scratch);
            row_id = row_id_of(&self.scratch);
        }
        let (values, spans) = image.fetched(&self.engine.store, &wanted)?;
        let Collector { indexes, sort, scratch, made, .. } = self;
        with_values(
            spans.len(),
            |i| value_of(&values, spans[i]),
            |row| {
                for (position, index) in indexes.iter().enumerate().filter(|&(position, _)| !made[position]) {
                    sort.add(position, |bytes| built_entry::append(index, row, row_id, bytes, scratch))?;
                }
                Ok(())
            },
        )
    }
}
