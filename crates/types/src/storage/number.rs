//! Assignment to numeric columns.

use super::fixed_width;
use super::problem::{Fault, StoreContext};
use crate::decimal::PRECISION_MAX;
use crate::value::{Loss, double_prefix, round_text_to_i128};
use crate::{Decimal, SqlType, TypeKind, Value};

/// Largest integer of `bits` bits, and the smallest.
fn integer_range(bytes: usize, unsigned: bool) -> (i128, i128) {
    let bits = 8 * bytes as u32;
    if unsigned { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}

fn push_le(value: u64, bytes: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_le_bytes()[..bytes]);
}

/// Appends `value` to an integer column if it is in range.
#[inline]
pub(super) fn push_if_fits(ty: &SqlType, value: i64, out: &mut Vec<u8>) -> bool {
    let width = fitting_width(ty, value);
    if let Some(width) = width {
        push_le(value as u64, width, out);
    }
    width.is_some()
}

/// Bytes of an integer column whose range has `value`.
#[inline]
fn fitting_width(ty: &SqlType, value: i64) -> Option<usize> {
    let bytes = integer_bytes(ty);
    let fits = if ty.unsigned { fits_unsigned(value, bytes) } else { fits_signed(value, bytes) };
    fits.then_some(bytes as usize)
}

/// Bytes of an integer column.
#[inline]
pub(super) fn integer_bytes(ty: &SqlType) -> u32 {
    match ty.kind {
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt => 3,
        TypeKind::Int => 4,
        _ => 8,
    }
}

/// Whether an integer fits these bytes, 1 to 8, with a sign.
#[inline(always)]
pub(super) fn fits_signed(value: i64, bytes: u32) -> bool {
    let shift = 64 - 8 * bytes;
    (value << shift) >> shift == value
}

/// Whether an integer fits these bytes, 1 to 8, without a sign.
#[inline(always)]
pub(super) fn fits_unsigned(value: i64, bytes: u32) -> bool {
    value >= 0 && (bytes == 8 || value >> (8 * bytes) == 0)
}

pub(super) fn store_integer(ty: &SqlType, value: &Value<'_>, out: &mut Vec<u8>) -> Fault {
    let (wanted, fault) = match *value {
        Value::Int(v) if push_if_fits(ty, v, out) => return Fault::None,
        _ => integer_of(value, ty.unsigned),
    };
    let bytes = fixed_width(ty).unwrap_or(8);
    let (low, high) = integer_range(bytes, ty.unsigned);
    let clipped = wanted.clamp(low, high);
    push_le(clipped as u64, bytes, out);
    match fault {
        _ if clipped == wanted => fault,
        Fault::OutOfRange if bytes < 8 => Fault::OutOfRangeTwice,
        // MySQL warns twice where an INT UNSIGNED, and no other integer, is too small for a double.
        _ if wanted > high
            && ty.unsigned
            && ty.kind == TypeKind::Int
            && matches!(value, Value::Double(_) | Value::Float(_)) =>
        {
            Fault::OutOfRangeTwice
        }
        _ => Fault::OutOfRange,
    }
}

/// The integer that assignment sees, unbounded; range faults are the caller's.
fn integer_of(value: &Value<'_>, unsigned: bool) -> (i128, Fault) {
    const FAR: i128 = i128::MAX / 2;
    match *value {
        Value::Int(v) => (i128::from(v), Fault::None),
        Value::UInt(v) => (i128::from(v), Fault::None),
        Value::Double(v) => (v.round_ties_even() as i128, Fault::None),
        Value::Float(v) => (f64::from(v).round_ties_even() as i128, Fault::None),
        // A fraction below zero is out of an unsigned range even where it would round to zero.
        Value::Decimal(v) if unsigned && v.is_negative() => (-FAR, Fault::None),
        Value::Decimal(v) => {
            let far = if v.is_negative() { -FAR } else { FAR };
            let wanted = v.round(0).to_i128_units().unwrap_or(far);
            let (low, high) = integer_range(8, unsigned);
            let fault = if (low..=high).contains(&wanted) { Fault::None } else { Fault::OutOfRange };
            (wanted, fault)
        }
        Value::Bytes { data, .. } => integer_of_text(data),
        Value::DateTime(v, _) => (i128::from(v.round(0).unwrap_or(v).to_number()), Fault::None),
        _ => {
            let read = value.to_i64().value;
            (
                if value.is_unsigned_integer() { i128::from(read as u64) } else { i128::from(read) },
                Fault::None,
            )
        }
    }
}

fn integer_of_text(text: &[u8]) -> (i128, Fault) {
    if (1..=18).contains(&text.len()) && text.iter().all(u8::is_ascii_digit) {
        return (text.iter().fold(0i64, |acc, b| acc * 10 + i64::from(b - b'0')).into(), Fault::None);
    }
    let (value, consumed) = round_text_to_i128(text);
    if consumed == 0 {
        return (0, Fault::Incorrect("integer"));
    }
    let clean = text[consumed..].trim_ascii().is_empty();
    (value, if clean { Fault::None } else { Fault::Truncated })
}

pub(super) fn store_decimal(ty: &SqlType, value: &Value<'_>, out: &mut Vec<u8>) -> Fault {
    let (wanted, mut fault) = decimal_of(value);
    let (precision, scale) = (ty.length.min(PRECISION_MAX), ty.decimals);
    let bound = Decimal::max_value(precision, scale);
    let rounded = wanted.rescale(scale);
    let is_past_all = matches!(fault, Fault::OutOfRange | Fault::DecimalTailOverflow);
    let stored = match rounded {
        _ if ty.unsigned && wanted.is_negative() => {
            fault = fault.out_of_range();
            Decimal::ZERO
        }
        Some(rounded) if rounded.abs() <= bound && !is_past_all => {
            if fault == Fault::None && rounded != wanted {
                fault = Fault::Rounded;
            }
            rounded
        }
        _ => {
            fault = fault.out_of_range();
            if wanted.is_negative() { bound.negate() } else { bound }
        }
    };
    stored.push_units_le(super::decimal_width(precision), out);
    fault
}

fn decimal_of(value: &Value<'_>) -> (Decimal, Fault) {
    let Value::Bytes { data, .. } = *value else {
        let read = value.to_decimal();
        let fault = match read.loss {
            Loss::OutOfRange => Fault::OutOfRange,
            // A decimal has no digits for the least doubles.
            _ if read.value.is_zero() && is_small(value) => Fault::Rounded,
            _ => Fault::None,
        };
        return (read.value, fault);
    };
    let parsed = Decimal::parse_prefix(data);
    let has_tail = !data[parsed.consumed..].trim_ascii().is_empty();
    let fault = if parsed.consumed == 0 {
        Fault::Incorrect("decimal")
    } else if parsed.overflow {
        if has_tail || has_unread_digits(data) { Fault::DecimalTailOverflow } else { Fault::OutOfRange }
    } else if has_tail {
        Fault::DecimalTail
    } else if parsed.truncated {
        Fault::Rounded
    } else {
        Fault::None
    };
    (parsed.value, fault)
}

/// Whether a number past every DECIMAL has more digits before its point than MySQL reads of a text.
#[cold]
fn has_unread_digits(text: &[u8]) -> bool {
    const DIGITS_MAX: i64 = 81;
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let (mut digits, mut seen, mut point) = (0i64, false, false);
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        match byte {
            b'0'..=b'9' => {
                seen |= *byte != b'0';
                digits += match (seen, point) {
                    (true, false) => 1,
                    (false, true) => -1,
                    _ => 0,
                };
            }
            b'.' if !point => point = true,
            _ => break,
        }
        rest = after;
    }
    let exponent = match rest {
        [b'e' | b'E', exponent @ ..] => i64::try_from(round_text_to_i128(exponent).0).unwrap_or(i64::MAX),
        _ => 0,
    };
    digits.saturating_add(exponent) > DIGITS_MAX
}

/// Whether `value` is a double other than zero.
fn is_small(value: &Value<'_>) -> bool {
    match *value {
        Value::Double(v) => v != 0.0,
        Value::Float(v) => v != 0.0,
        _ => false,
    }
}

pub(super) fn store_double(ty: &SqlType, value: &Value<'_>, out: &mut Vec<u8>) -> Fault {
    let single = ty.kind == TypeKind::Float;
    let (wanted, mut fault) = double_of(value, if single { "FLOAT" } else { "DOUBLE" });
    let stored = fit_double(ty, wanted);
    // Rounding to the type's scale is no fault, being clipped is.
    if !within_double(ty, wanted) {
        fault = match fault {
            Fault::Incorrect(type_name) => Fault::IncorrectOutOfRange(type_name),
            _ => Fault::OutOfRange,
        };
    }
    if single {
        out.extend_from_slice(&(stored as f32).to_bits().to_le_bytes());
    } else {
        out.extend_from_slice(&stored.to_bits().to_le_bytes());
    }
    fault
}

fn double_of(value: &Value<'_>, type_name: &'static str) -> (f64, Fault) {
    let Value::Bytes { data, .. } = *value else {
        return (value.to_f64().value, Fault::None);
    };
    let (read, consumed) = double_prefix(data);
    let fault = if read.loss == Loss::OutOfRange {
        Fault::OutOfRange
    } else if consumed == 0 || !data[consumed..].trim_ascii().is_empty() {
        Fault::Incorrect(type_name)
    } else {
        Fault::None
    };
    (read.value, fault)
}

/// Largest value of a FLOAT or DOUBLE type, with or without a scale.
fn double_bound(ty: &SqlType) -> f64 {
    let natural = if ty.kind == TypeKind::Float { f64::from(f32::MAX) } else { f64::MAX };
    if ty.decimals >= SqlType::NOT_FIXED_DECIMALS {
        return natural;
    }
    let whole = 10f64.powi(ty.length.saturating_sub(u32::from(ty.decimals)) as i32);
    natural.min(whole - 10f64.powi(-i32::from(ty.decimals)))
}

fn within_double(ty: &SqlType, value: f64) -> bool {
    let rounded = round_to_scale(ty, value);
    !(ty.unsigned && rounded < 0.0) && rounded.abs() <= double_bound(ty)
}

fn fit_double(ty: &SqlType, value: f64) -> f64 {
    let bound = double_bound(ty);
    let low = if ty.unsigned { 0.0 } else { -bound };
    round_to_scale(ty, value).clamp(low, bound)
}

/// Returns `value` with the fraction digits of a FLOAT(M,D) or DOUBLE(M,D), as MySQL rounds it: the last bit
/// may be another than that of the number with these digits.
pub fn round_to_scale(ty: &SqlType, value: f64) -> f64 {
    if ty.decimals >= SqlType::NOT_FIXED_DECIMALS || value.abs() >= 1e15 {
        return value;
    }
    let factor = 10f64.powi(i32::from(ty.decimals));
    let whole = value.floor();
    whole + ((value - whole) * factor).round_ties_even() / factor
}

pub(super) fn store_bit(ty: &SqlType, value: &Value<'_>, out: &mut Vec<u8>) -> Fault {
    let bytes = (ty.length as usize).div_ceil(8);
    let all = u64::MAX >> (64 - ty.length.clamp(1, 64));
    let bits = match *value {
        Value::Bytes { data, .. } => bits_of_text(data),
        Value::Date(_) | Value::Time(..) | Value::DateTime(..) => {
            bits_of_text(value.as_text(&mut Vec::new()))
        }
        Value::Decimal(v) => match v.to_u64().ok().filter(|_| !v.is_negative()) {
            Some(bits) => Some(bits),
            None if v.is_negative() => {
                push_le(0, bytes, out);
                return Fault::OutOfRange;
            }
            None => {
                push_le(all, bytes, out);
                return if all == u64::MAX { Fault::OutOfRange } else { Fault::OutOfRangeBits };
            }
        },
        // Doubles are cut, unlike in assignments to integers.
        Value::Double(v) => Some(v as i64 as u64),
        Value::Float(v) => Some(v as i64 as u64),
        _ => Some(value.to_u64().value),
    };
    let fits = bits.filter(|bits| *bits <= all);
    push_le(fits.unwrap_or(all), bytes, out);
    if fits.is_some() { Fault::None } else { Fault::BitsTooLong }
}

/// A big-endian bit string; `None` past 64 bits.
fn bits_of_text(text: &[u8]) -> Option<u64> {
    let first = text.iter().position(|b| *b != 0).unwrap_or(text.len());
    let digits = &text[first..];
    (digits.len() <= 8).then(|| digits.iter().fold(0, |acc, b| acc << 8 | u64::from(*b)))
}

/// The year that a double is; one beyond all years is -1.
fn year_of_double(value: f64) -> i128 {
    if (0.0..=2155.0).contains(&value) { value as i128 } else { -1 }
}

pub(super) fn store_year(value: &Value<'_>, ctx: &StoreContext<'_>, out: &mut Vec<u8>) -> Fault {
    let (wanted, mut fault) = match *value {
        Value::Date(v) => (i128::from(v.year()), Fault::None),
        Value::DateTime(v, _) => (i128::from(v.date().year()), Fault::None),
        Value::Time(..) => (i128::from(ctx.today.year()), Fault::None),
        // A double loses its fraction, except for the range.
        Value::Double(_) | Value::Float(_) => (year_of_double(value.to_f64().value), Fault::None),
        _ => integer_of(value, true),
    };
    // '0' and '00' mean 2000, '0000' and the number 0 the zero year.
    let text_zero = matches!(*value, Value::Bytes { data, .. } if data.len() != 4)
        && !matches!(fault, Fault::Incorrect(_));
    let year = match wanted {
        0 if !text_zero => 0,
        0..=69 => wanted + 2000,
        70..=99 => wanted + 1900,
        1901..=2155 => wanted,
        _ => {
            fault = if fault == Fault::OutOfRange { Fault::OutOfRangeTwice } else { Fault::OutOfRange };
            0
        }
    };
    out.push(if year == 0 { 0 } else { (year - 1900) as u8 });
    fault
}
