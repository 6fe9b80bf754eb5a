//! INSERT and REPLACE.

use std::sync::Arc;

use expr::{ColumnRef, Expr};
use types::{ColumnDef, TableDef};

use super::assigned::{bytes_for, kept};
use super::binder::{Aggregates, Aliases, Binder};
use super::block::{Block, Query, outer_id};
use super::expansion::fail_if_interrupted;
use super::row_expression::default_cell;
use super::scope::{Scope, ScopeColumns, ScopeTable, written};
use super::{BindError, Clause, ColumnAccess, ParamRole, rewrite};
use crate::ast::{self, Cell, ExprKind};
use crate::charset::Introducer;
use crate::literal::LiteralKind;
use crate::plan::{Column, InsertCell, InsertMode, InsertPlan, InsertSource, OutputColumn};

/// Relation of the row that could not be inserted, in ON DUPLICATE KEY UPDATE.
const NEW_ROW: u16 = 1;
/// Relation there of the row of an INSERT's query that the new row is made of. While ON DUPLICATE KEY UPDATE
/// is bound, the query's own relations have numbers from here on.
const QUERY_ROW: u16 = 2;
/// Rows of a VALUES list between two checks whether the statement is to end.
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
        let (columns, mut source) = self.insert_source(insert, &table)?;
        if let Rows::Query { tables, .. } = &mut source {
            for table in tables.drain(..) {
                self.level().scope.push(table);
            }
        }
        let mut on_duplicate = self.on_duplicate(insert, &table, &columns)?;
        let source = match source {
            Rows::Values(source) => source,
            Rows::Query { mut query, .. } => {
                if let Query::Select(block) = &mut query {
                    self.read_query(&mut on_duplicate, block);
                }
                InsertSource::Query(Box::new(self.planner().source(query)))
            }
        };
        let mode = match (insert.replace, insert.ignore) {
            (true, _) => InsertMode::Replace,
            (false, true) => InsertMode::Ignore,
            (false, false) => InsertMode::Insert,
        };
        let subqueries = std::mem::take(&mut self.level().subqueries);
        let subqueries = self.planner().subplans(subqueries);
        let defaults = self.computed_defaults(&table, &columns, Some(&source))?;
        Ok(InsertPlan { table, columns, source, defaults, mode, on_duplicate, subqueries })
    }

    /// The columns that get values, and what gives them.
    fn insert_source(
        &mut self,
        insert: &'a ast::Insert<'a>,
        table: &Arc<TableDef>,
    ) -> Result<(Vec<u16>, Rows), BindError> {
        match insert.source {
            ast::InsertSource::Values(values) => {
                let columns = match insert.columns {
                    None if values.columns == 0 => {
                        self.note_whole_rows(table);
                        Vec::new()
                    }
                    names => self.target_columns(table, names)?,
                };
                let mut rows = self.values_rows(&values, table, &columns)?;
                if !self.param_uses.is_empty() {
                    for (at, cell) in rows.iter_mut().flat_map(|row| row.iter_mut().enumerate()) {
                        let bound = std::mem::replace(cell, InsertCell::Default);
                        *cell = self.settle_cell(bound, table, columns.get(at).copied())?;
                    }
                }
                Ok((columns, Rows::Values(InsertSource::Rows(rows))))
            }
            ast::InsertSource::Set(assignments) => {
                let columns = self.targets(table, assignments.iter().map(|assignment| &assignment.column))?;
                let mut row = Vec::with_capacity(assignments.len());
                for (assignment, &col) in assignments.iter().zip(&columns) {
                    let cell = match self.cell_expr(&assignment.value)? {
                        InsertCell::Default => default_cell(&table.columns[usize::from(col)]),
                        cell => cell,
                    };
                    row.push(self.settle_cell(cell, table, Some(col))?);
                }
                Ok((columns, Rows::Values(InsertSource::Rows(vec![row]))))
            }
            ast::InsertSource::Query(ast::Query { body: ast::QueryBody::Values(rows), .. })
                if rows.first().is_some_and(|row| row.is_empty()) =>
            {
                self.note_whole_rows(table);
                let (columns, source) = empty_rows(rows, insert.columns)?;
                Ok((columns, Rows::Values(source)))
            }
            ast::InsertSource::Query(query) => {
                let columns = self.target_columns(table, insert.columns)?;
                let (mut query, scope) = self.query_and_tables(query)?;
                if query.output().len() != columns.len() {
                    return Err(BindError::ColumnCount { row: 1 });
                }
                if let Query::Select(block) = &mut query {
                    self.assign_output(block, table, &columns)?;
                }
                let is_named = !insert.on_duplicate.is_empty();
                let tables = if is_named { named_tables(&query, scope) } else { Vec::new() };
                Ok((columns, Rows::Query { query, tables }))
            }
        }
    }

    /// The columns that an INSERT names; all visible ones if it has no list.
    fn target_columns(
        &self,
        table: &Arc<TableDef>,
        names: Option<&[ast::ColumnRef<'_>]>,
    ) -> Result<Vec<u16>, BindError> {
        let Some(names) = names else {
            self.note_whole_rows(table);
            return Ok(table.visible_columns().collect());
        };
        if names.is_empty() {
            self.note_whole_rows(table);
        }
        self.targets(table, names.iter())
    }

    /// The target columns of these names, each at most once.
    fn targets<'n, 'e: 'n>(
        &self,
        table: &Arc<TableDef>,
        names: impl Iterator<Item = &'n ast::ColumnRef<'e>> + Clone,
    ) -> Result<Vec<u16>, BindError> {
        let mut columns = Vec::new();
        for name in names.clone() {
            let col = find_target(table, name)?;
            self.note_target(table, ColumnAccess::Insert, col);
            columns.push(col);
        }
        for (at, col) in columns.iter().enumerate() {
            // The name is that of the first place.
            if let Some(first) = columns[..at].iter().position(|other| other == col) {
                let name = names.clone().nth(first).map_or("", |name| name.column);
                return Err(BindError::ColumnTwice(name.to_owned()));
            }
        }
        Ok(columns)
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
                row.push(self.cell(cell, &table.columns[usize::from(col)])?);
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// A value for `column`.
    fn cell(&mut self, cell: &Cell<'a>, column: &ColumnDef) -> Result<InsertCell, BindError> {
        let ty = &column.ty;
        Ok(InsertCell::Expr(match cell {
            Cell::Literal(literal, negative) => {
                if literal.charset != Introducer::NONE {
                    self.note_introducer(literal);
                }
                let value = self.literal(*literal, *negative)?;
                match literal.kind {
                    LiteralKind::Hex | LiteralKind::Bit => bytes_for(value, ty),
                    _ => value,
                }
            }
            Cell::Null => self.build.null(),
            Cell::Default => return Ok(default_cell(column)),
            Cell::Bool(value) => self.build.boolean(*value),
            Cell::Param(n) => self.param(*n),
            Cell::Expr(expr) => match self.cell_expr(expr)? {
                InsertCell::Expr(value) => self.stored_value(value, ty)?,
                _ => return Ok(default_cell(column)),
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
                self.note_role(&value, ParamRole::Stored);
                Ok(InsertCell::Expr(self.stored_value(value, &column.ty)?))
            }
            (cell, _) => Ok(cell),
        }
    }

    /// ON DUPLICATE KEY UPDATE: sees the row in the table and, through VALUES() and the row alias, the new
    /// row.
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
        let mut targets = Vec::with_capacity(insert.on_duplicate.len());
        for assignment in insert.on_duplicate {
            let col = find_target(table, &assignment.column)?;
            self.note_target(table, ColumnAccess::Update, col);
            targets.push(col);
        }
        let mut sets = Vec::with_capacity(targets.len());
        for (assignment, col) in insert.on_duplicate.iter().zip(targets) {
            let cell = self.cell_expr(&assignment.value)?;
            let cell = self.settle_cell(cell, table, Some(col))?;
            let cell = self.assigned_default(cell, table, (0, col))?;
            sets.push((col, kept(cell, ColumnRef { rel: 0, col })));
        }
        self.level().values_rel = None;
        Ok(sets)
    }

    /// Has `block`, the query of an INSERT, show the columns that `sets` and their subqueries read of its
    /// relations, after those that are inserted.
    fn read_query(&mut self, sets: &mut [(u16, InsertCell)], block: &mut Block) {
        let inserted = block.output.len();
        let mut read = |column: &mut ColumnRef| {
            let Some(rel) = column.rel.checked_sub(QUERY_ROW).filter(|_| outer_id(column.rel).is_none())
            else {
                return;
            };
            let Some(source) = block.rels.get(usize::from(rel)) else { return };
            let own = ColumnRef { rel, ..*column };
            let is_own =
                |item: &OutputColumn| matches!(item.expr.kind, expr::ExprKind::Column(c) if c == own);
            let place = block.output[inserted..].iter().position(is_own).unwrap_or_else(|| {
                let Column { name, ty, .. } = source.column(usize::from(own.col));
                let expr = Expr::column(own.rel, own.col, ty, true);
                block.output.push(OutputColumn { name: name.into(), expr, origin: None, text: None });
                block.output.len() - inserted - 1
            });
            *column = ColumnRef { rel: QUERY_ROW, col: place as u16 };
        };
        for (_, cell) in sets {
            if let InsertCell::Expr(expr) = cell {
                rewrite::columns(expr, &mut read);
            }
        }
        for subquery in &mut self.level().subqueries {
            subquery.outer.iter_mut().for_each(&mut read);
        }
    }
}

/// What gives the rows of an INSERT.
enum Rows {
    /// Values.
    Values(InsertSource),
    /// A query, and its tables as ON DUPLICATE KEY UPDATE names them.
    Query { query: Query, tables: Vec<ScopeTable> },
}

/// The tables in `scope`, which is that of `query`, under their names there, if the query neither groups nor
/// unites.
fn named_tables(query: &Query, scope: Scope) -> Vec<ScopeTable> {
    let Query::Select(block) = query else { return Vec::new() };
    if block.aggregation.is_some() {
        return Vec::new();
    }
    let own = |table: ScopeTable| ScopeTable { rel: QUERY_ROW + table.rel, optional: true, ..table };
    scope.tables.into_iter().map(own).collect()
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
    table: &Arc<TableDef>,
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
    let row = ScopeTable::new(NEW_ROW, alias.name.into(), columns);
    Ok(ScopeTable { stands_for: Some(Arc::clone(table)), ..row })
}

/// A column of the target table.
pub(super) fn find_target(table: &TableDef, name: &ast::ColumnRef<'_>) -> Result<u16, BindError> {
    let found = table.find_column(name.column).map(|col| col as u16);
    found.ok_or_else(|| BindError::UnknownColumn { name: written(name), clause: Clause::FieldList })
}
