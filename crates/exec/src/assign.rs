//! SET clauses: new values for columns of existing rows, each seeing the ones before it.

use std::sync::Arc;

use bumpalo::Bump;
use engine::{ColumnSet, Table};
use expr::{ExprKind, RowSource};
use sql::plan::InsertCell;
use types::{TimeZone, Value, storage};

use crate::column_store::ColumnStore;
use crate::error::Result;
use crate::int_sum::int_sum;
use crate::query_run::QueryRun;
use crate::row_build::RowBuffer;

/// The columns that a statement assigns in one relation.
#[derive(Debug)]
pub(crate) struct AssignedColumns {
    pub(crate) rel: u16,
    pub(crate) table: Arc<Table>,
    /// Assigned columns, then those that become CURRENT_TIMESTAMP with any change.
    pub(crate) cols: Box<[u16]>,
    explicit: usize,
    /// All of `cols`.
    pub(crate) changed: ColumnSet,
    /// Slot of the AUTO_INCREMENT column, if it is assigned.
    auto_increment_slot: Option<usize>,
}

impl AssignedColumns {
    /// `assigned`: columns of `table` in order, perhaps repeated.
    pub(crate) fn new(rel: u16, table: Arc<Table>, assigned: impl Iterator<Item = u16>) -> Self {
        let mut cols = Vec::new();
        for col in assigned {
            if !cols.contains(&col) {
                cols.push(col);
            }
        }
        let explicit = cols.len();
        let on_update = table.def.columns.iter().enumerate().filter(|(_, column)| column.on_update_now);
        let on_update: Vec<_> = on_update.map(|(i, _)| i as u16).filter(|col| !cols.contains(col)).collect();
        cols.extend(on_update);
        let changed = cols.iter().map(|&col| usize::from(col)).collect();
        let auto_increment = table.def.auto_increment_column();
        let auto_increment_slot = cols.iter().position(|&col| Some(usize::from(col)) == auto_increment);
        AssignedColumns { rel, table, cols: cols.into(), explicit, changed, auto_increment_slot }
    }

    /// The AUTO_INCREMENT number assigned in row `row` of `values`; 0 if none was.
    #[inline]
    pub(crate) fn auto_increment(&self, values: &RowBuffer, row: usize, zone: &TimeZone) -> u64 {
        let Some(slot) = self.auto_increment_slot else { return 0 };
        let ty = &self.table.def.columns[usize::from(self.cols[slot])].ty;
        let value = values.get(row, slot).map_or(Value::Null, |bytes| storage::read(ty, bytes, zone));
        if value.is_unsigned_integer() { value.to_u64().value } else { value.to_i64().value.max(0) as u64 }
    }

    /// Whether an AUTO_INCREMENT column is among them.
    pub(crate) fn has_auto_increment(&self) -> bool {
        self.auto_increment_slot.is_some()
    }

    /// Whether a column becomes CURRENT_TIMESTAMP with a change of others.
    pub(crate) fn has_followers(&self) -> bool {
        self.explicit < self.cols.len()
    }

    fn slot(&self, col: u16) -> Option<usize> {
        self.cols.iter().position(|&c| c == col)
    }
}

/// New values of one row of the relation, under construction.
pub(crate) struct NewValues<'x> {
    pub(crate) columns: &'x AssignedColumns,
    /// One row, a column for each of the assigned ones.
    pub(crate) values: RowBuffer,
    /// How many columns are assigned so far: the slots are in the order of their first assignments.
    assigned: usize,
}

impl<'x> NewValues<'x> {
    pub(crate) fn new(columns: &'x AssignedColumns) -> Self {
        Self::over(columns, RowBuffer::default())
    }

    /// New values in the memory of `values`.
    pub(crate) fn over(columns: &'x AssignedColumns, values: RowBuffer) -> Self {
        let values = values.reused(columns.cols.len());
        NewValues { columns, values, assigned: 0 }
    }

    /// Forgets the row before.
    pub(crate) fn begin(&mut self) {
        self.values.clear();
        self.values.begin_row();
        self.assigned = 0;
    }

    #[inline]
    fn note_assigned(&mut self, slot: usize) {
        debug_assert!(slot <= self.assigned, "columns are assigned in the order of their slots");
        self.assigned = self.assigned.max(slot + 1);
    }

    /// Assigns a value that no expression has to make.
    #[inline]
    fn set_to(&mut self, col: u16, value: &Value<'_>, store: &ColumnStore<'_>, number: u64) -> Result<()> {
        let column = &self.columns.table.def.columns[usize::from(col)];
        if let Some(slot) = self.columns.slot(col) {
            self.values.set_maybe(slot, |out| store.value(column, value, number, out))?;
            self.note_assigned(slot);
        }
        Ok(())
    }

    /// The value assigned to a column, if one was.
    #[inline]
    pub(crate) fn value(&self, col: u16, zone: &TimeZone) -> Option<Value<'_>> {
        let bytes = self.values.get(0, self.assigned_slot(col)?);
        let ty = &self.columns.table.def.columns[usize::from(col)].ty;
        Some(bytes.map_or(Value::Null, |bytes| storage::read(ty, bytes, zone)))
    }

    /// The slot of a column that is assigned.
    #[inline]
    fn assigned_slot(&self, col: u16) -> Option<usize> {
        self.columns.slot(col).filter(|&slot| slot < self.assigned)
    }

    /// The storage bytes of one of the columns.
    #[inline]
    pub(crate) fn stored(&self, col: u16) -> Option<&[u8]> {
        self.values.get(0, self.columns.slot(col)?)
    }

    /// Whether a new value differs from the old one; then the columns that follow changes get theirs.
    pub(crate) fn finish<'v>(
        &mut self,
        old: impl Fn(u16) -> Option<&'v [u8]>,
        store: &ColumnStore<'_>,
        row: u64,
    ) -> Result<bool> {
        let explicit = &self.columns.cols[..self.columns.explicit];
        let differs = |(slot, &col): (usize, &u16)| self.values.get(0, slot) != old(col);
        if !explicit.iter().enumerate().any(differs) {
            return Ok(false);
        }
        let def = &self.columns.table.def;
        for slot in self.columns.explicit..self.columns.cols.len() {
            let column = &def.columns[usize::from(self.columns.cols[slot])];
            self.values.set_maybe(slot, |out| store.now(column, row, out))?;
        }
        Ok(true)
    }
}

/// The row in flight with the values assigned so far in place of the old ones.
struct Overlay<'x, R> {
    row: &'x R,
    targets: &'x [NewValues<'x>],
    zone: &'x TimeZone,
}

impl<R: RowSource> RowSource for Overlay<'_, R> {
    #[inline]
    fn column(&self, rel: u16, col: u16) -> Value<'_> {
        let target = self.targets.iter().find(|target| target.columns.rel == rel);
        let assigned = target.and_then(|target| target.value(col, self.zone));
        assigned.unwrap_or_else(|| self.row.column(rel, col))
    }
}

/// What assignments need beside the row.
pub(crate) struct Assigner<'x> {
    pub(crate) run: &'x QueryRun<'x>,
    pub(crate) store: &'x ColumnStore<'x>,
    pub(crate) arena: &'x mut Bump,
    pub(crate) scratch: &'x mut Vec<u8>,
}

impl Assigner<'_> {
    /// Assigns `cell` to a column of `targets[target]`, whose bytes in the row before were `old`; `number`:
    /// the row's, for messages.
    pub(crate) fn assign<'v>(
        &mut self,
        targets: &mut [NewValues<'_>],
        target: usize,
        col: u16,
        cell: &InsertCell,
        (row, old): (&impl RowSource, impl Fn(u16) -> Option<&'v [u8]>),
        number: u64,
    ) -> Result<()> {
        if let InsertCell::Expr(expr) = cell {
            if let ExprKind::Param(param) = expr.kind
                && let Some(value) = self.run.params.get(usize::from(param))
            {
                return targets[target].set_to(col, value, self.store, number);
            }
            let overlay = Overlay { row, targets, zone: self.run.st.zone };
            if let Some(sum) = int_sum(expr, &overlay, self.run.params) {
                return targets[target].set_to(col, &sum, self.store, number);
            }
        }
        self.arena.reset();
        self.scratch.clear();
        let column = &targets[target].columns.table.def.columns[usize::from(col)];
        let is_value = match cell {
            InsertCell::Kept(_) => keep(&targets[target], col, old, self.scratch),
            InsertCell::Default | InsertCell::Computed => self.store.default(column, number, self.scratch)?,
            InsertCell::Expr(expr) => {
                let st = self.run.st;
                let overlay = Overlay { row, targets, zone: st.zone };
                let ctx = self.run.ctx(self.arena);
                let value = expr.eval(&overlay, &ctx).map_err(|error| st.eval_error(error))?;
                st.check()?;
                self.store.value(column, &value, number, self.scratch)?
            }
        };
        let target = &mut targets[target];
        if let Some(slot) = target.columns.slot(col) {
            target.values.set(slot, is_value.then_some(&self.scratch[..]));
            target.note_assigned(slot);
        }
        Ok(())
    }
}

/// Puts the bytes that a column holds so far into `out`, and says whether it is not NULL: apart, for such
/// assignments are rare.
#[cold]
#[inline(never)]
fn keep<'v>(new: &NewValues<'_>, col: u16, old: impl Fn(u16) -> Option<&'v [u8]>, out: &mut Vec<u8>) -> bool {
    let bytes = new.assigned_slot(col).map_or_else(|| old(col), |slot| new.values.get(0, slot));
    out.extend_from_slice(bytes.unwrap_or_default());
    bytes.is_some()
}

/// Calls `f` with a row as wide as the table that has the assigned columns filled in.
pub(crate) fn with_full_row<R>(
    columns: &AssignedColumns,
    values: &RowBuffer,
    row: usize,
    f: impl FnOnce(&[Option<&[u8]>]) -> R,
) -> R {
    let mut full = vec![None; columns.table.def.columns.len()];
    for (slot, &col) in columns.cols.iter().enumerate() {
        full[usize::from(col)] = values.get(row, slot);
    }
    f(&full)
}
