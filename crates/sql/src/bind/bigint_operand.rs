//! Constants beside a BIGINT column in NULLIF and STRCMP.

use expr::{Expr, ExprKind};
use types::TypeKind;

use super::BindError;
use super::binder::Binder;
use crate::ast;
use crate::literal::LiteralKind;

impl<'a> Binder<'a, '_> {
    /// Makes the constant among the operands of NULLIF or STRCMP that is beside a BIGINT column the integer
    /// that the column stores. Of NULLIF, the first operand is one that clients see.
    pub(super) fn store_beside_bigint(
        &mut self,
        args: &mut [Expr],
        written: &'a [ast::Expr<'a>],
        name: &str,
    ) -> Result<(), BindError> {
        if args.len() != 2 {
            return Ok(());
        }
        let is_nullif = name.eq_ignore_ascii_case("nullif");
        if !is_nullif && !name.eq_ignore_ascii_case("strcmp") {
            return Ok(());
        }
        for at in 0..if is_nullif { 1 } else { 2 } {
            let (ExprKind::Column(column), ty) = (&args[1 - at].kind, &args[1 - at].ty) else { continue };
            // Aggregates are columns of no relation.
            let is_stored =
                self.levels.last().is_some_and(|level| usize::from(column.rel) < level.rels.len());
            if ty.kind != TypeKind::BigInt || !is_stored || is_integer(&written[at]) {
                continue;
            }
            let column = ty.clone();
            if self.is_of_literals(&args[at]) {
                args[at] = self.value_of_literals(&written[at])?;
            }
            if let Some(stored) = self.build.stored_integer(&column, &args[at]) {
                args[at] = stored;
            }
        }
        Ok(())
    }
}

/// Whether `e` is written as an integer, which is itself beside the column.
fn is_integer(e: &ast::Expr<'_>) -> bool {
    match e.kind {
        ast::ExprKind::Literal(literal) => literal.kind == LiteralKind::Int,
        ast::ExprKind::Unary(ast::UnaryOp::Neg, operand) => is_integer(operand),
        _ => false,
    }
}
