//! Values as dates with a time, in the session's zone.

use types::temporal::{DateFlags, MAX_FSP, MICROS_PER_SECOND, Parsed, ParsedTime};
use types::value::{Converted, Loss};
use types::{Date, DateTime, Decimal, SqlModes, Time, Value};

use crate::EvalCtx;

/// The date and time that `value` is; `None` for NULL and for what is none. A text may name the offset of its zone: the
/// session's zone shows that moment. The zone is asked for by such texts alone.
pub fn moment_of(value: &Value<'_>, flags: DateFlags, ctx: &EvalCtx<'_>) -> Option<Converted<DateTime>> {
    match value {
        Value::DateTime(moment, _) if flags.accept_datetime(*moment) => Some(Converted::exact(*moment)),
        Value::Bytes { data, .. } => in_zone(&DateTime::parse(data, flags)?, ctx),
        Value::Enum { .. } | Value::Set { .. } => {
            in_zone(&DateTime::parse(value.as_text(&mut Vec::new()), flags)?, ctx)
        }
        Value::Time(..) => value.to_datetime(flags, ctx.today()),
        _ => value.to_datetime(flags, Date::ZERO),
    }
}

fn in_zone(parsed: &Parsed, ctx: &EvalCtx<'_>) -> Option<Converted<DateTime>> {
    let mut value = parsed.to_fsp(MAX_FSP, parsed.rounds_up && cuts_fractions(ctx))?;
    if let Some(offset) = parsed.offset {
        value = ctx.session.time_zone().show_offset(value, offset)?;
    }
    Some(Converted { value, loss: if parsed.truncated { Loss::Truncated } else { Loss::None } })
}

/// The time that `value` is; `None` for NULL and for what is none. Of a date and time that names the offset of its zone it
/// is the time in the session's zone.
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
    Some(Converted { value: parsed.to_fsp(MAX_FSP, is_cut), loss })
}

/// Whether fractions of seconds are cut instead of rounded. Asked where there is something to cut.
pub(crate) fn cuts_fractions(ctx: &EvalCtx<'_>) -> bool {
    ctx.session.modes().has(SqlModes::TIME_TRUNCATE_FRACTIONAL)
}

/// A number of seconds in microseconds; `None` past the range of BIGINT.
pub(crate) fn micros_of_seconds(seconds: Decimal, ctx: &EvalCtx<'_>) -> Option<i64> {
    let micros = seconds.checked_mul(Decimal::from(MICROS_PER_SECOND))?;
    let has_more = seconds.scale() > MAX_FSP;
    let whole = if has_more && cuts_fractions(ctx) { micros.truncate(0) } else { micros };
    whole.to_i64().ok()
}
