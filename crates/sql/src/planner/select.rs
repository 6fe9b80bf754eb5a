//! A block's plan: the joined rows, and what is done with them.

use expr::Expr;

use super::join_list::{self, Item, JoinList};
use super::join_node::Built;
use super::join_order::{self, Goal};
use super::ordering::{self, Ordering, Reading};
use super::outer::Params;
use super::query::{constant, plan_query, plan_subqueries, plan_subquery, sort_limit, window};
use super::relations::{RelSet, Rels};
use super::semi_join::{ByRow, Forms};
use super::subqueries::{ByRowPlan, Subqueries};
use super::{
    cost, derived, dive, equality, fold, index_intersect, join_node, key_list, loose_scan, min_max,
    outer_join, semi_join, whole_key,
};
use crate::bind::BindContext;
use crate::bind::block::{Aggregation, Block, Computation, Query, Source};
use crate::dive::Candidate;
use crate::plan::{ColumnSet, Estimate, Node, QueryPlan, SortKey};

/// What a statement reads beyond its query's own expressions.
#[derive(Debug, Default)]
pub(super) struct Extra<'e> {
    /// Relations all of whose columns are read.
    pub(super) whole: &'e [u16],
    /// Further expressions.
    pub(super) read: Vec<&'e Expr>,
    /// The query is not part of another one, whose plan depends on what this one is expected to give.
    pub(super) is_statement: bool,
}

/// Rows on their way through the plan.
struct Stream {
    node: Node,
    order: Ordering,
    /// Relations whose columns the rows have.
    rels: Vec<u16>,
    estimate: Estimate,
}

/// Plans `block`.
pub(super) fn plan(
    block: &mut Block,
    extra: &Extra<'_>,
    ctx: &BindContext<'_>,
    params: &Params,
) -> QueryPlan {
    params.resolve(block);
    fold::block(block);
    if let Some(key) = whole_key::find(block, ctx) {
        return key.plan(block, extra);
    }
    if extra.is_statement
        && let Some(keys) = key_list::find(block, ctx)
    {
        return keys.plan(block, extra);
    }
    by_paths(block, extra, ctx, params)
}

/// Plans `block`, whose constants are folded, by comparing the ways to read and to join its relations.
pub(super) fn by_paths(
    block: &mut Block,
    extra: &Extra<'_>,
    ctx: &BindContext<'_>,
    params: &Params,
) -> QueryPlan {
    let build = expr::Builder {
        collation: ctx.collation,
        modes: ctx.modes,
        div_precision_increment: ctx.div_precision_increment,
    };
    let mut subqueries = std::mem::take(&mut block.subqueries);
    let Forms { by_row: others, lead } = semi_join::split(&mut block.filter, &mut subqueries, params, &build);
    let inside = params.of_one_form();
    let by_row = |other: ByRow| ByRowPlan {
        condition: other.condition,
        plan: plan_subquery(other.subquery, ctx, &inside),
    };
    let others = others.into_iter().map(|other| other.map(by_row)).collect();
    let mut subqueries = plan_subqueries(subqueries, ctx, params);
    let subqueries_known = Subqueries::new(&subqueries, others, lead);
    let mut rels = Rels::new(subqueries_known, !block.locks.is_none(), build, block.rels.len(), ctx);
    rels.dives = ctx.dives.filter(|_| row_limit(block).is_none());
    rels.is_counted = params.is_inside();
    rels.has_limit = row_limit(block).is_some();
    let mut derived = push_sources(block, &mut rels);
    for column in subqueries.iter().flat_map(|sub| &sub.outer) {
        rels.note_column(*column);
    }
    note_used(block, extra, &mut rels);
    block.order.retain(|key| !ordering::is_constant(&key.expr));
    let names = block.from.rels();
    let list = join_list(block, &mut derived, &rels);
    for (rel, query) in derived {
        rels.set_plan(rel, plan_query(query, ctx, params));
    }
    let (stream, chosen) = joined(block, list, names, &rels);
    if lead.is_some_and(|lead| !chosen.in_paths.contains(&lead)) {
        subqueries.pop();
    }
    for at in chosen.by_row {
        if let Some(plan) = rels.subqueries.take_by_row(at) {
            subqueries[usize::from(at)] = plan;
        }
    }
    let stream = grouped(stream, block, &rels);
    let estimate = limited(stream.estimate, block);
    if let Some((rel, read)) = chosen.read {
        rels.list[usize::from(rel)].used = read;
    }
    let node = finished(stream, block, ctx);
    QueryPlan {
        relations: rels.into_plan(),
        root: node,
        output: std::mem::take(&mut block.output).into(),
        subqueries,
        locks: std::mem::take(&mut block.locks),
        count_found_rows: block.count_found_rows,
        estimate,
        counted: chosen.counted.map(Box::new),
    }
}

/// Moves the relations of `block` to `rels`; returns the queries that make some of them.
fn push_sources(block: &mut Block, rels: &mut Rels) -> Vec<(u16, Query)> {
    let mut derived = Vec::new();
    for mut source in std::mem::take(&mut block.rels) {
        if let Source::Query { query, .. } = &mut source {
            derived.extend(query.take().map(|query| (rels.list.len() as u16, query)));
        }
        rels.push(source);
    }
    derived
}

fn note_used(block: &mut Block, extra: &Extra<'_>, rels: &mut Rels) {
    let filter = std::mem::take(&mut block.filter);
    block.for_each_expr(&mut |expr| rels.note_used(expr));
    extra.read.iter().for_each(|expr| rels.note_used(expr));
    for &rel in extra.whole {
        let columns = rels.table(rel).map_or(0, |def| def.columns.len() as u16);
        (0..columns).for_each(|col| rels.note_column(expr::ColumnRef { rel, col }));
    }
    rels.note_shown();
    for expr in &filter {
        rels.note_used(expr);
    }
    block.filter = filter;
}

/// FROM and WHERE as a join list with its conditions settled; `None`: no row satisfies them.
fn join_list(block: &mut Block, derived: &mut [(u16, Query)], rels: &Rels) -> Option<JoinList> {
    let mut filter = std::mem::take(&mut block.filter);
    let mut tree = std::mem::take(&mut block.from);
    outer_join::simplify(&mut tree, &filter, rels);
    let mut list = join_list::flatten(tree, rels);
    list.ordered |= block.straight;
    if list.conditions.is_empty() {
        list.conditions = filter;
    } else {
        list.conditions.append(&mut filter);
    }
    let is_possible = settle(&mut list, rels);
    push_down(&mut list, derived, rels);
    is_possible.then_some(list)
}

/// Moves conditions into derived tables, in this list and those of its left joins.
fn push_down(list: &mut JoinList, derived: &mut [(u16, Query)], rels: &Rels) {
    let JoinList { items, conditions, .. } = list;
    for item in items {
        match item {
            Item::Left { list, .. } => push_down(list, derived, rels),
            Item::Rel(rel) => {
                if let Some((_, query)) = derived.iter_mut().find(|(at, _)| at == rel) {
                    derived::push(conditions, *rel, query, rels);
                }
            }
        }
    }
}

/// How subqueries are used.
#[derive(Default)]
struct Chosen {
    /// Ordinals of those that are run for each row instead of making a list.
    by_row: Vec<u16>,
    /// Ordinals of those whose values a path takes.
    in_paths: Vec<u16>,
    /// See [`QueryPlan::counted`].
    counted: Option<Candidate>,
    /// The columns that are read of a relation, if they are fewer than the query names.
    read: Option<(u16, ColumnSet)>,
}

/// The joined rows.
fn joined(block: &mut Block, list: Option<JoinList>, names: Vec<u16>, rels: &Rels) -> (Stream, Chosen) {
    let stream =
        |node: Node, order: Ordering, estimate: Estimate| Stream { node, order, rels: names, estimate };
    let Some(list) = list else {
        return (stream(Node::Empty, Ordering::default(), Estimate::default()), Chosen::default());
    };
    if let Some(node) = min_max::plan(block, &list, rels) {
        let one = Estimate { rows: 1.0, cost: cost::DESCENT };
        return (stream(node, Ordering::default(), one), Chosen::default());
    }
    let goal = goal(block);
    let mut route = join_order::best(&list, RelSet::EMPTY, goal, rels);
    if let Some((node, order, estimate)) =
        loose_scan::plan(block, &list, join_order::price(&route, goal), rels)
    {
        return (stream(node, order, estimate), Chosen::default());
    }
    if let Some(dives) = rels.dives {
        dive::note_route(&route, dives);
    }
    let estimate = Estimate { rows: route.rows, cost: join_order::price(&route, goal) };
    let counted = dive::counted(&route).filter(|_| block.aggregation.is_none());
    let read = index_intersect::columns_read(&list, &route);
    let order = std::mem::take(&mut route.order);
    let Built { node, by_row, in_paths } = join_node::build(&list, route, RelSet::EMPTY, rels);
    (stream(node, order, estimate), Chosen { by_row, in_paths, counted, read })
}

/// What LIMIT leaves of `estimate`.
fn limited(estimate: Estimate, block: &Block) -> Estimate {
    let rows = row_limit(block).map_or(estimate.rows, |limit| estimate.rows.min(limit));
    Estimate { rows, ..estimate }
}

/// Settles constant conditions and spreads equalities, in this list and those of its left joins. False if the
/// list has no rows.
fn settle(list: &mut JoinList, rels: &Rels) -> bool {
    if !fold::settle(&mut list.conditions, rels.fixed) {
        return false;
    }
    equality::spread(&mut list.conditions, rels);
    for item in &mut list.items {
        if let Item::Left { list: inner, .. } = item
            && !settle(inner, rels)
        {
            inner.conditions = vec![rels.build.boolean(false)];
        }
    }
    true
}

/// What order of the joined rows would save work.
fn goal(block: &Block) -> Goal<'_> {
    match &block.aggregation {
        Some(aggregation) => Goal { order: &[], groups: &aggregation.groups, limit: None },
        None => Goal { order: &block.order, groups: &[], limit: row_limit(block) },
    }
}

/// How many joined rows LIMIT needs, if it needs not all of them.
pub(super) fn row_limit(block: &Block) -> Option<f64> {
    if block.distinct || block.having.is_some() || block.count_found_rows {
        return None;
    }
    let count = block.limit.count.as_ref()?;
    let rows = |e: &Expr| constant(e).map_or(cost::UNKNOWN_LIMIT, |n| n as f64);
    Some(rows(count) + block.limit.offset.as_ref().map_or(0.0, rows))
}

/// GROUP BY, computed items of the select list, and HAVING.
fn grouped(stream: Stream, block: &mut Block, rels: &Rels) -> Stream {
    let mut stream = stream;
    if let Some(Aggregation { rel, groups, aggs }) = block.aggregation.take() {
        let has_groups = !groups.is_empty();
        let sorted = has_groups && stream.order.groups(&groups);
        let order = if sorted { stream.order.of_groups(&groups, rel) } else { Ordering::default() };
        let node = Node::Aggregate { input: Box::new(stream.node), rel, groups, aggs, sorted };
        let Estimate { rows, cost } = stream.estimate;
        let groups_left = if has_groups { (rows * cost::GROUP_SHARE).max(1.0) } else { 1.0 };
        let estimate = Estimate { rows: groups_left, cost: cost + rows * cost::HASH_ROW };
        stream = Stream { node, order, rels: vec![rel], estimate };
    }
    if let Some(Computation { rel, exprs }) = block.computed.take() {
        stream.node = Node::Compute { input: Box::new(stream.node), rel, exprs };
        stream.rels.push(rel);
    }
    if let Some(having) = block.having.take() {
        let mut conditions = vec![having];
        stream.node = if fold::settle(&mut conditions, rels.fixed) {
            join_node::filter(stream.node, conditions, rels)
        } else {
            Node::Empty
        };
    }
    stream
}

/// DISTINCT, ORDER BY and LIMIT.
fn finished(stream: Stream, block: &mut Block, ctx: &BindContext<'_>) -> Node {
    let Stream { mut node, order, rels, .. } = stream;
    if block.distinct {
        let exprs = block.output.iter().map(|item| item.expr.clone()).collect();
        node = Node::Distinct { input: Box::new(node), exprs };
    }
    let keys: Vec<SortKey> = std::mem::take(&mut block.order);
    if !keys.is_empty() && !in_order(&mut node, &order, &keys) {
        let limit = if block.count_found_rows { None } else { sort_limit(&block.limit, ctx) };
        node = Node::Sort { input: Box::new(node), keys, rels, limit };
    }
    window(node, std::mem::take(&mut block.limit))
}

/// Whether the rows of `node` come ordered by `keys`, once the first table is read the right way round.
fn in_order(node: &mut Node, order: &Ordering, keys: &[SortKey]) -> bool {
    match order.reading(keys) {
        Some(Reading::Forward) => true,
        Some(Reading::Backward) => reverse_first(node),
        None => false,
    }
}

/// Makes the first table be read last row first. False, and nothing changed, if it cannot.
fn reverse_first(node: &mut Node) -> bool {
    match node {
        Node::Access { path, .. } => ordering::reverse(path),
        Node::Join { outer, .. } | Node::HashJoin { outer, .. } => reverse_first(outer),
        Node::Intersect { first, .. } => reverse_first(first),
        Node::Filter { input, .. }
        | Node::Compute { input, .. }
        | Node::Distinct { input, .. }
        | Node::Aggregate { input, .. } => reverse_first(input),
        _ => false,
    }
}
