//! DELETE: the rows are found first, then deleted.

use std::sync::Arc;

use engine::{Engine, Table};
use sql::plan::{DeletePlan, Relation};

use crate::changed_row::append_key;
use crate::context::{ExecCtx, Outcome};
use crate::error::{ExecError, Result};
use crate::frame::Frame;
use crate::hash_index::HashIndex;
use crate::op::{ChangedRows, open_table};
use crate::point::PointKey;
use crate::query::QueryProgram;
use crate::source::{Collect, Flow};
use crate::statement::{QueryRun, Statement};
use crate::strict::StrictSession;

/// Rows between two looks at the kill flag.
const KILL_CHECK_ROWS: usize = 256;

/// A compiled DELETE.
#[derive(Debug)]
pub(crate) struct DeleteProgram {
    query: QueryProgram,
    targets: Vec<(u16, Arc<Table>)>,
    /// A join may show a row more than once.
    repeats: bool,
    /// The one row to delete is known by its key.
    point: Option<PointKey>,
}

/// The keys of one target's rows, one after the other.
#[derive(Debug, Default)]
struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    seen: HashIndex,
}

impl DeleteProgram {
    pub(crate) fn compile(engine: &Engine, plan: &DeletePlan, tables: &mut Vec<Arc<Table>>) -> Result<Self> {
        let change = ChangedRows { rels: plan.targets.clone(), whole: false };
        let query = QueryProgram::compile_change(engine, &plan.query, tables, &change, false)?;
        let mut targets = Vec::with_capacity(plan.targets.len());
        for &rel in &plan.targets {
            let Some(Relation::Table { def, .. }) = plan.query.relations.get(usize::from(rel)) else {
                return Err(ExecError::NotSupported("DELETE from something else than a table"));
            };
            targets.push((rel, open_table(engine, def, tables)?));
        }
        let point = PointKey::of_query(&query).filter(|_| targets.len() == 1 && query.subqueries.is_empty());
        Ok(DeleteProgram { query, targets, repeats: plan.query.relations.len() > 1, point })
    }

    pub(crate) fn run(&self, plan: &DeletePlan, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        let session = StrictSession::new(ctx.session, plan.ignore);
        let st = if self.point.is_some() {
            Statement::changing(ctx.engine, &session)
        } else {
            Statement::finding(ctx.engine, &session, ctx.trx)?
        };
        let run = QueryRun::new(&st, ctx.params, &self.query);
        if let (Some(point), [(_, table)]) = (&self.point, &self.targets[..]) {
            let key = &mut ctx.scratch.key;
            let is_there = point.make(&run, &ctx.scratch.arena, key)?;
            if ctx.autocommit {
                ctx.trx.end_with_change();
            }
            let deleted = is_there && table.delete(ctx.engine, ctx.trx, key)?;
            return Ok(Outcome { affected: u64::from(deleted), ..Outcome::default() });
        }
        let found = self.find(&run)?;
        let mut deleted = 0;
        for ((_, table), keys) in self.targets.iter().zip(&found) {
            let mut start = 0;
            for (i, &end) in keys.ends.iter().enumerate() {
                if i % KILL_CHECK_ROWS == KILL_CHECK_ROWS - 1 {
                    st.fail_if_killed()?;
                }
                deleted += u64::from(table.delete(ctx.engine, ctx.trx, &keys.bytes[start..end])?);
                start = end;
            }
        }
        Ok(Outcome { affected: deleted, ..Outcome::default() })
    }

    fn find(&self, run: &QueryRun<'_>) -> Result<Vec<Keys>> {
        let mut found: Vec<Keys> = self.targets.iter().map(|_| Keys::default()).collect();
        run.rows(&mut Collect(|frame: &Frame<'_>| {
            for ((rel, _), keys) in self.targets.iter().zip(&mut found) {
                let start = keys.bytes.len();
                if !append_key(frame, *rel, &mut keys.bytes) {
                    continue;
                }
                if self.repeats && !keys.seen.insert(&keys.bytes[start..]).1 {
                    keys.bytes.truncate(start);
                    continue;
                }
                keys.ends.push(keys.bytes.len());
                run.st.hold_memory(keys.bytes.len() - start + 8)?;
            }
            Ok(Flow::More)
        }))?;
        Ok(found)
    }
}
