//! UPDATE: the rows are found and their new values made first, then written, so that no row is met again.

use std::sync::Arc;

use base::memory::{ByteStore, Charge, ChargedVec, Place, Purpose};
use bumpalo::Bump;
use engine::{Engine, Error, Table, UpdateOutcome};
use expr::HashIndex;
use sql::plan::{InsertCell, UpdatePlan};
use wire::Capabilities;

use crate::assign::{AssignedColumns, Assigner, NewValues, with_full_row};
use crate::changed_row::{append_key, old_bytes};
use crate::column_store::ColumnStore;
use crate::context::{Conditions, ExecCtx, Level, Outcome, Summary};
use crate::error::{ExecError, Result};
use crate::frame::Frame;
use crate::op::{ChangedRows, needs_no_latch, open_table};
use crate::point_update::{PointUpdate, Updated};
use crate::query::QueryProgram;
use crate::row_build::RowBuffer;
use crate::source::{Collect, Flow};
use crate::statement::{QueryRun, Statement};
use crate::strict::StrictSession;

/// Rows between two looks at the kill flag.
const KILL_CHECK_ROWS: usize = 32;

/// A compiled UPDATE.
#[derive(Debug)]
pub(crate) struct UpdateProgram {
    query: QueryProgram,
    targets: Vec<AssignedColumns>,
    /// A join may show a row more than once.
    repeats: bool,
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
    matched: u64,
    changes: ChargedVec<Change>,
    /// Warnings of the statement when so many changes were found.
    warned: Vec<(usize, u64)>,
    warnings: u64,
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
    /// The row found last was warned of: so many warnings are there now.
    #[cold]
    fn note_warnings(&mut self, warnings: u64) {
        match self.warned.last_mut() {
            Some((changes, last)) if *changes == self.changes.len() => *last = warnings,
            Some(_) => self.warned.push((self.changes.len(), warnings)),
            None => self.warned.extend([(0, self.warnings), (self.changes.len(), warnings)]),
        }
        self.warnings = warnings;
    }

    /// Takes back what was said of rows behind change `at`, with which the statement fails.
    #[cold]
    fn forget_behind(&self, at: usize, conditions: &dyn Conditions) {
        let said = self.warned.iter().rev().find(|(changes, _)| *changes <= at + 1);
        if let Some(&(_, warnings)) = said {
            conditions.forget_after(warnings);
        }
    }
}

impl UpdateProgram {
    pub(crate) fn compile(engine: &Engine, plan: &UpdatePlan, tables: &mut Vec<Arc<Table>>) -> Result<Self> {
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
        Ok(UpdateProgram { query, targets, repeats: plan.query.relations.len() > 1, point })
    }

    pub(crate) fn run(&self, plan: &UpdatePlan, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        let session = StrictSession::new(ctx.session, plan.ignore);
        let st = if self.point.is_some() {
            Statement::changing(ctx.engine, &session, ctx.memory, ctx.rows_examined)
        } else if self.repeats {
            Statement::finding(ctx.engine, &session, ctx.trx, ctx.memory, ctx.rows_examined)?
        } else {
            Statement::finding_committed(ctx.engine, &session, ctx.trx, ctx.memory, ctx.rows_examined)?
        };
        let run = QueryRun::new(&st, ctx.params, &self.query);
        let store = ColumnStore::new(&st, ctx.conditions, plan.ignore);
        let Updated { matched, changed } = if let (Some(point), [target]) = (&self.point, &self.targets[..]) {
            let updated = point.run(plan, target, &run, &store, ctx)?;
            st.count_examined(updated.matched as usize);
            updated
        } else {
            let found = self.find(plan, &run, &store)?;
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

    fn find(&self, plan: &UpdatePlan, run: &QueryRun<'_>, store: &ColumnStore<'_>) -> Result<Found> {
        let memory = run.st.memory;
        let mut found = Found {
            matched: 0,
            changes: ChargedVec::new(memory, Purpose::Other),
            warned: Vec::new(),
            warnings: store.conditions.count(),
            keys: ByteStore::new(memory, Purpose::Other),
            key: Vec::new(),
            charge: Charge::new(memory, Purpose::Other),
            values: self.targets.iter().map(|target| RowBuffer::new(target.cols.len())).collect(),
            seen: self.targets.iter().map(|_| HashIndex::new(memory)).collect(),
        };
        let mut new: Vec<_> = self.targets.iter().map(NewValues::new).collect();
        let (mut arena, mut cell) = (Bump::new(), Vec::new());
        let mut assigner = Assigner { run, store, arena: &mut arena, scratch: &mut cell };
        run.rows(&mut Collect(|frame: &Frame<'_>| {
            new.iter_mut().for_each(NewValues::begin);
            let number = found.matched + 1;
            for (rel, col, cell) in &plan.sets {
                if let Some(target) = self.targets.iter().position(|target| target.rel == *rel) {
                    assigner.assign(&mut new, target, *col, cell, frame, number)?;
                }
            }
            for (target, new) in new.iter_mut().enumerate() {
                self.collect(target, new, frame, store, &mut found)?;
            }
            run.st.check()?;
            if store.conditions.count() != found.warnings {
                found.note_warnings(store.conditions.count());
            }
            Ok(Flow::More)
        }))?;
        Ok(found)
    }

    /// Notes the change of one target's row.
    fn collect(
        &self,
        target: usize,
        new: &mut NewValues<'_>,
        frame: &Frame<'_>,
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
        if !new.finish(|col| old_bytes(frame, rel, col), store, found.matched)? {
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
        let mut changed = 0;
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
                    ctx.conditions.warn(Level::Warning, &ExecError::Engine(error));
                }
                Err(error) => {
                    if !plan.ignore {
                        found.forget_behind(i, ctx.conditions);
                    }
                    return Err(error.into());
                }
            }
        }
        Ok(changed)
    }
}
