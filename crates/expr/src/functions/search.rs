//! Searches under a collation.

use std::cmp::Ordering;

use types::Value;
use types::collation::{Collation, LikePattern};

use super::byte_search::Places;
use super::pieces::{PIECE_BYTES, STEPS_BETWEEN_LOOKS};
use super::{Call, some};
use crate::build::{Class, class_of, is_number, is_text};
use crate::compare::truth;
use crate::{EvalCtx, EvalError, ExprKind};

/// Characters compared between two checks whether the statement is to end, at most.
const WORK_BETWEEN_LOOKS: usize = 1 << 15;
/// Bytes of a text from which on folding it, to search for bytes, costs less than comparing at each
/// character.
const FOLDED_BYTES_MIN: usize = 1 << 12;

/// INSTR(text, wanted)
pub(crate) fn instr<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, wanted) = (some!(call.text(0)), some!(call.text(1)));
    Ok(Value::Int(place_of(call.ctx, common(call), wanted, text, 0)?))
}

/// LOCATE(wanted, text), LOCATE(wanted, text, from)
pub(crate) fn locate<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, wanted) = (some!(call.text(1)), some!(call.text(0)));
    let from = if call.args.len() > 2 { some!(call.count(2)) } else { 1 };
    let Ok(skipped) = usize::try_from(from.saturating_sub(1)) else { return Ok(Value::Int(0)) };
    Ok(Value::Int(place_of(call.ctx, common(call), wanted, text, skipped)?))
}

/// The collation of both texts; of the one that is a text if the other is a number.
fn common(call: &Call<'_>) -> &'static Collation {
    let texts = call.args.iter().position(|e| class_of(e) == Class::Text);
    call.collation_of(texts.unwrap_or(0))
}

/// The 1-based character at which `wanted` first occurs in `text` after `skipped` characters; 0 if it does
/// not. As in MySQL, what is found may have another length than `wanted`, but is not empty.
fn place_of(
    ctx: &EvalCtx<'_>,
    collation: &'static Collation,
    wanted: &[u8],
    text: &[u8],
    skipped: usize,
) -> Result<i64, EvalError> {
    let charset = collation.charset;
    if skipped > ctx.char_len(charset, text)? {
        return Ok(0);
    }
    if wanted.is_empty() {
        return Ok(skipped as i64 + 1);
    }
    let mut at = ctx.byte_offset_of_char(charset, text, skipped)?;
    if text.len() - at >= FOLDED_BYTES_MIN {
        match place_of_folded(ctx, collation, wanted, &text[at..])? {
            Place::At(place) => {
                return Ok((skipped + ctx.char_len(charset, &text[at..at + place])?) as i64 + 1);
            }
            Place::Nowhere => return Ok(0),
            Place::Unknown => {}
        }
    }
    // Characters without a weight are compared beyond those of `wanted`.
    let between_looks = (WORK_BETWEEN_LOOKS / text.len().max(1)).max(1);
    let mut place = skipped;
    while at < text.len() {
        if (place - skipped) % between_looks == between_looks - 1 {
            ctx.fail_if_killed_over(text)?;
        }
        if collation.starts_with(&text[at..], wanted) {
            ctx.fail_if_killed_over(text)?;
            return Ok(place as i64 + 1);
        }
        at += charset.first_char_bytes(&text[at..]);
        place += 1;
    }
    Ok(0)
}

/// Where a search for bytes finds a text.
enum Place {
    At(usize),
    Nowhere,
    /// The collation does not compare these texts byte by byte.
    Unknown,
}

impl From<Option<usize>> for Place {
    fn from(place: Option<usize>) -> Place {
        place.map_or(Place::Nowhere, Place::At)
    }
}

/// The byte at which `wanted` first occurs in a long `text`, by a search for folded bytes.
fn place_of_folded(
    ctx: &EvalCtx<'_>,
    collation: &'static Collation,
    wanted: &[u8],
    text: &[u8],
) -> Result<Place, EvalError> {
    if collation.is_binary() {
        return Ok(Places::from_front(ctx, text, wanted).next()?.into());
    }
    let fold = |text: &[u8]| -> Result<Option<Vec<u8>>, EvalError> {
        ctx.reserve(text.len())?;
        let mut out = Vec::with_capacity(text.len());
        for piece in text.chunks(PIECE_BYTES) {
            ctx.fail_if_killed_over(piece)?;
            if !collation.append_folded(piece, &mut out) {
                return Ok(None);
            }
        }
        Ok(Some(out))
    };
    let Some(wanted) = fold(wanted)? else { return Ok(Place::Unknown) };
    let Some(text) = fold(text)? else { return Ok(Place::Unknown) };
    Ok(Places::from_front(ctx, &text, &wanted).next()?.into())
}

/// FIND_IN_SET(wanted, 'a,b,c')
pub(crate) fn find_in_set<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (wanted, list) = (some!(call.text(0)), some!(call.text(1)));
    if let Some(place) = place_among_members(call, wanted)? {
        return Ok(Value::Int(place));
    }
    if list.is_empty() || wanted.contains(&b',') {
        return Ok(Value::Int(0));
    }
    let collation = common(call);
    let mut end_of_step = PIECE_BYTES;
    let mut end = 0;
    for (i, member) in list.split(|b| *b == b',').enumerate() {
        let is_it = collation.equals(member, wanted);
        end += member.len() + 1;
        if end > end_of_step || i % STEPS_BETWEEN_LOOKS == STEPS_BETWEEN_LOOKS - 1 {
            call.ctx.fail_if_killed()?;
            end_of_step = end + PIECE_BYTES;
        }
        if is_it {
            return Ok(Value::Int(i as i64 + 1));
        }
    }
    Ok(Value::Int(0))
}

/// The place of a constant in the type of a SET column, whose value has it or not (0); `None` if there is no
/// such column or the type does not know it.
fn place_among_members(call: &Call<'_>, wanted: &[u8]) -> Result<Option<i64>, EvalError> {
    if !matches!(call.args[1].kind, ExprKind::Column(_)) {
        return Ok(None);
    }
    let Value::Set { mask, members, .. } = call.value(1)? else { return Ok(None) };
    let mut varies = false;
    call.args[0].walk(&mut |e| {
        varies |= matches!(e.kind, ExprKind::Column(_) | ExprKind::Subquery { .. });
    });
    if varies {
        return Ok(None);
    }
    let place = members.iter().position(|member| member.eq_ignore_ascii_case(wanted));
    Ok(place.map(|at| if mask >> at & 1 == 1 { at as i64 + 1 } else { 0 }))
}

/// LIKE with an escape character that is computed: a text of one character, or none.
pub(crate) fn like_escape<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, pattern) = (some!(call.text(0)), some!(call.text(1)));
    let escape = match call.text(2)? {
        // NULL is no escape character, so that the usual one stays.
        None => Some('\\'),
        Some(escape) => escape_char(escape)?,
    };
    let collation = common(call);
    let matched = match call.ctx.subqueries.patterns() {
        Some(memo) => memo.matches(text, pattern, escape, collation.id),
        None => LikePattern::new(pattern, escape.map(u32::from), collation).matches(text),
    };
    call.ctx.fail_if_killed_over(text)?;
    Ok(truth(Some(matched)))
}

fn escape_char(text: &[u8]) -> Result<Option<char>, EvalError> {
    let wrong = EvalError::WrongArgument { function: "ESCAPE" };
    let text = std::str::from_utf8(text).map_err(|_| wrong.clone())?;
    let mut chars = text.chars();
    let first = chars.next();
    if chars.next().is_some() { Err(wrong) } else { Ok(first) }
}

/// STRCMP: beside a number texts are compared byte by byte.
pub(crate) fn strcmp<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (a, b) = (some!(call.text(0)), some!(call.text(1)));
    let order = if call.args.iter().any(|e| is_number(e) && !is_text(e)) {
        a.cmp(b)
    } else {
        common(call).compare(a, b)
    };
    call.ctx.fail_if_killed_over(a)?;
    call.ctx.fail_if_killed_over(b)?;
    Ok(Value::Int(match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }))
}
