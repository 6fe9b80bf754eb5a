//! Notes the columns that a statement reads and writes.

use std::cell::RefCell;
use std::sync::Arc;

use expr::ColumnRef;
use types::TableDef;

use super::Clause;
use super::binder::Binder;
use super::column_use::{ColumnAccess, ColumnUse, ColumnUses, TableAccess, UsedColumns};
use super::scope::{Scope, ScopeTable};
use crate::ast;

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
