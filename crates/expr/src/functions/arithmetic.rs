//! `+ - * / DIV %` and unary minus. The call's type says in which of integers, decimals and doubles they
//! compute.

use types::{Decimal, SqlModes, TypeKind, Value};

use super::{Call, some};
use crate::build::{Class, class_of};
use crate::compare::integer;
use crate::{EvalError, Warning};

/// Operands and result in one of the number types.
struct Operation {
    int: fn(i128, i128) -> Option<i128>,
    decimal: fn(Decimal, Decimal) -> Option<Decimal>,
    double: fn(f64, f64) -> f64,
}

/// `a + b`
pub(crate) fn add<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    const ADD: Operation =
        Operation { int: i128::checked_add, decimal: Decimal::checked_add, double: |a, b| a + b };
    compute(call, &ADD)
}

/// `a - b`
pub(crate) fn subtract<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    const SUBTRACT: Operation =
        Operation { int: i128::checked_sub, decimal: Decimal::checked_sub, double: |a, b| a - b };
    compute(call, &SUBTRACT)
}

/// `a * b`
pub(crate) fn multiply<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    const MULTIPLY: Operation =
        Operation { int: i128::checked_mul, decimal: Decimal::checked_mul, double: |a, b| a * b };
    compute(call, &MULTIPLY)
}

#[inline]
fn compute<'v>(call: &Call<'v>, operation: &Operation) -> Result<Value<'v>, EvalError> {
    match call.ty().kind {
        TypeKind::Decimal => {
            let (a, b) = (some!(call.decimal(0)), some!(call.decimal(1)));
            (operation.decimal)(a, b).map(Value::Decimal).ok_or_else(|| call.out_of_range())
        }
        TypeKind::Double => {
            let (a, b) = some!(doubles(call));
            finite(call, (operation.double)(a, b))
        }
        _ => {
            let (a, b) = (some!(int_operand(call, 0)), some!(int_operand(call, 1)));
            in_range(call, (operation.int)(a, b))
        }
    }
}

/// Both operands, each of which is read though the other is NULL.
fn doubles(call: &Call<'_>) -> Result<Option<(f64, f64)>, EvalError> {
    let (a, b) = (call.double(0)?, call.double(1)?);
    Ok(a.zip(b))
}

/// An integer operand of either sign.
fn int_operand(call: &Call<'_>, i: usize) -> Result<Option<i128>, EvalError> {
    let value = call.value(i)?;
    Ok((!value.is_null()).then(|| integer(&value)))
}

/// A result of the call's integer type; out of its range an error.
pub(super) fn in_range<'v>(call: &Call<'v>, result: Option<i128>) -> Result<Value<'v>, EvalError> {
    let value = result.and_then(|wide| {
        if call.ty().unsigned {
            u64::try_from(wide).ok().map(Value::UInt)
        } else {
            i64::try_from(wide).ok().map(Value::Int)
        }
    });
    value.ok_or_else(|| call.out_of_range())
}

/// A finite result, else an error.
pub(super) fn finite<'v>(call: &Call<'v>, result: f64) -> Result<Value<'v>, EvalError> {
    if result.is_finite() { Ok(Value::Double(result)) } else { Err(call.out_of_range()) }
}

/// `a / b`
pub(crate) fn divide<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    if call.ty().kind == TypeKind::Double {
        let (a, b) = some!(doubles(call));
        return if b == 0.0 { Ok(by_zero(call)) } else { finite(call, a / b) };
    }
    let (a, b) = (some!(call.decimal(0)), some!(call.decimal(1)));
    let scale = call.ty().decimals;
    let quotient = a.checked_div(b, scale.saturating_sub(a.scale())).map_err(|_| call.out_of_range())?;
    match quotient {
        None => Ok(by_zero(call)),
        Some(q) => q.rescale(scale).map(Value::Decimal).ok_or_else(|| call.out_of_range()),
    }
}

/// `a DIV b`
pub(crate) fn divide_int<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    if call.args.iter().all(|e| class_of(e) == Class::Int) {
        let (a, b) = (some!(int_operand(call, 0)), some!(int_operand(call, 1)));
        return if b == 0 { Ok(by_zero(call)) } else { in_range(call, Some(a / b)) };
    }
    let (a, b) = (some!(call.decimal(0)), some!(call.decimal(1)));
    match a.checked_div_int(b).map_err(|_| call.out_of_range())? {
        None => Ok(by_zero(call)),
        Some(q) => in_range(call, q.to_i128_units()),
    }
}

/// `a % b`
pub(crate) fn modulo<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    match call.ty().kind {
        TypeKind::Decimal => {
            let (a, b) = (some!(call.decimal(0)), some!(call.decimal(1)));
            let remainder = a.checked_rem(b).map_err(|_| call.out_of_range())?;
            Ok(remainder.map_or_else(|| by_zero(call), Value::Decimal))
        }
        TypeKind::Double => {
            let (a, b) = some!(doubles(call));
            if b == 0.0 { Ok(by_zero(call)) } else { finite(call, a % b) }
        }
        _ => {
            let (a, b) = (some!(int_operand(call, 0)), some!(int_operand(call, 1)));
            if b == 0 { Ok(by_zero(call)) } else { in_range(call, Some(a % b)) }
        }
    }
}

/// `-a`
pub(crate) fn negate<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    match call.ty().kind {
        TypeKind::Decimal => Ok(Value::Decimal(some!(call.decimal(0)).negate())),
        TypeKind::Double => Ok(Value::Double(-some!(call.double(0)))),
        _ => in_range(call, Some(-some!(int_operand(call, 0)))),
    }
}

/// Division by zero: NULL, and a warning if the mode asks for one.
#[cold]
fn by_zero<'v>(call: &Call<'v>) -> Value<'v> {
    if call.ctx.session.modes().has(SqlModes::ERROR_FOR_DIVISION_BY_ZERO) {
        call.ctx.session.warn(Warning::DivisionByZero);
    }
    Value::Null
}
