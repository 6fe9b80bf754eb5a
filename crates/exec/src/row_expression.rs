//! Row expressions: columns that are computed of the other columns of the row that is written.
//!
//! The binder makes them of texts in the table's definition, once per plan, with relation 0 for the row. A
//! statement that writes no such column has none, and does nothing for them.

use bumpalo::Bump;
use expr::{ColumnRef, EvalCtx, EvalError, Expr, PatternMemo, RowSource, SubqueryRunner};
use types::{TableDef, TimeZone, Value, storage};

use crate::column_store::ColumnStore;
use crate::error::Result;
use crate::query_run::QueryRun;
use crate::row_build::RowBuffer;

/// The row begun last, for expressions that name its columns.
pub(crate) struct UnfinishedRow<'x> {
    pub(crate) def: &'x TableDef,
    pub(crate) rows: &'x RowBuffer,
    pub(crate) zone: &'x TimeZone,
}

impl RowSource for UnfinishedRow<'_> {
    fn column(&self, _rel: u16, col: u16) -> Value<'_> {
        let col = usize::from(col);
        let column = &self.def.columns[col];
        match self.rows.last(col) {
            Some(bytes) => storage::read(&column.ty, bytes, self.zone),
            // The number that an AUTO_INCREMENT column takes in the end is not known yet.
            None if column.auto_increment => Value::Int(0),
            None => Value::Null,
        }
    }
}

/// What row expressions are computed with.
pub(crate) struct RowExpressions<'r> {
    pub(crate) def: &'r TableDef,
    pub(crate) run: &'r QueryRun<'r>,
    pub(crate) store: &'r ColumnStore<'r>,
}

impl RowExpressions<'_> {
    /// Gives column `col` of the row begun last in `rows` the value of `expr`. `number`: the row's, for
    /// messages.
    ///
    /// # Errors
    /// Those of the evaluation, and of storing its value.
    #[inline(never)]
    pub(crate) fn assign(
        &self,
        (col, expr): (u16, &Expr),
        rows: &mut RowBuffer,
        number: u64,
        arena: &mut Bump,
    ) -> Result<()> {
        arena.reset();
        let (st, mut bytes) = (self.run.st, Vec::new());
        let row = UnfinishedRow { def: self.def, rows, zone: st.zone };
        let ctx = EvalCtx { subqueries: self, ..self.run.ctx(arena) };
        let value = expr.eval(&row, &ctx).map_err(|error| st.eval_error(error))?;
        st.check()?;
        let column = &self.def.columns[usize::from(col)];
        let is_value = self.store.value(column, &value, number, &mut bytes)?;
        rows.set(usize::from(col), is_value.then_some(&bytes[..]));
        Ok(())
    }
}

impl SubqueryRunner for RowExpressions<'_> {
    /// In definitions columns have no tables.
    fn column_name(&self, column: ColumnRef) -> Option<String> {
        let column = self.def.columns.get(usize::from(column.col))?;
        Some(format!("`{}`", column.name.replace('`', "``")))
    }

    fn reserve(&self, arena: &Bump, bytes: usize) -> std::result::Result<(), EvalError> {
        self.run.reserve(arena, bytes)
    }

    fn patterns(&self) -> Option<&PatternMemo> {
        self.run.patterns()
    }

    fn run<'v>(
        &'v self,
        _expr: &'v Expr,
        _outer: &'v dyn RowSource,
        _ctx: &'v EvalCtx<'v>,
    ) -> std::result::Result<Value<'v>, EvalError> {
        Err(EvalError::NotSupported("a subquery in a definition"))
    }
}
