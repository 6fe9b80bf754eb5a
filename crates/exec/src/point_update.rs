//! UPDATE of one row by its whole clustered key: found, changed and written in one descent.

use engine::{Error, OldRow, RowChange, UpdateOutcome};
use expr::{Expr, ExprKind, Func, RowSource};
use sql::plan::{InsertCell, UpdatePlan};
use types::{Value, storage};

use crate::assign::{AssignedColumns, Assigner, NewValues};
use crate::column_store::ColumnStore;
use crate::conditions::Level;
use crate::context::ExecCtx;
use crate::error::{ExecError, Result};
use crate::point::PointKey;
use crate::query::QueryProgram;
use crate::query_run::QueryRun;

/// An UPDATE of one row. Its new values are made while the row's leaf is latched.
#[derive(Debug)]
pub(crate) struct PointUpdate {
    key: PointKey,
}

/// Rows that an UPDATE found, and those of them that have new values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Updated {
    pub(crate) matched: u64,
    pub(crate) changed: u64,
}

impl PointUpdate {
    /// The update of one row that `plan` with its compiled `query` is; `None` if it is more than that, or if
    /// its expressions are more than arithmetic, so that a latch might be held for long.
    pub(crate) fn of_plan(plan: &UpdatePlan, query: &QueryProgram) -> Option<Self> {
        let is_quick = |cell: &InsertCell| match cell {
            InsertCell::Default => true,
            InsertCell::Kept(_) | InsertCell::Computed => false,
            InsertCell::Expr(expr) => is_arithmetic(expr),
        };
        if plan.targets.len() != 1 || !plan.sets.iter().all(|(_, _, cell)| is_quick(cell)) {
            return None;
        }
        PointKey::of_query(query).map(|key| PointUpdate { key })
    }

    /// Runs the update of `columns`. Cost: a descent, and the entries of the indexes whose columns change; no
    /// allocation.
    pub(crate) fn run(
        &self,
        plan: &UpdatePlan,
        columns: &AssignedColumns,
        run: &QueryRun<'_>,
        store: &ColumnStore<'_>,
        ctx: &mut ExecCtx<'_>,
    ) -> Result<Updated> {
        let scratch = &mut *ctx.scratch;
        if !self.key.make(run, &scratch.arena, &mut scratch.key)? {
            return Ok(Updated::default());
        }
        let values = std::mem::take(&mut scratch.values);
        let mut change = Change {
            plan,
            new: NewValues::over(columns, values),
            assigner: Assigner { run, store, arena: &mut scratch.arena, scratch: &mut scratch.cell },
            failed: None,
        };
        if ctx.autocommit && !columns.has_auto_increment() {
            ctx.trx.commit_with_change();
        }
        let written =
            columns.table.update_with(ctx.engine, ctx.trx, &scratch.key, &mut change, &columns.changed);
        let number = match written {
            Ok(UpdateOutcome::Updated) => columns.auto_increment(&change.new.values, 0, run.st.zone),
            _ => 0,
        };
        let failed = change.failed.take();
        scratch.values = std::mem::take(&mut change.new.values);
        scratch.trim();
        if let Some(error) = failed {
            return Err(error);
        }
        match written {
            Ok(UpdateOutcome::Missing) => return Ok(Updated::default()),
            Ok(UpdateOutcome::Unchanged) => return Ok(Updated { matched: 1, changed: 0 }),
            Ok(UpdateOutcome::Updated) => {}
            Err(error @ Error::DuplicateKey(_)) if plan.ignore => {
                ctx.conditions.warn(Level::Warning, &ExecError::Engine(error));
                return Ok(Updated { matched: 1, changed: 0 });
            }
            Err(error) => return Err(error.into()),
        }
        if number > 0 {
            columns.table.advance_auto_increment(ctx.engine, number)?;
        }
        Ok(Updated { matched: 1, changed: 1 })
    }
}

/// Whether `expr` reads nothing but the row and the parameters, and is quickly done.
fn is_arithmetic(expr: &Expr) -> bool {
    let mut all = true;
    expr.walk(&mut |e| {
        all &= match &e.kind {
            ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Column(_) => true,
            ExprKind::Call { func, .. } => matches!(func, Func::Add | Func::Sub | Func::Mul | Func::Neg),
            _ => false,
        };
    });
    all
}

/// The change of the row.
struct Change<'x> {
    plan: &'x UpdatePlan,
    new: NewValues<'x>,
    assigner: Assigner<'x>,
    failed: Option<ExecError>,
}

impl Change<'_> {
    fn assign(&mut self, old: &OldRow<'_>) -> Result<bool> {
        let (columns, store) = (self.new.columns, self.assigner.store);
        let row = Stored { columns, old, zone: store.st.zone };
        self.new.begin();
        for (_, col, cell) in &self.plan.sets {
            let bytes = |col| old.get(usize::from(col));
            self.assigner.assign(std::slice::from_mut(&mut self.new), 0, *col, cell, (&row, bytes), 1)?;
        }
        if old.is_whole() && !columns.has_followers() {
            // Whether the row differs is found out where it is written.
            return Ok(true);
        }
        self.new.finish(|col| old.get(usize::from(col)), store, 1)
    }
}

impl RowChange for Change<'_> {
    fn make(&mut self, old: &OldRow<'_>) -> bool {
        match self.assign(old) {
            Ok(differs) => differs,
            Err(error) => {
                self.failed = Some(error);
                false
            }
        }
    }

    fn value(&self, position: usize) -> Option<&[u8]> {
        self.new.stored(position as u16)
    }
}

/// The row before the change.
struct Stored<'x> {
    columns: &'x AssignedColumns,
    old: &'x OldRow<'x>,
    zone: &'x types::TimeZone,
}

impl RowSource for Stored<'_> {
    #[inline]
    fn column(&self, _rel: u16, col: u16) -> Value<'_> {
        let ty = &self.columns.table.def.columns[usize::from(col)].ty;
        self.old.get(usize::from(col)).map_or(Value::Null, |bytes| storage::read(ty, bytes, self.zone))
    }
}
