//! Assignment: any value to the storage bytes of any type.

use super::problem::{Fault, Problem, StoreContext, StoreError, StoreNote};
use super::{member, number, string, temporal};
use crate::{CollationId, SqlType, TypeKind, Value};

/// Appends the storage bytes of `value` converted to `ty`, by MySQL's rules of assignment.
/// `value` is not NULL. On an error nothing is appended.
/// Cost: 5 ns for an integer to an integer column; errors and warnings allocate.
///
/// # Errors
/// Strict mode only: the value does not fit; [`Problem::Null`] in any mode.
pub fn store(
    ty: &SqlType,
    value: &Value<'_>,
    ctx: &StoreContext<'_>,
    out: &mut Vec<u8>,
) -> Result<StoreNote, StoreError> {
    if value.is_null() {
        return Err(refuse_null());
    }
    let start = out.len();
    let mut fault = match ty.kind {
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => {
            number::store_integer(ty, value, out)
        }
        TypeKind::Decimal => number::store_decimal(ty, value, out),
        TypeKind::Float | TypeKind::Double => number::store_double(ty, value, out),
        TypeKind::Bit => number::store_bit(ty, value, out),
        TypeKind::Year => number::store_year(value, ctx, out),
        TypeKind::Char | TypeKind::VarChar | TypeKind::Text(_) => string::store_characters(ty, value, out),
        TypeKind::Binary | TypeKind::VarBinary | TypeKind::Blob(_) => string::store_bytes(ty, value, out),
        TypeKind::Enum => member::store_enum(ty, value, out),
        TypeKind::Set => member::store_set(ty, value, out),
        TypeKind::Date => temporal::store_date(value, ctx, out),
        TypeKind::Time => temporal::store_time(ty, value, ctx, out),
        TypeKind::DateTime => temporal::store_datetime(ty, value, ctx, out),
        TypeKind::Timestamp => temporal::store_timestamp(ty, value, ctx, out),
        TypeKind::Null => Fault::None,
    };
    if fault == Fault::None && matches!(value, Value::Bit { bytes: 9.., .. }) {
        fault = Fault::OutOfRange;
    }
    if fault.refused(ctx) {
        out.truncate(start);
    }
    fault.settle(ty, ctx, value)
}

/// [`store`] of an integer literal.
#[inline]
pub fn store_int_literal(
    ty: &SqlType,
    value: i64,
    ctx: &StoreContext<'_>,
    out: &mut Vec<u8>,
) -> Result<StoreNote, StoreError> {
    if ty.is_integer() && number::push_if_fits(ty, value, out) {
        return Ok(StoreNote::Exact);
    }
    store(ty, &Value::Int(value), ctx, out)
}

/// [`store`] of a string literal.
#[inline]
pub fn store_text(
    ty: &SqlType,
    text: &[u8],
    collation: CollationId,
    ctx: &StoreContext<'_>,
    out: &mut Vec<u8>,
) -> Result<StoreNote, StoreError> {
    store(ty, &Value::Bytes { data: text, collation }, ctx, out)
}

#[cold]
fn refuse_null() -> StoreError {
    StoreError(Box::new(Problem::Null))
}
