//! Assignment to ENUM and SET columns.

use std::borrow::Cow;

use super::problem::Fault;
use super::{enum_width, set_width};
use crate::collation::convert;
use crate::{CollationId, SqlType, Value};

pub(super) fn store_enum(ty: &SqlType, value: &Value<'_>, out: &mut Vec<u8>) -> Fault {
    let count = ty.member_count() as u64;
    // The index of a refused value is no mistake where a column holds it.
    if let Value::Enum { index: 0, .. } = value {
        out.extend_from_slice(&[0; 2][..enum_width(ty)]);
        return Fault::None;
    }
    let index = match textual(ty, value) {
        Some(text) => find_member(ty, trim_spaces(&text)).map(|i| i as u64 + 1).or_else(|| number(&text)),
        None => Some(number_of(value)),
    };
    let zero_is_meant = index == Some(0) && value.is_textual();
    let found = index.filter(|i| (1..=count).contains(i));
    let fault = if found.is_some() || zero_is_meant { Fault::None } else { Fault::Truncated };
    out.extend_from_slice(&found.unwrap_or(0).to_le_bytes()[..enum_width(ty)]);
    fault
}

pub(super) fn store_set(ty: &SqlType, value: &Value<'_>, out: &mut Vec<u8>) -> Fault {
    let count = ty.member_count() as u32;
    let all = if count == 0 { 0 } else { u64::MAX >> (64 - count.min(64)) };
    let (mask, fault) = if let Some(text) = textual(ty, value) {
        mask_of_text(ty, &text, all)
    } else {
        let wanted = number_of(value);
        (wanted & all, if wanted & !all == 0 { Fault::None } else { Fault::Truncated })
    };
    out.extend_from_slice(&mask.to_le_bytes()[..set_width(ty)]);
    fault
}

/// The members named in `text`, or, if it names none, the number it is.
fn mask_of_text(ty: &SqlType, text: &[u8], all: u64) -> (u64, Fault) {
    if text.is_empty() {
        return (0, Fault::None);
    }
    let (mut mask, mut unknown) = (0u64, false);
    for name in trim_spaces(text).split(|b| *b == b',') {
        match find_member(ty, name) {
            Some(i) => mask |= 1 << i,
            None => unknown = true,
        }
    }
    if !unknown {
        return (mask, Fault::None);
    }
    match number(text) {
        Some(bits) if mask == 0 && bits & !all == 0 => (bits, Fault::None),
        _ => (mask, Fault::Truncated),
    }
}

/// The text of a string or date, in the column's character set; `None` for numbers.
fn textual<'v>(ty: &SqlType, value: &Value<'v>) -> Option<Cow<'v, [u8]>> {
    if !value.is_textual() && !value.is_temporal() {
        return None;
    }
    let from = value.collation().and_then(CollationId::collation).map_or(ty.charset(), |c| c.charset);
    let text = if let Value::Bytes { data, .. } = *value {
        Cow::Borrowed(data)
    } else {
        let mut text = Vec::new();
        value.write_text(&mut text);
        Cow::Owned(text)
    };
    if from == ty.charset() || text.is_ascii() {
        return Some(text);
    }
    let mut converted = Vec::new();
    convert(from, ty.charset(), &text, &mut converted);
    Some(Cow::Owned(converted))
}

fn trim_spaces(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|b| *b != b' ').map_or(0, |last| last + 1);
    &text[..end]
}

/// Position of the member that equals `text` under the column's collation.
fn find_member(ty: &SqlType, text: &[u8]) -> Option<usize> {
    let members = ty.members.as_deref()?;
    match ty.collation.collation() {
        Some(collation) => members.iter().position(|member| collation.equals(member, text)),
        None => members.iter().position(|member| &**member == text),
    }
}

/// A text of digits only, as a number.
fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok().and_then(|digits| digits.parse().ok())
}

/// The number that indexes members: decimals are doubles, of which fractions are cut.
fn number_of(value: &Value<'_>) -> u64 {
    match *value {
        Value::Decimal(v) => v.to_f64() as i64 as u64,
        Value::Double(v) => v as i64 as u64,
        Value::Float(v) => v as i64 as u64,
        _ => value.to_u64().value,
    }
}
