//! HEX, UNHEX and base 64.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use types::{Charset, OwnedValue, Value};

use super::hex_digits::hex_digits;
use super::identifier::refused;
use super::pieces::PIECE_BYTES;
use super::{Call, some};
use crate::build::{Class, class_of};
use crate::{EvalError, ExprKind};

/// HEX: of a text's bytes, of a number's 64 bits.
pub(crate) fn hex<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let value = call.value(0)?;
    let is_literal = matches!(call.args[0].kind, ExprKind::Const(OwnedValue::Bit { .. }));
    let is_number = matches!(class_of(&call.args[0]), Class::Int | Class::Decimal | Class::Double)
        && !matches!(value, Value::Bytes { .. })
        && !is_literal;
    if is_number {
        let number = some!(call.bits(0));
        return call.copied(format!("{number:X}").as_bytes());
    }
    let bytes = some!(call.text(0));
    if !call.fits_packet(bytes.len() as u64 * 2)? {
        return Ok(Value::Null);
    }
    Ok(call.text_value(hex_digits(call, bytes, b"0123456789ABCDEF")?))
}

/// UNHEX: NULL if a character is no hexadecimal digit. An odd first digit is a byte.
pub(crate) fn unhex<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    call.ctx.reserve(text.len().div_ceil(2))?;
    let mut out = Vec::with_capacity(text.len().div_ceil(2));
    let (odd, pairs) = text.split_at(text.len() % 2);
    for piece in std::iter::once(Ok(odd)).chain(call.ctx.pieces(Charset::Binary, pairs)) {
        for pair in piece?.chunks(2) {
            let mut byte = 0;
            for b in pair {
                let Some(value) = char::from(*b).to_digit(16) else {
                    return Ok(refused(call, "string"));
                };
                byte = byte << 4 | value as u8;
            }
            out.push(byte);
        }
    }
    call.copied(&out)
}

/// Bytes that fill a line of TO_BASE64, which has 76 characters.
const BASE64_LINE_BYTES: usize = 57;
const BASE64_LINES_BETWEEN_LOOKS: usize = 1 << 14;

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
    for (i, line) in bytes.chunks(BASE64_LINE_BYTES).enumerate() {
        if i % BASE64_LINES_BETWEEN_LOOKS == BASE64_LINES_BETWEEN_LOOKS - 1 {
            call.ctx.fail_if_killed()?;
        }
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
    let mut digits = Vec::with_capacity(text.len());
    for piece in call.ctx.pieces(Charset::Binary, text) {
        digits.extend(piece?.iter().copied().filter(|byte| !is_latin1_space(*byte)));
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    // A piece is whole groups of four digits; only the last group may be padded.
    const { assert!(PIECE_BYTES.is_multiple_of(4)) };
    let mut is_padded = false;
    for piece in call.ctx.pieces(Charset::Binary, &digits) {
        let piece = piece?;
        if is_padded || BASE64.decode_vec(piece, &mut out).is_err() {
            return Ok(Value::Null);
        }
        is_padded = piece.ends_with(b"=");
    }
    call.copied(&out)
}

/// White space of latin1, by which MySQL's decoder goes whatever the text's character set is.
fn is_latin1_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ' | 0xa0)
}
