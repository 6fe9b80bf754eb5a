//! Which parameters a plan reads.

use std::ops::Range;

use expr::{Expr, ExprKind};

use super::{AggSpec, Node, Path, QueryPlan};

impl QueryPlan {
    /// Whether the query or a query in it reads a parameter of `range`.
    pub fn reads_params(&self, range: &Range<u16>) -> bool {
        self.output.iter().any(|column| column.expr.reads_params(range))
            || self.root.reads_params(range)
            || self.subqueries.iter().any(|sub| sub.query.reads_params(range))
    }
}

impl Node {
    /// Whether the node or one below it reads a parameter of `range`. What its subqueries read counts only in
    /// [`QueryPlan::reads_params`].
    pub fn reads_params(&self, range: &Range<u16>) -> bool {
        let expr = |expr: &Expr| expr.reads_params(range);
        match self {
            Node::Dual | Node::Empty | Node::Virtual { .. } => false,
            Node::Access { path, filter, index_condition, .. } => {
                path_reads(path, range) || filter.iter().chain(index_condition.as_deref()).any(expr)
            }
            Node::Join { outer, inner, on, .. } => {
                outer.reads_params(range) || inner.reads_params(range) || on.as_ref().is_some_and(expr)
            }
            Node::HashJoin { outer, inner, keys, on, .. } => {
                outer.reads_params(range)
                    || inner.reads_params(range)
                    || keys.iter().any(|(outer, inner, _)| expr(outer) || expr(inner))
                    || on.as_ref().is_some_and(expr)
            }
            Node::Filter { input, cond } => input.reads_params(range) || expr(cond),
            Node::Compute { input, exprs, .. } | Node::Distinct { input, exprs } => {
                input.reads_params(range) || exprs.iter().any(expr)
            }
            Node::Aggregate { input, groups, aggs, .. } => {
                input.reads_params(range)
                    || groups.iter().any(expr)
                    || aggs.iter().any(|agg| agg_reads(agg, range))
            }
            Node::Sort { input, keys, limit, .. } => {
                input.reads_params(range)
                    || keys.iter().any(|key| expr(&key.expr))
                    || limit.as_ref().is_some_and(expr)
            }
            Node::Limit { input, offset, count } => {
                input.reads_params(range) || offset.iter().chain(count).any(expr)
            }
            Node::Derived { query, .. } => query.reads_params(range),
            Node::Union { arms, .. } => arms.iter().any(|arm| arm.reads_params(range)),
        }
    }

    /// Whether an expression of the node, or of one below it in the same query, runs a subquery.
    pub fn runs_subqueries(&self) -> bool {
        let mut found = false;
        self.for_each_expr(&mut |expr| {
            expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Subquery { .. }));
        });
        found
    }

    /// Calls `visit` with the filters, keys and conditions of the node and those below it in the same query.
    fn for_each_expr<'n>(&'n self, visit: &mut dyn FnMut(&'n Expr)) {
        match self {
            Node::Dual | Node::Empty | Node::Virtual { .. } | Node::Derived { .. } | Node::Union { .. } => {}
            Node::Access { path, filter, index_condition, .. } => {
                path_exprs(path).into_iter().chain(filter).chain(index_condition.as_deref()).for_each(visit);
            }
            Node::Join { outer, inner, on, .. } => {
                outer.for_each_expr(visit);
                inner.for_each_expr(visit);
                on.iter().for_each(visit);
            }
            Node::HashJoin { outer, inner, keys, on, .. } => {
                outer.for_each_expr(visit);
                inner.for_each_expr(visit);
                keys.iter().flat_map(|(outer, inner, _)| [outer, inner]).chain(on).for_each(visit);
            }
            Node::Filter { input, cond } => {
                input.for_each_expr(visit);
                visit(cond);
            }
            Node::Compute { input, exprs, .. } | Node::Distinct { input, exprs } => {
                input.for_each_expr(visit);
                exprs.iter().for_each(visit);
            }
            Node::Aggregate { input, groups, aggs, .. } => {
                input.for_each_expr(visit);
                let of_aggs =
                    aggs.iter().flat_map(|agg| agg.args.iter().chain(agg.order.iter().map(|k| &k.expr)));
                groups.iter().chain(of_aggs).for_each(visit);
            }
            Node::Sort { input, keys, .. } => {
                input.for_each_expr(visit);
                keys.iter().map(|key| &key.expr).for_each(visit);
            }
            Node::Limit { input, .. } => input.for_each_expr(visit),
        }
    }
}

fn agg_reads(agg: &AggSpec, range: &Range<u16>) -> bool {
    agg.args.iter().chain(agg.order.iter().map(|key| &key.expr)).any(|expr| expr.reads_params(range))
}

fn path_reads(path: &Path, range: &Range<u16>) -> bool {
    path_exprs(path).into_iter().any(|expr| expr.reads_params(range))
}

/// The keys and bounds of a path.
fn path_exprs(path: &Path) -> Vec<&Expr> {
    match path {
        Path::Scan { .. } => Vec::new(),
        Path::Point { key, .. } => key.iter().collect(),
        Path::Intervals { keys, .. } => keys.exprs().collect(),
        Path::Range { eq, lower, upper, .. } => {
            eq.iter().chain(lower.iter().chain(upper).map(|(expr, _)| expr)).collect()
        }
    }
}
