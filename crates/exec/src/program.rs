//! Compiled statements and how they run.

use std::sync::Arc;

use bumpalo::Bump;
use engine::{Effect, Engine, Error, Isolation, LeafHint, LockMode, ReadView, Table, TableUse, WaitPolicy};
use smallvec::SmallVec;
use sql::LiteralRows;
use sql::plan::{Plan, QueryPlan, Relation};
use types::{TableDef, Value};

use crate::columns::ColumnPackets;
use crate::constant::ConstantRow;
use crate::context::{Client, ExecCtx, Outcome, Scratch};
use crate::delete::DeleteProgram;
use crate::error::{ExecError, Result};
use crate::frame::Frame;
use crate::insert::InsertProgram;
use crate::leaf_scan::{LeafScan, ScanClient};
use crate::load::LoadProgram;
use crate::op_compiler::Tables;
use crate::point::{PointGet, PointLock};
use crate::project::RowSender;
use crate::query::QueryProgram;
use crate::query_run::QueryRun;
use crate::row_target::RowTarget;
use crate::source::{Collect, Flow};
use crate::statement::{Locks, RowUse, Statement};
use crate::update::UpdateProgram;

/// A compiled statement; immutable, shared by the sessions that run it.
#[derive(Debug)]
pub struct Program {
    plan: Arc<Plan>,
    /// Tables that it opens, then those that its names were resolved to beside.
    tables: Tables,
    /// What each table that it opens is used for.
    uses: SmallVec<[TableUse; 8]>,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Query(Box<SelectProgram>),
    Insert(Box<InsertProgram>),
    Update(Box<UpdateProgram>),
    Delete(Box<DeleteProgram>),
    Load(Box<LoadProgram>),
}

/// A query that answers the client.
#[derive(Debug)]
struct SelectProgram {
    query: QueryProgram,
    columns: ColumnPackets,
    point: Option<PointGet>,
    locking_point: Option<PointLock>,
    scan: Option<LeafScan>,
    constant: Option<ConstantRow>,
    /// Else neither a view nor locks are taken.
    reads_tables: bool,
    /// Some of its tables are about to be locked by a clause.
    has_clauses: bool,
    clauses: Clauses,
}

/// The locking clauses of a query and of those inside it. A clause is about the tables of its own query
/// alone.
#[derive(Clone, Debug, Default)]
struct Clauses {
    /// What rows of tables are read for under them, each use once.
    uses: SmallVec<[RowUse; 1]>,
    /// There are tables that no clause is about.
    reads_beside: bool,
}

impl Clauses {
    fn of(plan: &QueryPlan) -> Self {
        let mut clauses = Clauses::default();
        plan.for_each_query(&mut |query| {
            for (rel, relation) in (0..).zip(query.relations.iter()) {
                if matches!(relation, Relation::Table { .. }) {
                    clauses.add(RowUse::under(query.locks.of_rel(rel)));
                }
            }
        });
        clauses
    }

    fn add(&mut self, row_use: RowUse) {
        if row_use == RowUse::Read {
            self.reads_beside = true;
        } else if !self.uses.contains(&row_use) {
            self.uses.push(row_use);
        }
    }

    fn any(&self) -> bool {
        !self.uses.is_empty()
    }
}

/// Compiles `plan`: resolves its tables, record formats and output columns.
///
/// # Errors
/// [`engine::Error::TableChanged`] if a table is not what the plan was made for; missing tables; what is not
/// supported.
pub fn compile(plan: Arc<Plan>, engine: &Engine) -> Result<Program> {
    let mut tables = Tables::new();
    let body = match &*plan {
        Plan::Query(query) => Body::Query(SelectProgram::compile(engine, query, &mut tables)?),
        Plan::Insert(insert) => Body::Insert(Box::new(InsertProgram::compile(engine, insert, &mut tables)?)),
        Plan::Update(update) => Body::Update(Box::new(UpdateProgram::compile(engine, update, &mut tables)?)),
        Plan::Delete(delete) => Body::Delete(Box::new(DeleteProgram::compile(engine, delete, &mut tables)?)),
        Plan::Load(load) => Body::Load(Box::new(LoadProgram::compile(engine, load, &mut tables)?)),
    };
    let uses = uses_and_names(&plan, &mut tables, engine)?;
    Ok(Program { plan, tables, uses, body })
}

/// What `plan` does with each of the tables that it has `opened`, to which the others are added that it
/// names.
fn uses_and_names(plan: &Plan, opened: &mut Tables, engine: &Engine) -> Result<SmallVec<[TableUse; 8]>> {
    let mut uses: SmallVec<[TableUse; 8]> = opened.iter().map(|_| TableUse::Read).collect();
    let mut failed = None;
    plan.for_each_table(&mut |used| {
        if let Some(at) = opened.iter().position(|table| is_same(&table.def, used.def)) {
            if let Some(kind) = uses.get_mut(at).filter(|_| used.writes) {
                *kind = TableUse::Write;
            }
            return;
        }
        match engine.table(&used.def.schema, &used.def.name) {
            Ok(table) if is_same(&table.def, used.def) => opened.push(table),
            Ok(_) => failed = failed.take().or(Some(Error::TableChanged)),
            Err(error) => failed = failed.take().or(Some(error)),
        }
    });
    failed.map_or(Ok(uses), |error| Err(error.into()))
}

/// Whether the definitions are equal. Those of one catalog version are one.
fn is_same(a: &TableDef, b: &TableDef) -> bool {
    std::ptr::eq(a, b) || a == b
}

impl Program {
    /// Whether its names still resolve to the tables that it was made for, which have not grown much since
    /// catalog version `made_at`, under which it was planned.
    pub fn serves(&self, made_at: u64) -> bool {
        self.tables.iter().all(|table| table.serves_plans_of(made_at))
    }
}

impl SelectProgram {
    fn compile(engine: &Engine, plan: &QueryPlan, tables: &mut Tables) -> Result<Box<Self>> {
        let query = QueryProgram::compile(engine, plan, tables)?;
        let clauses = Clauses::of(plan);
        let (point, locking_point, constant) = match &clauses {
            Clauses { uses, .. } if uses.is_empty() => {
                (PointGet::of_query(&query), None, ConstantRow::of_query(&query))
            }
            Clauses { reads_beside: true, .. } => (None, None, None),
            Clauses { uses, .. } => (None, PointLock::of_query(&query, uses), None),
        };
        let (columns, scan) = (ColumnPackets::new(&plan.output, tables), LeafScan::of_query(&query));
        let reads_tables = !tables.is_empty();
        let has_clauses = reads_tables && clauses.any();
        Ok(Box::new(SelectProgram {
            query,
            columns,
            point,
            locking_point,
            scan,
            constant,
            reads_tables,
            has_clauses,
            clauses,
        }))
    }
}

impl Program {
    /// Makes the next run behave like a second run.
    #[cfg(test)]
    pub(crate) fn note_run(&self) {
        if let Body::Query(program) = &self.body
            && let Some(plain) = &program.query.plain
        {
            plain.note_run();
        }
    }

    /// The plan that was compiled.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The tables that it uses.
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// Whether running the program answers with rows.
    pub fn is_query(&self) -> bool {
        matches!(self.body, Body::Query(_))
    }

    /// Whether it is a query of constants, which [`Program::write_constants`] answers for most clients.
    pub fn is_constant(&self) -> bool {
        matches!(&self.body, Body::Query(program) if program.constant.is_some())
    }

    /// Answers a query of constants, which needs neither session nor transaction: its column definitions and
    /// its one row, as [`Program::run`] would. False, with nothing written: run the program.
    #[inline]
    pub fn write_constants(&self, client: &mut Client<'_>) -> bool {
        let (Body::Query(program), Plan::Query(plan)) = (&self.body, &*self.plan) else { return false };
        let Some(row) = program.constant.as_ref().filter(|_| ConstantRow::serves(client)) else {
            return false;
        };
        program.columns.write(&plan.output, client);
        row.write(client);
        true
    }

    /// Runs the statement. A query sends column definitions and rows; the caller ends them, or sends the OK
    /// packet of other statements, from the [`Outcome`].
    ///
    /// The program takes the metadata locks of its tables. On an error of [`Effect::Statement`] its changes
    /// have been undone; wider effects are the caller's to carry out. Part of a result set may have been sent
    /// already.
    /// # Errors
    /// [`engine::Error::TableChanged`]: plan the statement again, nothing has happened.
    pub fn run(&self, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        if let (Body::Query(program), Plan::Query(plan)) = (&self.body, &*self.plan)
            && let Some(point) = &program.point
            && !is_serializable(ctx)
        {
            return program.run_point(point, plan, &self.tables, ctx);
        }
        lock_tables(self.tables.iter().zip(self.uses.iter().copied()), ctx)?;
        ctx.scratch.arena.reset();
        let outcome = self.run_body(ctx);
        ctx.trx.end_statement();
        outcome
    }

    /// Runs a query whose rows `take` gets in place of the client, until that says that it has enough
    /// (false).
    ///
    /// # Errors
    /// As [`Program::run`].
    #[cold]
    pub fn run_rows(&self, ctx: &mut ExecCtx<'_>, take: &mut dyn FnMut(&[Value<'_>]) -> bool) -> Result<()> {
        let (Body::Query(program), Plan::Query(plan)) = (&self.body, &*self.plan) else {
            return Err(ExecError::NotSupported("rows of something else than a query"));
        };
        lock_tables(self.tables.iter().zip(self.uses.iter().copied()), ctx)?;
        ctx.scratch.arena.reset();
        let outcome = program.run_rows(plan, ctx, take);
        ctx.trx.end_statement();
        outcome
    }

    /// Whether [`Program::run_literal_rows`] takes these rows.
    pub fn takes_literal_rows(&self, rows: &LiteralRows<'_>) -> bool {
        match (&self.body, &*self.plan) {
            (Body::Insert(program), Plan::Insert(plan)) => program.takes_texts(plan, rows),
            _ => false,
        }
    }

    /// Runs an INSERT of one row of literals with `rows` in its place.
    ///
    /// # Errors
    /// As [`Program::run`].
    #[cold]
    pub fn run_literal_rows(&self, rows: LiteralRows<'_>, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        let (Body::Insert(program), Plan::Insert(plan)) = (&self.body, &*self.plan) else {
            return Err(ExecError::NotSupported("rows of something else than an INSERT"));
        };
        lock_tables(self.tables.iter().zip(self.uses.iter().copied()), ctx)?;
        ctx.scratch.arena.reset();
        let outcome = changing(ctx, |ctx| program.run_texts(plan, rows, ctx));
        ctx.trx.end_statement();
        outcome
    }

    #[inline(never)]
    fn run_body(&self, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        match (&self.body, &*self.plan) {
            (Body::Query(program), Plan::Query(plan)) => program.run(plan, ctx),
            (Body::Insert(program), Plan::Insert(plan)) => changing(ctx, |ctx| program.run(plan, ctx)),
            (Body::Update(program), Plan::Update(plan)) => changing(ctx, |ctx| program.run(plan, ctx)),
            (Body::Delete(program), Plan::Delete(plan)) => changing(ctx, |ctx| program.run(plan, ctx)),
            (Body::Load(program), Plan::Load(plan)) => changing(ctx, |ctx| program.run(plan, ctx)),
            _ => Err(ExecError::NotSupported("a program for another kind of statement")),
        }
    }
}

/// Runs a statement that changes rows; what it did is undone if it fails.
fn changing(ctx: &mut ExecCtx<'_>, run: impl FnOnce(&mut ExecCtx<'_>) -> Result<Outcome>) -> Result<Outcome> {
    ctx.trx.begin_write()?;
    let mark = ctx.trx.mark();
    let outcome = run(ctx);
    if let Err(error) = &outcome
        && error.effect() == Effect::Statement
    {
        ctx.session.rolling_back(true);
        let undone = ctx.engine.rollback_statement(ctx.trx, mark);
        ctx.session.rolling_back(false);
        undone?;
    }
    outcome
}

impl SelectProgram {
    fn run(&self, plan: &QueryPlan, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        let locks_all = self.reads_tables && is_serializable(ctx);
        if locks_all || self.has_clauses {
            return self.run_locking(locks_all, plan, ctx);
        }
        let view = if self.reads_tables { ctx.trx.view() } else { ReadView::newest() };
        let st = Statement::new(ctx.engine, view, ctx.session, ctx.memory, ctx.rows_examined);
        let run = QueryRun::new(&st, ctx.params, &self.query);
        self.columns.write(&plan.output, &mut ctx.client);
        if let Some(scan) = self.scan {
            let Client { protocol, charset, .. } = ctx.client;
            let target = RowTarget { protocol, charset, out: &mut *ctx.client.out };
            let client = ScanClient { target, flush: &mut *ctx.client.flush };
            if let Some(rows) = scan.run(&run, client, ctx.scratch)? {
                return Ok(Outcome {
                    has_rows: true,
                    rows_sent: rows,
                    found_rows: rows,
                    ..Outcome::default()
                });
            }
        }
        send_rows(&run, &mut ctx.client, ctx.scratch)
    }

    /// As [`SelectProgram::run`] for a query that locks rows.
    #[inline(never)]
    fn run_locking(&self, locks_all: bool, plan: &QueryPlan, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        let mut locks = None;
        let st = self.locking_statement(locks_all, plan, ctx, &mut locks)?;
        let run = QueryRun::new(&st, ctx.params, &self.query);
        self.columns.write(&plan.output, &mut ctx.client);
        if let Some(point) = &self.locking_point {
            let Client { protocol, charset, .. } = ctx.client;
            let mut target = RowTarget { protocol, charset, out: &mut *ctx.client.out };
            if point.run(&run, &mut target, ctx.scratch)? {
                return Ok(Outcome { has_rows: true, rows_sent: 1, found_rows: 1, ..Outcome::default() });
            }
        }
        send_rows(&run, &mut ctx.client, ctx.scratch)
    }

    fn run_rows(
        &self,
        plan: &QueryPlan,
        ctx: &mut ExecCtx<'_>,
        take: &mut dyn FnMut(&[Value<'_>]) -> bool,
    ) -> Result<()> {
        let mut locks = None;
        let locks_all = self.reads_tables && is_serializable(ctx);
        let st = self.locking_statement(locks_all, plan, ctx, &mut locks)?;
        let run = QueryRun::new(&st, ctx.params, &self.query);
        let mut arena = Bump::new();
        run.rows(&mut Collect(|frame: &Frame<'_>| {
            arena.reset();
            let ctx = run.ctx(&arena);
            let mut values = Vec::with_capacity(plan.output.len());
            for expr in self.query.exprs() {
                values.push(expr.eval(frame, &ctx).map_err(|error| st.eval_error(error))?);
            }
            st.check()?;
            Ok(if take(&values) { Flow::More } else { Flow::Enough })
        }))?;
        Ok(())
    }

    /// The running query of which what its locking clauses are about is locked, and under SERIALIZABLE all
    /// that it reads.
    #[cold]
    fn locking_statement<'r, 'x: 'r>(
        &self,
        locks_all: bool,
        plan: &QueryPlan,
        ctx: &mut ExecCtx<'x>,
        locks: &'r mut Option<Locks>,
    ) -> Result<Statement<'r>> {
        if self.reads_tables && ctx.trx.is_snapshot() && plan.locks.is_none() {
            // Also where SERIALIZABLE locks what is read.
            ctx.trx.view();
        }
        let Clauses { uses, reads_beside } = &self.clauses;
        let view = if *reads_beside && !locks_all { ctx.trx.view() } else { ReadView::newest() };
        let locks = locks.insert(Locks::default());
        for &row_use in uses {
            match row_use {
                RowUse::Change(policy) => {
                    ctx.trx.begin_write()?;
                    locks.add(row_use, ctx.trx.lock_read(LockMode::Exclusive, policy)?);
                }
                RowUse::Share(policy) => locks.add(row_use, ctx.trx.lock_read(LockMode::Shared, policy)?),
                RowUse::Read => {}
            }
        }
        if locks_all {
            locks.add(RowUse::Read, ctx.trx.lock_read(LockMode::Shared, WaitPolicy::Wait)?);
        }
        let mut st = Statement::new(ctx.engine, view, ctx.session, ctx.memory, ctx.rows_examined);
        st.set_locks(locks);
        Ok(st)
    }

    /// As [`SelectProgram::run`] for a query that is a point read: apart, so that the little code it takes
    /// is together.
    #[inline(never)]
    fn run_point(
        &self,
        point: &PointGet,
        plan: &QueryPlan,
        tables: &[Arc<Table>],
        ctx: &mut ExecCtx<'_>,
    ) -> Result<Outcome> {
        let hint = point.prefetch_leaf(ctx.engine, ctx.params, &mut ctx.scratch.key);
        lock_tables(tables.iter().map(|table| (table, TableUse::Read)), ctx)?;
        ctx.scratch.arena.reset();
        let outcome = self.get_point(point, plan, hint, ctx);
        ctx.trx.end_statement();
        outcome
    }

    #[inline(always)]
    fn get_point(
        &self,
        point: &PointGet,
        plan: &QueryPlan,
        hint: Option<LeafHint<'_>>,
        ctx: &mut ExecCtx<'_>,
    ) -> Result<Outcome> {
        let st = Statement::new(ctx.engine, ctx.trx.view(), ctx.session, ctx.memory, ctx.rows_examined);
        self.columns.write(&plan.output, &mut ctx.client);
        let (protocol, charset) = (ctx.client.protocol, ctx.client.charset);
        let mut target = RowTarget { protocol, charset, out: &mut *ctx.client.out };
        let rows = point.run(&st, ctx.params, &self.query, &mut target, ctx.scratch, hint)?;
        st.count_examined(rows as usize);
        Ok(Outcome { has_rows: true, rows_sent: rows, found_rows: rows, ..Outcome::default() })
    }
}

/// Sends what the operators of a query give.
#[inline(always)]
fn send_rows<'c>(
    run: &'c QueryRun<'c>,
    client: &'c mut Client<'_>,
    scratch: &'c mut Scratch,
) -> Result<Outcome> {
    let target = RowTarget { protocol: client.protocol, charset: client.charset, out: &mut *client.out };
    let mut sender = RowSender::new(run, target, &mut scratch.projection, &mut *client.flush);
    run.rows(&mut sender)?;
    let rows_sent = sender.rows;
    let found_rows = run.found_rows.get().unwrap_or(rows_sent);
    Ok(Outcome { has_rows: true, rows_sent, found_rows, ..Outcome::default() })
}

/// Takes the metadata locks of a program's tables.
#[inline(always)]
fn lock_tables<'t>(
    tables: impl Iterator<Item = (&'t Arc<Table>, TableUse)>,
    ctx: &mut ExecCtx<'_>,
) -> Result<()> {
    for (table, use_) in tables {
        if !ctx.engine.lock_table(ctx.trx, table, use_)? {
            return Err(Error::TableChanged.into());
        }
    }
    Ok(())
}

/// Whether plain reads lock: those of a transaction of several statements.
#[inline]
fn is_serializable(ctx: &ExecCtx<'_>) -> bool {
    ctx.trx.isolation() == Isolation::Serializable && !ctx.autocommit
}
