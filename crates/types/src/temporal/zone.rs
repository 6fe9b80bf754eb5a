//! Time zones: SYSTEM, fixed offsets and named zones.

use jiff::civil;
use jiff::tz::{AmbiguousOffset, Offset};

use super::{Date, DateTime};

/// Largest offset, in seconds, of a date and time in a text.
const TEXT_OFFSET_MAX: i32 = 14 * 3600;
/// Day number of 1970-01-01.
const UNIX_DAY: i64 = 719_528;
/// Seconds of offset allowed either way: 13:59 west to 14:00 east.
const OFFSET_RANGE: std::ops::RangeInclusive<i32> = -(13 * 3600 + 59 * 60)..=14 * 3600;
/// A session's time zone. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeZone {
    name: Box<str>,
    rules: Rules,
}

#[derive(Clone, Debug, PartialEq)]
enum Rules {
    Fixed(i32),
    Zone(jiff::tz::TimeZone),
}

/// A local time's moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// Seconds since 1970 UTC.
    pub seconds: i64,
    /// The local time was skipped by a clock change; `seconds` is that of the change.
    pub in_gap: bool,
}

impl TimeZone {
    /// Whether local time is always as far ahead of UTC.
    pub fn is_fixed(&self) -> bool {
        matches!(self.rules, Rules::Fixed(_))
    }

    /// UTC as the fixed offset `+00:00`.
    pub fn utc() -> TimeZone {
        TimeZone { name: "+00:00".into(), rules: Rules::Fixed(0) }
    }

    /// The machine's zone, called `SYSTEM`.
    pub fn system() -> TimeZone {
        TimeZone { name: "SYSTEM".into(), rules: Rules::of(jiff::tz::TimeZone::system()) }
    }

    /// The zone that `SET time_zone` accepts by this name: `SYSTEM`, `+hh:mm`, `-hh:mm` or a name of the tz
    /// database. `None` if there is none.
    pub fn from_name(name: &str) -> Option<TimeZone> {
        if name.eq_ignore_ascii_case("SYSTEM") {
            return Some(TimeZone::system());
        }
        if name.starts_with(['+', '-']) {
            let offset = parse_offset(name.as_bytes()).filter(|offset| OFFSET_RANGE.contains(offset))?;
            return Some(TimeZone { name: name.into(), rules: Rules::Fixed(offset) });
        }
        let zone = jiff::tz::TimeZone::get(name).ok()?;
        let name = zone.iana_name().unwrap_or(name).into();
        Some(TimeZone { name, rules: Rules::of(zone) })
    }

    /// The name as `@@time_zone` shows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The local time at `seconds` since 1970 UTC; `DateTime::ZERO` outside years 1..=9999.
    pub fn to_local(&self, seconds: i64, micro: u32) -> DateTime {
        let offset = match &self.rules {
            Rules::Fixed(offset) => *offset,
            Rules::Zone(zone) => match jiff::Timestamp::from_second(seconds) {
                Ok(moment) => zone.to_offset(moment).seconds(),
                Err(_) => return DateTime::ZERO,
            },
        };
        let local = seconds.saturating_add(i64::from(offset));
        let (day, second) = (local.div_euclid(86_400) + UNIX_DAY, local.rem_euclid(86_400) as u32);
        let date = Date::from_day_number(day);
        if date.is_zero() {
            return DateTime::ZERO;
        }
        let (hour, minute) = ((second / 3600) as u8, (second / 60 % 60) as u8);
        DateTime::new(date, hour, minute, (second % 60) as u8, micro)
    }

    /// How this zone shows the moment that is `local` in a zone `offset` seconds east of UTC; `None` outside
    /// years 1..=9999.
    pub fn show_offset(&self, local: DateTime, offset: i32) -> Option<DateTime> {
        let days = local.date().day_number() - UNIX_DAY;
        let seconds = days * 86_400 + local.micros_of_day() / 1_000_000 - i64::from(offset);
        let shown = self.to_local(seconds, local.micro());
        (!shown.is_zero()).then_some(shown)
    }

    /// The moment of a local time that exists in the calendar. Of two moments (clocks set back) the earlier;
    /// for a time skipped by a clock change, the moment of the change.
    pub fn to_unix(&self, local: DateTime) -> LocalTime {
        let as_utc =
            (local.date().day_number() - UNIX_DAY) * 86_400 + local.micros_of_day().div_euclid(1_000_000);
        let exact = |offset: i32| LocalTime { seconds: as_utc - i64::from(offset), in_gap: false };
        match &self.rules {
            Rules::Fixed(offset) => exact(*offset),
            Rules::Zone(zone) => match zone.to_ambiguous_timestamp(civil_of(local)).offset() {
                AmbiguousOffset::Unambiguous { offset } => exact(offset.seconds()),
                AmbiguousOffset::Fold { before, .. } => exact(before.seconds()),
                AmbiguousOffset::Gap { before, .. } => {
                    LocalTime { seconds: change_before(zone, as_utc, before), in_gap: true }
                }
            },
        }
    }
}

impl Rules {
    fn of(zone: jiff::tz::TimeZone) -> Rules {
        if let Ok(offset) = zone.to_fixed_offset() {
            return Rules::Fixed(offset.seconds());
        }
        let has_changes = zone.following(jiff::Timestamp::MIN).next().is_some();
        if has_changes {
            return Rules::Zone(zone);
        }
        Rules::Fixed(zone.to_offset(jiff::Timestamp::UNIX_EPOCH).seconds())
    }
}

/// The clock change that skipped the local time `as_utc`, whose offset before the change is `before`.
fn change_before(zone: &jiff::tz::TimeZone, as_utc: i64, before: Offset) -> i64 {
    let after_change = as_utc - i64::from(before.seconds());
    jiff::Timestamp::from_second(after_change + 1)
        .ok()
        .and_then(|moment| zone.preceding(moment).next())
        .map_or(after_change, |change| change.timestamp().as_second())
}

/// jiff's form; a day that does not exist becomes the first of the month, since no such day reaches a zone.
fn civil_of(local: DateTime) -> civil::DateTime {
    let date = local.date();
    let parts = (local.hour() as i8, local.minute() as i8, local.second() as i8);
    civil::Date::new(date.year() as i16, date.month() as i8, date.day() as i8)
        .unwrap_or(civil::Date::constant(1, 1, 1))
        .at(parts.0, parts.1, parts.2, 0)
}

/// `[+-]h[h]:mm` in seconds; `None` if malformed or out of range.
pub(super) fn parse_offset(text: &[u8]) -> Option<i32> {
    let (sign, rest) = text.split_first()?;
    let colon = rest.iter().position(|b| *b == b':')?;
    let (hour, minute) = (two_digits(&rest[..colon])?, two_digits(&rest[colon + 1..])?);
    if rest.len() - colon - 1 != 2 || minute > 59 {
        return None;
    }
    let seconds = hour * 3600 + minute * 60;
    let seconds = if *sign == b'-' { -seconds } else { seconds };
    // There is no -00:00.
    let is_known = seconds.abs() <= TEXT_OFFSET_MAX && !(seconds == 0 && *sign == b'-');
    is_known.then_some(seconds)
}

fn two_digits(text: &[u8]) -> Option<i32> {
    let fits = matches!(text.len(), 1 | 2) && text.iter().all(u8::is_ascii_digit);
    fits.then(|| text.iter().fold(0, |acc, b| acc * 10 + i32::from(b - b'0')))
}
