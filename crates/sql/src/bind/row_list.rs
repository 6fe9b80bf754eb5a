//! Lists of constant rows: MySQL reads all of them, as the types before IN say, before it compares one.

use expr::Expr;
use types::value::{Converted, Loss};

use super::BindError;
use super::binder::Binder;
use crate::ast::{self, ExprKind, UnaryOp};
use crate::literal::{Literal, LiteralKind};

/// The numbers as which the operands at one place of constant rows are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    Integer,
    Decimal,
    Double,
}

/// As what the operands of each place are compared; `None` for other things than numbers.
pub(super) type Places = Vec<Option<Numbers>>;

impl<'a> Binder<'a, '_> {
    /// The places of the rows of `list`, if they and `needle` are literals, and there is more than one row.
    /// Of rows with NULL, MySQL reads no more than it compares.
    pub(super) fn places_of_rows(needle: &[ast::Expr<'a>], list: &[ast::Expr<'a>]) -> Option<Places> {
        if list.len() < 2 {
            return None;
        }
        let is_constant = |row: &[ast::Expr<'a>]| {
            row.len() == needle.len() && row.iter().all(|part| literal(part).is_some())
        };
        if !needle.iter().all(|part| matches!(part.kind, ExprKind::Null) || literal(part).is_some()) {
            return None;
        }
        if !list.iter().all(|row| matches!(row.kind, ExprKind::Row(row) if is_constant(row))) {
            return None;
        }
        let number = |part: &ast::Expr<'a>| match literal(part)?.kind {
            LiteralKind::Int => Some(Numbers::Integer),
            LiteralKind::Decimal => Some(Numbers::Decimal),
            LiteralKind::Float => Some(Numbers::Double),
            _ => None,
        };
        Some(needle.iter().map(number).collect())
    }

    /// The number as which `value`, a text, is read at a place of numbers; `None`: it is something else.
    pub(super) fn number_in_row(
        &mut self,
        value: &ast::Expr<'a>,
        place: Option<Numbers>,
    ) -> Result<Option<Expr>, BindError> {
        let (Some(numbers), ExprKind::Literal(text)) = (place, value.kind) else { return Ok(None) };
        if text.kind != LiteralKind::String {
            return Ok(None);
        }
        let constant = self.constant(&text)?;
        let expr::ExprKind::Const(value) = &constant.kind else { return Ok(None) };
        let (value, build) = (value.as_value(), self.build);
        let (type_name, loss, number) = match numbers {
            Numbers::Integer => of("INTEGER", value.to_i64(), |n| build.int(n)),
            Numbers::Decimal => of("DECIMAL", value.to_decimal(), |n| build.decimal(n)),
            Numbers::Double => of("DOUBLE", value.to_f64(), |n| build.double(n)),
        };
        if loss != Loss::None {
            let shown = value.message_text();
            self.note_incorrect(format!("Truncated incorrect {type_name} value: '{shown}'"));
        }
        Ok(Some(number))
    }
}

fn of<T>(
    type_name: &'static str,
    read: Converted<T>,
    number: impl FnOnce(T) -> Expr,
) -> (&'static str, Loss, Expr) {
    (type_name, read.loss, number(read.value))
}

/// The literal that `e` is, perhaps with a minus before it.
fn literal(e: &ast::Expr<'_>) -> Option<Literal> {
    match e.kind {
        ExprKind::Literal(literal) => Some(literal),
        ExprKind::Unary(UnaryOp::Neg, operand) => literal(operand),
        _ => None,
    }
}
