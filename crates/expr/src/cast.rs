//! Evaluation of casts.

use types::collation::Charset;
use types::temporal::DateFlags;
use types::value::{Converted, Loss};
use types::{DateTime, Time, TypeKind, Value};

use crate::compare::warn_past_decimal;
use crate::functions::{
    Call, integer_of, number_of_moment, signed, text, text_in_arena, warn_no_number, warn_of_sign,
};
use crate::moment::{
    date_of, note_date_delimiters, note_time_delimiters, warn_cut_moment, warn_no_date, warn_no_moment,
};
use crate::{EvalError, ExprKind, Warning, cuts_fractions, moment_of, time_of};

/// The value of a cast: argument 0 of `call` as a value of the call's type.
pub(crate) fn cast<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let value = call.value(0)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    match call.ty().kind {
        TypeKind::Decimal => Ok(to_decimal(call, &value)),
        TypeKind::Double => Ok(Value::Double(to_double(call, &value))),
        TypeKind::Float => {
            let number = to_double(call, &value) as f32;
            if number.is_finite() { Ok(Value::Float(number)) } else { Err(call.out_of_range()) }
        }
        TypeKind::Date => Ok(to_date(call, &value)),
        TypeKind::Time => Ok(to_time(call, &value)),
        TypeKind::DateTime | TypeKind::Timestamp => Ok(to_datetime(call, &value)),
        TypeKind::Year => to_year(call, &value),
        TypeKind::Bit => to_bits(call, &value),
        _ if call.ty().is_integer() => to_integer(call, &value),
        _ => to_text(call, &value),
    }
}

/// Bits stay bits, of as many bytes as the type has; what is beside them is text.
fn to_bits<'v>(call: &Call<'v>, value: &Value<'v>) -> Result<Value<'v>, EvalError> {
    let Value::Bit { value, .. } = *value else { return to_text(call, value) };
    Ok(Value::Bit { value, bytes: call.ty().length.div_ceil(8) as u8 })
}

/// The converted value; text that is not wholly a number gives a warning.
fn with_warning<T>(call: &Call<'_>, type_name: &str, value: &Value<'_>, read: Converted<T>) -> T {
    if read.loss != Loss::None {
        call.truncated(type_name, value);
    }
    read.value
}

/// The double that a value is. The text of a calculated date or time is the number of that.
fn to_double(call: &Call<'_>, value: &Value<'_>) -> f64 {
    let read = value.to_f64();
    if read.loss != Loss::None
        && let Some(number) = number_of_moment(&call.args[0], value)
    {
        return number.to_f64();
    }
    number_with_warning(call, "DOUBLE", value, read)
}

/// The number that a text is; one that is not wholly a number gives a warning.
fn number_with_warning<T>(call: &Call<'_>, type_name: &str, value: &Value<'_>, read: Converted<T>) -> T {
    if read.loss != Loss::None {
        warn_no_number(type_name, value, &call.args[0], call.ctx);
    }
    read.value
}

/// The integer that a value is. As in MySQL, a text that is not one gives a warning, whatever column it comes
/// from.
fn integer_with_warning<T>(call: &Call<'_>, type_name: &str, value: &Value<'_>, read: Converted<T>) -> T {
    if read.loss != Loss::None {
        if value.is_textual() && !matches!(call.args[0].kind, ExprKind::Const(_)) {
            call.truncated(type_name, value);
        } else {
            warn_no_number(type_name, value, &call.args[0], call.ctx);
        }
    }
    read.value
}

fn to_integer<'v>(call: &Call<'v>, value: &Value<'v>) -> Result<Value<'v>, EvalError> {
    if let Value::Double(_) | Value::Float(_) = value {
        // Doubles stop at the bounds of signed integers, whatever the type.
        let number = call.int_of_double(0, value)?;
        return Ok(if call.ty().unsigned { Value::UInt(number as u64) } else { Value::Int(number) });
    }
    if let Value::Time(..) | Value::DateTime(..) = value {
        let number = integer_with_warning(call, "INTEGER", value, integer_of(&call.args[0], value));
        return Ok(if call.ty().unsigned { Value::UInt(number as u64) } else { Value::Int(number) });
    }
    let type_name = if matches!(value, Value::Decimal(_)) { "DECIMAL" } else { "INTEGER" };
    if call.ty().unsigned {
        let number = integer_with_warning(call, type_name, value, value.to_u64());
        if value.is_textual() && (number as i64) < 0 && is_negative_text(value) {
            call.ctx.session.warn(Warning::NegativeToUnsigned);
        }
        Ok(Value::UInt(number))
    } else {
        let number = integer_with_warning(call, type_name, value, value.to_i64());
        if number < 0 && value.is_textual() {
            warn_of_sign(value, call.ctx);
        }
        Ok(Value::Int(number))
    }
}

fn is_negative_text(value: &Value<'_>) -> bool {
    value.as_text(&mut Vec::new()).trim_ascii_start().starts_with(b"-")
}

fn to_decimal<'v>(call: &Call<'v>, value: &Value<'v>) -> Value<'v> {
    let ty = call.ty();
    let mut read = value.to_decimal();
    if read.loss != Loss::None
        && let Some(number) = number_of_moment(&call.args[0], value)
    {
        read = Converted::exact(number);
    }
    let is_long = read.loss == Loss::OutOfRange && warn_past_decimal(value, call.ctx);
    if read.loss == Loss::Truncated || is_long && value.is_textual() {
        warn_no_number("DECIMAL", value, &call.args[0], call.ctx);
    }
    let rounded = read.value.round(i32::from(ty.decimals));
    let bound = types::Decimal::max_value(ty.length, ty.decimals);
    if rounded.abs() > bound {
        call.ctx.session.warn(Warning::OutOfRange { operation: column_name(call) });
        return Value::Decimal(if rounded.is_negative() { bound.negate() } else { bound });
    }
    Value::Decimal(rounded.rescale(ty.decimals).unwrap_or(rounded))
}

/// The name of the conversion in warnings: its column in the select list. Another has no name in MySQL.
#[cold]
fn column_name(call: &Call<'_>) -> String {
    match &call.expr.kind {
        ExprKind::Cast { name: Some(name), .. } => name.to_string(),
        _ => "(null)".to_owned(),
    }
}

fn flags(call: &Call<'_>) -> DateFlags {
    DateFlags::from_modes(call.ctx.session.modes())
}

fn to_date<'v>(call: &Call<'v>, value: &Value<'v>) -> Value<'v> {
    let Some(read) = date_of(value, flags(call), call.ctx) else {
        if !value.is_temporal() {
            warn_no_date(value, call.ctx);
        }
        return Value::Null;
    };
    let date = Value::Date(with_warning(call, "date", value, read));
    note_date_delimiters(value, call.ctx);
    date
}

fn to_datetime<'v>(call: &Call<'v>, value: &Value<'v>) -> Value<'v> {
    let fsp = call.ty().decimals;
    let read = moment_of(value, flags(call), call.ctx);
    let cuts = |moment: DateTime| {
        if cuts_fractions(call.ctx) { Some(moment.truncate(fsp)) } else { moment.round(fsp) }
    };
    let Some(moment) = read.and_then(|read| cuts(read.value)) else {
        if !value.is_temporal() {
            warn_no_moment(value, call.ctx);
        }
        return Value::Null;
    };
    if read.is_some_and(|read| read.loss != Loss::None) {
        warn_cut_moment(value, call.ctx);
    }
    note_date_delimiters(value, call.ctx);
    Value::DateTime(moment, fsp)
}

fn to_time<'v>(call: &Call<'v>, value: &Value<'v>) -> Value<'v> {
    let fsp = call.ty().decimals;
    let read = time_of(&signed(*value), call.ctx);
    let time = read.map(|read| with_warning(call, "time", value, read));
    let cut = |time: Time| if cuts_fractions(call.ctx) { time.truncate(fsp) } else { time.round(fsp) };
    let time =
        time.map_or_else(|| refused(call, "time", &signed(*value)), |time| Value::Time(cut(time), fsp));
    note_time_delimiters(value, call.ctx);
    time
}

/// A value that is not a date or time is NULL, with a warning.
fn refused<'v>(call: &Call<'v>, type_name: &str, value: &Value<'v>) -> Value<'v> {
    call.truncated(type_name, value);
    Value::Null
}

fn incorrect<'v>(call: &Call<'v>, type_name: &'static str, value: &Value<'v>) -> Value<'v> {
    call.ctx.session.warn(Warning::IncorrectValue { type_name, value: value.message_text() });
    Value::Null
}

/// A year that is computed shows as a number: year 0 as 0, where a column of years shows 0000.
fn to_year<'v>(call: &Call<'v>, value: &Value<'v>) -> Result<Value<'v>, EvalError> {
    let year = match *value {
        Value::Double(_) | Value::Float(_) => call.int_of_double(0, value)?,
        Value::Date(v) => i64::from(v.year()),
        Value::DateTime(v, _) => i64::from(v.date().year()),
        Value::Time(..) => i64::from(call.ctx.today().year()),
        Value::Decimal(_) => number_with_warning(call, "DECIMAL", value, value.to_i64()),
        _ => value.to_i64().value,
    };
    // ENUM and SET are the numbers of their values.
    let is_text = value.is_textual() && !matches!(value, Value::Enum { .. } | Value::Set { .. });
    if is_text && value.as_text(&mut Vec::new()).trim_ascii_start().starts_with(b"-") {
        return Ok(incorrect(call, "YEAR", value));
    }
    if is_text && value.to_u64().loss == Loss::OutOfRange {
        return Ok(incorrect(call, "YEAR", value));
    }
    if is_text && value.to_i64().loss != Loss::None {
        let mut scratch = Vec::new();
        let text = value.as_text(&mut scratch).trim_ascii_start();
        if year == 0 && !text.strip_prefix(b"+").unwrap_or(text).starts_with(b"0") {
            return Ok(incorrect(call, "YEAR", value));
        }
        call.truncated("YEAR", value);
    }
    if value.is_temporal() && (1..1901).contains(&year) {
        return Ok(refused(call, "YEAR", &Value::Int(year)));
    }
    Ok(match year {
        0 if !is_text => Value::UInt(0),
        0..=69 => Value::UInt(year as u64 + 2000),
        70..=99 => Value::UInt(year as u64 + 1900),
        1901..=2155 => Value::UInt(year as u64),
        _ => refused(call, "YEAR", &Value::Int(year)),
    })
}

fn to_text<'v>(call: &Call<'v>, value: &Value<'v>) -> Result<Value<'v>, EvalError> {
    let bytes = text_in_arena(value, &call.args[0], call.ctx);
    let from = match value {
        // Bits are bytes, the text of numbers and dates is ASCII.
        Value::Bit { .. } => Charset::Binary,
        _ => value.collation().and_then(types::CollationId::collation).map_or(Charset::Ascii, |c| c.charset),
    };
    if from == Charset::Ascii {
        return Ok(call.text_value(bytes));
    }
    text::convert_text(call, bytes, from)
}
