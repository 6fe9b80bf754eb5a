//! INSERT and REPLACE.

use std::sync::Arc;

use base::memory::{Charge, Purpose};
use bumpalo::Bump;
use engine::{Engine, Table};
use expr::{EvalCtx, Expr, ExprKind};
use sql::bind::bits_for;
use sql::plan::{InsertCell, InsertMode, InsertPlan, InsertSource};
use sql::{LiteralRows, RowCell};
use types::Value;

use crate::auto_numbers::RowOrigin;
use crate::build::RowBuild;
use crate::column_store::needs_value;
use crate::context::{ExecCtx, Outcome, Summary};
use crate::error::{ExecError, Result};
use crate::frame::Frame;
use crate::op_compiler::{NodeContext, Tables, open_table};
use crate::plain_insert::PlainInsert;
use crate::query::QueryProgram;
use crate::query_run::QueryRun;
use crate::source::{Collect, Flow};
use crate::statement::Statement;
use crate::strict::StrictSession;
use crate::write_rows::{DuplicateRule, RowsWriter, Written};

/// A compiled INSERT.
#[derive(Debug)]
pub(crate) struct InsertProgram {
    table: Arc<Table>,
    /// Columns that the statement gives no value, and those among them that are settled once all others have
    /// theirs: they need one, or their default is an expression.
    left_out: Box<[u16]>,
    wanting: Box<[u16]>,
    /// A cell names a column of its row, which may not have its value yet.
    reads_row: bool,
    rule: DuplicateRule,
    /// Subqueries of the cells and of ON DUPLICATE KEY UPDATE.
    expressions: QueryProgram,
    source: Option<SelectSource>,
    /// It is rows that may be stored as they are.
    plain: Option<PlainInsert>,
}

/// The query of INSERT ... SELECT.
#[derive(Debug)]
struct SelectSource {
    query: QueryProgram,
    /// It reads the table that the rows go to.
    reads_target: bool,
}

impl InsertProgram {
    pub(crate) fn compile(engine: &Engine, plan: &InsertPlan, tables: &mut Tables) -> Result<Self> {
        let source = match &plan.source {
            InsertSource::Rows(_) => None,
            InsertSource::Query(query) => {
                let context = NodeContext { pages_read: true, ..NodeContext::default() };
                let query = QueryProgram::compile_inner(engine, query, tables, context)?;
                let reads_target = tables.iter().any(|table| table.def.id == plan.table.id);
                Some(SelectSource { query, reads_target })
            }
        };
        let table = open_table(engine, &plan.table, tables)?;
        let subqueries = QueryProgram::compile_subqueries(engine, &plan.subqueries, tables)?;
        let columns = 0..table.def.columns.len() as u16;
        let left_out: Box<[u16]> = columns.filter(|col| !plan.columns.contains(col)).collect();
        let is_wanting = |col: &u16| {
            let column = &table.def.columns[usize::from(*col)];
            needs_value(column) || column.default_expression().is_some()
        };
        Ok(InsertProgram {
            wanting: left_out.iter().copied().filter(is_wanting).collect(),
            left_out,
            reads_row: reads_row(&plan.source),
            rule: DuplicateRule::new(&table, plan.mode, &plan.on_duplicate),
            expressions: QueryProgram::expressions(subqueries, &plan.table),
            source,
            plain: PlainInsert::of_plan(&table, plan),
            table,
        })
    }

    #[inline]
    pub(crate) fn run(&self, plan: &InsertPlan, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        if let Some(plain) = &self.plain
            && let Some(done) = plain.run(plan, ctx)
        {
            return done;
        }
        self.run_rows(plan, None, ctx)
    }

    /// Whether [`InsertProgram::run_texts`] takes these rows.
    pub(crate) fn takes_texts(&self, plan: &InsertPlan, texts: &LiteralRows<'_>) -> bool {
        let is_computed =
            |&col: &u16| self.table.def.columns[usize::from(col)].default_expression().is_some();
        texts.width() == plan.columns.len()
            && self.source.is_none()
            && !(texts.has_defaults() && plan.columns.iter().any(is_computed))
    }

    /// Inserts `texts` in the place of the plan's one row.
    #[cold]
    pub(crate) fn run_texts(
        &self,
        plan: &InsertPlan,
        texts: LiteralRows<'_>,
        ctx: &mut ExecCtx<'_>,
    ) -> Result<Outcome> {
        if !self.takes_texts(plan, &texts) {
            return Err(ExecError::NotSupported("rows for another statement"));
        }
        self.run_rows(plan, Some(texts), ctx)
    }

    /// Builds the rows column by column, and writes them. What [`PlainInsert::run`] does in simple cases.
    #[inline(never)]
    fn run_rows(
        &self,
        plan: &InsertPlan,
        texts: Option<LiteralRows<'_>>,
        ctx: &mut ExecCtx<'_>,
    ) -> Result<Outcome> {
        let ignore = plan.mode == InsertMode::Ignore;
        let session = StrictSession::new(ctx.session, ignore);
        let mut locks = None;
        let st = if self.source.is_none() && self.expressions.subqueries.is_empty() {
            Statement::changing(ctx.engine, &session, ctx.memory, ctx.rows_examined)
        } else {
            Statement::finding(ctx.engine, &session, ctx.trx, ctx.memory, ctx.rows_examined, &mut locks)?
        };
        let run = QueryRun::new(&st, ctx.params, &self.expressions);
        let mut build = RowBuild::new(&self.table, &run, ctx.conditions, ignore);
        build.borrow_memory(ctx.scratch);
        // Others may have to try again after a change.
        let is_whole_trx =
            ctx.autocommit && matches!(self.rule, DuplicateRule::Refuse | DuplicateRule::Ignore);
        let origin = match (&plan.source, &texts) {
            (_, Some(texts)) => RowOrigin::Values(texts.rows()),
            (InsertSource::Rows(rows), None) => RowOrigin::Values(rows.len()),
            (InsertSource::Query(_), None) => RowOrigin::Query,
        };
        let mut writer = RowsWriter::new(&self.rule, &plan.on_duplicate, (&self.table, origin), ctx);
        let written = match (texts, &plan.source, &self.source) {
            (Some(texts), ..) => self.insert_texts(plan, texts, &mut build, &mut writer)?,
            (None, InsertSource::Rows(rows), _) => {
                build.store.refuse_null |= rows.len() == 1 && !ignore;
                if is_whole_trx && rows.len() == 1 {
                    writer.end_with_row();
                }
                self.insert_values(plan, rows, &mut build, &mut writer)?
            }
            (None, InsertSource::Query(_), Some(source)) => {
                self.insert_query(plan, source, &mut build, &mut writer)?
            }
            (None, InsertSource::Query(_), None) => Written::default(),
        };
        let records = build.number;
        build.give_back(ctx.scratch);
        let has_summary = records > 1 || self.source.is_some();
        let updates_of_query = self.source.is_some() && matches!(self.rule, DuplicateRule::Update { .. });
        Ok(Outcome {
            affected: written.affected,
            insert_id: written.insert_id(session.said_insert_id.get(), updates_of_query),
            last_insert_id: written.first_generated,
            summary: if has_summary {
                Summary::Records { records, duplicates: written.duplicates(records, ignore) }
            } else {
                Summary::None
            },
            ..Outcome::default()
        })
    }

    fn insert_values(
        &self,
        plan: &InsertPlan,
        rows: &[Vec<InsertCell>],
        build: &mut RowBuild<'_>,
        writer: &mut RowsWriter<'_, '_>,
    ) -> Result<Written> {
        for cells in rows {
            let built = self.build_values(plan, cells, build);
            writer.take(build, built)?;
        }
        writer.finish(build)
    }

    fn build_values(&self, plan: &InsertPlan, cells: &[InsertCell], build: &mut RowBuild<'_>) -> Result<()> {
        build.begin()?;
        if self.reads_row {
            plan.columns.iter().try_for_each(|&col| build.set_missing(col))?;
        }
        self.left_out.iter().try_for_each(|&col| build.set_missing(col))?;
        for (&col, cell) in plan.columns.iter().zip(cells) {
            match cell {
                InsertCell::Default => build.set_default_cell(col)?,
                InsertCell::Computed => settle(plan, build, col)?,
                InsertCell::Expr(expr) | InsertCell::Kept(expr) => build.set_expr(col, expr)?,
            }
        }
        self.wanting.iter().try_for_each(|&col| settle(plan, build, col))?;
        build.finish();
        Ok(())
    }

    /// As [`InsertProgram::insert_values`], of values that are read one row after the other.
    #[inline(never)]
    fn insert_texts(
        &self,
        plan: &InsertPlan,
        mut texts: LiteralRows<'_>,
        build: &mut RowBuild<'_>,
        writer: &mut RowsWriter<'_, '_>,
    ) -> Result<Written> {
        let charge = Charge::new(build.run.st.memory, Purpose::Other);
        charge.add(texts.row_bytes_max())?;
        let mut arena = Bump::new();
        for _ in 0..texts.rows() {
            arena.reset();
            let mut cells = bumpalo::collections::Vec::with_capacity_in(texts.width(), &arena);
            if !texts.read_row(&arena, &mut cells) {
                return Err(ExecError::NotSupported("a row of something else than literals"));
            }
            let built = self.build_text(plan, &cells, build);
            writer.take(build, built)?;
        }
        writer.finish(build)
    }

    #[inline]
    fn build_text(&self, plan: &InsertPlan, cells: &[RowCell<'_>], build: &mut RowBuild<'_>) -> Result<()> {
        self.build_filled(plan, build, |build| {
            for (&col, cell) in plan.columns.iter().zip(cells) {
                match cell {
                    RowCell::Value(value) => build.set_value(col, value)?,
                    RowCell::Bits(bytes) => {
                        let value = bits_for(bytes, &self.table.def.columns[usize::from(col)].ty);
                        build.set_value(col, &value)?;
                    }
                    RowCell::Default => build.set_default_cell(col)?,
                }
            }
            Ok(())
        })
    }

    /// Builds the row of `values`, which need nothing but to be stored.
    #[inline]
    fn build_row_of(&self, plan: &InsertPlan, values: &[Value<'_>], build: &mut RowBuild<'_>) -> Result<()> {
        self.build_filled(plan, build, |build| {
            let mut pairs = plan.columns.iter().zip(values);
            pairs.try_for_each(|(&col, value)| build.set_value(col, value))
        })
    }

    /// Builds a row; `fill` gives the columns that the statement names their values.
    #[inline(always)]
    fn build_filled<'r>(
        &self,
        plan: &InsertPlan,
        build: &mut RowBuild<'r>,
        fill: impl FnOnce(&mut RowBuild<'r>) -> Result<()>,
    ) -> Result<()> {
        build.begin()?;
        self.left_out.iter().try_for_each(|&col| build.set_missing(col))?;
        fill(build)?;
        self.wanting.iter().try_for_each(|&col| settle(plan, build, col))?;
        build.finish();
        Ok(())
    }

    fn insert_query(
        &self,
        plan: &InsertPlan,
        source: &SelectSource,
        build: &mut RowBuild<'_>,
        writer: &mut RowsWriter<'_, '_>,
    ) -> Result<Written> {
        let (st, params) = (build.run.st, build.run.params);
        let query = QueryRun::new(st, params, &source.query);
        let mut arena = Bump::new();
        let (held_back, charge) = (source.reads_target, Charge::new(st.memory, Purpose::Other));
        let reads_values = source.query.exprs().nth(plan.columns.len()).is_some();
        // A query that reads the target is finished before the first row changes it, and fails before a row
        // that does not fit.
        writer.hold_back(source.reads_target);
        let mut refused = None;
        let found = query.rows(&mut Collect(|frame: &Frame<'_>| {
            arena.reset();
            if held_back {
                let ctx = query.ctx(&arena);
                let values = values_of(source.query.exprs(), frame, &ctx, st)?;
                if refused.is_some() {
                    return Ok(Flow::More);
                }
                build.rows.reserve_row(values.iter().map(Value::text_bytes_max).sum(), &charge)?;
                if let Err(error) = self.build_row_of(plan, &values, build) {
                    build.rows.abandon_row();
                    refused = Some(error);
                    return Ok(Flow::More);
                }
                if reads_values {
                    writer.keep_read(&values[plan.columns.len()..], &charge)?;
                }
                writer.take(build, Ok(()))?;
                return Ok(Flow::More);
            }
            let built = self.build_row(plan, source, &query, frame, &arena, build);
            if reads_values && built.is_ok() {
                let ctx = query.ctx(&arena);
                let read = source.query.exprs().skip(plan.columns.len());
                writer.keep_read(&values_of(read, frame, &ctx, st)?, &charge)?;
            }
            writer.take(build, built)?;
            Ok(Flow::More)
        }));
        if let Err(error) = found {
            return Err(writer.fail_query(build, error));
        }
        if let Some(error) = refused {
            return Err(writer.fail(build, error));
        }
        writer.hold_back(false);
        writer.finish(build)
    }
}

impl InsertProgram {
    /// Builds the row of a query's row: each value is stored before the next one is computed.
    #[inline]
    fn build_row(
        &self,
        plan: &InsertPlan,
        source: &SelectSource,
        query: &QueryRun<'_>,
        frame: &Frame<'_>,
        arena: &Bump,
        build: &mut RowBuild<'_>,
    ) -> Result<()> {
        let (st, ctx) = (query.st, query.ctx(arena));
        self.build_filled(plan, build, |build| {
            for (&col, expr) in plan.columns.iter().zip(source.query.exprs()) {
                let value = expr.eval(frame, &ctx).map_err(|error| st.eval_error(error))?;
                st.check()?;
                build.set_value(col, &value)?;
            }
            Ok(())
        })
    }
}

/// The values of `exprs` for the row of `frame`.
fn values_of<'v>(
    exprs: impl Iterator<Item = &'v Expr>,
    frame: &'v Frame<'_>,
    ctx: &'v EvalCtx<'v>,
    st: &Statement<'_>,
) -> Result<bumpalo::collections::Vec<'v, Value<'v>>> {
    let mut values = bumpalo::collections::Vec::new_in(ctx.arena);
    for expr in exprs {
        values.push(expr.eval(frame, ctx).map_err(|error| st.eval_error(error))?);
    }
    st.check()?;
    Ok(values)
}

/// Gives a column the value of its default, which is an expression, or complains that it has none.
#[cold]
#[inline(never)]
fn settle(plan: &InsertPlan, build: &mut RowBuild<'_>, col: u16) -> Result<()> {
    match plan.defaults.binary_search_by_key(&col, |(col, _)| *col) {
        Ok(at) => build.compute(col, &plan.defaults[at].1),
        Err(_) => build.complain_of(col),
    }
}

/// Whether one of the VALUES names a column.
fn reads_row(source: &InsertSource) -> bool {
    let InsertSource::Rows(rows) = source else { return false };
    let mut found = false;
    for cell in rows.iter().flatten() {
        match cell {
            InsertCell::Expr(expr) => {
                expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Column(_)));
            }
            InsertCell::Computed => found = true,
            InsertCell::Default | InsertCell::Kept(_) => {}
        }
    }
    found
}
