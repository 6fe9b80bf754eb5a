//! Which storage bytes are a value of their type: for bytes that come from a disk.

use super::{decimal_width, fraction_unit, fraction_width, read_int, read_uint};
use crate::decimal::PRECISION_MAX;
use crate::temporal::unit_of;
use crate::{Date, Decimal, SqlType, Time, TypeKind};

/// Longest storage form that is an integer of a machine word.
const WORD_BYTES_MAX: usize = size_of::<i64>();
/// Largest parts of a date and of a time of day; a day of five bits is at most 31.
const YEAR_MAX: u64 = 9999;
const MONTH_MAX: u8 = 12;
const HOUR_MAX: u64 = 23;
const SIXTIETH_MAX: u64 = 59;
/// Months of a packed moment's year, the zero month included.
const MONTHS: u64 = 13;

/// What storage bytes of a type are, beyond bytes of its width. What assignment stores satisfies it, and
/// readers may rely on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRule(Rule);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    /// Any bytes.
    Any,
    /// An unsigned integer up to this one.
    Unsigned(u64),
    /// A signed integer from minus this one to this one.
    Signed(i64),
    /// A DECIMAL of more bytes than a word, up to this one with either sign.
    Decimal(Box<Decimal>),
    Date,
    /// A fraction below this many units.
    DateTime(u64),
    Timestamp(u64),
}

impl ValueRule {
    /// The rule for values of `ty`.
    pub fn of(ty: &SqlType) -> Self {
        let fraction_end = |fsp| u64::from(1_000_000 / fraction_unit(fraction_width(fsp)));
        ValueRule(match ty.kind {
            TypeKind::Decimal => decimal_rule(ty),
            TypeKind::Bit => Rule::Unsigned(u64::MAX >> (64 - ty.length.clamp(1, 64))),
            TypeKind::Date => Rule::Date,
            TypeKind::Time => Rule::Signed(Time::MAX.micros() / unit_of(ty.decimals)),
            TypeKind::DateTime => Rule::DateTime(fraction_end(ty.decimals)),
            TypeKind::Timestamp => Rule::Timestamp(fraction_end(ty.decimals)),
            TypeKind::Enum => Rule::Unsigned(ty.member_count() as u64),
            TypeKind::Set => Rule::Unsigned(match ty.member_count() {
                0 => 0,
                members => u64::MAX >> (64 - members.min(64)),
            }),
            _ => Rule::Any,
        })
    }

    /// Whether any bytes are a value, of the type's width where it has one.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.0 == Rule::Any
    }

    /// Whether `bytes`, of the type's width where it has one, are a value.
    #[inline]
    pub fn is_kept_by(&self, bytes: &[u8]) -> bool {
        match &self.0 {
            Rule::Any => true,
            Rule::Unsigned(max) => read_uint(bytes) <= *max,
            Rule::Signed(max) => (-max..=*max).contains(&read_int(bytes)),
            Rule::Decimal(max) => Decimal::from_units_le(bytes, max.scale()).abs() <= **max,
            Rule::Date => is_date(Date::from_packed(read_uint(bytes) as u32)),
            Rule::DateTime(fraction_end) => is_moment(bytes, *fraction_end),
            Rule::Timestamp(fraction_end) => {
                let (seconds, fraction) = bytes.split_at(4);
                i32::try_from(read_uint(seconds)).is_ok() && read_uint(fraction) < *fraction_end
            }
        }
    }
}

fn decimal_rule(ty: &SqlType) -> Rule {
    let precision = ty.length.min(PRECISION_MAX);
    if decimal_width(precision) > WORD_BYTES_MAX {
        return Rule::Decimal(Box::new(Decimal::max_value(precision, ty.decimals)));
    }
    Rule::Signed(10i64.pow(precision) - 1)
}

fn is_date(date: Date) -> bool {
    u64::from(date.year()) <= YEAR_MAX && date.month() <= MONTH_MAX
}

/// `ym << 22 | day << 17 | hour << 12 | minute << 6 | second`, then the fraction.
fn is_moment(bytes: &[u8], fraction_end: u64) -> bool {
    let (seconds, fraction) = bytes.split_at(5);
    let packed = read_uint(seconds);
    packed >> 22 < (YEAR_MAX + 1) * MONTHS
        && packed >> 12 & 31 <= HOUR_MAX
        && packed >> 6 & 63 <= SIXTIETH_MAX
        && packed & 63 <= SIXTIETH_MAX
        && read_uint(fraction) < fraction_end
}
