//! Arithmetic of times.

use types::temporal::{Interval, MAX_FSP, MICROS_PER_SECOND};
use types::{DateTime, Time, TypeKind, Value};

use super::{Call, some};
use crate::{EvalError, micros_of_seconds};

/// TIMESTAMP(date), TIMESTAMP(date, time)
pub(crate) fn timestamp<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let fsp = call.ty().decimals;
    let moment = some!(call.datetime(0));
    if call.args.len() == 1 {
        return Ok(moment.round(fsp).map_or(Value::Null, |m| Value::DateTime(m, fsp)));
    }
    let time = some!(call.time(1));
    Ok(shift(moment, time.micros()).map_or(Value::Null, |m| Value::DateTime(m, fsp)))
}

fn shift(moment: DateTime, micros: i64) -> Option<DateTime> {
    Interval::from_micros(micros).add_to(moment)
}

/// ADDTIME
pub(crate) fn add_time<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    add(call, 1)
}

/// SUBTIME
pub(crate) fn sub_time<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    add(call, -1)
}

fn add<'v>(call: &Call<'v>, sign: i64) -> Result<Value<'v>, EvalError> {
    let fsp = call.ty().decimals;
    let span = some!(call.time(1)).micros() * sign;
    match call.ty().kind {
        TypeKind::Time => {
            let sum = some!(call.time(0)).micros() + span;
            Ok(Value::Time(Time::from_micros_clipped(sum), fsp))
        }
        TypeKind::DateTime => {
            let moment = some!(call.datetime(0));
            Ok(shift(moment, span).map_or(Value::Null, |m| Value::DateTime(m, fsp)))
        }
        _ => add_to_text(call, span),
    }
}

/// A text that is a time or a date and time gives a text of the same kind.
fn add_to_text<'v>(call: &Call<'v>, span: i64) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let mut out = Vec::new();
    let is_dated = text.iter().skip(1).any(|b| *b == b'-');
    if is_dated {
        let moment = some!(call.datetime(0));
        let Some(sum) = shift(moment, span) else { return Ok(Value::Null) };
        sum.write_to(if sum.micro() == 0 { 0 } else { MAX_FSP }, &mut out);
    } else {
        let sum = Time::from_micros_clipped(some!(call.time(0)).micros() + span);
        sum.write_to(if sum.micro() == 0 { 0 } else { MAX_FSP }, &mut out);
    }
    call.copied(&out)
}

/// TIMEDIFF: both times, or both dates.
pub(crate) fn time_diff<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (a, b) = (some!(moment_or_time(call, 0)), some!(moment_or_time(call, 1)));
    let difference = match (a, b) {
        (Moment::At(a), Moment::At(b)) => a.epoch_micros() - b.epoch_micros(),
        (Moment::Span(a), Moment::Span(b)) => a.micros() - b.micros(),
        _ => return Ok(Value::Null),
    };
    Ok(Value::Time(Time::from_micros_clipped(difference), call.ty().decimals))
}

enum Moment {
    At(DateTime),
    Span(Time),
}

fn moment_or_time(call: &Call<'_>, i: usize) -> Result<Option<Moment>, EvalError> {
    let value = call.value(i)?;
    let is_dated = match value {
        Value::Date(_) | Value::DateTime(..) => true,
        Value::Bytes { data, .. } => data.iter().skip(1).any(|b| *b == b'-'),
        _ => false,
    };
    Ok(if is_dated { call.datetime(i)?.map(Moment::At) } else { call.time(i)?.map(Moment::Span) })
}

/// SEC_TO_TIME
pub(crate) fn sec_to_time<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let fsp = call.ty().decimals;
    let seconds = some!(call.decimal(0));
    let micros = micros_of_seconds(seconds, call.ctx);
    let bound = if seconds.is_negative() { i64::MIN } else { i64::MAX };
    let time = Time::from_micros_clipped(micros.unwrap_or(bound));
    if micros.is_none_or(|m| m != time.micros()) {
        call.truncated("time", &call.value(0)?);
    }
    Ok(Value::Time(time.round(fsp), fsp))
}

/// TIME_TO_SEC
pub(crate) fn time_to_sec<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(some!(call.time(0)).seconds()))
}

/// MAKETIME(hour, minute, second)
pub(crate) fn make_time<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (hour, minute) = (some!(call.int(0)), some!(call.int(1)));
    let second = some!(call.decimal(2));
    let micros = micros_of_seconds(second, call.ctx);
    let valid = (0..60).contains(&minute) && micros.is_some_and(|m| (0..60 * MICROS_PER_SECOND).contains(&m));
    if !valid {
        return Ok(Value::Null);
    }
    let micros = micros.unwrap_or(0);
    let clipped = hour.unsigned_abs().min(839) as u32;
    let time = Time::new(
        hour < 0,
        clipped,
        minute as u32,
        (micros / MICROS_PER_SECOND) as u32,
        (micros % MICROS_PER_SECOND) as u32,
    );
    if u64::from(time.hour()) != hour.unsigned_abs() {
        let shown = format!("{hour}:{minute:02}:{:02}", micros / MICROS_PER_SECOND);
        call.truncated("time", &Value::binary(shown.as_bytes()));
    }
    Ok(Value::Time(time, call.ty().decimals))
}
