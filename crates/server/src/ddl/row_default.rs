//! DEFAULT (expression): texts in definitions, and what ALTER TABLE does with them.

use std::cell::OnceCell;
use std::sync::Arc;

use sql::ast::Expr;
use sql::bind::row_expression::{
    RowExpressionError, bound_default, default_text, ensure_defaults, is_unsafe_to_copy,
};
use sql::bind::{BindContext, RangeMemory};
use sql::print::push_escaped;
use types::{ColumnDefault, EXPRESSION_BYTES_MAX, TableDef};

use crate::catalog::EngineCatalog;
use crate::error_map::{self, SqlError};
use crate::inputs::Inputs;
use crate::run::compile::{bind_context, deprecation, severity};
use crate::session::Session;
use crate::{bind_error, parse_error, stack};

/// The default of a column whose expression is given, until [`settle`] has its text.
pub(super) fn pending() -> ColumnDefault {
    ColumnDefault::Expression("".into())
}

/// Whether the default is an expression whose text is known.
pub(super) fn is_settled(default: &ColumnDefault) -> bool {
    matches!(default, ColumnDefault::Expression(text) if !text.is_empty())
}

/// Gives columns of `def` their defaults: `expressions` has one for each column that gets one, in order. All
/// names, types and other defaults are final. Defaults that the table had before are checked against its
/// columns.
///
/// # Errors
/// 1054, 1067, 1111, 3507, 3593, 3767 to 3773; those of the types of the expression's parts.
pub(super) fn settle<'a>(
    session: &mut Session,
    def: &mut TableDef,
    expressions: impl Iterator<Item = Option<Expr<'a>>>,
    inputs: Inputs<'_>,
) -> Result<(), SqlError> {
    if !def.columns.iter().any(|column| column.default_expression().is_some()) {
        return Ok(());
    }
    let table = Arc::new(def.clone());
    let given: Vec<_> = expressions.enumerate().filter_map(|(at, expr)| Some((at, expr?))).collect();
    let mut deprecated = Vec::new();
    let settled = with_context(session, inputs.sql, |ctx| {
        for (position, expr) in &given {
            let column = &mut def.columns[*position];
            if column.auto_increment {
                return Err(error_map::INVALID_DEFAULT.with(&[&column.name]));
            }
            let refusal = |error| refusal(session, &column.name, error, inputs.sql);
            let (text, noted) = default_text(expr, (&table, *position), ctx).map_err(refusal)?;
            deprecated.extend(noted);
            if escaped(&text).len() > EXPRESSION_BYTES_MAX {
                return Err(too_long());
            }
            column.default = ColumnDefault::Expression(text.into());
        }
        let is_kept = |(position, column): (usize, &types::ColumnDef)| {
            is_settled(&column.default) && !given.iter().any(|(given, _)| *given == position)
        };
        if !def.columns.iter().enumerate().any(is_kept) {
            return Ok(());
        }
        ensure_defaults(&Arc::new(def.clone()), ctx)
            .map_err(|(position, error)| refusal(session, &def.columns[position].name, error, inputs.sql))
    });
    for one in &deprecated {
        session.warn(severity(one), deprecation(one));
    }
    settled
}

/// Whether rows that are there get the value of an expression in a new column.
///
/// # Errors
/// 1674 if that may be another value on a replica.
pub(super) fn computes_rows(def: &TableDef, old_columns: &[Option<u16>]) -> Result<bool, SqlError> {
    let mut new = def
        .columns
        .iter()
        .zip(old_columns)
        .filter(|(column, old)| old.is_none() && column.default_expression().is_some())
        .map(|(column, _)| column)
        .peekable();
    let computes = new.peek().is_some();
    if new.any(is_unsafe_to_copy) {
        return Err(error_map::BINLOG_UNSAFE_SYSTEM_FUNCTION.bare());
    }
    Ok(computes)
}

/// The defaults of new columns that are expressions, for the copy of rows into `def`.
///
/// # Errors
/// Those of binding.
pub(super) fn bound(
    session: &Session,
    def: &TableDef,
    old_columns: &[Option<u16>],
) -> Result<Vec<(u16, expr::Expr)>, SqlError> {
    let new = old_columns
        .iter()
        .enumerate()
        .filter(|(position, old)| old.is_none() && def.columns[*position].default_expression().is_some());
    let table = Arc::new(def.clone());
    with_context(session, b"", |ctx| {
        let bind = |(position, _): (usize, &Option<u16>)| {
            let bound = bound_default(&table, position, ctx);
            let bound = bound.map_err(|error| bind_error::sql_error(&error, session.database.as_deref()))?;
            Ok((position as u16, bound))
        };
        new.map(bind).collect()
    })
}

/// The text as information_schema and SHOW COLUMNS show it.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, text, &['\\', '\'', '"']);
    out
}

fn with_context<R>(session: &Session, sql: &[u8], work: impl FnOnce(&BindContext<'_>) -> R) -> R {
    let catalog = EngineCatalog::new(&session.server.engine);
    let range_memory = RangeMemory::new(session.variables.hot.range_optimizer_max_mem_size);
    work(&bind_context(session, sql, &catalog, (&range_memory, &OnceCell::new())))
}

#[cold]
fn refusal(session: &Session, column: &str, error: RowExpressionError, sql: &[u8]) -> SqlError {
    match error {
        RowExpressionError::Function(name) => error_map::DEFAULT_FUNCTION_NOT_ALLOWED.with(&[&column, &name]),
        RowExpressionError::Construct => error_map::DEFAULT_CONSTRUCT_NOT_ALLOWED.with(&[&column]),
        RowExpressionError::Row => error_map::DEFAULT_ROW_VALUE.with(&[&column]),
        RowExpressionError::Variable => error_map::DEFAULT_VARIABLES.with(&[&column]),
        RowExpressionError::AutoIncrement => error_map::DEFAULT_REF_AUTO_INCREMENT.with(&[&column]),
        RowExpressionError::LaterColumn => error_map::DEFAULT_REF_LATER_COLUMN.with(&[&column]),
        RowExpressionError::Window(name) => error_map::WINDOW_INVALID_USE.with(&[&name]),
        RowExpressionError::Parameter(at) => {
            parse_error::syntax(&String::from_utf8_lossy(sql.get(at as usize..).unwrap_or_default()))
        }
        RowExpressionError::TooLong => too_long(),
        RowExpressionError::Bind(sql::BindError::TooDeep) => stack::overrun(),
        RowExpressionError::Bind(error) => bind_error::sql_error(&error, session.database.as_deref()),
    }
}

#[cold]
fn too_long() -> SqlError {
    error_map::DD_OBJECT_NOT_UPDATED.with(&[&"columns"])
}
