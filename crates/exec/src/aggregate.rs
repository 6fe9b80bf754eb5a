//! Grouping and aggregate functions.

use std::rc::Rc;

use base::memory::{ALLOCATION_OVERHEAD_BYTES, ByteStore, Charge, ChargedVec, Purpose, StatementAccount};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use expr::{Accumulator, AccumulatorSpec, EvalCtx, EvalError, Expr, HashIndex, eval};
use sql::plan::AggSpec;
use types::key::append_group;
use types::{OwnedValue, Value};

use crate::aggregate_ints::IntState;
use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::join_ints::IntRuns;
use crate::op::AggregateOp;
use crate::query_run::QueryRun;
use crate::source::{Flow, RowBatch, Sink, Source, TakeInts, pause_with};
use crate::temp_row::{RowWriter, TempRow};

/// A running aggregation.
pub(crate) struct Aggregate<'r> {
    pub(crate) op: &'r AggregateOp,
    pub(crate) input: Box<dyn Source + 'r>,
    pub(crate) run: &'r QueryRun<'r>,
}

impl Source for Aggregate<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let (op, run) = (self.op, self.run);
        let mut groups = Groups { op, run, parent, arena: Bump::new(), row: run.st.row_store(), sink };
        if let Some(ints) = &op.ints {
            let mut whole = IntSink { states: ints.iter().map(|spec| IntState::new(*spec)).collect(), run };
            self.input.run(parent, &mut whole)?;
            return groups.emit_ints(&whole.states);
        }
        if op.groups.is_empty() {
            let mut whole = WholeSink { group: Group::new(op, Box::default(), run.st.memory)?, groups };
            self.input.run(parent, &mut whole)?;
            let WholeSink { mut group, mut groups } = whole;
            return groups.emit(&mut group);
        }
        if op.sorted {
            let mut sorted = SortedSink { key: Vec::new(), last: Vec::new(), current: None, groups };
            if self.input.run(parent, &mut sorted)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            let SortedSink { current, mut groups, .. } = sorted;
            return current.map_or(Ok(Flow::More), |mut group| groups.emit(&mut group));
        }
        let states = ChargedVec::new(run.st.memory, Purpose::Other);
        let index = HashIndex::new(run.st.memory);
        let mut hashed = HashedSink { key: Vec::new(), index, states, groups };
        self.input.run(parent, &mut hashed)?;
        let HashedSink { mut states, groups: rest, .. } = hashed;
        groups = rest;
        for group in states.iter_mut() {
            run.st.step()?;
            if groups.emit(group)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            if groups.sink.wants_pause() {
                groups.sink.pause()?;
            }
        }
        Ok(Flow::More)
    }
}

/// One group's values and states.
#[derive(Debug)]
struct Group {
    values: Box<[OwnedValue]>,
    states: Box<[Accumulator]>,
    #[expect(dead_code, reason = "released when the group drops")]
    charge: Charge,
}

impl Group {
    fn new(op: &AggregateOp, values: Box<[OwnedValue]>, account: &Rc<StatementAccount>) -> Result<Self> {
        let charge = Charge::new(account, Purpose::Other);
        let heap_bytes = |value: &OwnedValue| value.as_value().heap_bytes() + ALLOCATION_OVERHEAD_BYTES;
        let values_bytes = size_of_val(&*values) + values.iter().map(heap_bytes).sum::<usize>();
        charge
            .add(values_bytes + op.aggs.len() * size_of::<Accumulator>() + 2 * ALLOCATION_OVERHEAD_BYTES)?;
        let state = |agg: &AggSpec| {
            let order: Vec<_> = agg.order.iter().map(|key| (&key.expr, key.desc)).collect();
            Accumulator::new(
                &AccumulatorSpec {
                    func: agg.func,
                    args: &agg.args,
                    distinct: agg.distinct,
                    order: &order,
                    separator: &agg.separator,
                    ty: &agg.ty,
                },
                account,
            )
        };
        let states: Box<[Accumulator]> = op.aggs.iter().map(state).collect();
        charge.add(states.iter().map(Accumulator::heap_bytes).sum())?;
        Ok(Group { values, states, charge })
    }
}

/// What all ways of grouping share.
struct Groups<'x> {
    op: &'x AggregateOp,
    run: &'x QueryRun<'x>,
    parent: Option<&'x Frame<'x>>,
    arena: Bump,
    row: ByteStore,
    sink: &'x mut dyn Sink,
}

impl Groups<'_> {
    /// The row's group key.
    fn key(&mut self, frame: &Frame<'_>, key: &mut Vec<u8>) -> Result<()> {
        self.arena.reset();
        key.clear();
        let ctx = self.run.ctx(&self.arena);
        for expr in &self.op.groups {
            let value = eval(expr, frame, &ctx).map_err(|error| self.run.st.eval_error(error))?;
            append_group(&value, key);
        }
        self.run.st.check()
    }

    /// The group that the row opens.
    fn open(&mut self, frame: &Frame<'_>) -> Result<Group> {
        self.arena.reset();
        let ctx = self.run.ctx(&self.arena);
        let value = |expr| eval(expr, frame, &ctx).map(|value: Value<'_>| value.to_owned_value());
        let values: std::result::Result<Box<[_]>, _> = self.op.groups.iter().map(value).collect();
        Group::new(self.op, values.map_err(|error| self.run.st.eval_error(error))?, self.run.st.memory)
    }

    /// Takes the row into its group.
    fn update(&mut self, group: &mut Group, frame: &Frame<'_>) -> Result<()> {
        self.arena.reset();
        let ctx = self.run.ctx(&self.arena);
        let st = self.run.st;
        for (agg, state) in self.op.aggs.iter().zip(&mut group.states) {
            let args = values(agg.args.iter(), frame, &ctx).map_err(|error| st.eval_error(error))?;
            let order = agg.order.iter().map(|key| &key.expr);
            let order = values(order, frame, &ctx).map_err(|error| st.eval_error(error))?;
            state.update(&args, &order, &ctx).map_err(|error| st.eval_error(error))?;
        }
        st.check()
    }

    /// Hands a finished group on.
    fn emit(&mut self, group: &mut Group) -> Result<Flow> {
        self.arena.reset();
        let st = self.run.st;
        self.row.clear();
        let mut writer = RowWriter::new(&mut self.row, self.op.layout.cells.len());
        group.values.iter().for_each(|value| writer.put_value(&value.as_value()));
        let ctx = self.run.ctx(&self.arena);
        for state in &mut group.states {
            let result = state.result(&ctx).map_err(|error| st.eval_error(error))?;
            writer.put_value(&result.as_value());
        }
        self.push_groups()
    }

    fn emit_ints(&mut self, states: &[IntState]) -> Result<Flow> {
        self.row.clear();
        let mut writer = RowWriter::new(&mut self.row, self.op.layout.cells.len());
        for (state, agg) in states.iter().zip(&self.op.aggs) {
            writer.put_value(&state.result(&agg.ty));
        }
        self.push_groups()
    }

    fn push_groups(&mut self) -> Result<Flow> {
        let place = self.row.end()?;
        let bytes = self.row.get(place);
        let row = TempRow { layout: &self.op.layout, bytes, zone: self.run.st.zone };
        self.sink.row(&Frame { parent: self.parent, row: CurrentRow::Temp(row) })
    }
}

/// All rows are one group, and the aggregates simple ones of integers.
struct IntSink<'x> {
    states: Vec<IntState>,
    run: &'x QueryRun<'x>,
}

impl Sink for IntSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        for state in &mut self.states {
            state.row(frame);
        }
        self.run.st.check()?;
        Ok(Flow::More)
    }

    fn batch(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        for state in &mut self.states {
            state.batch(batch);
        }
        Ok(Flow::More)
    }

    fn as_ints(&mut self) -> Option<&mut dyn TakeInts> {
        Some(self)
    }
}

impl TakeInts for IntSink<'_> {
    fn wanted(&self, rel: u16) -> Vec<u16> {
        let mut wanted = Vec::new();
        for (of, col) in self.states.iter().filter_map(IntState::column_read) {
            if of == rel && !wanted.contains(&col) {
                wanted.push(col);
            }
        }
        wanted
    }

    fn take(&mut self, batch: &RowBatch<'_>, runs: &IntRuns) {
        for state in &mut self.states {
            state.runs(batch, runs);
        }
    }
}

/// The values of `exprs`, in the context's arena.
fn values<'v>(
    exprs: impl ExactSizeIterator<Item = &'v Expr>,
    frame: &'v Frame<'v>,
    ctx: &'v EvalCtx<'v>,
) -> std::result::Result<BumpVec<'v, Value<'v>>, EvalError> {
    let mut values = BumpVec::with_capacity_in(exprs.len(), ctx.arena);
    for expr in exprs {
        values.push(eval(expr, frame, ctx)?);
    }
    Ok(values)
}

/// All rows are one group.
struct WholeSink<'x> {
    group: Group,
    groups: Groups<'x>,
}

impl Sink for WholeSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        self.groups.update(&mut self.group, frame)?;
        Ok(Flow::More)
    }
}

/// Groups follow each other.
struct SortedSink<'x> {
    key: Vec<u8>,
    last: Vec<u8>,
    current: Option<Group>,
    groups: Groups<'x>,
}

impl Sink for SortedSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        self.groups.key(frame, &mut self.key)?;
        if self.current.is_none() || self.key != self.last {
            if let Some(mut done) = self.current.take()
                && self.groups.emit(&mut done)? == Flow::Enough
            {
                return Ok(Flow::Enough);
            }
            self.current = Some(self.groups.open(frame)?);
            std::mem::swap(&mut self.key, &mut self.last);
        }
        match &mut self.current {
            Some(group) => self.groups.update(group, frame)?,
            None => debug_assert!(false, "a group is open"),
        }
        Ok(Flow::More)
    }

    pause_with!(groups.sink);
}

/// Groups are found by their key.
struct HashedSink<'x> {
    key: Vec<u8>,
    index: HashIndex,
    states: ChargedVec<Group>,
    groups: Groups<'x>,
}

impl Sink for HashedSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let Groups { op, run, arena, .. } = &mut self.groups;
        let st = run.st;
        arena.reset();
        let ctx = run.ctx(arena);
        // Computed once: the values shown are those that distinguish groups, whatever RAND() says next.
        let group = values(op.groups.iter(), frame, &ctx).map_err(|error| st.eval_error(error))?;
        st.check()?;
        self.key.clear();
        for value in &group {
            append_group(value, &mut self.key);
        }
        let (number, is_new) = self.index.insert(&self.key)?;
        if is_new {
            // A key that was cut short is almost always a new one.
            st.fail_if_cut_short(&self.key)?;
            let values = group.iter().map(Value::to_owned_value).collect();
            self.states.push(Group::new(op, values, st.memory)?)?;
        }
        drop(group);
        self.groups.update(&mut self.states[number], frame)?;
        Ok(Flow::More)
    }
}
