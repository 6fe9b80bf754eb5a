//! Values with their own bytes.

use super::{Members, Value};
use crate::{CollationId, Date, DateTime, Decimal, Time};

/// [`Value`] without borrows; the variants mean the same.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the variants are those of Value")]
pub enum OwnedValue {
    Null,
    Int(i64),
    UInt(u64),
    Double(f64),
    Float(f32),
    Decimal(Decimal),
    Bytes { data: Box<[u8]>, collation: CollationId },
    Date(Date),
    Time(Time, u8),
    DateTime(DateTime, u8),
    Year(u16),
    Bit { value: u64, bytes: u8 },
    Enum { index: u16, members: Members, collation: CollationId },
    Set { mask: u64, members: Members, collation: CollationId },
}

impl OwnedValue {
    /// The value, borrowing from `self`.
    #[inline]
    pub fn as_value(&self) -> Value<'_> {
        match *self {
            OwnedValue::Null => Value::Null,
            OwnedValue::Int(v) => Value::Int(v),
            OwnedValue::UInt(v) => Value::UInt(v),
            OwnedValue::Double(v) => Value::Double(v),
            OwnedValue::Float(v) => Value::Float(v),
            OwnedValue::Decimal(v) => Value::Decimal(v),
            OwnedValue::Bytes { ref data, collation } => Value::Bytes { data, collation },
            OwnedValue::Date(v) => Value::Date(v),
            OwnedValue::Time(v, fsp) => Value::Time(v, fsp),
            OwnedValue::DateTime(v, fsp) => Value::DateTime(v, fsp),
            OwnedValue::Year(v) => Value::Year(v),
            OwnedValue::Bit { value, bytes } => Value::Bit { value, bytes },
            OwnedValue::Enum { index, ref members, collation } => Value::Enum { index, members, collation },
            OwnedValue::Set { mask, ref members, collation } => Value::Set { mask, members, collation },
        }
    }

    /// Whether this is NULL.
    pub const fn is_null(&self) -> bool {
        matches!(self, OwnedValue::Null)
    }
}

impl Value<'_> {
    /// The value with its own copy of the bytes.
    pub fn to_owned_value(&self) -> OwnedValue {
        match *self {
            Value::Null => OwnedValue::Null,
            Value::Int(v) => OwnedValue::Int(v),
            Value::UInt(v) => OwnedValue::UInt(v),
            Value::Double(v) => OwnedValue::Double(v),
            Value::Float(v) => OwnedValue::Float(v),
            Value::Decimal(v) => OwnedValue::Decimal(v),
            Value::Bytes { data, collation } => OwnedValue::Bytes { data: data.into(), collation },
            Value::Date(v) => OwnedValue::Date(v),
            Value::Time(v, fsp) => OwnedValue::Time(v, fsp),
            Value::DateTime(v, fsp) => OwnedValue::DateTime(v, fsp),
            Value::Year(v) => OwnedValue::Year(v),
            Value::Bit { value, bytes } => OwnedValue::Bit { value, bytes },
            Value::Enum { index, members, collation } => {
                OwnedValue::Enum { index, members: members.clone(), collation }
            }
            Value::Set { mask, members, collation } => {
                OwnedValue::Set { mask, members: members.clone(), collation }
            }
        }
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        value.to_owned_value()
    }
}

impl PartialEq for OwnedValue {
    /// As [`Value`]'s.
    fn eq(&self, other: &Self) -> bool {
        self.as_value() == other.as_value()
    }
}
