//! BIN, OCT, CONV: integers in other bases.

use types::Value;

use super::{Call, some};
use crate::EvalError;

/// BIN: CONV(n, 10, 2).
pub(crate) fn bin<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    in_base(call, 10, 2)
}

/// OCT: CONV(n, 10, 8).
pub(crate) fn oct<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    in_base(call, 10, 8)
}

/// CONV(n, from, to): bases 2 to 36; negative `from` reads a signed number, negative `to` shows one.
pub(crate) fn conv<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    if call.value(0)?.is_null() {
        return Ok(Value::Null);
    }
    let (from, to) = (some!(call.int(1)), some!(call.int(2)));
    let is_base = |n: i64| (2..=36).contains(&n.unsigned_abs());
    if !is_base(from) || !is_base(to) {
        return Ok(Value::Null);
    }
    in_base(call, from, to)
}

/// Argument 0, read in base `from`, shown in base `to`. Bits are a number; other arguments are read as text.
fn in_base<'v>(call: &Call<'v>, from: i64, to: i64) -> Result<Value<'v>, EvalError> {
    let value = call.value(0)?;
    let number = match value {
        Value::Null => return Ok(Value::Null),
        Value::Bit { bytes: 0, .. } => return Ok(Value::Null),
        Value::Bit { value, .. } => value,
        _ => {
            let text = some!(call.text(0));
            if text.is_empty() {
                return Ok(Value::Null);
            }
            let (number, clipped) = read_digits(text, from.unsigned_abs() as u32, from < 0);
            let is_number = begins_with_digit(text, from.unsigned_abs() as u32);
            if clipped || !is_number {
                call.truncated("DECIMAL", &value);
            }
            number
        }
    };
    let shown = if to < 0 && (number as i64) < 0 {
        format!("-{}", digits((number as i64).unsigned_abs(), to.unsigned_abs()))
    } else {
        digits(number, to.unsigned_abs())
    };
    call.copied(shown.as_bytes())
}

/// The number at the front of `text`, and whether it was too large and stays at the bound. Without a sign the
/// bound of a negative one is 0, and of what is not negative as a decimal, like -F, the largest number.
fn read_digits(text: &[u8], base: u32, signed: bool) -> (u64, bool) {
    let text = text.trim_ascii_start();
    let (negative, body) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let digits = body.iter().map_while(|b| char::from(*b).to_digit(base));
    let wide = digits.fold(0u128, |acc, d| (acc * u128::from(base) + u128::from(d)).min(1 << 64));
    let bound = match (signed, negative) {
        (true, true) => 1 << 63,
        (true, false) => (1 << 63) - 1,
        (false, _) => u128::from(u64::MAX),
    };
    let value = wide.min(bound) as u64;
    if negative && !signed && wide > bound {
        let decimal = body.iter().take_while(|b| b.is_ascii_digit());
        return (if decimal.copied().any(|b| b != b'0') { 0 } else { u64::MAX }, true);
    }
    (if negative { value.wrapping_neg() } else { value }, wide > bound)
}

/// Whether a digit begins `text`, after blanks and a sign.
fn begins_with_digit(text: &[u8], base: u32) -> bool {
    let text = text.trim_ascii_start();
    let body = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    body.first().is_some_and(|b| char::from(*b).is_digit(base))
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
