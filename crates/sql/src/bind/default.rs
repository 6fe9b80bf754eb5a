//! Column defaults as expressions.

use expr::{Builder, Expr};
use types::temporal::{FSP_MAX, MICROS_PER_SECOND};
use types::{ColumnDef, ColumnDefault, DateTime, Decimal, OwnedValue, TimeZone, TypeKind, Value};

use super::BindError;

/// The default of `column`, for `DEFAULT(column)`: a value of its type, NULL too.
///
/// # Errors
/// 1364 for a column without default that refuses NULL, 3773 for an expression.
pub(super) fn constant(build: Builder, column: &ColumnDef) -> Result<Expr, BindError> {
    let of_type =
        |value: OwnedValue| Expr { nullable: value.is_null(), ..Expr::constant(value, column.ty.clone()) };
    match &column.default {
        ColumnDefault::Constant(bytes) => {
            let value = types::storage::read(&column.ty, bytes, &TimeZone::utc());
            match value {
                Value::DateTime(moment, _)
                    if column.ty.kind == TypeKind::Timestamp && moment != DateTime::ZERO =>
                {
                    in_zone_of_session(build, column, moment)
                }
                _ => Ok(of_type(value.to_owned_value())),
            }
        }
        ColumnDefault::Expression(_) => Err(BindError::DefaultOfExpression),
        ColumnDefault::Null => Ok(of_type(OwnedValue::Null)),
        ColumnDefault::None if column.nullable => Ok(of_type(OwnedValue::Null)),
        ColumnDefault::None | ColumnDefault::Dropped => Err(BindError::NoDefault(column.name.to_string())),
        // The clock is asked where a row is inserted, not here.
        ColumnDefault::Now if column.nullable => Ok(of_type(OwnedValue::Null)),
        ColumnDefault::Now => Ok(of_type(OwnedValue::DateTime(DateTime::ZERO, column.ty.decimals))),
    }
}

/// The TIMESTAMP `moment`, which is in UTC.
fn in_zone_of_session(build: Builder, column: &ColumnDef, moment: DateTime) -> Result<Expr, BindError> {
    let seconds = i128::from(TimeZone::utc().to_unix(moment).seconds);
    let micros = seconds * i128::from(MICROS_PER_SECOND) + i128::from(moment.micro());
    let seconds = Decimal::from_i128(micros, FSP_MAX);
    let shown = build.call("FROM_UNIXTIME", vec![build.decimal(seconds)])?;
    Ok(Expr { ty: column.ty.clone(), nullable: column.nullable, ..shown })
}
