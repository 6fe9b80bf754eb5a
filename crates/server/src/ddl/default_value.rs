//! DEFAULT and ON UPDATE clauses.

use sql::ast::{Expr, ExprKind};
use sql::literal::LiteralKind;
use types::storage::{self, Problem, StoreContext, StoreNote};
use types::{ColumnDefault, OwnedValue, SqlType, TypeKind};

use super::not_yet;
use crate::constant::{Inputs, evaluate};
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::exec_error::store_problem;
use crate::session::Session;
use crate::statement_context::clock_micros;

/// The default of a column, without regard to whether it may be NULL.
///
/// # Errors
/// 1067 for a value that the type does not hold, 1101 for BLOB and TEXT, 1235 for expressions in parentheses.
pub(super) fn column_default(
    session: &mut Session,
    (column, ty): (&str, &SqlType),
    (value, parenthesised): (&Expr<'_>, bool),
    inputs: Inputs<'_>,
) -> Result<ColumnDefault, SqlError> {
    if parenthesised {
        return Err(not_yet("DEFAULT (expression)"));
    }
    let invalid = || error_map::INVALID_DEFAULT.with(&[&column]);
    if let Some(digits) = current_timestamp(session, value, inputs)? {
        return if takes_now(ty, digits) { Ok(ColumnDefault::Now) } else { Err(invalid()) };
    }
    let value = constant(session, (column, ty), value, inputs)?;
    if matches!(value, OwnedValue::Null) {
        return Ok(ColumnDefault::Null);
    }
    if matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_)) {
        return Err(error_map::BLOB_CANT_HAVE_DEFAULT.with(&[&column]));
    }
    let is_text = matches!(value, OwnedValue::Bytes { .. });
    if ty.members.is_some() && !is_text {
        return Err(invalid());
    }
    let Some((bytes, note)) = stored(session, ty, &value, true) else {
        warn_of_refused(session, (column, ty), &value);
        return Err(invalid());
    };
    if let StoreNote::Note(problem) | StoreNote::Warning(problem) = note {
        note_loss(session, column, &problem);
    }
    Ok(ColumnDefault::Constant(bytes))
}

/// Error 1294 unless a column of this type can be set to CURRENT_TIMESTAMP with this number of digits.
pub(super) fn ensure_on_update(column: &str, ty: &SqlType, digits: u32) -> Result<(), SqlError> {
    if takes_now(ty, digits) {
        return Ok(());
    }
    Err(error_map::INVALID_ON_UPDATE.with(&[&column]))
}

fn takes_now(ty: &SqlType, digits: u32) -> bool {
    matches!(ty.kind, TypeKind::DateTime | TypeKind::Timestamp) && u32::from(ty.decimals) == digits
}

/// Fractional digits of CURRENT_TIMESTAMP; `None` if `value` is something else.
fn current_timestamp(
    session: &mut Session,
    value: &Expr<'_>,
    inputs: Inputs<'_>,
) -> Result<Option<u32>, SqlError> {
    let ExprKind::Call(call) = value.kind else {
        return Ok(None);
    };
    match call.args {
        [] => Ok(Some(0)),
        [digits, ..] => match evaluate(session, digits, inputs)? {
            OwnedValue::Int(digits) => Ok(Some(u32::try_from(digits).unwrap_or(u32::MAX))),
            _ => Ok(Some(u32::MAX)),
        },
    }
}

/// The value of a literal. Hexadecimal and bit literals are numbers to columns of numbers, bytes to others.
fn constant(
    session: &mut Session,
    (column, ty): (&str, &SqlType),
    value: &Expr<'_>,
    inputs: Inputs<'_>,
) -> Result<OwnedValue, SqlError> {
    let ExprKind::Literal(literal) = value.kind else {
        return evaluate(session, value, inputs);
    };
    let is_number = ty.is_integer()
        || matches!(ty.kind, TypeKind::Decimal | TypeKind::Float | TypeKind::Double | TypeKind::Year);
    match (literal.kind, evaluate(session, value, inputs)) {
        // MySQL takes them for expressions, which a default is not.
        (LiteralKind::Date | LiteralKind::Time | LiteralKind::Timestamp, _) => {
            Err(error_map::INVALID_DEFAULT.with(&[&column]))
        }
        (LiteralKind::Hex | LiteralKind::Bit, Ok(OwnedValue::Bytes { data, .. })) if is_number => {
            let start = data.len().saturating_sub(8);
            let number = data[start..].iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
            Ok(OwnedValue::UInt(number))
        }
        (_, value) => value,
    }
}

/// Storage bytes of `value`; `strict`: it must fit.
fn stored(
    session: &Session,
    ty: &SqlType,
    value: &OwnedValue,
    strict: bool,
) -> Option<(Box<[u8]>, StoreNote)> {
    let hot = &session.variables.hot;
    let now = hot.time_zone.to_local(clock_micros().div_euclid(1_000_000), 0);
    let context = StoreContext { strict, ..StoreContext::new(hot.sql_mode, &hot.time_zone, now.date()) };
    let mut bytes = Vec::new();
    let note = storage::store(ty, &value.as_value(), &context, &mut bytes).ok()?;
    Some((bytes.into(), note))
}

/// Warns of what a column would make of a default that does not fit, whatever the mode. Strict modes would
/// make an error of that, which gives way to the one that refuses the default.
#[cold]
fn warn_of_refused(session: &mut Session, (column, ty): (&str, &SqlType), value: &OwnedValue) {
    if session.variables.hot.sql_mode.is_strict() {
        return;
    }
    if let Some((_, StoreNote::Warning(problem))) = stored(session, ty, value, false) {
        session.warn(Severity::Warning, store_problem(&problem, column, 1));
    }
}

#[cold]
fn note_loss(session: &mut Session, column: &str, problem: &Problem) {
    if *problem == Problem::Truncated {
        session.warn(Severity::Note, error_map::WARN_DATA_TRUNCATED.with(&[&column, &1]));
    }
}
