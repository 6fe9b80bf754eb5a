//! LIKE and WHERE of a SHOW: conditions over the columns of its table.

use bumpalo::Bump;
use expr::{Builder, ComparedRows, EvalCtx, Expr, RowSource};
use sql::ast::{self, BinaryOp, IsTest, UnaryOp};
use sql::bind::BindError;
use types::collation::LikePattern;
use types::{CollationId, OwnedValue, Value};

use super::not_yet;
use crate::answer::{Cell, Column, Table};
use crate::bind_error;
use crate::constant::evaluate;
use crate::error_map::{self, SqlError};
use crate::exec_error;
use crate::inputs::Inputs;
use crate::like::like;
use crate::session::Session;
use crate::statement_context::StatementContext;

/// Collation of the texts in answers, except for exact names.
const TEXT: CollationId = CollationId::UTF8MB4_GENERAL_CI;

/// Keeps the rows whose text at `column` matches `pattern`; letters of exact names match only in their case.
pub(super) fn retain_like(table: &mut Table, column: usize, pattern: &str) {
    let exact = table.columns().get(column).and_then(exact_collation);
    match exact.and_then(CollationId::collation) {
        Some(collation) => {
            let pattern = LikePattern::new(pattern.as_bytes(), Some(u32::from('\\')), collation);
            table.retain_by(column, |text| pattern.matches(text.as_bytes()));
        }
        None => table.retain_by(column, |text| like(pattern, text)),
    }
}

fn exact_collation(column: &Column) -> Option<CollationId> {
    Some(column.ty.collation).filter(|&collation| collation == CollationId::UTF8MB4_BIN)
}

/// Keeps the rows of `table` for which `condition` is true.
///
/// # Errors
/// 1054 for columns that the table does not have, 1235 for expressions beyond comparisons, LIKE, IN, BETWEEN,
/// IS and functions.
pub(super) fn retain(
    session: &mut Session,
    table: &mut Table,
    condition: &ast::Expr<'_>,
    inputs: Inputs<'_>,
) -> Result<(), SqlError> {
    let hot = &session.variables.hot;
    let builder = Builder {
        collation: hot.collation_connection,
        modes: hot.sql_mode,
        div_precision_increment: hot.div_precision_increment as u8,
        rows: ComparedRows::None,
        shifts_offsets: false,
        has_client_params: false,
    };
    let condition = Binder { session, columns: table.columns(), builder, inputs }.bind(condition)?;
    let collations = table.columns().iter().map(|column| exact_collation(column).unwrap_or(TEXT));
    let collations: Vec<CollationId> = collations.collect();
    let context = StatementContext::new(session);
    let mut arena = Bump::new();
    table.try_retain(|cells| {
        arena.reset();
        let row = Row { cells, collations: &collations };
        let kept = condition.eval_bool(&row, &EvalCtx::new(&arena, &[], &context));
        kept.map(|truth| truth == Some(true)).map_err(|error| exec_error::eval_error(&error))
    })
}

#[cold]
fn refused(error: expr::BindError) -> SqlError {
    bind_error::sql_error(&BindError::Expr(error), None)
}

/// A row of a table in memory, as expressions see it.
struct Row<'a> {
    cells: &'a [Cell],
    collations: &'a [CollationId],
}

impl RowSource for Row<'_> {
    fn column(&self, _rel: u16, col: u16) -> Value<'_> {
        let col = usize::from(col);
        match &self.cells[col] {
            Cell::Null => Value::Null,
            Cell::Text(text) => Value::Bytes { data: text.as_bytes(), collation: self.collations[col] },
            Cell::Int(value) => Value::Int(*value),
            Cell::DateTime(value) => Value::DateTime(*value, 0),
        }
    }
}

struct Binder<'a> {
    session: &'a mut Session,
    columns: &'a [Column],
    builder: Builder,
    inputs: Inputs<'a>,
}

impl Binder<'_> {
    fn bind(&mut self, written: &ast::Expr<'_>) -> Result<Expr, SqlError> {
        use ast::ExprKind;
        match &written.kind {
            ExprKind::Column(column) => self.column(column.column),
            ExprKind::And(terms, _) => self.all(terms).map(|terms| self.builder.and(terms)),
            ExprKind::Or(terms, _) => self.all(terms).map(|terms| self.builder.or(terms)),
            ExprKind::Unary(UnaryOp::Not, operand) => {
                self.bind(operand).map(|operand| self.builder.not(operand))
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Is(operand, test, negated) => {
                let operand = self.bind(operand)?;
                Ok(match test {
                    IsTest::Null | IsTest::Unknown => self.builder.is_null(operand, *negated),
                    IsTest::True => self.builder.is_truth(operand, true, *negated),
                    IsTest::False => self.builder.is_truth(operand, false, *negated),
                })
            }
            ExprKind::Between(between) => {
                let (value, low) = (self.bind(&between.expr)?, self.bind(&between.low)?);
                let high = self.bind(&between.high)?;
                self.builder.between(value, low, high, between.negated).map_err(refused)
            }
            ExprKind::InList(list) => {
                let needle = self.bind(&list.expr)?;
                let values = self.all(list.list)?;
                self.builder.in_list(needle, values, list.negated).map_err(refused)
            }
            ExprKind::Like(like) if like.escape.is_none() => {
                let (text, pattern) = (self.bind(&like.expr)?, self.bind(&like.pattern)?);
                self.builder.like(text, pattern, Some('\\'), like.negated).map_err(refused)
            }
            ExprKind::Call(call) if call.schema.is_none() && call.using.is_none() => {
                let args = self.all(call.args)?;
                self.builder.call(call.name, args).map_err(refused)
            }
            _ => self.constant(written),
        }
    }

    fn all(&mut self, written: &[ast::Expr<'_>]) -> Result<Vec<Expr>, SqlError> {
        written.iter().map(|one| self.bind(one)).collect()
    }

    fn column(&self, name: &str) -> Result<Expr, SqlError> {
        let found = self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
        let Some(position) = found else {
            return Err(error_map::BAD_FIELD.with(&[&name, &"where clause"]));
        };
        let mut ty = self.columns[position].ty.clone();
        if ty.is_string() {
            ty.collation = exact_collation(&self.columns[position]).unwrap_or(TEXT);
        }
        Ok(self.builder.column(0, position as u16, ty, true))
    }

    fn binary(&mut self, op: BinaryOp, a: &ast::Expr<'_>, b: &ast::Expr<'_>) -> Result<Expr, SqlError> {
        let comparison = op.comparison();
        if comparison.is_none() && op != BinaryOp::Xor {
            return Err(not_yet("operators of numbers in SHOW ... WHERE"));
        }
        let (a, b) = (self.bind(a)?, self.bind(b)?);
        match comparison {
            Some(comparison) => self.builder.compare(comparison, a, b).map_err(refused),
            None => Ok(self.builder.xor(a, b)),
        }
    }

    fn constant(&mut self, written: &ast::Expr<'_>) -> Result<Expr, SqlError> {
        let value = evaluate(self.session, written, self.inputs)?;
        Ok(match value {
            OwnedValue::Null => self.builder.null(),
            OwnedValue::Int(value) => self.builder.int(value),
            OwnedValue::UInt(value) => self.builder.uint(value),
            OwnedValue::Double(value) => self.builder.double(value),
            OwnedValue::Decimal(value) => self.builder.decimal(value),
            OwnedValue::Bytes { data, collation } => self.builder.string(&data, collation),
            _ => return Err(not_yet("constant dates and times in SHOW ... WHERE")),
        })
    }
}
