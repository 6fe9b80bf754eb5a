//! Building the rows of an INSERT, column by column.

use bumpalo::Bump;
use engine::Table;
use expr::{Expr, ExprKind};
use types::{ColumnDef, ColumnDefault, SqlModes, TypeKind, Value};

use crate::column_store::ColumnStore;
use crate::conditions::Conditions;
use crate::context::Scratch;
use crate::error::Result;
use crate::query_run::QueryRun;
use crate::row_build::{RowBuffer, push_zero};
use crate::row_expression::{RowExpressions, UnfinishedRow};

/// Rows between two checks of the kill flag.
const KILL_CHECK_ROWS: u64 = 256;

/// Builds rows of one table.
pub(crate) struct RowBuild<'r> {
    pub(crate) table: &'r Table,
    pub(crate) run: &'r QueryRun<'r>,
    pub(crate) store: ColumnStore<'r>,
    pub(crate) rows: RowBuffer,
    arena: Bump,
    scratch: Vec<u8>,
    /// 1-based number of the row under construction.
    pub(crate) number: u64,
    /// NOT NULL columns for which the file that rows come from has NULL.
    pub(crate) nulls: Vec<u16>,
    auto_increment: Option<u16>,
    zero_is_value: bool,
}

impl<'r> RowBuild<'r> {
    pub(crate) fn new(
        table: &'r Table,
        run: &'r QueryRun<'r>,
        conditions: &'r dyn Conditions,
        ignore: bool,
    ) -> Self {
        RowBuild {
            table,
            run,
            store: ColumnStore::new(run.st, conditions, ignore).making_numbers(),
            rows: RowBuffer::new(table.def.columns.len()),
            arena: Bump::new(),
            scratch: Vec::new(),
            number: 0,
            nulls: Vec::new(),
            auto_increment: table.def.auto_increment_column().map(|col| col as u16),
            zero_is_value: run.st.session.modes().has(SqlModes::NO_AUTO_VALUE_ON_ZERO),
        }
    }

    /// Begins the next row.
    pub(crate) fn begin(&mut self) -> Result<()> {
        self.number += 1;
        self.rows.begin_row();
        if self.number.is_multiple_of(KILL_CHECK_ROWS) { self.run.st.fail_if_killed() } else { Ok(()) }
    }

    /// Builds in the connection's memory, whose contents are lost. [`RowBuild::give_back`] returns it.
    pub(crate) fn borrow_memory(&mut self, scratch: &mut Scratch) {
        self.rows = std::mem::take(&mut scratch.values).reused(self.table.def.columns.len());
        self.arena = std::mem::take(&mut scratch.arena);
        self.scratch = std::mem::take(&mut scratch.cell);
    }

    /// Gives back what [`RowBuild::borrow_memory`] took.
    pub(crate) fn give_back(self, scratch: &mut Scratch) {
        scratch.take_back(self.arena, self.rows, self.scratch);
    }

    fn column(&self, col: u16) -> &'r ColumnDef {
        &self.table.def.columns[usize::from(col)]
    }

    /// The column gets its default.
    pub(crate) fn set_default(&mut self, col: u16) -> Result<()> {
        let (column, row) = (self.column(col), self.number);
        let store = &self.store;
        self.rows.set_maybe(usize::from(col), |out| store.default(column, row, out))
    }

    /// The column gets what DEFAULT means in a list of values: zero where a number is to be made, which zero
    /// asks for if the mode does not make it a value.
    pub(crate) fn set_default_cell(&mut self, col: u16) -> Result<()> {
        if self.zero_is_value && self.auto_increment == Some(col) {
            let ty = &self.column(col).ty;
            return self.rows.set_maybe(usize::from(col), |out| {
                push_zero(ty, out);
                Ok(true)
            });
        }
        self.set_default(col)
    }

    /// The column's field is missing from its line: it is zero, unless NULL is its default.
    pub(crate) fn set_no_field(&mut self, col: u16) -> Result<()> {
        let (column, row) = (self.column(col), self.number);
        let has_null = matches!(
            column.default,
            ColumnDefault::None | ColumnDefault::Null | ColumnDefault::Expression(_)
        );
        let is_null = column.nullable && has_null;
        if column.auto_increment || is_null {
            return self.set_missing(col);
        }
        let (store, is_now) = (&self.store, column.ty.kind == TypeKind::Timestamp && !column.nullable);
        self.rows.set_maybe(usize::from(col), |out| {
            if is_now {
                return store.now(column, row, out);
            }
            push_zero(&column.ty, out);
            Ok(true)
        })
    }

    /// The column has no value yet.
    pub(crate) fn set_missing(&mut self, col: u16) -> Result<()> {
        let (column, row) = (self.column(col), self.number);
        let store = &self.store;
        self.rows.set_maybe(usize::from(col), |out| store.missing(column, row, out))
    }

    /// The column's field is NULL. Where the column is not, that is said of once the row is done.
    pub(crate) fn set_null_field(&mut self, col: u16) -> Result<()> {
        let column = self.column(col);
        if column.nullable || column.auto_increment {
            return self.set_value(col, &Value::Null);
        }
        if column.ty.kind == TypeKind::Timestamp {
            let (store, row) = (&self.store, self.number);
            return self.rows.set_maybe(usize::from(col), |out| store.now(column, row, out));
        }
        self.nulls.push(col);
        self.rows.set_maybe(usize::from(col), |out| {
            push_zero(&column.ty, out);
            Ok(true)
        })
    }

    /// Complains of the fields that were NULL.
    pub(crate) fn complain_of_nulls(&self) -> Result<()> {
        self.nulls.iter().try_for_each(|&col| self.store.complain_of_null(self.column(col), self.number))
    }

    /// SET gives the column a value, whatever its field was.
    pub(crate) fn complain_of_replaced(&self, col: u16) -> Result<()> {
        if self.nulls.contains(&col) { self.store.complain_of_replaced(self.column(col)) } else { Ok(()) }
    }

    /// No value was given to the column, which needs one.
    #[cold]
    pub(crate) fn complain_of(&self, col: u16) -> Result<()> {
        self.store.complain_of(self.column(col))
    }

    /// The column gets `value`.
    #[inline]
    pub(crate) fn set_value(&mut self, col: u16, value: &Value<'_>) -> Result<()> {
        let (column, row) = (self.column(col), self.number);
        let store = &self.store;
        self.rows.set_maybe(usize::from(col), |out| store.value(column, value, row, out))
    }

    /// The column gets the value of `expr`, which may name columns of the row.
    #[inline]
    pub(crate) fn set_expr(&mut self, col: u16, expr: &Expr) -> Result<()> {
        match &expr.kind {
            ExprKind::Param(n) => self.set_value(col, &self.run.params[usize::from(*n)]),
            ExprKind::Const(value) => self.set_value(col, &value.as_value()),
            // A column keeps the value that it has before it gets one.
            ExprKind::Column(column) if column.col == col => Ok(()),
            _ => self.set_computed(col, expr),
        }
    }

    /// The column gets the value of its default, which is an expression over the row.
    pub(crate) fn compute(&mut self, col: u16, expr: &Expr) -> Result<()> {
        let expressions = RowExpressions { def: &self.table.def, run: self.run, store: &self.store };
        expressions.assign((col, expr), &mut self.rows, self.number, &mut self.arena)
    }

    fn set_computed(&mut self, col: u16, expr: &Expr) -> Result<()> {
        self.arena.reset();
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let stored = self.eval_into(col, expr, &mut scratch);
        if let Ok(is_value) = stored {
            self.rows.set(usize::from(col), is_value.then_some(&scratch[..]));
        }
        self.scratch = scratch;
        stored.map(|_| ())
    }

    fn eval_into(&self, col: u16, expr: &Expr, out: &mut Vec<u8>) -> Result<bool> {
        let st = self.run.st;
        let row = UnfinishedRow { def: &self.table.def, rows: &self.rows, zone: st.zone };
        let ctx = self.run.ctx(&self.arena);
        let value = expr.eval(&row, &ctx).map_err(|error| st.eval_error(error))?;
        st.check()?;
        self.store.value(self.column(col), &value, self.number, out)
    }

    /// Ends the row. The AUTO_INCREMENT column is NULL where the row is to get a number when it is written.
    pub(crate) fn finish(&mut self) {
        let Some(col) = self.auto_increment.filter(|_| !self.zero_is_value) else { return };
        let is_zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
        if self.rows.last(usize::from(col)).is_some_and(is_zero) {
            self.rows.set(usize::from(col), None);
        }
    }
}
