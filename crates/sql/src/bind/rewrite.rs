//! Changing expressions in place.

use expr::{ColumnRef, Expr, ExprKind};

/// Calls `change` on each column reference in `expr`.
pub(crate) fn columns(expr: &mut Expr, change: &mut dyn FnMut(&mut ColumnRef)) {
    if let ExprKind::Column(column) = &mut expr.kind {
        change(column);
    }
    expr.for_each_child_mut(&mut |child| columns(child, change));
}

/// Whether a subquery occurs in `expr`.
pub(crate) fn has_subquery(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Subquery { .. }));
    found
}
