//! Functions about the session and about expressions themselves.

use std::time::Duration;

use types::{CollationId, Value};

use super::known_collation::known_collation;
use super::{Call, some};
use crate::build::{Class, class_of};
use crate::coercibility::{Coercibility, coercibility as coercibility_of};
use crate::{EvalError, Expr, ExprKind, Func};

/// The collation of argument 0: numbers are binary.
fn argument_collation(call: &Call<'_>) -> &'static types::Collation {
    let arg = &call.args[0];
    let is_text = class_of(arg) == Class::Text;
    known_collation(if is_text { arg.ty.collation } else { CollationId::BINARY })
}

/// Whether an expression is a text of the server about itself, which is utf8mb3 for MySQL.
fn is_system_text(expr: &Expr) -> bool {
    let is_constant = || coercibility_of(expr) == Coercibility::SystemConstant;
    match &expr.kind {
        ExprKind::SysVar { .. } => class_of(expr) == Class::Text,
        ExprKind::Call { func: Func::Charset | Func::Collation | Func::Uuid, .. } => true,
        ExprKind::Call { func, args } => is_constant() && (args.is_empty() || func.keeps_charset()),
        ExprKind::Case { .. } => is_constant(),
        _ => false,
    }
}

/// CHARSET
pub(crate) fn charset<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let name =
        if is_system_text(&call.args[0]) { "utf8mb3" } else { argument_collation(call).charset.name() };
    Ok(call.text_value(name.as_bytes()))
}

/// COLLATION
pub(crate) fn collation<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let name =
        if is_system_text(&call.args[0]) { "utf8mb3_general_ci" } else { argument_collation(call).name };
    Ok(call.text_value(name.as_bytes()))
}

/// VERSION
pub(crate) fn version<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(call.text_value(call.ctx.session.version().as_bytes()))
}

/// DATABASE
pub(crate) fn database<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(call.ctx.session.database().map_or(Value::Null, |name| call.text_value(name.as_bytes())))
}

/// USER
pub(crate) fn user<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(call.text_value(call.ctx.session.user().as_bytes()))
}

/// CURRENT_USER
pub(crate) fn current_user<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(call.text_value(call.ctx.session.current_user().as_bytes()))
}

/// CURRENT_ROLE
pub(crate) fn current_role<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(call.text_value(call.ctx.session.current_role().as_bytes()))
}

/// CONNECTION_ID
pub(crate) fn connection_id<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::UInt(call.ctx.session.connection_id()))
}

/// VALIDATE_PASSWORD_STRENGTH(text)
pub(crate) fn password_strength<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    Ok(Value::UInt(call.ctx.session.password_strength(&String::from_utf8_lossy(text))))
}

/// LAST_INSERT_ID(), LAST_INSERT_ID(n)
pub(crate) fn last_insert_id<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let session = call.ctx.session;
    if call.args.is_empty() {
        return Ok(Value::UInt(session.last_insert_id()));
    }
    let id = some!(call.bits(0));
    session.set_last_insert_id(id);
    Ok(if call.ty().unsigned { Value::UInt(id) } else { Value::Int(id as i64) })
}

/// ROW_COUNT
pub(crate) fn row_count<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(call.ctx.session.row_count()))
}

/// FOUND_ROWS
pub(crate) fn found_rows<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::Int(call.ctx.session.found_rows() as i64))
}

/// SLEEP(seconds): 0, or 1 when KILL ended it.
pub(crate) fn sleep<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let seconds = call.double(0)?.filter(|s| *s >= 0.0);
    let seconds = seconds.ok_or(EvalError::WrongArgument { function: "sleep" })?;
    let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    if time.is_zero() {
        return Ok(Value::Int(0));
    }
    match call.ctx.session.sleep(time) {
        Some(finished) => Ok(Value::Int(i64::from(!finished))),
        None => Err(EvalError::NotSupported("SLEEP")),
    }
}

/// BENCHMARK(count, expression): evaluates again and again, until KILL ends it; that alone is no error, as in
/// MySQL.
pub(crate) fn benchmark<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let count = some!(call.int(0));
    for _ in 0..count {
        if call.ctx.session.killed() {
            break;
        }
        call.args[1].eval(call.row, call.ctx)?;
    }
    Ok(if count < 0 { Value::Null } else { Value::Int(0) })
}

/// REGEXP_LIKE, REGEXP: not there.
pub(crate) fn regexp<'v>(_: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Err(EvalError::NotSupported("REGEXP"))
}
