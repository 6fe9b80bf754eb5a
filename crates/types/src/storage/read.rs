//! Storage bytes to values.

use super::{fraction_unit, fraction_width};
use crate::temporal::unit_of;
use crate::{Date, DateTime, Decimal, SqlType, Time, TimeZone, TypeKind, Value};

/// The value whose storage bytes are `bytes`, borrowing from them and (ENUM, SET) from `ty`. TIMESTAMP is
/// shown in `zone`. Cost: a few loads; DECIMAL and TIMESTAMP a little arithmetic; no allocation.
///
/// # Panics
/// If `bytes` is shorter than the type's fixed width.
pub fn read<'a>(ty: &'a SqlType, bytes: &'a [u8], zone: &TimeZone) -> Value<'a> {
    match ty.kind {
        TypeKind::Null => Value::Null,
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => {
            if ty.unsigned {
                Value::UInt(read_uint(bytes))
            } else {
                Value::Int(read_int(bytes))
            }
        }
        TypeKind::Float => Value::Float(f32::from_bits(base::codec::get_u32(bytes, 0))),
        TypeKind::Double => Value::Double(f64::from_bits(base::codec::get_u64(bytes, 0))),
        TypeKind::Decimal => Value::Decimal(read_decimal(bytes, ty.decimals)),
        TypeKind::Bit => Value::Bit { value: read_uint(bytes), bytes: bytes.len() as u8 },
        TypeKind::Char
        | TypeKind::VarChar
        | TypeKind::Binary
        | TypeKind::VarBinary
        | TypeKind::Text(_)
        | TypeKind::Blob(_) => Value::Bytes { data: bytes, collation: ty.collation },
        TypeKind::Date => Value::Date(Date::from_packed(read_uint(bytes) as u32)),
        TypeKind::Time => Value::Time(read_time(bytes, ty.decimals), ty.decimals),
        TypeKind::DateTime => Value::DateTime(read_datetime(bytes, ty.decimals), ty.decimals),
        TypeKind::Timestamp => Value::DateTime(read_timestamp(bytes, ty.decimals, zone), ty.decimals),
        TypeKind::Year => Value::Year(read_year(bytes[0])),
        TypeKind::Enum => match &ty.members {
            Some(members) => Value::Enum { index: read_uint(bytes) as u16, members, collation: ty.collation },
            None => Value::Null,
        },
        TypeKind::Set => match &ty.members {
            Some(members) => Value::Set { mask: read_uint(bytes), members, collation: ty.collation },
            None => Value::Null,
        },
    }
}

/// A two's complement little-endian integer of 1..=8 bytes.
#[inline]
pub(crate) fn read_int(bytes: &[u8]) -> i64 {
    match *bytes {
        [a] => i64::from(a as i8),
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => {
            let shift = 64 - 8 * bytes.len();
            ((read_uint(bytes) << shift) as i64) >> shift
        }
    }
}

/// An unsigned little-endian integer of 1..=8 bytes.
#[inline]
pub(crate) fn read_uint(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().rev().fold(0, |acc, b| acc << 8 | u64::from(*b)),
    }
}

fn read_decimal(bytes: &[u8], scale: u8) -> Decimal {
    if bytes.len() <= 8 {
        Decimal::from_i128(i128::from(read_int(bytes)), scale)
    } else {
        Decimal::from_units_le(bytes, scale)
    }
}

/// Appends the text of a DECIMAL. Cost: 15 ns up to 18 digits.
pub(crate) fn write_decimal_text(bytes: &[u8], scale: u8, out: &mut Vec<u8>) {
    if bytes.len() > 8 {
        return Decimal::from_units_le(bytes, scale).write_to(out);
    }
    let units = read_int(bytes);
    if units < 0 {
        out.push(b'-');
    }
    let (mut buffer, scale) = (itoa::Buffer::new(), usize::from(scale));
    let digits = buffer.format(units.unsigned_abs()).as_bytes();
    if digits.len() > scale {
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        out.extend_from_slice(whole);
        if scale > 0 {
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
    } else {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + scale - digits.len(), b'0');
        out.extend_from_slice(digits);
    }
}

/// A TIME of `fsp` digits.
#[inline]
pub(crate) fn read_time(bytes: &[u8], fsp: u8) -> Time {
    Time::from_micros_unchecked(read_int(bytes) * unit_of(fsp))
}

/// A DATETIME of `fsp` digits.
#[inline]
pub(crate) fn read_datetime(bytes: &[u8], fsp: u8) -> DateTime {
    let (seconds, fraction) = bytes.split_at(5);
    DateTime::from_packed(read_uint(seconds), read_fraction(fraction, fsp))
}

/// A TIMESTAMP of `fsp` digits, in `zone`.
#[inline]
pub(crate) fn read_timestamp(bytes: &[u8], fsp: u8, zone: &TimeZone) -> DateTime {
    let (seconds, fraction) = bytes.split_at(4);
    let (seconds, micro) = (read_uint(seconds), read_fraction(fraction, fsp));
    if seconds == 0 { DateTime::ZERO } else { zone.to_local(seconds as i64, micro) }
}

#[inline]
fn read_fraction(bytes: &[u8], fsp: u8) -> u32 {
    if bytes.is_empty() { 0 } else { read_uint(bytes) as u32 * fraction_unit(fraction_width(fsp)) }
}

/// A YEAR: 0, or 1900 and the byte.
#[inline]
pub(crate) fn read_year(byte: u8) -> u16 {
    if byte == 0 { 0 } else { 1900 + u16::from(byte) }
}
