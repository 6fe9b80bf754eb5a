//! Entries of the planner, subqueries and unions.

use expr::{Expr, ExprKind};

use super::draft::Extra;
use super::limit::{sort_limit, window};
use super::outer::Params;
use super::select;
use crate::bind::BindContext;
use crate::bind::block::{Block, Query, SubBlock, UnionBlock};
use crate::bind::volatile::is_volatile;
use crate::plan::{Estimate, InsertCell, Node, QueryPlan, Relation, RowLocks, SubPlan};

/// Plans a statement's query.
pub(crate) fn query(query: Query, ctx: &BindContext<'_>) -> QueryPlan {
    plan_outermost(query, ctx)
}

/// Plans the query whose rows a statement inserts.
pub(crate) fn source(query: Query, ctx: &BindContext<'_>) -> QueryPlan {
    plan_outermost(query, &ctx.in_change())
}

fn plan_outermost(query: Query, ctx: &BindContext<'_>) -> QueryPlan {
    let params = Params::new(ctx.param_count);
    let extra = Extra { is_statement: true, ..Extra::default() };
    match query {
        Query::Select(mut block) => select::plan(&mut block, &extra, ctx, &params),
        Query::Union(union) => plan_union(*union, ctx, &params),
    }
}

/// Plans the subqueries of a statement that has no query of its own.
pub(crate) fn subplans(subqueries: Vec<SubBlock>, ctx: &BindContext<'_>) -> Vec<SubPlan> {
    plan_subqueries(subqueries, ctx, &Params::new(ctx.param_count))
}

/// Plans the query that finds the rows of an UPDATE or DELETE. All columns of `targets` are read.
pub(crate) fn change(
    mut block: Block,
    targets: &[u16],
    sets: &mut [(u16, u16, InsertCell)],
    ctx: &BindContext<'_>,
) -> QueryPlan {
    let mut values: Vec<&mut Expr> = Vec::with_capacity(sets.len());
    for (_, _, cell) in sets {
        if let InsertCell::Expr(expr) | InsertCell::Kept(expr) = cell {
            expr::fold_in_place(expr);
            values.push(expr);
        }
    }
    let extra = Extra { whole: targets, read: values.iter().map(|e| &**e).collect(), is_statement: true };
    select::plan(&mut block, &extra, &ctx.in_change(), &Params::new(ctx.param_count))
}

pub(super) fn plan_query(query: Query, ctx: &BindContext<'_>, params: &Params) -> QueryPlan {
    match query {
        Query::Select(mut block) => select::plan(&mut block, &Extra::default(), ctx, params),
        Query::Union(union) => plan_union(*union, ctx, params),
    }
}

/// Plans subqueries; their outer columns get the numbers after `params`'s.
pub(super) fn plan_subqueries(
    subqueries: Vec<SubBlock>,
    ctx: &BindContext<'_>,
    params: &Params,
) -> Vec<SubPlan> {
    subqueries.into_iter().map(|sub| plan_subquery(sub, ctx, params)).collect()
}

/// As [`plan_subqueries`], one.
pub(super) fn plan_subquery(sub: SubBlock, ctx: &BindContext<'_>, params: &Params) -> SubPlan {
    let inside = params.inside(sub.id, sub.outer.len());
    let query = plan_query(sub.query, ctx, &inside);
    let repeatable = !query.any_expr(&|expr| is_volatile(expr) || reads_variable(expr));
    SubPlan { query, outer_base: params.next, outer: sub.outer, repeatable }
}

/// Whether `expr` reads a user variable, which the outer query may set for each row.
fn reads_variable(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::UserVar(_)));
    found
}

fn plan_union(mut union: UnionBlock, ctx: &BindContext<'_>, params: &Params) -> QueryPlan {
    let in_order = union.order.iter_mut().map(|key| &mut key.expr);
    for expr in in_order.chain(&mut union.limit.offset).chain(&mut union.limit.count) {
        params.resolve_expr(expr);
        expr::fold_in_place(expr);
    }
    let arms: Vec<QueryPlan> = union.arms.into_iter().map(|arm| plan_query(arm, ctx, params)).collect();
    let estimate = arms.iter().fold(Estimate::default(), |sum, arm| Estimate {
        rows: sum.rows + arm.estimate.rows,
        cost: sum.cost + arm.estimate.cost,
    });
    let mut node = Node::Union { rel: 0, arms, distinct_after: union.distinct_after };
    union.order.retain(|key| !super::ordering::is_constant(&key.expr));
    if !union.order.is_empty() {
        let limit = if union.count_found_rows { None } else { sort_limit(&union.limit, ctx) };
        node = Node::Sort { input: Box::new(node), keys: union.order, rels: vec![0], limit };
    }
    QueryPlan {
        relations: [Relation::Rows { columns: union.columns }].into(),
        root: window(node, union.limit),
        output: union.output.into(),
        subqueries: Vec::new(),
        locks: RowLocks::default(),
        count_found_rows: union.count_found_rows,
        estimate,
        counted: None,
    }
}
