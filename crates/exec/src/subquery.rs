//! Subqueries inside expressions.

use expr::{EvalCtx, EvalError, Expr, RowSource};
use types::Value;

use crate::statement::QueryRun;

/// Results of subqueries that do not depend on the outer row.
#[derive(Default)]
pub(crate) struct SubqueryCache {}

/// The value of the subquery expression `expr` for the row `outer`.
pub(crate) fn evaluate<'v>(
    _run: &'v QueryRun<'_>,
    _expr: &'v Expr,
    _outer: &'v dyn RowSource,
    _ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>, EvalError> {
    Err(EvalError::NotSupported("subquery"))
}
