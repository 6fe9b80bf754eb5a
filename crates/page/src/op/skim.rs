//! Skimming: finding out whose a change is and where it ends, without reading what it does.

use base::PageNo;
use base::codec::{take, take_varint};

use super::OpError;
use super::codec::{WRITE_BYTES, take_page_no};

/// What an encoding consists of after its kind: numbers, then byte strings, each after its length, the last
/// of them perhaps one that may be missing: its length plus one.
struct Shape {
    ints: u8,
    strings: u8,
    optional: bool,
}

/// By kind; the first is that of kind 1.
const SHAPES: [Shape; 22] = [
    shape(7, 1, true),
    shape(4, 0, false),
    shape(2, 2, false),
    shape(2, 1, false),
    shape(0, 1, false),
    shape(1, 0, false),
    shape(1, 0, false),
    shape(1, 1, false),
    shape(2, 1, false),
    shape(2, 0, false),
    shape(2, 0, false),
    shape(1, 0, false),
    shape(2, 0, false),
    shape(1, 0, false),
    shape(1, 0, false),
    shape(0, 1, true),
    shape(0, 0, false),
    shape(0, 2, false),
    shape(1, 1, false),
    shape(1, 1, false),
    shape(2, 2, false),
    shape(1, 2, false),
];

const fn shape(ints: u8, strings: u8, optional: bool) -> Shape {
    Shape { ints, strings, optional }
}

/// As [`super::decode_change`], but of the operation only whether it is a [`super::PageOp::WriteBytes`].
/// Numbers are not checked for their ranges.
///
/// # Errors
/// A kind that there is not, or a change that is cut off.
#[inline]
pub fn skim_change(from: &mut &[u8]) -> Result<(PageNo, bool), OpError> {
    let page = take_page_no(from)?;
    let kind = skim(from).ok_or(OpError::Malformed)?;
    Ok((page, kind == WRITE_BYTES))
}

#[inline]
fn skim(from: &mut &[u8]) -> Option<u8> {
    let (&kind, rest) = from.split_first()?;
    let shape = SHAPES.get(usize::from(kind).checked_sub(1)?)?;
    *from = rest;
    for _ in 0..shape.ints {
        skip_int(from)?;
    }
    for _ in 0..shape.strings {
        let len = take_varint(from)?;
        take(from, usize::try_from(len).ok()?)?;
    }
    if shape.optional {
        let len = take_varint(from)?.saturating_sub(1);
        take(from, usize::try_from(len).ok()?)?;
    }
    Some(kind)
}

#[inline]
fn skip_int(from: &mut &[u8]) -> Option<()> {
    let last = from.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    *from = &from[last + 1..];
    Some(())
}
