//! The expressions of a plan.

use std::ops::Range;

use expr::{Expr, ExprKind};
use smallvec::{SmallVec, smallvec};

use super::{Node, Path, QueryPlan};

impl QueryPlan {
    /// Whether the query or a query in it reads a parameter of `range`.
    pub fn reads_params(&self, range: &Range<u16>) -> bool {
        self.any_expr(&|expr| expr.reads_params(range))
    }

    /// Whether `test` holds for an expression of the query or of a query in it.
    pub(crate) fn any_expr(&self, test: &dyn Fn(&Expr) -> bool) -> bool {
        self.output.iter().any(|column| test(&column.expr))
            || self.root.any_expr(test)
            || self.subqueries.iter().any(|sub| sub.query.any_expr(test))
    }
}

impl Node {
    /// Whether the node or one below it reads a parameter of `range`. What its subqueries read counts only in
    /// [`QueryPlan::reads_params`].
    pub fn reads_params(&self, range: &Range<u16>) -> bool {
        self.any_expr(&|expr| expr.reads_params(range))
    }

    /// Whether an expression of the node, or of one below it in the same query, runs a subquery.
    pub fn runs_subqueries(&self) -> bool {
        let mut found = false;
        let mut visit = |expr: &Expr| {
            expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Subquery { .. }));
        };
        self.for_each_expr(&mut visit);
        found
    }

    /// Whether `test` holds for an expression of the node or of one below it, those of derived tables and
    /// unions included.
    fn any_expr(&self, test: &dyn Fn(&Expr) -> bool) -> bool {
        let mut found = false;
        self.own_exprs(&mut |expr| found |= test(expr));
        found
            || self.inputs().into_iter().any(|input| input.any_expr(test))
            || self.queries().iter().any(|query| query.any_expr(test))
    }

    /// Calls `visit` with the expressions of the node and those below it in the same query.
    fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        self.own_exprs(visit);
        self.inputs().into_iter().for_each(|input| input.for_each_expr(visit));
    }

    /// The nodes of the same query that it reads.
    pub(super) fn inputs(&self) -> SmallVec<[&Node; 2]> {
        match self {
            Node::Dual
            | Node::Empty
            | Node::Access { .. }
            | Node::Virtual { .. }
            | Node::Derived { .. }
            | Node::Union { .. } => SmallVec::new(),
            Node::Merge { arms } => arms.iter().collect(),
            Node::Intersect { first, second } => smallvec![&**first, &**second],
            Node::Join { outer, inner, .. } | Node::HashJoin { outer, inner, .. } => {
                smallvec![&**outer, &**inner]
            }
            Node::HashLookup { each, hashed, .. } => smallvec![&**each, &**hashed],
            Node::Filter { input, .. }
            | Node::Compute { input, .. }
            | Node::Aggregate { input, .. }
            | Node::Sort { input, .. }
            | Node::Distinct { input, .. }
            | Node::Limit { input, .. } => smallvec![&**input],
        }
    }

    /// The queries whose rows it gives.
    pub(super) fn queries(&self) -> &[QueryPlan] {
        match self {
            Node::Derived { query, .. } => std::slice::from_ref(query),
            Node::Union { arms, .. } => arms,
            _ => &[],
        }
    }

    /// Calls `visit` with the expressions of the node itself.
    fn own_exprs(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Node::Dual
            | Node::Empty
            | Node::Virtual { .. }
            | Node::Derived { .. }
            | Node::Union { .. }
            | Node::Merge { .. }
            | Node::Intersect { .. }
            | Node::HashLookup { .. } => {}
            Node::Access { path, filter, index_condition, .. } => {
                path_exprs(path).into_iter().chain(filter).chain(index_condition.as_deref()).for_each(visit);
            }
            Node::Join { on, .. } => on.iter().for_each(visit),
            Node::HashJoin { keys, on, .. } => {
                keys.iter().flat_map(|(outer, inner, _)| [outer, inner]).chain(on).for_each(visit);
            }
            Node::Filter { cond, .. } => visit(cond),
            Node::Compute { exprs, .. } | Node::Distinct { exprs, .. } => exprs.iter().for_each(visit),
            Node::Aggregate { groups, aggs, .. } => {
                let of_aggs =
                    aggs.iter().flat_map(|agg| agg.args.iter().chain(agg.order.iter().map(|k| &k.expr)));
                groups.iter().chain(of_aggs).for_each(visit);
            }
            Node::Sort { keys, limit, .. } => keys.iter().map(|key| &key.expr).chain(limit).for_each(visit),
            Node::Limit { offset, count, .. } => offset.iter().chain(count).for_each(visit),
        }
    }
}

/// The keys and bounds of a path.
fn path_exprs(path: &Path) -> Vec<&Expr> {
    match path {
        Path::Scan { .. } => Vec::new(),
        Path::Point { key, .. } => key.iter().collect(),
        Path::Intervals { keys, .. } => keys.exprs().collect(),
        Path::Skip { skip, .. } => skip.exprs().collect(),
        Path::Range { eq, lower, upper, .. } => {
            eq.iter().chain(lower.iter().chain(upper).map(|bound| &bound.0)).collect()
        }
    }
}
