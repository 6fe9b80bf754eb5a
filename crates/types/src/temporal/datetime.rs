//! Date and time of day without a zone.

use super::date::DAY_NUMBER_MAX;
use super::{Date, MICROS_PER_DAY, MICROS_PER_SECOND, Time, round_micros, truncate_micros, unit_of};

/// `date`, `hour:minute:second.micro`. Packed
/// `ym << 42 | day << 37 | hour << 32 | minute << 26 | second << 20 | micro` with `ym = year * 13 + month`,
/// so the order is chronological.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime(u64);

const MICRO_BITS: u32 = 20;

impl DateTime {
    /// `0000-00-00 00:00:00`.
    pub const ZERO: DateTime = DateTime(0);

    /// The date and time of these parts; hour up to 23, minute and second up to 59, micro below 1,000,000.
    #[inline]
    pub fn new(date: Date, hour: u8, minute: u8, second: u8, micro: u32) -> DateTime {
        debug_assert!(hour < 24 && minute < 60 && second < 60 && micro < 1_000_000, "time part out of range");
        let ym = u64::from(date.year()) * 13 + u64::from(date.month());
        let seconds = ym << 22
            | u64::from(date.day()) << 17
            | u64::from(hour) << 12
            | u64::from(minute) << 6
            | u64::from(second);
        DateTime(seconds << MICRO_BITS | u64::from(micro))
    }

    /// Midnight of `date`.
    #[inline]
    pub fn from_date(date: Date) -> DateTime {
        DateTime::new(date, 0, 0, 0, 0)
    }

    /// The moment `time` (any span) after midnight of `date`; `None` out of range or for a date with zero
    /// parts and a span outside one day.
    pub(crate) fn from_date_and_time(date: Date, time: Time) -> Option<DateTime> {
        if (0..MICROS_PER_DAY).contains(&time.micros()) {
            return Some(DateTime::with_micros_of_day(date, time.micros()));
        }
        DateTime::from_epoch_micros(
            date.day_number() as i128 * i128::from(MICROS_PER_DAY) + i128::from(time.micros()),
        )
    }

    /// Whole seconds packed as in storage: `ym << 22 | day << 17 | hour << 12 | minute << 6 | second`, 40
    /// bits.
    #[inline]
    pub const fn packed_seconds(self) -> u64 {
        self.0 >> MICRO_BITS
    }

    /// The value with this packed form and fraction.
    #[inline]
    pub const fn from_packed(seconds: u64, micro: u32) -> DateTime {
        DateTime(seconds << MICRO_BITS | micro as u64)
    }

    /// The date.
    #[inline]
    pub fn date(self) -> Date {
        let ym = (self.0 >> 42) as u32;
        Date::new((ym / 13) as u16, (ym % 13) as u8, (self.0 >> 37 & 31) as u8)
    }

    /// 0..=23.
    #[inline]
    pub const fn hour(self) -> u8 {
        (self.0 >> 32 & 31) as u8
    }

    /// 0..=59.
    #[inline]
    pub const fn minute(self) -> u8 {
        (self.0 >> 26 & 63) as u8
    }

    /// 0..=59.
    #[inline]
    pub const fn second(self) -> u8 {
        (self.0 >> 20 & 63) as u8
    }

    /// 0..=999999.
    #[inline]
    pub const fn micro(self) -> u32 {
        (self.0 & 0xf_ffff) as u32
    }

    /// Whether date and time are all zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Microseconds since midnight.
    pub(crate) fn micros_of_day(self) -> i64 {
        let seconds =
            i64::from(self.hour()) * 3600 + i64::from(self.minute()) * 60 + i64::from(self.second());
        seconds * 1_000_000 + i64::from(self.micro())
    }

    /// The time of day.
    pub fn time(self) -> Time {
        Time::from_micros_unchecked(self.micros_of_day())
    }

    fn with_micros_of_day(date: Date, micros: i64) -> DateTime {
        let seconds = micros / 1_000_000;
        DateTime::new(
            date,
            (seconds / 3600) as u8,
            (seconds / 60 % 60) as u8,
            (seconds % 60) as u8,
            (micros % 1_000_000) as u32,
        )
    }

    /// Microseconds since day number 0; what differences and additions compute with.
    pub fn epoch_micros(self) -> i64 {
        self.date().day_number() * MICROS_PER_DAY + self.micros_of_day()
    }

    /// The moment `micros` microseconds after day number 0; `None` before 0000-01-01 or after 9999-12-31.
    pub fn from_epoch_micros(micros: i128) -> Option<DateTime> {
        let day = micros.div_euclid(i128::from(MICROS_PER_DAY));
        if !(1..=i128::from(DAY_NUMBER_MAX)).contains(&day) {
            return None;
        }
        let date = super::interval::date_of_day(day as i64);
        Some(DateTime::with_micros_of_day(date, micros.rem_euclid(i128::from(MICROS_PER_DAY)) as i64))
    }

    /// Rounded half up to `fsp` digits, carrying into seconds and date; `None` past 9999-12-31, and where a
    /// date with zero parts or a day that does not exist would have to carry.
    pub fn round(self, fsp: u8) -> Option<DateTime> {
        if i64::from(self.micro()) % unit_of(fsp) == 0 {
            return Some(self);
        }
        let fraction = round_micros(i64::from(self.micro()), fsp);
        if fraction < MICROS_PER_SECOND {
            return Some(DateTime::from_packed(self.packed_seconds(), fraction as u32));
        }
        if !self.date().is_calendar_day() {
            return None;
        }
        let micros = round_micros(self.micros_of_day(), fsp);
        DateTime::from_epoch_micros(
            i128::from(self.date().day_number()) * i128::from(MICROS_PER_DAY) + i128::from(micros),
        )
    }

    /// Cut to `fsp` digits.
    pub fn truncate(self, fsp: u8) -> DateTime {
        DateTime(self.0 - u64::from(self.micro()) + truncate_micros(i64::from(self.micro()), fsp) as u64)
    }

    /// `YYYYMMDDhhmmss` as a number, without the fraction.
    pub fn to_number(self) -> u64 {
        let time =
            u64::from(self.hour()) * 10_000 + u64::from(self.minute()) * 100 + u64::from(self.second());
        self.date().to_number() * 1_000_000 + time
    }
}
