//! Calendar dates.

/// Largest day number: 9999-12-31.
pub(crate) const DAY_NUMBER_MAX: i64 = 3_652_424;

/// A date `year-month-day`; any part may be zero ("zero date"), and under `ALLOW_INVALID_DATES` the day may
/// be up to 31 in every month. Packed `year << 9 | month << 5 | day`, so the order is chronological.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(u32);

impl Date {
    /// `0000-00-00`.
    pub const ZERO: Date = Date(0);

    /// The date of these parts: year up to 9999, month up to 12, day up to 31.
    #[inline]
    pub const fn new(year: u16, month: u8, day: u8) -> Date {
        debug_assert!(year <= 9999 && month <= 12 && day <= 31, "date part out of range");
        Date((year as u32) << 9 | (month as u32) << 5 | day as u32)
    }

    /// The packed form, which is also the storage form (3 bytes).
    #[inline]
    pub const fn packed(self) -> u32 {
        self.0
    }

    /// The date with this packed form.
    #[inline]
    pub const fn from_packed(packed: u32) -> Date {
        Date(packed)
    }

    /// 0..=9999.
    #[inline]
    pub const fn year(self) -> u16 {
        (self.0 >> 9) as u16
    }

    /// 0..=12.
    #[inline]
    pub const fn month(self) -> u8 {
        (self.0 >> 5 & 15) as u8
    }

    /// 0..=31.
    #[inline]
    pub const fn day(self) -> u8 {
        (self.0 & 31) as u8
    }

    /// Of a date that is no day of the calendar, the last day before it; `None`: it is one, or there is none.
    pub fn last_day_before(self) -> Option<Date> {
        let (year, month, day) = (self.year(), self.month(), self.day());
        match (month, day) {
            (0, _) | (1, 0) => Some(Date::new(year.checked_sub(1)?, 12, 31)),
            (_, 0) => Date::new(year, month - 1, 1).last_day(),
            _ if day > days_in_month(year, month) => self.last_day(),
            _ => None,
        }
    }

    /// Whether this is `0000-00-00`.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether month or day is zero: no day of the calendar.
    pub const fn has_zero_part(self) -> bool {
        self.month() == 0 || self.day() == 0
    }

    /// Days since year 0 as TO_DAYS counts them (1970-01-01 is 719528); 0 for `0000-00-00`.
    pub fn day_number(self) -> i64 {
        let (year, month, day) = (i64::from(self.year()), i64::from(self.month()), i64::from(self.day()));
        if year == 0 && month == 0 {
            return 0;
        }
        let mut sum = 365 * year + 31 * (month - 1) + day;
        let mut leap_base = year;
        if month <= 2 {
            leap_base -= 1;
        } else {
            sum -= (month * 4 + 23) / 10;
        }
        let centuries = (leap_base / 100 + 1) * 3 / 4;
        sum + leap_base.div_euclid(4).max(0) - centuries
    }

    /// The date with this day number; `0000-00-00` for numbers up to 365, as FROM_DAYS has it, and past
    /// 9999-12-31.
    pub fn from_day_number(number: i64) -> Date {
        if number <= 365 || number > DAY_NUMBER_MAX {
            return Date::ZERO;
        }
        let mut year = number * 100 / 36525;
        let centuries = ((year - 1) / 100 + 1) * 3 / 4;
        let mut day_of_year = number - year * 365 - (year - 1) / 4 + centuries;
        while day_of_year > days_in_year(year as u16) {
            day_of_year -= days_in_year(year as u16);
            year += 1;
        }
        let mut month = 1;
        while day_of_year > i64::from(days_in_month(year as u16, month)) {
            day_of_year -= i64::from(days_in_month(year as u16, month));
            month += 1;
        }
        Date::new(year as u16, month, day_of_year as u8)
    }

    /// 0 = Monday ..= 6 = Sunday, as WEEKDAY() counts.
    pub fn weekday(self) -> u8 {
        weekday_of(self.day_number(), false)
    }

    /// Day of the year, 1..=366.
    pub fn day_of_year(self) -> u16 {
        (self.day_number() - Date::new(self.year(), 1, 1).day_number() + 1) as u16
    }

    /// The last day of the month; `None` if the month is zero.
    pub fn last_day(self) -> Option<Date> {
        (self.month() > 0)
            .then(|| Date::new(self.year(), self.month(), days_in_month(self.year(), self.month())))
    }

    /// Whether the day exists in the calendar; false also for dates with a zero part.
    pub fn is_calendar_day(self) -> bool {
        !self.has_zero_part() && self.day() <= days_in_month(self.year(), self.month())
    }

    /// `YYYYMMDD` as a number.
    pub fn to_number(self) -> u64 {
        u64::from(self.year()) * 10_000 + u64::from(self.month()) * 100 + u64::from(self.day())
    }
}

/// Weekday of a day number: 0 = Monday, or 0 = Sunday.
pub(super) fn weekday_of(day_number: i64, sunday_first: bool) -> u8 {
    ((day_number + 5 + i64::from(sunday_first)).rem_euclid(7)) as u8
}

/// Gregorian leap years; year 0 is none, as in MySQL.
pub(crate) fn is_leap_year(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || (year.is_multiple_of(400) && year != 0))
}

/// 365 or 366.
pub(super) fn days_in_year(year: u16) -> i64 {
    365 + i64::from(is_leap_year(year))
}

/// Days of `month` (1..=12); 31 for other numbers.
pub(crate) fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
