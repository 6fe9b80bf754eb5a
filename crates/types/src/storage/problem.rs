//! Problems of a value on its way into a column.

use crate::temporal::{DateFlags, OddDelimiter};
use crate::{Date, SqlModes, SqlType, TimeZone, Value};

/// Settings of the session and statement that assignment depends on.
#[derive(Clone, Copy, Debug)]
pub struct StoreContext<'a> {
    /// Refuse what does not fit instead of adjusting it (STRICT_TRANS_TABLES or STRICT_ALL_TABLES, and no
    /// IGNORE).
    pub strict: bool,
    /// The session's mode is strict, whatever the statement says.
    pub strict_mode: bool,
    /// Which incomplete dates are refused.
    pub date_flags: DateFlags,
    /// TIME_TRUNCATE_FRACTIONAL: cut fractions instead of rounding them.
    pub truncate_fractions: bool,
    /// Zone of TIMESTAMP values.
    pub zone: &'a TimeZone,
    /// The statement's date, which a TIME gets when stored as a date.
    pub today: Date,
}

impl<'a> StoreContext<'a> {
    /// The settings that `modes` ask for; INSERT IGNORE and the like then clear `strict`.
    pub fn new(modes: SqlModes, zone: &'a TimeZone, today: Date) -> Self {
        StoreContext {
            strict: modes.is_strict(),
            strict_mode: modes.is_strict(),
            date_flags: DateFlags::from_modes(modes),
            truncate_fractions: modes.has(SqlModes::TIME_TRUNCATE_FRACTIONAL),
            zone,
            today,
        }
    }
}

/// What is wrong. Texts are MySQL's; callers add column name and row number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// 1264 `Out of range value`.
    OutOfRange,
    /// 1265 `Data truncated`.
    Truncated,
    /// 1406 `Data too long`.
    TooLong,
    /// 1366 `Incorrect {type_name} value: '{value}'`: an invalid number or string.
    IncorrectValue {
        /// Word of the message: integer, decimal, DOUBLE, FLOAT, string.
        type_name: &'static str,
        /// Text of the value.
        value: Box<str>,
    },
    /// 1292 `Incorrect {type_name} value: '{value}'`: an invalid date or time.
    IncorrectTemporal {
        /// Word of the message: date, time, datetime.
        type_name: &'static str,
        /// Text of the value.
        value: Box<str>,
    },
    /// 1441 `Datetime function: datetime field overflow`: rounding passes the last day.
    DateTimeOverflow,
    /// 1299 `Invalid TIMESTAMP value`: the local time is skipped by a clock change.
    ZoneGap,
    /// 4095 or 4096: the text of a date or time has a delimiter that is deprecated.
    OddDelimiter {
        /// The delimiter.
        odd: OddDelimiter,
        /// The text.
        value: Box<str>,
    },
    /// NULL has no storage bytes; callers treat it before.
    Null,
}

/// How a value was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreNote {
    /// As it is.
    Exact,
    /// With a harmless loss: a note for SHOW WARNINGS.
    Note(Box<Problem>),
    /// Adjusted, since the mode is not strict: a warning.
    Warning(Box<Problem>),
    /// The same, with two: what the value is, which is a note if it has only something after it, and what it
    /// becomes on the way.
    Warnings(Box<[Problem; 2]>),
}

/// The value is refused; nothing was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError(pub Box<Problem>);

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "value refused: {:?}", self.0)
    }
}

impl std::error::Error for StoreError {}

/// The problem that a conversion found, before the mode decides its consequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// Fraction digits were rounded away, or spaces cut off.
    Rounded,
    OutOfRange,
    /// Out of the range of 64 bits, and the nearest number of those out of the column's.
    OutOfRangeTwice,
    /// Out of the range of 64 bits, and the nearest number of those has too many bits.
    OutOfRangeBits,
    Truncated,
    TooLong,
    /// Too many bits.
    BitsTooLong,
    /// Not a number of the named kind.
    Incorrect(&'static str),
    /// As that, and what was read of it is out of range.
    IncorrectOutOfRange(&'static str),
    /// A decimal with something after it.
    DecimalTail,
    /// As that, and out of the column's range.
    DecimalTailOutOfRange,
    /// A number past every decimal that has more digits than MySQL reads, or something after it.
    DecimalTailOverflow,
    /// Bytes from the position on are no characters.
    BadString(usize),
    /// No date or time, or something after it.
    Temporal(&'static str),
    /// A date or time out of its range.
    TemporalRange(&'static str),
    /// The part of a date and time that the column does not hold was dropped.
    PartDropped(&'static str),
    DateTimeOverflow,
    ZoneGap,
}

impl Fault {
    /// What is found of a decimal of which this is known already, and which is out of the column's range.
    #[cold]
    pub(super) fn out_of_range(self) -> Self {
        match self {
            Fault::DecimalTail => Fault::DecimalTailOutOfRange,
            Fault::DecimalTailOverflow => self,
            _ => Fault::OutOfRange,
        }
    }

    /// Whether a strict mode refuses the value.
    pub(super) fn refused(self, ctx: &StoreContext<'_>) -> bool {
        ctx.strict && !matches!(self, Fault::None | Fault::Rounded | Fault::PartDropped(_))
    }

    /// The result of an assignment that found this.
    #[inline]
    pub(super) fn settle(
        self,
        ty: &SqlType,
        ctx: &StoreContext<'_>,
        value: &Value<'_>,
    ) -> Result<StoreNote, StoreError> {
        if self == Fault::None {
            return Ok(StoreNote::Exact);
        }
        self.report(ctx, &super::temporal::in_messages(ty, value, ctx))
    }

    #[cold]
    #[inline(never)]
    fn report(self, ctx: &StoreContext<'_>, value: &Value<'_>) -> Result<StoreNote, StoreError> {
        if self.refused(ctx) {
            return Err(StoreError(Box::new(self.strict_problem(value))));
        }
        Ok(match self {
            Fault::Rounded | Fault::DecimalTail => StoreNote::Note(Box::new(Problem::Truncated)),
            Fault::PartDropped(type_name) if ctx.strict => {
                StoreNote::Note(Box::new(incorrect_temporal(type_name, value)))
            }
            Fault::PartDropped(_) => StoreNote::Note(Box::new(Problem::Truncated)),
            Fault::OutOfRangeTwice => {
                StoreNote::Warnings(Box::new([Problem::OutOfRange, Problem::OutOfRange]))
            }
            Fault::OutOfRangeBits => {
                let bits = if ctx.strict_mode { Problem::TooLong } else { Problem::OutOfRange };
                StoreNote::Warnings(Box::new([Problem::OutOfRange, bits]))
            }
            Fault::DecimalTailOutOfRange => {
                StoreNote::Warnings(Box::new([Problem::Truncated, Problem::OutOfRange]))
            }
            Fault::DateTimeOverflow => {
                StoreNote::Warnings(Box::new([Problem::DateTimeOverflow, Problem::OutOfRange]))
            }
            Fault::IncorrectOutOfRange(type_name) => {
                StoreNote::Warnings(Box::new([incorrect_value(type_name, value), Problem::OutOfRange]))
            }
            // BIT alone says what strict modes would, if it is not refused.
            Fault::BitsTooLong if ctx.strict_mode => StoreNote::Warning(Box::new(Problem::TooLong)),
            _ => StoreNote::Warning(Box::new(self.permissive_problem(value))),
        })
    }

    fn strict_problem(self, value: &Value<'_>) -> Problem {
        match self {
            Fault::OutOfRange | Fault::OutOfRangeTwice | Fault::OutOfRangeBits => Problem::OutOfRange,
            Fault::TooLong | Fault::BitsTooLong => Problem::TooLong,
            Fault::Incorrect(type_name) | Fault::IncorrectOutOfRange(type_name) => {
                incorrect_value(type_name, value)
            }
            Fault::DecimalTail | Fault::DecimalTailOutOfRange | Fault::DecimalTailOverflow => {
                incorrect_value("decimal", value)
            }
            Fault::BadString(at) => bad_string(value, at),
            Fault::Temporal(type_name) | Fault::TemporalRange(type_name) => {
                incorrect_temporal(type_name, value)
            }
            Fault::ZoneGap => incorrect_temporal("datetime", value),
            Fault::DateTimeOverflow => Problem::DateTimeOverflow,
            Fault::Truncated | Fault::None | Fault::Rounded | Fault::PartDropped(_) => Problem::Truncated,
        }
    }

    fn permissive_problem(self, value: &Value<'_>) -> Problem {
        match self {
            Fault::OutOfRange | Fault::BitsTooLong | Fault::DecimalTailOverflow | Fault::TemporalRange(_) => {
                Problem::OutOfRange
            }
            Fault::Incorrect(type_name) => incorrect_value(type_name, value),
            Fault::BadString(at) => bad_string(value, at),
            Fault::ZoneGap => Problem::ZoneGap,
            _ => Problem::Truncated,
        }
    }
}

fn incorrect_value(type_name: &'static str, value: &Value<'_>) -> Problem {
    Problem::IncorrectValue { type_name, value: value.message_text().into() }
}

fn incorrect_temporal(type_name: &'static str, value: &Value<'_>) -> Problem {
    // A year is a number here.
    let value = if let Value::Year(year) = *value { &Value::Int(i64::from(year)) } else { value };
    Problem::IncorrectTemporal { type_name, value: value.message_text().into() }
}

/// Shows at most six bytes from the first that is no character, those outside ASCII as `\xHH`.
fn bad_string(value: &Value<'_>, at: usize) -> Problem {
    const SHOWN: usize = 6;
    let mut scratch = Vec::new();
    let rest = value.as_text(&mut scratch).get(at..).unwrap_or_default();
    let mut shown = String::new();
    for &b in rest.iter().take(SHOWN) {
        if (0x20..0x7f).contains(&b) {
            shown.push(char::from(b));
        } else {
            shown.push_str("\\x");
            shown.extend([b >> 4, b & 15].map(|n| char::from(b"0123456789ABCDEF"[usize::from(n)])));
        }
    }
    if rest.len() > SHOWN {
        shown.push_str("...");
    }
    Problem::IncorrectValue { type_name: "string", value: shown.into() }
}
