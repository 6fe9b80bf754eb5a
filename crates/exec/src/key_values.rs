//! The values that keys are made of.

use expr::{EvalCtx, Expr, RowSource};
use types::Value;

use crate::error::Result;
use crate::query_run::QueryRun;

/// Where the values of tests come from.
pub(crate) struct KeyValues<'x, 'r> {
    pub(crate) run: &'x QueryRun<'r>,
    pub(crate) row: &'x dyn RowSource,
    pub(crate) ctx: &'x EvalCtx<'x>,
}

impl<'x> KeyValues<'x, '_> {
    pub(crate) fn of(&self, expr: &'x Expr) -> Result<Value<'x>> {
        expr.eval(self.row, self.ctx).map_err(|error| self.run.st.eval_error(error))
    }
}
