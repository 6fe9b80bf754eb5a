//! Parts of dates and times.

use types::temporal::WeekMode;
use types::{Date, Time, Value};

use super::format::push_name;
use super::{Call, some};
use crate::EvalError;

fn of_date<'v>(call: &Call<'v>, part: fn(Date) -> i64) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(part(some!(call.date(0)))))
}

fn of_day<'v>(call: &Call<'v>, part: fn(Date) -> i64) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(part(some!(call.calendar_date(0)))))
}

fn of_time<'v>(call: &Call<'v>, part: fn(Time) -> u32) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(i64::from(part(some!(call.time(0))))))
}

/// DATE
pub(crate) fn date<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Date(some!(call.stored_date(0))))
}

/// TIME
pub(crate) fn time<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let fsp = call.ty().decimals;
    Ok(Value::Time(some!(call.time(0)).round(fsp), fsp))
}

/// YEAR
pub(crate) fn year<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::UInt(u64::from(some!(call.date(0)).year())))
}

/// MONTH
pub(crate) fn month<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_date(call, |d| i64::from(d.month()))
}

/// DAYOFMONTH
pub(crate) fn day<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_date(call, |d| i64::from(d.day()))
}

/// QUARTER
pub(crate) fn quarter<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_date(call, |d| i64::from(d.month().div_ceil(3)))
}

/// HOUR
pub(crate) fn hour<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_time(call, Time::hour)
}

/// MINUTE
pub(crate) fn minute<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_time(call, Time::minute)
}

/// SECOND
pub(crate) fn second<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_time(call, Time::second)
}

/// MICROSECOND
pub(crate) fn microsecond<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_time(call, Time::micro)
}

/// DAYOFWEEK: 1 = Sunday.
pub(crate) fn day_of_week<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_day(call, |d| (i64::from(d.weekday()) + 1) % 7 + 1)
}

/// WEEKDAY: 0 = Monday.
pub(crate) fn weekday<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_day(call, |d| i64::from(d.weekday()))
}

/// DAYOFYEAR
pub(crate) fn day_of_year<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_day(call, |d| i64::from(d.day_of_year()))
}

/// The week of a date for the mode NULL.
const NO_WEEK: Value<'static> = Value::Int(0);

/// WEEK(date, mode)
pub(crate) fn week<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let date = some!(call.calendar_date(0));
    let mode = if call.args.len() > 1 {
        mode_of_weeks(call)?.map(|mode| i64::from(mode.max(0)))
    } else {
        Some(default_week_format(call))
    };
    let Some(mode) = mode else { return Ok(NO_WEEK) };
    Ok(Value::Int(i64::from(date.week(WeekMode::from_number(mode)).1)))
}

/// Argument 1, of which MySQL reads the low 32 bits; what is negative as these is mode 0.
fn mode_of_weeks(call: &Call<'_>) -> Result<Option<i32>, EvalError> {
    Ok(call.signed_int(1)?.map(|mode| mode as i32))
}

pub(super) fn default_week_format(call: &Call<'_>) -> i64 {
    let setting = call.ctx.session.system_variable(Some(false), "default_week_format");
    setting.map_or(0, |value| value.as_value().to_i64().value)
}

/// WEEKOFYEAR
pub(crate) fn week_of_year<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    of_day(call, |d| i64::from(d.week(WeekMode::from_number(3)).1))
}

/// YEARWEEK(date, mode). With a negative mode the days before the first week are week 0 of their own year.
pub(crate) fn year_week<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let date = some!(call.calendar_date(0));
    let mode = if call.args.len() > 1 { mode_of_weeks(call)? } else { Some(0) };
    let Some(mode) = mode else { return Ok(NO_WEEK) };
    let rules = WeekMode::from_number(i64::from(mode.max(0)));
    let (year, week) = date.week(WeekMode { year_of_week: mode >= 0, ..rules });
    Ok(Value::Int(i64::from(year) * 100 + i64::from(week)))
}

fn named<'v>(call: &Call<'v>, name: &str) -> Result<Value<'v>, EvalError> {
    let mut out = Vec::with_capacity(name.len());
    push_name(call, name, &mut out);
    call.copied(&out)
}

/// DAYNAME
pub(crate) fn day_name<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let date = some!(call.calendar_date(0));
    named(call, call.ctx.session.locale().days(false)[usize::from(date.weekday())])
}

/// MONTHNAME
pub(crate) fn month_name<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let month = some!(call.date(0)).month();
    match usize::from(month).checked_sub(1) {
        Some(at) => named(call, call.ctx.session.locale().months(false)[at]),
        None => Ok(Value::Null),
    }
}
