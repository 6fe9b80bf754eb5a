//! Grouping and aggregate functions.

use std::rc::Rc;

use base::memory::{ALLOCATION_OVERHEAD_BYTES, ByteStore, Charge, Purpose, StatementAccount};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use expr::{Accumulator, AccumulatorSpec, EvalCtx, EvalError, Expr};
use sql::plan::AggSpec;
use types::Value;

use crate::aggregate_hashed::HashedSink;
use crate::aggregate_ints::{IntAggregate, IntState};
use crate::aggregate_sorted::SortedSink;
use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::join_ints::IntRuns;
use crate::op::AggregateOp;
use crate::query_run::QueryRun;
use crate::source::{Flow, RowBatch, Sink, Source, TakeInts};
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
        let mut groups = Groups { op, run, parent, row: run.st.row_store(), sink };
        if op.groups.is_empty() {
            if let Some(ints) = &op.ints {
                let mut whole = IntSink::new(ints, run);
                self.input.run(parent, &mut whole)?;
                groups.begin([].into_iter());
                return groups.close_ints(&whole.states);
            }
            let group = Group::new(op, run.st.memory)?;
            let mut whole = WholeSink { group, arena: Bump::new(), groups };
            self.input.run(parent, &mut whole)?;
            let WholeSink { mut group, arena, mut groups } = whole;
            groups.begin([].into_iter());
            return groups.close(&mut group, &run.ctx(&arena));
        }
        if op.sorted {
            let mut sorted = SortedSink::new(groups);
            return match self.input.run(parent, &mut sorted)? {
                Flow::Enough => Ok(Flow::Enough),
                Flow::More => sorted.finish(),
            };
        }
        let mut hashed = HashedSink::new(groups);
        self.input.run(parent, &mut hashed)?;
        hashed.finish()
    }
}

/// The states of one group.
#[derive(Debug)]
pub(crate) struct Group {
    states: Box<[Accumulator]>,
    #[expect(dead_code, reason = "released when the group drops")]
    charge: Charge,
}

impl Group {
    pub(crate) fn new(op: &AggregateOp, account: &Rc<StatementAccount>) -> Result<Self> {
        let charge = Charge::new(account, Purpose::Other);
        charge.add(op.aggs.len() * size_of::<Accumulator>() + ALLOCATION_OVERHEAD_BYTES)?;
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
        Ok(Group { states, charge })
    }
}

/// What all ways of grouping share.
pub(crate) struct Groups<'x> {
    pub(crate) op: &'x AggregateOp,
    pub(crate) run: &'x QueryRun<'x>,
    parent: Option<&'x Frame<'x>>,
    /// The group that is handed on next.
    pub(crate) row: ByteStore,
    pub(crate) sink: &'x mut dyn Sink,
}

impl Groups<'_> {
    /// Takes the row into its group.
    pub(crate) fn update(&self, group: &mut Group, frame: &Frame<'_>, arena: &mut Bump) -> Result<()> {
        arena.reset();
        let ctx = self.run.ctx(arena);
        let st = self.run.st;
        for (agg, state) in self.op.aggs.iter().zip(&mut group.states) {
            let args = values(agg.args.iter(), frame, &ctx).map_err(|error| st.eval_error(error))?;
            let order = agg.order.iter().map(|key| &key.expr);
            let order = values(order, frame, &ctx).map_err(|error| st.eval_error(error))?;
            state.update(&args, &order, &ctx).map_err(|error| st.eval_error(error))?;
        }
        st.check()
    }

    /// Writes the values that distinguish the next group.
    pub(crate) fn begin<'v>(&mut self, values: impl Iterator<Item = Value<'v>>) {
        self.row.clear();
        let mut writer = RowWriter::new(&mut self.row, self.op.layout.cells.len());
        values.for_each(|value| writer.put_value(&value));
    }

    /// Hands on the group whose values were written.
    pub(crate) fn close(&mut self, group: &mut Group, ctx: &EvalCtx<'_>) -> Result<Flow> {
        let st = self.run.st;
        let mut writer = RowWriter::resume(&mut self.row, self.op.groups.len());
        for (agg, state) in self.op.aggs.iter().zip(&mut group.states) {
            let of_args = |error: EvalError| st.eval_error(error.of_arguments(&agg.args, ctx));
            let result = state.result(ctx).map_err(of_args)?;
            writer.put_value(&result.as_value());
        }
        self.push()
    }

    /// As [`Groups::close`].
    pub(crate) fn close_ints(&mut self, states: &[IntState]) -> Result<Flow> {
        let mut writer = RowWriter::resume(&mut self.row, self.op.groups.len());
        for (state, agg) in states.iter().zip(&self.op.aggs) {
            writer.put_value(&state.result(&agg.ty));
        }
        self.push()
    }

    fn push(&mut self) -> Result<Flow> {
        let place = self.row.end()?;
        let bytes = self.row.get(place);
        let row = TempRow { layout: &self.op.layout, bytes, zone: self.run.st.zone };
        self.sink.row(&Frame { parent: self.parent, row: CurrentRow::Temp(row) })
    }
}

/// All rows are one group, and the aggregates simple ones of integers.
struct IntSink<'x> {
    states: Vec<IntState>,
    /// Whether all that they read is integers and dates.
    reads_numbers: bool,
    run: &'x QueryRun<'x>,
}

impl<'x> IntSink<'x> {
    fn new(specs: &[IntAggregate], run: &'x QueryRun<'x>) -> Self {
        let states: Vec<_> = specs.iter().map(|spec| IntState::new(*spec)).collect();
        IntSink { reads_numbers: states.iter().all(IntState::reads_number), states, run }
    }
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
        if self.reads_numbers { Some(self) } else { None }
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
pub(crate) fn values<'v>(
    exprs: impl ExactSizeIterator<Item = &'v Expr>,
    frame: &'v Frame<'v>,
    ctx: &'v EvalCtx<'v>,
) -> std::result::Result<BumpVec<'v, Value<'v>>, EvalError> {
    let mut values = BumpVec::with_capacity_in(exprs.len(), ctx.arena);
    for expr in exprs {
        values.push(expr.eval(frame, ctx)?);
    }
    Ok(values)
}

/// All rows are one group.
struct WholeSink<'x> {
    group: Group,
    arena: Bump,
    groups: Groups<'x>,
}

impl Sink for WholeSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        self.groups.update(&mut self.group, frame, &mut self.arena)?;
        Ok(Flow::More)
    }
}
