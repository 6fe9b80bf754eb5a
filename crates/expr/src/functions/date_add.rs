//! Functions with a unit: DATE_ADD, EXTRACT, TIMESTAMPDIFF.

use types::temporal::{
    DateFlags, FSP_MAX, Interval, IntervalUnit, MICROS_PER_SECOND, OddDelimiter, WeekMode,
};
use types::{DateTime, Time, TypeKind, Value};

use super::date_parts::default_week_format;
use super::time::warn_past_split;
use super::{Call, some};
use crate::build::{Class, class_of};
use crate::moment::is_date_number;
use crate::{EvalError, Warning, micros_of_seconds, moment_of};

/// `date + INTERVAL amount unit`
pub(crate) fn date_add<'v>(call: &Call<'v>, unit: IntervalUnit) -> Result<Value<'v>, EvalError> {
    shifted(call, unit, false)
}

/// `date - INTERVAL amount unit`
pub(crate) fn date_sub<'v>(call: &Call<'v>, unit: IntervalUnit) -> Result<Value<'v>, EvalError> {
    shifted(call, unit, true)
}

/// A span to be added.
#[derive(Clone, Copy)]
enum Span {
    Of(Interval),
    /// Out of every range.
    TooLong,
}

impl Span {
    fn of(interval: Option<Interval>) -> Span {
        interval.map_or(Span::TooLong, Span::Of)
    }

    fn negate(self) -> Span {
        match self {
            Span::Of(interval) => Span::Of(interval.negate()),
            Span::TooLong => Span::TooLong,
        }
    }

    fn interval(self) -> Option<Interval> {
        match self {
            Span::Of(interval) => Some(interval),
            Span::TooLong => None,
        }
    }
}

/// The span that argument 1 means.
fn amount(call: &Call<'_>, unit: IntervalUnit) -> Result<Option<Span>, EvalError> {
    use IntervalUnit::{Day, Hour, Microsecond, Minute, Month, Quarter, Second, Week, Year};
    let is_single =
        matches!(unit, Year | Quarter | Month | Week | Day | Hour | Minute | Microsecond | Second);
    if !is_single {
        let Some(text) = call.text(1)? else { return Ok(None) };
        return Ok(known_beside_time(call, Interval::parse(text, unit)));
    }
    if unit == Second && class_of(&call.args[1]) != Class::Int {
        let Some(seconds) = call.decimal(1)? else { return Ok(None) };
        // What is less than a microsecond is no part of an interval.
        let micros = micros_of_seconds(seconds.truncate(FSP_MAX.into()), call.ctx);
        if micros.is_none() {
            warn_past_split(call, seconds);
        }
        return Ok(known_beside_time(call, micros.map(Interval::from_micros)));
    }
    let Some(count) = call.signed_int(1)? else { return Ok(None) };
    Ok(Some(Span::of(Interval::from_count(count, unit))))
}

/// The span of a text or of seconds. One that cannot be read is unknown beside a TIME, and out of every range
/// beside dates.
fn known_beside_time(call: &Call<'_>, interval: Option<Interval>) -> Option<Span> {
    match interval {
        None if call.ty().kind == TypeKind::Time => None,
        _ => Some(Span::of(interval)),
    }
}

/// Argument 0 plus or minus argument 1, as the call's type wants it; out of range NULL with a warning. An
/// invalid date is found before the interval is read.
fn shifted<'v>(call: &Call<'v>, unit: IntervalUnit, subtract: bool) -> Result<Value<'v>, EvalError> {
    let fsp = call.ty().decimals;
    let span = || {
        let span = amount(call, unit)?;
        Ok::<_, EvalError>(span.map(|span| if subtract { span.negate() } else { span }.interval()))
    };
    let result = match call.ty().kind {
        TypeKind::Time => {
            let time = some!(call.time(0));
            some!(span()).and_then(|span| span.add_to_time(time)).map(|t| Value::Time(t, fsp))
        }
        TypeKind::Date => {
            let date = some!(call.calendar_date(0));
            some!(span()).and_then(|span| span.add_to_date(date)).map(Value::Date)
        }
        TypeKind::DateTime => {
            let moment = some!(call.calendar_datetime(0));
            some!(span()).and_then(|span| span.add_to(moment)).map(|t| Value::DateTime(t, fsp))
        }
        _ => {
            let moment = some!(call.calendar_datetime(0));
            let interval = some!(span());
            return as_text(call, unit, interval.and_then(|span| span.add_to(moment)));
        }
    };
    Ok(result.unwrap_or_else(|| overflow(call)))
}

/// A text plus a span is a text: of a date if the text was one and the unit counts days. A YEAR has a time.
fn as_text<'v>(call: &Call<'v>, unit: IntervalUnit, sum: Option<DateTime>) -> Result<Value<'v>, EvalError> {
    let is_date = match is_date_number(&call.value(0)?) {
        Some(is_date) => is_date,
        None => !has_time_part(call.text(0)?.unwrap_or_default()),
    };
    let mut out = Vec::new();
    let Some(sum) = sum else { return Ok(overflow(call)) };
    let is_year = call.args[0].ty.kind == TypeKind::Year;
    if unit.is_date_unit() && !is_year && is_date {
        sum.date().write_to(&mut out);
    } else {
        sum.write_to(shown_fsp(sum.micro()), &mut out);
    }
    call.copied(&out)
}

/// A computed text shows a fraction in full or not at all.
fn shown_fsp(micro: u32) -> u8 {
    if micro == 0 { 0 } else { FSP_MAX }
}

/// Whether the text has a time after its date.
fn has_time_part(text: &[u8]) -> bool {
    DateTime::parse(text, DateFlags::default()).is_some_and(|parsed| parsed.has_time)
}

/// Whether the text is a date and a time; others are times for the units of a day.
fn is_dated(text: &[u8]) -> bool {
    Time::parse(text).is_some_and(|parsed| parsed.date_dropped)
        || is_plain_date(text)
        || is_standard_moment(text)
        || is_date_of_digits(text)
}

/// Whether a text is a date, with nothing after it and none of the delimiters that MySQL warns of: any other
/// is a time.
fn is_wholly_dated(text: &[u8]) -> bool {
    let is_odd = Time::parse(text).is_some_and(|parsed| {
        parsed.date_dropped && (parsed.truncated || OddDelimiter::of_clock(text).is_some())
    });
    is_dated(text) && !is_odd
}

/// Whether a text is a date without delimiters, perhaps with a time, and nothing else.
fn is_date_of_digits(text: &[u8]) -> bool {
    const DIGITS_MIN: usize = 5;
    let any_day = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let is_fraction = |rest: &[u8]| match rest {
        [] => true,
        [b'.', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    digits >= DIGITS_MIN
        && is_fraction(&text[digits..])
        && DateTime::parse(text, any_day).is_some_and(|parsed| !parsed.truncated)
}

/// Whether a text is a date and time with a T between the two, and nothing else.
fn is_standard_moment(text: &[u8]) -> bool {
    let any_day = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
    let Some(at) = text.iter().position(|b| *b == b'T') else { return false };
    at + 1 < text.len()
        && is_plain_date(&text[..at])
        && DateTime::parse(text, any_day).is_some_and(|parsed| parsed.has_time && !parsed.truncated)
}

/// Whether a text is a date as the standard writes it, and nothing else.
fn is_plain_date(text: &[u8]) -> bool {
    const BYTES_MAX: usize = 10;
    let is_part = |b: &u8| b.is_ascii_digit() || *b == b'-';
    let any_day = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
    text.len() <= BYTES_MAX
        && text.first().is_some_and(u8::is_ascii_digit)
        && text.iter().all(is_part)
        && text.split(|b| *b == b'-').count() == 3
        && DateTime::parse(text, any_day).is_some_and(|parsed| !parsed.truncated)
}

/// Whether a number is a date rather than a time.
fn is_dated_number(call: &Call<'_>, value: &Value<'_>) -> bool {
    const FIRST_DATE: f64 = 100_000.0;
    value.to_f64().value >= FIRST_DATE && moment_of(value, DateFlags::default(), call.ctx).is_some()
}

#[cold]
fn overflow<'v>(call: &Call<'v>) -> Value<'v> {
    call.ctx.session.warn(Warning::DateOverflow);
    Value::Null
}

/// `EXTRACT(unit FROM value)`
pub(crate) fn extract<'v>(call: &Call<'v>, unit: IntervalUnit) -> Result<Value<'v>, EvalError> {
    use IntervalUnit::{Day, Month, Quarter, Week, Year, YearMonth};
    if !matches!(unit, Year | Quarter | Month | Week | Day | YearMonth) {
        return extract_time(call, unit);
    }
    let date = some!(call.datetime(0)).date();
    let (year, month) = (i64::from(date.year()), i64::from(date.month()));
    Ok(Value::Int(match unit {
        Year => year,
        Quarter => (month + 2) / 3,
        Month => month,
        Week => i64::from(date.week(WeekMode::from_number(default_week_format(call))).1),
        YearMonth => year * 100 + month,
        _ => i64::from(date.day()),
    }))
}

/// Units with a time part: of the time of day, with the day of a date before it.
fn extract_time<'v>(call: &Call<'v>, unit: IntervalUnit) -> Result<Value<'v>, EvalError> {
    let value = call.value_read_twice(0)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let has_date = match value {
        Value::Date(_) | Value::DateTime(..) => true,
        Value::Time(..) => false,
        _ if value.is_textual() => is_wholly_dated(call.text(0)?.unwrap_or_default()),
        _ => is_dated_number(call, &value),
    };
    let (day, time) = if has_date {
        let moment: DateTime = some!(call.datetime(0));
        (i64::from(moment.date().day()), moment.time())
    } else {
        (0, some!(call.time(0)))
    };
    Ok(Value::Int(joined(unit, day, time) * if time.is_negative() { -1 } else { 1 }))
}

/// The parts of `unit` as one number of two digits each, six for microseconds.
fn joined(unit: IntervalUnit, day: i64, time: Time) -> i64 {
    use IntervalUnit::{
        DayHour, DayMicrosecond, DayMinute, DaySecond, Hour, HourMicrosecond, HourMinute, HourSecond,
        Microsecond, Minute, MinuteMicrosecond, MinuteSecond, Second,
    };
    let (hour, minute) = (i64::from(time.hour()), i64::from(time.minute()));
    let (second, micro) = (i64::from(time.second()), i64::from(time.micro()));
    let seconds = (hour * 100 + minute) * 100 + second;
    match unit {
        Hour => hour,
        Minute => minute,
        Second => second,
        Microsecond => micro,
        DayHour => day * 100 + hour,
        DayMinute => (day * 100 + hour) * 100 + minute,
        DaySecond => day * 1_000_000 + seconds,
        DayMicrosecond => (day * 1_000_000 + seconds) * 1_000_000 + micro,
        HourMinute => hour * 100 + minute,
        HourSecond => seconds,
        HourMicrosecond => seconds * 1_000_000 + micro,
        MinuteSecond => minute * 100 + second,
        MinuteMicrosecond => (minute * 100 + second) * 1_000_000 + micro,
        _ => second * 1_000_000 + micro,
    }
}

/// `TIMESTAMPDIFF(unit, from, to)`
pub(crate) fn timestamp_diff<'v>(call: &Call<'v>, unit: IntervalUnit) -> Result<Value<'v>, EvalError> {
    use IntervalUnit::{Day, Hour, Minute, Month, Quarter, Second, Week, Year};
    let (from, to) = (some!(call.calendar_datetime(0)), some!(call.calendar_datetime(1)));
    let micros = to.epoch_micros() - from.epoch_micros();
    let seconds = micros / MICROS_PER_SECOND;
    Ok(Value::Int(match unit {
        Year => to.months_since(from) / 12,
        Quarter => to.months_since(from) / 3,
        Month => to.months_since(from),
        Week => seconds / (7 * 86_400),
        Day => seconds / 86_400,
        Hour => seconds / 3_600,
        Minute => seconds / 60,
        Second => seconds,
        _ => micros,
    }))
}
