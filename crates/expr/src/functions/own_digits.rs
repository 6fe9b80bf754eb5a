//! Decimals with the digits that they have where they are stored in a text or a date: unlike what queries
//! show, a zero that is computed has no fraction, and one of several values keeps its own digits.

use types::temporal::MICROS_PER_SECOND;
use types::{Decimal, TypeKind, Value};

use super::{Call, some};
use crate::{EvalError, Expr, ExprKind, Func};

/// The value of the argument, a number, with its own digits.
pub(crate) fn own_digits<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    own(call, &call.args[0])
}

/// The value of `expr`, a part of the argument.
fn own<'v>(call: &Call<'v>, expr: &'v Expr) -> Result<Value<'v>, EvalError> {
    if expr.ty.kind != TypeKind::Decimal {
        let value = call.value_of(expr)?;
        // Bits beside numbers are one.
        return Ok(if let Value::Bit { .. } = value { Value::UInt(value.to_u64().value) } else { value });
    }
    match &expr.kind {
        ExprKind::Cast { arg, .. } if expr.is_common_decimal() => own(call, arg),
        ExprKind::Call { func: Func::Neg, args } => {
            Ok(own_operand(call, &args[0])?.map_or(Value::Null, |n| Value::Decimal(n.negate())))
        }
        ExprKind::Call { func: Func::FullScale, args } => own(call, &args[0]),
        ExprKind::Call { func: func @ (Func::Add | Func::Sub | Func::Mul | Func::Mod), args } => {
            operation(call, expr, *func, args)
        }
        ExprKind::Call { func: Func::Div, .. } => Ok(without_zeros(call.value_of(expr)?)),
        ExprKind::Call { func: Func::Coalesce | Func::IfNull, args } => {
            for arg in args {
                let value = own(call, arg)?;
                if !value.is_null() {
                    return Ok(value);
                }
            }
            Ok(Value::Null)
        }
        ExprKind::Case { arms, otherwise } => {
            for (condition, result) in arms {
                if condition.eval_bool(call.row, call.ctx)? == Some(true) {
                    return own(call, result);
                }
            }
            otherwise.as_deref().map_or(Ok(Value::Null), |e| own(call, e))
        }
        _ => call.value_of(expr),
    }
}

/// `expr`, which is `a func b`, in decimals. Zeros of sums of values of one sign keep their digits.
fn operation<'v>(
    call: &Call<'v>,
    expr: &'v Expr,
    func: Func,
    args: &'v [Expr],
) -> Result<Value<'v>, EvalError> {
    let a = some!(own_operand(call, &args[0]));
    let b = some!(own_operand(call, &args[1]));
    let has_one_sign = match func {
        Func::Add => a.is_negative() == b.is_negative(),
        Func::Sub => a.is_negative() != b.is_negative(),
        _ => false,
    };
    let result = match func {
        Func::Add => a.checked_add(b),
        Func::Sub => a.checked_sub(b),
        Func::Mul => a.checked_mul(b),
        _ if b.is_zero() => None,
        _ => a.checked_rem(b).ok().flatten(),
    };
    // The operator itself refuses what is out of range, and warns of a division by zero.
    let Some(result) = result else { return call.value_of(expr) };
    let result = Value::Decimal(result);
    Ok(if has_one_sign { result } else { without_zeros(result) })
}

/// An operand: dates and times without a fraction have no digits for it.
fn own_operand<'v>(call: &Call<'v>, arg: &'v Expr) -> Result<Option<Decimal>, EvalError> {
    let value = own(call, arg)?;
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
