//! Storage bytes: what a record holds for one column that is not NULL. Final, on disk.
//!
//! Fixed width (all integers little-endian):
//!
//! | SIZE | TYPE | FIELD |
//! |---|---|---|
//! | 1, 2, 3, 4, 8 | TINYINT, SMALLINT, MEDIUMINT, INT, BIGINT | the number, two's complement unless UNSIGNED |
//! | 4, 8 | FLOAT, DOUBLE | IEEE 754 |
//! | [`decimal_width`] | DECIMAL(p,s) | value * 10^s, two's complement |
//! | (n + 7) / 8 | BIT(n) | the bits, unsigned |
//! | 1 | YEAR | 0, or year - 1900 |
//! | 3 | DATE | `year << 9 \| month << 5 \| day` |
//! | [`time_width`] | TIME(f) | value * 10^f seconds, two's complement |
//! | 5 + (f + 1) / 2 | DATETIME(f) | `ym << 22 \| day << 17 \| hour << 12 \| minute << 6 \| second`, `ym = year * 13 + month`; then the fraction |
//! | 4 + (f + 1) / 2 | TIMESTAMP(f) | seconds since 1970 UTC, unsigned, 0 = zero date; then the fraction |
//! | 1, 2 | ENUM | 1-based index, 0 = refused value; 2 bytes from 256 members on |
//! | 1, 2, 3, 4, 8 | SET | bit i = member i |
//! | n | BINARY(n) | the bytes, padded with zero bytes |
//!
//! A fraction is an unsigned number of 1/100 (f = 1, 2), 1/10000 (3, 4) or 1/1000000 (5, 6) seconds in 1, 2
//! or 3 bytes.
//!
//! Variable length: CHAR (trailing spaces trimmed), VARCHAR, VARBINARY, TEXT, BLOB: the bytes in the column's
//! character set.

mod check;
mod member;
mod number;
mod plain;
mod problem;
mod read;
mod store;
mod string;
mod temporal;

pub use check::ValueRule;
pub use number::round_to_scale;
pub use plain::{PlainKind, store_plain};
pub use problem::{Problem, StoreContext, StoreError, StoreNote};
pub use read::read;
pub(crate) use read::{
    read_datetime, read_int, read_time, read_timestamp, read_uint, read_year, write_decimal_text,
};
pub use store::{store, store_int_literal, store_text};
pub use temporal::odd_delimiter;

use crate::{SqlType, TypeKind};

/// Bytes of every value of `ty`; `None` if the length varies from value to value. A bare NULL type has none.
pub fn fixed_width(ty: &SqlType) -> Option<usize> {
    Some(match ty.kind {
        TypeKind::Null => 0,
        TypeKind::TinyInt | TypeKind::Year => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt | TypeKind::Date => 3,
        TypeKind::Int | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double => 8,
        TypeKind::Decimal => decimal_width(ty.length),
        TypeKind::Bit => (ty.length as usize).div_ceil(8),
        TypeKind::Time => time_width(ty.decimals),
        TypeKind::DateTime => 5 + fraction_width(ty.decimals),
        TypeKind::Timestamp => 4 + fraction_width(ty.decimals),
        TypeKind::Enum => enum_width(ty),
        TypeKind::Set => set_width(ty),
        TypeKind::Binary => ty.length as usize,
        TypeKind::Char | TypeKind::VarChar | TypeKind::VarBinary | TypeKind::Text(_) | TypeKind::Blob(_) => {
            return None;
        }
    })
}

/// Whether values of the integer type `old` become ones of `new` by more bytes of their sign alone.
pub fn is_widened(old: &SqlType, new: &SqlType) -> bool {
    let is_integer = old.is_integer() && new.is_integer();
    is_integer && old.unsigned == new.unsigned && fixed_width(old) < fixed_width(new)
}

/// An integer of at most 8 storage bytes with all of its sign's: the first of them are its storage bytes in a
/// wider type.
#[inline]
pub fn widened(narrow: &[u8], signed: bool) -> [u8; 8] {
    let is_negative = signed && narrow.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if is_negative { 0xff } else { 0 }; 8];
    wide[..narrow.len()].copy_from_slice(narrow);
    wide
}

/// Most bytes a value of `ty` may have.
pub fn max_width(ty: &SqlType) -> u64 {
    match ty.kind {
        TypeKind::Char | TypeKind::VarChar => u64::from(ty.length) * u64::from(ty.max_char_bytes()),
        TypeKind::VarBinary => u64::from(ty.length),
        TypeKind::Text(size) | TypeKind::Blob(size) => size.max_bytes(),
        _ => fixed_width(ty).unwrap_or(0) as u64,
    }
}

/// Bytes of a DECIMAL of `precision` digits: the fewest whose two's complement holds them.
pub(crate) fn decimal_width(precision: u32) -> usize {
    // Bits of 10^p - 1, one for the sign.
    const WIDTHS: [u8; 66] = {
        let mut table = [1u8; 66];
        let mut p = 1;
        while p <= 65 {
            // log2(10) = 3.321928094887...; no power of ten up to 10^65 is close enough to a power of two to
            // matter.
            let bits = (p as u64 * 3_321_928_095).div_ceil(1_000_000_000) + 1;
            table[p] = bits.div_ceil(8) as u8;
            p += 1;
        }
        table
    };
    usize::from(WIDTHS[precision.min(65) as usize])
}

/// Bytes of a TIME with `fsp` fraction digits: 3, 4, 4, 5, 5, 5, 6.
pub(crate) fn time_width(fsp: u8) -> usize {
    [3, 4, 4, 5, 5, 5, 6][usize::from(fsp.min(6))]
}

/// Bytes of the fraction of a DATETIME or TIMESTAMP.
pub fn fraction_width(fsp: u8) -> usize {
    usize::from(fsp.min(6)).div_ceil(2)
}

/// Microseconds in one unit of the stored fraction of a DATETIME or TIMESTAMP of `fsp` digits.
pub fn fraction_unit_of(fsp: u8) -> u32 {
    fraction_unit(fraction_width(fsp))
}

/// Microseconds in one unit of a stored TIME of `fsp` digits.
pub fn time_unit_of(fsp: u8) -> i64 {
    crate::temporal::unit_of(fsp)
}

/// Microseconds in one unit of a stored fraction.
const fn fraction_unit(width: usize) -> u32 {
    [1_000_000, 10_000, 100, 1][width]
}

fn enum_width(ty: &SqlType) -> usize {
    if ty.member_count() < 256 { 1 } else { 2 }
}

fn set_width(ty: &SqlType) -> usize {
    match ty.member_count().div_ceil(8) {
        0 => 1,
        bytes @ 1..=4 => bytes,
        _ => 8,
    }
}

#[cfg(test)]
mod tests;
