//! INSERT and REPLACE.

use std::sync::Arc;

use bumpalo::Bump;
use engine::{Engine, Table};
use expr::{Expr, RowSource, eval};
use sql::plan::{InsertCell, InsertMode, InsertPlan, InsertSource};
use types::{ColumnDef, ColumnDefault, SqlModes, StoreContext, Value, storage};

use crate::context::{Conditions, ExecCtx, Level, Outcome, Summary};
use crate::error::{ExecError, Result};
use crate::op::open_table;
use crate::query::QueryProgram;
use crate::row_build::{Report, RowBuffer, push_implicit_default, store_value};
use crate::statement::{QueryRun, Statement};

/// Rows are written when so many are built, or so many bytes.
const BATCH_ROWS: usize = 256;
const BATCH_BYTES: usize = 256 * 1024;

/// A compiled INSERT.
#[derive(Debug)]
pub(crate) struct InsertProgram {
    pub(crate) table: Arc<Table>,
    /// Columns that the statement gives no value.
    left_out: Box<[u16]>,
    auto_increment: Option<u16>,
    /// Subqueries of the cells.
    expressions: QueryProgram,
}

impl InsertProgram {
    pub(crate) fn compile(engine: &Engine, plan: &InsertPlan, tables: &mut Vec<Arc<Table>>) -> Result<Self> {
        let table = open_table(engine, &plan.table, tables)?;
        if matches!(plan.source, InsertSource::Query(_)) {
            return Err(ExecError::NotSupported("INSERT ... SELECT"));
        }
        if plan.mode != InsertMode::Insert || !plan.on_duplicate.is_empty() {
            return Err(ExecError::NotSupported("INSERT with a choice about duplicates"));
        }
        let columns = 0..table.def.columns.len() as u16;
        Ok(InsertProgram {
            left_out: columns.filter(|col| !plan.columns.contains(col)).collect(),
            auto_increment: table.def.auto_increment_column().map(|col| col as u16),
            expressions: QueryProgram::expressions(Vec::new()),
            table,
        })
    }

    pub(crate) fn run(&self, plan: &InsertPlan, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        let InsertSource::Rows(rows) = &plan.source else {
            return Err(ExecError::NotSupported("INSERT ... SELECT"));
        };
        let st = Statement::new(ctx.engine, engine::ReadView::newest(), ctx.session);
        let run = QueryRun::new(&st, ctx.params, &self.expressions);
        let mut build = RowBuild::new(&self.table, &run, ctx.conditions);
        let mut insert = Insertion::default();
        for cells in rows {
            let built = self.build_row(plan, cells, &mut build);
            if built.is_err() {
                // An error of a row before this one comes first.
                build.rows.abandon_row();
                insert.write(&self.table, ctx, &mut build)?;
            }
            built?;
            if build.rows.len() >= BATCH_ROWS || build.rows.byte_len() >= BATCH_BYTES {
                insert.write(&self.table, ctx, &mut build)?;
            }
        }
        insert.write(&self.table, ctx, &mut build)?;
        let records = rows.len() as u64;
        let summary = if records > 1 { Summary::Records { records, duplicates: 0 } } else { Summary::None };
        Ok(Outcome {
            affected: insert.inserted,
            insert_id: build.first_generated.unwrap_or(build.last_given),
            last_insert_id: build.first_generated,
            summary,
            ..Outcome::default()
        })
    }

    fn build_row(&self, plan: &InsertPlan, cells: &[InsertCell], build: &mut RowBuild<'_>) -> Result<()> {
        build.begin()?;
        for &col in &self.left_out {
            if self.auto_increment != Some(col) {
                build.set_default(col)?;
            }
        }
        for (&col, cell) in plan.columns.iter().zip(cells) {
            match cell {
                InsertCell::Default if self.auto_increment == Some(col) => {}
                InsertCell::Default => build.set_default(col)?,
                InsertCell::Expr(expr) => build.set_expr(col, expr)?,
            }
        }
        if let Some(col) = self.auto_increment {
            build.finish_auto_increment(col)?;
        }
        Ok(())
    }
}

/// What has been written.
#[derive(Debug, Default)]
struct Insertion {
    inserted: u64,
}

impl Insertion {
    /// Writes the rows built and empties the buffer.
    fn write(&mut self, table: &Table, ctx: &mut ExecCtx<'_>, build: &mut RowBuild<'_>) -> Result<()> {
        let rows = &build.rows;
        match rows.len() {
            0 => return Ok(()),
            1 => {
                rows.with_row(0, |row| table.insert(ctx.engine, ctx.trx, row))?;
                self.inserted += 1;
            }
            count => {
                let all = rows.all();
                let each: Vec<_> = all.chunks_exact(all.len() / count).collect();
                let done = table.insert_batch(ctx.engine, ctx.trx, &each).map_err(|(_, error)| error)?;
                self.inserted += done as u64;
            }
        }
        build.rows.clear();
        if build.last_given != 0 {
            table.advance_auto_increment(ctx.engine, build.last_given)?;
        }
        Ok(())
    }
}

/// Builds rows of one table, column by column.
pub(crate) struct RowBuild<'r> {
    pub(crate) table: &'r Table,
    run: &'r QueryRun<'r>,
    store: StoreContext<'r>,
    conditions: &'r dyn Conditions,
    pub(crate) rows: RowBuffer,
    arena: Bump,
    scratch: Vec<u8>,
    /// 1-based number of the row under construction.
    number: u64,
    zero_is_value: bool,
    /// First AUTO_INCREMENT number that the statement took.
    pub(crate) first_generated: Option<u64>,
    /// Greatest AUTO_INCREMENT number that the statement gave by itself.
    pub(crate) last_given: u64,
}

/// The row under construction, for expressions that name its columns.
struct Unfinished<'x> {
    table: &'x Table,
    rows: &'x RowBuffer,
    st: &'x Statement<'x>,
}

impl RowSource for Unfinished<'_> {
    fn column(&self, _rel: u16, col: u16) -> Value<'_> {
        let col = usize::from(col);
        match self.rows.get(self.rows.len() - 1, col) {
            Some(bytes) => storage::read(&self.table.def.columns[col].ty, bytes, self.st.zone),
            None => Value::Null,
        }
    }
}

impl<'r> RowBuild<'r> {
    pub(crate) fn new(table: &'r Table, run: &'r QueryRun<'r>, conditions: &'r dyn Conditions) -> Self {
        RowBuild {
            table,
            run,
            store: run.st.store_context(),
            conditions,
            rows: RowBuffer::new(table.def.columns.len()),
            arena: Bump::new(),
            scratch: Vec::new(),
            number: 0,
            zero_is_value: run.st.session.modes().has(SqlModes::NO_AUTO_VALUE_ON_ZERO),
            first_generated: None,
            last_given: 0,
        }
    }

    /// Begins the next row.
    pub(crate) fn begin(&mut self) -> Result<()> {
        self.number += 1;
        self.rows.begin_row();
        if self.number.is_multiple_of(BATCH_ROWS as u64) { self.run.st.check_killed() } else { Ok(()) }
    }

    fn column(&self, col: u16) -> &'r ColumnDef {
        &self.table.def.columns[usize::from(col)]
    }

    /// The column gets its default.
    pub(crate) fn set_default(&mut self, col: u16) -> Result<()> {
        let column = self.column(col);
        let position = usize::from(col);
        match &column.default {
            ColumnDefault::Constant(bytes) => self.rows.set(position, Some(bytes)),
            ColumnDefault::Now => {
                let value = now(self.run.st, column.ty.decimals);
                self.set_value(col, &value)?;
            }
            ColumnDefault::None if !column.nullable => self.set_implicit_default(col)?,
            ColumnDefault::Null | ColumnDefault::None => self.rows.set(position, None),
        }
        Ok(())
    }

    /// A NOT NULL column without a default.
    fn set_implicit_default(&mut self, col: u16) -> Result<()> {
        let column = self.column(col);
        if column.ty.kind != types::TypeKind::Enum {
            let error = ExecError::NoDefault { column: column.name.clone() };
            if self.store.strict {
                return Err(error);
            }
            self.conditions.warn(Level::Warning, &error);
        }
        self.rows.set_with(usize::from(col), |out| push_implicit_default(&column.ty, out));
        Ok(())
    }

    /// The column gets the value of `expr`, which may name columns of the row.
    pub(crate) fn set_expr(&mut self, col: u16, expr: &Expr) -> Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let stored = self.eval_into(col, expr, &mut scratch);
        if let Ok(is_value) = stored {
            self.rows.set(usize::from(col), is_value.then_some(&scratch[..]));
        }
        self.scratch = scratch;
        stored.map(|_| ())
    }

    /// Appends the storage bytes of `expr` for the column; false for NULL.
    fn eval_into(&mut self, col: u16, expr: &Expr, out: &mut Vec<u8>) -> Result<bool> {
        self.arena.reset();
        let st = self.run.st;
        let row = Unfinished { table: self.table, rows: &self.rows, st };
        let ctx = self.run.ctx(&self.arena);
        let value = eval(expr, &row, &ctx).map_err(|error| st.eval_error(error))?;
        if value.is_null() {
            return self.accept_null(col, out);
        }
        let column = self.column(col);
        let report = Report { column: &column.name, row: self.number, conditions: self.conditions };
        store_value(&column.ty, &value, &self.store, &report, out)?;
        Ok(true)
    }

    /// The column gets `value`.
    pub(crate) fn set_value(&mut self, col: u16, value: &Value<'_>) -> Result<()> {
        let column = self.column(col);
        if value.is_null() {
            let mut bytes = Vec::new();
            let is_value = self.accept_null(col, &mut bytes)?;
            self.rows.set(usize::from(col), is_value.then_some(&bytes[..]));
            return Ok(());
        }
        let report = Report { column: &column.name, row: self.number, conditions: self.conditions };
        let store = &self.store;
        self.rows.set_with(usize::from(col), |out| store_value(&column.ty, value, store, &report, out))
    }

    /// NULL for the column; true if it became another value.
    fn accept_null(&self, col: u16, out: &mut Vec<u8>) -> Result<bool> {
        let column = self.column(col);
        if column.nullable || column.auto_increment {
            return Ok(false);
        }
        let error = ExecError::ColumnNull { column: column.name.clone() };
        if self.store.strict {
            return Err(error);
        }
        self.conditions.warn(Level::Warning, &error);
        push_implicit_default(&column.ty, out);
        Ok(true)
    }

    /// Gives the AUTO_INCREMENT column of the row a number if it has none.
    pub(crate) fn finish_auto_increment(&mut self, col: u16) -> Result<()> {
        let row = self.rows.len() - 1;
        let column = self.column(col);
        let given = self
            .rows
            .get(row, usize::from(col))
            .map(|bytes| storage::read(&column.ty, bytes, self.run.st.zone));
        match given {
            Some(value) if value.to_bool() == Some(true) || self.zero_is_value => {
                let number = value.to_i64().value;
                if number > 0 || value.is_unsigned_integer() {
                    self.last_given = self.last_given.max(value.to_u64().value);
                }
                Ok(())
            }
            _ => {
                let number = self.table.reserve_auto_increment(self.run.st.engine, 1, 1)?;
                self.first_generated.get_or_insert(number);
                self.set_value(col, &Value::UInt(number))
            }
        }
    }
}

/// CURRENT_TIMESTAMP with `fsp` digits.
pub(crate) fn now(st: &Statement<'_>, fsp: u8) -> Value<'static> {
    let micros = st.session.statement_time_micros();
    let seconds = micros.div_euclid(1_000_000);
    let local = st.zone.to_local(seconds, micros.rem_euclid(1_000_000) as u32);
    Value::DateTime(local.truncate(fsp), fsp)
}
