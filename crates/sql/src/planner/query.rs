//! Entries of the planner, subqueries and unions.

use expr::{Expr, ExprKind};

use super::draft::{Extra, PlanInput};
use super::limit::{sort_limit, window};
use super::outer::Params;
use super::rule::Rule;
use super::select;
use crate::bind::BindContext;
use crate::bind::block::{Block, Query, SubBlock, UnionBlock};
use crate::bind::volatile::is_volatile;
use crate::plan::{Estimate, InsertCell, Node, QueryPlan, Relation, RowLocks, SubPlan};

/// Plans the queries of one statement.
#[derive(Clone, Copy)]
pub(crate) struct Planner<'c> {
    ctx: &'c BindContext<'c>,
    rules: &'c [Rule],
}

impl<'c> Planner<'c> {
    pub(crate) fn new(ctx: &'c BindContext<'c>, rules: &'c [Rule]) -> Planner<'c> {
        Planner { ctx, rules }
    }

    /// Plans a statement's query.
    pub(crate) fn query(self, query: Query) -> QueryPlan {
        let params = Params::new(self.ctx.param_count);
        let extra = Extra { is_statement: true, ..Extra::default() };
        match query {
            Query::Select(mut block) => self.block(&mut block, &extra, &params),
            Query::Union(union) => self.union(*union, &params),
        }
    }

    /// Plans the query whose rows a statement inserts.
    pub(crate) fn source(self, query: Query) -> QueryPlan {
        Planner { ctx: &self.ctx.in_change(), ..self }.query(query)
    }

    /// Plans the subqueries of a statement that has no query of its own.
    pub(crate) fn subplans(self, subqueries: Vec<SubBlock>) -> Vec<SubPlan> {
        self.subqueries(subqueries, &Params::new(self.ctx.param_count))
    }

    /// Plans the query that finds the rows of an UPDATE or DELETE. All columns of `targets` are read.
    pub(crate) fn change(
        self,
        mut block: Block,
        targets: &[u16],
        sets: &mut [(u16, u16, InsertCell)],
    ) -> QueryPlan {
        let mut values: Vec<&mut Expr> = Vec::with_capacity(sets.len());
        for (_, _, cell) in sets {
            if let InsertCell::Expr(expr) | InsertCell::Kept(expr) = cell {
                expr::fold_in_place(expr);
                values.push(expr);
            }
        }
        let extra = Extra { whole: targets, read: values.iter().map(|e| &**e).collect(), is_statement: true };
        let (ctx, params) = (self.ctx.in_change(), Params::new(self.ctx.param_count));
        Planner { ctx: &ctx, ..self }.block(&mut block, &extra, &params)
    }

    /// Plans a query within a statement.
    pub(super) fn inner(self, query: Query, params: &Params) -> QueryPlan {
        match query {
            Query::Select(mut block) => self.block(&mut block, &Extra::default(), params),
            Query::Union(union) => self.union(*union, params),
        }
    }

    /// Plans subqueries; their outer columns get the numbers after `params`'s.
    pub(super) fn subqueries(self, subqueries: Vec<SubBlock>, params: &Params) -> Vec<SubPlan> {
        subqueries.into_iter().map(|sub| self.subquery(sub, params)).collect()
    }

    /// As [`Planner::subqueries`], one.
    pub(super) fn subquery(self, sub: SubBlock, params: &Params) -> SubPlan {
        let inside = params.inside(sub.id, sub.outer.len());
        let query = self.inner(sub.query, &inside);
        let repeatable = !query.any_expr(&|expr| is_volatile(expr) || reads_variable(expr));
        SubPlan { query, outer_base: params.next, outer: sub.outer, repeatable }
    }

    fn block(self, block: &mut Block, extra: &Extra<'_>, params: &Params) -> QueryPlan {
        params.resolve(block);
        select::by_rules(self.rules, PlanInput::new(block, extra, self.ctx, params))
    }

    fn union(self, mut union: UnionBlock, params: &Params) -> QueryPlan {
        let in_order = union.order.iter_mut().map(|key| &mut key.expr);
        for expr in in_order.chain(&mut union.limit.offset).chain(&mut union.limit.count) {
            params.resolve_expr(expr);
            expr::fold_in_place(expr);
        }
        let arms: Vec<QueryPlan> = union.arms.into_iter().map(|arm| self.inner(arm, params)).collect();
        let estimate = arms.iter().fold(Estimate::default(), |sum, arm| {
            Estimate::new(sum.rows + arm.estimate.rows, sum.cost + arm.estimate.cost)
        });
        let mut node = Node::Union { rel: 0, arms, distinct_after: union.distinct_after };
        union.order.retain(|key| !super::ordering::is_constant(&key.expr));
        if !union.order.is_empty() {
            let limit = if union.count_found_rows { None } else { sort_limit(&union.limit, self.ctx) };
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
}

/// Whether `expr` reads a user variable, which the outer query may set for each row.
fn reads_variable(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::UserVar(_)));
    found
}
