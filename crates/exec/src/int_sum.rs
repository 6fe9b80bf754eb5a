//! `+` and `-` of two integers out of columns, constants and parameters, without a way through the
//! interpreter.
//!
//! The interpreter is the oracle: whatever is not plainly such a sum, or leaves the 64 bits, is left to it.

use expr::{Expr, ExprKind, Func, RowSource};
use types::{OwnedValue, Value};

/// The value of `expr` if it is such a sum; `None` for all else. Cost: about 40 instructions beside the
/// columns.
#[inline]
pub(crate) fn int_sum<'v>(expr: &Expr, row: &impl RowSource, params: &[Value<'_>]) -> Option<Value<'v>> {
    let ExprKind::Call { func: func @ (Func::Add | Func::Sub), args } = &expr.kind else { return None };
    let [left, right] = &**args else { return None };
    if !expr.ty.is_integer() {
        return None;
    }
    let (left, right) = (operand(left, row, params)?, operand(right, row, params)?);
    let sum = if *func == Func::Add { left.checked_add(right) } else { left.checked_sub(right) }?;
    if expr.ty.unsigned { u64::try_from(sum).ok().map(Value::UInt) } else { Some(Value::Int(sum)) }
}

/// An integer that was read already.
#[inline]
fn operand(expr: &Expr, row: &impl RowSource, params: &[Value<'_>]) -> Option<i64> {
    match &expr.kind {
        ExprKind::Column(column) => int_of(&row.column(column.rel, column.col)),
        ExprKind::Const(OwnedValue::Int(value)) => Some(*value),
        ExprKind::Param(n) => int_of(&params[usize::from(*n)]),
        _ => None,
    }
}

#[inline]
fn int_of(value: &Value<'_>) -> Option<i64> {
    match *value {
        Value::Int(value) => Some(value),
        Value::UInt(value) => i64::try_from(value).ok(),
        _ => None,
    }
}
