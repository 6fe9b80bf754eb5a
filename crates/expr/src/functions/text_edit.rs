//! Texts put together from texts.

use types::{Charset, Value};

use super::byte_search::Places;
use super::{Call, some};
use crate::EvalError;

/// Appends to the result; it is NULL if it becomes longer than a packet may be.
macro_rules! append {
    ($call:expr, $out:expr, $text:expr) => {
        let (out, text): (&mut Vec<u8>, &[u8]) = (&mut $out, $text);
        if out.capacity() - out.len() < text.len() && !$call.fits_packet((out.len() + text.len()) as u64)? {
            return Ok(Value::Null);
        }
        $call.ctx.append(out, text)?;
    };
}

/// CONCAT
pub(crate) fn concat<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    if call.args.len() == 1 {
        return Ok(call.text_value(some!(call.text(0))));
    }
    let mut out = Vec::new();
    for i in 0..call.args.len() {
        append!(call, out, some!(call.text(i)));
    }
    finish(call, &out)
}

/// The result.
fn finish<'v>(call: &Call<'v>, out: &[u8]) -> Result<Value<'v>, EvalError> {
    if call.fits_packet(out.len() as u64)? { call.copied(out) } else { Ok(Value::Null) }
}

/// CONCAT_WS: NULLs are left out.
pub(crate) fn concat_ws<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let separator = some!(call.text(0));
    let mut out = Vec::new();
    let mut first = true;
    for i in 1..call.args.len() {
        if let Some(text) = call.text(i)? {
            if !first {
                append!(call, out, separator);
            }
            first = false;
            append!(call, out, text);
        }
    }
    finish(call, &out)
}

/// REPLACE: exact bytes, whatever the collation.
pub(crate) fn replace<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, from, to) = (some!(call.text(0)), some!(call.text(1)), some!(call.text(2)));
    if from.is_empty() {
        return Ok(call.text_value(text));
    }
    call.ctx.reserve(text.len())?;
    let mut out = Vec::with_capacity(text.len());
    let mut done = 0;
    let mut places = Places::from_front(call.ctx, text, from);
    while let Some(at) = places.next()? {
        append!(call, out, &text[done..at]);
        append!(call, out, to);
        done = at + from.len();
    }
    if done == 0 {
        return Ok(call.text_value(text));
    }
    append!(call, out, &text[done..]);
    finish(call, &out)
}

/// INSERT(text, from, length, new)
pub(crate) fn insert<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, new) = (some!(call.text(0)), some!(call.text(3)));
    let (from, length) = (some!(call.count(1)), some!(call.count(2)));
    let count = call.char_len(text)? as i64;
    if from < 1 || from > count {
        return Ok(call.text_value(text));
    }
    let start = call.byte_offset_of_char(text, from as usize - 1)?;
    let length = if length < 0 { count } else { length };
    let end = start + call.byte_offset_of_char(&text[start..], length as usize)?;
    if !call.fits_packet((start + new.len() + text.len() - end) as u64)? {
        return Ok(Value::Null);
    }
    Ok(call.text_value(call.ctx.joined(&[&text[..start], new, &text[end..]])?))
}

/// QUOTE: NULL as the word.
pub(crate) fn quote<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let Some(text) = call.text(0)? else { return Ok(call.text_value(b"NULL")) };
    call.ctx.reserve(text.len() + 2)?;
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'\'');
    for piece in call.ctx.pieces(Charset::Binary, text) {
        for b in piece? {
            match b {
                b'\\' | b'\'' => out.extend_from_slice(&[b'\\', *b]),
                0 => out.extend_from_slice(b"\\0"),
                0x1a => out.extend_from_slice(b"\\Z"),
                _ => out.push(*b),
            }
        }
    }
    out.push(b'\'');
    finish(call, &out)
}

/// SUBSTRING_INDEX(text, delimiter, count): exact bytes.
pub(crate) fn substring_index<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    // The count is read even if the delimiter is NULL.
    let (delimiter, count) = (call.text(1)?, call.count(2)?);
    let (Some(delimiter), Some(count)) = (delimiter, count) else { return Ok(Value::Null) };
    if delimiter.is_empty() || count == 0 {
        return Ok(call.text_value(&[]));
    }
    let mut places = if count > 0 {
        Places::from_front(call.ctx, text, delimiter)
    } else {
        Places::from_back(call.ctx, text, delimiter)
    };
    for _ in 1..count.unsigned_abs() {
        if places.next()?.is_none() {
            return Ok(call.text_value(text));
        }
    }
    Ok(call.text_value(match places.next()? {
        Some(at) if count > 0 => &text[..at],
        Some(at) => &text[at + delimiter.len()..],
        None => text,
    }))
}

/// MAKE_SET(bits, a, b, ..)
pub(crate) fn make_set<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let bits = some!(call.bits(0));
    let mut out = Vec::new();
    let mut first = true;
    for i in 1..call.args.len().min(65) {
        if bits >> (i - 1) & 1 == 0 {
            continue;
        }
        if let Some(text) = call.text(i)? {
            if !first {
                out.push(b',');
            }
            first = false;
            append!(call, out, text);
        }
    }
    finish(call, &out)
}

/// EXPORT_SET(bits, on, off, separator, count)
pub(crate) fn export_set<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let bits = some!(call.bits(0));
    let (on, off) = (some!(call.text(1)), some!(call.text(2)));
    let separator = if call.args.len() > 3 { some!(call.text(3)) } else { b"," };
    let count = if call.args.len() > 4 { some!(call.int(4)) } else { 64 };
    let count = if (0..=64).contains(&count) { count } else { 64 };
    let mut out = Vec::new();
    for i in 0..count {
        if i > 0 {
            append!(call, out, separator);
        }
        append!(call, out, if bits >> i & 1 == 1 { on } else { off });
    }
    finish(call, &out)
}

/// SOUNDEX: the first letter and digits for the consonants, at least four characters. Letters beyond A to Z
/// have no digit.
pub(crate) fn soundex<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    /// Digits of A to Z; 0 for letters that are not coded.
    const CODES: &[u8; 26] = b"01230120022455012623010202";
    let text = some!(call.text(0));
    let (mut out, mut codes): (Vec<u8>, usize) = (Vec::new(), 0);
    let mut last = 0;
    for piece in call.pieces(text) {
        let mut rest = piece?;
        while let [b, ..] = *rest {
            let is_other = !b.is_ascii() && out.is_empty();
            let (character, after) =
                rest.split_at(if is_other { call.charset().first_char_bytes(rest) } else { 1 });
            rest = after;
            if is_other && is_letter(call.charset(), character) {
                out.extend_from_slice(character);
                last = b'0';
            } else if b.is_ascii_alphabetic() {
                let letter = b.to_ascii_uppercase();
                let code = CODES[usize::from(letter - b'A')];
                if out.is_empty() {
                    out.push(letter);
                    last = code;
                } else if code != b'0' && code != last {
                    // Vowels part equal codes only where they are not H or W; MySQL lets none of them part.
                    out.push(code);
                    codes += 1;
                    last = code;
                }
            }
        }
    }
    if !out.is_empty() {
        out.extend(std::iter::repeat_n(b'0', 3_usize.saturating_sub(codes)));
    }
    call.copied(&out)
}

/// Whether MySQL takes `character`, which is not ASCII and of the set `charset`, for a letter: of large sets,
/// all from À on are.
fn is_letter(charset: Charset, character: &[u8]) -> bool {
    let is_one = |c: char| c >= 'À' && (charset.max_char_bytes() > 1 || c.is_alphabetic());
    let mut text = Vec::new();
    types::collation::convert(charset, Charset::Utf8mb4, character, &mut text);
    std::str::from_utf8(&text).is_ok_and(|text| text.chars().any(is_one))
}
