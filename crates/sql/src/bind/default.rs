//! Column defaults as expressions.

use expr::{Builder, Expr};
use types::{ColumnDef, ColumnDefault, TimeZone, TypeKind};

use super::BindError;

/// The default of `column`, for `DEFAULT(column)`.
///
/// # Errors
/// 1364 for a column without default that refuses NULL.
pub(super) fn constant(build: Builder, column: &ColumnDef) -> Result<Expr, BindError> {
    match &column.default {
        ColumnDefault::Constant(_) if column.ty.kind == TypeKind::Timestamp => {
            Err(BindError::NotSupported("DEFAULT() of a TIMESTAMP"))
        }
        ColumnDefault::Constant(bytes) => {
            let value = types::storage::read(&column.ty, bytes, &TimeZone::utc()).to_owned_value();
            Ok(Expr::constant(value, column.ty.clone()))
        }
        ColumnDefault::Null => Ok(build.null()),
        ColumnDefault::None if column.nullable => Ok(build.null()),
        ColumnDefault::None | ColumnDefault::Dropped => Err(BindError::NoDefault(column.name.to_string())),
        ColumnDefault::Now => Ok(build.call("NOW", Vec::new())?),
    }
}
