//! TRIM, LPAD, RPAD, REPEAT, SPACE.

use types::Value;

use super::pieces::PIECE_BYTES;
use super::{Call, some};
use crate::EvalError;

/// TRIM, TRIM(BOTH ..)
pub(crate) fn trim_both<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    trim(call, true, true)
}

/// LTRIM, TRIM(LEADING ..)
pub(crate) fn trim_leading<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    trim(call, true, false)
}

/// RTRIM, TRIM(TRAILING ..)
pub(crate) fn trim_trailing<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    trim(call, false, true)
}

fn trim<'v>(call: &Call<'v>, leading: bool, trailing: bool) -> Result<Value<'v>, EvalError> {
    let mut text = some!(call.text(0));
    let remove = if call.args.len() > 1 { some!(call.text(1)) } else { b" " };
    if remove.is_empty() {
        return Ok(call.text_value(text));
    }
    let mut looks = Looks::new(call, remove);
    while let (true, Some(rest)) = (leading, text.strip_prefix(remove)) {
        text = rest;
        looks.step()?;
    }
    // In UTF-8 no character ends in the bytes of another, so the end of a text can be cut as bytes.
    while let (true, Some(rest)) = (trailing, text.strip_suffix(remove)) {
        text = rest;
        looks.step()?;
    }
    Ok(call.text_value(text))
}

/// Looks at the kill flag after each [`PIECE_BYTES`] that are cut off.
struct Looks<'c, 'v> {
    call: &'c Call<'v>,
    steps: usize,
    left: usize,
}

impl<'c, 'v> Looks<'c, 'v> {
    fn new(call: &'c Call<'v>, remove: &[u8]) -> Self {
        let steps = PIECE_BYTES / remove.len() + 1;
        Looks { call, steps, left: steps }
    }

    fn step(&mut self) -> Result<(), EvalError> {
        self.left -= 1;
        if self.left > 0 {
            return Ok(());
        }
        self.left = self.steps;
        self.call.ctx.fail_if_killed()
    }
}

/// LPAD
pub(crate) fn left<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    pad(call, true)
}

/// RPAD
pub(crate) fn right<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    pad(call, false)
}

fn pad<'v>(call: &Call<'v>, at_left: bool) -> Result<Value<'v>, EvalError> {
    // As in MySQL the length is not read beside NULL.
    let (text, fill, length) = (some!(call.text(0)), some!(call.text(2)), some!(call.count(1)));
    let Ok(length) = usize::try_from(length) else { return Ok(Value::Null) };
    let present = call.char_len(text)?;
    if length <= present {
        return Ok(call.text_value(&text[..call.byte_offset_of_char(text, length)?]));
    }
    // MySQL takes each character for the longest of the character set.
    let bytes_max = (length as u64).saturating_mul(u64::from(call.ty().max_char_bytes()));
    if !call.fits_packet(bytes_max)? {
        return Ok(Value::Null);
    }
    let fill_length = call.char_len(fill)?;
    if fill_length == 0 {
        return Ok(call.text_value(text));
    }
    let missing = length - present;
    let (whole, part) = (missing / fill_length, missing % fill_length);
    let part = &fill[..call.byte_offset_of_char(fill, part)?];
    let nothing: &[u8] = &[];
    let (before, after) = if at_left { (nothing, [part, text]) } else { (text, [part, nothing]) };
    Ok(call.text_value(call.ctx.repeated(before, (fill, whole), after)?))
}

/// REPEAT
pub(crate) fn repeat<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, count) = (some!(call.text(0)), some!(call.count(1)));
    let count = count.max(0) as u64;
    if text.is_empty() || count == 0 {
        return Ok(call.text_value(&[]));
    }
    if !call.fits_packet(count.saturating_mul(text.len() as u64))? {
        return Ok(Value::Null);
    }
    Ok(call.text_value(call.ctx.repeated(&[], (text, count as usize), [&[], &[]])?))
}

/// SPACE
pub(crate) fn space<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let count = some!(call.count(0)).max(0) as u64;
    if !call.fits_packet(count)? {
        return Ok(Value::Null);
    }
    Ok(call.text_value(call.ctx.filled(count as usize, |_| b' ')?))
}
