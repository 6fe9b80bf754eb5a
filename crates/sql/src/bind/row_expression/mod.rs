//! Row expressions: expressions of a definition, over the columns of the row that is written.
//!
//! ```text
//! CREATE, ALTER: syntax tree -> rules -> text, which the definition keeps
//! INSERT, UPDATE: text -> syntax tree -> bound expression, once per plan -> exec: once per row
//! ```
//! The text is MySQL's own form: all parentheses, names in backquotes, functions under one name, texts with
//! their character sets. It means the same under every `sql_mode` and character set. Only columns of the one
//! table occur in it: no subqueries, variables or parameters.

mod literal_text;
mod names;
mod rules;
mod text;
mod text_calls;

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use bumpalo::Bump;
use expr::Expr;
use types::{ColumnDefault, SqlModes, TableDef};

use super::binder::{Aggregates, Aliases, Binder, Level, Role};
use super::{BindContext, BindError, Clause, Deprecated, Literals, rewrite};
use crate::ast::walk::Part;
use crate::ast::{self, Statement};
use crate::error::{ParseError, ParseErrorKind};
use crate::mode::LexMode;
use crate::parser::parse;
use crate::plan::{InsertCell, InsertSource};

/// What precedes an expression to make a statement of it.
const STATEMENT: &str = "DO ";

/// Why an expression is no row expression.
#[derive(Debug)]
pub enum RowExpressionError {
    /// 3770: a function that depends on more than its arguments, or that is not known.
    Function(String),
    /// 3769: a subquery, or another construct without a name.
    Construct,
    /// 3771: a list of values.
    Row,
    /// 3772: a variable.
    Variable,
    /// 3768: the AUTO_INCREMENT column.
    AutoIncrement,
    /// 3767: a later column whose value is not known yet, or the column itself.
    LaterColumn,
    /// 3593: a window function.
    Window(String),
    /// 1064: a `?`, at this offset of the text.
    Parameter(u32),
    /// It is longer than a definition has room for.
    TooLong,
    /// All else.
    Bind(BindError),
}

impl From<BindError> for RowExpressionError {
    fn from(error: BindError) -> Self {
        RowExpressionError::Bind(error)
    }
}

impl From<expr::BindError> for RowExpressionError {
    fn from(error: expr::BindError) -> Self {
        RowExpressionError::Bind(error.into())
    }
}

impl From<fmt::Error> for RowExpressionError {
    fn from(_: fmt::Error) -> Self {
        RowExpressionError::TooLong
    }
}

/// The text that a definition keeps of `expr`, the default of the column at `position` of `table`, and what
/// to warn of. All columns of the table have their names, and those whose defaults are expressions any text.
///
/// # Errors
/// What MySQL refuses in a default.
pub fn default_text(
    expr: &ast::Expr<'_>,
    (table, position): (&Arc<TableDef>, usize),
    ctx: &BindContext<'_>,
) -> Result<(String, Vec<Deprecated>), RowExpressionError> {
    rules::ensure_allowed(expr)?;
    let mut binder = Binder::new(ctx, &[]);
    let text = text::of(expr, &binder, table, position)?;
    binder.note_all_deprecated(expr);
    // What is kept can be read again, whatever the printer made of it.
    bound(&text, (table, position), ctx)?;
    Ok((text, binder.deprecated))
}

/// The default of the column at `position` of `table`, which is an expression, for rows of relation 0.
///
/// # Errors
/// [`BindError`], if the columns that it reads are others by now.
pub fn bound_default(
    table: &Arc<TableDef>,
    position: usize,
    ctx: &BindContext<'_>,
) -> Result<Expr, BindError> {
    let text = table.columns[position].default_expression().unwrap_or("NULL");
    bound(text, (table, position), ctx)
}

/// Why a default of `table`, which has its text, cannot be computed; the column's position, and why.
///
/// # Errors
/// The first.
pub fn ensure_defaults(
    table: &Arc<TableDef>,
    ctx: &BindContext<'_>,
) -> Result<(), (usize, RowExpressionError)> {
    for (position, column) in table.columns.iter().enumerate() {
        let Some(text) = column.default_expression() else { continue };
        let sql = format!("{STATEMENT}{text}");
        let arena = Bump::new();
        let checked = parsed(sql.as_bytes(), &arena).map_err(RowExpressionError::Bind).and_then(|expr| {
            let modes = ctx.modes.without(TEXT_MODES);
            let ctx = BindContext { sql: sql.as_bytes(), modes, ..*ctx };
            default_text(expr, (table, position), &ctx)
        });
        checked.map_err(|error| (position, error))?;
    }
    Ok(())
}

/// Whether the default of `column` reads the column called `name`.
pub fn default_reads(column: &types::ColumnDef, name: &str) -> bool {
    let Some(text) = column.default_expression() else { return false };
    let sql = format!("{STATEMENT}{text}");
    let arena = Bump::new();
    parsed(sql.as_bytes(), &arena).is_ok_and(|expr| names::reads(expr, name))
}

/// Whether MySQL refuses to fill a new column from this default, because a replica may find another value.
pub fn is_unsafe_to_copy(column: &types::ColumnDef) -> bool {
    let Some(text) = column.default_expression() else { return false };
    let sql = format!("{STATEMENT}{text}");
    let arena = Bump::new();
    parsed(sql.as_bytes(), &arena).is_ok_and(names::differs_between_servers)
}

/// The expression in `sql`, which is a definition's text after [`STATEMENT`].
fn parsed<'a>(sql: &'a [u8], arena: &'a Bump) -> Result<&'a ast::Expr<'a>, BindError> {
    match parse(sql, 0, LexMode::NONE, arena).map(|parsed| parsed.statement) {
        Ok(Statement::Do([expr])) => Ok(expr),
        Err(ParseError { kind: ParseErrorKind::TooDeep, .. }) => Err(BindError::TooDeep),
        _ => Err(BindError::NotSupported("DEFAULT (expression) of this form")),
    }
}

fn bound(
    text: &str,
    (table, position): (&Arc<TableDef>, usize),
    ctx: &BindContext<'_>,
) -> Result<Expr, BindError> {
    let sql = format!("{STATEMENT}{text}");
    let arena = Bump::new();
    let expr = parsed(sql.as_bytes(), &arena)?;
    let ctx = BindContext {
        sql: sql.as_bytes(),
        modes: ctx.modes.without(TEXT_MODES),
        param_types: &[],
        late_types: &[],
        param_count: 0,
        literals: Literals::Constants,
        assigns_variables: &OnceCell::new(),
        column_uses: None,
        dives: None,
        ..*ctx
    };
    Binder::new(&ctx, &[]).row_value(expr, (table, position))
}

/// Modes that change what a text means: none of them holds for definitions.
const TEXT_MODES: SqlModes = SqlModes::ANSI_QUOTES
    .with(SqlModes::PIPES_AS_CONCAT)
    .with(SqlModes::NO_BACKSLASH_ESCAPES)
    .with(SqlModes::HIGH_NOT_PRECEDENCE)
    .with(SqlModes::IGNORE_SPACE)
    .with(SqlModes::REAL_AS_FLOAT)
    .with(SqlModes::ANSI);

impl<'a> Binder<'a, '_> {
    /// Notes what to warn of in `expr`.
    fn note_all_deprecated(&mut self, expr: &ast::Expr<'_>) {
        self.note_deprecated(expr);
        expr.for_each_part(&mut |part| {
            if let Part::Expr(part) = part {
                self.note_all_deprecated(part);
            }
        });
    }

    /// The value of the column at `position` for a row of `table`. No level has begun.
    fn row_value(
        &mut self,
        expr: &'a ast::Expr<'a>,
        (table, position): (&Arc<TableDef>, usize),
    ) -> Result<Expr, BindError> {
        self.note_change(false);
        self.levels.push(Level::new(Role::Rows));
        let (_, scope) = self.base_table(Arc::clone(table), &table.name, None);
        self.level().scope = scope;
        self.enter(Clause::Default, Aggregates::Forbidden, Aliases::Hidden);
        let value = self.value(expr)?;
        let value = self.stored_value(value, &table.columns[position].ty)?;
        self.deferred.take()?;
        Ok(value)
    }

    /// The expressions for the columns of `table` that an INSERT computes: those that are not among
    /// `columns`, and those for which a row says DEFAULT.
    pub(super) fn computed_defaults(
        &mut self,
        table: &Arc<TableDef>,
        columns: &[u16],
        source: Option<&InsertSource>,
    ) -> Result<Vec<(u16, Expr)>, BindError> {
        let has_expression = |column: &types::ColumnDef| column.default_expression().is_some();
        if !table.columns.iter().any(has_expression) {
            return Ok(Vec::new());
        }
        let mut is_wanted: Vec<bool> =
            (0..).map(|col| !columns.contains(&col)).take(table.columns.len()).collect();
        if let Some(InsertSource::Rows(rows)) = source {
            let cells = rows.iter().flat_map(|row| row.iter().zip(columns));
            for (_, &col) in cells.filter(|(cell, _)| matches!(cell, InsertCell::Computed)) {
                is_wanted[usize::from(col)] = true;
            }
        }
        let wanted = (0..table.columns.len() as u16)
            .filter(|&col| is_wanted[usize::from(col)] && has_expression(&table.columns[usize::from(col)]));
        wanted.map(|col| Ok((col, self.default_of_row(table, (0, col))?))).collect()
    }

    /// `cell`, which is assigned to column `col` of `table`, relation `rel`: DEFAULT may be an expression.
    pub(super) fn assigned_default(
        &mut self,
        cell: InsertCell,
        table: &Arc<TableDef>,
        (rel, col): (u16, u16),
    ) -> Result<InsertCell, BindError> {
        let is_expression =
            || matches!(table.columns[usize::from(col)].default, ColumnDefault::Expression(_));
        match cell {
            InsertCell::Default if is_expression() => {
                Ok(InsertCell::Expr(self.default_of_row(table, (rel, col))?))
            }
            cell => Ok(cell),
        }
    }

    /// The default of column `col` of `table`, an expression, for rows of relation `rel`.
    fn default_of_row(&mut self, table: &Arc<TableDef>, (rel, col): (u16, u16)) -> Result<Expr, BindError> {
        let mut expr = bound_default(table, usize::from(col), self.ctx)?;
        rewrite::columns(&mut expr, &mut |column| column.rel = rel);
        let mut nodes = 0;
        expr.walk(&mut |_| nodes += 1);
        // A statement may say DEFAULT of one column again and again.
        self.expend(nodes)?;
        Ok(expr)
    }
}

/// DEFAULT as the value of `column` in a VALUES list.
pub(super) fn default_cell(column: &types::ColumnDef) -> InsertCell {
    if column.default_expression().is_some() { InsertCell::Computed } else { InsertCell::Default }
}
