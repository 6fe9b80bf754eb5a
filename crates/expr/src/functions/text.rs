//! Lengths, characters, case, substrings, character sets.

use types::collation::{Conversion, convert};
use types::{Charset, Value};

use super::pieces::PIECE_BYTES;
use super::{Call, some};
use crate::{EvalError, Warning};

/// `text COLLATE c`: the same bytes.
pub(crate) fn collate<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(call.text_value(some!(call.text(0))))
}

/// `CONVERT(text USING c)`
pub(crate) fn convert_using<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    convert_text(call, text, call.args[0].ty.charset())
}

/// A text in the character set that it shares with others, in which bytes have to be text.
pub(crate) fn share_charset<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let from = call.args[0].ty.charset();
    if from == Charset::Binary && first_invalid(call, text)?.is_some() {
        return Err(no_text(call, text));
    }
    let (shared, is_lossy) = converted(call, text, from)?;
    if is_lossy { Err(no_text(call, text)) } else { Ok(shared) }
}

#[cold]
fn no_text(call: &Call<'_>, text: &[u8]) -> EvalError {
    const SHOWN: usize = 6;
    let mut value = Value::binary(&text[..text.len().min(SHOWN)]).message_text();
    if text.len() > SHOWN {
        value.push_str("...");
    }
    EvalError::CannotConvert { value, from: call.args[0].ty.charset().name(), to: call.charset().name() }
}

/// `text`, of the set `from`, in the call's character set. Text of it that bytes are not is refused;
/// characters that it lacks become question marks without a warning.
pub(crate) fn convert_text<'v>(
    call: &Call<'v>,
    text: &'v [u8],
    from: Charset,
) -> Result<Value<'v>, EvalError> {
    Ok(converted(call, text, from)?.0)
}

/// As [`convert_text`], and whether the character set lacks characters of `text`: they are question marks.
fn converted<'v>(call: &Call<'v>, text: &'v [u8], from: Charset) -> Result<(Value<'v>, bool), EvalError> {
    let to = call.charset();
    if from == Charset::Binary
        && to == Charset::Ascii
        && let Some(at) = first_invalid(call, text)?
    {
        // The other bytes are characters that the set lacks.
        warn_invalid(call, &text[at..]);
        return converted(call, text, Charset::Latin1);
    }
    if from == Charset::Binary
        && let Some(at) = first_invalid(call, text)?
    {
        return Ok((refused(call, text, at), false));
    }
    if from == to || from == Charset::Binary || to == Charset::Binary {
        return Ok((call.text_value(text), false));
    }
    call.ctx.reserve(text.len())?;
    let mut out = Vec::with_capacity(text.len());
    let mut is_lossy = false;
    for piece in call.ctx.pieces(from, text) {
        is_lossy |= convert(from, to, piece?, &mut out) == Conversion::Lossy;
    }
    Ok((call.copied(&out)?, is_lossy))
}

/// The first byte of `text` that is not part of a character of the call's character set.
fn first_invalid(call: &Call<'_>, text: &[u8]) -> Result<Option<usize>, EvalError> {
    let mut before = 0;
    for piece in call.pieces(text) {
        let piece = piece?;
        if let Some(at) = call.charset().first_invalid(piece) {
            return Ok(Some(before + at));
        }
        before += piece.len();
    }
    Ok(None)
}

/// What stands for bytes that are no text of the call's character set from `at` on: NULL in strict mode, else
/// what is before them; with a warning.
#[cold]
fn refused<'v>(call: &Call<'v>, text: &'v [u8], at: usize) -> Value<'v> {
    warn_invalid(call, &text[at..]);
    if call.ctx.session.modes().is_strict() { Value::Null } else { call.text_value(&text[..at]) }
}

#[cold]
fn warn_invalid(call: &Call<'_>, text: &[u8]) {
    const SHOWN: usize = 3;
    let value = text.iter().take(SHOWN).map(|b| format!("{b:02X}")).collect();
    call.ctx.session.warn(Warning::InvalidString { charset: call.charset().name(), value });
}

/// CAST(.. AS CHAR(n)): the first n characters.
pub(crate) fn cut<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let end = call.byte_offset_of_char(text, call.ty().length as usize)?;
    if end < text.len() {
        // MySQL's message counts the bytes that are left.
        let type_name = format!("CHAR({end})");
        // MySQL's message ends at a NUL.
        let shown = text.split(|b| *b == 0).next().unwrap_or_default();
        call.truncated(&type_name, &Value::text(shown, call.ty().collation));
    }
    Ok(call.text_value(&text[..end]))
}

/// CAST(.. AS BINARY(n)): n bytes, filled up with zero bytes.
pub(crate) fn pad_bytes<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let length = call.ty().length as usize;
    if text.len() >= length {
        if text.len() > length {
            call.truncated(&format!("BINARY({length})"), &Value::binary(text));
        }
        return Ok(call.text_value(&text[..length]));
    }
    if !call.fits_packet(length as u64)? {
        return Ok(Value::Null);
    }
    let padded = call.ctx.filled(length, |i| text.get(i).copied().unwrap_or(0))?;
    Ok(call.text_value(padded))
}

/// LENGTH
pub(crate) fn length<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(some!(call.text(0)).len() as i64))
}

/// BIT_LENGTH
pub(crate) fn bit_length<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(some!(call.text(0)).len() as i64 * 8))
}

/// CHAR_LENGTH
pub(crate) fn char_length<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let is_binary = call.args[0].ty.is_string();
    let charset = if is_binary { call.args[0].ty.charset() } else { call.collation_of(0).charset };
    Ok(Value::Int(call.ctx.char_len(charset, text)? as i64))
}

/// ASCII: the first byte.
pub(crate) fn ascii<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(some!(call.text(0)).first().map_or(0, |b| i64::from(*b))))
}

/// ORD: the bytes of the first character as a number.
pub(crate) fn ord<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    if text.is_empty() {
        return Ok(Value::Int(0));
    }
    let first = &text[..call.args[0].ty.charset().first_char_bytes(text)];
    Ok(Value::Int(first.iter().fold(0, |acc, b| acc << 8 | i64::from(*b))))
}

/// CHAR(n, ..): the bytes of each number without leading zero bytes; NULLs are left out.
pub(crate) fn char<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let mut out = Vec::with_capacity(call.args.len());
    for i in 0..call.args.len() {
        if let Some(number) = call.bits(i)? {
            let bytes = (number as u32).to_be_bytes();
            let skip = bytes.iter().take(3).take_while(|b| **b == 0).count();
            out.extend_from_slice(&bytes[skip..]);
        }
    }
    if let Some(at) = call.charset().first_invalid(&out) {
        return Ok(refused(call, call.ctx.arena.alloc_slice_copy(&out), at));
    }
    call.copied(&out)
}

/// UPPER
pub(crate) fn upper<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    call.ctx.reserve(text.len())?;
    let mut out = Vec::with_capacity(text.len());
    for piece in call.pieces(text) {
        call.charset().append_upper(piece?, &mut out);
    }
    call.copied(&out)
}

/// LOWER
pub(crate) fn lower<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    call.ctx.reserve(text.len())?;
    let mut out = Vec::with_capacity(text.len());
    for piece in call.pieces(text) {
        call.charset().append_lower(piece?, &mut out);
    }
    call.copied(&out)
}

/// REVERSE
pub(crate) fn reverse<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    call.ctx.reserve(text.len())?;
    if text.len() <= PIECE_BYTES {
        let out = call.ctx.arena.alloc_slice_copy(text);
        reverse_chars(call.charset(), text, out);
        return Ok(call.text_value(out));
    }
    let mut out = vec![0; text.len()];
    let mut to = text.len();
    for piece in call.pieces(text) {
        let piece = piece?;
        to -= piece.len();
        reverse_chars(call.charset(), piece, &mut out[to..to + piece.len()]);
    }
    call.copied(&out)
}

/// Writes the characters of `text` to `out`, of the same length, from the last to the first.
fn reverse_chars(charset: Charset, text: &[u8], out: &mut [u8]) {
    let (mut from, mut to) = (0, text.len());
    while from < text.len() {
        let width = charset.first_char_bytes(&text[from..]);
        to -= width;
        out[to..to + width].copy_from_slice(&text[from..from + width]);
        from += width;
    }
}

/// LEFT
pub(crate) fn left<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, count) = (some!(call.text(0)), some!(call.count(1)));
    let end = call.byte_offset_of_char(text, count.max(0) as usize)?;
    Ok(call.text_value(&text[..end]))
}

/// RIGHT
pub(crate) fn right<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, count) = (some!(call.text(0)), some!(call.count(1)));
    let skipped = call.char_len(text)?.saturating_sub(count.max(0) as usize);
    Ok(call.text_value(&text[call.byte_offset_of_char(text, skipped)?..]))
}

/// SUBSTRING(text, from), SUBSTRING(text, from, length)
pub(crate) fn substring<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, from) = (some!(call.text(0)), some!(call.count(1)));
    let length = if call.args.len() > 2 { some!(call.count(2)) } else { i64::MAX };
    let count = call.char_len(text)? as i64;
    let start = if from < 0 { count.saturating_add(from) } else { from - 1 };
    if start < 0 || start >= count || length <= 0 {
        return Ok(call.text_value(&[]));
    }
    let rest = &text[call.byte_offset_of_char(text, start as usize)?..];
    let end = call.byte_offset_of_char(rest, usize::try_from(length).unwrap_or(usize::MAX))?;
    Ok(call.text_value(&rest[..end]))
}
