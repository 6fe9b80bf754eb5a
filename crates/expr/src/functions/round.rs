//! ROUND, TRUNCATE, CEILING, FLOOR.

use types::{Decimal, TypeKind, Value};

use super::arithmetic::{finite, in_range};
use super::{Call, some};
use crate::EvalError;
use crate::build::{Class, class_of};
use crate::compare::integer;

/// CEILING
pub(crate) fn ceiling<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    to_integer(call, Decimal::ceil, f64::ceil)
}

/// FLOOR
pub(crate) fn floor<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    to_integer(call, Decimal::floor, f64::floor)
}

fn to_integer<'v>(
    call: &Call<'v>,
    of_decimal: fn(Decimal) -> Decimal,
    of_double: fn(f64) -> f64,
) -> Result<Value<'v>, EvalError> {
    match call.ty().kind {
        TypeKind::Double => Ok(Value::Double(of_double(some!(call.double(0))))),
        TypeKind::Decimal => Ok(Value::Decimal(of_decimal(some!(call.decimal(0))))),
        _ if class_of(&call.args[0]) == Class::Int => {
            let value = call.value(0)?;
            if value.is_null() { Ok(value) } else { in_range(call, Some(integer(&value))) }
        }
        _ => in_range(call, of_decimal(some!(call.decimal(0))).to_i128_units()),
    }
}

/// ROUND: half away from zero; doubles half to even, as the machine does.
pub(crate) fn round<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    rounded(call, false)
}

/// TRUNCATE
pub(crate) fn truncate<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    rounded(call, true)
}

/// Argument 0 rounded or cut. As in MySQL the number of digits is read after it, and not at all beside NULL.
fn rounded<'v>(call: &Call<'v>, cut: bool) -> Result<Value<'v>, EvalError> {
    let digits = || if call.args.len() > 1 { call.count(1) } else { Ok(Some(0)) };
    match call.ty().kind {
        TypeKind::Double => {
            let value = some!(call.double(0));
            finite(call, round_double(value, some!(digits()), cut))
        }
        TypeKind::Decimal => {
            let value = some!(call.decimal(0));
            let digits = some!(digits()).clamp(-80, 30) as i32;
            let result = if cut { value.truncate(digits) } else { value.round(digits) };
            Ok(Value::Decimal(fixed_scale(result, call.ty().decimals)))
        }
        _ => {
            let value = call.value(0)?;
            if value.is_null() {
                return Ok(value);
            }
            in_range(call, Some(round_integer(integer(&value), some!(digits()), cut)))
        }
    }
}

/// A decimal with the scale of the call's type.
pub(crate) fn full_scale<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Decimal(fixed_scale(some!(call.decimal(0)), call.ty().decimals)))
}

/// The value with the scale of its type, which is never below the value's by more than zeros.
fn fixed_scale(value: Decimal, scale: u8) -> Decimal {
    value.rescale(scale).unwrap_or(value)
}

fn round_integer(value: i128, digits: i64, cut: bool) -> i128 {
    if digits >= 0 {
        return value;
    }
    // 10^20 is above every 64-bit integer.
    let unit = 10i128.pow(digits.unsigned_abs().min(20) as u32);
    let whole = value / unit * unit;
    let half = (value - whole).abs() * 2 >= unit;
    if half && !cut { whole + unit * value.signum() } else { whole }
}

/// The nearest double to 10 to the power of `exponent`; infinite past the range of doubles.
fn power_of_ten(exponent: u64) -> f64 {
    /// The largest power without a rounding error, so that its factors have none either.
    const EXACT_MAX: u64 = 22;
    if exponent <= EXACT_MAX { 10f64.powi(exponent as i32) } else { large_power_of_ten(exponent) }
}

#[cold]
fn large_power_of_ten(exponent: u64) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::INFINITY)
}

/// `value` rounded half to even, or cut, to `digits` fraction digits.
pub(super) fn round_double(value: f64, digits: i64, cut: bool) -> f64 {
    let unit = power_of_ten(digits.unsigned_abs());
    let whole = |x: f64| if cut { x.trunc() } else { x.round_ties_even() };
    if digits < 0 {
        return if unit.is_infinite() { 0.0 } else { whole(value / unit) * unit };
    }
    let scaled = value * unit;
    if scaled.is_finite() && unit.is_finite() { whole(scaled) / unit } else { value }
}
