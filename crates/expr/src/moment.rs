//! Values as dates with a time, in the session's zone.

use types::temporal::{
    DateFlags, FSP_MAX, Interval, MICROS_PER_DAY, MICROS_PER_SECOND, OddDelimiter, Parsed, ParsedTime,
};
use types::value::{Converted, Loss};
use types::{CollationId, Date, DateTime, Decimal, SqlModes, Time, Value};

use crate::compare::warn_truncated;
use crate::{EvalCtx, Warning};

/// The date and time that `value` is; `None` for NULL and for invalid values. A text may name the offset of
/// its zone: the session's zone shows that moment. The zone is asked for by such texts alone.
pub fn moment_of(value: &Value<'_>, flags: DateFlags, ctx: &EvalCtx<'_>) -> Option<Converted<DateTime>> {
    match value {
        Value::DateTime(moment, _) if flags.accept_datetime(*moment) => Some(Converted::exact(*moment)),
        Value::Bytes { data, .. } => in_zone(&DateTime::parse(data, flags)?, ctx),
        Value::Enum { .. } | Value::Set { .. } => {
            in_zone(&DateTime::parse(value.as_text(&mut Vec::new()), flags)?, ctx)
        }
        Value::Bit { .. } => in_zone(&DateTime::parse(value.as_text(&mut Vec::new()), flags)?, ctx),
        Value::Time(..) => value.to_datetime(flags, ctx.today()),
        _ => value.to_datetime(flags, Date::ZERO),
    }
}

/// The date and time that `value` is beside a date, where reading it gives no warning.
pub fn exact_moment(value: &Value<'_>, ctx: &EvalCtx<'_>) -> Option<DateTime> {
    match *value {
        Value::DateTime(moment, _) => Some(moment),
        Value::Date(day) => Some(DateTime::from_date(day)),
        Value::Bytes { data, collation } if collation != CollationId::BINARY => {
            let read = moment_of(value, DateFlags::default(), ctx)?;
            let is_exact = read.loss == Loss::None && OddDelimiter::of_date(data).is_none();
            is_exact.then_some(read.value)
        }
        _ => None,
    }
}

/// Tells the session of the first delimiter in the text of a date that MySQL deprecates.
#[inline]
pub(crate) fn note_date_delimiters(value: &Value<'_>, ctx: &EvalCtx<'_>) {
    if let Value::Bytes { data, .. } = value
        && let Some(odd) = OddDelimiter::of_date(data)
    {
        warn_of_delimiter(odd, value, ctx);
    }
}

/// As [`note_date_delimiters`], of a time, or of a date and time.
#[inline]
pub(crate) fn note_time_delimiters(value: &Value<'_>, ctx: &EvalCtx<'_>) {
    if let Value::Bytes { data, .. } = value
        && let Some(odd) = OddDelimiter::of_clock(data)
    {
        warn_of_delimiter(odd, value, ctx);
    }
}

#[cold]
fn warn_of_delimiter(odd: OddDelimiter, value: &Value<'_>, ctx: &EvalCtx<'_>) {
    ctx.session.warn(Warning::OddDelimiter { odd, value: value.message_text() });
}

/// The date that a number or another value is; as [`moment_of`].
pub(crate) fn date_of(value: &Value<'_>, flags: DateFlags, ctx: &EvalCtx<'_>) -> Option<Converted<Date>> {
    if let Value::Time(time, _) = value {
        if (0..MICROS_PER_DAY).contains(&time.micros()) {
            return Some(Converted::exact(ctx.today()));
        }
        // No time of day: the day of the moment that is as long from now.
        let moment = Interval::from_micros(time.micros()).add_to(ctx.now())?;
        return Some(Converted::exact(moment.date()));
    }
    match whole_number(value) {
        Whole::Number(number) => Date::from_number(number, flags).map(Converted::exact),
        Whole::TooLarge => None,
        Whole::None => {
            moment_of(value, flags, ctx).map(|read| Converted { value: read.value.date(), loss: read.loss })
        }
    }
}

/// A value as the number that dates are read from, without its fraction.
enum Whole {
    Number(i64),
    /// Past BIGINT.
    TooLarge,
    /// No number.
    None,
}

fn whole_number(value: &Value<'_>) -> Whole {
    // MySQL splits no larger double into digits.
    const SPLIT_MAX: f64 = 1e18;
    match *value {
        Value::Int(v) => Whole::Number(v),
        Value::UInt(v) => Whole::Number(v as i64),
        Value::Double(_) | Value::Float(_) => {
            let number = value.to_f64().value.trunc();
            if number.abs() <= SPLIT_MAX { Whole::Number(number as i64) } else { Whole::TooLarge }
        }
        Value::Decimal(v) => v.truncate(0).to_i64().map_or(Whole::TooLarge, Whole::Number),
        _ => Whole::None,
    }
}

/// Whether `value` is a number with the digits of a date alone; `None` for what is no DECIMAL and no double.
pub(crate) fn is_date_number(value: &Value<'_>) -> Option<bool> {
    const FIRST_WITH_TIME: i64 = 101_000_000;
    if !matches!(value, Value::Decimal(_) | Value::Double(_) | Value::Float(_)) {
        return None;
    }
    Some(matches!(whole_number(value), Whole::Number(1..FIRST_WITH_TIME)))
}

/// Whether the fraction of a number has a nanosecond.
pub(crate) fn has_nanoseconds(value: &Value<'_>) -> bool {
    const NANO_DIGITS: i32 = 9;
    let number = value.to_decimal().value;
    number.truncate(NANO_DIGITS) != number.truncate(0)
}

/// Warns that `value` is no date.
#[cold]
pub(crate) fn warn_no_date(value: &Value<'_>, ctx: &EvalCtx<'_>) {
    for warning in no_date(value) {
        ctx.session.warn(warning);
    }
}

fn truncated(type_name: &str, value: &Value<'_>) -> Warning {
    Warning::TruncatedWrongValue { type_name: type_name.to_owned(), value: value.message_text() }
}

/// The warnings that `value` is no date. MySQL shows integers and doubles as the integer that it reads.
#[cold]
pub fn no_date(value: &Value<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if rounds_past_the_end(value) {
        warnings.push(Warning::DateOverflow);
    }
    match (whole_number(value), value) {
        (Whole::TooLarge, Value::Decimal(v)) => {
            warnings.push(truncated("DECIMAL", &Value::Decimal(v.truncate(0))));
        }
        (Whole::Number(_), Value::Decimal(_)) => {}
        (Whole::Number(number), _) => {
            let value = number.to_string();
            warnings.push(Warning::IncorrectValue { type_name: "datetime", value });
            return warnings;
        }
        _ => {}
    }
    warnings.push(truncated("date", value));
    warnings
}

/// Whether a text is a date and time whose fraction rounds up to a year that there is not.
fn rounds_past_the_end(value: &Value<'_>) -> bool {
    let Value::Bytes { data, .. } = value else { return false };
    let parsed = DateTime::parse(data, DateFlags::default());
    parsed.is_some_and(|parsed| parsed.offset.is_none() && parsed.to_fsp(FSP_MAX, false).is_none())
}

/// Warns that `value` is no date and time.
#[cold]
pub(crate) fn warn_no_moment(value: &Value<'_>, ctx: &EvalCtx<'_>) {
    if rounds_past_the_end(value) {
        ctx.session.warn(Warning::DateOverflow);
        return warn_truncated("datetime", value, ctx);
    }
    let value = match *value {
        Value::UInt(v) => (v as i64).to_string(),
        _ => value.message_text(),
    };
    ctx.session.warn(Warning::IncorrectValue { type_name: "datetime", value });
}

/// Warns that more follows a date, or a date and time.
#[cold]
pub(crate) fn warn_cut_moment(value: &Value<'_>, ctx: &EvalCtx<'_>) {
    let mut scratch = Vec::new();
    let parsed = DateTime::parse(value.as_text(&mut scratch), DateFlags::default());
    let has_time = parsed.is_some_and(|parsed| parsed.has_time);
    warn_truncated(if has_time { "datetime" } else { "date" }, value, ctx);
}

fn in_zone(parsed: &Parsed, ctx: &EvalCtx<'_>) -> Option<Converted<DateTime>> {
    let mut value = parsed.to_fsp(FSP_MAX, parsed.rounds_up && cuts_fractions(ctx))?;
    if let Some(offset) = parsed.offset {
        value = ctx.session.time_zone().show_offset(value, offset)?;
    }
    Some(Converted { value, loss: if parsed.truncated { Loss::Truncated } else { Loss::None } })
}

/// The time that `value` is; `None` for NULL and for invalid values. Of a date and time that names the offset
/// of its zone it is the time in the session's zone.
pub(crate) fn time_of(value: &Value<'_>, ctx: &EvalCtx<'_>) -> Option<Converted<Time>> {
    /// Shorter texts are no date and time with an offset.
    const ZONED_BYTES_MIN: usize = 16;
    if let Value::Bytes { data, .. } = value
        && data.len() >= ZONED_BYTES_MIN
        && let Some(parsed) = DateTime::parse(data, DateFlags::default()).filter(|p| p.offset.is_some())
    {
        let moment = in_zone(&parsed, ctx)?;
        return Some(Converted { value: moment.value.time(), loss: moment.loss });
    }
    match value {
        Value::Bytes { data, .. } => of_text(data, ctx),
        Value::Bit { .. } => of_text(value.as_text(&mut Vec::new()), ctx),
        // A number past the range is no time, unlike a text.
        _ => value.to_time().filter(|read| read.loss != Loss::OutOfRange),
    }
}

fn of_text(text: &[u8], ctx: &EvalCtx<'_>) -> Option<Converted<Time>> {
    let parsed = Time::parse(text)?;
    let loss = match parsed {
        ParsedTime { out_of_range: true, .. } => Loss::OutOfRange,
        ParsedTime { truncated: true, .. } => Loss::Truncated,
        _ => Loss::None,
    };
    let is_cut = parsed.rounds_up && cuts_fractions(ctx);
    Some(Converted { value: parsed.to_fsp(FSP_MAX, is_cut), loss })
}

/// Whether fractions of seconds are cut instead of rounded. Asked where there is something to cut.
pub(crate) fn cuts_fractions(ctx: &EvalCtx<'_>) -> bool {
    ctx.session.modes().has(SqlModes::TIME_TRUNCATE_FRACTIONAL)
}

/// A number of seconds in microseconds; `None` past the range of BIGINT.
pub(crate) fn micros_of_seconds(seconds: Decimal, ctx: &EvalCtx<'_>) -> Option<i64> {
    let micros = seconds.checked_mul(Decimal::from(MICROS_PER_SECOND))?;
    let has_more = seconds.scale() > FSP_MAX;
    let whole = if has_more && cuts_fractions(ctx) { micros.truncate(0) } else { micros };
    whole.to_i64().ok()
}
