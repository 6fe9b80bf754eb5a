//! Values that a statement is run with: literals lifted out of its text, and parameters bound by the client.

use bumpalo::Bump;
use sql::literal::{IntValue, LiteralKind};
use sql::{LexMode, Literal};
use types::collation::convert;
use types::decimal::Decimal;
use types::temporal::{Date, DateTime, FSP_MAX, Time};
use types::value::Loss;
use types::{CollationId, SqlType, TypeKind, Value};
use wire::execute::{ParamType, ParamValue, Parameters};
use wire::{BinaryDateTime, BinaryTime, ColumnType};

use super::param_class::Class;
use crate::error_map::{self, SqlError};
use crate::prepared::Prepared;
use crate::refusal::protocol_error;
use crate::sysvars::HotVariables;

/// Characters of a string parameter, whose length is not known.
const TEXT_CHARS: u32 = 16_383;

/// Bytes of a binary parameter, whose length is not known.
const BINARY_BYTES: u32 = 65_535;

/// How the client's strings become values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strings<'h>(&'h HotVariables);

impl<'h> Strings<'h> {
    /// As the session's variables say.
    #[inline]
    pub(crate) fn new(hot: &'h HotVariables) -> Self {
        Strings(hot)
    }

    #[inline]
    fn value<'a>(self, bytes: &'a [u8], arena: &'a Bump) -> Value<'a> {
        Value::Bytes { data: self.convert(bytes, arena), collation: self.0.collation_connection }
    }

    #[inline(always)]
    fn convert<'a>(self, bytes: &'a [u8], arena: &'a Bump) -> &'a [u8] {
        if self.0.charset_connection == self.0.charset_client {
            bytes
        } else {
            self.convert_otherwise(bytes, arena)
        }
    }

    #[cold]
    #[inline(never)]
    fn convert_otherwise<'a>(self, bytes: &[u8], arena: &'a Bump) -> &'a [u8] {
        let mut converted = Vec::new();
        convert(self.0.charset_client, self.0.charset_connection, bytes, &mut converted);
        arena.alloc_slice_copy(&converted)
    }
}

/// The values of the literals that a cache key lists, in order. `None`: one of them is beyond the type that a
/// shared plan takes it for, so the text needs a plan of its own.
///
/// Literals that are never parameters (hexadecimal, bits, dates) leave NULL in their places. Cost: no heap
/// allocation; strings without escapes are not copied.
#[inline(always)]
pub(crate) fn literals<'a>(
    list: &[Literal],
    sql: &'a [u8],
    mode: LexMode,
    strings: Strings<'_>,
    arena: &'a Bump,
) -> Option<&'a [Value<'a>]> {
    if list.is_empty() {
        return Some(&[]);
    }
    let value = |at: usize| {
        let literal = &list[at];
        if literal.kind == LiteralKind::Int
            && let IntValue::Signed(value) = literal.int_value(sql)
        {
            return Ok(Value::Int(value));
        }
        literal_value(literal, sql, mode, strings, arena).ok_or(())
    };
    arena.alloc_slice_try_fill_with(list.len(), value).ok().map(|values| &*values)
}

/// The value of a literal that is no small integer.
fn literal_value<'a>(
    literal: &Literal,
    sql: &'a [u8],
    mode: LexMode,
    strings: Strings<'_>,
    arena: &'a Bump,
) -> Option<Value<'a>> {
    Some(match literal.kind {
        LiteralKind::Int => return None,
        LiteralKind::String => {
            let data = match literal.string_value(sql, mode) {
                std::borrow::Cow::Borrowed(data) => data,
                std::borrow::Cow::Owned(data) => arena.alloc_slice_copy(&data),
            };
            strings.value(data, arena)
        }
        LiteralKind::Decimal => Value::Decimal(Decimal::parse(literal.text(sql))?),
        LiteralKind::Float => Value::Double(std::str::from_utf8(literal.text(sql)).ok()?.parse().ok()?),
        _ => Value::Null,
    })
}

/// Decodes the parameters of COM_STMT_EXECUTE; values sent in pieces are used up. Whether the plan suits
/// other types than those that it was chosen for is asked later.
///
/// # Errors
/// 1210 and protocol errors.
pub(crate) fn decode<'a>(
    packet: &'a [u8],
    prepared: &mut Prepared,
    strings: Strings<'_>,
    arena: &'a Bump,
) -> Result<&'a [Value<'a>], SqlError> {
    let count = prepared.params;
    if count == 0 {
        return Ok(&[]);
    }
    let long_data =
        if prepared.long_data.is_empty() { Vec::new() } else { std::mem::take(&mut prepared.long_data) };
    let (mut decoder, bound) =
        Parameters::new(packet, count, &mut prepared.types).map_err(|e| protocol_error(&e))?;
    // A value sent in pieces is a text, whatever type was bound.
    let is_misfit =
        |(sent, ty): (&Option<Vec<u8>>, &ParamType)| sent.is_some() && Class::of_bound(*ty) != Class::Text;
    let has_misfits = long_data.iter().zip(decoder.types()).any(is_misfit);
    if (bound || has_misfits)
        && let Some(plan) = &mut prepared.plan
        && (has_misfits || plan.types != decoder.types())
    {
        plan.is_direct = false;
    }
    // In their places: what makes a slice of results moves each twice.
    let values = arena.alloc_slice_fill_with(count, |_| Value::Null);
    for (at, to) in values.iter_mut().enumerate() {
        let sent = long_data.get(at).and_then(Option::as_ref);
        let value = decoder.next(sent.is_some()).map_err(|e| protocol_error(&e))?;
        match (sent, value) {
            (None, Some(ParamValue::Int(value))) => *to = Value::Int(value),
            (None, Some(ParamValue::Text(text))) => *to = strings.value(text, arena),
            (None, Some(value)) => *to = param_value(value, strings, arena)?,
            (Some(data), _) => *to = strings.value(arena.alloc_slice_copy(data), arena),
            (None, None) => {}
        }
    }
    Ok(values)
}

fn param_value<'a>(
    value: ParamValue<'a>,
    strings: Strings<'_>,
    arena: &'a Bump,
) -> Result<Value<'a>, SqlError> {
    Ok(match value {
        ParamValue::Null | ParamValue::LongData => Value::Null,
        ParamValue::Int(value) => Value::Int(value),
        ParamValue::UInt(value) => Value::UInt(value),
        ParamValue::Float(value) => Value::Double(f64::from(value)),
        ParamValue::Double(value) => Value::Double(value),
        ParamValue::Decimal(text) => Value::Decimal(Value::binary(text).to_decimal().value),
        ParamValue::Text(text) => strings.value(text, arena),
        ParamValue::Bytes(bytes) => Value::binary(bytes),
        ParamValue::Date(parts) => Value::Date(date(parts).ok_or_else(wrong)?),
        ParamValue::DateTime(parts) => Value::DateTime(datetime(parts).ok_or_else(wrong)?, FSP_MAX),
        ParamValue::Time(parts) => Value::Time(time(parts)?, FSP_MAX),
    })
}

/// The number of decimals without a number among the parameters of `packet` up to `last`, none of which was
/// sent in pieces.
#[cold]
pub(crate) fn bad_decimals(packet: &[u8], types: &[ParamType], last: usize) -> usize {
    let mut types = types.to_vec();
    let count = types.len();
    let Ok((mut decoder, _)) = Parameters::new(packet, count, &mut types) else { return 0 };
    let is_bad = |text: &[u8]| Value::binary(text).to_decimal().loss != Loss::None || text.is_empty();
    (0..=last)
        .filter(|_| matches!(decoder.next(false), Ok(Some(ParamValue::Decimal(text))) if is_bad(text)))
        .count()
}

#[cold]
fn wrong() -> SqlError {
    error_map::WRONG_ARGUMENTS.with(&[&"mysqld_stmt_execute"])
}

/// The type of the values that a client binds with type `ty`.
pub(crate) fn param_type(ty: ParamType, collation: CollationId) -> SqlType {
    use ColumnType::{
        Blob, Bool, Date, DateTime, Decimal, Double, Float, Long, LongBlob, LongLong, MediumBlob, NewDecimal,
        Null, Short, Time, Timestamp, Tiny, TinyBlob,
    };
    let micros = |kind, length| SqlType { decimals: 6, ..SqlType::new(kind, length) };
    match ty.column_type {
        Null => SqlType::null(),
        Tiny | Bool | Short | Long | LongLong if ty.unsigned => SqlType::bigint_unsigned(),
        Tiny | Bool | Short | Long | LongLong => SqlType::bigint(),
        Float | Double => SqlType::double(),
        Decimal | NewDecimal => SqlType::decimal(types::decimal::PRECISION_MAX, types::decimal::SCALE_MAX),
        Date => SqlType::new(TypeKind::Date, 10),
        DateTime | Timestamp => micros(TypeKind::DateTime, 26),
        Time => micros(TypeKind::Time, 17),
        TinyBlob | MediumBlob | LongBlob | Blob => SqlType::new(TypeKind::VarBinary, BINARY_BYTES),
        _ => SqlType::varchar(TEXT_CHARS, collation),
    }
}

fn date(parts: BinaryDateTime) -> Option<Date> {
    let fits = parts.year <= 9999 && parts.month <= 12 && parts.day <= 31;
    fits.then(|| Date::new(parts.year, parts.month, parts.day))
}

fn datetime(parts: BinaryDateTime) -> Option<DateTime> {
    let fits = parts.hour < 24 && parts.minute < 60 && parts.second < 60 && parts.micros < 1_000_000;
    let date = date(parts).filter(|_| fits)?;
    Some(DateTime::new(date, parts.hour, parts.minute, parts.second, parts.micros))
}

/// # Errors
/// 1210 for what is no time, 1690 for one beyond the range of TIME.
fn time(parts: BinaryTime) -> Result<Time, SqlError> {
    let fits = parts.hour < 24 && parts.minute < 60 && parts.second < 60 && parts.micros < 1_000_000;
    let hours = i64::from(parts.days) * 24 + i64::from(parts.hour);
    let seconds = hours * 3600 + i64::from(parts.minute) * 60 + i64::from(parts.second);
    // A client may send 2^32 days.
    let micros = seconds.saturating_mul(1_000_000).saturating_add(i64::from(parts.micros));
    let signed = if parts.negative { -micros } else { micros };
    if !fits {
        return Err(wrong());
    }
    let time = Time::from_micros_clipped(signed);
    let too_long = || error_map::DATA_OUT_OF_RANGE.with(&[&"TIME", &"set_parameter_value"]);
    if time.micros() == signed { Ok(time) } else { Err(too_long()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_beyond_the_range_is_refused_whatever_its_days() {
        let parts =
            |negative, days| BinaryTime { negative, days, hour: 22, minute: 59, second: 59, micros: 0 };
        for negative in [false, true] {
            assert!(time(parts(negative, 34)).is_ok());
            assert_eq!(time(parts(negative, u32::MAX)).unwrap_err().code, error_map::DATA_OUT_OF_RANGE.code);
        }
    }
}
