//! Conversion of the values of an execution to the types that the statement has for its parameters, as in
//! MySQL.
//!
//! A number is an integer, a decimal or a double, whatever the client bound it with; a text or number that is
//! a date or time becomes one where the statement takes one. What reads the parameter decides about zero
//! parts, and warns.

use sql::bind::{ParamRole, ParamUse};
use types::temporal::{DateFlags, FSP_MAX, Parsed};
use types::value::{Loss, integer_prefix};
use types::{CollationId, DateTime, TypeKind, Value};

use super::param_class::Class;

/// The value of each parameter, converted to the type that the statement has for it.
pub(crate) fn actual_values<'a>(uses: &[ParamUse], params: &[Value<'a>]) -> Vec<Value<'a>> {
    uses.iter().zip(params).map(|(used, value)| actual_value(used, *value)).collect()
}

/// A value that is one of the type that the parameter has. Others stay as they are: what reads them warns.
fn actual_value<'a>(used: &ParamUse, value: Value<'a>) -> Value<'a> {
    let is_bits = matches!(used.described.kind, TypeKind::Bit | TypeKind::Year);
    let is_number = Class::of_value(&value).is_number();
    let read = match (used.role, Class::of(&used.described), value) {
        (ParamRole::Stored | ParamRole::RowCount, ..) | (_, _, Value::Null) => None,
        (_, _, Value::Bytes { .. }) if is_bits => no_integer(value),
        (_, class, Value::Bytes { data, .. }) if class.is_number() => exact_number(data, class),
        (_, Class::Time, Value::Bytes { .. }) => time_of(value),
        (_, Class::Time, _) if is_number => time_of_number(value),
        (_, Class::Date | Class::DateTime, Value::Bytes { data, .. }) => moment_of_text(data),
        (_, Class::Date | Class::DateTime, _) if is_number => moment_of_number(value),
        _ => None,
    };
    read.unwrap_or(value)
}

/// The number that the whole of a text is: an integer if that is wanted and it is one, else a decimal or
/// double.
fn exact_number<'a>(text: &[u8], wanted: Class) -> Option<Value<'a>> {
    let value = Value::Bytes { data: text, collation: CollationId::BINARY };
    if let Class::Integer { unsigned } = wanted {
        let read = integer_prefix(text);
        match (read.loss, unsigned) {
            (Loss::None, true) if read.value >= 0 => return u64::try_from(read.value).ok().map(Value::UInt),
            // A negative number becomes a decimal.
            (Loss::None, false) if read.value >= 0 && read.value <= i128::from(i64::MAX) => {
                return Some(Value::Int(read.value as i64));
            }
            _ => {}
        }
    }
    if wanted != Class::Double {
        let read = value.to_decimal();
        if read.loss == Loss::None {
            return Some(Value::Decimal(read.value));
        }
    }
    let read = value.to_f64();
    (read.loss == Loss::None && !text.trim_ascii().is_empty()).then_some(Value::Double(read.value))
}

/// The number of a text beside BIT or YEAR, if that is no integer: what reads the parameter reads others.
fn no_integer<'a>(text: Value<'_>) -> Option<Value<'a>> {
    let read = text.to_decimal();
    let is_integer = read.value.to_u64().is_ok() && read.value == read.value.truncate(0);
    (read.loss == Loss::None && !is_integer).then_some(Value::Decimal(read.value))
}

fn moment_of_text<'a>(text: &[u8]) -> Option<Value<'a>> {
    let read = DateTime::parse(text, DateFlags::default())
        .filter(|read| !read.truncated && read.offset.is_none())?;
    moment(read)
}

fn moment<'a>(read: Parsed) -> Option<Value<'a>> {
    let value = read.to_fsp(FSP_MAX, false)?;
    Some(if read.has_time { Value::DateTime(value, FSP_MAX) } else { Value::Date(value.date()) })
}

fn moment_of_number<'a>(value: Value<'_>) -> Option<Value<'a>> {
    // From here on a number has a time of day.
    const FIRST_WITH_TIME: i64 = 101_000_000;
    let number = as_signed(value);
    let read = number.to_datetime(DateFlags::default(), types::Date::ZERO)?;
    let whole = number.to_decimal().value.truncate(0).to_i64().ok()?;
    let has_time = whole == 0 || whole >= FIRST_WITH_TIME;
    Some(if has_time { Value::DateTime(read.value, FSP_MAX) } else { Value::Date(read.value.date()) })
}

/// From here on the digits of an integer have a date before the time.
pub(super) const FIRST_WITH_DATE: i64 = 10_000_000_000;

fn time_of_number<'a>(value: Value<'_>) -> Option<Value<'a>> {
    match as_signed(value) {
        Value::Int(FIRST_WITH_DATE..) => moment_of_number(value),
        number => time_of(number),
    }
}

fn time_of<'a>(value: Value<'_>) -> Option<Value<'a>> {
    let read = value.to_time().filter(|read| read.loss == Loss::None)?;
    Some(Value::Time(read.value, FSP_MAX))
}

/// The value as MySQL reads it for a date or time: without regard to whether an integer has a sign.
pub(super) fn as_signed(value: Value<'_>) -> Value<'_> {
    match value {
        Value::UInt(number) => Value::Int(number as i64),
        _ => value,
    }
}
