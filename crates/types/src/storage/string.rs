//! Assignment to columns of characters and bytes.

use base::ascii::is_ascii;

use super::problem::Fault;
use crate::collation::{Conversion, convert};
use crate::value::write_double_within;
use crate::{Charset, SqlType, TypeKind, Value};

pub(super) fn store_characters(ty: &SqlType, value: &Value<'_>, out: &mut Vec<u8>) -> Fault {
    let charset = ty.charset();
    let (mut scratch, mut converted) = (Vec::new(), Vec::new());
    let (source, whole) = text_for(ty, value, &mut scratch);
    let (text, mut fault) = in_charset(source, charset_of(value, ty), charset, &mut converted);
    let limit = limit_bytes(ty, charset, text);
    let mut kept = &text[..limit];
    if !whole {
        fault = Fault::TooLong;
    }
    if limit < text.len() && fault == Fault::None {
        fault = match text[limit..].iter().all(|b| *b == b' ') {
            true if ty.kind == TypeKind::Char => Fault::None,
            true => Fault::Rounded,
            false => Fault::TooLong,
        };
    }
    if ty.kind == TypeKind::Char {
        kept = trim_spaces(kept);
    }
    out.extend_from_slice(kept);
    fault
}

/// Whether any set of characters has this text, and a CHAR or VARCHAR of `chars` characters takes it as it
/// is.
#[inline(always)]
pub(super) fn is_plain(text: &[u8], chars: u32) -> bool {
    text.len() <= chars as usize && text.last() != Some(&b' ') && is_ascii(text)
}

/// `source` as text of the set `to`. Bytes that are no characters end the text.
fn in_charset<'b>(
    source: &'b [u8],
    from: Charset,
    to: Charset,
    converted: &'b mut Vec<u8>,
) -> (&'b [u8], Fault) {
    if from == to || from == Charset::Binary || is_ascii(source) {
        return match to.first_invalid(source) {
            None => (source, Fault::None),
            Some(at) => (&source[..at], Fault::BadString(at)),
        };
    }
    let fault = match convert(from, to, source, converted) {
        Conversion::Exact => Fault::None,
        Conversion::Lossy => Fault::BadString(first_lost(source, from, to)),
    };
    (converted, fault)
}

/// Byte offset of the first character of `source` that the set `to` does not have.
#[cold]
fn first_lost(source: &[u8], from: Charset, to: Charset) -> usize {
    let (mut at, mut sink) = (0, Vec::new());
    while at < source.len() {
        let len = from.first_char_bytes(&source[at..]);
        if convert(from, to, &source[at..at + len], &mut sink) == Conversion::Lossy {
            break;
        }
        at += len;
    }
    at
}

pub(super) fn store_bytes(ty: &SqlType, value: &Value<'_>, out: &mut Vec<u8>) -> Fault {
    let mut scratch = Vec::new();
    let (bytes, whole) = text_for(ty, value, &mut scratch);
    let limit = match ty.kind {
        TypeKind::Blob(size) => size.max_bytes().min(usize::MAX as u64) as usize,
        _ => ty.length as usize,
    };
    let kept = &bytes[..bytes.len().min(limit)];
    out.extend_from_slice(kept);
    if ty.kind == TypeKind::Binary {
        out.resize(out.len() + limit - kept.len(), 0);
    }
    if kept.len() < bytes.len() || !whole { Fault::TooLong } else { Fault::None }
}

/// Characters of a double in a TEXT or BLOB.
const LOB_DOUBLE_CHARS: u32 = 22;

/// The text to store, and whether it shows the value: of a double it has as many digits as the column has
/// room for.
fn text_for<'b>(ty: &SqlType, value: &Value<'b>, scratch: &'b mut Vec<u8>) -> (&'b [u8], bool) {
    match *value {
        Value::Double(v) => {
            let is_lob = matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
            let room = if is_lob { LOB_DOUBLE_CHARS } else { ty.length };
            let whole = write_double_within(v, room as usize, scratch);
            (scratch, whole)
        }
        _ => (value.as_text(scratch), true),
    }
}

fn charset_of(value: &Value<'_>, ty: &SqlType) -> Charset {
    if value.collation() == Some(ty.collation) {
        return ty.charset();
    }
    match value.collation().and_then(crate::CollationId::collation) {
        Some(collation) => collation.charset,
        None if value.collation().is_some() => Charset::Utf8mb4,
        // Numbers and dates are ASCII.
        None => Charset::Ascii,
    }
}

/// How many bytes of `text` fit: whole characters only.
fn limit_bytes(ty: &SqlType, charset: Charset, text: &[u8]) -> usize {
    match ty.kind {
        TypeKind::Text(size) => {
            let most = size.max_bytes().min(text.len() as u64) as usize;
            if most == text.len() { most } else { character_start(charset, text, most) }
        }
        _ if text.len() <= ty.length as usize => text.len(),
        _ => charset.byte_offset_of_char(text, ty.length as usize),
    }
}

/// The last character boundary at or before `at`.
fn character_start(charset: Charset, text: &[u8], mut at: usize) -> usize {
    while charset.is_utf8() && at > 0 && text[at] & 0xC0 == 0x80 {
        at -= 1;
    }
    at
}

fn trim_spaces(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|b| *b != b' ').map_or(0, |last| last + 1);
    &text[..end]
}
