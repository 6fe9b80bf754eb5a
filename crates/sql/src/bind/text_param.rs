//! Literals that a shared plan takes for what their place asks for: texts beside numbers or dates, lengths of
//! digests, locales. An invalid literal is part of its plan, so that the shared plan does not serve it.

use types::temporal::{DateFlags, OddDelimiter};
use types::value::Loss;
use types::{Date, DateTime, Locale, Value};

/// What a literal is read as, a text for the most part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextUse {
    /// A double.
    Double,
    /// A decimal.
    Decimal,
    /// A date and time.
    Moment(DateFlags),
    /// A date and time without a delimiter that MySQL deprecates: such a one is converted once.
    PlainMoment {
        /// Which dates there are.
        flags: DateFlags,
        /// Whether the text may name the offset of its zone.
        may_be_zoned: bool,
    },
    /// A time that a column of so many fraction digits stores unchanged.
    Time(u8),
    /// A number of characters: digits alone, and no more than every BIGINT has.
    Count,
    /// A length of SHA2().
    DigestBits,
    /// The name of a locale.
    Locale,
}

/// Every number of this many digits is a BIGINT.
const COUNT_DIGITS_MAX: usize = 18;

impl TextUse {
    /// Whether `text` is, as a whole, what it is read as, so that MySQL says nothing about it.
    pub(super) fn accepts(self, text: &Value<'_>) -> bool {
        match self {
            TextUse::Double => text.to_f64().loss == Loss::None,
            TextUse::Decimal => text.to_decimal().loss != Loss::Truncated,
            TextUse::Moment(flags) => {
                let read = text.to_datetime(flags, Date::ZERO);
                read.is_some_and(|read| flags.accept_datetime(read.value))
            }
            TextUse::PlainMoment { flags, may_be_zoned } => {
                let is_plain = match *text {
                    Value::Bytes { data, .. } => {
                        OddDelimiter::of_date(data).is_none() && (may_be_zoned || !has_offset(data))
                    }
                    _ => true,
                };
                is_plain && TextUse::Moment(flags).accepts(text)
            }
            TextUse::Time(digits) => text
                .to_time()
                .is_some_and(|read| read.loss == Loss::None && read.value.round(digits) == read.value),
            TextUse::Count => match *text {
                Value::Bytes { data, .. } => {
                    (1..=COUNT_DIGITS_MAX).contains(&data.len()) && data.iter().all(u8::is_ascii_digit)
                }
                _ => false,
            },
            TextUse::DigestBits => matches!(*text, Value::Int(0 | 224 | 256 | 384 | 512)),
            TextUse::Locale => match *text {
                Value::Bytes { data, .. } => {
                    std::str::from_utf8(data).is_ok_and(|name| Locale::find(name).is_some())
                }
                _ => false,
            },
        }
    }
}

/// Whether the text of a date and time names the offset of its zone.
pub(super) fn has_offset(text: &[u8]) -> bool {
    /// Shorter texts are no date and time with an offset.
    const ZONED_BYTES_MIN: usize = 16;
    text.len() >= ZONED_BYTES_MIN
        && DateTime::parse(text, DateFlags::default()).is_some_and(|parsed| parsed.offset.is_some())
}

/// A literal that has to be such a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextParam {
    /// Its number among the parameters.
    pub(super) param: u16,
    /// What it is read as.
    pub(super) read_as: TextUse,
}

impl TextParam {
    /// Whether the plan is good for `params` as far as this literal goes.
    pub fn serves(&self, params: &[Value<'_>]) -> bool {
        params.get(usize::from(self.param)).is_none_or(|text| self.read_as.accepts(text))
    }
}
