//! NOW and its like: the time of the statement, the clock, UTC.

use types::temporal::{FSP_MAX, MICROS_PER_SECOND};
use types::{DateTime, TimeZone, Value};

use super::Call;
use crate::EvalError;

/// A moment as local time in `zone`, cut to the fraction digits of the call's type.
fn local(micros: i64, zone: &TimeZone, fsp: u8) -> DateTime {
    let micro = micros.rem_euclid(MICROS_PER_SECOND) as u32;
    zone.to_local(micros.div_euclid(MICROS_PER_SECOND), micro).truncate(fsp.min(FSP_MAX))
}

fn statement_time(call: &Call<'_>) -> DateTime {
    local(call.ctx.session.statement_time_micros(), call.ctx.session.time_zone(), call.ty().decimals)
}

fn statement_time_utc(call: &Call<'_>) -> DateTime {
    local(call.ctx.session.statement_time_micros(), &TimeZone::utc(), call.ty().decimals)
}

/// NOW
pub(crate) fn now<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::DateTime(statement_time(call), call.ty().decimals))
}

/// SYSDATE
pub(crate) fn sysdate<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let session = call.ctx.session;
    let fsp = call.ty().decimals;
    Ok(Value::DateTime(local(session.clock_micros(), session.time_zone(), fsp), fsp))
}

/// CURDATE
pub(crate) fn curdate<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Date(statement_time(call).date()))
}

/// CURTIME
pub(crate) fn curtime<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Time(statement_time(call).time(), call.ty().decimals))
}

/// UTC_DATE
pub(crate) fn utc_date<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Date(statement_time_utc(call).date()))
}

/// UTC_TIME
pub(crate) fn utc_time<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Time(statement_time_utc(call).time(), call.ty().decimals))
}

/// UTC_TIMESTAMP
pub(crate) fn utc_timestamp<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::DateTime(statement_time_utc(call), call.ty().decimals))
}
