//! HEX, UNHEX and base 64.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
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
        return call.copied(format!("{number:X}").as_bytes());
    }
    let bytes = some!(call.text(0));
    if !call.fits_packet(bytes.len() as u64 * 2)? {
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
    call.ctx.reserve(text.len().div_ceil(2))?;
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
    call.copied(&out)
}

/// Bytes that fill a line of TO_BASE64, which has 76 characters.
const BASE64_LINE_BYTES: usize = 57;

/// MySQL's decoder wants the padding and ignores the bits that follow the last byte.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// TO_BASE64, in lines of 76 characters.
pub(crate) fn to_base64<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let bytes = some!(call.text(0));
    let chars = bytes.len().div_ceil(3) * 4;
    let length = chars + chars.saturating_sub(1) / 76;
    if !call.fits_packet(length as u64)? {
        return Ok(Value::Null);
    }
    let mut out = String::with_capacity(length);
    for line in bytes.chunks(BASE64_LINE_BYTES) {
        if !out.is_empty() {
            out.push('\n');
        }
        BASE64.encode_string(line, &mut out);
    }
    call.copied(out.as_bytes())
}

/// FROM_BASE64: NULL if the text is not base 64. White space is skipped.
pub(crate) fn from_base64<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    call.ctx.reserve(text.len())?;
    let mut text = text.to_vec();
    text.retain(|byte| !is_latin1_space(*byte));
    Ok(match BASE64.decode(&text) {
        Ok(bytes) => call.copied(&bytes)?,
        Err(_) => Value::Null,
    })
}

/// White space of latin1, by which MySQL's decoder goes whatever the text's character set is.
fn is_latin1_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ' | 0xa0)
}
