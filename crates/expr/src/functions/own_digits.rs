//! Decimals with the digits that they have where they are stored in a text or a date: unlike what queries show,
//! a zero that is computed has no fraction, and one of several values keeps its own digits.

use types::temporal::MICROS_PER_SECOND;
use types::{Decimal, TypeKind, Value};

use super::{Call, some};
use crate::{EvalCtx, EvalError, Expr, ExprKind, Func, RowSource, eval, eval_bool};

/// The value of the argument, a number, with its own digits.
pub(crate) fn own_digits<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    own(&call.args[0], call.row, call.ctx)
}

fn own<'v>(expr: &'v Expr, row: &'v dyn RowSource, ctx: &'v EvalCtx<'v>) -> Result<Value<'v>, EvalError> {
    if expr.ty.kind != TypeKind::Decimal {
        let value = eval(expr, row, ctx)?;
        // Bits beside numbers are one.
        return Ok(if let Value::Bit { .. } = value { Value::UInt(value.to_u64().value) } else { value });
    }
    match &expr.kind {
        ExprKind::Cast { arg, .. } if expr.is_common_decimal() => own(arg, row, ctx),
        ExprKind::Call { func: Func::Neg, args } => {
            Ok(own_operand(&args[0], row, ctx)?.map_or(Value::Null, |n| Value::Decimal(n.negate())))
        }
        ExprKind::Call { func: Func::FullScale, args } => own(&args[0], row, ctx),
        ExprKind::Call { func: func @ (Func::Add | Func::Sub | Func::Mul | Func::Mod), args } => {
            operation(expr, *func, args, row, ctx)
        }
        ExprKind::Call { func: Func::Div, .. } => Ok(without_zeros(eval(expr, row, ctx)?)),
        ExprKind::Call { func: Func::Coalesce | Func::IfNull, args } => {
            for arg in args {
                let value = own(arg, row, ctx)?;
                if !value.is_null() {
                    return Ok(value);
                }
            }
            Ok(Value::Null)
        }
        ExprKind::Case { arms, otherwise } => {
            for (condition, result) in arms {
                if eval_bool(condition, row, ctx)? == Some(true) {
                    return own(result, row, ctx);
                }
            }
            otherwise.as_deref().map_or(Ok(Value::Null), |e| own(e, row, ctx))
        }
        _ => eval(expr, row, ctx),
    }
}

/// `a func b` in decimals. Zeros of sums of values of one sign keep their digits.
fn operation<'v>(
    expr: &'v Expr,
    func: Func,
    args: &'v [Expr],
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>, EvalError> {
    let a = some!(own_operand(&args[0], row, ctx));
    let b = some!(own_operand(&args[1], row, ctx));
    let has_one_sign = match func {
        Func::Add => a.is_negative() == b.is_negative(),
        Func::Sub => a.is_negative() != b.is_negative(),
        _ => false,
    };
    let result = match func {
        Func::Add => a.checked_add(b),
        Func::Sub => a.checked_sub(b),
        Func::Mul => a.checked_mul(b),
        // Of division by zero, the operator itself has the warning.
        _ if b.is_zero() => return eval(expr, row, ctx),
        _ => a.checked_rem(b).ok().flatten(),
    };
    let Some(result) = result else { return eval(expr, row, ctx) };
    let result = Value::Decimal(result);
    Ok(if has_one_sign { result } else { without_zeros(result) })
}

/// An operand: dates and times without a fraction have no digits for it.
fn own_operand<'v>(
    arg: &'v Expr,
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Option<Decimal>, EvalError> {
    let value = own(arg, row, ctx)?;
    let is_whole = match value {
        Value::Null => return Ok(None),
        Value::Time(time, _) => time.micros() % MICROS_PER_SECOND == 0,
        Value::DateTime(moment, _) => moment.micro() == 0,
        _ => false,
    };
    let number = value.to_decimal().value;
    Ok(Some(if is_whole { number.truncate(0) } else { number }))
}

/// A zero without digits after the point; other values as they are.
fn without_zeros(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Decimal(number) if number.is_zero() => Value::Int(0),
        value => value,
    }
}
