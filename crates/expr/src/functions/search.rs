//! Searches under a collation.

use std::cmp::Ordering;

use base::sync::interrupt;
use types::Value;
use types::collation::Collation;

use super::{Call, some};
use crate::EvalError;

/// Characters compared between two looks whether the statement is to end.
const WORK_BETWEEN_LOOKS: usize = 1 << 15;

/// INSTR(text, wanted)
pub(crate) fn instr<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, wanted) = (some!(call.text(0)), some!(call.text(1)));
    let place = place_of(wanted, text, 0, common(call));
    call.ctx.fail_if_killed_over(text)?;
    Ok(Value::Int(place))
}

/// LOCATE(wanted, text), LOCATE(wanted, text, from)
pub(crate) fn locate<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (wanted, text) = (some!(call.text(0)), some!(call.text(1)));
    let from = if call.args.len() > 2 { some!(call.int(2)) } else { 1 };
    let Ok(skipped) = usize::try_from(from - 1) else { return Ok(Value::Int(0)) };
    let place = place_of(wanted, text, skipped, common(call));
    call.ctx.fail_if_killed_over(text)?;
    Ok(Value::Int(place))
}

/// The collation of both texts; of the one that is a text if the other is a number.
fn common(call: &Call<'_>) -> &'static Collation {
    use crate::build::{Class, class_of};
    let texts = call.args.iter().position(|e| class_of(e) == Class::Text);
    call.collation_of(texts.unwrap_or(0))
}

/// The 1-based character at which `wanted` first stands in `text` after `skipped` characters; 0 if it does not.
/// A match has as many characters as `wanted`. Once the statement is to end, the answer for a long text means nothing.
fn place_of(wanted: &[u8], text: &[u8], skipped: usize, collation: &Collation) -> i64 {
    let charset = collation.charset;
    let length = charset.char_len(wanted);
    let last = charset.char_len(text).checked_sub(length);
    let Some(last) = last.filter(|last| skipped <= *last) else { return 0 };
    let mut at = charset.byte_offset_of_char(text, skipped);
    let between_looks = (WORK_BETWEEN_LOOKS / (length + 1)).max(1);
    for place in skipped..=last {
        if (place - skipped) % between_looks == between_looks - 1 && interrupt::is_requested() {
            return 0;
        }
        let rest = &text[at..];
        let end = charset.byte_offset_of_char(rest, length);
        if collation.equals(&rest[..end], wanted) {
            return place as i64 + 1;
        }
        at += if rest.is_empty() { 0 } else { charset.first_char_bytes(rest) };
    }
    0
}

/// FIND_IN_SET(wanted, 'a,b,c')
pub(crate) fn find_in_set<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (wanted, list) = (some!(call.text(0)), some!(call.text(1)));
    if list.is_empty() || wanted.contains(&b',') {
        return Ok(Value::Int(0));
    }
    let collation = common(call);
    let place = list.split(|b| *b == b',').position(|member| collation.equals(member, wanted));
    Ok(Value::Int(place.map_or(0, |i| i as i64 + 1)))
}

/// STRCMP
pub(crate) fn strcmp<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (a, b) = (some!(call.text(0)), some!(call.text(1)));
    Ok(Value::Int(match common(call).compare(a, b) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }))
}
