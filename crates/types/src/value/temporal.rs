//! Values to dates and times.

use super::{Converted, Loss, Value};
use crate::temporal::{DateFlags, MICROS_PER_SECOND, Parsed};
use crate::{Date, DateTime, Decimal, Time};

/// Numbers from here on are dates with a time of day.
const FIRST_WITH_TIME: i64 = 101_000_000;

impl Value<'_> {
    /// The value as a date and time with microseconds. `None` if it is invalid ("Incorrect datetime value")
    /// or NULL. A TIME counts from midnight of `today`; a YEAR is its first day.
    pub fn to_datetime(&self, flags: DateFlags, today: Date) -> Option<Converted<DateTime>> {
        match *self {
            Value::Null => None,
            Value::Date(v) => flags.accept(v).then(|| Converted::exact(DateTime::from_date(v))),
            Value::DateTime(v, _) => flags.accept_datetime(v).then(|| Converted::exact(v)),
            Value::Time(v, _) => DateTime::from_date_and_time(today, v).map(Converted::exact),
            Value::Bytes { data, .. } => from_parsed(DateTime::parse(data, flags)?),
            Value::Enum { .. } | Value::Set { .. } => {
                from_parsed(DateTime::parse(self.as_text(&mut Vec::new()), flags)?)
            }
            Value::Year(v) => Some(Converted::exact(DateTime::from_date(Date::new(v, 1, 1)))),
            _ => {
                let (number, micro, rounds_up) = self.number_and_micro()?;
                // A fraction belongs to a time of day, or stands alone.
                let has_time = number >= FIRST_WITH_TIME || number == 0;
                let micro = if has_time { micro } else { micro.min(0) };
                let has_fraction = flags.no_zero_date && number == 0 && !self.to_decimal().value.is_zero();
                let parsed = DateTime::from_number(number, micro, flags).filter(|_| !has_fraction)?;
                from_parsed(Parsed { rounds_up: rounds_up && has_time, ..parsed })
            }
        }
    }

    /// The value as a time with microseconds; a date part is dropped. `None` if it is invalid or NULL.
    pub fn to_time(&self) -> Option<Converted<Time>> {
        let parsed = match *self {
            Value::Null => return None,
            Value::Date(_) | Value::Year(_) => return Some(Converted::exact(Time::ZERO)),
            Value::DateTime(v, _) => return Some(Converted::exact(v.time())),
            Value::Time(v, _) => return Some(Converted::exact(v)),
            Value::Bytes { data, .. } => Time::parse(data)?,
            Value::Enum { .. } | Value::Set { .. } => Time::parse(self.as_text(&mut Vec::new()))?,
            _ => {
                let (number, micro, rounds_up) = self.number_and_micro()?;
                Time::from_long_number(number, micro, rounds_up)?
            }
        };
        let loss = if parsed.out_of_range {
            Loss::OutOfRange
        } else if parsed.truncated {
            Loss::Truncated
        } else {
            Loss::None
        };
        Some(Converted { value: parsed.to_fsp(6, false), loss })
    }

    /// A number as its integer part and its fraction in microseconds, both of its sign, for the numeric
    /// literals of dates, and whether the rest is half a microsecond or more. `None` past i64.
    pub(crate) fn number_and_micro(&self) -> Option<(i64, i32, bool)> {
        let decimal = match *self {
            Value::Int(v) => return Some((v, 0, false)),
            Value::UInt(v) => return Some((i64::try_from(v).ok()?, 0, false)),
            _ => {
                let read = self.to_decimal();
                if read.loss == Loss::OutOfRange {
                    return None;
                }
                read.value
            }
        };
        let rounds_up = decimal.round(6) != decimal.truncate(6);
        let decimal = decimal.truncate(6);
        let whole = decimal.truncate(0);
        let fraction = decimal.checked_sub(whole)?;
        let micro = fraction.checked_mul(Decimal::from(MICROS_PER_SECOND))?.to_i64().ok()?;
        Some((whole.to_i64().ok()?, micro as i32, rounds_up))
    }
}

fn from_parsed(parsed: Parsed) -> Option<Converted<DateTime>> {
    let value = parsed.to_fsp(6, false)?;
    Some(Converted { value, loss: if parsed.truncated { Loss::Truncated } else { Loss::None } })
}
