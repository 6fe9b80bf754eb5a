//! Numeric functions over doubles, and signs.

use types::{TypeKind, Value};

use super::arithmetic::{finite, in_range};
use super::{Call, some};
use crate::build::{Class, class_of};
use crate::compare::integer;
use crate::{EvalError, Warning};

/// ABS
pub(crate) fn abs<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    match call.ty().kind {
        TypeKind::Decimal => Ok(Value::Decimal(some!(call.decimal(0)).abs())),
        TypeKind::Double => Ok(Value::Double(some!(call.double(0)).abs())),
        _ => {
            let value = call.value(0)?;
            if value.is_null() {
                return Ok(Value::Null);
            }
            in_range(call, Some(integer(&value).abs()))
        }
    }
}

/// SIGN
pub(crate) fn sign<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let sign = if class_of(&call.args[0]) == Class::Decimal {
        let value = some!(call.decimal(0));
        i64::from(!value.is_zero()) * if value.is_negative() { -1 } else { 1 }
    } else {
        let value = some!(call.double(0));
        i64::from(value > 0.0) - i64::from(value < 0.0)
    };
    Ok(Value::Int(sign))
}

/// A function that is defined everywhere; an infinite result is an error.
fn total<'v>(call: &Call<'v>, f: fn(f64) -> f64) -> Result<Value<'v>, EvalError> {
    let x = some!(call.double(0));
    finite(call, f(x))
}

/// A function that is NULL outside its domain.
fn partial<'v>(call: &Call<'v>, domain: fn(f64) -> bool, f: fn(f64) -> f64) -> Result<Value<'v>, EvalError> {
    let x = some!(call.double(0));
    if domain(x) { finite(call, f(x)) } else { Ok(Value::Null) }
}

/// SQRT
pub(crate) fn sqrt<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    partial(call, |x| x >= 0.0, f64::sqrt)
}

/// POW
pub(crate) fn pow<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (x, y) = (some!(call.double(0)), some!(call.double(1)));
    finite(call, x.powf(y))
}

/// EXP
pub(crate) fn exp<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    total(call, f64::exp)
}

/// LN and the other logarithms: NULL with a warning outside their domain.
fn logarithm<'v>(call: &Call<'v>, x: f64, f: fn(f64) -> f64) -> Result<Value<'v>, EvalError> {
    if x <= 0.0 {
        call.ctx.session.warn(Warning::LogarithmArgument);
        return Ok(Value::Null);
    }
    finite(call, f(x))
}

/// LN
pub(crate) fn ln<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let x = some!(call.double(0));
    logarithm(call, x, f64::ln)
}

/// LOG(x), LOG(base, x)
pub(crate) fn log<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let first = some!(call.double(0));
    if call.args.len() == 1 {
        return logarithm(call, first, f64::ln);
    }
    let refused = || {
        call.ctx.session.warn(Warning::LogarithmArgument);
        Ok(Value::Null)
    };
    if first <= 0.0 {
        return refused();
    }
    let x = some!(call.double(1));
    if x <= 0.0 || first == 1.0 {
        return refused();
    }
    finite(call, x.ln() / first.ln())
}

/// LOG10
pub(crate) fn log10<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let x = some!(call.double(0));
    logarithm(call, x, f64::log10)
}

/// LOG2
pub(crate) fn log2<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let x = some!(call.double(0));
    logarithm(call, x, f64::log2)
}

/// PI
pub(crate) fn pi<'v>(_: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Double(std::f64::consts::PI))
}

/// SIN
pub(crate) fn sin<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    total(call, f64::sin)
}

/// COS
pub(crate) fn cos<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    total(call, f64::cos)
}

/// TAN
pub(crate) fn tan<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    total(call, f64::tan)
}

/// COT
pub(crate) fn cot<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    total(call, |x| 1.0 / x.tan())
}

/// ASIN
pub(crate) fn asin<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    partial(call, |x| x.abs() <= 1.0, f64::asin)
}

/// ACOS
pub(crate) fn acos<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    partial(call, |x| x.abs() <= 1.0, f64::acos)
}

/// ATAN(x), ATAN(y, x)
pub(crate) fn atan<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    if call.args.len() == 1 {
        return total(call, f64::atan);
    }
    let (y, x) = (some!(call.double(0)), some!(call.double(1)));
    finite(call, y.atan2(x))
}

/// DEGREES
pub(crate) fn degrees<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    total(call, |x| x * (180.0 / std::f64::consts::PI) + 0.0)
}

/// RADIANS
pub(crate) fn radians<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    total(call, |x| x * (std::f64::consts::PI / 180.0) + 0.0)
}
