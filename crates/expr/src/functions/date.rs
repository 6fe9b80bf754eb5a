//! Day numbers, periods, and dates made of numbers.

use types::temporal::FSP_MAX;
use types::{Date, DateTime, Value};

use super::{Call, some};
use crate::EvalError;

/// LAST_DAY
pub(crate) fn last_day<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let date = some!(call.date(0));
    let last = date.last_day();
    if last.is_none() {
        call.truncated("date", &Value::Date(date));
    }
    Ok(last.map_or(Value::Null, Value::Date))
}

/// A text that is searched in a list of dates: what is no date is a moment that is in no list.
pub(crate) fn date_in_list<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let value = call.value(0)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let none = Value::DateTime(DateTime::from_packed(0, 2), FSP_MAX);
    Ok(call.fuzzy_date(&value).map_or(none, Value::Date))
}

/// TO_DAYS
pub(crate) fn to_days<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(some!(call.counted_date(0)).day_number()))
}

/// FROM_DAYS
pub(crate) fn from_days<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Date(Date::from_day_number(some!(call.int(0)))))
}

/// TO_SECONDS
pub(crate) fn to_seconds<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let moment = some!(call.calendar_datetime(0));
    Ok(Value::Int(moment.epoch_micros().div_euclid(1_000_000)))
}

/// DATEDIFF
pub(crate) fn date_diff<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    // Both are read though one is none.
    let (a, b) = (call.counted_date(0)?, call.counted_date(1)?);
    let (a, b) = some!(Ok::<_, EvalError>(a.zip(b)));
    Ok(Value::Int(a.day_number() - b.day_number()))
}

/// MAKEDATE(year, day of year)
pub(crate) fn make_date<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let day = some!(call.int(1));
    let year = some!(call.int(0));
    if day < 1 || !(0..=9999).contains(&year) {
        return Ok(Value::Null);
    }
    let year = four_digit_year(year) as u16;
    let number = Date::new(year, 1, 1).day_number().saturating_add(day - 1);
    let date = Date::from_day_number(number);
    Ok(if date.is_zero() { Value::Null } else { Value::Date(date) })
}

/// Years of one or two digits are those of 1970 to 2069.
fn four_digit_year(year: i64) -> i64 {
    match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    }
}

/// Months since year 0 of a period YYMM or YYYYMM; `None` if its month is invalid.
fn months_of(period: i64) -> Option<i64> {
    let (year, month) = (period / 100, period % 100);
    (period > 0 && (1..=12).contains(&month)).then(|| four_digit_year(year) * 12 + month - 1)
}

/// PERIOD_ADD
pub(crate) fn period_add<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (period, months) = (some!(call.signed_int(0)), some!(call.signed_int(1)));
    let wrong = || EvalError::WrongArgument { function: call.name() };
    // As MySQL computes it, without a sign, where the period is past every year.
    let sum = months_of(period).ok_or_else(wrong)?.wrapping_add(months) as u64;
    if sum == 0 {
        return Ok(Value::Int(0));
    }
    let year = if sum < 1200 { four_digit_year((sum / 12) as i64) as u64 } else { sum / 12 };
    Ok(Value::Int(year.wrapping_mul(100).wrapping_add(sum % 12 + 1) as i64))
}

/// PERIOD_DIFF
pub(crate) fn period_diff<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (a, b) = (some!(call.signed_int(0)), some!(call.signed_int(1)));
    match (months_of(a), months_of(b)) {
        (Some(a), Some(b)) => Ok(Value::Int(a - b)),
        _ => Err(EvalError::WrongArgument { function: call.name() }),
    }
}
