//! Groups that come one after the other.
//!
//! A leaf's rows come together. Where the keys of its index begin with what is grouped by, they say which
//! neighbours are one group, and the values of a group are read once.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use expr::EvalCtx;
use types::Value;
use types::key::append_group;

use crate::aggregate::{Group, Groups, values};
use crate::aggregate_ints::IntState;
use crate::error::Result;
use crate::frame::Frame;
use crate::key_runs::KeyRuns;
use crate::op::AggregateOp;
use crate::query_run::QueryRun;
use crate::source::{Flow, RowBatch, Sink, pause_with};

/// Gathers one group at a time.
pub(crate) struct SortedSink<'x> {
    groups: Groups<'x>,
    arena: Bump,
    /// Group key of the row in flight.
    key: Vec<u8>,
    /// That of the open group.
    last: Vec<u8>,
    open: OpenGroup,
}

/// The states of the group whose rows come.
enum OpenGroup {
    /// There is none yet.
    None,
    /// All are simple ones of integers.
    Ints(Vec<IntState>),
    Any(Group),
}

impl<'x> SortedSink<'x> {
    pub(crate) fn new(groups: Groups<'x>) -> Self {
        SortedSink { groups, arena: Bump::new(), key: Vec::new(), last: Vec::new(), open: OpenGroup::None }
    }

    /// Hands on the last group.
    pub(crate) fn finish(mut self) -> Result<Flow> {
        self.arena.reset();
        let ctx = self.groups.run.ctx(&self.arena);
        self.open.close(&mut self.groups, &ctx)
    }

    /// Opens the row's group if it is not the open one.
    fn turn(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        self.arena.reset();
        let Groups { op, run, .. } = self.groups;
        let ctx = run.ctx(&self.arena);
        let values = group_of(op, run, frame, &ctx)?;
        self.key.clear();
        values.iter().for_each(|value| append_group(value, &mut self.key));
        if !matches!(self.open, OpenGroup::None) && self.key == self.last {
            return Ok(Flow::More);
        }
        std::mem::swap(&mut self.key, &mut self.last);
        self.open.replace(&values, &mut self.groups, &ctx)
    }

    /// Opens the row's group, which is another than the open one. Its key is not noted.
    fn turn_by_key(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        self.arena.reset();
        let Groups { op, run, .. } = self.groups;
        let ctx = run.ctx(&self.arena);
        let values = group_of(op, run, frame, &ctx)?;
        self.open.replace(&values, &mut self.groups, &ctx)
    }

    /// Notes the key of the open group, of which the row is.
    fn note_key(&mut self, frame: &Frame<'_>) -> Result<()> {
        self.arena.reset();
        let Groups { op, run, .. } = self.groups;
        let ctx = run.ctx(&self.arena);
        let values = group_of(op, run, frame, &ctx)?;
        self.last.clear();
        values.iter().for_each(|value| append_group(value, &mut self.last));
        Ok(())
    }

    /// Takes the rows, which are all of the open group.
    fn take(&mut self, rows: &RowBatch<'_>) -> Result<()> {
        match &mut self.open {
            OpenGroup::None => debug_assert!(false, "a group is open"),
            OpenGroup::Ints(states) => states.iter_mut().for_each(|state| state.batch(rows)),
            OpenGroup::Any(group) => {
                for i in 0..rows.rows.len() {
                    self.groups.update(group, &rows.frame(i), &mut self.arena)?;
                }
            }
        }
        self.groups.run.st.check()
    }

    /// Takes a leaf's rows, which `runs` divides.
    fn take_runs(&mut self, batch: &RowBatch<'_>, runs: &KeyRuns) -> Result<Flow> {
        let (mut at, mut is_noted) = (0, true);
        while at < batch.rows.len() {
            let to = runs.end(&batch.rows, at);
            let first = batch.frame(at);
            is_noted = at == 0 || !runs.are_groups();
            let flow = if is_noted { self.turn(&first)? } else { self.turn_by_key(&first)? };
            if flow == Flow::Enough {
                batch.leave(at + 1);
                return Ok(Flow::Enough);
            }
            self.take(&batch.slice(at..to))?;
            at = to;
        }
        if !is_noted {
            self.note_key(&batch.frame(batch.rows.len() - 1))?;
        }
        Ok(Flow::More)
    }
}

impl Sink for SortedSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        if self.turn(frame)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
        match &mut self.open {
            OpenGroup::None => debug_assert!(false, "a group is open"),
            OpenGroup::Ints(states) => {
                for state in states {
                    state.row(frame);
                }
                self.groups.run.st.check()?;
            }
            OpenGroup::Any(group) => self.groups.update(group, frame, &mut self.arena)?,
        }
        Ok(Flow::More)
    }

    fn batch(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        if let Some(runs) = KeyRuns::of_columns(self.groups.op.columns.as_ref(), batch) {
            return self.take_runs(batch, &runs);
        }
        for i in 0..batch.rows.len() {
            if self.row(&batch.frame(i))? == Flow::Enough {
                batch.leave(i + 1);
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    pause_with!(groups.sink);
}

impl OpenGroup {
    /// Hands on the open group, if there is one, and opens that of `values`.
    fn replace(&mut self, values: &[Value<'_>], groups: &mut Groups<'_>, ctx: &EvalCtx<'_>) -> Result<Flow> {
        if self.close(groups, ctx)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
        groups.begin(values.iter().copied());
        match (&groups.op.ints, &mut *self) {
            (Some(ints), OpenGroup::Ints(states)) => {
                states.clear();
                states.extend(ints.iter().map(|spec| IntState::new(*spec)));
            }
            (Some(ints), _) => {
                *self = OpenGroup::Ints(ints.iter().map(|spec| IntState::new(*spec)).collect());
            }
            (None, _) => {
                *self = OpenGroup::Any(Group::new(groups.op, groups.run.st.memory)?);
            }
        }
        Ok(Flow::More)
    }

    /// Hands on the open group, if there is one.
    fn close(&mut self, groups: &mut Groups<'_>, ctx: &EvalCtx<'_>) -> Result<Flow> {
        match self {
            OpenGroup::None => Ok(Flow::More),
            OpenGroup::Ints(states) => groups.close_ints(states),
            OpenGroup::Any(group) => groups.close(group, ctx),
        }
    }
}

/// The values that distinguish the row's group.
fn group_of<'v>(
    op: &'v AggregateOp,
    run: &QueryRun<'_>,
    frame: &'v Frame<'v>,
    ctx: &'v EvalCtx<'v>,
) -> Result<BumpVec<'v, Value<'v>>> {
    let values = values(op.groups.iter(), frame, ctx).map_err(|error| run.st.eval_error(error))?;
    run.st.check()?;
    Ok(values)
}
