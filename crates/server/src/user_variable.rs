//! Values of user variables: numbers and strings, nothing else.

use types::{CollationId, OwnedValue, SqlType, Value};

/// Characters of a string whose length is not known.
pub(crate) const TEXT_CHARS: u32 = 16_383;

/// Bytes that a user variable is charged for.
pub(crate) fn kept_bytes(name: &str, value: &OwnedValue) -> u64 {
    kept_bytes_of(name.len(), value)
}

/// As [`kept_bytes`], by the length of the name.
pub(crate) fn kept_bytes_of(name_bytes: usize, value: &OwnedValue) -> u64 {
    /// An entry of the table of variables, and two allocations.
    const ENTRY_BYTES: usize = 160;
    (ENTRY_BYTES + name_bytes + value.as_value().heap_bytes()) as u64
}

/// `value` as a variable keeps it: integers, DECIMAL, DOUBLE and strings as they are, of all others their
/// text or number.
pub(crate) fn as_variable(value: OwnedValue) -> OwnedValue {
    let text = |value: Value<'_>, collation| {
        let mut data = Vec::new();
        value.write_text(&mut data);
        OwnedValue::Bytes { data: data.into(), collation }
    };
    match value {
        OwnedValue::Date(_) | OwnedValue::Time(..) | OwnedValue::DateTime(..) => {
            text(value.as_value(), CollationId::UTF8MB4_0900_AI_CI)
        }
        OwnedValue::Enum { collation, .. } | OwnedValue::Set { collation, .. } => {
            text(value.as_value(), collation)
        }
        OwnedValue::Bit { .. } => text(value.as_value(), CollationId::BINARY),
        OwnedValue::Year(year) => OwnedValue::Int(i64::from(year)),
        OwnedValue::Float(value) => OwnedValue::Double(f64::from(value)),
        other => other,
    }
}

/// The type of an expression that has this value.
pub(crate) fn type_of_value(value: &OwnedValue) -> SqlType {
    match value {
        OwnedValue::Null => SqlType::null(),
        OwnedValue::Int(_) | OwnedValue::Year(_) => SqlType::bigint(),
        OwnedValue::UInt(_) | OwnedValue::Bit { .. } => SqlType::bigint_unsigned(),
        OwnedValue::Double(_) | OwnedValue::Float(_) => SqlType::double(),
        OwnedValue::Decimal(_) => SqlType::decimal(types::decimal::PRECISION_MAX, types::decimal::SCALE_MAX),
        OwnedValue::Bytes { collation, .. }
        | OwnedValue::Enum { collation, .. }
        | OwnedValue::Set { collation, .. } => SqlType::varchar(TEXT_CHARS, *collation),
        // A variable keeps a date or time as its text.
        OwnedValue::Date(_) | OwnedValue::Time(..) | OwnedValue::DateTime(..) => {
            SqlType::varchar(TEXT_CHARS, CollationId::UTF8MB4_0900_AI_CI)
        }
    }
}
