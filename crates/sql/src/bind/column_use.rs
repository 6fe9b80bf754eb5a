//! The columns that a statement reads and writes, for the check of privileges on columns.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use expr::ColumnRef;
use types::TableDef;

use super::Clause;
use super::binder::Binder;
use super::scope::{Scope, ScopeColumns, ScopeTable};
use crate::ast;
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
    list: Vec<ColumnUse>,
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

    fn note_table(&mut self, table: &Arc<TableDef>, access: TableAccess) {
        if self.known_tables.insert((Arc::as_ptr(table), access)) {
            self.tables.push(TableUse { table: Arc::clone(table), access });
        }
    }

    fn note(&mut self, table: &Arc<TableDef>, access: ColumnAccess, position: u16) {
        if self.known.insert((Arc::as_ptr(table), access, position)) {
            let columns = UsedColumns::One(position);
            self.list.push(ColumnUse { table: Arc::clone(table), access, columns });
        }
    }

    /// Notes that all columns of `table` that `*` means are read.
    fn note_whole(&mut self, table: &ScopeTable) {
        if table.owner().is_some_and(|owner| self.known_whole.insert(Arc::as_ptr(owner))) {
            let columns = 0..table.columns.len() as u16;
            let positions = columns.filter(|&col| table.columns.is_shown(col)).collect();
            self.note_unnamed(table, positions, None);
        }
    }

    /// Notes that the columns of `table` at `positions` are read.
    fn note_unnamed(&mut self, table: &ScopeTable, positions: Box<[u16]>, joined_as: Option<Alias>) {
        if let Some(owner) = table.owner().filter(|_| !positions.is_empty()) {
            let columns = UsedColumns::Unnamed { positions, joined_as };
            self.list.push(ColumnUse { table: Arc::clone(owner), access: ColumnAccess::Select, columns });
        }
    }
}

impl ScopeTable {
    /// The table whose columns these are; `None` for those of a query.
    fn owner(&self) -> Option<&Arc<TableDef>> {
        match &self.columns {
            ScopeColumns::Defined(def) => Some(def),
            ScopeColumns::Named(_) => self.stands_for.as_ref(),
        }
    }
}

impl<'c> Binder<'_, 'c> {
    /// Notes that `column` was found in `scope` and is read.
    #[inline]
    pub(super) fn note_read(&self, scope: &Scope, column: ColumnRef) {
        if let Some(uses) = self.ctx.column_uses {
            note_found(uses, scope, column, ColumnAccess::Select);
        }
    }

    /// Notes that `column` of the innermost scope is changed.
    pub(super) fn note_changed(&self, column: ColumnRef) {
        if let (Some(uses), Some(level)) = (self.ctx.column_uses, self.levels.last()) {
            note_found(uses, &level.scope, column, ColumnAccess::Update);
        }
    }

    /// Notes what is done with a column of a table that is not searched for in a scope.
    #[inline]
    pub(super) fn note_target(&self, table: &Arc<TableDef>, access: ColumnAccess, position: u16) {
        if let Some(uses) = self.ctx.column_uses {
            uses.borrow_mut().note(table, access, position);
        }
    }

    /// Notes that rows of `table` are read.
    #[inline]
    pub(super) fn note_table(&self, table: &Arc<TableDef>) {
        if let Some(uses) = self.ctx.column_uses {
            uses.borrow_mut().note_table(table, TableAccess::Read);
        }
    }

    /// Notes that the relations `targets` of the innermost scope lose rows.
    pub(super) fn note_deleted(&self, targets: &[u16]) {
        if let (Some(uses), Some(level)) = (self.ctx.column_uses, self.levels.last()) {
            let tables = targets.iter().filter_map(|&rel| level.scope.table_of(rel)?.owner());
            tables.for_each(|table| uses.borrow_mut().note_table(table, TableAccess::Delete));
        }
    }

    /// Notes that rows are inserted into `table` without a list of columns.
    pub(super) fn note_whole_rows(&self, table: &Arc<TableDef>) {
        if let Some(uses) = self.ctx.column_uses {
            let positions = table.visible_columns().collect();
            let columns = UsedColumns::Unnamed { positions, joined_as: None };
            let use_ = ColumnUse { table: Arc::clone(table), access: ColumnAccess::Insert, columns };
            uses.borrow_mut().list.push(use_);
        }
    }

    /// Notes the columns of `*` or, with the position of a table in the innermost scope, of `table.*`. A
    /// select list may have it again and again.
    pub(super) fn note_star(&self, table: Option<usize>) {
        let (Some(uses), Some(level)) = (self.ctx.column_uses, self.levels.last()) else { return };
        let scope = &level.scope;
        let mut uses = uses.borrow_mut();
        match (table, &scope.merged) {
            (Some(at), _) => uses.note_whole(&scope.tables[at]),
            (None, None) => scope.tables.iter().for_each(|table| uses.note_whole(table)),
            (None, Some(_)) => {
                let shown: Vec<_> = scope.shown().collect();
                for run in shown.chunk_by(|a, b| a.table == b.table) {
                    let table = &scope.tables[usize::from(run[0].table)];
                    let positions = run.iter().map(|visible| visible.col).collect();
                    uses.note_unnamed(table, positions, Some(table.alias.clone()));
                }
            }
        }
    }

    /// Notes that no table has the column `name`, which is read. Where MySQL does not distinguish that from a
    /// column that may not be read, neither does this: outside of subqueries, of HAVING and of what queries
    /// in FROM select, as if it were one of the first table.
    #[cold]
    pub(super) fn note_missing(&self, name: &ast::ColumnRef<'_>, clause: Clause) {
        let (Some(uses), Some(level)) = (self.ctx.column_uses, self.levels.last()) else { return };
        let is_in_subquery = self.levels.iter().any(|level| level.sub.is_some());
        let is_selected_in_from = clause == Clause::FieldList && self.expansion.is_in_select();
        if is_in_subquery || is_selected_in_from || clause == Clause::Having {
            return;
        }
        if let Some(table) = level.scope.tables.first().and_then(ScopeTable::owner) {
            let columns = UsedColumns::Missing(name.column.into());
            let use_ = ColumnUse { table: Arc::clone(table), access: ColumnAccess::Select, columns };
            uses.borrow_mut().list.push(use_);
        }
    }
}

fn note_found(uses: &RefCell<ColumnUses>, scope: &Scope, column: ColumnRef, access: ColumnAccess) {
    if let Some(table) = scope.table_of(column.rel).and_then(ScopeTable::owner) {
        uses.borrow_mut().note(table, access, column.col);
    }
}
