//! The entries of one version of a row in the indexes that are built.

use page::RowRef;

use crate::column_set::ColumnSet;
use crate::error::Result;
use crate::index::Index;
use crate::index_sort::{Entry, append_entry};
use crate::limits::COLUMNS_MAX;
use crate::row::built_entry;
use crate::row::key::{Value, row_id_of};
use crate::row::row_image::{RowImage, value_of, with_values};
use crate::table::Table;

/// The source of the entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexed<'a> {
    pub(crate) store: &'a space::Store,
    pub(crate) table: &'a Table,
    pub(crate) indexes: &'a [Index],
    /// Columns that the entries are made from.
    pub(crate) columns: &'a ColumnSet,
}

/// Whether two versions of a row have the same bytes in `columns`, as most changes leave them. Values off
/// page are the same if they are in one place: none is changed where it is, and both versions keep theirs.
pub(super) fn same_fields(one: &RowRef<'_>, other: &RowRef<'_>, columns: &ColumnSet) -> bool {
    let (mut scratch, mut other_scratch) = (Vec::new(), Vec::new());
    columns
        .below(COLUMNS_MAX)
        .all(|column| one.field(column, &mut scratch) == other.field(column, &mut other_scratch))
}

/// An entry for each index, or none.
#[derive(Debug, Default)]
pub(crate) struct RowEntries {
    bytes: Vec<u8>,
    /// Where each entry begins.
    starts: Vec<usize>,
}

impl RowEntries {
    /// The entries of `row`. Values off page are read: the row's transaction keeps them, or a view does.
    ///
    /// # Errors
    /// [`crate::Error::KeyTooLong`]; those of reading pages.
    pub(crate) fn of(row: &RowRef<'_>, indexed: Indexed<'_>) -> Result<Self> {
        let Indexed { store, table, columns, .. } = indexed;
        let (mut values, mut spans, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        let mut row_id = 0;
        if table.def.hidden_row_id {
            table.clustered().append_clustered_key(row, &mut scratch);
            row_id = row_id_of(&scratch);
        }
        let mut image = RowImage { values: &mut values, spans: &mut spans };
        image.fill_only(columns, row, table.def.columns.len(), &mut scratch);
        if image.any_off_page(columns) {
            (values, spans) = image.fetched(store, columns)?;
        }
        let mut entries = RowEntries::default();
        let value = |i: usize| value_of(&values, spans[i]);
        with_values(spans.len(), value, |row| entries.append(row, row_id, indexed.indexes))?;
        Ok(entries)
    }

    /// Adds the entries of the row in `indexes`. `row_id`: its invisible id, if it has one.
    pub(crate) fn append(&mut self, row: &[Value<'_>], row_id: u64, indexes: &[Index]) -> Result<()> {
        let mut scratch = Vec::new();
        for index in indexes {
            self.starts.push(self.bytes.len());
            append_entry(&mut self.bytes, |bytes| {
                built_entry::append(index, row, row_id, bytes, &mut scratch)
            })?;
        }
        Ok(())
    }

    /// The entry in the index at `position`; `None`: the row has none.
    pub(crate) fn get(&self, position: usize) -> Option<Entry<'_>> {
        self.starts.get(position).map(|&start| Entry::at_start_of(&self.bytes[start..]))
    }
}
