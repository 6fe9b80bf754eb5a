//! UPDATE: the rows are found and their new values made first, then written, so that no row is met again.

use base::memory::{ByteStore, Charge, ChargedVec, Place, Purpose};
use bumpalo::Bump;
use engine::{Effect, Engine, Error, UpdateOutcome};
use expr::HashIndex;
use sql::plan::{InsertCell, UpdatePlan};
use types::KeyPart;
use wire::Capabilities;

use crate::assign::{AssignedColumns, Assigner, NewValues, with_full_row};
use crate::changed_row::{append_key, is_missing, old_bytes};
use crate::column_store::ColumnStore;
use crate::conditions::Level;
use crate::context::{ExecCtx, Outcome, Summary};
use crate::error::{ExecError, Result};
use crate::frame::Frame;
use crate::op::Op;
use crate::op_compiler::{ChangedRows, Tables, needs_no_latch, open_table};
use crate::point_update::{PointUpdate, Updated};
use crate::query::QueryProgram;
use crate::query_run::QueryRun;
use crate::row_build::RowBuffer;
use crate::source::{Collect, Flow};
use crate::statement::Statement;
use crate::strict::StrictSession;

/// Rows between two checks of the kill flag.
const KILL_CHECK_ROWS: usize = 32;

/// A compiled UPDATE.
#[derive(Debug)]
pub(crate) struct UpdateProgram {
    query: QueryProgram,
    targets: Vec<AssignedColumns>,
    /// A join may show a row more than once.
    repeats: bool,
    /// Messages number the rows that are read, not those that are found.
    numbers_read: bool,
    /// The one row to update is known by its key.
    point: Option<PointUpdate>,
}

/// A row to be written: its target, its key, its row in the target's values.
#[derive(Debug)]
struct Change {
    target: usize,
    key: Place,
    row: usize,
}

/// What the scan found.
struct Found {
    /// Rows of the query.
    rows: u64,
    /// Rows of targets.
    matched: u64,
    changes: ChargedVec<Change>,
    /// Warnings of the statement before the first row.
    warned_before: u64,
    /// Where rows were warned of: how many changes were found before such a row, and the statement's warnings
    /// after it.
    warned: ChargedVec<(usize, u64)>,
    /// Warnings of the statement so far.
    warnings: u64,
    /// The last row's values were refused.
    is_refused: bool,
    keys: ByteStore,
    /// The current row's key.
    key: Vec<u8>,
    /// New values, by target.
    values: Vec<RowBuffer>,
    /// Of `values`.
    charge: Charge,
    /// Keys met so far, by target.
    seen: Vec<HashIndex>,
}

impl Found {
    /// Notes that a row, or one skipped before it, raised warnings: `warnings` in all by now. `changes` rows
    /// to change were found before.
    #[cold]
    fn note_warnings(&mut self, changes: usize, warnings: u64) -> Result<()> {
        self.warnings = warnings;
        match self.warned.last_mut() {
            Some((before, last)) if *before == changes => *last = warnings,
            _ => self.warned.push((changes, warnings))?,
        }
        Ok(())
    }

    /// The statement's warnings up to the row of change `at`.
    #[cold]
    fn warnings_up_to(&self, at: usize) -> u64 {
        let end = self.warned.partition_point(|&(changes, _)| changes <= at);
        self.warned[..end].last().map_or(self.warned_before, |&(_, warnings)| warnings)
    }
}

impl UpdateProgram {
    pub(crate) fn compile(engine: &Engine, plan: &UpdatePlan, tables: &mut Tables) -> Result<Self> {
        let change = ChangedRows { rels: plan.targets.clone(), whole: true };
        let reads = |cell: &InsertCell| matches!(cell, InsertCell::Expr(expr) if needs_no_latch(expr));
        let pages_read = plan.sets.iter().any(|(_, _, cell)| reads(cell));
        let query = QueryProgram::compile_change(engine, &plan.query, tables, &change, pages_read)?;
        let mut targets = Vec::with_capacity(plan.targets.len());
        for &rel in &plan.targets {
            let Some(sql::plan::Relation::Table { def, .. }) = plan.query.relations.get(usize::from(rel))
            else {
                return Err(ExecError::NotSupported("UPDATE of something else than a table"));
            };
            let table = open_table(engine, def, tables)?;
            let assigned = plan.sets.iter().filter(|(of, ..)| *of == rel).map(|&(_, col, _)| col);
            targets.push(AssignedColumns::new(rel, table, assigned));
        }
        let point = PointUpdate::of_plan(plan, &query).filter(|_| query.subqueries.is_empty());
        let repeats = plan.query.relations.len() > 1;
        let numbers_read =
            !repeats && query.subqueries.is_empty() && changes_as_it_reads(&query.root, &targets);
        Ok(UpdateProgram { query, targets, repeats, numbers_read, point })
    }

    pub(crate) fn run(&self, plan: &UpdatePlan, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        let session = StrictSession::new(ctx.session, plan.ignore);
        let mut locks = None;
        let st = if self.point.is_some() {
            Statement::changing(ctx.engine, &session, ctx.memory, ctx.rows_examined)
        } else if self.repeats {
            Statement::finding(ctx.engine, &session, ctx.trx, ctx.memory, ctx.rows_examined, &mut locks)?
        } else {
            Statement::finding_committed(
                ctx.engine,
                &session,
                ctx.trx,
                ctx.memory,
                ctx.rows_examined,
                &mut locks,
            )?
        };
        let run = QueryRun::new(&st, ctx.params, &self.query);
        let store = ColumnStore::new(&st, ctx.conditions, plan.ignore);
        let Updated { matched, changed } = if let (Some(point), [target]) = (&self.point, &self.targets[..]) {
            let updated = point.run(plan, target, &run, &store, ctx)?;
            st.count_examined(updated.matched as usize);
            updated
        } else {
            let mut found = self.nothing_found(&run, &store);
            if let Err(error) = self.find(plan, &run, &store, &mut found) {
                return Err(self.refuse(error, plan, &found, ctx, &st));
            }
            Updated { matched: found.matched, changed: self.write(plan, &found, ctx, &st)? }
        };
        let count_found = ctx.client.capabilities.has(Capabilities::FOUND_ROWS);
        Ok(Outcome {
            affected: if count_found { matched } else { changed },
            insert_id: session.said_insert_id.get().unwrap_or(0),
            summary: Summary::Matched { matched, changed },
            ..Outcome::default()
        })
    }

    /// The error that the statement fails with when finding the rows came to `error`: that of writing a row
    /// before comes first.
    #[cold]
    fn refuse(
        &self,
        error: ExecError,
        plan: &UpdatePlan,
        found: &Found,
        ctx: &mut ExecCtx<'_>,
        st: &Statement<'_>,
    ) -> ExecError {
        let is_of_value = found.is_refused && !matches!(error, ExecError::Killed | ExecError::Memory(_));
        if self.repeats || !is_of_value || error.effect() != Effect::Statement {
            return error;
        }
        self.write(plan, found, ctx, st).err().unwrap_or(error)
    }

    /// What is known before rows are searched for.
    #[inline(always)]
    fn nothing_found(&self, run: &QueryRun<'_>, store: &ColumnStore<'_>) -> Found {
        let memory = run.st.memory;
        let warnings = store.conditions.count();
        Found {
            rows: 0,
            matched: 0,
            changes: ChargedVec::new(memory, Purpose::Other),
            warned_before: warnings,
            warned: ChargedVec::new(memory, Purpose::Other),
            warnings,
            is_refused: false,
            keys: ByteStore::new(memory, Purpose::Other),
            key: Vec::new(),
            charge: Charge::new(memory, Purpose::Other),
            values: self.targets.iter().map(|target| RowBuffer::new(target.cols.len())).collect(),
            seen: self.targets.iter().map(|_| HashIndex::new(memory)).collect(),
        }
    }

    /// Adds the rows to `found`, which has those up to an error.
    fn find(
        &self,
        plan: &UpdatePlan,
        run: &QueryRun<'_>,
        store: &ColumnStore<'_>,
        found: &mut Found,
    ) -> Result<()> {
        let mut new: Vec<_> = self.targets.iter().map(NewValues::new).collect();
        let (mut arena, mut cell) = (Bump::new(), Vec::new());
        let mut assigner = Assigner { run, store, arena: &mut arena, scratch: &mut cell };
        let examined_before = run.st.examined();
        run.rows(&mut Collect(|frame: &Frame<'_>| {
            let changes = found.changes.len();
            found.rows += 1;
            let number = if self.numbers_read { run.st.examined() - examined_before } else { found.rows };
            let made = self.make(plan, (frame, number), &mut new, &mut assigner, found);
            found.is_refused = made.is_err();
            made?;
            if store.conditions.count() != found.warnings {
                found.note_warnings(changes, store.conditions.count())?;
            }
            Ok(Flow::More)
        }))?;
        Ok(())
    }

    /// Makes the new values of one row; `number`: the row's in messages.
    #[inline]
    fn make(
        &self,
        plan: &UpdatePlan,
        (frame, number): (&Frame<'_>, u64),
        new: &mut [NewValues<'_>],
        assigner: &mut Assigner<'_>,
        found: &mut Found,
    ) -> Result<()> {
        new.iter_mut().for_each(NewValues::begin);
        for (rel, col, cell) in &plan.sets {
            if self.repeats && is_missing(frame, *rel) {
                continue;
            }
            if let Some(target) = self.targets.iter().position(|target| target.rel == *rel) {
                let old = |col| old_bytes(frame, *rel, col);
                assigner.assign(new, target, *col, cell, (frame, old), number)?;
            }
        }
        for (target, new) in new.iter_mut().enumerate() {
            self.collect(target, new, (frame, number), assigner.store, found)?;
        }
        assigner.run.st.check()
    }

    /// Notes the change of one target's row.
    fn collect(
        &self,
        target: usize,
        new: &mut NewValues<'_>,
        (frame, number): (&Frame<'_>, u64),
        store: &ColumnStore<'_>,
        found: &mut Found,
    ) -> Result<()> {
        let rel = self.targets[target].rel;
        found.key.clear();
        if !append_key(frame, rel, &mut found.key)
            || (self.repeats && !found.seen[target].insert(&found.key)?.1)
        {
            return Ok(());
        }
        found.matched += 1;
        if !new.finish(|col| old_bytes(frame, rel, col), store, number)? {
            return Ok(());
        }
        found.keys.begin();
        found.keys.extend_from_slice(&found.key);
        let key = found.keys.end()?;
        let values = &mut found.values[target];
        values.reserve_row(new.values.byte_len(), &found.charge)?;
        values.begin_row();
        (0..self.targets[target].cols.len()).for_each(|slot| values.set(slot, new.values.get(0, slot)));
        let row = values.len() - 1;
        Ok(found.changes.push(Change { target, key, row })?)
    }

    /// Writes the changes; how many rows have new values.
    fn write(
        &self,
        plan: &UpdatePlan,
        found: &Found,
        ctx: &mut ExecCtx<'_>,
        st: &Statement<'_>,
    ) -> Result<u64> {
        let (mut changed, mut ignored) = (0, 0);
        for (i, change) in found.changes.iter().enumerate() {
            if i % KILL_CHECK_ROWS == KILL_CHECK_ROWS - 1 {
                st.fail_if_killed()?;
            }
            let target = &self.targets[change.target];
            let key = found.keys.get(change.key);
            let outcome = with_full_row(target, &found.values[change.target], change.row, |row| {
                target.table.update(ctx.engine, ctx.trx, key, row, &target.changed)
            });
            match outcome {
                Ok(UpdateOutcome::Updated) => {
                    changed += 1;
                    let number = target.auto_increment(&found.values[change.target], change.row, st.zone);
                    if number > 0 {
                        target.table.advance_auto_increment(ctx.engine, number)?;
                    }
                }
                Ok(UpdateOutcome::Unchanged | UpdateOutcome::Missing) => {}
                Err(error @ Error::DuplicateKey(_)) if plan.ignore => {
                    let place = if self.repeats { u64::MAX } else { found.warnings_up_to(i) + ignored };
                    ctx.conditions.warn_at(place, Level::Warning, &ExecError::Engine(error));
                    ignored += 1;
                }
                Err(error) => {
                    if !plan.ignore {
                        ctx.conditions.forget_after(found.warnings_up_to(i));
                    }
                    return Err(error.into());
                }
            }
        }
        Ok(changed)
    }
}

/// Whether MySQL changes each row before it reads the next one. It does not where rows are sorted, or found
/// by a key that changes.
fn changes_as_it_reads(root: &Op, targets: &[AssignedColumns]) -> bool {
    match root {
        Op::Limit { input, .. } | Op::Filter { input, .. } => changes_as_it_reads(input, targets),
        Op::Access(access) => {
            let changes = |part: &KeyPart| targets.iter().any(|target| target.cols.contains(&part.column));
            let def = &access.table.def;
            !def.clustered().parts.iter().chain(def.key_parts(access.index)).any(changes)
        }
        _ => false,
    }
}
