//! The values of a query's first column.

use bumpalo::Bump;
use expr::{EvalCtx, Expr, ExprKind};
use types::Value;

use crate::error::{ExecError, Result};
use crate::frame::{Frame, row_source};
use crate::query_run::QueryRun;
use crate::source::{Collect, Flow};

/// Calls `take` with each value of the subquery expression `expr`, which names nothing outside.
pub(crate) fn each_value_of(
    run: &QueryRun<'_>,
    expr: &Expr,
    mut take: impl FnMut(&Value<'_>) -> Result<()>,
) -> Result<()> {
    let ExprKind::Subquery { plan, .. } = expr.kind else { return Ok(()) };
    let Some(sub) = run.program.subqueries.get(usize::from(plan)) else {
        return Err(ExecError::NotSupported("a subquery without a plan"));
    };
    let inner = QueryRun::new(run.st, run.params, &sub.query);
    each_value(&inner, |value, _| {
        take(value)?;
        Ok(Flow::More)
    })
}

/// Calls `take` with the first output column of every row.
pub(crate) fn each_value<'r>(
    inner: &'r QueryRun<'r>,
    mut take: impl FnMut(&Value<'_>, &EvalCtx<'_>) -> Result<Flow>,
) -> Result<()> {
    let Some(expr) = inner.program.exprs().next() else { return Ok(()) };
    let mut arena = Bump::new();
    inner.rows(&mut Collect(|frame: &Frame<'_>| {
        arena.reset();
        let ctx = inner.ctx(&arena);
        let value = expr.eval(row_source(Some(frame)), &ctx).map_err(|error| inner.st.eval_error(error))?;
        inner.st.check()?;
        take(&value, &ctx)
    }))?;
    Ok(())
}
