//! STR_TO_DATE: a text read by a format.

use types::temporal::{DateFlags, WeekMode};
use types::{Date, DateTime, Locale, Time, TypeKind, Value};

use super::{Call, some};
use crate::{EvalError, Warning};

/// The parts that a format names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormatParts {
    /// Parts of a date.
    pub(crate) date: bool,
    /// Parts of a time.
    pub(crate) time: bool,
    /// Microseconds.
    pub(crate) micros: bool,
}

/// The parts that `format` asks for.
pub(crate) fn format_parts(format: &[u8]) -> FormatParts {
    let mut parts = FormatParts::default();
    for pair in format.windows(2).filter(|pair| pair[0] == b'%') {
        match pair[1] {
            b'f' => (parts.time, parts.micros) = (true, true),
            b'H' | b'I' | b'S' | b'T' | b'h' | b'i' | b'k' | b'l' | b'p' | b'r' | b's' => parts.time = true,
            b'%' | b'.' | b'@' | b'#' => {}
            _ => parts.date = true,
        }
    }
    parts
}

/// The parts of a date and time as they are read.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    year: u16,
    month: u8,
    day: u8,
    hour: u32,
    minute: u32,
    second: u32,
    micro: u32,
    /// The hour is one of twelve.
    is_half_day: bool,
    /// %p: PM.
    is_afternoon: bool,
    day_of_year: Option<u16>,
    /// 0 = Monday.
    weekday: Option<u8>,
    week: Option<Week>,
    /// %X and %x: the year that a week belongs to, and whether its weeks begin on Monday.
    week_year: Option<(u16, bool)>,
}

/// The number of a week.
#[derive(Clone, Copy, Debug)]
struct Week {
    number: u8,
    monday_first: bool,
    /// %V and %v: of the year that %X or %x names.
    of_week_year: bool,
}

impl Reading {
    /// The hour of the day; `None` if it is not an hour of half a day.
    fn hour_of_day(&self) -> Option<u32> {
        if !self.is_half_day {
            return Some(self.hour);
        }
        let noon = if self.is_afternoon { 12 } else { 0 };
        (1..=12).contains(&self.hour).then_some(self.hour % 12 + noon)
    }
}

/// STR_TO_DATE
pub(crate) fn str_to_date<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, format) = (some!(call.text(0)), some!(call.text(1)));
    let parts = format_parts(format);
    let mut reading = Reading::default();
    let value = read(text, format, &mut reading).and_then(|rest| {
        let value = finish(call, &reading, parts)?;
        if !rest.trim_ascii().is_empty() {
            call.truncated(type_name(&value), &Value::binary(text));
        }
        Some(value)
    });
    if value.is_none() {
        let value = Value::binary(text).narrow_message_text();
        call.ctx.session.warn(Warning::WrongValueForFunction {
            type_name: "datetime",
            value,
            function: "str_to_date",
        });
    }
    Ok(value.unwrap_or(Value::Null))
}

fn type_name(value: &Value<'_>) -> &'static str {
    match value {
        Value::Date(_) => "date",
        Value::Time(..) => "time",
        _ => "datetime",
    }
}

/// Reads `text` by `format`; the rest of the text, or `None` if it does not follow the format.
fn read<'t>(text: &'t [u8], format: &[u8], out: &mut Reading) -> Option<&'t [u8]> {
    let (mut text, mut format) = (text, format);
    loop {
        match format {
            [] => return Some(text),
            [b, rest @ ..] if b.is_ascii_whitespace() => {
                text = text.trim_ascii_start();
                format = rest;
            }
            [b'%', specifier, rest @ ..] => {
                text = text.trim_ascii_start();
                // A text that ends early leaves the other parts zero.
                if text.is_empty() {
                    return Some(text);
                }
                text = read_part(text, *specifier, out)?;
                format = rest;
            }
            [b, rest @ ..] => {
                text = text.trim_ascii_start();
                if text.is_empty() {
                    return Some(text);
                }
                text = text.strip_prefix(&[*b])?;
                format = rest;
            }
        }
    }
}

/// A number of at most `most` digits, at least one.
fn number(text: &[u8], most: usize) -> Option<(u32, &[u8])> {
    let digits = text.iter().take(most).take_while(|b| b.is_ascii_digit()).count();
    let value = text[..digits].iter().fold(0, |acc, b| acc * 10 + u32::from(b - b'0'));
    (digits > 0).then_some((value, &text[digits..]))
}

/// The place of the name that `text` begins with.
fn name<'t>(text: &'t [u8], names: &[&str]) -> Option<(u8, &'t [u8])> {
    names.iter().enumerate().find_map(|(i, name)| {
        let (start, rest) = text.split_at_checked(name.len())?;
        let is_word = !rest.first().is_some_and(u8::is_ascii_alphabetic);
        (is_word && start.eq_ignore_ascii_case(name.as_bytes())).then_some((i as u8, rest))
    })
}

fn read_part<'t>(text: &'t [u8], specifier: u8, out: &mut Reading) -> Option<&'t [u8]> {
    let skip = |skipped: fn(&u8) -> bool| {
        let count = text.iter().take_while(|b| skipped(b)).count();
        Some(&text[count..])
    };
    match specifier {
        b'T' => read(text, b"%H:%i:%S", out),
        b'r' => read_half_day(text, out),
        b'M' | b'b' => {
            let (index, rest) = name(text, Locale::english().months(specifier == b'b'))?;
            out.month = index + 1;
            Some(rest)
        }
        b'W' | b'a' => {
            let (index, rest) = name(text, Locale::english().days(specifier == b'a'))?;
            out.weekday = Some(index);
            Some(rest)
        }
        b'p' if out.is_half_day => {
            let (half, rest) = text.split_at_checked(2)?;
            out.is_afternoon = half.eq_ignore_ascii_case(b"PM");
            (out.is_afternoon || half.eq_ignore_ascii_case(b"AM")).then_some(rest)
        }
        b'.' => skip(u8::is_ascii_punctuation),
        b'@' => skip(u8::is_ascii_alphabetic),
        b'#' => skip(u8::is_ascii_digit),
        _ => read_number(text, specifier, out),
    }
}

/// %r: a time of twelve hours, whose half of the day is settled by itself.
fn read_half_day<'t>(text: &'t [u8], out: &mut Reading) -> Option<&'t [u8]> {
    let mut time = Reading::default();
    let rest = read(text, b"%I:%i:%S %p", &mut time)?;
    (out.hour, out.minute, out.second) = (time.hour_of_day()?, time.minute, time.second);
    Some(rest)
}

fn read_number<'t>(text: &'t [u8], specifier: u8, out: &mut Reading) -> Option<&'t [u8]> {
    let most = match specifier {
        b'Y' | b'X' | b'x' => 4,
        b'j' => 3,
        b'f' => 6,
        b'w' => 1,
        _ => 2,
    };
    let (value, rest) = number(text, most)?;
    let digits = text.len() - rest.len();
    match specifier {
        b'Y' | b'y' if digits <= 2 => out.year = (if value < 70 { 2000 } else { 1900 } + value) as u16,
        b'Y' => out.year = value as u16,
        b'm' | b'c' => out.month = value as u8,
        b'd' | b'e' => out.day = value as u8,
        b'D' => {
            out.day = value as u8;
            return Some(&rest[rest.len().min(2)..]);
        }
        b'H' | b'k' => out.hour = value,
        b'h' | b'I' | b'l' => (out.hour, out.is_half_day) = (value, true),
        b'i' => out.minute = value,
        b'S' | b's' => out.second = value,
        b'f' => out.micro = value * 10u32.pow(6 - digits as u32),
        b'j' => out.day_of_year = Some(value as u16),
        b'w' if value < 7 => out.weekday = Some(((value + 6) % 7) as u8),
        b'U' | b'u' | b'V' | b'v' => out.week = Some(week(value as u8, specifier)?),
        b'X' | b'x' => out.week_year = Some((value as u16, specifier == b'x')),
        _ => return None,
    }
    Some(rest)
}

/// A week as %U, %u, %V or %v counts it: the latter two from 1.
fn week(number: u8, specifier: u8) -> Option<Week> {
    let of_week_year = matches!(specifier, b'V' | b'v');
    let is_week = number <= 53 && !(of_week_year && number == 0);
    is_week.then_some(Week { number, monday_first: matches!(specifier, b'u' | b'v'), of_week_year })
}

/// The value of the call's type, `None` if the parts make none.
fn finish<'v>(call: &Call<'v>, reading: &Reading, parts: FormatParts) -> Option<Value<'v>> {
    let fsp = call.ty().decimals;
    let hour = reading.hour_of_day()?;
    if hour > 23 || reading.minute > 59 || reading.second > 59 {
        return None;
    }
    let time = Time::new(false, hour, reading.minute, reading.second, reading.micro);
    if call.ty().kind == TypeKind::Time && !parts.date {
        return Some(Value::Time(time, fsp));
    }
    let date = date_of(reading)?;
    let flags = DateFlags::from_modes(call.ctx.session.modes());
    if !flags.accept(date) {
        return None;
    }
    if call.ty().kind == TypeKind::Date {
        return Some(Value::Date(date));
    }
    let moment = DateTime::new(date, hour as u8, reading.minute as u8, reading.second as u8, reading.micro);
    Some(Value::DateTime(moment, fsp))
}

fn date_of(reading: &Reading) -> Option<Date> {
    if let Some(day) = reading.day_of_year.filter(|day| *day > 0) {
        let number = Date::new(reading.year, 1, 1).day_number() + i64::from(day) - 1;
        return Some(Date::from_day_number(number));
    }
    if let (Some(week), Some(weekday)) = (reading.week, reading.weekday) {
        let year = match reading.week_year {
            Some((year, monday_first)) if week.of_week_year && monday_first == week.monday_first => year,
            None if !week.of_week_year => reading.year,
            _ => return None,
        };
        return Some(day_of_week(year, week.number, week.monday_first, weekday));
    }
    (reading.month <= 12 && reading.day <= 31).then(|| Date::new(reading.year, reading.month, reading.day))
}

/// The day `weekday` (0 = Monday) of the week of the year, counted from 0 as %U and %u do.
fn day_of_week(year: u16, week: u8, monday_first: bool, weekday: u8) -> Date {
    let first = Date::new(year, 1, 1);
    let mode = WeekMode { monday_first, year_of_week: false, first_weekday: !monday_first };
    let place = |day: u8| if monday_first { day } else { (day + 1) % 7 };
    let start = first.day_number() - i64::from(place(first.weekday()));
    let weeks = i64::from(week) - i64::from(first.week(mode).1);
    Date::from_day_number(start + weeks * 7 + i64::from(place(weekday)))
}
