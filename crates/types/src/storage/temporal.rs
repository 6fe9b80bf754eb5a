//! Assignment to DATE, TIME, DATETIME and TIMESTAMP columns.

use super::problem::{Fault, StoreContext};
use super::{fraction_unit, fraction_width, time_width};
use crate::temporal::{DateFlags, MOMENT_BYTES_MIN, OddDelimiter, Parsed, ParsedTime, unit_of};
use crate::value::digits::count_while;
use crate::value::double_prefix;
use crate::{Date, DateTime, SqlType, Time, TypeKind, Value};

/// Years in which stored literals may carry an offset.
const ZONED_YEARS: std::ops::RangeInclusive<u16> = 1969..=3001;

/// Last moment of a TIMESTAMP: 2038-01-19 03:14:07 UTC.
const TIMESTAMP_MAX: i64 = i32::MAX as i64;

/// Numbers that are dates without a time.
const DATE_NUMBERS: std::ops::RangeInclusive<i64> = 1..=99_991_231;

/// The greatest number with the digits of a date and time.
const NUMBER_MAX: i64 = 99_999_999_999_999;

/// The first delimiter that MySQL deprecates in a text that is read as a date or time for a column of type
/// `ty`.
#[inline]
pub fn odd_delimiter(ty: &SqlType, value: &Value<'_>, ctx: &StoreContext<'_>) -> Option<OddDelimiter> {
    let Value::Bytes { data, .. } = value else { return None };
    match ty.kind {
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => {
            let is_moment = || DateTime::parse(data, flags_for(ty, ctx)).is_some();
            OddDelimiter::of_date(data).filter(|_| is_moment())
        }
        TypeKind::Time => {
            let is_time = || Time::parse(data).is_some() && !data.trim_ascii().is_empty();
            OddDelimiter::of_clock(data).filter(|_| is_time())
        }
        _ => None,
    }
}

/// Which dates a column of type `ty` refuses: a TIMESTAMP has no incomplete ones, whatever the mode.
fn flags_for(ty: &SqlType, ctx: &StoreContext<'_>) -> DateFlags {
    match ty.kind {
        TypeKind::Timestamp => {
            DateFlags { no_zero_in_date: true, allow_invalid_dates: false, ..ctx.date_flags }
        }
        _ => ctx.date_flags,
    }
}

pub(super) fn store_date(value: &Value<'_>, ctx: &StoreContext<'_>, out: &mut Vec<u8>) -> Fault {
    let (moment, mut fault) = moment_of(value, 0, "date", ctx);
    if fault == Fault::None && moment.micros_of_day() != 0 {
        fault = Fault::PartDropped("date");
    }
    out.extend_from_slice(&moment.date().packed().to_le_bytes()[..3]);
    fault
}

pub(super) fn store_datetime(
    ty: &SqlType,
    value: &Value<'_>,
    ctx: &StoreContext<'_>,
    out: &mut Vec<u8>,
) -> Fault {
    let (moment, fault) = moment_of(value, ty.decimals, "datetime", ctx);
    out.extend_from_slice(&moment.packed_seconds().to_le_bytes()[..5]);
    push_fraction(moment.micro(), ty.decimals, out);
    fault
}

pub(super) fn store_timestamp(
    ty: &SqlType,
    value: &Value<'_>,
    ctx: &StoreContext<'_>,
    out: &mut Vec<u8>,
) -> Fault {
    let ctx = &StoreContext { date_flags: flags_for(ty, ctx), ..*ctx };
    let (moment, mut fault) = moment_of(value, ty.decimals, "datetime", ctx);
    let (mut seconds, mut micro) = (0, 0);
    if !moment.is_zero() {
        let local = ctx.zone.to_unix(moment);
        if (1..=TIMESTAMP_MAX).contains(&local.seconds) {
            (seconds, micro) = (local.seconds as u32, moment.micro());
            if local.in_gap {
                micro = 0;
                fault = Fault::ZoneGap;
            }
        } else {
            // A number between zero and one is the zero date with a fraction.
            let is_fraction = moment.date() == Date::ZERO;
            fault = if is_fraction { Fault::Temporal("datetime") } else { Fault::TemporalRange("datetime") };
        }
    }
    out.extend_from_slice(&seconds.to_le_bytes());
    push_fraction(micro, ty.decimals, out);
    fault
}

pub(super) fn store_time(
    ty: &SqlType,
    value: &Value<'_>,
    ctx: &StoreContext<'_>,
    out: &mut Vec<u8>,
) -> Fault {
    let (time, fault) = time_of(value, ty.decimals, ctx);
    let units = time.micros() / unit_of(ty.decimals);
    out.extend_from_slice(&units.to_le_bytes()[..time_width(ty.decimals)]);
    fault
}

fn push_fraction(micro: u32, fsp: u8, out: &mut Vec<u8>) {
    let width = fraction_width(fsp);
    out.extend_from_slice(&(micro / fraction_unit(width)).to_le_bytes()[..width]);
}

/// The date and time of `value` with `fsp` digits; the zero date with a fault that says why.
fn moment_of(value: &Value<'_>, fsp: u8, name: &'static str, ctx: &StoreContext<'_>) -> (DateTime, Fault) {
    let flags = ctx.date_flags;
    let exact = |moment: DateTime| (moment, Fault::None);
    match *value {
        Value::Date(v) if flags.accept(v) => exact(DateTime::from_date(v)),
        Value::DateTime(v, _) if flags.accept_datetime(v) => rounded(v, fsp, ctx),
        Value::Date(_) | Value::DateTime(..) => (DateTime::ZERO, Fault::TemporalRange(name)),
        Value::Time(v, _) => match DateTime::from_date_and_time(ctx.today, v) {
            Some(moment) => rounded(moment, fsp, ctx),
            None => (DateTime::ZERO, Fault::TemporalRange(name)),
        },
        Value::Bytes { .. } | Value::Enum { .. } | Value::Set { .. } => {
            let mut scratch = Vec::new();
            moment_of_text(value.as_text(&mut scratch), fsp, name, ctx)
        }
        Value::Year(0) if flags.no_zero_date => (DateTime::ZERO, Fault::TemporalRange(name)),
        Value::Year(0) => exact(DateTime::ZERO),
        Value::Year(_) => (DateTime::ZERO, Fault::Temporal(name)),
        _ => moment_of_number(value, fsp, name, ctx),
    }
}

/// A number that is neither too small nor too large for a date, and is not one, is an invalid date; the
/// others are out of range, and so is zero where the mode refuses it. A date has no fraction.
fn moment_of_number(
    value: &Value<'_>,
    fsp: u8,
    name: &'static str,
    ctx: &StoreContext<'_>,
) -> (DateTime, Fault) {
    let out_of_range = (DateTime::ZERO, Fault::TemporalRange(name));
    let Some((number, micro, rounds_up)) = value.number_and_micro() else { return out_of_range };
    let is_fraction = number == 0 && (micro != 0 || rounds_up);
    // Such a number has no zero parts of a date.
    let date_flags =
        DateFlags { no_zero_in_date: ctx.date_flags.no_zero_in_date && !is_fraction, ..ctx.date_flags };
    match DateTime::from_number(number, micro, date_flags) {
        Some(_) if is_fraction && ctx.date_flags.no_zero_date => out_of_range,
        Some(parsed) if (micro != 0 || rounds_up) && DATE_NUMBERS.contains(&number) => {
            (DateTime::from_date(parsed.value.date()), Fault::Temporal(name))
        }
        Some(parsed) => match (Parsed { rounds_up, ..parsed }).to_fsp(fsp, ctx.truncate_fractions) {
            Some(moment) => (moment, Fault::None),
            None if is_fraction => out_of_range,
            None => (DateTime::ZERO, Fault::DateTimeOverflow),
        },
        None if number == 0 || micro < 0 || !(0..=NUMBER_MAX).contains(&number) => out_of_range,
        None => (DateTime::ZERO, Fault::Temporal(name)),
    }
}

fn rounded(moment: DateTime, fsp: u8, ctx: &StoreContext<'_>) -> (DateTime, Fault) {
    if ctx.truncate_fractions {
        return (moment.truncate(fsp), Fault::None);
    }
    match moment.round(fsp) {
        Some(moment) => (moment, Fault::None),
        None => (DateTime::ZERO, Fault::DateTimeOverflow),
    }
}

/// The value as messages about a column of type `ty` show it: a date and time has the column's digits, a time
/// beside a DATE none.
#[cold]
pub(super) fn in_messages<'v>(ty: &SqlType, value: &Value<'v>, ctx: &StoreContext<'_>) -> Value<'v> {
    let fsp = if ty.kind == TypeKind::Date { 0 } else { ty.decimals };
    match *value {
        Value::DateTime(moment, _) if ty.is_temporal() && ty.kind != TypeKind::Time => {
            match rounded(moment, fsp, ctx) {
                (moment, Fault::None) => Value::DateTime(moment, fsp),
                _ => *value,
            }
        }
        Value::Time(time, _) if ty.kind == TypeKind::Date => Value::Time(time.truncate(0), 0),
        _ => *value,
    }
}

fn moment_of_text(text: &[u8], fsp: u8, name: &'static str, ctx: &StoreContext<'_>) -> (DateTime, Fault) {
    let Some(parsed) = DateTime::parse(text, ctx.date_flags) else {
        return (DateTime::ZERO, refusal(text, name));
    };
    let Some(mut moment) = parsed.to_fsp(fsp, ctx.truncate_fractions) else {
        return (DateTime::ZERO, Fault::DateTimeOverflow);
    };
    if let Some(offset) = parsed.offset {
        let is_zoned = ZONED_YEARS.contains(&moment.date().year());
        match ctx.zone.show_offset(moment, offset).filter(|_| is_zoned) {
            Some(local) => moment = local,
            None => return (DateTime::ZERO, Fault::TemporalRange(name)),
        }
    }
    (moment, if parsed.truncated { Fault::Temporal(name) } else { Fault::None })
}

/// A date that the calendar or the mode refuses is out of range, and so is the number zero; anything else is
/// no date at all.
fn refusal(text: &[u8], name: &'static str) -> Fault {
    if text.starts_with(b"0") && text.iter().all(|b| matches!(b, b'0' | b'.')) {
        return Fault::TemporalRange(name);
    }
    let lenient = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
    match DateTime::parse(text, lenient) {
        Some(Parsed { truncated: false, .. }) => Fault::TemporalRange(name),
        _ => Fault::Temporal(name),
    }
}

/// The time of `value` with `fsp` digits; a bound or zero with a fault that says why.
fn time_of(value: &Value<'_>, fsp: u8, ctx: &StoreContext<'_>) -> (Time, Fault) {
    let fit = |time: Time| if ctx.truncate_fractions { time.truncate(fsp) } else { time.round(fsp) };
    let parsed = match *value {
        Value::Time(v, _) => return (fit(v), Fault::None),
        Value::DateTime(v, _) => return (fit(v.time()), Fault::None),
        Value::Date(_) => return (Time::ZERO, Fault::None),
        Value::Bytes { data, .. } if data.trim_ascii().is_empty() => return (Time::ZERO, Fault::None),
        Value::Bytes { data, .. } => Time::parse(data).ok_or_else(|| refused_time(data)),
        Value::Enum { .. } | Value::Set { .. } => {
            let mut scratch = Vec::new();
            let text = value.as_text(&mut scratch);
            Time::parse(text).ok_or_else(|| refused_time(text))
        }
        _ => {
            let Some((n, micro, rounds_up)) = value.number_and_micro() else {
                let bound = if value.to_f64().value < 0.0 { Time::MIN } else { Time::MAX };
                return (bound, Fault::TemporalRange("time"));
            };
            Time::from_long_number(n, micro, rounds_up).ok_or(Fault::TemporalRange("time"))
        }
    };
    if let (Err(_) | Ok(ParsedTime { out_of_range: true, .. }), Value::Bytes { data, .. }) = (&parsed, value)
        && let Some(fault) = beyond_parts(data)
    {
        return (Time::ZERO, fault);
    }
    match parsed {
        Err(fault) => (Time::ZERO, fault),
        Ok(parsed) if parsed.date_dropped && has_offset(value) => {
            let mut scratch = Vec::new();
            let (moment, fault) = moment_of_text(value.as_text(&mut scratch), fsp, "time", ctx);
            (moment.time(), if fault == Fault::None { Fault::PartDropped("time") } else { fault })
        }
        Ok(parsed) if parsed.out_of_range => (parsed.value, Fault::TemporalRange("time")),
        Ok(parsed) => {
            let fault = match (parsed.truncated, parsed.date_dropped) {
                (true, _) => Fault::Temporal("time"),
                (false, true) => Fault::PartDropped("time"),
                _ => Fault::None,
            };
            (parsed.to_fsp(fsp, ctx.truncate_fractions), fault)
        }
    }
}

/// Whether a text names the offset of its zone.
fn has_offset(value: &Value<'_>) -> bool {
    let Value::Bytes { data, .. } = *value else { return false };
    DateTime::parse(data, DateFlags::default()).is_some_and(|parsed| parsed.offset.is_some())
}

/// What is wrong with a text whose digits no part of a time holds: as many as a date and time has are none,
/// and a part past 32 bits quietly makes zero of the whole.
#[cold]
fn beyond_parts(text: &[u8]) -> Option<Fault> {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let digits = count_while(text, |b| b.is_ascii_digit());
    let is_number = match text[digits..].split_first() {
        None => true,
        Some((b'.', fraction)) => fraction.iter().all(u8::is_ascii_digit),
        Some(_) => false,
    };
    if is_number && text.len() >= MOMENT_BYTES_MIN {
        return Some(Fault::Temporal("time"));
    }
    let clock = &text[..count_while(text, |b| b.is_ascii_digit() || matches!(b, b':' | b' '))];
    let is_too_large = |part: &[u8]| {
        let number =
            part.iter().fold(0u64, |number, b| number.saturating_mul(10).saturating_add(u64::from(b - b'0')));
        number > u64::from(u32::MAX)
    };
    clock.split(|b| matches!(b, b':' | b' ')).any(is_too_large).then_some(Fault::None)
}

/// Minutes or seconds past 59 are out of range. A lone sign and numbers with an exponent quietly count as
/// zero. Anything else is no time at all.
fn refused_time(text: &[u8]) -> Fault {
    let text = text.trim_ascii();
    let last = text.rsplit(|b| *b == b':').next().unwrap_or_default();
    if text == b"-" || (last.contains(&b'e') && double_prefix(last).1 == last.len()) {
        return Fault::None;
    }
    if text.iter().rev().take_while(|b| b.is_ascii_digit()).count() == 0 {
        return Fault::Temporal("time");
    }
    let looks_like_time = text.iter().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.' | b'-'));
    if looks_like_time { Fault::TemporalRange("time") } else { Fault::Temporal("time") }
}
