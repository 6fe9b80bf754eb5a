//! MySQL's loose date and time literals, from text and from numbers.
//!
//! Text comes delimited (`2024-1-2 3:4:5.6`, any punctuation) or compact (`20240102030405`); two-digit years
//! mean 1970..=2069. A result says whether something was left over, so that the caller may warn or refuse.

use super::date::days_in_month;
use super::time::Time;
use super::{Date, DateTime, MICROS_PER_SECOND};
use crate::SqlModes;
use crate::value::digits::{clipped_number, count_while};

/// Which of the incomplete dates are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateFlags {
    /// NO_ZERO_DATE: `0000-00-00` is refused.
    pub no_zero_date: bool,
    /// NO_ZERO_IN_DATE: a zero month or day is refused.
    pub no_zero_in_date: bool,
    /// ALLOW_INVALID_DATES: every month has 31 days.
    pub allow_invalid_dates: bool,
}

/// A date and time read from a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The value, cut to microseconds.
    pub value: DateTime,
    /// The literal has a time part.
    pub has_time: bool,
    /// Fraction digits written, at most 6.
    pub fsp: u8,
    /// The first fraction digit past the sixth is 5 or more.
    pub rounds_up: bool,
    /// Something that is no part of a date follows; the value stands, with a warning.
    pub truncated: bool,
    /// Time zone offset written after the value, in seconds.
    pub offset: Option<i32>,
}

/// A time read from a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedTime {
    /// The value; the nearest bound when `out_of_range`.
    pub value: Time,
    /// Fraction digits written, at most 6.
    pub fsp: u8,
    /// The first fraction digit past the sixth is 5 or more.
    pub rounds_up: bool,
    /// Something that is no part of a time follows.
    pub truncated: bool,
    /// Clipped to the range of TIME.
    pub out_of_range: bool,
    /// A date was before the time.
    pub date_dropped: bool,
}

impl DateFlags {
    /// The flags that `modes` ask for.
    pub fn from_modes(modes: SqlModes) -> DateFlags {
        DateFlags {
            no_zero_date: modes.has(SqlModes::NO_ZERO_DATE),
            no_zero_in_date: modes.has(SqlModes::NO_ZERO_IN_DATE),
            allow_invalid_dates: modes.has(SqlModes::ALLOW_INVALID_DATES),
        }
    }

    /// Whether `date` may be stored under these flags. Its parts are in range.
    pub fn accept(self, date: Date) -> bool {
        if date.is_zero() {
            return !self.no_zero_date;
        }
        if date.has_zero_part() && self.no_zero_in_date {
            return false;
        }
        date.month() == 0
            || self.allow_invalid_dates
            || date.day() <= days_in_month(date.year(), date.month())
    }

    /// As [`DateFlags::accept`]; a zero date with a time of day counts as a date with zero parts.
    pub fn accept_datetime(self, value: DateTime) -> bool {
        if value.date().is_zero() && !value.is_zero() {
            return !self.no_zero_in_date;
        }
        self.accept(value.date())
    }
}

impl Parsed {
    /// The value rounded (or cut) to `fsp` digits; `None` if rounding passes the last year.
    pub fn to_fsp(self, fsp: u8, truncate: bool) -> Option<DateTime> {
        if truncate {
            return Some(self.value.truncate(fsp));
        }
        if !(self.rounds_up && fsp >= 6) {
            return self.value.round(fsp);
        }
        let seconds = self.value.packed_seconds();
        match self.value.micro() {
            // The carry reaches the seconds, which is what rounding to whole seconds does here.
            999_999 => self.value.round(0),
            micro => Some(DateTime::from_packed(seconds, micro + 1)),
        }
    }
}

impl DateTime {
    /// Reads a date, or a date and time. `None` if the text is neither or `flags` refuse the date.
    /// Cost: 15 ns for `YYYY-MM-DD hh:mm:ss`.
    pub fn parse(text: &[u8], flags: DateFlags) -> Option<Parsed> {
        match parse_canonical(text) {
            Some(parsed) => flags.accept_datetime(parsed.value).then_some(parsed),
            None => parse_datetime(text, flags, false).ok(),
        }
    }

    /// Reads `YYMMDD`, `YYYYMMDD`, `YYMMDDhhmmss` or `YYYYMMDDhhmmss` from a number and its fraction in
    /// microseconds (of the same sign).
    pub fn from_number(number: i64, micro: i32, flags: DateFlags) -> Option<Parsed> {
        if micro < 0 {
            return None;
        }
        let (full, has_time) = expand_number(number)?;
        let (day_part, time_part) = (full / 1_000_000, full % 1_000_000);
        let date = date_of_parts(day_part / 10_000, day_part / 100 % 100, day_part % 100)?;
        let value = datetime_of_parts(
            date,
            time_part / 10_000,
            time_part / 100 % 100,
            time_part % 100,
            i64::from(micro),
        )?;
        let fsp = if micro == 0 { 0 } else { 6 };
        flags.accept_datetime(value).then_some(Parsed {
            value,
            has_time,
            fsp,
            rounds_up: false,
            truncated: false,
            offset: None,
        })
    }
}

impl Date {
    /// Reads `YYMMDD` or `YYYYMMDD`, alone or before `hhmmss`, from a number. Missing parts are zero: 5 is a
    /// day of the year 2000 without a month.
    pub fn from_number(number: i64, flags: DateFlags) -> Option<Date> {
        const FIRST_WITH_TIME: i64 = 100_000_000;
        const END: i64 = 100_000_000_000_000;
        let day = match number {
            0..FIRST_WITH_TIME => number,
            FIRST_WITH_TIME..END => number / 1_000_000,
            _ => return None,
        };
        let full = match day {
            0..700_000 => day + 20_000_000,
            700_000..1_000_000 => day + 19_000_000,
            _ => day,
        };
        date_of_parts(full / 10_000, full / 100 % 100, full % 100).filter(|date| flags.accept(*date))
    }
}

impl Time {
    /// Reads `[-][D ]hh:mm[:ss[.frac]]`, `hhmmss`, or a full date and time (whose date is dropped). `None` if
    /// the text is no time or its minutes or seconds pass 59.
    pub fn parse(text: &[u8]) -> Option<ParsedTime> {
        parse_time(text)
    }

    /// As [`Time::from_number`] for a number that is half a microsecond longer at least if `rounds_up`.
    pub(crate) fn from_long_number(number: i64, micro: i32, rounds_up: bool) -> Option<ParsedTime> {
        match (number, micro) {
            (8_385_959, 999_999) if rounds_up => Time::from_number(number + 1, 0),
            (-8_385_959, -999_999) if rounds_up => Time::from_number(number - 1, 0),
            _ => Time::from_number(number, micro).map(|parsed| ParsedTime { rounds_up, ..parsed }),
        }
    }

    /// Reads `hhmmss` (or a full `YYYYMMDDhhmmss`) from a number and its fraction in microseconds
    /// (of the same sign). Hours past the range
    /// give the bound with `out_of_range`.
    pub fn from_number(number: i64, micro: i32) -> Option<ParsedTime> {
        const MAX: i64 = 8_385_959;
        let clean = |value, out_of_range, date_dropped| {
            Some(ParsedTime {
                value,
                fsp: if micro == 0 { 0 } else { 6 },
                rounds_up: false,
                truncated: false,
                out_of_range,
                date_dropped,
            })
        };
        if number > MAX {
            if number >= 10_000_000_000
                && let Some(parsed) = DateTime::from_number(number, micro, DateFlags::default())
            {
                return clean(parsed.value.time(), false, true);
            }
            return clean(Time::MAX, true, false);
        }
        if number < -MAX {
            return clean(Time::MIN, true, false);
        }
        let (neg, number) = (number < 0 || micro < 0, number.unsigned_abs() as u32);
        let (hour, minute, second) = (number / 10_000, number / 100 % 100, number % 100);
        if minute > 59 || second > 59 {
            return None;
        }
        clean(Time::new(neg, hour, minute, second, micro.unsigned_abs()), false, false)
    }
}

/// Exactly `YYYY-MM-DD` or `YYYY-MM-DD hh:mm:ss` with all parts in range: what programs write, read without
/// the rules for everything else.
fn parse_canonical(text: &[u8]) -> Option<Parsed> {
    let (date, clock) = match text.len() {
        10 => (text, None),
        19 if text[10] == b' ' && text[13] == b':' && text[16] == b':' => (&text[..10], Some(&text[11..])),
        _ => return None,
    };
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let pair = |high: u8, low: u8| {
        let (high, low) = (high.wrapping_sub(b'0'), low.wrapping_sub(b'0'));
        (high <= 9 && low <= 9).then(|| i64::from(high * 10 + low))
    };
    let year = pair(date[0], date[1])? * 100 + pair(date[2], date[3])?;
    let date = date_of_parts(year, pair(date[5], date[6])?, pair(date[8], date[9])?)?;
    let value = match clock {
        None => DateTime::from_date(date),
        Some(c) => datetime_of_parts(date, pair(c[0], c[1])?, pair(c[3], c[4])?, pair(c[6], c[7])?, 0)?,
    };
    Some(Parsed {
        value,
        has_time: clock.is_some(),
        fsp: 0,
        rounds_up: false,
        truncated: false,
        offset: None,
    })
}

/// The number with all of `YYYYMMDDhhmmss`, and whether it had a time part.
fn expand_number(number: i64) -> Option<(i64, bool)> {
    const DAY: i64 = 1_000_000;
    match number {
        0 => Some((0, false)),
        101..=691_231 => Some(((number + 20_000_000) * DAY, false)),
        700_101..=991_231 => Some(((number + 19_000_000) * DAY, false)),
        991_232..=99_991_231 => (number >= 10_000).then_some((number * DAY, false)),
        101_000_000..=691_231_235_959 => Some((number + 20_000_000_000_000, true)),
        700_101_000_000..=991_231_235_959 => Some((number + 19_000_000_000_000, true)),
        10_000_101_000_000..=99_999_999_999_999 => Some((number, true)),
        _ => None,
    }
}

fn date_of_parts(year: i64, month: i64, day: i64) -> Option<Date> {
    (year <= 9999 && month <= 12 && day <= 31).then(|| Date::new(year as u16, month as u8, day as u8))
}

fn datetime_of_parts(date: Date, hour: i64, minute: i64, second: i64, micro: i64) -> Option<DateTime> {
    let fits = hour <= 23 && minute <= 59 && second <= 59;
    fits.then(|| DateTime::new(date, hour as u8, minute as u8, second as u8, micro as u32))
}

/// The seven parts of a literal as they are in it.
#[derive(Default)]
struct Parts {
    value: [i64; 7],
    digits: [usize; 7],
    count: usize,
    /// A delimiter was seen, and a blank between date and time.
    delimited: bool,
    spaced: bool,
    /// First byte not read.
    end: usize,
}

const FRACTION: usize = 6;

/// Why a text is no date and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoDate {
    /// It does not look like one.
    Shape,
    /// It looks like one whose parts are missing, out of range or refused by the flags.
    Parts,
}

/// `time_expected`: only a literal with a blank before its time will do, or one without any delimiter.
fn parse_datetime(text: &[u8], flags: DateFlags, time_expected: bool) -> Result<Parsed, NoDate> {
    let start = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    if !text.get(start).is_some_and(u8::is_ascii_digit) {
        return Err(NoDate::Shape);
    }
    // A compact literal has its parts at fixed places; its length decides how long the year is.
    let run = count_while(&text[start..], |b| b.is_ascii_digit() || b == b'T');
    let compact = matches!(text.get(start + run), None | Some(b'.'));
    let four_digit_year = !compact || matches!(run, 4 | 8) || run >= 14;
    let parts = read_parts(text, start, compact, four_digit_year).ok_or(NoDate::Shape)?;
    if time_expected && parts.delimited && !parts.spaced {
        return Err(NoDate::Shape);
    }
    let two_digit_year = if compact { !four_digit_year } else { parts.digits[0] == 2 };
    assemble(text, &parts, two_digit_year, flags).ok_or(NoDate::Parts)
}

fn read_parts(text: &[u8], start: usize, compact: bool, four_digit_year: bool) -> Option<Parts> {
    let mut parts = Parts::default();
    let mut at = start;
    let mut width = if compact && !four_digit_year { 2 } else { 4 };
    for i in 0..7 {
        if !text.get(at).is_some_and(u8::is_ascii_digit) {
            break;
        }
        let limit = if compact || i == FRACTION { width } else { usize::MAX };
        let run = digit_run(&text[at..text.len().min(at.saturating_add(limit))]);
        let value = i64::from(clipped_number(&text[at..at + run]));
        if value > 999_999 {
            return None;
        }
        (parts.value[i], parts.digits[i]) = (value, run);
        at += run;
        parts.count = i + 1;
        parts.end = at;
        width = 2;
        match text.get(at) {
            None => break,
            Some(b'T') if i == 2 => at += 1,
            Some(b'.') if i == 5 => {
                at += 1;
                parts.end = at;
                width = 6;
            }
            Some(_) if i >= 5 => break,
            Some(_) => at = skip_delimiters(text, at, i, &mut parts)?,
        }
        parts.end = at;
    }
    Some(parts)
}

/// Skips punctuation, and white space where it may be: only after the day.
fn skip_delimiters(text: &[u8], mut at: usize, part: usize, parts: &mut Parts) -> Option<usize> {
    while let Some(b) = text.get(at) {
        if b.is_ascii_whitespace() {
            if part != 2 {
                return None;
            }
            parts.spaced = true;
        } else if !b.is_ascii_punctuation() {
            break;
        }
        parts.delimited = true;
        at += 1;
    }
    Some(at)
}

fn assemble(text: &[u8], parts: &Parts, two_digit_year: bool, flags: DateFlags) -> Option<Parsed> {
    if parts.count < 3 {
        return None;
    }
    let [mut year, month, day, hour, minute, second, mut micro] = parts.value;
    let fraction_digits = parts.digits[FRACTION];
    micro *= 10i64.pow(6 - fraction_digits as u32);
    let all_zero = parts.value == [0; 7];
    if two_digit_year && !all_zero {
        year += if year < 70 { 2000 } else { 1900 };
    }
    let date = date_of_parts(year, month, day)?;
    let value = datetime_of_parts(date, hour, minute, second, micro)?;
    if !flags.accept_datetime(value) {
        return None;
    }
    let mut rest = &text[parts.end..];
    let mut rounds_up = false;
    if fraction_digits == 6 {
        rounds_up = rest.first().is_some_and(|b| (b'5'..=b'9').contains(b));
        rest = &rest[digit_run(rest)..];
    }
    let mut offset = None;
    if parts.count > 3 && matches!(rest.first(), Some(b'+' | b'-')) {
        offset = Some(super::zone::parse_offset(rest.trim_ascii_end())?);
        rest = &[];
    }
    Some(Parsed {
        value,
        has_time: parts.count > 3,
        fsp: fraction_digits as u8,
        rounds_up,
        truncated: !rest.trim_ascii().is_empty(),
        offset,
    })
}

fn digit_run(text: &[u8]) -> usize {
    count_while(text, |b| b.is_ascii_digit())
}

/// Largest number a part of a time may have: more is no time.
const PART_MAX: u64 = u32::MAX as u64;

fn parse_time(text: &[u8]) -> Option<ParsedTime> {
    let mut at = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let neg = text.get(at) == Some(&b'-');
    at += usize::from(neg);
    if at == text.len() {
        return None;
    }
    if text.len() - at >= 12 {
        // The date is dropped, so its day need not exist.
        let flags = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
        match parse_datetime(&text[at..], flags, true) {
            Ok(parsed) => return Some(ParsedTime::of_moment(&parsed)),
            Err(NoDate::Parts) => return None,
            Err(NoDate::Shape) => {}
        }
    }
    let (clock, end) = read_clock(text, at)?;
    finish_time(text, neg, clock, end)
}

/// Days, hours, minutes and seconds, and where they end.
fn read_clock(text: &[u8], start: usize) -> Option<([u64; 4], usize)> {
    let (first, mut at) = number(text, start)?;
    let after_first = at;
    at += text[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    let is_digit = |i: usize| text.get(i).is_some_and(u8::is_ascii_digit);
    let mut clock = [0u64; 4];
    let mut state = if at != after_first && at + 1 < text.len() && is_digit(at) {
        clock[0] = first;
        1
    } else if text.get(after_first) == Some(&b':') && is_digit(after_first + 1) {
        clock[1] = first;
        at = after_first + 1;
        2
    } else {
        if after_first == start && text.get(start) != Some(&b'.') {
            return None;
        }
        return Some(([0, first / 10_000, first / 100 % 100, first % 100], after_first));
    };
    loop {
        (clock[state], at) = number(text, at)?;
        state += 1;
        if state == 4 || text.get(at) != Some(&b':') || !is_digit(at + 1) {
            return Some((clock, at));
        }
        at += 1;
    }
}

fn number(text: &[u8], start: usize) -> Option<(u64, usize)> {
    let run = digit_run(&text[start..]);
    let value = text[start..start + run]
        .iter()
        .fold(0u64, |acc, b| acc.saturating_mul(10).saturating_add(u64::from(b - b'0')));
    (value <= PART_MAX).then_some((value, start + run))
}

fn finish_time(text: &[u8], neg: bool, clock: [u64; 4], mut at: usize) -> Option<ParsedTime> {
    let (mut micro, mut fsp, mut rounds_up) = (0u64, 0, false);
    // A point counts with digits after it, or at the very end.
    if text.get(at) == Some(&b'.') && text.get(at + 1).is_none_or(u8::is_ascii_digit) {
        let run = digit_run(&text[at + 1..]);
        let kept = run.min(6);
        micro = text[at + 1..at + 1 + kept].iter().fold(0, |acc, b| acc * 10 + u64::from(b - b'0'));
        micro *= 10u64.pow(6 - kept as u32);
        fsp = kept as u8;
        rounds_up = text.get(at + 7).is_some_and(|b| run > 6 && *b >= b'5');
        at += 1 + run;
    }
    if has_exponent(&text[at..]) || clock[2] > 59 || clock[3] > 59 {
        return None;
    }
    let seconds = (clock[0] * 24 + clock[1]) * 3600 + clock[2] * 60 + clock[3];
    let micros =
        seconds.saturating_mul(MICROS_PER_SECOND as u64).saturating_add(micro).min(i64::MAX as u64) as i64;
    let out_of_range = micros > Time::MAX.micros();
    let value = Time::from_micros_unchecked(if neg { -micros } else { micros });
    let value = if out_of_range { if neg { Time::MIN } else { Time::MAX } } else { value };
    let truncated = !text[at..].trim_ascii().is_empty();
    Some(ParsedTime { value, fsp, rounds_up, truncated, out_of_range, date_dropped: false })
}

/// `e5` or `e+5`: the text of a double, which is no time.
fn has_exponent(rest: &[u8]) -> bool {
    matches!(rest, [b'e' | b'E', b'0'..=b'9', ..] | [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..])
}

impl ParsedTime {
    /// The time of day of a full date and time.
    fn of_moment(parsed: &Parsed) -> ParsedTime {
        ParsedTime {
            value: parsed.value.time(),
            fsp: parsed.fsp,
            rounds_up: parsed.rounds_up,
            truncated: parsed.truncated,
            out_of_range: false,
            date_dropped: true,
        }
    }

    /// The value rounded (or cut) to `fsp` digits, clipped to the range.
    pub fn to_fsp(self, fsp: u8, truncate: bool) -> Time {
        if truncate {
            return self.value.truncate(fsp);
        }
        let step = i64::from(self.rounds_up && fsp >= 6);
        let micros = self.value.micros();
        let nudged =
            Time::from_micros_clipped(if self.value.is_negative() { micros - step } else { micros + step });
        nudged.round(fsp)
    }
}
