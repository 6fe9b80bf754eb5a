//! The values that expressions compute with.
//!
//! [`Value`] borrows its bytes from a record, a packet or an arena; [`OwnedValue`] is the same with its own
//! bytes, for constants, parameters and variables. Conversions follow MySQL and say what was lost; the caller
//! decides whether that is a warning or an error.

pub(crate) mod digits;
mod message;
mod number;
pub(crate) mod number_text;
mod owned;
mod temporal;

use std::cmp::Ordering;
use std::sync::Arc;

pub use message::{bytes_for_message, text_for_message};
pub use number::{Converted, Loss, double_prefix, integer_prefix, round_text_to_i128};
pub use number_text::{write_double, write_double_fixed, write_double_within};
pub use owned::OwnedValue;

use crate::{CollationId, Date, DateTime, Decimal, Time};

/// Members of an ENUM or SET type, shared with its [`crate::SqlType`].
pub type Members = Arc<[Box<[u8]>]>;

/// One SQL value. `Copy`, 48 bytes.
///
/// ENUM, SET, BIT and YEAR keep their nature because it depends on the context which of their two faces
/// shows: text ([`Value::write_text`]) or number ([`Value::to_i64`] and the others).
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// Signed integer.
    Int(i64),
    /// Unsigned integer.
    UInt(u64),
    /// DOUBLE.
    Double(f64),
    /// FLOAT; differs from DOUBLE in its text (6 digits).
    Float(f32),
    /// DECIMAL.
    Decimal(Decimal),
    /// A string of characters, or of bytes if `collation` is `binary`.
    Bytes {
        /// The bytes, in the collation's character set.
        data: &'a [u8],
        /// How it compares.
        collation: CollationId,
    },
    /// DATE.
    Date(Date),
    /// TIME, and how many fraction digits its text shows.
    Time(Time, u8),
    /// DATETIME, or TIMESTAMP in the session's zone, and how many fraction digits its text shows.
    DateTime(DateTime, u8),
    /// YEAR: 0 or 1901..=2155.
    Year(u16),
    /// BIT(n).
    Bit {
        /// The bits.
        value: u64,
        /// Bytes of its text: n / 8 rounded up. Above 8: the greatest number that a column takes of a literal
        /// with more bits.
        bytes: u8,
    },
    /// ENUM.
    Enum {
        /// 1-based; 0 is the empty string of a refused value.
        index: u16,
        /// The type's members.
        members: &'a Members,
        /// How its text compares.
        collation: CollationId,
    },
    /// SET.
    Set {
        /// Bit i stands for member i.
        mask: u64,
        /// The type's members.
        members: &'a Members,
        /// How its text compares.
        collation: CollationId,
    },
}

const _: () = assert!(size_of::<Value<'_>>() <= 48);

impl<'a> Value<'a> {
    /// A string.
    #[inline]
    pub const fn text(data: &'a [u8], collation: CollationId) -> Value<'a> {
        Value::Bytes { data, collation }
    }

    /// A string of bytes.
    #[inline]
    pub const fn binary(data: &'a [u8]) -> Value<'a> {
        Value::Bytes { data, collation: CollationId::BINARY }
    }

    /// Whether this is NULL.
    #[inline]
    pub const fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether comparisons and arithmetic see a string: strings, ENUM and SET.
    pub const fn is_textual(&self) -> bool {
        matches!(self, Value::Bytes { .. } | Value::Enum { .. } | Value::Set { .. })
    }

    /// DATE, TIME or DATETIME.
    pub const fn is_temporal(&self) -> bool {
        matches!(self, Value::Date(_) | Value::Time(..) | Value::DateTime(..))
    }

    /// The collation of a string's comparison; `binary` for BIT, `None` for numbers, dates and NULL.
    pub const fn collation(&self) -> Option<CollationId> {
        match self {
            Value::Bytes { collation, .. } | Value::Enum { collation, .. } | Value::Set { collation, .. } => {
                Some(*collation)
            }
            Value::Bit { .. } => Some(CollationId::BINARY),
            _ => None,
        }
    }

    /// Bytes on the heap of the value's owned form, beside shared ones.
    #[inline]
    pub const fn heap_bytes(&self) -> usize {
        if let Value::Bytes { data, .. } = self { data.len() } else { 0 }
    }

    /// Most bytes that [`Value::write_text`] appends.
    pub fn text_bytes_max(&self) -> usize {
        /// Longest text of a number or a date: a DECIMAL of 65 digits, a DOUBLE without an exponent.
        const SHORT_BYTES_MAX: usize = 400;
        match self {
            Value::Bytes { data, .. } => data.len(),
            Value::Enum { index, members, .. } => enum_text(*index, members).len(),
            Value::Set { members, .. } => members.iter().map(|member| member.len() + 1).sum(),
            _ => SHORT_BYTES_MAX,
        }
    }

    /// Appends the value's text in a string context: what CONCAT sees. Nothing for NULL.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        match *self {
            Value::Null => {}
            Value::Int(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
            Value::UInt(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
            Value::Double(v) => write_double(v, out),
            Value::Float(v) => number_text::write_float(v, out),
            Value::Decimal(v) => v.write_to(out),
            Value::Bytes { data, .. } => out.extend_from_slice(data),
            Value::Date(v) => v.write_to(out),
            Value::Time(v, fsp) => v.write_to(fsp, out),
            Value::DateTime(v, fsp) => v.write_to(fsp, out),
            Value::Year(v) => write_year(v, out),
            Value::Bit { value, bytes } => {
                out.extend_from_slice(&value.to_be_bytes()[8 - usize::from(bytes.min(8))..]);
            }
            Value::Enum { index, members, .. } => out.extend_from_slice(enum_text(index, members)),
            Value::Set { mask, members, .. } => write_set(mask, members, out),
        }
    }

    /// The value's text: borrowed where it exists as bytes, else written to `scratch` (whose former content
    /// is lost).
    pub fn as_text<'b>(&self, scratch: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        match *self {
            Value::Bytes { data, .. } => data,
            Value::Enum { index, members, .. } => enum_text(index, members),
            _ => {
                scratch.clear();
                self.write_text(scratch);
                scratch
            }
        }
    }

    /// Order of two values of one kind, strings by bytes; `None` for NULL or different kinds. Int and UInt
    /// are one kind.
    pub(crate) fn cmp_same_kind(&self, other: &Value<'_>) -> Option<Ordering> {
        Some(match (self, other) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
            (Value::Int(a), Value::UInt(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (Value::UInt(a), Value::Int(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b)?,
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b)?,
            (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
            (Value::Bytes { data: a, .. }, Value::Bytes { data: b, .. }) => a.cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::Time(a, _), Value::Time(b, _)) => a.cmp(b),
            (Value::DateTime(a, _), Value::DateTime(b, _)) => a.cmp(b),
            (Value::Year(a), Value::Year(b)) => a.cmp(b),
            (Value::Bit { value: a, .. }, Value::Bit { value: b, .. }) => a.cmp(b),
            (Value::Enum { index: a, .. }, Value::Enum { index: b, .. }) => a.cmp(b),
            (Value::Set { mask: a, .. }, Value::Set { mask: b, .. }) => a.cmp(b),
            _ => return None,
        })
    }
}

impl PartialEq for Value<'_> {
    /// Same kind and same value, strings by bytes; NULL equals NULL. SQL's `=` is elsewhere.
    fn eq(&self, other: &Self) -> bool {
        (self.is_null() && other.is_null()) || self.cmp_same_kind(other) == Some(Ordering::Equal)
    }
}

/// Text of an ENUM value; empty for index 0 and for an index past the members.
#[inline]
pub(crate) fn enum_text(index: u16, members: &[Box<[u8]>]) -> &[u8] {
    members.get(usize::from(index).wrapping_sub(1)).map_or(&[], |member| member)
}

/// Appends the text of a SET value: its members, parted by commas.
pub(crate) fn write_set(mut mask: u64, members: &[Box<[u8]>], out: &mut Vec<u8>) {
    let mut first = true;
    while mask != 0 {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        if let Some(member) = members.get(bit) {
            if !first {
                out.push(b',');
            }
            first = false;
            out.extend_from_slice(member);
        }
    }
}

/// Appends a YEAR: four digits.
#[inline]
pub(crate) fn write_year(year: u16, out: &mut Vec<u8>) {
    let digit = |unit: u16| b'0' + (year / unit % 10) as u8;
    out.extend_from_slice(&[digit(1000), digit(100), digit(10), digit(1)]);
}

#[cfg(test)]
mod tests;
