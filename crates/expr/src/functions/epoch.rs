//! Seconds since 1970 and time zones.

use types::temporal::{DateFlags, MICROS_PER_SECOND};
use types::{Date, DateTime, Decimal, SqlModes, TimeZone, TypeKind, Value};

use super::time::warn_past_split;
use super::{Call, format, some};
use crate::build::{Class, class_of};
use crate::{EvalError, cuts_fractions};

/// Last second of a TIMESTAMP as FROM_UNIXTIME and UNIX_TIMESTAMP know it: 3001-01-18 23:59:59 UTC.
const SECONDS_MAX: i64 = 32_536_771_199;

/// UNIX_TIMESTAMP: 0 for what is no moment.
pub(crate) fn unix_timestamp<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let session = call.ctx.session;
    if call.args.is_empty() {
        return Ok(Value::Int(session.statement_time_micros().div_euclid(MICROS_PER_SECOND)));
    }
    let value = call.value(0)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    // A zero part makes no day, and no wrong one.
    let no_zero_date = value.is_textual() && session.modes().has(SqlModes::NO_ZERO_DATE);
    // A number may name a day that its month does not have: it is one of the next month.
    let allow_invalid_dates = !value.is_textual();
    let flags = DateFlags { no_zero_date, allow_invalid_dates, ..DateFlags::default() };
    let moment = on_calendar(call.argument_datetime(&value, flags).unwrap_or(DateTime::ZERO));
    let is_day = moment.date().is_calendar_day();
    let seconds = if is_day { session.time_zone().to_unix(moment).seconds } else { 0 };
    let in_range = (1..=SECONDS_MAX).contains(&seconds);
    let (seconds, micro) = if in_range { (seconds, moment.micro()) } else { (0, 0) };
    if call.ty().kind != TypeKind::Decimal {
        return Ok(Value::Int(seconds));
    }
    let units = i128::from(seconds) * i128::from(MICROS_PER_SECOND) + i128::from(micro);
    let exact = Decimal::from_i128(units, 6).truncate(i32::from(call.ty().decimals));
    Ok(Value::Decimal(exact.rescale(call.ty().decimals).unwrap_or(exact)))
}

/// `moment`, past the end of its month in the next one.
fn on_calendar(moment: DateTime) -> DateTime {
    let date = moment.date();
    if date.is_calendar_day() || date.has_zero_part() {
        return moment;
    }
    let day = Date::from_day_number(date.day_number());
    DateTime::new(day, moment.hour(), moment.minute(), moment.second(), moment.micro())
}

/// Argument 0, seconds since 1970, in the session's zone.
fn local_time(call: &Call<'_>, fsp: u8) -> Result<Option<DateTime>, EvalError> {
    let Some(given) = call.decimal(0)? else { return Ok(None) };
    let seconds = given;
    let cuts = seconds.scale() > fsp && cuts_fractions(call.ctx);
    let seconds = if cuts { seconds.truncate(fsp.into()) } else { seconds.round(fsp.into()) };
    let micros = seconds
        .checked_mul(Decimal::from(MICROS_PER_SECOND))
        .and_then(|d| d.to_i64().ok())
        .filter(|m| (0..=SECONDS_MAX).contains(&m.div_euclid(MICROS_PER_SECOND)));
    if micros.is_none() && class_of(&call.args[0]) != Class::Int {
        warn_past_split(call, given);
    }
    Ok(micros.map(|micros| {
        let micro = micros.rem_euclid(MICROS_PER_SECOND) as u32;
        call.ctx.session.time_zone().to_local(micros.div_euclid(MICROS_PER_SECOND), micro)
    }))
}

/// FROM_UNIXTIME(n)
pub(crate) fn from_unixtime<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let fsp = call.ty().decimals;
    Ok(Value::DateTime(some!(local_time(call, fsp)), fsp))
}

/// FROM_UNIXTIME(n, format)
pub(crate) fn format_unixtime<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let moment = some!(local_time(call, 6));
    let pattern = some!(call.text(1));
    format::write_moment(call, moment, pattern)
}

/// CONVERT_TZ(moment, from, to)
pub(crate) fn convert_tz<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let fsp = call.ty().decimals;
    let zone = |name: &[u8]| std::str::from_utf8(name).ok().and_then(TimeZone::from_name);
    let (from, to) = (call.text(1)?.and_then(zone), call.text(2)?.and_then(zone));
    let (Some(from), Some(to)) = (from, to) else { return Ok(Value::Null) };
    let moment = some!(call.calendar_datetime(0));
    let seconds = from.to_unix(moment).seconds;
    // Outside the range of moments the value is returned as it is.
    let converted =
        if (0..=SECONDS_MAX).contains(&seconds) { to.to_local(seconds, moment.micro()) } else { moment };
    Ok(Value::DateTime(converted, fsp))
}
