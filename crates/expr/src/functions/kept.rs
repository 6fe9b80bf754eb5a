//! Constants that are computed once a statement, when they are first asked for. They warn once.

use types::temporal::FSP_MAX;
use types::{TypeKind, Value};

use super::{Call, some};
use crate::compare::{Number, moment_beside_constant};
use crate::context::in_arena;
use crate::{EvalError, Expr};

/// Larger values are computed each time: what a statement keeps stays small.
const KEPT_BYTES_MAX: usize = 256;

/// Where the session keeps the value of `expr`, which does not move while its statement runs.
fn place(expr: &Expr) -> usize {
    std::ptr::from_ref(expr).addr()
}

/// The value that the session keeps for the call, or the one that `compute` finds.
fn kept<'v>(
    call: &Call<'v>,
    compute: impl FnOnce() -> Result<Value<'v>, EvalError>,
) -> Result<Value<'v>, EvalError> {
    let (session, place) = (call.ctx.session, place(call.expr));
    let mut known = None;
    if session.read_kept(place, &mut |value| known = Some(in_arena(value, call.ctx.arena)))
        && let Some(value) = known
    {
        return Ok(value);
    }
    let value = compute()?;
    if value.heap_bytes() <= KEPT_BYTES_MAX {
        session.keep(place, value.to_owned_value());
    }
    Ok(value)
}

/// The value of a constant operation.
pub(crate) fn value<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    kept(call, || call.value(0))
}

/// The number that a constant is.
pub(crate) fn number<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    kept(call, || {
        Ok(match call.ty().kind {
            TypeKind::Decimal => Value::Decimal(some!(call.decimal(0))),
            TypeKind::Double => Value::Double(some!(call.double(0))),
            _ => match call.value(0)? {
                Value::Null => Value::Null,
                text => Number::of(&text, call.ctx).to_value(),
            },
        })
    })
}

/// The date and time that a text is, which is compared with a constant one.
pub(crate) fn moment_of_text<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let value = call.value(0)?;
    let is_read = value.is_textual();
    Ok(if is_read { Value::DateTime(moment_beside_constant(&value, call.ctx), FSP_MAX) } else { value })
}
