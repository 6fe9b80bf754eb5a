//! Numbers, dates and times by format: FORMAT, DATE_FORMAT, TIME_FORMAT, GET_FORMAT.

use std::io::Write;

use types::collation::convert;
use types::temporal::WeekMode;
use types::value::write_double_fixed;
use types::{Charset, Date, DateTime, Locale, Time, Value};

use super::round::round_double;
use super::time::Moment;
use super::{Call, STEPS_BETWEEN_LOOKS, some};
use crate::build::{Class, class_of, is_text};
use crate::{EvalError, ExprKind, Warning};

/// FORMAT(number, decimals, locale): `1,234,567.89`.
pub(crate) fn format<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    // As in MySQL only the low 32 bits of the number of digits count; without one the locale is not read.
    let decimals = i64::from(some!(call.int(1)) as i32).clamp(0, 30);
    let locale = number_locale(call)?;
    let mut plain = Vec::new();
    if matches!(class_of(&call.args[0]), Class::Int | Class::Decimal) && !is_text(&call.args[0]) {
        let value = some!(call.decimal(0)).round(decimals as i32);
        value.rescale(decimals as u8).unwrap_or(value).write_to(&mut plain);
    } else {
        let rounded = round_double(some!(call.double(0)), decimals, false);
        write_double_fixed(rounded, decimals as u8, &mut plain);
    }
    let mut out = Vec::with_capacity(plain.len() * 2);
    locale.write_grouped(&plain, &mut out);
    call.copied(&out)
}

/// The locale that argument 2 names; that of the USA without one, and with a warning for an unknown name.
fn number_locale(call: &Call<'_>) -> Result<&'static Locale, EvalError> {
    if call.args.len() < 3 {
        return Ok(Locale::english());
    }
    let value = call.value(2)?;
    let name = call.text(2)?.map_or("NULL".into(), String::from_utf8_lossy);
    Ok(Locale::find(&name).unwrap_or_else(|| {
        // A constant that names none gave its warning when the call was bound.
        if !matches!(call.args[2].kind, ExprKind::Const(_)) {
            let name = if value.is_null() { name.into_owned() } else { value.raw_message_text() };
            call.ctx.session.warn(Warning::UnknownLocale { name });
        }
        Locale::english()
    }))
}

/// DATE_FORMAT
pub(crate) fn date_format<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let moment = some!(call.datetime(0));
    let pattern = some!(call.text(1));
    write_moment(call, moment, pattern)
}

/// TIME_FORMAT: hours may pass 23; parts of a date that is not there are zero.
pub(crate) fn time_format<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (date, time) = match some!(Moment::of(call, 0)) {
        Moment::At(moment) => (moment.date(), moment.time()),
        Moment::Span(time) => (Date::ZERO, time),
    };
    let pattern = some!(call.text(1));
    if pattern.is_empty() || names_day(pattern) {
        return Ok(Value::Null);
    }
    let mut out = Vec::new();
    if time.is_negative() {
        out.push(b'-');
    }
    Ok(match write_pattern(call, (date, time), pattern, &mut out)? {
        Some(()) => call.copied(&out)?,
        None => Value::Null,
    })
}

/// Whether `pattern` asks for a day of the week or of the year, or for a week: a time has none of them,
/// though it has a month.
fn names_day(mut pattern: &[u8]) -> bool {
    while let [b, after @ ..] = pattern {
        pattern = match (b, after) {
            (b'%', [b'W' | b'a' | b'D' | b'j' | b'U' | b'u' | b'V' | b'v' | b'X' | b'x' | b'w', ..]) => {
                return true;
            }
            (b'%', [_, after @ ..]) => after,
            _ => after,
        };
    }
    false
}

/// `moment` by `pattern`; NULL if the pattern asks for a name that a zero part does not have.
pub(super) fn write_moment<'v>(
    call: &Call<'v>,
    moment: DateTime,
    pattern: &[u8],
) -> Result<Value<'v>, EvalError> {
    if pattern.is_empty() {
        return Ok(Value::Null);
    }
    let mut out = Vec::new();
    match write_pattern(call, (moment.date(), moment.time()), pattern, &mut out)? {
        Some(()) => call.copied(&out),
        None => Ok(Value::Null),
    }
}

/// Writes by `pattern`; `None` if it asks for a name that a zero part does not have.
fn write_pattern(
    call: &Call<'_>,
    (date, time): (Date, Time),
    pattern: &[u8],
    out: &mut Vec<u8>,
) -> Result<Option<()>, EvalError> {
    let mut rest = pattern;
    let mut steps = 0;
    while let [b, after @ ..] = rest {
        steps += 1;
        if steps % STEPS_BETWEEN_LOOKS == 0 {
            call.ctx.fail_if_killed()?;
            call.ctx.reserve(out.len())?;
        }
        rest = if let (b'%', [specifier, after @ ..]) = (b, after) {
            if write_part(call, (date, time), *specifier, out).is_none() {
                return Ok(None);
            }
            after
        } else {
            out.push(*b);
            after
        };
    }
    Ok(Some(()))
}

/// One part; `None` if it has no name.
fn write_part(call: &Call<'_>, (date, time): (Date, Time), specifier: u8, out: &mut Vec<u8>) -> Option<()> {
    match specifier {
        b'M' | b'b' | b'W' | b'a' => write_name(call, date, specifier, out),
        b'Y' | b'y' | b'm' | b'c' | b'd' | b'e' | b'D' | b'j' => {
            write_date_part(date, specifier, out);
            Some(())
        }
        b'w' | b'U' | b'u' | b'V' | b'v' | b'X' | b'x' => write_week_part(date, specifier, out),
        b'H' | b'k' | b'h' | b'I' | b'l' | b'i' | b'S' | b's' | b'f' | b'p' | b'r' | b'T' => {
            write_time_part(time, specifier, out);
            Some(())
        }
        other => {
            out.push(other);
            Some(())
        }
    }
}

/// Writing to a Vec cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{
        let _ = write!($out, $($arg)*);
    }};
}

/// Whether formats give `date` a weekday: MySQL counts days back from the first month for month 0.
fn has_weekday(date: Date) -> bool {
    date.year() != 0 || date.month() != 0
}

/// The name of the month or day in the session's language.
fn write_name(call: &Call<'_>, date: Date, specifier: u8, out: &mut Vec<u8>) -> Option<()> {
    let is_day = matches!(specifier, b'W' | b'a');
    if is_day && !has_weekday(date) {
        return None;
    }
    let (locale, is_short) = (call.ctx.session.locale(), matches!(specifier, b'b' | b'a'));
    let name = if is_day {
        locale.days(is_short)[usize::from(date.weekday())]
    } else {
        locale.months(is_short)[usize::from(date.month()).checked_sub(1)?]
    };
    push_name(call, name, out);
    Some(())
}

/// Appends a name in the character set of the call's result.
pub(super) fn push_name(call: &Call<'_>, name: &str, out: &mut Vec<u8>) {
    if name.is_ascii() || call.charset() == Charset::Utf8mb4 {
        out.extend_from_slice(name.as_bytes());
    } else {
        convert(Charset::Utf8mb4, call.charset(), name.as_bytes(), out);
    }
}

fn write_date_part(date: Date, specifier: u8, out: &mut Vec<u8>) {
    match specifier {
        b'Y' => put!(out, "{:04}", date.year()),
        b'y' => put!(out, "{:02}", date.year() % 100),
        b'm' => put!(out, "{:02}", date.month()),
        b'c' => put!(out, "{}", date.month()),
        b'd' => put!(out, "{:02}", date.day()),
        b'e' => put!(out, "{}", date.day()),
        b'j' => {
            // It is negative in month 0. The zeros come before the sign.
            let day = date.day_number() - Date::new(date.year(), 1, 1).day_number() + 1;
            put!(out, "{:0>3}", day.to_string());
        }
        _ => put!(out, "{}{}", date.day(), ordinal_suffix(date.day())),
    }
}

fn ordinal_suffix(day: u8) -> &'static str {
    match (day / 10, day % 10) {
        (1, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

fn write_week_part(date: Date, specifier: u8, out: &mut Vec<u8>) -> Option<()> {
    if specifier == b'w' && !has_weekday(date) {
        return None;
    }
    // %U and %u count within the year; %V, %v, %X and %x belong to the year of the week.
    let week = |monday_first: bool, year_of_week: bool| {
        let mode = WeekMode { monday_first, year_of_week, first_weekday: !monday_first };
        if date.has_zero_part() { (date.year(), 0) } else { date.week(mode) }
    };
    match specifier {
        b'w' => put!(out, "{}", (date.weekday() + 1) % 7),
        b'U' => put!(out, "{:02}", week(false, false).1),
        b'u' => put!(out, "{:02}", week(true, false).1),
        b'V' => put!(out, "{:02}", week(false, true).1),
        b'v' => put!(out, "{:02}", week(true, true).1),
        b'X' => put!(out, "{:04}", week(false, true).0),
        _ => put!(out, "{:04}", week(true, true).0),
    }
    Some(())
}

fn write_time_part(time: Time, specifier: u8, out: &mut Vec<u8>) {
    let hour = time.hour();
    let twelve = (hour % 24 + 11) % 12 + 1;
    let half = if hour % 24 < 12 { "AM" } else { "PM" };
    match specifier {
        b'H' => put!(out, "{hour:02}"),
        b'k' => put!(out, "{hour}"),
        b'h' | b'I' => put!(out, "{twelve:02}"),
        b'l' => put!(out, "{twelve}"),
        b'i' => put!(out, "{:02}", time.minute()),
        b'S' | b's' => put!(out, "{:02}", time.second()),
        b'f' => put!(out, "{:06}", time.micro()),
        b'p' => put!(out, "{half}"),
        b'r' => put!(out, "{twelve:02}:{:02}:{:02} {half}", time.minute(), time.second()),
        _ => put!(out, "{hour:02}:{:02}:{:02}", time.minute(), time.second()),
    }
}

/// GET_FORMAT(kind, style); the kind is given as text.
pub(crate) fn get_format<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    const STYLES: [&str; 5] = ["USA", "JIS", "ISO", "EUR", "INTERNAL"];
    const FORMATS: [(&str, [&str; 5]); 3] = [
        ("DATE", ["%m.%d.%Y", "%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y", "%Y%m%d"]),
        ("TIME", ["%h:%i:%s %p", "%H:%i:%s", "%H:%i:%s", "%H.%i.%s", "%H%i%s"]),
        (
            "DATETIME",
            [
                "%Y-%m-%d %H.%i.%s",
                "%Y-%m-%d %H:%i:%s",
                "%Y-%m-%d %H:%i:%s",
                "%Y-%m-%d %H.%i.%s",
                "%Y%m%d%H%i%s",
            ],
        ),
    ];
    let (kind, style) = (some!(call.text(0)), some!(call.text(1)));
    let kind: &[u8] = if kind.eq_ignore_ascii_case(b"TIMESTAMP") { b"DATETIME" } else { kind };
    let formats = FORMATS.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(kind));
    let style = STYLES.iter().position(|name| name.as_bytes().eq_ignore_ascii_case(style));
    Ok(match (formats, style) {
        (Some((_, formats)), Some(style)) => call.text_value(formats[style].as_bytes()),
        _ => Value::Null,
    })
}
