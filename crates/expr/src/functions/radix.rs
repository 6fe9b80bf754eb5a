//! BIN, OCT, CONV: integers in other bases.

use types::Value;

use super::{Call, some};
use crate::EvalError;
use crate::build::{Class, class_of};

/// BIN
pub(crate) fn bin<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let number = some!(call.bits(0));
    Ok(call.copied(format!("{number:b}").as_bytes()))
}

/// OCT
pub(crate) fn oct<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let number = some!(call.bits(0));
    Ok(call.copied(format!("{number:o}").as_bytes()))
}

/// CONV(n, from, to): bases 2 to 36; negative `from` reads a signed number, negative `to` shows one.
pub(crate) fn conv<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (from, to) = (some!(call.int(1)), some!(call.int(2)));
    let is_base = |n: i64| (2..=36).contains(&n.unsigned_abs());
    if !is_base(from) || !is_base(to) {
        return Ok(Value::Null);
    }
    let is_bits = matches!(call.value(0)?, Value::Bit { .. });
    let number = if is_bits && class_of(&call.args[0]) == Class::Int {
        some!(call.bits(0))
    } else {
        read_digits(some!(call.text(0)), from.unsigned_abs() as u32, from < 0)
    };
    let shown = if to < 0 && (number as i64) < 0 {
        format!("-{}", digits((number as i64).unsigned_abs(), to.unsigned_abs()))
    } else {
        digits(number, to.unsigned_abs())
    };
    Ok(call.copied(shown.as_bytes()))
}

/// The number at the front of `text`; too large ones stay at the bound.
fn read_digits(text: &[u8], base: u32, signed: bool) -> u64 {
    let text = text.trim_ascii_start();
    let (negative, body) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let digits = body.iter().map_while(|b| char::from(*b).to_digit(base));
    let value = digits.fold(0u64, |acc, d| acc.saturating_mul(u64::from(base)).saturating_add(u64::from(d)));
    match (negative, signed) {
        (true, true) => value.min(1 << 63).wrapping_neg(),
        (true, false) => value.wrapping_neg(),
        (false, true) => value.min(i64::MAX as u64),
        (false, false) => value,
    }
}

fn digits(mut value: u64, base: u64) -> String {
    let mut reversed = Vec::new();
    loop {
        reversed.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(value % base) as usize]);
        value /= base;
        if value == 0 {
            break;
        }
    }
    reversed.iter().rev().map(|b| char::from(*b)).collect()
}
