//! Values that every mode and every zone stores alike, without a message: most of what clients send.

use base::codec::push_short;

use super::{number, string};
use crate::temporal::date::days_in_month;
use crate::{Date, DateTime, SqlType, TypeKind, Value};

/// Digits of an integer's text, at most: whatever they are, the number fits 64 bits.
const DIGITS_MAX: usize = 18;

/// [`super::store`] of what needs no conversion, or one that is certain: an integer that an integer column
/// holds, as a number or its digits; ASCII text that a column of characters has room for; the usual text of
/// an ordinary day or moment. False: it is something else, and nothing was appended.
#[inline]
pub fn store_plain(ty: &SqlType, value: &Value<'_>, out: &mut Vec<u8>) -> bool {
    let mut room = [0; 8];
    let plain = PlainKind::of(ty).bytes(value, &mut room);
    if let Some(bytes) = plain {
        push_short(out, bytes);
    }
    plain.is_some()
}

/// What [`store_plain`] stores in a column, decided by its type once for many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainKind {
    /// Integers of this number of bytes.
    Signed(u32),
    /// Unsigned integers of this number of bytes.
    Unsigned(u32),
    /// ASCII text of at most this number of bytes that does not end with a space.
    Text(u32),
    /// `YYYY-MM-DD`, no part of it 0.
    Date,
    /// `YYYY-MM-DD hh:mm:ss`, no part of the date 0.
    DateTime,
    /// Nothing.
    Nothing,
}

impl PlainKind {
    /// That of a column.
    #[inline]
    pub fn of(ty: &SqlType) -> Self {
        match ty.kind {
            _ if ty.is_integer() && ty.unsigned => PlainKind::Unsigned(number::integer_bytes(ty)),
            _ if ty.is_integer() => PlainKind::Signed(number::integer_bytes(ty)),
            TypeKind::Char | TypeKind::VarChar => PlainKind::Text(ty.length),
            TypeKind::Date => PlainKind::Date,
            TypeKind::DateTime if ty.decimals == 0 => PlainKind::DateTime,
            _ => PlainKind::Nothing,
        }
    }

    /// The storage bytes of such a value, text where it is and others in `room`. `None`: it is something
    /// else.
    #[inline(always)]
    pub fn bytes<'b>(self, value: &Value<'b>, room: &'b mut [u8; 8]) -> Option<&'b [u8]> {
        match (self, value) {
            (PlainKind::Signed(bytes), &Value::Int(value)) if number::fits_signed(value, bytes) => {
                *room = value.to_le_bytes();
                room.get(..bytes as usize)
            }
            (PlainKind::Unsigned(bytes), &Value::Int(value)) if number::fits_unsigned(value, bytes) => {
                *room = value.to_le_bytes();
                room.get(..bytes as usize)
            }
            (_, Value::Bytes { data, .. }) => self.bytes_of_text(data, room),
            _ => None,
        }
    }

    /// [`PlainKind::bytes`] of a text.
    #[inline(always)]
    pub fn bytes_of_text<'b>(self, text: &'b [u8], room: &'b mut [u8; 8]) -> Option<&'b [u8]> {
        match self {
            PlainKind::Text(bytes_max) => string::is_plain(text, bytes_max).then_some(text),
            _ => self.read_text(text, room),
        }
    }

    /// The storage bytes of a text for a column of numbers or moments.
    #[inline(never)]
    fn read_text<'b>(self, text: &[u8], room: &'b mut [u8; 8]) -> Option<&'b [u8]> {
        let (stored, len) = match self {
            PlainKind::Signed(bytes) => {
                (integer(text).filter(|&v| number::fits_signed(v, bytes))? as u64, bytes as usize)
            }
            PlainKind::Unsigned(bytes) => {
                (integer(text).filter(|&v| number::fits_unsigned(v, bytes))? as u64, bytes as usize)
            }
            PlainKind::Date => (date(text.try_into().ok()?)?.packed().into(), 3),
            PlainKind::DateTime => (moment(text.try_into().ok()?)?.packed_seconds(), 5),
            PlainKind::Text(_) | PlainKind::Nothing => return None,
        };
        *room = stored.to_le_bytes();
        room.get(..len)
    }
}

/// A number of some digits, perhaps below 0.
#[inline]
fn integer(text: &[u8]) -> Option<i64> {
    let (digits, is_negative) = match text {
        [b'-', digits @ ..] => (digits, true),
        digits => (digits, false),
    };
    if digits.is_empty() || digits.len() > DIGITS_MAX {
        return None;
    }
    let mut number = 0;
    for &byte in digits {
        number = number * 10 + digit(byte)?;
    }
    // Unsigned columns and others differ in what they make of -0.
    match (is_negative, number) {
        (true, 0) => None,
        (true, number) => Some(-number),
        (false, number) => Some(number),
    }
}

#[inline]
fn digit(byte: u8) -> Option<i64> {
    let digit = byte.wrapping_sub(b'0');
    (digit < 10).then_some(digit.into())
}

#[inline]
fn two(tens: u8, ones: u8) -> Option<u8> {
    Some((digit(tens)? * 10 + digit(ones)?) as u8)
}

#[inline]
fn date(text: &[u8; 10]) -> Option<Date> {
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = text else { return None };
    let year = u16::from(two(y0, y1)?) * 100 + u16::from(two(y2, y3)?);
    let (month, day) = (two(m0, m1)?, two(d0, d1)?);
    let is_ordinary =
        year > 0 && (1..=12).contains(&month) && day > 0 && (day <= 28 || day <= days_in_month(year, month));
    is_ordinary.then(|| Date::new(year, month, day))
}

#[inline]
fn moment(text: &[u8; 19]) -> Option<DateTime> {
    let (day, rest) = text.split_first_chunk::<10>()?;
    let &[b' ', h0, h1, b':', m0, m1, b':', s0, s1] = rest else { return None };
    let (hour, minute, second) = (two(h0, h1)?, two(m0, m1)?, two(s0, s1)?);
    let day = date(day)?;
    (hour < 24 && minute < 60 && second < 60).then(|| DateTime::new(day, hour, minute, second, 0))
}
