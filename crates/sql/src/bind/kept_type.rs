//! Types of columns that keep computed values.

use expr::{Expr, ExprKind};
use types::decimal::PRECISION_MAX;
use types::{SqlType, TypeKind};

/// The type of a column that keeps the value of `expr`. A computed year is kept as an integer, a column of
/// years as is. No column has as many digits as a sum of the longest decimals.
pub(super) fn kept_type(expr: &Expr) -> SqlType {
    let computed = !matches!(expr.kind, ExprKind::Column(_));
    if computed && expr.ty.kind == TypeKind::Year {
        return SqlType { unsigned: expr.ty.unsigned, ..SqlType::new(TypeKind::Int, expr.ty.length) };
    }
    match expr.ty.kind {
        TypeKind::Decimal if expr.ty.length > PRECISION_MAX => {
            SqlType { length: PRECISION_MAX, ..expr.ty.clone() }
        }
        _ => expr.ty.clone(),
    }
}
