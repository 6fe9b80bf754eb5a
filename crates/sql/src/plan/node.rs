//! Query plans.

use std::ops::Range;
use std::sync::Arc;

use expr::{AggFunc, CmpDomain, ColumnRef, Expr, ExprKind};
use types::{SqlType, TableDef};

use super::alias::Alias;
use super::item_name::ItemName;
use super::key_set::{KeySet, PartTest};
use super::origin::Origin;
use super::relation_columns::RelationColumns;
use super::skip::Skip;
use crate::ast::LockWait;
use crate::dive::Candidate;

/// A planned query.
#[derive(Clone, Debug)]
pub struct QueryPlan {
    /// Relations by ordinal.
    pub relations: Arc<[Relation]>,
    /// What produces the rows.
    pub root: Node,
    /// The select list.
    pub output: Arc<[OutputColumn]>,
    /// Plans of the subqueries that expressions name by ordinal.
    pub subqueries: Vec<SubPlan>,
    /// FOR UPDATE, FOR SHARE.
    pub locks: RowLocks,
    /// SQL_CALC_FOUND_ROWS: count on after the limit.
    pub count_found_rows: bool,
    /// The estimate of one run.
    pub estimate: Estimate,
    /// The path whose rows a dive estimated, if the estimate is made of them; its cost is the number of rows.
    pub counted: Option<Box<Candidate>>,
}

/// The planner's estimate of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Rows that it gives.
    pub rows: f64,
    /// Cost of giving them, in rows examined.
    pub cost: f64,
    /// What runs cost that share work.
    pub shared: SharedCost,
}

/// The cost of many runs of a subquery that keeps rows from run to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedCost {
    /// Cost of what is done once; infinite: they share no work.
    pub once: f32,
    /// Cost of a run beside that.
    pub run: f32,
}

impl Default for SharedCost {
    fn default() -> Self {
        SharedCost { once: f32::INFINITY, run: 0.0 }
    }
}

impl Estimate {
    /// Of runs that share no work.
    pub fn new(rows: f64, cost: f64) -> Estimate {
        Estimate { rows, cost, shared: SharedCost::default() }
    }

    /// Of giving `rows` rows made of these, for `cost` more in each run.
    pub(crate) fn then(self, rows: f64, cost: f64) -> Estimate {
        let shared = SharedCost { run: self.shared.run + cost as f32, ..self.shared };
        Estimate { rows, cost: self.cost + cost, shared }
    }

    /// Cost of `count` runs.
    pub(crate) fn cost_of_runs(&self, count: f64) -> f64 {
        let SharedCost { once, run } = self.shared;
        (count * self.cost).min(f64::from(once) + count * f64::from(run))
    }
}

/// A subquery.
#[derive(Clone, Debug)]
pub struct SubPlan {
    /// Its plan. A column of the outer query appears in it as a parameter: parameters from `outer_base` on
    /// are `outer`.
    pub query: QueryPlan,
    /// First parameter number that stands for an outer column.
    pub outer_base: u16,
    /// The enclosing query's columns that it names. Empty: one run serves all rows of a run of the enclosing
    /// query, whose own outer columns it may name all the same: their parameters stay in force below.
    pub outer: Vec<ColumnRef>,
    /// It gives the same rows for the same outer columns, as long as a statement runs.
    pub repeatable: bool,
}

/// How rows are locked as they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLock {
    /// FOR UPDATE; else FOR SHARE, LOCK IN SHARE MODE.
    pub exclusive: bool,
    /// NOWAIT, SKIP LOCKED.
    pub wait: LockWait,
}

/// The locking clauses of a query: how the rows of each of its tables are locked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowLocks {
    /// Of the tables that no clause names.
    pub rest: Option<RowLock>,
    /// Of the relations that clauses name after OF.
    pub of: Vec<(u16, RowLock)>,
}

impl RowLocks {
    /// Whether no table's rows are locked.
    pub fn is_none(&self) -> bool {
        self.rest.is_none() && self.of.is_empty()
    }

    /// How rows of relation `rel` are locked.
    pub fn of_rel(&self, rel: u16) -> Option<RowLock> {
        let named = self.of.iter().find(|(named, _)| *named == rel);
        named.map_or(self.rest, |(_, lock)| Some(*lock))
    }
}

/// A column of the answer.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    /// Name shown.
    pub name: ItemName,
    /// Value.
    pub expr: Expr,
    /// Column that it shows, if it is one.
    pub origin: Option<Origin>,
    /// Where its expression is in the statement's text, if that holds a subquery.
    pub text: Option<ItemText>,
}

/// The expression of a select item in the statement's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemText {
    /// Its place, in bytes.
    pub place: Range<usize>,
    /// The column is named by it.
    pub is_name: bool,
}

/// A relation.
#[derive(Clone, Debug)]
pub enum Relation {
    /// A base table.
    Table {
        /// Definition.
        def: Arc<TableDef>,
        /// Name in the query.
        alias: Alias,
        /// Columns that the query reads.
        used: RelationColumns,
    },
    /// Rows made by a node: virtual or derived table, aggregate, computed values, union.
    Rows {
        /// Its columns.
        columns: Vec<Column>,
    },
}

/// A column of a [`Relation::Rows`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: Box<str>,
    /// Type.
    pub ty: SqlType,
    /// May be NULL.
    pub nullable: bool,
}

/// Which rows a join has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// Matching pairs.
    Inner,
    /// Every outer row, NULLs where nothing matches.
    Left,
    /// Outer rows that nothing matches, with NULLs.
    Anti,
}

/// A sort key.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// Value.
    pub expr: Expr,
    /// Descending.
    pub desc: bool,
}

/// An aggregate.
#[derive(Clone, Debug)]
pub struct AggSpec {
    /// Function.
    pub func: AggFunc,
    /// Arguments; none for COUNT(*).
    pub args: Vec<Expr>,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY inside GROUP_CONCAT.
    pub order: Vec<SortKey>,
    /// SEPARATOR of GROUP_CONCAT; `,` by default.
    pub separator: Box<[u8]>,
    /// Result type.
    pub ty: SqlType,
    /// Result may be NULL.
    pub nullable: bool,
}

/// What produces rows.
#[derive(Clone, Debug)]
pub enum Node {
    /// One row without columns.
    Dual,
    /// No rows: the condition cannot hold.
    Empty,
    /// Rows of a base table.
    Access {
        /// Relation.
        rel: u16,
        /// How they are found.
        path: Path,
        /// Condition on this table (and on outer tables) that the path does not ensure.
        filter: Option<Expr>,
        /// Of a secondary index that does not cover: condition on columns of its entries (and on outer
        /// tables), tested before the row of an entry is read or locked.
        index_condition: Option<Box<Expr>>,
        /// The index alone holds every column used.
        covering: bool,
    },
    /// Rows of one base table by several accesses, one after the other. Each leaves out what those before it
    /// give, unless only MIN and MAX are made of the rows.
    Merge {
        /// The accesses.
        arms: Vec<Node>,
    },
    /// Rows of one base table that two accesses find, in the order of the first one. The second one reads
    /// entries of a secondary index alone, all of them before the first one's.
    Intersect {
        /// The access that gives the rows.
        first: Box<Node>,
        /// The access that has to find them as well.
        second: Box<Node>,
    },
    /// Nested loops. Key expressions in `inner` paths may name columns of `outer`.
    Join {
        /// Which rows it has.
        kind: JoinKind,
        /// Outer side.
        outer: Box<Node>,
        /// Inner side, run once for each outer row.
        inner: Box<Node>,
        /// Join condition that `inner` does not ensure.
        on: Option<Expr>,
        /// Relations produced by `inner`; NULL where a left join finds nothing.
        inner_rels: Vec<u16>,
    },
    /// Equality join without an index: `inner` is read once into a hash table.
    HashJoin {
        /// Which rows it has.
        kind: JoinKind,
        /// Probing side; its order is kept.
        outer: Box<Node>,
        /// Build side; does not depend on `outer`.
        inner: Box<Node>,
        /// Pairs (outer expression, inner expression, domain of their comparison).
        keys: Vec<(Expr, Expr, CmpDomain)>,
        /// Rest of the join condition.
        on: Option<Expr>,
        /// Relations produced by `inner`.
        inner_rels: Vec<u16>,
    },
    /// Rows of one table in a subquery that runs for many outer rows. The first runs find them by `each`;
    /// once these have read `after` rows, `hashed` finds the same.
    HashLookup {
        /// Finds the rows of one run.
        each: Box<Node>,
        /// A [`Node::HashJoin`] of [`Node::Dual`] with rows that do not depend on the outer row: they are
        /// read once a statement. Its outer keys are made of outer columns.
        hashed: Box<Node>,
        /// Number of rows.
        after: u64,
    },
    /// Rows that satisfy a condition.
    Filter {
        /// Source.
        input: Box<Node>,
        /// Condition.
        cond: Expr,
    },
    /// Rows with values added that each has once, whatever reads them.
    Compute {
        /// Source.
        input: Box<Node>,
        /// Relation whose columns the values are.
        rel: u16,
        /// The values.
        exprs: Vec<Expr>,
    },
    /// Groups. The output relation's columns are the group expressions, then the aggregates. Without group
    /// expressions there is exactly one output row.
    Aggregate {
        /// Source.
        input: Box<Node>,
        /// Output relation.
        rel: u16,
        /// Group expressions.
        groups: Vec<Expr>,
        /// Aggregates.
        aggs: Vec<AggSpec>,
        /// The input comes ordered by the group expressions.
        sorted: bool,
    },
    /// Ordered rows.
    Sort {
        /// Source.
        input: Box<Node>,
        /// Keys, most significant first. Equal rows keep their order.
        keys: Vec<SortKey>,
        /// Relations to carry along.
        rels: Vec<u16>,
        /// Number of rows wanted from the front (offset included).
        limit: Option<Expr>,
    },
    /// First row of each combination of values, in input order.
    Distinct {
        /// Source.
        input: Box<Node>,
        /// The values.
        exprs: Vec<Expr>,
    },
    /// A window of the rows.
    Limit {
        /// Source.
        input: Box<Node>,
        /// Rows to skip.
        offset: Option<Expr>,
        /// Rows to give.
        count: Option<Expr>,
    },
    /// All rows of a table whose rows the session makes.
    Virtual {
        /// Relation.
        rel: u16,
        /// Definition.
        def: Arc<TableDef>,
    },
    /// A derived table: a query of its own whose output columns are the relation's columns.
    Derived {
        /// Relation.
        rel: u16,
        /// Query.
        query: Box<QueryPlan>,
    },
    /// UNION of queries, cast to the relation's column types.
    Union {
        /// Relation.
        rel: u16,
        /// Queries with equally many columns.
        arms: Vec<QueryPlan>,
        /// Duplicates among arms 0..=i are removed (the last UNION DISTINCT is before arm i); `None`:
        /// UNION ALL.
        distinct_after: Option<usize>,
    },
}

/// How rows of a base table are found. `index` is a position in [`TableDef::indexes`].
///
/// A key expression is comparable with its column as the condition that it came from compares them, and may
/// be of another type: the executor converts it. Where the column's type cannot hold the value exactly (a
/// fraction, text that is no date, a number out of range), an equality finds nothing or too much and a bound
/// may move outwards, never inwards: the condition is then still in the filter, unless the types are both
/// integers, equal strings or equal dates.
#[derive(Clone, Debug)]
pub enum Path {
    /// All rows in index order.
    Scan {
        /// Index.
        index: usize,
        /// Last first.
        reverse: bool,
    },
    /// At most one row: equality on all parts of a unique key. NULL finds nothing.
    Point {
        /// Index.
        index: usize,
        /// A value for each part.
        key: Arc<[Expr]>,
    },
    /// Several stretches of the index: lists, alternatives, and whatever [`Path::Range`] has no room for.
    Intervals {
        /// Index.
        index: usize,
        /// The keys.
        keys: Arc<KeySet>,
        /// Last first.
        reverse: bool,
    },
    /// A stretch for each value of some of the first parts; in index order.
    Skip {
        /// Index.
        index: usize,
        /// The stretches.
        skip: Box<Skip>,
    },
    /// A range: equality on the first parts, then bounds on the next. Bounds are in the order of values, also
    /// where the part descends. NULL as a bound, or as an equal part that is not null-safe, finds nothing; a
    /// range without lower bound leaves NULLs out.
    Range {
        /// Index.
        index: usize,
        /// Equal parts.
        eq: Vec<Expr>,
        /// Which of `eq` come from `<=>` or IS NULL and find NULLs too; empty: none.
        null_safe: Vec<bool>,
        /// Lower bound, and whether it is included.
        lower: Option<Box<(Expr, bool)>>,
        /// Upper bound, and whether it is included.
        upper: Option<Box<(Expr, bool)>>,
        /// Last first.
        reverse: bool,
    },
}

impl Path {
    /// Ordinals of the subqueries whose values it finds.
    pub(crate) fn subqueries(&self) -> Vec<u16> {
        let Path::Intervals { keys, .. } = self else { return Vec::new() };
        let tests = keys.boxes().iter().flat_map(|key_box| &key_box.tests);
        let ordinal = |(_, test): &(u16, PartTest)| match test {
            PartTest::InSubquery(subquery) => match subquery.kind {
                ExprKind::Subquery { plan, .. } => Some(plan),
                _ => None,
            },
            _ => None,
        };
        tests.filter_map(ordinal).collect()
    }

    /// Position of its index.
    pub fn index(&self) -> usize {
        match self {
            Path::Scan { index, .. }
            | Path::Point { index, .. }
            | Path::Intervals { index, .. }
            | Path::Skip { index, .. }
            | Path::Range { index, .. } => *index,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_columns_are_those_added_one_by_one() {
        for count in [0, 1, 63, 64, 65, 127, 128, 129, 200] {
            let (mut all, mut each) = (RelationColumns::default(), RelationColumns::default());
            all.insert(2);
            each.insert(2);
            all.insert_first(count);
            (0..count as u16).for_each(|col| each.insert(col));
            assert_eq!(all, each, "{count} columns");
        }
    }
}
