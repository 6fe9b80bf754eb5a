//! Dates, times and their zones, with MySQL's ranges, zero dates and loose literals.
//!
//! All three value types are packed integers whose order is chronological. Fractions are microseconds; how
//! many digits are shown (`fsp`, 0..=6) belongs to the type of a column or expression, never to the value.

pub(crate) mod date;
mod datetime;
mod delimiter;
mod format;
mod interval;
mod parse;
mod time;
mod week;
mod zone;

pub use date::Date;
pub use datetime::DateTime;
pub(crate) use delimiter::MOMENT_BYTES_MIN;
pub use delimiter::OddDelimiter;
pub use interval::{Interval, IntervalUnit};
pub use parse::{DateFlags, Parsed, ParsedTime};
pub use time::Time;
pub use week::WeekMode;
pub use zone::{LocalTime, TimeZone};

/// Most fraction digits of a TIME, DATETIME or TIMESTAMP.
pub const FSP_MAX: u8 = 6;

/// Microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;

/// Microseconds in a day.
pub const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// `micros` rounded half away from zero to `fsp` digits.
pub(crate) fn round_micros(micros: i64, fsp: u8) -> i64 {
    let unit = unit_of(fsp);
    let half = unit / 2;
    let shifted = if micros < 0 { micros - half } else { micros + half };
    shifted - shifted % unit
}

/// `micros` cut toward zero to `fsp` digits.
pub(crate) fn truncate_micros(micros: i64, fsp: u8) -> i64 {
    micros - micros % unit_of(fsp)
}

/// Microseconds in the last of `fsp` fraction digits.
pub(crate) fn unit_of(fsp: u8) -> i64 {
    [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1][usize::from(fsp.min(FSP_MAX))]
}

#[cfg(test)]
mod tests;
