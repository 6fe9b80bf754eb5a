//! The parts of expressions, in text order.

use super::{Expr, ExprKind, Query};

/// A part of an expression.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// An operand or argument.
    Expr(&'a Expr<'a>),
    /// A subquery.
    Query(&'a Query<'a>),
}

impl<'a> Expr<'a> {
    /// Whether `is_it` holds for the expression or a part of it outside of subqueries.
    pub(crate) fn any(&self, is_it: &dyn Fn(&Expr<'_>) -> bool) -> bool {
        let mut found = is_it(self);
        self.for_each_part(&mut |part| {
            if let Part::Expr(part) = part {
                found = found || part.any(is_it);
            }
        });
        found
    }

    /// Calls `visit` on each operand, argument and subquery. Window specifications are left out.
    pub fn for_each_part(&self, visit: &mut dyn FnMut(Part<'a>)) {
        let mut list = |parts: &'a [Expr<'a>]| parts.iter().for_each(|e| visit(Part::Expr(e)));
        match self.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Default
            | ExprKind::Star
            | ExprKind::Literal(_)
            | ExprKind::Param(_)
            | ExprKind::Column(_)
            | ExprKind::UserVar(_)
            | ExprKind::SystemVar(_)
            | ExprKind::ValuesOf(_)
            | ExprKind::DefaultOf(_)
            | ExprKind::Keyword(_) => {}
            ExprKind::And(terms, _) | ExprKind::Or(terms, _) | ExprKind::Row(terms) => list(terms),
            ExprKind::Call(call) => list(call.args),
            ExprKind::Aggregate(call) => {
                list(call.args);
                call.order_by.iter().for_each(|item| visit(Part::Expr(&item.expr)));
            }
            ExprKind::InList(test) => {
                visit(Part::Expr(&test.expr));
                test.list.iter().for_each(|e| visit(Part::Expr(e)));
            }
            ExprKind::Case(case) => {
                case.operand.iter().for_each(|e| visit(Part::Expr(e)));
                for (when, then) in case.arms {
                    visit(Part::Expr(when));
                    visit(Part::Expr(then));
                }
                case.otherwise.iter().for_each(|e| visit(Part::Expr(e)));
            }
            ExprKind::Exists(query) | ExprKind::Subquery(query) => visit(Part::Query(query)),
            ExprKind::InSubquery(test) => {
                visit(Part::Expr(&test.expr));
                visit(Part::Query(test.query));
            }
            ExprKind::Quantified(test) => {
                visit(Part::Expr(&test.expr));
                visit(Part::Query(test.query));
            }
            _ => self.few().into_iter().flatten().for_each(|e| visit(Part::Expr(e))),
        }
    }

    /// Whether it has an aggregate outside of its subqueries.
    pub(crate) fn has_aggregate(&self) -> bool {
        let mut found = matches!(self.kind, ExprKind::Aggregate(_));
        self.for_each_part(&mut |part| {
            if let Part::Expr(child) = part {
                found |= child.has_aggregate();
            }
        });
        found
    }

    /// The operands of the forms that have up to three and no subquery of their own.
    fn few(&self) -> [Option<&'a Expr<'a>>; 3] {
        match self.kind {
            ExprKind::Assign(assign) => [Some(&assign.value), None, None],
            ExprKind::Unary(_, operand) | ExprKind::Is(operand, ..) | ExprKind::Extract(_, operand) => {
                [Some(operand), None, None]
            }
            ExprKind::Binary(_, left, right) => [Some(left), Some(right), None],
            ExprKind::Between(test) => [Some(&test.expr), Some(&test.low), Some(&test.high)],
            ExprKind::Like(like) => [Some(&like.expr), Some(&like.pattern), like.escape.as_ref()],
            ExprKind::Cast(cast) => [Some(&cast.expr), None, None],
            ExprKind::ConvertUsing(convert) => [Some(&convert.expr), None, None],
            ExprKind::Collate(collate) => [Some(&collate.expr), None, None],
            ExprKind::DateAdd(add) => [Some(&add.date), Some(&add.amount), None],
            ExprKind::UnitCall(call) => [Some(&call.first), Some(&call.second), None],
            ExprKind::Trim(trim) => [trim.remove.as_ref(), Some(&trim.expr), None],
            ExprKind::Match(found) => [Some(&found.against), None, None],
            _ => [None, None, None],
        }
    }
}
