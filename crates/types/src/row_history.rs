//! The layouts of rows that were written before their table's columns changed.
//!
//! A change of columns that leaves the rows alone gives the table another format version. Pages keep the
//! version that their records were written in until they are converted. For every version that a page may
//! still have, a [`RowHistory`] has the columns of its records: those of the table's columns that it had, as
//! they were then, and those that were dropped since. A record's columns are in the order of their ids,
//! whatever their order in the table.

use std::ops::Range;

use base::ColumnId;

use crate::storage::fixed_width;
use crate::{ColumnDef, SqlType, TableDef};

/// Bytes that a record has for each column of variable width, beside its value.
const END_BYTES: usize = 2;

/// The versions of a table's rows. Empty: all rows have the version of the definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowHistory {
    /// The oldest format version that a page may have; 0: none has another than the definition's.
    pub oldest: u16,
    /// Columns that were dropped since, or were another way.
    pub past: Vec<PastColumn>,
    /// Columns of the table that came, or became what they are, since.
    pub added: Vec<AddedColumn>,
}

/// A column as it was in some versions, and is not any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastColumn {
    /// Which column: one of the table's if it has become another, else one that was dropped.
    pub id: ColumnId,
    /// Its type then.
    pub ty: SqlType,
    /// Whether it could be NULL then.
    pub nullable: bool,
    /// The versions that had it.
    pub versions: Range<u16>,
}

/// A column that rows of some versions lack, or have as a [`PastColumn`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedColumn {
    /// Which of the table's columns.
    pub id: ColumnId,
    /// The first version that has it as it is.
    pub since: u16,
    /// What rows of versions that lack it show in it: storage bytes, `None` for NULL.
    pub initial: Option<Box<[u8]>>,
}

impl RowHistory {
    /// Whether no page has another version than the definition's.
    pub fn is_empty(&self) -> bool {
        self.oldest == 0
    }

    /// Versions that pages may have beside the definition's `current` one.
    pub fn versions(&self, current: u16) -> usize {
        if self.is_empty() { 0 } else { usize::from(current.saturating_sub(self.oldest)) }
    }

    /// The first version that has the column as it is.
    pub fn since(&self, id: ColumnId) -> u16 {
        self.added(id).map_or(0, |added| added.since)
    }

    /// Most bytes by which a record of any version grows on its way to that of `def`.
    pub fn growth_max(&self, def: &TableDef) -> usize {
        let bytes = |added: &AddedColumn| {
            let column = def.columns.iter().find(|column| column.id == added.id);
            let width = column.and_then(|column| fixed_width(&column.ty));
            width.unwrap_or_else(|| END_BYTES + added.initial.as_ref().map_or(0, |initial| initial.len()))
        };
        self.added.iter().map(bytes).sum::<usize>() + self.added.len().div_ceil(8)
    }

    /// Whether rows of some version have a column of `def` in a type of another width.
    pub fn has_narrower(&self, def: &TableDef) -> bool {
        let column = |past: &PastColumn| def.columns.iter().find(|column| column.id == past.id);
        self.past
            .iter()
            .any(|past| column(past).is_some_and(|now| fixed_width(&now.ty) != fixed_width(&past.ty)))
    }

    /// What rows of versions that lack the column show in it.
    pub fn initial(&self, id: ColumnId) -> Option<&[u8]> {
        self.added(id)?.initial.as_deref()
    }

    fn added(&self, id: ColumnId) -> Option<&AddedColumn> {
        self.added.iter().find(|added| added.id == id)
    }

    /// The table as its rows of `version` have it: their columns in order, and the clustered index on them.
    /// Names and defaults are those of today.
    pub fn table_at(&self, def: &TableDef, version: u16) -> TableDef {
        let today = def.columns.iter().filter(|column| self.since(column.id) <= version);
        let past = self.past.iter().filter(|past| past.versions.contains(&version));
        let mut columns: Vec<ColumnDef> = today.cloned().chain(past.map(PastColumn::column)).collect();
        columns.sort_by_key(|column| column.id);
        let mut clustered = def.clustered().clone();
        for part in &mut clustered.parts {
            let id = def.columns[usize::from(part.column)].id;
            // Columns of the clustered key never come or go without a new tree.
            part.column = columns.iter().position(|column| column.id == id).unwrap_or(0) as u16;
        }
        TableDef { columns, indexes: vec![clustered], format_version: version, ..def.clone() }
    }
}

impl PastColumn {
    fn column(&self) -> ColumnDef {
        ColumnDef { id: self.id, ..ColumnDef::new("", self.ty.clone(), self.nullable) }
    }
}
