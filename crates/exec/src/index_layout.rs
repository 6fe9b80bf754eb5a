//! How records and keys of an index are read and made: worked out once for each version of a table, and
//! shared by all programs.

use std::ops::Deref;
use std::sync::Arc;

use engine::Table;

use crate::column_definitions::ColumnDefinitions;
use crate::key_part::KeyPart;
use crate::range_bugs::{RangeBug, is_planted};
use crate::reader::TableReader;

/// The layouts that are kept with an index.
#[derive(Debug)]
struct IndexLayout {
    reader: Arc<TableReader>,
    parts: Arc<[KeyPart]>,
    /// Of the clustered index: the table's columns.
    columns: Option<Arc<ColumnDefinitions>>,
}

impl IndexLayout {
    fn new(table: &Table, index: usize) -> Self {
        IndexLayout {
            reader: Arc::new(TableReader::new(table, index)),
            parts: KeyPart::of_index(table, index).into(),
            columns: (index == 0).then(|| Arc::new(ColumnDefinitions::new(table))),
        }
    }
}

/// A reader of `table`'s columns from records of its index at `index`.
pub(crate) fn reader(table: &Table, index: usize) -> Arc<TableReader> {
    with(table, index, |kept| Arc::clone(&kept.reader))
}

/// The definitions of `table`'s columns.
pub(crate) fn columns(table: &Table) -> Option<Arc<ColumnDefinitions>> {
    with(table, 0, |kept| kept.columns.clone())
}

/// The first `count` parts of keys of `table`'s index at position `index`, or as many as there are.
pub(crate) fn key_parts(table: &Table, index: usize, count: usize) -> KeyParts {
    let all = with(table, index, |kept| Arc::clone(&kept.parts));
    KeyParts { count: count.min(all.len()), all }
}

fn with<T>(table: &Table, index: usize, take: impl Fn(&IndexLayout) -> T) -> T {
    if is_planted(RangeBug::UnpaddedPrefix) {
        return take(&IndexLayout::new(table, index));
    }
    let kept = table.indexes[index].kept.get_or_init(|| Arc::new(IndexLayout::new(table, index)));
    match kept.downcast_ref::<IndexLayout>() {
        Some(kept) => take(kept),
        None => take(&IndexLayout::new(table, index)),
    }
}

/// The first parts of an index.
#[derive(Debug)]
pub(crate) struct KeyParts {
    all: Arc<[KeyPart]>,
    count: usize,
}

impl KeyParts {
    /// All parts of the index.
    pub(crate) fn of_whole_keys(&self) -> Arc<[KeyPart]> {
        Arc::clone(&self.all)
    }
}

impl Deref for KeyParts {
    type Target = [KeyPart];

    #[inline]
    fn deref(&self) -> &[KeyPart] {
        &self.all[..self.count]
    }
}
