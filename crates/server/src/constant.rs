//! Expressions as SET and KILL take them: literals, variables and their signs at once, all others through the
//! planner.

use sql::Literal;
use sql::ast::{Expr, ExprKind, UnaryOp, VarScope};
use sql::literal::{IntValue, LiteralKind};
use types::decimal::Decimal;
use types::{CollationId, OwnedValue};

use crate::error_map::{self, SqlError};
use crate::inputs::Inputs;
use crate::run::expression;
use crate::session::Session;
use crate::sysvars::VarLevel;

/// The value of `expr`. Assignments (`@a := 1`) take effect.
///
/// # Errors
/// 1193 and 1238 for variables; those of planning and evaluating.
pub fn evaluate(session: &mut Session, expr: &Expr<'_>, inputs: Inputs<'_>) -> Result<OwnedValue, SqlError> {
    match expr.kind {
        ExprKind::Null => Ok(OwnedValue::Null),
        ExprKind::Bool(value) => Ok(OwnedValue::Int(i64::from(value))),
        ExprKind::Literal(literal) if is_plain(literal) => literal_value(session, literal, inputs.sql),
        ExprKind::Param(number) => {
            Ok(inputs.params.get(number as usize).cloned().unwrap_or(OwnedValue::Null))
        }
        ExprKind::UserVar(name) => {
            let found = session.user_variables.get(&name.to_lowercase());
            Ok(found.cloned().unwrap_or(OwnedValue::Null))
        }
        ExprKind::SystemVar(var) => {
            let value = session.read_variable(level(var.scope)?, var.name)?;
            Ok(value.into_owned_value())
        }
        ExprKind::Unary(UnaryOp::Plus, operand) => evaluate(session, operand, inputs),
        ExprKind::Unary(UnaryOp::Neg, operand) => {
            let value = evaluate(session, operand, inputs)?;
            match negate(value) {
                Some(negative) => Ok(negative),
                None => expression::evaluate(session, expr, inputs),
            }
        }
        _ => expression::evaluate(session, expr, inputs),
    }
}

/// The level that a scope in the text means.
pub fn level(scope: VarScope) -> Result<VarLevel, SqlError> {
    match scope {
        VarScope::Unspecified => Ok(VarLevel::Default),
        VarScope::Global => Ok(VarLevel::Global),
        VarScope::Session => Ok(VarLevel::Session),
        VarScope::Persist | VarScope::PersistOnly => {
            Err(error_map::NOT_SUPPORTED_YET.with(&[&"persisted system variables"]))
        }
    }
}

#[cold]
fn not_constant() -> SqlError {
    error_map::NOT_SUPPORTED_YET.with(&[&"expressions other than constants and variables in a definition"])
}

/// Whether `literal` is no date or time, and without a character set of its own.
fn is_plain(literal: Literal) -> bool {
    let is_moment = matches!(literal.kind, LiteralKind::Date | LiteralKind::Time | LiteralKind::Timestamp);
    !is_moment && literal.charset.name().is_none()
}

fn literal_value(session: &Session, literal: Literal, sql: &[u8]) -> Result<OwnedValue, SqlError> {
    let text = literal.text(sql);
    let binary = |data: Vec<u8>| OwnedValue::Bytes { data: data.into(), collation: CollationId::BINARY };
    Ok(match literal.kind {
        LiteralKind::Int => match literal.int_value(sql) {
            IntValue::Signed(value) => OwnedValue::Int(value),
            IntValue::Unsigned(value) => OwnedValue::UInt(value),
            IntValue::Big => decimal(text)?,
        },
        LiteralKind::Decimal => decimal(text)?,
        LiteralKind::Float => {
            let value = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            OwnedValue::Double(value.ok_or_else(not_constant)?)
        }
        LiteralKind::Hex => {
            let mut data = Vec::new();
            literal.hex_value(sql, &mut data);
            binary(data)
        }
        LiteralKind::Bit => {
            let mut data = Vec::new();
            literal.bit_value(sql, &mut data);
            binary(data)
        }
        LiteralKind::String => {
            let hot = &session.variables.hot;
            let data = literal.string_value(sql, hot.lex_mode).into_owned();
            OwnedValue::Bytes { data: data.into(), collation: hot.collation_connection }
        }
        LiteralKind::Date | LiteralKind::Time | LiteralKind::Timestamp => return Err(not_constant()),
    })
}

fn decimal(text: &[u8]) -> Result<OwnedValue, SqlError> {
    Decimal::parse(text).map(OwnedValue::Decimal).ok_or_else(not_constant)
}

fn negate(value: OwnedValue) -> Option<OwnedValue> {
    Some(match value {
        OwnedValue::Null => OwnedValue::Null,
        OwnedValue::Int(value) => OwnedValue::Int(value.checked_neg()?),
        // The one unsigned literal whose negative is a BIGINT.
        OwnedValue::UInt(value) if value == 1 << 63 => OwnedValue::Int(i64::MIN),
        OwnedValue::Double(value) => OwnedValue::Double(-value),
        OwnedValue::Decimal(value) => OwnedValue::Decimal(value.negate()),
        _ => return None,
    })
}
