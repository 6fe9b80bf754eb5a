//! Compiled operators: a plan's nodes with tables, keys and record readers resolved. Shared by all who run
//! the program.

use std::sync::Arc;

use engine::Table;
use expr::{CmpDomain, Expr};
use sql::plan::{AggSpec, JoinKind, KeySet, RelationColumns, SortKey, Take};
use types::TableDef;

use crate::aggregate_ints::IntAggregate;
use crate::index_layout::KeyParts;
use crate::int_key::IntKey;
use crate::key_runs::columns_of_one;
use crate::query::QueryProgram;
use crate::reader::TableReader;
use crate::statement::RowUse;
use crate::table_filter::TableFilter;
use crate::temp_row::Layout;

/// A compiled node.
#[derive(Debug)]
pub(crate) enum Op {
    Dual,
    Empty,
    Access(Box<AccessOp>),
    /// One after the other; no row is given twice.
    Merge(Box<[Op]>),
    /// What both accesses find.
    Intersect(Box<IntersectOp>),
    Join {
        kind: JoinKind,
        outer: Box<Op>,
        inner: Box<Op>,
        on: Option<Expr>,
        inner_rels: Box<[u16]>,
    },
    HashJoin(Box<HashJoinOp>),
    HashLookup(Box<HashLookupOp>),
    Filter {
        input: Box<Op>,
        cond: Expr,
    },
    Compute(Box<ComputeOp>),
    Aggregate(Box<AggregateOp>),
    Sort(Box<SortOp>),
    Distinct {
        input: Box<Op>,
        exprs: Vec<Expr>,
    },
    Limit {
        input: Box<Op>,
        offset: Option<Expr>,
        count: Option<Expr>,
        count_all: bool,
    },
    Virtual(Box<VirtualOp>),
    Derived(Box<DerivedOp>),
    Union(Box<UnionOp>),
}

/// Rows of a base table.
#[derive(Debug)]
pub(crate) struct AccessOp {
    pub(crate) rel: u16,
    pub(crate) table: Arc<Table>,
    pub(crate) index: usize,
    pub(crate) path: PathOp,
    /// Parts that the path's keys and bounds are made of.
    pub(crate) key: KeyParts,
    /// Keys of the path are whole clustered keys.
    pub(crate) whole_clustered_key: bool,
    pub(crate) filter: Option<TableFilter>,
    /// What entries are tested for before their rows are read.
    pub(crate) index_condition: Option<TableFilter>,
    /// Entries are tested: by the condition, or against the keys that another access has found.
    pub(crate) tests_entries: bool,
    /// Of the index's records.
    pub(crate) reader: Arc<TableReader>,
    /// Of the rows of a secondary index that does not cover the query.
    pub(crate) row_reader: Option<Arc<TableReader>>,
    /// Run more than once in a statement.
    pub(crate) repeated: bool,
    /// The columns that the query reads are all in the records of the path's index.
    pub(crate) in_place: bool,
    /// Rows are handed on a leaf at a time, as they are.
    pub(crate) batched: bool,
    /// Other pages are read while a row is processed.
    pub(crate) detached: bool,
    /// Columns the query reads.
    pub(crate) used: RelationColumns,
    /// Decides how the rows are locked.
    pub(crate) row_use: RowUse,
}

#[cfg(test)]
thread_local! {
    /// Rows of older row format versions are converted before they are read on this thread.
    pub(crate) static NEVER_VERSIONED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl AccessOp {
    /// Whether rows may be read in older row format versions. Once false, it stays so. Cost: two loads.
    #[inline]
    pub(crate) fn is_versioned(&self) -> bool {
        #[cfg(test)]
        if NEVER_VERSIONED.get() {
            return false;
        }
        self.index == 0 && self.table.has_older_pages()
    }
}

/// Rows of a base table that two accesses find; see [`sql::plan::Node::Intersect`].
#[derive(Debug)]
pub(crate) struct IntersectOp {
    pub(crate) first: AccessOp,
    pub(crate) second: AccessOp,
}

/// How rows are found; see [`sql::plan::Path`].
#[derive(Debug)]
pub(crate) enum PathOp {
    Scan {
        reverse: bool,
    },
    Point {
        key: Arc<[Expr]>,
    },
    Intervals {
        keys: Arc<KeySet>,
        /// How they are made of integers, if they can be.
        int_key: Option<IntKey>,
        reverse: bool,
    },
    Range {
        eq: Vec<Expr>,
        null_safe: Vec<bool>,
        lower: Option<(Expr, bool)>,
        upper: Option<(Expr, bool)>,
        reverse: bool,
    },
    Skip(Box<SkipOp>),
}

/// Stretches of an index after the values of some of its parts; see [`sql::plan::Skip`].
#[derive(Debug)]
pub(crate) struct SkipOp {
    pub(crate) lead: Vec<Expr>,
    pub(crate) lead_null_safe: Vec<bool>,
    pub(crate) skipped: usize,
    /// What the skipped parts are confined to, and how its intervals are made of integers, if they can be.
    pub(crate) within: Option<(KeySet, Option<IntKey>)>,
    /// A range of the parts after those that are skipped.
    pub(crate) rest: PathOp,
    pub(crate) take: Take,
}

impl SkipOp {
    /// Parts of the index before the stretches.
    pub(crate) fn behind(&self) -> usize {
        self.lead.len() + self.skipped
    }
}

/// Equality join over a hash table.
#[derive(Debug)]
pub(crate) struct HashJoinOp {
    pub(crate) kind: JoinKind,
    pub(crate) outer: Op,
    pub(crate) inner: Op,
    pub(crate) keys: Vec<(Expr, Expr, CmpDomain)>,
    pub(crate) on: Option<Expr>,
    pub(crate) inner_rels: Box<[u16]>,
    /// The inner side is the same in all runs in a statement: it is built once.
    pub(crate) kept: bool,
    /// The kept columns of inner rows.
    pub(crate) layout: Layout,
}

/// Rows that many runs of a subquery look up.
#[derive(Debug)]
pub(crate) struct HashLookupOp {
    /// Reads the rows of one run.
    pub(crate) each: Op,
    /// Has an inner side that is kept.
    pub(crate) hashed: HashJoinOp,
    /// Rows that runs by `each` read before `hashed` is used.
    pub(crate) after: u64,
}

/// Ordering.
#[derive(Debug)]
pub(crate) struct SortOp {
    pub(crate) input: Op,
    pub(crate) keys: Vec<SortKey>,
    pub(crate) limit: Option<Expr>,
    /// The kept columns of the rows.
    pub(crate) layout: Layout,
}

/// A compiled aggregation.
#[derive(Debug)]
pub(crate) struct AggregateOp {
    pub(crate) input: Op,
    pub(crate) groups: Vec<Expr>,
    pub(crate) aggs: Vec<AggSpec>,
    /// Groups come one after the other.
    pub(crate) sorted: bool,
    /// Group expressions, then aggregates.
    pub(crate) layout: Layout,
    /// Set if all aggregates are simple ones of integers.
    pub(crate) ints: Option<Box<[IntAggregate]>>,
    /// Set if all groups are columns of one relation: that, and the columns.
    pub(crate) columns: Option<(u16, Box<[u16]>)>,
}

impl AggregateOp {
    pub(crate) fn new(input: Op, groups: &[Expr], aggs: &[AggSpec], sorted: bool, layout: Layout) -> Self {
        let ints = aggs.iter().map(IntAggregate::of_spec).collect();
        let columns = columns_of_one(groups);
        AggregateOp { input, groups: groups.to_vec(), aggs: aggs.to_vec(), sorted, layout, ints, columns }
    }
}

/// A compiled computation.
#[derive(Debug)]
pub(crate) struct ComputeOp {
    pub(crate) input: Op,
    /// The values.
    pub(crate) exprs: Vec<Expr>,
    /// The relation that has them as its columns.
    pub(crate) layout: Layout,
}

/// A compiled virtual table.
#[derive(Debug)]
pub(crate) struct VirtualOp {
    pub(crate) def: Arc<TableDef>,
    pub(crate) layout: Layout,
}

/// A derived table.
#[derive(Debug)]
pub(crate) struct DerivedOp {
    pub(crate) query: QueryProgram,
    pub(crate) layout: Layout,
    /// Run more than once in a statement: kept after the first time.
    pub(crate) repeated: bool,
    /// The rows are the same in all runs in a statement: they are kept until its end.
    pub(crate) kept: bool,
}

/// UNION.
#[derive(Debug)]
pub(crate) struct UnionOp {
    pub(crate) arms: Vec<QueryProgram>,
    pub(crate) distinct_after: Option<usize>,
    pub(crate) layout: Layout,
}

impl Op {
    /// The access to the table of relation `rel`, at or below the operator.
    pub(crate) fn find_access(&self, rel: u16) -> Option<&AccessOp> {
        match self {
            Op::Access(access) => Some(&**access).filter(|access| access.rel == rel),
            Op::Join { outer, inner, .. } => outer.find_access(rel).or_else(|| inner.find_access(rel)),
            Op::HashJoin(join) => join.outer.find_access(rel).or_else(|| join.inner.find_access(rel)),
            Op::HashLookup(lookup) => lookup.each.find_access(rel),
            Op::Filter { input, .. } | Op::Limit { input, .. } | Op::Distinct { input, .. } => {
                input.find_access(rel)
            }
            _ => None,
        }
    }
}

/// Whether no two rows have the same key, unless it has a NULL.
pub(crate) fn is_unique(index: &engine::Index) -> bool {
    index.is_unique() && index.def.parts.iter().all(|part| part.prefix_len.is_none())
}
