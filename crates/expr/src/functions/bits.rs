//! `& | ^ << >> ~` and BIT_COUNT: on 64 bits, or on bytes when the operands are binary strings.

use types::{Charset, CollationId, TypeKind, Value};

use super::{Call, some};
use crate::EvalError;

/// Whether the call computes on bytes.
fn on_bytes(call: &Call<'_>) -> bool {
    call.ty().kind != TypeKind::BigInt
}

fn binary<'v>(
    call: &Call<'v>,
    on_words: fn(u64, u64) -> u64,
    on_each: fn(u8, u8) -> u8,
) -> Result<Value<'v>, EvalError> {
    if !on_bytes(call) {
        let (a, b) = (some!(call.bits(0)), some!(call.bits(1)));
        return Ok(Value::UInt(on_words(a, b)));
    }
    let (a, b) = (some!(call.text(0)), some!(call.text(1)));
    if a.len() != b.len() {
        return Err(EvalError::BitOperandLengths);
    }
    call.ctx.reserve(a.len())?;
    Ok(Value::binary(call.ctx.filled(a.len(), |i| on_each(a[i], b[i]))?))
}

/// `a & b`
pub(crate) fn and<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    binary(call, |a, b| a & b, |a, b| a & b)
}

/// `a | b`
pub(crate) fn or<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    binary(call, |a, b| a | b, |a, b| a | b)
}

/// `a ^ b`
pub(crate) fn xor<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    binary(call, |a, b| a ^ b, |a, b| a ^ b)
}

/// `~a`
pub(crate) fn not<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    if !on_bytes(call) {
        return Ok(Value::UInt(!some!(call.bits(0))));
    }
    let bytes = some!(call.text(0));
    call.ctx.reserve(bytes.len())?;
    Ok(Value::binary(call.ctx.filled(bytes.len(), |i| !bytes[i])?))
}

/// `a << n`
pub(crate) fn shift_left<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    if !on_bytes(call) {
        let (value, count) = (some!(call.bits(0)), some!(call.bits(1)));
        return Ok(Value::UInt(if count < 64 { value << count } else { 0 }));
    }
    let (bytes, count) = (some!(call.text(0)), some!(call.bits(1)));
    shifted(call, bytes, count, true)
}

/// `a >> n`
pub(crate) fn shift_right<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    if !on_bytes(call) {
        let (value, count) = (some!(call.bits(0)), some!(call.bits(1)));
        return Ok(Value::UInt(if count < 64 { value >> count } else { 0 }));
    }
    let (bytes, count) = (some!(call.text(0)), some!(call.bits(1)));
    shifted(call, bytes, count, false)
}

/// The bytes as one number, shifted within their length.
fn shifted<'v>(call: &Call<'v>, bytes: &[u8], count: u64, left: bool) -> Result<Value<'v>, EvalError> {
    call.ctx.reserve(bytes.len())?;
    let (whole, rest) = ((count / 8).min(bytes.len() as u64) as usize, (count % 8) as u32);
    let at = |i: usize| u32::from(bytes.get(i).copied().unwrap_or(0));
    let out = call.ctx.filled(bytes.len(), |i| {
        if left {
            let pair = at(i + whole) << 8 | at(i + whole + 1);
            (pair << rest >> 8) as u8
        } else {
            let byte = |back: usize| i.checked_sub(back).map_or(0, at);
            let pair = byte(whole + 1) << 8 | byte(whole);
            (pair >> rest) as u8
        }
    })?;
    Ok(Value::Bytes { data: out, collation: CollationId::BINARY })
}

/// BIT_COUNT
pub(crate) fn count<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let ones = match call.value(0)? {
        Value::Bytes { data, collation: CollationId::BINARY } => {
            let mut ones = 0;
            for piece in call.ctx.pieces(Charset::Binary, data) {
                ones += piece?.iter().map(|b| i64::from(b.count_ones())).sum::<i64>();
            }
            ones
        }
        _ => i64::from(some!(call.bits(0)).count_ones()),
    };
    Ok(Value::Int(ones))
}
