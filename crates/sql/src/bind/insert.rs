//! INSERT and REPLACE.

use std::sync::Arc;

use types::{ColumnDef, TableDef};

use super::binder::{Aggregates, Aliases, Binder};
use super::expansion::fail_if_interrupted;
use super::scope::{ScopeColumns, ScopeTable, written};
use super::{BindError, Clause};
use crate::ast::{self, Cell, ExprKind};
use crate::plan::{Column, InsertCell, InsertMode, InsertPlan, InsertSource};
use crate::planner;

/// Relation of the row that could not be inserted, in ON DUPLICATE KEY UPDATE.
const NEW_ROW: u16 = 1;
/// Rows of a VALUES list between two looks whether the statement is to end.
const ROWS_BETWEEN_LOOKS: usize = 1024;

impl<'a> Binder<'a, '_> {
    /// Binds and plans an INSERT at the innermost level, which must be fresh.
    pub(super) fn insert(&mut self, insert: &'a ast::Insert<'a>) -> Result<InsertPlan, BindError> {
        if !insert.partitions.is_empty() {
            return Err(BindError::PartitionOfPlainTable);
        }
        let table = self.lookup(&insert.table)?;
        let (_, scope) = self.base_table(table.clone(), insert.table.name, None);
        self.level().scope = scope;
        self.enter(Clause::FieldList, Aggregates::Forbidden, Aliases::Hidden);
        let (columns, source) = self.insert_source(insert, &table)?;
        let on_duplicate = self.on_duplicate(insert, &table, &columns)?;
        let mode = match (insert.replace, insert.ignore) {
            (true, _) => InsertMode::Replace,
            (false, true) => InsertMode::Ignore,
            (false, false) => InsertMode::Insert,
        };
        let subqueries = std::mem::take(&mut self.level().subqueries);
        let subqueries = planner::subplans(subqueries, self.ctx);
        Ok(InsertPlan { table, columns, source, mode, on_duplicate, subqueries })
    }

    fn insert_source(
        &mut self,
        insert: &'a ast::Insert<'a>,
        table: &Arc<TableDef>,
    ) -> Result<(Vec<u16>, InsertSource), BindError> {
        match insert.source {
            ast::InsertSource::Values(values) => {
                let columns = match insert.columns {
                    None if values.columns == 0 => Vec::new(),
                    names => target_columns(table, names)?,
                };
                let rows = self.values_rows(&values, columns.len())?;
                Ok((columns, InsertSource::Rows(rows)))
            }
            ast::InsertSource::Set(assignments) => {
                let mut columns = Vec::with_capacity(assignments.len());
                let mut row = Vec::with_capacity(assignments.len());
                for assignment in assignments {
                    add_column(table, &assignment.column, &mut columns)?;
                    row.push(self.cell_expr(&assignment.value)?);
                }
                Ok((columns, InsertSource::Rows(vec![row])))
            }
            ast::InsertSource::Query(ast::Query { body: ast::QueryBody::Values(rows), .. })
                if rows.first().is_some_and(|row| row.is_empty()) =>
            {
                empty_rows(rows, insert.columns)
            }
            ast::InsertSource::Query(query) => {
                let columns = target_columns(table, insert.columns)?;
                let bound = self.query_in_from(query)?;
                if bound.output().len() != columns.len() {
                    return Err(BindError::ColumnCount { row: 1 });
                }
                Ok((columns, InsertSource::Query(Box::new(planner::query(bound, self.ctx)))))
            }
        }
    }

    fn values_rows(
        &mut self,
        values: &ast::ValuesList<'a>,
        width: usize,
    ) -> Result<Vec<Vec<InsertCell>>, BindError> {
        if values.columns as usize != width {
            return Err(BindError::ColumnCount { row: 1 });
        }
        if let Some(row) = values.uneven_row {
            return Err(BindError::ColumnCount { row: u64::from(row) });
        }
        if width == 0 {
            return Ok(vec![Vec::new(); values.rows as usize]);
        }
        let mut rows = Vec::with_capacity(values.rows as usize);
        for (number, cells) in values.cells.chunks_exact(width).enumerate() {
            if number % ROWS_BETWEEN_LOOKS == ROWS_BETWEEN_LOOKS - 1 {
                fail_if_interrupted()?;
            }
            // Collecting results would reserve room for four cells at least.
            let mut row = Vec::with_capacity(width);
            for cell in cells {
                row.push(self.cell(cell)?);
            }
            rows.push(row);
        }
        Ok(rows)
    }

    fn cell(&mut self, cell: &Cell<'a>) -> Result<InsertCell, BindError> {
        Ok(InsertCell::Expr(match cell {
            Cell::Literal(literal, negative) => self.literal(*literal, *negative)?,
            Cell::Null => self.build.null(),
            Cell::Default => return Ok(InsertCell::Default),
            Cell::Bool(value) => self.build.boolean(*value),
            Cell::Param(n) => self.param(*n),
            Cell::Expr(expr) => return self.cell_expr(expr),
        }))
    }

    /// A value that may be DEFAULT.
    pub(super) fn cell_expr(&mut self, value: &'a ast::Expr<'a>) -> Result<InsertCell, BindError> {
        match value.kind {
            ExprKind::Default => Ok(InsertCell::Default),
            _ => Ok(InsertCell::Expr(self.value(value)?)),
        }
    }

    /// ON DUPLICATE KEY UPDATE: sees the row in the table and, through VALUES() and the row alias, the new row.
    fn on_duplicate(
        &mut self,
        insert: &'a ast::Insert<'a>,
        table: &Arc<TableDef>,
        columns: &[u16],
    ) -> Result<Vec<(u16, InsertCell)>, BindError> {
        if let Some(alias) = &insert.row_alias {
            let row = alias_table(table, columns, alias)?;
            self.level().scope.push(row);
        }
        self.level().values_rel = Some(NEW_ROW);
        let mut sets = Vec::with_capacity(insert.on_duplicate.len());
        for assignment in insert.on_duplicate {
            let col = find_target(table, &assignment.column)?;
            sets.push((col, self.cell_expr(&assignment.value)?));
        }
        self.level().values_rel = None;
        Ok(sets)
    }
}

/// `VALUES ROW()`, which means rows of default values.
fn empty_rows(
    rows: &[&[ast::Expr<'_>]],
    columns: Option<&[ast::ColumnRef<'_>]>,
) -> Result<(Vec<u16>, InsertSource), BindError> {
    if columns.is_some_and(|columns| !columns.is_empty()) {
        return Err(BindError::ColumnCount { row: 1 });
    }
    match rows.iter().position(|row| !row.is_empty()) {
        Some(at) => Err(BindError::ColumnCount { row: at as u64 + 1 }),
        None => Ok((Vec::new(), InsertSource::Rows(rows.iter().map(|_| Vec::new()).collect()))),
    }
}

/// The new row under its alias. Named columns are those of the insert, in its order.
fn alias_table(
    table: &TableDef,
    columns: &[u16],
    alias: &ast::RowAlias<'_>,
) -> Result<ScopeTable, BindError> {
    if !alias.columns.is_empty() && alias.columns.len() != columns.len() {
        return Err(BindError::ViewColumns);
    }
    let column = |c: &ColumnDef| {
        let name = if alias.columns.is_empty() { c.name.clone() } else { "".into() };
        Column { name, ty: c.ty.clone(), nullable: c.nullable }
    };
    let mut scope: Vec<Column> = table.columns.iter().map(column).collect();
    for (&col, &name) in columns.iter().zip(alias.columns) {
        scope[usize::from(col)].name = name.into();
    }
    let columns = ScopeColumns::Named(scope);
    Ok(ScopeTable { rel: NEW_ROW, alias: alias.name.into(), columns, optional: false })
}

/// The columns that an INSERT names; all if it has no list.
pub(super) fn target_columns(
    table: &TableDef,
    names: Option<&[ast::ColumnRef<'_>]>,
) -> Result<Vec<u16>, BindError> {
    let Some(names) = names else { return Ok((0..table.columns.len() as u16).collect()) };
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        add_column(table, name, &mut columns)?;
    }
    Ok(columns)
}

/// Appends a target column, which must be new.
fn add_column(table: &TableDef, name: &ast::ColumnRef<'_>, columns: &mut Vec<u16>) -> Result<(), BindError> {
    let col = find_target(table, name)?;
    if columns.contains(&col) {
        return Err(BindError::ColumnTwice(name.column.to_owned()));
    }
    columns.push(col);
    Ok(())
}

/// A column of the target table.
pub(super) fn find_target(table: &TableDef, name: &ast::ColumnRef<'_>) -> Result<u16, BindError> {
    let found = table.find_column(name.column).map(|col| col as u16);
    found.ok_or_else(|| BindError::UnknownColumn { name: written(name), clause: Clause::FieldList })
}
