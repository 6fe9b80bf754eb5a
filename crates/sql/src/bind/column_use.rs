//! The columns that a statement uses, as they are collected for the check of privileges on columns.

use std::collections::HashSet;
use std::sync::Arc;

use types::TableDef;

use super::scope::{ScopeColumns, ScopeTable};
use crate::plan::Alias;

/// A statement's use of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnAccess {
    /// It reads it, or its default.
    Select,
    /// It gives it a value in a new row.
    Insert,
    /// It changes it in a row that is there.
    Update,
}

/// Columns of one table, and what a statement does with them.
#[derive(Clone, Debug)]
pub struct ColumnUse {
    /// The table.
    pub table: Arc<TableDef>,
    /// What it does.
    pub access: ColumnAccess,
    /// Which columns.
    pub columns: UsedColumns,
}

/// Which columns a statement uses.
#[derive(Clone, Debug)]
pub enum UsedColumns {
    /// The one at this position.
    One(u16),
    /// Those at these positions, which it does not name: `*`, or INSERT without a list.
    Unnamed {
        /// In the order in which they are read.
        positions: Box<[u16]>,
        /// Name of the table in a join that has made one column of two.
        joined_as: Option<Alias>,
    },
    /// One of this name, which no table has.
    Missing(Box<str>),
}

/// A statement's use of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableAccess {
    /// It reads rows.
    Read,
    /// It removes rows.
    Delete,
}

/// A table, and what a statement does with it.
#[derive(Clone, Debug)]
pub struct TableUse {
    /// The table.
    pub table: Arc<TableDef>,
    /// What it does.
    pub access: TableAccess,
}

/// The columns that a statement uses, in the order in which MySQL checks them, and the tables. One that is
/// used again is not noted again. Tables are distinguished by their definitions, of which the binder has one:
/// those that the session makes have no ids.
#[derive(Debug, Default)]
pub struct ColumnUses {
    tables: Vec<TableUse>,
    pub(super) list: Vec<ColumnUse>,
    known_tables: HashSet<(*const TableDef, TableAccess)>,
    known: HashSet<(*const TableDef, ColumnAccess, u16)>,
    /// Tables all of whose columns that `*` means are read.
    known_whole: HashSet<*const TableDef>,
}

impl ColumnUses {
    /// What was noted.
    pub fn into_parts(self) -> (Vec<TableUse>, Vec<ColumnUse>) {
        (self.tables, self.list)
    }

    pub(super) fn note_table(&mut self, table: &Arc<TableDef>, access: TableAccess) {
        if self.known_tables.insert((Arc::as_ptr(table), access)) {
            self.tables.push(TableUse { table: Arc::clone(table), access });
        }
    }

    pub(super) fn note(&mut self, table: &Arc<TableDef>, access: ColumnAccess, position: u16) {
        if self.known.insert((Arc::as_ptr(table), access, position)) {
            let columns = UsedColumns::One(position);
            self.list.push(ColumnUse { table: Arc::clone(table), access, columns });
        }
    }

    /// Notes that all columns of `table` that `*` means are read.
    pub(super) fn note_whole(&mut self, table: &ScopeTable) {
        if table.owner().is_some_and(|owner| self.known_whole.insert(Arc::as_ptr(owner))) {
            let columns = 0..table.columns.len() as u16;
            let positions = columns.filter(|&col| table.columns.is_shown(col)).collect();
            self.note_unnamed(table, positions, None);
        }
    }

    /// Notes that the columns of `table` at `positions` are read.
    pub(super) fn note_unnamed(
        &mut self,
        table: &ScopeTable,
        positions: Box<[u16]>,
        joined_as: Option<Alias>,
    ) {
        if let Some(owner) = table.owner().filter(|_| !positions.is_empty()) {
            let columns = UsedColumns::Unnamed { positions, joined_as };
            self.list.push(ColumnUse { table: Arc::clone(owner), access: ColumnAccess::Select, columns });
        }
    }
}

impl ScopeTable {
    /// The table whose columns these are; `None` for those of a query.
    pub(super) fn owner(&self) -> Option<&Arc<TableDef>> {
        match &self.columns {
            ScopeColumns::Defined(def) => Some(def),
            ScopeColumns::Named(_) => self.stands_for.as_ref(),
        }
    }
}
