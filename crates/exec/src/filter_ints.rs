//! Comparisons of integer columns with constants, decided on page bytes.

use engine::RowRef;
use expr::{CmpDomain, CmpOp, EvalCtx, Expr, ExprKind, eval, exact_integer};

use crate::reader::TableReader;

/// `column op constant`.
#[derive(Debug)]
pub(crate) struct IntTest {
    col: u16,
    op: CmpOp,
    value: Expr,
}

/// A test whose constant is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundInt {
    col: u16,
    op: CmpOp,
    value: i128,
}

impl IntTest {
    /// The test that `term` is on relation `rel`, if it is one.
    pub(crate) fn of_term(rel: u16, term: &Expr) -> Option<Self> {
        let ExprKind::Compare { op, domain, args } = &term.kind else { return None };
        if *op == CmpOp::NullSafeEq || !matches!(domain, CmpDomain::Integer | CmpDomain::Number) {
            return None;
        }
        let [left, right] = &**args;
        match (column_of(rel, left), column_of(rel, right)) {
            (Some(col), None) if is_constant(right) => Some(IntTest { col, op: *op, value: right.clone() }),
            (None, Some(col)) if is_constant(left) => {
                Some(IntTest { col, op: op.swapped(), value: left.clone() })
            }
            _ => None,
        }
    }

    /// The test with its constant; `None`: it is no integer.
    pub(crate) fn bind(&self, ctx: &EvalCtx<'_>) -> Option<BoundInt> {
        let value = exact_integer(&eval(&self.value, &(), ctx).ok()?)?;
        Some(BoundInt { col: self.col, op: self.op, value })
    }
}

/// Whether the value of `expr` is known before rows are read.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(_) | ExprKind::Param(_))
}

fn column_of(rel: u16, expr: &Expr) -> Option<u16> {
    match &expr.kind {
        ExprKind::Column(column) if column.rel == rel && expr.ty.is_integer() => Some(column.col),
        _ => None,
    }
}

impl BoundInt {
    /// Whether the test holds; NULL never passes. Cost: about 30 instructions.
    #[inline]
    pub(crate) fn passes(&self, row: &RowRef<'_>, reader: &TableReader) -> bool {
        let Some(value) = reader.int(row, usize::from(self.col)) else { return false };
        match self.op {
            CmpOp::Eq | CmpOp::NullSafeEq => value == self.value,
            CmpOp::Ne => value != self.value,
            CmpOp::Lt => value < self.value,
            CmpOp::Le => value <= self.value,
            CmpOp::Gt => value > self.value,
            CmpOp::Ge => value >= self.value,
        }
    }
}
