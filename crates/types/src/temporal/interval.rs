//! INTERVAL arithmetic.

use super::date::{DAY_NUMBER_MAX, days_in_month};
use super::{Date, DateTime, MICROS_PER_SECOND, Time};

/// Units of INTERVAL expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the SQL keywords")]
pub enum IntervalUnit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Microsecond,
    YearMonth,
    DayHour,
    DayMinute,
    DaySecond,
    HourMinute,
    HourSecond,
    MinuteSecond,
    DayMicrosecond,
    HourMicrosecond,
    MinuteMicrosecond,
    SecondMicrosecond,
}

/// A signed span, in the coarsest measure that is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// Months; the day is clipped to the length of the resulting month.
    Months(i64),
    /// Whole days; a DATE stays a DATE.
    Days(i64),
    /// Microseconds.
    Micros(i64),
}

impl IntervalUnit {
    /// Whether adding the unit to a DATE yields a DATE.
    pub fn is_date_unit(self) -> bool {
        use IntervalUnit::{Day, Month, Quarter, Week, Year, YearMonth};
        matches!(self, Year | Quarter | Month | Week | Day | YearMonth)
    }

    /// Whether the unit is several, which a text gives the numbers of.
    pub fn is_composite(self) -> bool {
        self.parts().len() > 1
    }

    /// Whether the unit counts microseconds, so that results show six digits.
    pub fn has_microseconds(self) -> bool {
        use IntervalUnit::{
            DayMicrosecond, HourMicrosecond, Microsecond, MinuteMicrosecond, SecondMicrosecond,
        };
        matches!(self, Microsecond | DayMicrosecond | HourMicrosecond | MinuteMicrosecond | SecondMicrosecond)
    }

    /// Weights of the parts of the unit's text, in months, days or microseconds.
    fn parts(self) -> &'static [i64] {
        use IntervalUnit::{
            Day, DayHour, DayMicrosecond, DayMinute, DaySecond, Hour, HourMicrosecond, HourMinute,
            HourSecond, Microsecond, Minute, MinuteMicrosecond, MinuteSecond, Month, Quarter, Second,
            SecondMicrosecond, Week, Year, YearMonth,
        };
        const S: i64 = MICROS_PER_SECOND;
        const ALL: [i64; 5] = [86_400 * S, 3_600 * S, 60 * S, S, 1];
        match self {
            Year => &[12],
            Quarter => &[3],
            Month | Day | Microsecond => &[1],
            Week => &[7],
            Hour => &ALL[1..2],
            Minute => &ALL[2..3],
            Second => &ALL[3..4],
            YearMonth => &[12, 1],
            DayHour => &ALL[..2],
            DayMinute => &ALL[..3],
            DaySecond => &ALL[..4],
            HourMinute => &ALL[1..3],
            HourSecond => &ALL[1..4],
            MinuteSecond => &ALL[2..4],
            DayMicrosecond => &ALL,
            HourMicrosecond => &ALL[1..],
            MinuteMicrosecond => &ALL[2..],
            SecondMicrosecond => &ALL[3..],
        }
    }

    fn wrap(self, amount: i64) -> Interval {
        use IntervalUnit::{Day, Month, Quarter, Week, Year, YearMonth};
        match self {
            Year | Quarter | Month | YearMonth => Interval::Months(amount),
            Day | Week => Interval::Days(amount),
            _ => Interval::Micros(amount),
        }
    }
}

impl Interval {
    /// `count` of a single unit (or of the last part of a compound one); `None` past the range of the
    /// arithmetic.
    pub fn from_count(count: i64, unit: IntervalUnit) -> Option<Interval> {
        let weight = unit.parts().last().copied()?;
        Some(unit.wrap(count.checked_mul(weight)?))
    }

    /// A span in microseconds, for SECOND with a fraction.
    pub fn from_micros(micros: i64) -> Interval {
        Interval::Micros(micros)
    }

    /// Reads the text of a compound unit (`'1:30' MINUTE_SECOND`): numbers parted by any non-digits, missing
    /// leading parts are zero, a last microsecond part is a fraction. `None` past the range of the arithmetic
    /// or with more parts than the unit has.
    pub fn parse(text: &[u8], unit: IntervalUnit) -> Option<Interval> {
        let weights = unit.parts();
        let text = text.trim_ascii();
        let neg = text.first() == Some(&b'-');
        let mut values = [0i64; 5];
        let (mut count, mut last_digits) = (0, 0);
        for run in text.split(|b| !b.is_ascii_digit()).filter(|run| !run.is_empty()) {
            if count == weights.len() {
                return None;
            }
            values[count] =
                run.iter().try_fold(0i64, |acc, b| acc.checked_mul(10)?.checked_add(i64::from(b - b'0')))?;
            last_digits = run.len() as u32;
            count += 1;
        }
        if count > 0 && unit.has_microseconds() && weights.len() > 1 && last_digits < 6 {
            values[count - 1] *= 10i64.pow(6 - last_digits);
        }
        let mut total = 0i64;
        for (value, weight) in values[..count].iter().zip(&weights[weights.len() - count..]) {
            total = total.checked_add(value.checked_mul(*weight)?)?;
        }
        Some(unit.wrap(if neg { -total } else { total }))
    }

    /// The opposite span.
    pub fn negate(self) -> Interval {
        match self {
            Interval::Months(n) => Interval::Months(n.saturating_neg()),
            Interval::Days(n) => Interval::Days(n.saturating_neg()),
            Interval::Micros(n) => Interval::Micros(n.saturating_neg()),
        }
    }

    /// `value` plus this span; `None` if the result is outside year 0..=9999 or `value` is a zero date.
    pub fn add_to(self, value: DateTime) -> Option<DateTime> {
        if let Interval::Micros(n) = self {
            if value.date().has_zero_part() {
                return None;
            }
            return DateTime::from_epoch_micros(i128::from(value.epoch_micros()) + i128::from(n));
        }
        let date = self.add_to_date(value.date())?;
        DateTime::from_date_and_time(date, value.time())
    }

    /// `date` plus this span of months or days; `None` for microseconds, out of range or for a zero date.
    pub fn add_to_date(self, date: Date) -> Option<Date> {
        match self {
            Interval::Months(n) => add_months(date, n),
            Interval::Days(n) => {
                if date.has_zero_part() {
                    return None;
                }
                let day = date.day_number().checked_add(n)?;
                (1..=DAY_NUMBER_MAX).contains(&day).then(|| date_of_day(day))
            }
            Interval::Micros(_) => None,
        }
    }

    /// `time` plus this span; `None` for months or out of the range of TIME.
    pub fn add_to_time(self, time: Time) -> Option<Time> {
        let micros = match self {
            Interval::Months(_) => return None,
            Interval::Days(n) => n.checked_mul(super::MICROS_PER_DAY)?,
            Interval::Micros(n) => n,
        };
        Time::from_micros(time.micros().checked_add(micros)?)
    }
}

fn add_months(date: Date, months: i64) -> Option<Date> {
    if date.has_zero_part() {
        return None;
    }
    let total = (i64::from(date.year()) * 12 + i64::from(date.month()) - 1).checked_add(months)?;
    if !(0..120_000).contains(&total) {
        return None;
    }
    let (year, month) = ((total / 12) as u16, (total % 12 + 1) as u8);
    Some(Date::new(year, month, date.day().min(days_in_month(year, month))))
}

/// The date of a day number in 1..=3652424, year 0 included (which FROM_DAYS refuses).
pub(super) fn date_of_day(day: i64) -> Date {
    if day > 365 {
        return Date::from_day_number(day);
    }
    let mut left = day;
    let mut month = 1;
    while left > i64::from(days_in_month(1, month)) {
        left -= i64::from(days_in_month(1, month));
        month += 1;
    }
    Date::new(0, month, left as u8)
}

impl DateTime {
    /// Whole months from `earlier` to `self`, toward zero: TIMESTAMPDIFF(MONTH, earlier, self).
    pub fn months_since(self, earlier: DateTime) -> i64 {
        if self < earlier {
            return -earlier.months_since(self);
        }
        let months = |value: DateTime| i64::from(value.date().year()) * 12 + i64::from(value.date().month());
        let within = |value: DateTime| (value.date().day(), value.micros_of_day());
        months(self) - months(earlier) - i64::from(within(self) < within(earlier))
    }
}
