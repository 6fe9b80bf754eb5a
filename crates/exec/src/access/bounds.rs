//! The key bytes and the ends of a path's range.

use std::ops::Bound;

use bumpalo::Bump;
use expr::Expr;

use super::Keys;
use crate::error::Result;
use crate::frame::{Frame, row_source};
use crate::key::Fit;
use crate::key_part::KeyPart;
use crate::op::PathOp;
use crate::query_run::QueryRun;

/// An end of a range, over the bytes of one of two buffers.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Open,
    Included,
    Excluded,
}

impl End {
    pub(crate) fn on(self, key: &[u8]) -> Bound<&[u8]> {
        match self {
            End::Open => Bound::Unbounded,
            End::Included => Bound::Included(key),
            End::Excluded => Bound::Excluded(key),
        }
    }
}

/// Appends the parts for equality with `key`; false if no row can be equal. `null_safe`: parts for which NULL
/// equals NULL.
pub(crate) fn push_parts(
    run: &QueryRun<'_>,
    parts: &[KeyPart],
    key: &[Expr],
    null_safe: &[bool],
    parent: Option<&Frame<'_>>,
    out: &mut Vec<u8>,
    arena: &Bump,
) -> Result<bool> {
    let ctx = run.ctx(arena);
    for (i, (part, expr)) in parts.iter().zip(key).enumerate() {
        let value = expr.eval(row_source(parent), &ctx).map_err(|error| run.st.eval_error(error))?;
        match part.push(&value, run, out)? {
            Fit::Exact => {}
            Fit::Null if part.nullable && null_safe.get(i) == Some(&true) => part.push_null(out),
            Fit::Null => return Ok(false),
            // A cut key finds what shares its first characters; the filter decides.
            Fit::Below | Fit::Above if part.prefix => {}
            Fit::Below | Fit::Above => return Ok(false),
        }
    }
    run.st.check()?;
    Ok(true)
}

/// The ends of a path's range, their bytes in `keys`; `None` if nothing can lie in it.
pub(crate) fn range_bounds(
    run: &QueryRun<'_>,
    path: &PathOp,
    parts: &[KeyPart],
    parent: Option<&Frame<'_>>,
    keys: &mut Keys,
    arena: &Bump,
) -> Result<Option<(End, End)>> {
    let PathOp::Range { eq, null_safe, lower, upper, .. } = path else {
        return Ok(Some((End::Open, End::Open)));
    };
    keys.lower.clear();
    if !push_parts(run, parts, eq, null_safe, parent, &mut keys.lower, arena)? {
        return Ok(None);
    }
    keys.upper.clear();
    keys.upper.extend_from_slice(&keys.lower);
    let all = if eq.is_empty() { End::Open } else { End::Included };
    let Some(part) = parts.get(eq.len()).filter(|_| lower.is_some() || upper.is_some()) else {
        return Ok(Some((all, all)));
    };
    // Descending parts have their greatest value first.
    let (low_key, high_key) =
        if part.desc { (&mut keys.upper, &mut keys.lower) } else { (&mut keys.lower, &mut keys.upper) };
    let bound = |bound: &Option<(Expr, bool)>, is_lower, key: &mut Vec<u8>| match bound {
        None => Ok(Some(all)),
        Some((expr, inclusive)) => one_bound(run, part, expr, *inclusive, is_lower, parent, key, arena),
    };
    let Some(high) = bound(upper, false, high_key)? else { return Ok(None) };
    let low = if lower.is_none() && part.nullable {
        // NULL is below all values, and in no range.
        part.push_null(low_key);
        Some(End::Excluded)
    } else {
        bound(lower, true, low_key)?
    };
    let Some(low) = low else { return Ok(None) };
    Ok(Some(if part.desc { (high, low) } else { (low, high) }))
}

/// Appends the part of a bound and says how it ends; `None` for NULL, which bounds nothing.
#[expect(clippy::too_many_arguments, reason = "one call, two ends")]
fn one_bound(
    run: &QueryRun<'_>,
    part: &KeyPart,
    expr: &Expr,
    inclusive: bool,
    is_lower: bool,
    parent: Option<&Frame<'_>>,
    key: &mut Vec<u8>,
    arena: &Bump,
) -> Result<Option<End>> {
    let ctx = run.ctx(arena);
    let value = expr.eval(row_source(parent), &ctx).map_err(|error| run.st.eval_error(error))?;
    let fit = part.push(&value, run, key)?;
    let included = match fit {
        Fit::Null => return Ok(None),
        _ if part.prefix => true,
        Fit::Exact => inclusive,
        // The neighbour below the bound is inside an upper one and outside a lower one.
        Fit::Below => !is_lower,
        Fit::Above => is_lower,
    };
    Ok(Some(if included { End::Included } else { End::Excluded }))
}
