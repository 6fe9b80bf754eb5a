//! Building indexes.
//!
//! The new indexes of a statement are built bottom-up from the clustered one while nobody changes rows: one
//! scan for all of them. Their entries are sorted in bounded memory (`index_sort`).

use btree::BulkBuild;
use page::{RowHeader, RowRef, SlotFlags};
use trx::{ReadView, Span};

use crate::column_set::ColumnSet;
use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::index_sort::{EntryLens, IndexSort, Merge, SortMemory, SortPlace};
use crate::range::{Direction, KeyRange};
use crate::row::duplicate;
use crate::row::entry::append_declared_key;
use crate::row::insert::{Value, row_id_of};
use crate::row::row_image::{RowImage, value_of, with_values};
use crate::row::writer::ensure_key;
use crate::scan::{Scan, append_clustered_key};
use crate::table::{Index, Table};

/// Entries that a build adds between two looks at the kill flag.
const ENTRIES_BETWEEN_LOOKS: usize = 256;

impl Engine {
    /// Fills the empty trees of `indexes` with the rows of `table`.
    pub(super) fn build(&self, table: &Table, indexes: &[Index], memory: &SortMemory) -> Result<()> {
        let Some(first) = indexes.first() else { return Ok(()) };
        let name = format!("index-{}", first.def.id.0);
        let place = SortPlace { folder: &self.temp_folder, name: &name, counters: &self.sort_counters };
        let sort = IndexSort::new(place, indexes.len(), memory)?;
        let mut collector = Collector { engine: self, table, indexes, sort, scratch: Vec::new() };
        collector.collect()?;
        let mut entries = collector.sort.finish()?;
        for (position, index) in indexes.iter().enumerate() {
            self.build_from(entries.take(position)?, table, index)?;
        }
        Ok(())
    }

    /// Fills the empty tree of `index` with `entries`, those of the rows of `table`.
    fn build_from(&self, mut entries: Merge<'_>, table: &Table, index: &Index) -> Result<()> {
        let mut build = BulkBuild::new(&self.store, &index.tree, base::TrxId::NONE)?;
        // Key bytes that no other entry may begin with.
        let mut last = Vec::new();
        let mut count = 0usize;
        while let Some(entry) = entries.next()? {
            if count.is_multiple_of(ENTRIES_BETWEEN_LOOKS) {
                fail_if_interrupted()?;
            }
            count += 1;
            if index.is_unique() {
                let declared = entry.declared();
                if !declared.is_empty() && declared == last {
                    return Err(clash(self, table, index, &entry.key()[declared.len()..])?);
                }
                last.clear();
                last.extend_from_slice(declared);
            }
            build.push(entry.key(), entry.payload(), SlotFlags::NONE)?;
        }
        Ok(build.finish()?)
    }
}

/// The error for the row with `clustered_key`, whose key in `index` is another's too.
#[cold]
pub(super) fn clash(engine: &Engine, table: &Table, index: &Index, clustered_key: &[u8]) -> Result<Error> {
    let (mut values, mut spans, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    let mut image = RowImage { values: &mut values, spans: &mut spans };
    table.get(engine, &ReadView::newest(), clustered_key, |row| {
        image.fill(&row, table.def.columns.len(), &mut scratch);
    })?;
    let columns: ColumnSet = index.def.parts.iter().map(|part| usize::from(part.column)).collect();
    let (values, spans) = image.fetched(&engine.store, &columns)?;
    Ok(with_values(spans.len(), |i| value_of(&values, spans[i]), |row| duplicate::error(table, index, row)))
}

/// Reads the rows of a table once, and adds the entries of each.
struct Collector<'a> {
    engine: &'a Engine,
    table: &'a Table,
    indexes: &'a [Index],
    sort: IndexSort<'a>,
    scratch: Vec<u8>,
}

impl Collector<'_> {
    fn collect(&mut self) -> Result<()> {
        let (engine, table) = (self.engine, self.table);
        let columns = table.def.columns.len();
        let wanted: ColumnSet = self.indexes.iter().flat_map(|index| index.columns.below(columns)).collect();
        let mut scan =
            Scan::open(engine, table, 0, ReadView::newest(), KeyRange::all(), Direction::Forward)?.detached();
        let (mut values, mut spans, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(batch) = scan.next_batch()? {
            fail_if_interrupted()?;
            for row in batch.rows() {
                let mut image = RowImage { values: &mut values, spans: &mut spans };
                image.fill_only(&wanted, &row, columns, &mut scratch);
                self.add_row(&row, &image, &wanted)?;
            }
        }
        Ok(())
    }

    fn add_row(&mut self, row: &RowRef<'_>, image: &RowImage<'_>, wanted: &ColumnSet) -> Result<()> {
        let mut row_id = 0;
        if self.table.def.hidden_row_id {
            self.scratch.clear();
            append_clustered_key(self.table.clustered(), row, &mut self.scratch);
            row_id = row_id_of(&self.scratch);
        }
        if image.any_off_page(wanted) {
            let (values, spans) = image.fetched(&self.engine.store, wanted)?;
            return self.add_values(&values, &spans, row_id);
        }
        self.add_values(image.values, image.spans, row_id)
    }

    fn add_values(&mut self, values: &[u8], spans: &[Span], row_id: u64) -> Result<()> {
        with_values(spans.len(), |i| value_of(values, spans[i]), |row| self.add_entries(row, row_id))
    }

    fn add_entries(&mut self, row: &[Value<'_>], row_id: u64) -> Result<()> {
        let Collector { indexes, sort, scratch, .. } = self;
        for (position, index) in indexes.iter().enumerate() {
            let declared = if index.is_unique() { declared_len(index, row, scratch) } else { 0 };
            sort.add(position, |bytes| {
                let start = bytes.len();
                let extent = index.format.append_key(row, row_id, bytes);
                let key = bytes.len() - start;
                ensure_key(extent, &bytes[start..])?;
                index.format.encode(RowHeader::default(), row, &[], bytes);
                Ok(EntryLens { key, declared })
            })?;
        }
        Ok(())
    }
}

/// Bytes of the declared parts of a unique key; 0: NULL is among them, so that no other key equals it.
fn declared_len(index: &Index, row: &[Value<'_>], scratch: &mut Vec<u8>) -> usize {
    scratch.clear();
    let (comparable, _) = append_declared_key(index, row, scratch);
    if comparable { scratch.len() } else { 0 }
}
