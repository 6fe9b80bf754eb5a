//! Texts and bytes of UUIDs and IPv4 addresses.

use types::Value;

use super::{Call, some};
use crate::{EvalError, Warning};

/// INET_ATON: dotted numbers, of which an empty one is zero; the last one is the last byte, missing ones
/// before it are zero.
pub(crate) fn inet_aton<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    if text.is_empty() || text.ends_with(b".") {
        return Ok(refused(call, "string"));
    }
    let mut parts = [0u64; 4];
    let mut count = 0;
    for part in text.split(|b| *b == b'.') {
        let is_number = part.iter().all(u8::is_ascii_digit);
        if !is_number || count == 4 {
            return Ok(refused(call, "string"));
        }
        let number = part.iter().fold(0, |acc: u64, b| (acc * 10 + u64::from(b - b'0')).min(PAST_A_BYTE));
        if number > 255 {
            return Ok(refused(call, "string"));
        }
        parts[count] = number;
        count += 1;
    }
    // The last number written is the last byte.
    parts.swap(count - 1, 3);
    Ok(Value::UInt(parts.iter().fold(0, |acc, part| acc << 8 | part)))
}

/// Larger numbers are no better as a part of an address.
const PAST_A_BYTE: u64 = 256;

/// INET_NTOA
pub(crate) fn inet_ntoa<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let number = some!(call.bits(0));
    Ok(match u32::try_from(number) {
        Ok(address) => {
            let [a, b, c, d] = address.to_be_bytes();
            call.copied(format!("{a}.{b}.{c}.{d}").as_bytes())?
        }
        Err(_) => refused(call, "integer"),
    })
}

/// The bytes of a UUID: 32 digits, in five groups or none, in braces if in groups.
fn parse(text: &[u8]) -> Option<[u8; 16]> {
    let body = match text {
        [b'{', inner @ .., b'}'] if inner.len() == 36 => inner,
        _ => text,
    };
    let is_grouped = body.len() == 36;
    if is_grouped && [8, 13, 18, 23].iter().any(|i| body[*i] != b'-') {
        return None;
    }
    let digits = body.iter().filter(|b| !is_grouped || **b != b'-');
    let mut out = [0u8; 16];
    let mut count = 0;
    for b in digits {
        let digit = char::from(*b).to_digit(16)? as u8;
        *out.get_mut(count / 2)? |= if count % 2 == 0 { digit << 4 } else { digit };
        count += 1;
    }
    (count == 32).then_some(out)
}

/// IS_UUID
pub(crate) fn is_uuid<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(i64::from(parse(some!(call.text(0))).is_some())))
}

/// Whether argument 1 asks for the time parts to be swapped.
fn swaps_time(call: &Call<'_>) -> Result<bool, EvalError> {
    Ok(call.args.len() > 1 && call.args[1].eval_bool(call.row, call.ctx)? == Some(true))
}

/// UUID_TO_BIN(text, swap): with `swap`, the high part of the time first.
pub(crate) fn uuid_to_bin<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let Some(b) = parse(text) else { return Err(wrong_value(call)?) };
    let bytes = if swaps_time(call)? {
        [b[6], b[7], b[4], b[5], b[0], b[1], b[2], b[3], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]
    } else {
        b
    };
    call.copied(&bytes)
}

/// BIN_TO_UUID(bytes, swap)
pub(crate) fn bin_to_uuid<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let bytes = some!(call.text(0));
    let Ok(b) = <[u8; 16]>::try_from(bytes) else { return Err(wrong_value(call)?) };
    let b = if swaps_time(call)? {
        [b[4], b[5], b[6], b[7], b[2], b[3], b[0], b[1], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]
    } else {
        b
    };
    let mut text = String::with_capacity(36);
    for (i, byte) in b.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    call.copied(text.as_bytes())
}

/// The error of an argument 0 that the function cannot take.
#[cold]
fn wrong_value(call: &Call<'_>) -> Result<EvalError, EvalError> {
    let value = match call.value(0)? {
        value @ (Value::Bytes { .. } | Value::Bit { .. }) => value.message_text(),
        _ => types::value::text_for_message(call.text(0)?.unwrap_or_default()),
    };
    Ok(EvalError::WrongValue { type_name: "string", value, function: call.name() })
}

/// NULL, with a warning that quotes the argument as it is written.
#[cold]
pub(super) fn refused<'v>(call: &Call<'v>, type_name: &'static str) -> Value<'v> {
    let value = crate::print::to_text(&call.args[0], call.ctx);
    call.ctx.session.warn(Warning::WrongValueForFunction { type_name, value, function: call.name() });
    Value::Null
}
