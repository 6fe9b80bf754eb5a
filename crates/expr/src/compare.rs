//! Comparison of two values in the domain that the binder chose.

use std::cmp::Ordering;

use types::temporal::DateFlags;
use types::value::Loss;
use types::{CollationId, Date, DateTime, Time, Value};

use crate::{CmpDomain, EvalCtx, Warning};

/// Order of two values; `None` if either is NULL. What is no date or time counts as the zero one, with a warning.
pub fn compare_values(
    a: &Value<'_>,
    b: &Value<'_>,
    domain: CmpDomain,
    ctx: &EvalCtx<'_>,
) -> Option<Ordering> {
    if a.is_null() || b.is_null() {
        return None;
    }
    match domain {
        CmpDomain::Integer => Some(integer(a).cmp(&integer(b))),
        CmpDomain::Decimal => Some(a.to_decimal().value.cmp(&b.to_decimal().value)),
        CmpDomain::Double => double(a, ctx).partial_cmp(&double(b, ctx)),
        CmpDomain::String(collation) => Some(strings(a, b, collation)),
        CmpDomain::DateTime => Some(date_time(a, ctx).cmp(&date_time(b, ctx))),
        CmpDomain::Time => Some(time(a).cmp(&time(b))),
    }
}

/// `<=>`: like `=`, but two NULLs are equal and one is not.
pub fn equal_values(a: &Value<'_>, b: &Value<'_>, domain: CmpDomain, ctx: &EvalCtx<'_>) -> bool {
    if a.is_null() || b.is_null() {
        return a.is_null() && b.is_null();
    }
    compare_values(a, b, domain, ctx) == Some(Ordering::Equal)
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

/// The value as a double; text that is no number is told to the session.
pub(crate) fn double(value: &Value<'_>, ctx: &EvalCtx<'_>) -> f64 {
    let read = value.to_f64();
    if read.loss != Loss::None && value.is_textual() {
        warn_truncated("DOUBLE", value, ctx);
    }
    read.value
}

fn strings(a: &Value<'_>, b: &Value<'_>, collation: CollationId) -> Ordering {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let (x, y) = (a.as_text(&mut left), b.as_text(&mut right));
    match collation.collation() {
        Some(known) => known.compare(x, y),
        None => x.cmp(y),
    }
}

fn date_time(value: &Value<'_>, ctx: &EvalCtx<'_>) -> DateTime {
    match *value {
        Value::DateTime(v, _) => return v,
        Value::Date(v) => return DateTime::from_date(v),
        _ => {}
    }
    let today = if matches!(value, Value::Time(..)) { ctx.today() } else { Date::ZERO };
    if let Some(read) = value.to_datetime(DateFlags::default(), today) {
        if read.loss == Loss::Truncated {
            warn_truncated("datetime", value, ctx);
        }
        read.value
    } else {
        ctx.session.warn(Warning::IncorrectValue { type_name: "datetime", value: value.display_text() });
        DateTime::ZERO
    }
}

fn time(value: &Value<'_>) -> Time {
    value.to_time().map_or(Time::ZERO, |read| read.value)
}

#[cold]
fn warn_truncated(type_name: &str, value: &Value<'_>, ctx: &EvalCtx<'_>) {
    let type_name = type_name.to_owned();
    ctx.session.warn(Warning::TruncatedWrongValue { type_name, value: value.display_text() });
}
