//! Outer columns of subqueries become parameters.

use expr::{Expr, ExprKind};

use crate::bind::block::{Block, outer_id};

/// Parameter numbers in a query.
#[derive(Clone, Debug)]
pub(super) struct Params {
    /// First number not in use by the enclosing queries.
    pub(super) next: u16,
    /// Where the outer columns of each enclosing subquery begin.
    bases: Vec<(u16, u16)>,
    /// The query is one of two forms of a subquery: those inside are planned in the form that they have, so
    /// that the work does not double with each level.
    pub(super) one_form: bool,
}

impl Params {
    /// Those of a statement with `count` parameters.
    pub(super) fn new(count: u16) -> Params {
        Params { next: count, bases: Vec::new(), one_form: false }
    }

    /// Those inside subquery `id` with `outer` outer columns.
    pub(super) fn inside(&self, id: u16, outer: usize) -> Params {
        let mut bases = self.bases.clone();
        bases.push((id, self.next));
        Params { next: self.next + outer as u16, bases, one_form: self.one_form }
    }

    /// Whether the query is a subquery.
    pub(super) fn is_inside(&self) -> bool {
        !self.bases.is_empty()
    }

    /// The same for one of two forms of a subquery.
    pub(super) fn of_one_form(&self) -> Params {
        Params { one_form: true, ..self.clone() }
    }

    /// Replaces the pseudo-columns in `block`.
    pub(super) fn resolve(&self, block: &mut Block) {
        if !self.bases.is_empty() {
            block.for_each_expr(&mut |expr| self.resolve_expr(expr));
        }
    }

    /// Replaces the pseudo-columns in `expr`.
    pub(super) fn resolve_expr(&self, expr: &mut Expr) {
        if let ExprKind::Column(column) = expr.kind
            && let Some(id) = outer_id(column.rel)
            && let Some((_, base)) = self.bases.iter().find(|(known, _)| *known == id)
        {
            expr.kind = ExprKind::Param(base + column.col);
        }
        expr.for_each_child_mut(&mut |child| self.resolve_expr(child));
    }
}
