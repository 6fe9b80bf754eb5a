//! INSERT and REPLACE.

use std::sync::Arc;

use expr::Expr;
use types::{ColumnDef, SqlType, TableDef};

use super::assigned::bytes_for;
use super::binder::{Aggregates, Aliases, Binder};
use super::block::{Block, Query, Source};
use super::expansion::fail_if_interrupted;
use super::scope::{ScopeColumns, ScopeTable, written};
use super::{BindError, Clause};
use crate::ast::{self, Cell, ExprKind};
use crate::literal::LiteralKind;
use crate::plan::{Column, InsertCell, InsertMode, InsertPlan, InsertSource};
use crate::planner;

/// Relation of the row that could not be inserted, in ON DUPLICATE KEY UPDATE.
const NEW_ROW: u16 = 1;
/// Relation of the rows of an INSERT's query there: its tables' names count, but nothing reads them.
const QUERY_ROW: u16 = 2;
/// Rows of a VALUES list between two looks whether the statement is to end.
const ROWS_BETWEEN_LOOKS: usize = 1024;

impl<'a> Binder<'a, '_> {
    /// Binds and plans an INSERT at the innermost level, which must be fresh.
    pub(super) fn insert(&mut self, insert: &'a ast::Insert<'a>) -> Result<InsertPlan, BindError> {
        if !insert.partitions.is_empty() {
            return Err(BindError::PartitionOfPlainTable);
        }
        self.note_change(insert.ignore);
        let table = self.lookup(&insert.table)?;
        let (_, scope) = self.base_table(table.clone(), insert.table.name, None);
        self.level().scope = scope;
        self.enter(Clause::FieldList, Aggregates::Forbidden, Aliases::Hidden);
        let (columns, source, read) = self.insert_source(insert, &table)?;
        for table in read {
            self.level().scope.push(table);
        }
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

    /// The columns that get values, what gives them, and the tables of a query that ON DUPLICATE KEY UPDATE can name.
    fn insert_source(
        &mut self,
        insert: &'a ast::Insert<'a>,
        table: &Arc<TableDef>,
    ) -> Result<(Vec<u16>, InsertSource, Vec<ScopeTable>), BindError> {
        match insert.source {
            ast::InsertSource::Values(values) => {
                let columns = match insert.columns {
                    None if values.columns == 0 => Vec::new(),
                    names => target_columns(table, names)?,
                };
                let mut rows = self.values_rows(&values, table, &columns)?;
                if self.prepares() {
                    for (at, cell) in rows.iter_mut().flat_map(|row| row.iter_mut().enumerate()) {
                        let bound = std::mem::replace(cell, InsertCell::Default);
                        *cell = self.settle_cell(bound, table, columns.get(at).copied())?;
                    }
                }
                Ok((columns, InsertSource::Rows(rows), Vec::new()))
            }
            ast::InsertSource::Set(assignments) => {
                let mut columns = Vec::with_capacity(assignments.len());
                let mut row = Vec::with_capacity(assignments.len());
                for assignment in assignments {
                    add_column(table, &assignment.column, &mut columns)?;
                    let cell = self.cell_expr(&assignment.value)?;
                    row.push(self.settle_cell(cell, table, columns.last().copied())?);
                }
                Ok((columns, InsertSource::Rows(vec![row]), Vec::new()))
            }
            ast::InsertSource::Query(ast::Query { body: ast::QueryBody::Values(rows), .. })
                if rows.first().is_some_and(|row| row.is_empty()) =>
            {
                let (columns, source) = empty_rows(rows, insert.columns)?;
                Ok((columns, source, Vec::new()))
            }
            ast::InsertSource::Query(query) => {
                let columns = target_columns(table, insert.columns)?;
                let mut bound = self.query_in_from(query)?;
                if bound.output().len() != columns.len() {
                    return Err(BindError::ColumnCount { row: 1 });
                }
                if let Query::Select(block) = &mut bound {
                    self.assign_output(block, table, &columns)?;
                }
                let read = if insert.on_duplicate.is_empty() { Vec::new() } else { named_tables(&bound) };
                Ok((columns, InsertSource::Query(Box::new(planner::source(bound, self.ctx))), read))
            }
        }
    }

    /// The query's values as the columns get them.
    fn assign_output(&self, block: &mut Block, table: &TableDef, columns: &[u16]) -> Result<(), BindError> {
        for (output, &col) in block.output.iter_mut().zip(columns) {
            let value = std::mem::replace(&mut output.expr, self.build.null());
            output.expr = self.value_for(value, &table.columns[usize::from(col)].ty)?;
        }
        Ok(())
    }

    fn values_rows(
        &mut self,
        values: &ast::ValuesList<'a>,
        table: &TableDef,
        columns: &[u16],
    ) -> Result<Vec<Vec<InsertCell>>, BindError> {
        let width = columns.len();
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
            for (cell, &col) in cells.iter().zip(columns) {
                row.push(self.cell(cell, &table.columns[usize::from(col)].ty)?);
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// A value for a column of type `ty`.
    fn cell(&mut self, cell: &Cell<'a>, ty: &SqlType) -> Result<InsertCell, BindError> {
        Ok(InsertCell::Expr(match cell {
            Cell::Literal(literal, negative) => {
                let value = self.literal(*literal, *negative)?;
                match literal.kind {
                    LiteralKind::Hex | LiteralKind::Bit => bytes_for(value, ty),
                    _ => value,
                }
            }
            Cell::Null => self.build.null(),
            Cell::Default => return Ok(InsertCell::Default),
            Cell::Bool(value) => self.build.boolean(*value),
            Cell::Param(n) => self.param(*n),
            Cell::Expr(expr) => match self.cell_expr(expr)? {
                InsertCell::Expr(value) => self.value_for(value, ty)?,
                InsertCell::Default => return Ok(InsertCell::Default),
            },
        }))
    }

    /// A value that may be DEFAULT.
    pub(super) fn cell_expr(&mut self, value: &'a ast::Expr<'a>) -> Result<InsertCell, BindError> {
        match value.kind {
            ExprKind::Default => Ok(InsertCell::Default),
            _ => Ok(InsertCell::Expr(self.value(value)?)),
        }
    }

    /// The value of column `col`; it types an open parameter.
    pub(super) fn settle_cell(
        &mut self,
        cell: InsertCell,
        table: &TableDef,
        col: Option<u16>,
    ) -> Result<InsertCell, BindError> {
        let column = col.and_then(|col| table.columns.get(usize::from(col)));
        match (cell, column) {
            (InsertCell::Expr(mut value), Some(column)) => {
                self.settle(&mut value, &column.ty);
                Ok(InsertCell::Expr(self.value_for(value, &column.ty)?))
            }
            (cell, _) => Ok(cell),
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
            let cell = self.cell_expr(&assignment.value)?;
            if matches!(&cell, InsertCell::Expr(expr) if reads_query(expr)) {
                return Err(BindError::NotSupported("columns of the query in ON DUPLICATE KEY UPDATE"));
            }
            sets.push((col, self.settle_cell(cell, table, Some(col))?));
        }
        self.level().values_rel = None;
        Ok(sets)
    }
}

/// The base tables of a query that neither groups nor unites, under their names there.
fn named_tables(query: &Query) -> Vec<ScopeTable> {
    let Query::Select(block) = query else { return Vec::new() };
    if block.aggregation.is_some() {
        return Vec::new();
    }
    let table = |source: &Source| match source {
        Source::Table { def, alias, .. } => Some(ScopeTable {
            rel: QUERY_ROW,
            alias: alias.clone(),
            columns: ScopeColumns::Defined(Arc::clone(def)),
            optional: true,
        }),
        _ => None,
    };
    block.rels.iter().filter_map(table).collect()
}

fn reads_query(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, expr::ExprKind::Column(column) if column.rel == QUERY_ROW));
    found
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
