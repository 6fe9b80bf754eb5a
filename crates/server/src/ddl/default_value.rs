//! DEFAULT and ON UPDATE clauses.

use sql::ast::{Expr, ExprKind};
use sql::literal::LiteralKind;
use types::storage::{self, Problem, StoreContext, StoreError, StoreNote};
use types::{CollationId, ColumnDefault, OwnedValue, SqlModes, SqlType, TypeKind, Value};

use crate::constant::evaluate;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::exec_error::store_problem;
use crate::inputs::Inputs;
use crate::session::Session;
use crate::statement_context::clock_micros;

/// The part of a DEFAULT clause that can be read without the column's table.
pub(super) enum Written<'a> {
    Null,
    Now,
    /// [`literal`] makes a value of the column's type of it.
    Literal(Expr<'a>),
    /// An expression in parentheses.
    Expression(Expr<'a>),
}

/// Reads the DEFAULT clause of a column that takes CURRENT_TIMESTAMP with `now_digits` digits.
///
/// # Errors
/// 1067 for a function that the column does not take.
pub(super) fn read<'a>(
    session: &mut Session,
    (column, now_digits): (&str, Option<u32>),
    (value, parenthesised): (Expr<'a>, bool),
    inputs: Inputs<'_>,
) -> Result<Written<'a>, SqlError> {
    if parenthesised {
        return Ok(Written::Expression(value));
    }
    let invalid = || Err(error_map::INVALID_DEFAULT.with(&[&column]));
    if let Some(digits) = current_timestamp(session, &value, inputs)? {
        return if now_digits == Some(digits) { Ok(Written::Now) } else { invalid() };
    }
    if let ExprKind::Literal(literal) = value.kind
        && matches!(literal.kind, LiteralKind::Date | LiteralKind::Time | LiteralKind::Timestamp)
    {
        // MySQL takes them for expressions, which a default is not.
        return invalid();
    }
    let is_null = matches!(evaluate(session, &value, inputs)?, OwnedValue::Null);
    Ok(if is_null { Written::Null } else { Written::Literal(value) })
}

/// The default that a literal means to a column of type `ty`, which is no BLOB or TEXT.
///
/// # Errors
/// 1067 for a value that the type does not hold, 1366 for some such values of DECIMAL columns.
pub(super) fn literal(
    session: &mut Session,
    (column, ty): (&str, &SqlType),
    value: &Expr<'_>,
    inputs: Inputs<'_>,
) -> Result<ColumnDefault, SqlError> {
    let invalid = || error_map::INVALID_DEFAULT.with(&[&column]);
    let is_of_bits = matches!(value.kind, ExprKind::Literal(literal)
        if matches!(literal.kind, LiteralKind::Hex | LiteralKind::Bit));
    let mut value = constant(session, ty, value, inputs)?;
    if is_of_bits && takes_bits(ty) && matches!(&value, OwnedValue::Bytes { data, .. } if data.is_empty()) {
        return Err(invalid());
    }
    if matches!(value, OwnedValue::Null) {
        return Ok(ColumnDefault::Null);
    }
    let number = take_number_of_member(ty, &mut value);
    if let (OwnedValue::Bytes { data, .. }, Some(members)) = (&value, &ty.members) {
        // Numbers of members are for rows alone.
        let is_number = !data.is_empty() && data.iter().all(u8::is_ascii_digit);
        if is_number && !members.contains(data) {
            return Err(invalid());
        }
    }
    let is_empty = matches!(&value, OwnedValue::Bytes { data, .. } if data.trim_ascii().is_empty());
    if ty.kind == TypeKind::Time && is_empty {
        return Err(invalid());
    }
    if let Some(number) = number.filter(|_| ty.collation == CollationId::LATIN1_SWEDISH_CI) {
        // MySQL converts a number to the column's character set, unless it is that of numbers, and then takes
        // the member of that number.
        stored(session, ty, &value, true).map_err(|_| invalid())?;
        value = number;
    }
    let (bytes, note) = match stored(session, ty, &value, true) {
        Ok(stored) => stored,
        Err(problem) if is_half_read(session, ty, &problem) => {
            return Err(store_problem(&problem, column, 1));
        }
        Err(problem) if is_taken(session, ty, &value, &problem) => {
            stored(session, ty, &value, false).map_err(|problem| store_problem(&problem, column, 1))?
        }
        Err(_) => {
            warn_of_refused(session, (column, ty), &value);
            return Err(invalid());
        }
    };
    match note {
        StoreNote::Note(problem) => note_loss(session, column, &problem),
        StoreNote::Warning(problem) if !matches!(*problem, Problem::Truncated) => {
            session.warn(Severity::Warning, store_problem(&problem, column, 1));
        }
        StoreNote::Warning(problem) => note_loss(session, column, &problem),
        StoreNote::Warnings(problems) => {
            note_loss(session, column, &problems[0]);
            session.warn(Severity::Warning, store_problem(&problems[1], column, 1));
        }
        StoreNote::Exact => {}
    }
    Ok(ColumnDefault::Constant(bytes))
}

/// Makes a number that is the default of an ENUM or SET its text, which has to be that of a member, and
/// returns the number.
fn take_number_of_member(ty: &SqlType, value: &mut OwnedValue) -> Option<OwnedValue> {
    if ty.members.is_none() || matches!(value, OwnedValue::Bytes { .. }) {
        return None;
    }
    let data = value.as_value().display_text().into_bytes();
    let text = OwnedValue::Bytes { data: data.into(), collation: CollationId::UTF8MB4_0900_AI_CI };
    Some(std::mem::replace(value, text))
}

/// Whether MySQL takes what a column makes of the default beyond strict modes: of a text that is no decimal
/// number, or begins as one, and of a date without a month or a day.
#[cold]
fn is_taken(session: &Session, ty: &SqlType, value: &OwnedValue, problem: &Problem) -> bool {
    let is_half_number = matches!(problem, Problem::IncorrectValue { .. });
    !session.variables.hot.sql_mode.is_strict()
        && match ty.kind {
            TypeKind::Decimal => is_half_number && !is_past_all(session, ty, value),
            TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => is_part_of_date(session, value),
            _ => false,
        }
}

/// Whether the value begins with a number past all of the type's digits.
fn is_past_all(session: &Session, ty: &SqlType, value: &OwnedValue) -> bool {
    let taken = stored(session, ty, value, false);
    matches!(taken, Ok((_, StoreNote::Warning(problem))) if *problem == Problem::OutOfRange)
}

/// Whether the value is a date except for a month or a day.
fn is_part_of_date(session: &Session, value: &OwnedValue) -> bool {
    let hot = &session.variables.hot;
    let today = hot.time_zone.to_local(clock_micros().div_euclid(1_000_000), 0).date();
    let context = StoreContext::new(SqlModes::STRICT_ALL_TABLES, &hot.time_zone, today);
    let (ty, mut bytes) = (SqlType::new(TypeKind::Date, 10), Vec::new());
    let stored = storage::store(&ty, &value.as_value(), &context, &mut bytes);
    stored.is_ok()
        && matches!(storage::read(&ty, &bytes, &hot.time_zone), Value::Date(date) if date.has_zero_part())
}

/// Whether MySQL reports the value itself: a text that begins as a decimal number, in a strict mode.
#[cold]
fn is_half_read(session: &Session, ty: &SqlType, problem: &Problem) -> bool {
    let has_digit = |value: &str| value.bytes().any(|byte| byte.is_ascii_digit());
    ty.kind == TypeKind::Decimal
        && session.variables.hot.sql_mode.is_strict()
        && matches!(problem, Problem::IncorrectValue { value, .. } if has_digit(value))
}

/// Refuses the default of a BLOB or TEXT column. Beyond strict modes an empty one is no more than warned of.
///
/// # Errors
/// 1101
pub(super) fn refuse_of_blob(
    session: &mut Session,
    column: &str,
    value: &Expr<'_>,
    inputs: Inputs<'_>,
) -> Result<(), SqlError> {
    let error = error_map::BLOB_CANT_HAVE_DEFAULT.with(&[&column]);
    let value = evaluate(session, value, inputs)?;
    let is_empty = matches!(&value, OwnedValue::Bytes { data, .. } if data.is_empty());
    if !is_empty || session.variables.hot.sql_mode.is_strict() {
        return Err(error);
    }
    session.warn(Severity::Warning, error);
    Ok(())
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
    ty: &SqlType,
    value: &Expr<'_>,
    inputs: Inputs<'_>,
) -> Result<OwnedValue, SqlError> {
    let ExprKind::Literal(literal) = value.kind else {
        return evaluate(session, value, inputs);
    };
    let is_number = takes_bits(ty) && ty.kind != TypeKind::Bit;
    match (literal.kind, evaluate(session, value, inputs)) {
        (LiteralKind::Hex | LiteralKind::Bit, Ok(OwnedValue::Bytes { data, .. }))
            if is_number && !data.is_empty() =>
        {
            let start = data.len().saturating_sub(8);
            let number = data[start..].iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
            Ok(OwnedValue::UInt(number))
        }
        (_, value) => value,
    }
}

/// Whether a hexadecimal or bit literal is a number for a column of type `ty`.
fn takes_bits(ty: &SqlType) -> bool {
    use TypeKind::{Bit, Decimal, Double, Float, Year};
    ty.is_integer() || matches!(ty.kind, Decimal | Float | Double | Year | Bit)
}

/// Storage bytes of `value`; `strict`: it must fit.
fn stored(
    session: &Session,
    ty: &SqlType,
    value: &OwnedValue,
    strict: bool,
) -> Result<(Box<[u8]>, StoreNote), Box<Problem>> {
    let hot = &session.variables.hot;
    let now = hot.time_zone.to_local(clock_micros().div_euclid(1_000_000), 0);
    let context = StoreContext { strict, ..StoreContext::new(hot.sql_mode, &hot.time_zone, now.date()) };
    let mut bytes = Vec::new();
    let note =
        storage::store(ty, &value.as_value(), &context, &mut bytes).map_err(|StoreError(problem)| problem)?;
    Ok((bytes.into(), note))
}

/// Warns of what a column would make of a default that does not fit, whatever the mode. Strict modes would
/// make an error of that, which gives way to the one that refuses the default.
#[cold]
fn warn_of_refused(session: &mut Session, (column, ty): (&str, &SqlType), value: &OwnedValue) {
    if session.variables.hot.sql_mode.is_strict() || ty.members.is_some() {
        return;
    }
    if let Ok((_, StoreNote::Warning(problem))) = stored(session, ty, value, false) {
        session.warn(Severity::Warning, store_problem(&problem, column, 1));
    }
}

#[cold]
fn note_loss(session: &mut Session, column: &str, problem: &Problem) {
    if matches!(problem, Problem::Truncated | Problem::IncorrectTemporal { .. }) {
        session.warn(Severity::Note, store_problem(problem, column, 1));
    }
}
