//! Values to numbers.

use super::Value;
use super::digits::{count_while, is_blank, parse_double};
use crate::temporal::MICROS_PER_SECOND;
use crate::{DateTime, Decimal};

/// The loss of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing.
    None,
    /// The text is not a number, or continues after one ("Truncated incorrect ... value").
    Truncated,
    /// The number is outside the target's range; the nearest bound stands.
    OutOfRange,
}

/// A converted value and what was lost. The conversion of NULL is 0; callers check for NULL first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Converted<T> {
    /// The value.
    pub value: T,
    /// What was lost.
    pub loss: Loss,
}

impl<T> Converted<T> {
    /// Nothing lost.
    pub const fn exact(value: T) -> Self {
        Converted { value, loss: Loss::None }
    }

    /// Outside the range.
    pub const fn out_of_range(value: T) -> Self {
        Converted { value, loss: Loss::OutOfRange }
    }
}

impl Value<'_> {
    /// The value as a signed integer, as CAST(... AS SIGNED) sees it: fractions of numbers are rounded
    /// (DOUBLE half to even, DECIMAL half away from zero), text is read up to the first character that is no
    /// digit. An unsigned value above the range gives its two's complement without a loss, as CAST does.
    pub fn to_i64(&self) -> Converted<i64> {
        match *self {
            Value::Int(v) => Converted::exact(v),
            Value::UInt(v) => Converted::exact(v as i64),
            Value::Double(v) => double_to_i64(v),
            Value::Float(v) => double_to_i64(f64::from(v)),
            Value::Decimal(v) => v.to_i64().map_or_else(Converted::out_of_range, Converted::exact),
            // A fraction at the end of the last year has nothing to round up to; the day is left.
            Value::DateTime(v, _) => v.round(0).map_or_else(
                || Converted::out_of_range(DateTime::from_date(v.date()).to_number() as i64),
                |rounded| Converted::exact(rounded.to_number() as i64),
            ),
            Value::Bytes { data, .. } => {
                let read = integer_prefix(data);
                Converted { value: read.value as i64, loss: read.loss }
            }
            _ => Converted::exact(self.integer_face()),
        }
    }

    /// The value as an unsigned integer, as CAST(... AS UNSIGNED) sees it: negative integers wrap.
    pub fn to_u64(&self) -> Converted<u64> {
        match *self {
            Value::Double(v) => double_to_u64(v),
            Value::Float(v) => double_to_u64(f64::from(v)),
            Value::Decimal(v) if !v.is_negative() => {
                v.to_u64().map_or_else(Converted::out_of_range, Converted::exact)
            }
            Value::Bytes { data, .. } => {
                let read = integer_prefix(data);
                Converted { value: read.value as u64, loss: read.loss }
            }
            _ => {
                let read = self.to_i64();
                Converted { value: read.value as u64, loss: read.loss }
            }
        }
    }

    /// Whether the integer of [`Value::to_i64`] is to be read as unsigned.
    pub fn is_unsigned_integer(&self) -> bool {
        matches!(
            self,
            Value::UInt(_) | Value::Year(_) | Value::Bit { .. } | Value::Enum { .. } | Value::Set { .. }
        )
    }

    /// The value as a double; text by its longest numeric prefix.
    pub fn to_f64(&self) -> Converted<f64> {
        match *self {
            Value::Int(v) => Converted::exact(v as f64),
            Value::UInt(v) => Converted::exact(v as f64),
            Value::Double(v) => Converted::exact(v),
            Value::Float(v) => Converted::exact(f64::from(v)),
            Value::Decimal(v) => Converted::exact(v.to_f64()),
            Value::Bytes { data, .. } => {
                let (read, consumed) = double_prefix(data);
                // Blank text is 0, without a word.
                let clean = is_blank(&data[consumed..]);
                let loss = if clean { read.loss } else { Loss::Truncated };
                Converted { value: read.value, loss }
            }
            Value::Time(..) | Value::DateTime(..) => Converted::exact(self.to_decimal().value.to_f64()),
            Value::Bit { value, .. } => Converted::exact(value as f64),
            Value::Set { mask, .. } => Converted::exact(mask as f64),
            _ => Converted::exact(self.integer_face() as f64),
        }
    }

    /// The value as an exact decimal; temporal values with their fraction digits. A double shows its shortest
    /// digits.
    pub fn to_decimal(&self) -> Converted<Decimal> {
        match *self {
            Value::Int(v) => Converted::exact(Decimal::from(v)),
            Value::UInt(v) => Converted::exact(Decimal::from(v)),
            Value::Double(v) => double_to_decimal(v),
            Value::Float(v) => double_to_decimal(f64::from(v)),
            Value::Decimal(v) => Converted::exact(v),
            Value::Bytes { data, .. } => text_to_decimal(data),
            Value::Time(v, fsp) => {
                let micro = if v.is_negative() { -i64::from(v.micro()) } else { i64::from(v.micro()) };
                Converted::exact(with_fraction(v.to_number(), micro, fsp))
            }
            Value::DateTime(v, fsp) => {
                Converted::exact(with_fraction(v.to_number() as i64, i64::from(v.micro()), fsp))
            }
            Value::Bit { value, .. } => Converted::exact(Decimal::from(value)),
            Value::Set { mask, .. } => Converted::exact(Decimal::from(mask)),
            _ => Converted::exact(Decimal::from(self.integer_face())),
        }
    }

    /// Whether the value is true: not zero. `None` for NULL. Text is read as a double.
    pub fn to_bool(&self) -> Option<bool> {
        Some(match *self {
            Value::Null => return None,
            Value::Int(v) => v != 0,
            Value::UInt(v) => v != 0,
            Value::Decimal(v) => !v.is_zero(),
            Value::Time(v, _) => v.micros() != 0,
            Value::DateTime(v, _) => !v.is_zero(),
            _ => self.to_f64().value != 0.0,
        })
    }

    /// The numeric face of values that have an integer one; temporal fractions are rounded half up.
    fn integer_face(&self) -> i64 {
        match *self {
            Value::Date(v) => v.to_number() as i64,
            Value::Time(v, _) => v.round(0).to_number(),
            Value::Year(v) => i64::from(v),
            Value::Bit { value, .. } => value as i64,
            Value::Enum { index, .. } => i64::from(index),
            Value::Set { mask, .. } => mask as i64,
            _ => 0,
        }
    }
}

fn with_fraction(number: i64, micro: i64, fsp: u8) -> Decimal {
    let units = i128::from(number) * i128::from(MICROS_PER_SECOND) + i128::from(micro);
    Decimal::from_i128(units, 6).truncate(i32::from(fsp))
}

fn double_to_i64(value: f64) -> Converted<i64> {
    let rounded = value.round_ties_even();
    if rounded >= 9_223_372_036_854_775_808.0 {
        Converted::out_of_range(i64::MAX)
    } else if rounded < -9_223_372_036_854_775_808.0 {
        Converted::out_of_range(i64::MIN)
    } else {
        Converted::exact(rounded as i64)
    }
}

fn double_to_u64(value: f64) -> Converted<u64> {
    let rounded = value.round_ties_even();
    if rounded >= 18_446_744_073_709_551_616.0 {
        Converted::out_of_range(u64::MAX)
    } else if rounded < 0.0 {
        let read = double_to_i64(value);
        Converted { value: read.value as u64, loss: read.loss }
    } else {
        Converted::exact(rounded as u64)
    }
}

fn double_to_decimal(value: f64) -> Converted<Decimal> {
    if let Some(decimal) = Decimal::from_f64(value) {
        return Converted::exact(decimal);
    }
    let bound = Decimal::max_value(crate::decimal::PRECISION_MAX, 0);
    Converted::out_of_range(if value < 0.0 { bound.negate() } else { bound })
}

fn text_to_decimal(text: &[u8]) -> Converted<Decimal> {
    let parsed = Decimal::parse_prefix(text);
    let loss = if parsed.overflow {
        Loss::OutOfRange
    } else if parsed.consumed == 0 || !is_blank(&text[parsed.consumed..]) {
        Loss::Truncated
    } else {
        Loss::None
    };
    Converted { value: parsed.value, loss }
}

/// Digits from which on an integer without leading zeros is outside every range.
const DIGITS_PAST_EVERY_BOUND: usize = 21;

/// Reads the integer at the front of `text`: white space, sign, digits; nothing else, no rounding. Outside
/// `i64::MIN..=u64::MAX` the nearest bound stands (both of which MySQL's CAST shows as -1 or the least
/// integer).
pub fn integer_prefix(text: &[u8]) -> Converted<i128> {
    let start = count_while(text, |b| b.is_ascii_whitespace());
    let neg = text.get(start) == Some(&b'-');
    let first = start + usize::from(matches!(text.get(start), Some(b'-' | b'+')));
    let digits = digit_run(&text[first..]);
    let zeros = count_while(&text[first..first + digits], |b| b == b'0');
    let value = text[first + zeros..first + digits]
        .iter()
        .take(DIGITS_PAST_EVERY_BOUND)
        .fold(0i128, |acc, b| (acc * 10 + i128::from(b - b'0')).min(i128::from(u64::MAX) + 1));
    let value = if neg { -value } else { value };
    let clipped = value.clamp(i128::from(i64::MIN), i128::from(u64::MAX));
    let clean = digits > 0 && is_blank(&text[first + digits..]);
    let loss = if clipped != value {
        Loss::OutOfRange
    } else if clean {
        Loss::None
    } else {
        Loss::Truncated
    };
    Converted { value: clipped, loss }
}

/// Reads the number at the front of `text` and rounds it half away from zero to an integer, as assignment to
/// an integer column does: `1e2` is 100, `2.5` is 3. The second part is how many bytes were read, 0 if no
/// number stands there. Far outside the range of integers a value past every bound stands.
pub fn round_text_to_i128(text: &[u8]) -> (i128, usize) {
    let parsed = Decimal::parse_prefix(text);
    let bound = i128::MAX / 2;
    // An exponent without digits is one of zero.
    let rest = &text[parsed.consumed..];
    let exponent = match rest {
        [b'e' | b'E', b'+' | b'-', ..] => 2,
        [b'e' | b'E', ..] => 1,
        _ => 0,
    };
    let consumed = parsed.consumed + if parsed.consumed == 0 { 0 } else { exponent };
    let value = if parsed.overflow { None } else { parsed.value.round(0).to_i128_units() };
    (value.unwrap_or(if parsed.value.is_negative() { -bound } else { bound }), consumed)
}

/// Reads the double at the front of `text` and how many bytes it took (0: none). Past the range the largest
/// double stands.
pub fn double_prefix(text: &[u8]) -> (Converted<f64>, usize) {
    let start = count_while(text, |b| b.is_ascii_whitespace());
    let mut at = start + usize::from(matches!(text.get(start), Some(b'-' | b'+')));
    let whole = digit_run(&text[at..]);
    at += whole;
    let mut digits = whole;
    if text.get(at) == Some(&b'.') {
        let fraction = digit_run(&text[at + 1..]);
        digits += fraction;
        at += 1 + fraction;
    }
    if digits == 0 {
        return (Converted::exact(0.0), 0);
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'-' | b'+')));
        let run = text.get(at + 1 + sign..).map_or(0, digit_run);
        at += if run > 0 { 1 + sign + run } else { 0 };
    }
    let value = parse_double(&text[start..at]);
    if value.is_infinite() {
        return (Converted::out_of_range(f64::MAX.copysign(value)), at);
    }
    (Converted::exact(value), at)
}

fn digit_run(text: &[u8]) -> usize {
    count_while(text, |b| b.is_ascii_digit())
}
