//! From the plan of a query to its program.

use std::ops::Range;
use std::sync::Arc;

use engine::{Engine, Error, Table, WaitPolicy};
use expr::{Expr, ExprKind};
use smallvec::SmallVec;
use sql::plan::{AggSpec, Node, Path, QueryPlan, Relation, RelationColumns, Skip, SortKey, SubPlan};
use types::TableDef;

use crate::column_term::Known;
use crate::error::{ExecError, Result};
use crate::index_layout;
use crate::int_key::IntKey;
use crate::key_part::KeyPart;
use crate::op::{
    AccessOp, AggregateOp, ComputeOp, DerivedOp, HashJoinOp, HashLookupOp, IntersectOp, Op, PathOp, SkipOp,
    SortOp, UnionOp, VirtualOp,
};
use crate::outputs::{Output, PlainOutputs};
use crate::query::{ColumnNames, QueryProgram, SubProgram};
use crate::reader::may_read_off_page;
use crate::statement::RowUse;
use crate::table_filter::TableFilter;
use crate::temp_row::{CellKind, Layout};

/// The tables of a statement, each once: most have few.
pub(crate) type Tables = SmallVec<[Arc<Table>; 2]>;

impl QueryProgram {
    /// Compiles `plan`; its tables are added to `tables`.
    pub(crate) fn compile(engine: &Engine, plan: &QueryPlan, tables: &mut Tables) -> Result<Self> {
        Self::compile_inner(engine, plan, tables, NodeContext::default())
    }

    /// Compiles the query that finds the rows to change; `pages_read`: making their new values reads other
    /// pages.
    pub(crate) fn compile_change(
        engine: &Engine,
        plan: &QueryPlan,
        tables: &mut Tables,
        change: &ChangedRows,
        pages_read: bool,
    ) -> Result<Self> {
        Self::compile_with(engine, plan, tables, NodeContext { pages_read, ..NodeContext::default() }, change)
    }

    /// Compiles a query whose rows are used as `context` says.
    pub(crate) fn compile_inner(
        engine: &Engine,
        plan: &QueryPlan,
        tables: &mut Tables,
        context: NodeContext,
    ) -> Result<Self> {
        Self::compile_with(engine, plan, tables, context, &ChangedRows::default())
    }

    fn compile_with(
        engine: &Engine,
        plan: &QueryPlan,
        tables: &mut Tables,
        context: NodeContext,
        change: &ChangedRows,
    ) -> Result<Self> {
        let touches = plan.output.iter().any(|column| needs_no_latch(&column.expr));
        let context = NodeContext { pages_read: context.pages_read || touches, ..context };
        let root = OpCompiler { engine, query: plan, tables, change }.node(&plan.root, context)?;
        let subqueries = Self::compile_inner_subqueries(engine, &plan.subqueries, tables, context.changing)?;
        let outputs: Vec<_> = plan.output.iter().map(|column| Output::new(&column.expr)).collect();
        let plain = PlainOutputs::new(&outputs, &root);
        let (output, names) = (Arc::clone(&plan.output), ColumnNames::Query(Arc::clone(&plan.relations)));
        Ok(QueryProgram { root, outputs, plain, output, subqueries, names })
    }

    /// Compiles the subqueries of expressions.
    pub(crate) fn compile_subqueries(
        engine: &Engine,
        subqueries: &[SubPlan],
        tables: &mut Tables,
    ) -> Result<Vec<SubProgram>> {
        Self::compile_inner_subqueries(engine, subqueries, tables, (0, 0))
    }

    /// As [`QueryProgram::compile_subqueries`], of a query whose parameters `changing` change from run to
    /// run.
    fn compile_inner_subqueries(
        engine: &Engine,
        subqueries: &[SubPlan],
        tables: &mut Tables,
        changing: (u16, u16),
    ) -> Result<Vec<SubProgram>> {
        let (from, to) = changing;
        let compile = |sub: &SubPlan| {
            let inside = if sub.outer.is_empty() {
                changing
            } else {
                let first = if from < to { from } else { sub.outer_base };
                (first, sub.outer_base + sub.outer.len() as u16)
            };
            let context = NodeContext { changing: inside, ..NodeContext::default() };
            Ok(SubProgram {
                kept: from < to && sub.outer.is_empty() && !sub.query.reads_params(&(from..to)),
                query: Self::compile_inner(engine, &sub.query, tables, context)?,
                outer_base: sub.outer_base,
                outer: sub.outer.clone(),
                repeatable: sub.repeatable,
            })
        };
        subqueries.iter().map(compile).collect()
    }
}

/// How a node's parents use its rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeContext {
    /// Pages are read while a row is processed: no leaf may stay latched.
    pub(crate) pages_read: bool,
    /// The node is run more than once.
    pub(crate) repeated: bool,
    /// The query is run more than once: parameters from the first to before the second change from run to
    /// run.
    pub(crate) changing: (u16, u16),
}

impl NodeContext {
    /// The parameters that change from run to run; empty if the query is run once.
    pub(crate) fn changing(&self) -> Range<u16> {
        self.changing.0..self.changing.1
    }
}

/// Compiles the nodes of one query.
pub(crate) struct OpCompiler<'p> {
    pub(crate) engine: &'p Engine,
    pub(crate) query: &'p QueryPlan,
    pub(crate) tables: &'p mut Tables,
    pub(crate) change: &'p ChangedRows,
}

/// Relations whose rows a statement changes.
#[derive(Debug, Default)]
pub(crate) struct ChangedRows {
    pub(crate) rels: Vec<u16>,
    /// All their columns are read, not only the key.
    pub(crate) whole: bool,
}

impl OpCompiler<'_> {
    pub(crate) fn node(&mut self, node: &Node, context: NodeContext) -> Result<Op> {
        Ok(match node {
            Node::Dual => Op::Dual,
            Node::Empty => Op::Empty,
            Node::Access { .. } => Op::Access(self.access_node(node, context)?),
            Node::Merge { arms } => {
                Op::Merge(arms.iter().map(|arm| self.node(arm, context)).collect::<Result<_>>()?)
            }
            Node::Intersect { first, second } => {
                let mut first = self.access_node(first, context)?;
                first.tests_entries = first.row_reader.is_some();
                let second = self.access_node(second, NodeContext { pages_read: false, ..context })?;
                Op::Intersect(Box::new(IntersectOp { first: *first, second: *second }))
            }
            Node::Join { kind, outer, inner, on, inner_rels } => {
                let outer = self.node(outer, NodeContext { pages_read: true, ..context })?;
                let pages_read = context.pages_read || on.as_ref().is_some_and(needs_no_latch);
                let inner = self.node(inner, NodeContext { pages_read, repeated: true, ..context })?;
                let (outer, inner) = (Box::new(outer), Box::new(inner));
                Op::Join { kind: *kind, outer, inner, on: on.clone(), inner_rels: inner_rels.clone().into() }
            }
            Node::HashJoin { .. } => Op::HashJoin(Box::new(self.hash_join(node, context)?)),
            Node::HashLookup { each, hashed, after } => self.hash_lookup((each, hashed), *after, context)?,
            Node::Filter { input, cond } => {
                let pages_read = context.pages_read || needs_no_latch(cond);
                let input = self.node(input, NodeContext { pages_read, ..context })?;
                Op::Filter { input: Box::new(input), cond: cond.clone() }
            }
            Node::Compute { input, rel, exprs } => self.compute(input, *rel, exprs, context)?,
            Node::Aggregate { input, rel, groups, aggs, sorted } => {
                Op::Aggregate(Box::new(self.aggregate(input, *rel, groups, aggs, *sorted, context)?))
            }
            Node::Sort { input, keys, rels, limit } => {
                Op::Sort(Box::new(self.sort(input, keys, rels, limit.as_ref(), context)?))
            }
            Node::Distinct { input, exprs } => {
                let pages_read = context.pages_read || exprs.iter().any(needs_no_latch);
                let input = self.node(input, NodeContext { pages_read, ..context })?;
                Op::Distinct { input: Box::new(input), exprs: exprs.clone() }
            }
            Node::Limit { input, offset, count } => Op::Limit {
                input: Box::new(self.node(input, context)?),
                offset: offset.clone(),
                count: count.clone(),
                count_all: self.query.count_found_rows,
            },
            Node::Virtual { rel, def } => {
                Op::Virtual(Box::new(VirtualOp { def: Arc::clone(def), layout: self.layout(&[*rel]) }))
            }
            Node::Derived { rel, query } => self.derived(*rel, query, context)?,
            Node::Union { rel, arms, distinct_after } => self.union(*rel, arms, *distinct_after, context)?,
        })
    }

    /// `node` is a [`Node::HashJoin`].
    fn hash_join(&mut self, node: &Node, context: NodeContext) -> Result<HashJoinOp> {
        let Node::HashJoin { kind, outer, inner, keys, on, inner_rels } = node else {
            return Err(ExecError::NotSupported("a join that hashes no rows"));
        };
        // The answer may be sent between two matches of an outer row.
        let outer = self.node(outer, NodeContext { pages_read: true, ..context })?;
        let pages_read = keys.iter().any(|(_, inner, _)| needs_no_latch(inner));
        let kept = Self::is_kept(inner, keys.iter().map(|(_, key, _)| key), context);
        let inner = self.node(inner, NodeContext { pages_read, ..context })?;
        Ok(HashJoinOp {
            kind: *kind,
            outer,
            inner,
            keys: keys.clone(),
            on: on.clone(),
            inner_rels: inner_rels.clone().into(),
            kept,
            layout: self.layout(inner_rels),
        })
    }

    fn hash_lookup(
        &mut self,
        (each, hashed): (&Node, &Node),
        after: u64,
        context: NodeContext,
    ) -> Result<Op> {
        let each = self.node(each, context)?;
        let hashed = self.hash_join(hashed, context)?;
        Ok(if hashed.kept { Op::HashLookup(Box::new(HashLookupOp { each, hashed, after })) } else { each })
    }

    fn sort(
        &mut self,
        input: &Node,
        keys: &[SortKey],
        rels: &[u16],
        limit: Option<&Expr>,
        context: NodeContext,
    ) -> Result<SortOp> {
        let pages_read = keys.iter().any(|key| needs_no_latch(&key.expr));
        Ok(SortOp {
            input: self.node(input, NodeContext { pages_read, ..context })?,
            keys: keys.to_vec(),
            limit: limit.cloned().filter(|_| !self.query.count_found_rows),
            layout: self.layout(rels),
        })
    }

    /// Whether a side of a join has the same rows, and keys, in all runs of a query that runs more than once.
    fn is_kept<'e>(side: &Node, mut keys: impl Iterator<Item = &'e Expr>, context: NodeContext) -> bool {
        let changing = context.changing();
        !changing.is_empty()
            && !side.runs_subqueries()
            && !side.reads_params(&changing)
            && !keys.any(|key| needs_no_latch(key) || key.reads_params(&changing))
    }

    fn compute(&mut self, input: &Node, rel: u16, exprs: &[Expr], context: NodeContext) -> Result<Op> {
        let pages_read = context.pages_read || exprs.iter().any(needs_no_latch);
        let input = self.node(input, NodeContext { pages_read, ..context })?;
        Ok(Op::Compute(Box::new(ComputeOp { input, exprs: exprs.to_vec(), layout: self.layout(&[rel]) })))
    }

    fn aggregate(
        &mut self,
        input: &Node,
        rel: u16,
        groups: &[Expr],
        aggs: &[AggSpec],
        sorted: bool,
        context: NodeContext,
    ) -> Result<AggregateOp> {
        let touches = groups.iter().chain(aggs.iter().flat_map(|agg| &agg.args)).any(needs_no_latch);
        // Sorted groups are handed on while the input's leaf is open.
        let pages_read = touches || (sorted && context.pages_read);
        let input = self.node(input, NodeContext { pages_read, ..context })?;
        let layout = self.layout(&[rel]);
        Ok(AggregateOp::new(input, groups, aggs, sorted, layout))
    }

    fn union(
        &mut self,
        rel: u16,
        arms: &[QueryPlan],
        distinct_after: Option<usize>,
        context: NodeContext,
    ) -> Result<Op> {
        let mut compile = |arm| QueryProgram::compile_inner(self.engine, arm, self.tables, context);
        let arms = arms.iter().map(&mut compile).collect::<Result<_>>()?;
        Ok(Op::Union(Box::new(UnionOp { arms, distinct_after, layout: self.layout(&[rel]) })))
    }

    fn derived(&mut self, rel: u16, query: &QueryPlan, context: NodeContext) -> Result<Op> {
        // A kept result is complete before its first row is passed on.
        let kept = !context.changing().is_empty() && !query.reads_params(&context.changing());
        let repeated = context.repeated || kept;
        let pages_read = context.pages_read && !repeated;
        let inner = NodeContext { pages_read, repeated: false, ..context };
        Ok(Op::Derived(Box::new(DerivedOp {
            query: QueryProgram::compile_inner(self.engine, query, self.tables, inner)?,
            layout: self.layout(&[rel]),
            repeated,
            kept,
        })))
    }

    /// The table of relation `rel`, as it is now.
    pub(crate) fn table(&mut self, rel: u16) -> Result<(Arc<Table>, RelationColumns)> {
        let Some(Relation::Table { def, used, .. }) = self.query.relations.get(usize::from(rel)) else {
            return Err(ExecError::NotSupported("access to something else than a table"));
        };
        Ok((open_table(self.engine, def, self.tables)?, used.clone()))
    }

    fn access_node(&mut self, node: &Node, context: NodeContext) -> Result<Box<AccessOp>> {
        let Node::Access { rel, path, filter, index_condition, covering } = node else {
            return Err(ExecError::NotSupported("an intersection of anything but accesses"));
        };
        let mut access = self.access(*rel, path, filter.as_ref(), *covering, context)?;
        if let Some(condition) = index_condition {
            access.tests_entries = true;
            access.index_condition = Some(TableFilter::new(*rel, &access.table, condition, Known::Constants));
        }
        Ok(access)
    }

    fn access(
        &mut self,
        rel: u16,
        path: &Path,
        filter: Option<&Expr>,
        covering: bool,
        context: NodeContext,
    ) -> Result<Box<AccessOp>> {
        let (table, mut used) = self.table(rel)?;
        let whole = self.change.whole && self.change.rels.contains(&rel);
        if whole {
            used.insert_first(table.def.columns.len());
        }
        let (index, key_count) = match path {
            Path::Scan { index, .. } => (*index, 0),
            Path::Point { index, key } => (*index, key.len()),
            Path::Intervals { index, keys, .. } => (*index, keys.parts()),
            Path::Range { index, eq, .. } => (*index, eq.len() + 1),
            Path::Skip { index, skip } => (*index, skip.parts()),
        };
        let entry = &table.indexes[index];
        let reader = index_layout::reader(&table, index);
        let needs_row = index != 0 && (whole || !covering);
        let row_reader = needs_row.then(|| index_layout::reader(&table, 0));
        let off_page = may_read_off_page(&table, &used);
        let detached = context.pages_read || needs_row || filter.is_some_and(needs_no_latch) || off_page;
        let key = index_layout::key_parts(&table, index, key_count);
        // Of a scan for each outer row: most of its rows fail.
        let is_inner_scan = context.repeated && matches!(path, Path::Scan { .. });
        let known = if is_inner_scan { Known::Outer } else { Known::Constants };
        let is_whole_key = key_count == entry.def.parts.len() && key_count > 0 && has_points(path, key_count);
        Ok(Box::new(AccessOp {
            rel,
            index,
            path: path_op(path, &key),
            key,
            whole_clustered_key: index == 0 && is_whole_key,
            filter: filter.map(|filter| TableFilter::new(rel, &table, filter, known)),
            index_condition: None,
            tests_entries: false,
            reader,
            row_reader,
            repeated: context.repeated,
            in_place: !needs_row && !off_page,
            batched: filter.is_none() && !needs_row && !off_page,
            detached,
            used,
            row_use: self.row_use(rel),
            table,
        }))
    }

    fn row_use(&self, rel: u16) -> RowUse {
        if !self.change.rels.is_empty() {
            let is_changed = self.change.rels.contains(&rel);
            return if is_changed { RowUse::Change(WaitPolicy::Wait) } else { RowUse::Read };
        }
        RowUse::under(self.query.locks.of_rel(rel))
    }

    /// The cells that rows of `rels` are kept in.
    pub(crate) fn layout(&self, rels: &[u16]) -> Layout {
        let mut layout = Layout::default();
        for &rel in rels {
            match self.query.relations.get(usize::from(rel)) {
                Some(Relation::Table { def, used, .. }) => {
                    let changed = self.change.rels.contains(&rel);
                    let kept = |col: usize| used.contains(col as u16) || (changed && self.change.whole);
                    let columns = def.columns.iter().enumerate();
                    let columns =
                        columns.map(|(i, column)| kept(i).then(|| CellKind::Storage(column.ty.clone())));
                    layout.add_relation(rel, columns);
                    if changed {
                        layout.add_key(rel);
                    }
                }
                Some(Relation::Rows { columns }) => {
                    let columns = columns.iter().map(|column| Some(CellKind::Tagged(column.ty.clone())));
                    layout.add_relation(rel, columns);
                }
                None => {}
            }
        }
        layout
    }
}

/// The engine's table for a plan's definition, noted in `tables`.
pub(crate) fn open_table(engine: &Engine, def: &Arc<TableDef>, tables: &mut Tables) -> Result<Arc<Table>> {
    let table = engine.table_of(def)?;
    if !Arc::ptr_eq(&table.def, def) && table.def != *def {
        return Err(Error::TableChanged.into());
    }
    if !tables.iter().any(|known| Arc::ptr_eq(known, &table)) {
        tables.push(Arc::clone(&table));
    }
    Ok(table)
}

/// Whether keys of the path have one value in each of their parts.
fn has_points(path: &Path, parts: usize) -> bool {
    match path {
        Path::Intervals { keys, .. } => keys.is_points(parts),
        Path::Skip { .. } => false,
        _ => true,
    }
}

/// `parts`: those of the index that the path's keys are made of.
fn path_op(path: &Path, parts: &[KeyPart]) -> PathOp {
    match path {
        Path::Scan { reverse, .. } => PathOp::Scan { reverse: *reverse },
        Path::Point { key, .. } => PathOp::Point { key: Arc::clone(key) },
        Path::Intervals { keys, reverse, .. } => {
            PathOp::Intervals { int_key: IntKey::new(keys, parts), keys: Arc::clone(keys), reverse: *reverse }
        }
        Path::Skip { skip, .. } => PathOp::Skip(Box::new(skip_op(skip, parts))),
        Path::Range { eq, null_safe, lower, upper, reverse, .. } => PathOp::Range {
            eq: eq.clone(),
            null_safe: null_safe.clone(),
            lower: lower.as_deref().cloned(),
            upper: upper.as_deref().cloned(),
            reverse: *reverse,
        },
    }
}

fn skip_op(skip: &Skip, parts: &[KeyPart]) -> SkipOp {
    let Skip { lead, skipped, within, eq, null_safe, lower, upper, take } = skip.clone();
    let (lead_null_safe, null_safe) = null_safe.split_at(lead.len());
    let rest = PathOp::Range { eq, null_safe: null_safe.to_vec(), lower, upper, reverse: false };
    let within = within.map(|keys| {
        let int_key = IntKey::new(&keys, &parts[..keys.parts()]);
        (keys, int_key)
    });
    SkipOp { lead_null_safe: lead_null_safe.to_vec(), lead, skipped, within, rest, take }
}

/// Whether evaluating `expr` may run a subquery, which reads pages, or wait: never with a latch held.
pub(crate) fn needs_no_latch(expr: &Expr) -> bool {
    if matches!(expr.kind, ExprKind::Column(_) | ExprKind::Param(_)) {
        return false;
    }
    let mut found = false;
    expr.walk(&mut |e| {
        found |= match e.kind {
            ExprKind::Subquery { .. } => true,
            ExprKind::Call { func, .. } => func.waits(),
            _ => false,
        };
    });
    found
}
