//! Times of day and spans: `-838:59:59.999999` to `838:59:59.999999` in text, `.000000` at the ends once
//! stored.

use super::{MICROS_PER_SECOND, round_micros, truncate_micros};

/// A signed span in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// `00:00:00`.
    pub const ZERO: Time = Time(0);
    /// `838:59:59`, the largest value.
    pub const MAX: Time = Time((838 * 3600 + 59 * 60 + 59) * MICROS_PER_SECOND);
    /// A microsecond past the largest value: an operand that no column's time equals.
    pub const PAST_MAX: Time = Time(Time::MAX.0 + 1);
    /// `-838:59:59`, the smallest value.
    pub const MIN: Time = Time(-Time::MAX.0);

    /// The time of these parts, clipped to the range.
    pub fn new(neg: bool, hour: u32, minute: u32, second: u32, micro: u32) -> Time {
        let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
        let micros = seconds * MICROS_PER_SECOND + i64::from(micro);
        Time(if neg { -micros } else { micros }).clipped()
    }

    /// A span of microseconds; `None` out of range.
    pub fn from_micros(micros: i64) -> Option<Time> {
        (Time::MIN.0..=Time::MAX.0).contains(&micros).then_some(Time(micros))
    }

    /// A span of microseconds, the nearest bound if out of range.
    pub fn from_micros_clipped(micros: i64) -> Time {
        Time(micros).clipped()
    }

    pub(crate) const fn from_micros_unchecked(micros: i64) -> Time {
        Time(micros)
    }

    fn clipped(self) -> Time {
        self.clamp(Time::MIN, Time::MAX)
    }

    /// The span in microseconds.
    #[inline]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The span in seconds, cut toward zero.
    pub const fn seconds(self) -> i64 {
        self.0 / MICROS_PER_SECOND
    }

    /// Whether below zero.
    #[inline]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Hours without sign, 0..=838.
    pub const fn hour(self) -> u32 {
        (self.0.unsigned_abs() / 3_600_000_000) as u32
    }

    /// 0..=59.
    pub const fn minute(self) -> u32 {
        (self.0.unsigned_abs() / 60_000_000 % 60) as u32
    }

    /// 0..=59.
    pub const fn second(self) -> u32 {
        (self.0.unsigned_abs() / 1_000_000 % 60) as u32
    }

    /// 0..=999999.
    pub const fn micro(self) -> u32 {
        (self.0.unsigned_abs() % 1_000_000) as u32
    }

    /// Rounded half away from zero to `fsp` digits, clipped to the range.
    pub fn round(self, fsp: u8) -> Time {
        Time(round_micros(self.0, fsp)).clipped()
    }

    /// Cut to `fsp` digits.
    pub fn truncate(self, fsp: u8) -> Time {
        Time(truncate_micros(self.0, fsp))
    }

    /// `HHMMSS` as a signed number, without the fraction.
    pub fn to_number(self) -> i64 {
        let number =
            i64::from(self.hour()) * 10_000 + i64::from(self.minute()) * 100 + i64::from(self.second());
        if self.is_negative() { -number } else { number }
    }
}
