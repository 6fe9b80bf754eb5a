//! DELETE: the rows are found first, then deleted.

use std::sync::Arc;

use base::memory::{ByteStore, ChargedVec, Place, Purpose};
use engine::{Engine, Table};
use expr::HashIndex;
use sql::plan::{DeletePlan, Relation};

use crate::changed_row::append_key;
use crate::context::{ExecCtx, Outcome};
use crate::error::{ExecError, Result};
use crate::frame::Frame;
use crate::op_compiler::{ChangedRows, Tables, open_table};
use crate::point::PointKey;
use crate::query::QueryProgram;
use crate::query_run::QueryRun;
use crate::source::{Collect, Flow};
use crate::statement::Statement;
use crate::strict::StrictSession;

/// Rows between two checks of the kill flag.
const KILL_CHECK_ROWS: usize = 32;

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

/// The keys of one target's rows.
struct Keys {
    bytes: ByteStore,
    places: ChargedVec<Place>,
    seen: HashIndex,
}

impl Keys {
    fn new(st: &Statement<'_>) -> Self {
        Keys {
            bytes: ByteStore::new(st.memory, Purpose::Other),
            places: ChargedVec::new(st.memory, Purpose::Other),
            seen: HashIndex::new(st.memory),
        }
    }
}

impl DeleteProgram {
    pub(crate) fn compile(engine: &Engine, plan: &DeletePlan, tables: &mut Tables) -> Result<Self> {
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
        let mut locks = None;
        let st = if self.point.is_some() {
            Statement::changing(ctx.engine, &session, ctx.memory, ctx.rows_examined)
        } else {
            Statement::finding(ctx.engine, &session, ctx.trx, ctx.memory, ctx.rows_examined, &mut locks)?
        };
        let run = QueryRun::new(&st, ctx.params, &self.query);
        if let (Some(point), [(_, table)]) = (&self.point, &self.targets[..]) {
            let key = &mut ctx.scratch.key;
            let is_there = point.make(&run, &ctx.scratch.arena, key)?;
            if ctx.autocommit {
                ctx.trx.commit_with_change();
            }
            let deleted = is_there && table.delete(ctx.engine, ctx.trx, key)?;
            st.count_examined(usize::from(deleted));
            return Ok(Outcome { affected: u64::from(deleted), ..Outcome::default() });
        }
        let found = self.find(&run)?;
        let mut deleted = 0;
        for ((_, table), keys) in self.targets.iter().zip(&found) {
            for (i, &place) in keys.places.iter().enumerate() {
                if i % KILL_CHECK_ROWS == KILL_CHECK_ROWS - 1 {
                    st.fail_if_killed()?;
                }
                deleted += u64::from(table.delete(ctx.engine, ctx.trx, keys.bytes.get(place))?);
            }
        }
        Ok(Outcome { affected: deleted, ..Outcome::default() })
    }

    fn find(&self, run: &QueryRun<'_>) -> Result<Vec<Keys>> {
        let mut found: Vec<Keys> = self.targets.iter().map(|_| Keys::new(run.st)).collect();
        let mut key = Vec::new();
        run.rows(&mut Collect(|frame: &Frame<'_>| {
            for ((rel, _), keys) in self.targets.iter().zip(&mut found) {
                key.clear();
                if !append_key(frame, *rel, &mut key) || (self.repeats && !keys.seen.insert(&key)?.1) {
                    continue;
                }
                keys.bytes.begin();
                keys.bytes.extend_from_slice(&key);
                keys.places.push(keys.bytes.end()?)?;
            }
            Ok(Flow::More)
        }))?;
        Ok(found)
    }
}
