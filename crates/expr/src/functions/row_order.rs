//! Rows of which one is less or greater, part by part.

use std::cmp::Ordering;

use types::Value;

use super::Call;
use crate::compare::{compare_values, fail_if_cut_short, truth};
use crate::{EvalError, ExprKind};

/// The truth of `(a, b) < (c, d)`, whose arguments are comparisons of the parts. The first parts that differ
/// decide, or are NULL; later ones are not computed. Each part is computed once.
pub(crate) fn row_order<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let Some((last, parts)) = call.args.split_last() else { return Ok(Value::Null) };
    for part in parts {
        let ExprKind::Compare { op, domain, args } = &part.kind else { return Ok(Value::Null) };
        let a = call.value_of(&args[0])?;
        if a.is_null() {
            return Ok(Value::Null);
        }
        let b = call.value_of(&args[1])?;
        let order = compare_values(&a, &b, *domain, call.ctx);
        fail_if_cut_short(*domain, [&a, &b], call.ctx)?;
        match order {
            None => return Ok(Value::Null),
            Some(Ordering::Equal) => {}
            Some(order) => return Ok(truth(Some(op.accepts(order)))),
        }
    }
    call.value_of(last)
}
