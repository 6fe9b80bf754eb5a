//! From compiled operators to running ones, and the operators without a file of their own.

use crate::access::TableAccess;
use crate::aggregate::Aggregate;
use crate::compute::Compute;
use crate::derived::Derived;
use crate::distinct::Distinct;
use crate::error::Result;
use crate::filter::Filter;
use crate::frame::{CurrentRow, Frame};
use crate::hash_lookup::HashLookup;
use crate::intersect::Intersect;
use crate::join_hash::HashJoin;
use crate::join_lookup::IndexLookup;
use crate::join_nested::NestedLoopJoin;
use crate::limit::Limit;
use crate::op::Op;
use crate::query_run::QueryRun;
use crate::sort::Sort;
use crate::source::{Flow, Sink, Source};
use crate::union::Union;
use crate::virtual_table::VirtualTable;

/// A running operator for `op`.
pub(crate) fn source_of<'r>(op: &'r Op, run: &'r QueryRun<'r>) -> Box<dyn Source + 'r> {
    match op {
        Op::Dual => Box::new(Dual),
        Op::Empty => Box::new(Empty),
        Op::Access(access) => Box::new(TableAccess::new(access, run)),
        Op::Merge(arms) => Box::new(Merge(arms.iter().map(|arm| source_of(arm, run)).collect())),
        Op::Intersect(op) => Box::new(Intersect::new(op, run)),
        Op::Join { kind, outer, inner, on, inner_rels } => Box::new(NestedLoopJoin {
            kind: *kind,
            outer: source_of(outer, run),
            inner: source_of(inner, run),
            on: on.as_ref(),
            inner_rels,
            lookup: IndexLookup::new(inner, run),
            run,
        }),
        Op::Filter { input, cond } => Box::new(Filter { input: source_of(input, run), cond, run }),
        Op::Limit { input, offset, count, count_all } => Box::new(Limit {
            input: source_of(input, run),
            offset: offset.as_ref(),
            count: count.as_ref(),
            count_all: *count_all,
            run,
        }),
        Op::HashJoin(join) => {
            let sides = (source_of(&join.outer, run), source_of(&join.inner, run));
            Box::new(HashJoin::new(join, sides, run))
        }
        Op::HashLookup(op) => Box::new(HashLookup { op, run, open: source_of }),
        Op::Aggregate(aggregate) => {
            Box::new(Aggregate { op: aggregate, input: source_of(&aggregate.input, run), run })
        }
        Op::Compute(compute) => Box::new(Compute { op: compute, input: source_of(&compute.input, run), run }),
        Op::Sort(sort) => Box::new(Sort { op: sort, input: source_of(&sort.input, run), run }),
        Op::Distinct { input, exprs } => Box::new(Distinct { input: source_of(input, run), exprs, run }),
        Op::Virtual(table) => Box::new(VirtualTable::new(table, run)),
        Op::Derived(derived) => Box::new(Derived::new(derived, run)),
        Op::Union(union) => Box::new(Union { op: union, run }),
    }
}

impl<'r> QueryRun<'r> {
    /// Pushes the query's rows into `sink`.
    pub(crate) fn rows(&'r self, sink: &mut dyn Sink) -> Result<Flow> {
        let mut source = source_of(&self.program.root, self);
        source.run(None, sink)
    }
}

/// The rows of its sources, one after the other.
struct Merge<'r>(Box<[Box<dyn Source + 'r>]>);

impl Source for Merge<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        for arm in &mut self.0 {
            if arm.run(parent, sink)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }
}

/// One row without columns.
struct Dual;

impl Source for Dual {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        sink.row(&Frame { parent, row: CurrentRow::Nulls(&[]) })
    }
}

/// No rows.
struct Empty;

impl Source for Empty {
    fn run(&mut self, _parent: Option<&Frame<'_>>, _sink: &mut dyn Sink) -> Result<Flow> {
        Ok(Flow::More)
    }
}
