//! HEX, UNHEX and base 64.

use types::Value;

use super::{Call, some};
use crate::build::{Class, class_of};
use crate::{EvalError, Warning};

/// HEX: of a text's bytes, of a number's 64 bits.
pub(crate) fn hex<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let value = call.value(0)?;
    let is_number = matches!(class_of(&call.args[0]), Class::Int | Class::Decimal | Class::Double)
        && !matches!(value, Value::Bytes { .. });
    if is_number {
        let number = some!(call.bits(0));
        return Ok(call.copied(format!("{number:X}").as_bytes()));
    }
    let bytes = some!(call.text(0));
    if !call.fits_packet(bytes.len() as u64 * 2) {
        return Ok(Value::Null);
    }
    Ok(call.text_value(hex_digits(call, bytes, b"0123456789ABCDEF")))
}

/// The bytes as pairs of `digits`.
pub(super) fn hex_digits<'v>(call: &Call<'v>, bytes: &[u8], digits: &[u8; 16]) -> &'v [u8] {
    let digit = |i: usize| {
        let byte = bytes[i / 2];
        digits[usize::from(if i.is_multiple_of(2) { byte >> 4 } else { byte & 15 })]
    };
    call.ctx.arena.alloc_slice_fill_with(bytes.len() * 2, digit)
}

/// UNHEX: NULL if a character is no hexadecimal digit. An odd first digit is a byte.
pub(crate) fn unhex<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let mut out = Vec::with_capacity(text.len().div_ceil(2));
    let odd = text.len() % 2;
    for pair in text[..odd].chunks(1).chain(text[odd..].chunks(2)) {
        let mut byte = 0;
        for b in pair {
            let Some(value) = char::from(*b).to_digit(16).map(|d| d as u8) else {
                call.ctx.session.warn(Warning::WrongValueForFunction {
                    type_name: "string",
                    value: format!("'{}'", String::from_utf8_lossy(text)),
                    function: "unhex",
                });
                return Ok(Value::Null);
            };
            byte = byte << 4 | value;
        }
        out.push(byte);
    }
    Ok(call.copied(&out))
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Characters of a line of TO_BASE64.
const BASE64_LINE: usize = 76;

/// TO_BASE64, in lines of 76 characters.
pub(crate) fn to_base64<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let bytes = some!(call.text(0));
    let mut out = Vec::with_capacity(bytes.len() / 3 * 4 + 8);
    for (i, group) in bytes.chunks(3).enumerate() {
        if i > 0 && i * 4 % BASE64_LINE == 0 {
            out.push(b'\n');
        }
        let word = group.iter().fold(0u32, |acc, b| acc << 8 | u32::from(*b)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let sextet = (word >> (18 - 6 * place)) as usize & 63;
            out.push(if place <= group.len() { BASE64[sextet] } else { b'=' });
        }
    }
    if !call.fits_packet(out.len() as u64) {
        return Ok(Value::Null);
    }
    Ok(call.copied(&out))
}

/// FROM_BASE64: NULL if the text is not base 64. White space is skipped.
pub(crate) fn from_base64<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text: Vec<u8> = some!(call.text(0)).iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    let padding = text.iter().rev().take_while(|b| **b == b'=').count();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return Ok(Value::Null);
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    for group in text[..text.len() - padding].chunks(4) {
        let mut word = 0u32;
        for b in group {
            let Some(sextet) = BASE64.iter().position(|c| c == b) else { return Ok(Value::Null) };
            word = word << 6 | sextet as u32;
        }
        word <<= 6 * (4 - group.len());
        out.extend_from_slice(&word.to_be_bytes()[1..group.len()]);
    }
    Ok(call.copied(&out))
}
