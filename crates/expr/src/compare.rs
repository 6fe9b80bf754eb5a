//! Comparison of two values in the domain that the binder chose.

use std::cmp::Ordering;

use types::temporal::DateFlags;
use types::value::{Converted, Loss};
use types::{CollationId, DateTime, Decimal, Time, Value};

use crate::context::LONG_TEXT_BYTES;
use crate::moment::{note_date_delimiters, note_time_delimiters, warn_cut_moment, warn_no_moment};
use crate::{CmpDomain, EvalCtx, EvalError, Warning, moment_of};

/// Order of two values; `None` if either is NULL. A value that is not a date or time counts as the zero one,
/// with a warning.
pub fn compare_values(
    a: &Value<'_>,
    b: &Value<'_>,
    domain: CmpDomain,
    ctx: &EvalCtx<'_>,
) -> Option<Ordering> {
    if a.is_null() || b.is_null() {
        return beside_null(a, domain, ctx);
    }
    match domain {
        CmpDomain::Integer => Some(integer(a).cmp(&integer(b))),
        CmpDomain::Decimal => Some(a.to_decimal().value.cmp(&b.to_decimal().value)),
        CmpDomain::Double => double(a, ctx).partial_cmp(&double(b, ctx)),
        CmpDomain::Number => Number::of(a, ctx).compare(&Number::of(b, ctx)),
        CmpDomain::String(collation) => Some(strings(a, b, collation)),
        CmpDomain::DateTime => Some(date_time(a, b, ctx).cmp(&date_time(b, a, ctx))),
        CmpDomain::Time => Some(times(a, b, ctx)),
    }
}

/// The order of `a` and another value of which one is NULL: none.
#[cold]
fn beside_null(a: &Value<'_>, domain: CmpDomain, ctx: &EvalCtx<'_>) -> Option<Ordering> {
    warn_beside_null(a, domain, ctx);
    None
}

/// Warns of a text that is none of `domain`: as in MySQL it is read before the NULL with which it is
/// compared.
#[cold]
pub(crate) fn warn_beside_null(value: &Value<'_>, domain: CmpDomain, ctx: &EvalCtx<'_>) {
    if !value.is_textual() {
        return;
    }
    match domain {
        CmpDomain::Double => {
            double(value, ctx);
        }
        CmpDomain::Number => {
            Number::of(value, ctx);
        }
        CmpDomain::DateTime if moment_of(value, DateFlags::default(), ctx).is_none() => {
            warn_truncated("datetime", value, ctx);
        }
        CmpDomain::DateTime => {
            date_time(value, &Value::Null, ctx);
        }
        _ => {}
    }
}

/// `<=>`: like `=`, but two NULLs are equal and one is not.
pub(crate) fn equal_values(a: &Value<'_>, b: &Value<'_>, domain: CmpDomain, ctx: &EvalCtx<'_>) -> bool {
    match compare_values(a, b, domain, ctx) {
        Some(order) => order == Ordering::Equal,
        None => a.is_null() && b.is_null(),
    }
}

/// An integer of either sign, wide enough for both.
#[inline]
pub(crate) fn integer(value: &Value<'_>) -> i128 {
    match *value {
        Value::Int(v) => i128::from(v),
        Value::UInt(v) => i128::from(v),
        _ if value.is_unsigned_integer() => i128::from(value.to_u64().value),
        _ => i128::from(value.to_i64().value),
    }
}

/// The value as a double; text that is no number gives a warning.
pub fn double(value: &Value<'_>, ctx: &EvalCtx<'_>) -> f64 {
    let read = value.to_f64();
    if read.loss != Loss::None && value.is_textual() {
        warn_truncated("DOUBLE", value, ctx);
    }
    read.value
}

/// A value as it meets an integer column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer, or text that is just an integer.
    Integer(i128),
    /// Decimals, and the number at the front of other text.
    Decimal(Decimal),
    /// Doubles, and text of a number that DECIMAL cannot hold.
    Double(f64),
}

impl Number {
    /// What `value`, which is not NULL, stands for; text that is no number gives a warning.
    pub fn of(value: &Value<'_>, ctx: &EvalCtx<'_>) -> Number {
        if let Some(integer) = exact_integer(value) {
            return Number::Integer(integer);
        }
        match *value {
            Value::Decimal(v) => Number::Decimal(v),
            Value::Double(_) | Value::Float(_) => Number::Double(value.to_f64().value),
            Value::Bytes { data, .. } => Number::of_text(data, value, ctx),
            _ if value.is_textual() => Number::Double(value.to_f64().value),
            _ => Number::Integer(integer(value)),
        }
    }

    fn of_text(text: &[u8], value: &Value<'_>, ctx: &EvalCtx<'_>) -> Number {
        let parsed = Decimal::parse_prefix(text);
        if parsed.overflow || parsed.truncated {
            return Number::Double(double(value, ctx));
        }
        if !text[parsed.consumed..].trim_ascii().is_empty() {
            warn_truncated("DOUBLE", value, ctx);
        }
        Number::Decimal(parsed.value)
    }

    /// The order of the numbers; only beside a decimal is a double its shortest digits.
    fn compare(&self, other: &Number) -> Option<Ordering> {
        match (*self, *other) {
            (Number::Integer(a), Number::Integer(b)) => Some(a.cmp(&b)),
            (Number::Integer(a), Number::Double(b)) => integer_beside_double(a, b),
            (Number::Double(a), Number::Integer(b)) => integer_beside_double(b, a).map(Ordering::reverse),
            (Number::Double(a), Number::Double(b)) => a.partial_cmp(&b),
            (Number::Double(a), Number::Decimal(b)) => double_beside_decimal(a, b),
            (Number::Decimal(a), Number::Double(b)) => double_beside_decimal(b, a).map(Ordering::reverse),
            (a, b) => Some(a.to_decimal().cmp(&b.to_decimal())),
        }
    }

    /// A value that is the same for numbers that are equal to one integer.
    pub fn to_value(self) -> Value<'static> {
        match self {
            Number::Integer(v) => Value::Decimal(Decimal::from_i128(v, 0)),
            Number::Decimal(v) => Value::Decimal(v),
            // `as` stops at the ends of i128, where no column's integer is.
            Number::Double(v) if v.trunc() == v => Value::Decimal(Decimal::from_i128(v as i128, 0)),
            Number::Double(v) => Value::Double(v),
        }
    }

    fn to_decimal(self) -> Decimal {
        match self {
            Number::Integer(v) => Decimal::from_i128(v, 0),
            Number::Decimal(v) => v,
            Number::Double(v) => Value::Double(v).to_decimal().value,
        }
    }
}

/// The integer that a value is, digit for digit.
pub fn exact_integer(value: &Value<'_>) -> Option<i128> {
    match *value {
        Value::Int(v) => Some(i128::from(v)),
        Value::UInt(v) => Some(i128::from(v)),
        Value::Bytes { data, collation } if collation != CollationId::BINARY => {
            let read = types::value::integer_prefix(data);
            (read.loss == Loss::None).then_some(read.value)
        }
        _ => None,
    }
}

/// The order of the shortest digits of a double and a decimal. DECIMAL lacks the last digits of a small
/// double, which counts as a double then.
fn double_beside_decimal(double: f64, decimal: Decimal) -> Option<Ordering> {
    let digits = Value::Double(double).to_decimal().value;
    match digits.cmp(&decimal) {
        Ordering::Equal if digits.to_f64() != double => double.partial_cmp(&decimal.to_f64()),
        order => Some(order),
    }
}

/// The order of the exact values. Integers are far from the ends of i128, at which `as` stops.
fn integer_beside_double(integer: i128, double: f64) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    let whole = double.trunc();
    let beside_fraction = || whole.partial_cmp(&double).unwrap_or(Ordering::Equal);
    Some(integer.cmp(&(whole as i128)).then_with(beside_fraction))
}

fn strings(a: &Value<'_>, b: &Value<'_>, collation: CollationId) -> Ordering {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let (x, y) = (a.as_text(&mut left), b.as_text(&mut right));
    match collation.collation() {
        Some(known) => known.compare(x, y),
        None => x.cmp(y),
    }
}

/// `value` as a date and time; a text that is not one gives a warning that names the type of `other`, with
/// which it is compared.
fn date_time(value: &Value<'_>, other: &Value<'_>, ctx: &EvalCtx<'_>) -> DateTime {
    match *value {
        Value::DateTime(v, _) => return v,
        Value::Date(v) => return DateTime::from_date(v),
        _ => {}
    }
    let read = moment_of(value, DateFlags::default(), ctx);
    if read.is_none() {
        match other {
            Value::Date(_) if value.is_textual() => warn_truncated("date", value, ctx),
            _ => warn_no_moment(value, ctx),
        }
    }
    read_moment(value, read, ctx)
}

/// A text as a date and time that is compared with a constant one.
pub(crate) fn moment_beside_constant(text: &Value<'_>, ctx: &EvalCtx<'_>) -> DateTime {
    let read = moment_of(text, DateFlags::default(), ctx);
    if read.is_none() {
        warn_truncated("datetime", text, ctx);
    }
    read_moment(text, read, ctx)
}

/// The date and time `read` of `value`, with the warnings of a text that is one; no date is the zero date.
fn read_moment(value: &Value<'_>, read: Option<Converted<DateTime>>, ctx: &EvalCtx<'_>) -> DateTime {
    let Some(read) = read else { return DateTime::ZERO };
    if read.loss == Loss::Truncated {
        warn_cut_moment(value, ctx);
    }
    note_date_delimiters(value, ctx);
    read.value
}

/// The order of two values as times. A value that is not a time equals no time.
fn times(a: &Value<'_>, b: &Value<'_>, ctx: &EvalCtx<'_>) -> Ordering {
    match (time_of(a, ctx), time_of(b, ctx)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (None, _) => Ordering::Less,
        (_, None) => Ordering::Greater,
    }
}

/// `value`, which is not NULL, as a time. A value that is not a time, such as a date, gives a warning; so
/// does a text that only begins with a time.
pub(crate) fn time_of(value: &Value<'_>, ctx: &EvalCtx<'_>) -> Option<Time> {
    let read = value.to_time().filter(|_| !matches!(value, Value::Date(_)));
    if read.is_none_or(|read| read.loss != Loss::None && value.is_textual()) {
        warn_truncated("time", value, ctx);
    }
    note_time_delimiters(value, ctx);
    read.map(|read| read.value)
}

/// Warns that `value` is not wholly a value of a type.
#[cold]
pub(crate) fn warn_truncated(type_name: &str, value: &Value<'_>, ctx: &EvalCtx<'_>) {
    let type_name = type_name.to_owned();
    ctx.session.warn(Warning::TruncatedWrongValue { type_name, value: value.message_text() });
}

/// Warns of a number past every DECIMAL as MySQL does: with its digits before the exponent. False, without a
/// warning, for one that has none.
#[cold]
pub(crate) fn warn_past_decimal(value: &Value<'_>, ctx: &EvalCtx<'_>) -> bool {
    let text = value.message_text();
    let Some(end) = text.find(['e', 'E']) else { return false };
    warn_truncated("DECIMAL", &Value::binary(&text.as_bytes()[..end]), ctx);
    true
}

/// Fails where strings were compared that are so long that the end of a killed statement may have cut it
/// short. Cost: a comparison for each, out of line for a long one.
/// # Errors  [`EvalError::Killed`].
#[inline]
pub fn fail_if_cut_short<const N: usize>(
    domain: CmpDomain,
    compared: [&Value<'_>; N],
    ctx: &EvalCtx<'_>,
) -> Result<(), EvalError> {
    let is_long =
        |value: &&Value<'_>| matches!(value, Value::Bytes { data, .. } if data.len() >= LONG_TEXT_BYTES);
    let is_cut_short =
        matches!(domain, CmpDomain::String(_)) && compared.iter().any(is_long) && was_killed(ctx);
    if is_cut_short { Err(EvalError::Killed) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn was_killed(ctx: &EvalCtx<'_>) -> bool {
    ctx.session.killed()
}

/// A truth value as SQL sees it: 1, 0 or NULL.
#[inline]
pub fn truth<'v>(value: Option<bool>) -> Value<'v> {
    value.map_or(Value::Null, |t| Value::Int(i64::from(t)))
}
