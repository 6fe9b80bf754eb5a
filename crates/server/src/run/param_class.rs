//! The classes of types between which parameters' values are converted, or statements planned again.

use types::{CollationId, SqlType, TypeKind, Value};
use wire::ColumnType;
use wire::execute::ParamType;

use super::params::param_type;

/// Classes of types between which no value is converted, unless `converts` says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Integer { unsigned: bool },
    Decimal,
    Double,
    Text,
    Date,
    Time,
    DateTime,
    Null,
}

impl Class {
    pub(super) fn of(ty: &SqlType) -> Class {
        use TypeKind::{
            BigInt, Bit, Date, DateTime, Decimal, Double, Float, Int, MediumInt, Null, SmallInt, Time,
            Timestamp, TinyInt, Year,
        };
        match ty.kind {
            TinyInt | SmallInt | MediumInt | Int | BigInt => Class::Integer { unsigned: ty.unsigned },
            Bit | Year => Class::Integer { unsigned: true },
            Decimal => Class::Decimal,
            Float | Double => Class::Double,
            Date => Class::Date,
            Time => Class::Time,
            DateTime | Timestamp => Class::DateTime,
            Null => Class::Null,
            _ => Class::Text,
        }
    }

    /// Class of the values that a client binds with type `ty`.
    pub(super) fn of_bound(ty: ParamType) -> Class {
        Class::of(&param_type(ty, CollationId::BINARY))
    }

    /// Class of a parameter's value.
    pub(super) fn of_value(value: &Value<'_>) -> Class {
        match value {
            Value::Null => Class::Null,
            Value::Int(_) => Class::Integer { unsigned: false },
            Value::UInt(_) => Class::Integer { unsigned: true },
            Value::Decimal(_) => Class::Decimal,
            Value::Float(_) | Value::Double(_) => Class::Double,
            Value::Date(_) => Class::Date,
            Value::Time(..) => Class::Time,
            Value::DateTime(..) => Class::DateTime,
            _ => Class::Text,
        }
    }

    /// Whether values are dates or times.
    pub(super) fn is_moment(self) -> bool {
        matches!(self, Class::Date | Class::Time | Class::DateTime)
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Class::Integer { .. } | Class::Decimal | Class::Double)
    }

    /// Whether a parameter of this class takes values of class `bound`, if need be converted.
    pub(super) fn takes(self, bound: Class) -> bool {
        match (self, bound) {
            (_, Class::Text | Class::Null) => true,
            (Class::Decimal, Class::Integer { .. }) => true,
            (Class::Double, bound) => bound.is_number(),
            (Class::DateTime, Class::Date | Class::Time) | (Class::Time, Class::DateTime) => true,
            // Numbers that are no date or time.
            (own, bound) if own.is_moment() && bound.is_number() => true,
            (own, bound) => own == bound,
        }
    }

    /// A type that clients bind values of this class with.
    pub(super) fn bound_type(self) -> ParamType {
        let (column_type, unsigned) = match self {
            Class::Integer { unsigned } => (ColumnType::LongLong, unsigned),
            Class::Decimal => (ColumnType::NewDecimal, false),
            Class::Double => (ColumnType::Double, false),
            Class::Text => (ColumnType::VarString, false),
            Class::Date => (ColumnType::Date, false),
            Class::Time => (ColumnType::Time, false),
            Class::DateTime => (ColumnType::DateTime, false),
            Class::Null => (ColumnType::Null, false),
        };
        ParamType { column_type, unsigned }
    }
}
