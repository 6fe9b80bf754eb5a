//! Week numbers in MySQL's eight modes.

use super::Date;
use super::date::{days_in_year, weekday_of};

/// The `mode` argument of WEEK(): three independent switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekMode {
    /// Weeks begin on Monday, else on Sunday.
    pub monday_first: bool,
    /// Weeks count 1..=53 and may belong to the year before or after; else 0..=53 within the date's year.
    pub year_of_week: bool,
    /// Week 1 is the first that begins in the year; else the first with four or more days in it.
    pub first_weekday: bool,
}

impl WeekMode {
    /// The switches of `mode` (only its low three bits count).
    pub fn from_number(mode: i64) -> WeekMode {
        let monday_first = mode & 1 != 0;
        // MySQL flips the third bit for weeks that begin on Sunday.
        WeekMode { monday_first, year_of_week: mode & 2 != 0, first_weekday: (mode & 4 != 0) == monday_first }
    }
}

impl Date {
    /// Week number and the year it belongs to. Of a date with zero parts that is before its year begins, the
    /// number is past all weeks, as in MySQL, which counts the days before the year without a sign.
    pub fn week(self, mode: WeekMode) -> (u16, u32) {
        let mut year = self.year();
        let mut year_of_week = mode.year_of_week;
        let day_number = self.day_number();
        let mut first_day = Date::new(year, 1, 1).day_number();
        let mut weekday = i64::from(weekday_of(first_day, !mode.monday_first));
        let starts_late = |weekday: i64| if mode.first_weekday { weekday != 0 } else { weekday >= 4 };
        if self.month() == 1 && i64::from(self.day()) <= 7 - weekday {
            if !year_of_week && starts_late(weekday) {
                return (year, 0);
            }
            year_of_week = true;
            year = year.saturating_sub(1);
            first_day -= days_in_year(year);
            weekday = (weekday + 53 * 7 - days_in_year(year)) % 7;
        }
        let days = if starts_late(weekday) {
            day_number - (first_day + (7 - weekday))
        } else {
            day_number - (first_day - weekday)
        };
        if year_of_week && days >= 52 * 7 {
            weekday = (weekday + days_in_year(year)) % 7;
            if !starts_late(weekday) {
                return (year + 1, 1);
            }
        }
        (year, days as u32 / 7 + 1)
    }
}
