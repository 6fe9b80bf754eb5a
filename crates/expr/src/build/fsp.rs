//! Fraction digits of arguments seen as dates and times.

use types::temporal::{DateFlags, FSP_MAX};
use types::{DateTime, OwnedValue, SqlModes, Time};

use super::literal::written_fsp;
use super::typing::{Class, class_of};
use crate::fold::constant_value;
use crate::{Expr, ExprKind};

/// Fraction digits of an argument seen as a date or time.
pub(crate) fn temporal_fsp(expr: &Expr) -> u8 {
    match (&expr.kind, class_of(expr)) {
        (_, Class::DateTime | Class::Time) => expr.ty.decimals,
        (ExprKind::Const(OwnedValue::Bytes { data, .. }), _) => text_fsp(data),
        (_, Class::Int | Class::Null) => 0,
        (_, Class::Decimal | Class::Double) => expr.ty.decimals.min(FSP_MAX),
        _ => match constant_value(expr, SqlModes::DEFAULT) {
            Some(OwnedValue::Bytes { data, .. }) => text_fsp(&data),
            _ => FSP_MAX,
        },
    }
}

/// Fraction digits of an argument seen as a date and time: not all that follows the last point of a text is a
/// fraction.
pub(super) fn moment_fsp(expr: &Expr) -> u8 {
    let ExprKind::Const(OwnedValue::Bytes { data, .. }) = &expr.kind else { return temporal_fsp(expr) };
    let any_day = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
    DateTime::parse(data, any_day).map_or_else(|| temporal_fsp(expr), |parsed| parsed.fsp)
}

/// Fraction digits of a text: what is no date or time may have any.
fn text_fsp(text: &[u8]) -> u8 {
    let any_day = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
    let is_moment = Time::parse(text).is_some() || DateTime::parse(text, any_day).is_some();
    if is_moment { written_fsp(text) } else { FSP_MAX }
}

/// Fraction digits of an argument seen as a number of seconds: any text may have six.
pub(crate) fn seconds_fsp(expr: &Expr) -> u8 {
    if class_of(expr) == Class::Text { FSP_MAX } else { temporal_fsp(expr) }
}
