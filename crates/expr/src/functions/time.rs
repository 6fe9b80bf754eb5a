//! Arithmetic of times.

use types::temporal::{DateFlags, FSP_MAX, Interval, MICROS_PER_SECOND, OddDelimiter};
use types::value::Loss;
use types::{DateTime, Decimal, Time, TypeKind, Value};

use super::call::has_bits;
use super::{Call, signed, some};
use crate::build::{Class, class_of};
use crate::compare::warn_past_decimal;
use crate::moment::{note_date_delimiters, note_time_delimiters, warn_no_moment};
use crate::{EvalError, micros_of_seconds, moment_of, time_of};

/// TIMESTAMP(date), TIMESTAMP(date, time)
pub(crate) fn timestamp<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let fsp = call.ty().decimals;
    if call.args.len() == 1 {
        // A cast drops a fraction silently.
        let flags = DateFlags::from_modes(call.ctx.session.modes());
        let Some(moment) = call.read_datetime(&call.value(0)?, flags) else { return Ok(Value::Null) };
        return Ok(moment.round(fsp).map_or(Value::Null, |m| Value::DateTime(m, fsp)));
    }
    let moment = some!(call.stored_datetime(0));
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
    match call.ty().kind {
        TypeKind::Time => {
            let time = some!(call.time(0));
            let span = some!(call.time(1)).micros() * sign;
            Ok(Value::Time(clipped(call, time.micros() + span, fsp), fsp))
        }
        TypeKind::DateTime => {
            let moment = some!(call.datetime(0));
            if !moment.date().is_calendar_day() {
                return Ok(Value::Null);
            }
            let span = some!(call.time(1)).micros() * sign;
            Ok(shift(moment, span).map_or(Value::Null, |m| Value::DateTime(m, fsp)))
        }
        _ => add_to_text(call, sign),
    }
}

/// A text that is a time or a date and time gives a text of the same kind.
fn add_to_text<'v>(call: &Call<'v>, sign: i64) -> Result<Value<'v>, EvalError> {
    let shown_fsp = |micro: u32| if micro == 0 { 0 } else { FSP_MAX };
    let moment = some!(Moment::of(call, 0));
    if let Moment::At(moment) = moment
        && !moment.date().is_calendar_day()
        && !has_odd_delimiter(call)?
    {
        return warn_no_day(call);
    }
    let span = some!(call.time(1)).micros() * sign;
    let mut out = Vec::new();
    match moment {
        Moment::At(moment) => {
            let sum = i128::from(moment.epoch_micros()) + i128::from(span);
            let Some(sum) = DateTime::from_epoch_micros(sum) else { return Ok(Value::Null) };
            sum.write_to(shown_fsp(sum.micro()), &mut out);
        }
        Moment::Span(time) => {
            let sum = time.micros() + span;
            let fsp = shown_fsp((sum.unsigned_abs() % MICROS_PER_SECOND as u64) as u32);
            let sum = clipped(call, sum, fsp);
            sum.write_to(shown_fsp(sum.micro()), &mut out);
        }
    }
    call.copied(&out)
}

/// Whether argument 0 is a text with a delimiter that MySQL deprecates in dates. MySQL does not check the day
/// of such a date.
#[cold]
fn has_odd_delimiter(call: &Call<'_>) -> Result<bool, EvalError> {
    Ok(matches!(call.value(0)?, Value::Bytes { data, .. } if OddDelimiter::of_date(data).is_some()))
}

/// Warns that argument 0 is no day of the calendar.
#[cold]
fn warn_no_day<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let value = call.value(0)?;
    match value {
        Value::Bytes { data, .. } => {
            let has_time = DateTime::parse(data, any_day()).is_some_and(|parsed| parsed.has_time);
            call.truncated(if has_time { "datetime" } else { "date" }, &value);
        }
        _ => warn_no_moment(&value, call.ctx),
    }
    Ok(Value::Null)
}

/// The time of a number of microseconds; past the range its bound, with a warning that shows `fsp` fraction
/// digits.
fn clipped(call: &Call<'_>, micros: i64, fsp: u8) -> Time {
    let time = Time::from_micros_clipped(micros);
    if time.micros() != micros {
        warn_long_time(call, micros, fsp);
    }
    time
}

#[cold]
fn warn_long_time(call: &Call<'_>, micros: i64, fsp: u8) {
    let sign = if micros < 0 { "-" } else { "" };
    let (seconds, micro) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
    let mut shown = format!("{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fsp > 0 {
        let digits = format!("{micro:06}");
        shown.push('.');
        shown.push_str(&digits[..usize::from(fsp.min(FSP_MAX))]);
    }
    call.truncated("time", &Value::binary(shown.as_bytes()));
}

/// TIMEDIFF: both times, or both dates.
pub(crate) fn time_diff<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (a, b) = (some!(Moment::of(call, 0)), some!(Moment::of(call, 1)));
    let difference = match (a, b) {
        (Moment::At(a), Moment::At(b)) => a.epoch_micros() - b.epoch_micros(),
        (Moment::Span(a), Moment::Span(b)) => a.micros() - b.micros(),
        _ => return Ok(Value::Null),
    };
    let fsp = call.ty().decimals;
    Ok(Value::Time(clipped(call, difference, fsp), fsp))
}

/// Every day of a date that may be a time is taken.
fn any_day() -> DateFlags {
    DateFlags { allow_invalid_dates: true, ..DateFlags::default() }
}

/// From here on numbers are past every BIGINT.
const BIGINT_END: f64 = 9_223_372_036_854_775_808.0;
/// Larger numbers are read as dates; this one is past the largest time in all but its minutes and seconds.
const TIME_MAX: f64 = 8_399_999.0;

/// A time, or a date and time.
pub(super) enum Moment {
    At(DateTime),
    Span(Time),
}

impl Moment {
    /// What argument `i` is; NULL, with a warning, if it is neither.
    pub(super) fn of(call: &Call<'_>, i: usize) -> Result<Option<Moment>, EvalError> {
        let value = signed(call.value_read_twice(i)?);
        let read = match value {
            Value::Null => return Ok(None),
            Value::Time(time, _) => Some(Moment::Span(time)),
            Value::Date(date) => Some(Moment::At(DateTime::from_date(date))),
            Value::DateTime(moment, _) => Some(Moment::At(moment)),
            Value::Bytes { .. } | Value::Enum { .. } | Value::Set { .. } | Value::Bit { .. } => {
                Moment::of_text(call, &value)
            }
            _ => Moment::of_number(call, &value),
        };
        match read {
            None if value.is_textual() || matches!(value, Value::Bit { .. }) => {
                warn_no_moment(&value, call.ctx);
            }
            None if is_past_times(&value) => {
                if value.to_decimal().loss == Loss::OutOfRange {
                    warn_past_decimal(&value, call.ctx);
                }
                warn_no_moment(&value, call.ctx);
            }
            None => call.truncated("time", &value),
            Some(_) => {}
        }
        Ok(read)
    }

    /// A text that is wholly a time with colons is one; of others those that can be dates are dates.
    fn of_text(call: &Call<'_>, value: &Value<'_>) -> Option<Moment> {
        let mut scratch = Vec::new();
        let text = value.as_text(&mut scratch);
        let parsed = Time::parse(text);
        let is_clock = text.contains(&b':')
            && parsed.is_some_and(|time| !time.truncated && !time.out_of_range && !time.date_dropped);
        if !is_clock && let Some(read) = moment_of(value, any_day(), call.ctx) {
            note_date_delimiters(value, call.ctx);
            return Some(Moment::At(read.value));
        }
        let read = time_of(value, call.ctx)?;
        if read.loss != Loss::None {
            call.truncated("time", value);
        }
        note_time_delimiters(value, call.ctx);
        Some(Moment::Span(read.value))
    }

    /// A number up to the largest time is a time.
    fn of_number(call: &Call<'_>, value: &Value<'_>) -> Option<Moment> {
        if let Some(read) = time_of(value, call.ctx)
            && moment_of(value, any_day(), call.ctx).is_none_or(|_| value.to_f64().value.abs() <= 8_385_959.0)
        {
            return Some(Moment::Span(read.value));
        }
        let read = moment_of(value, any_day(), call.ctx)?;
        call.note_lost_fraction(value);
        Some(Moment::At(read.value))
    }
}

/// Whether a number gives the warning that it is not a date: integers past the largest time, and other
/// numbers past any.
fn is_past_times(value: &Value<'_>) -> bool {
    let least = match value {
        Value::Int(_) => -BIGINT_END,
        _ => -TIME_MAX,
    };
    !(least..=TIME_MAX).contains(&value.to_f64().value)
}

/// SEC_TO_TIME
pub(crate) fn sec_to_time<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let fsp = call.ty().decimals;
    let seconds = some!(call.decimal(0));
    let micros = micros_of_seconds(seconds, call.ctx);
    let bound = if seconds.is_negative() { i64::MIN } else { i64::MAX };
    let time = Time::from_micros_clipped(micros.unwrap_or(bound));
    if micros.is_none_or(|m| m != time.micros()) {
        // A date or time shows a fraction in full, or none, whatever its type has.
        let is_temporal = call.args[0].ty.is_temporal();
        let whole = seconds.truncate(0);
        let shown = match whole == seconds {
            _ if !is_temporal => seconds,
            true => whole,
            false => seconds.rescale(FSP_MAX).unwrap_or(seconds),
        };
        call.truncated("time", &Value::Decimal(shown));
    }
    Ok(Value::Time(time.round(fsp), fsp))
}

/// TIME_TO_SEC
pub(crate) fn time_to_sec<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(some!(call.time(0)).seconds()))
}

/// A time past the range in MySQL's warning: without a sign, seconds with the digits of their argument,
/// nine if it is no DECIMAL.
#[cold]
fn shown_time(hour: u64, minute: i64, second: Decimal, is_exact: bool) -> String {
    const NANO_DIGITS: u8 = 9;
    let whole = second.truncate(0);
    let has_digits = !is_exact && whole != second;
    let padded = if has_digits { second.rescale(NANO_DIGITS) } else { None };
    let digits = if whole == second { String::new() } else { padded.unwrap_or(second).to_string() };
    let fraction = digits.find('.').map_or("", |point| &digits[point..]);
    let whole = whole.to_i64().unwrap_or_default();
    format!("{hour}:{minute:02}:{whole:02}{fraction}")
}

/// Warns of a number of seconds with more whole digits than MySQL splits into seconds and fractions.
pub(super) fn warn_past_split(call: &Call<'_>, seconds: Decimal) {
    const END: u64 = 1_000_000_000_000_000_000;
    if seconds.truncate(0).to_i64().map_or(true, |whole| whole.unsigned_abs() >= END) {
        call.truncated("DECIMAL", &Value::Decimal(seconds));
    }
}

/// The hours of MAKETIME, and whether they are negative; integers without a sign and bits are not.
fn hours(call: &Call<'_>) -> Result<Option<(bool, u64)>, EvalError> {
    let arg = &call.args[0];
    if has_bits(arg) || arg.ty.unsigned && class_of(arg) == Class::Int {
        return Ok(call.bits(0)?.map(|hours| (false, hours)));
    }
    Ok(call.int(0)?.map(|hours| (hours < 0, hours.unsigned_abs())))
}

/// MAKETIME(hour, minute, second)
pub(crate) fn make_time<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (is_negative, hour) = some!(hours(call));
    let minute = some!(call.int(1));
    let second = some!(call.decimal(2));
    let micros = micros_of_seconds(second, call.ctx);
    if micros.is_none() {
        warn_past_split(call, second);
    }
    let valid = (0..60).contains(&minute) && micros.is_some_and(|m| (0..60 * MICROS_PER_SECOND).contains(&m));
    if !valid {
        return Ok(Value::Null);
    }
    let micros = micros.unwrap_or(0);
    let clipped = hour.min(839) as u32;
    let time = Time::new(
        is_negative,
        clipped,
        minute as u32,
        (micros / MICROS_PER_SECOND) as u32,
        (micros % MICROS_PER_SECOND) as u32,
    );
    if u64::from(time.hour()) != hour {
        let is_exact = class_of(&call.args[2]) == Class::Decimal;
        let shown = shown_time(hour, minute, second, is_exact);
        // Without its sign it would be the same number.
        let is_least = is_negative && hour == i64::MIN.unsigned_abs();
        let shown = if is_least { format!("-{shown}") } else { shown };
        call.truncated("time", &Value::binary(shown.as_bytes()));
    }
    Ok(Value::Time(time, call.ty().decimals))
}
