//! Conditions as lists of conjuncts.

use expr::{Expr, ExprKind};

/// Appends the terms of `condition`, all of which must hold, to `out`.
pub(crate) fn split(condition: Expr, out: &mut Vec<Expr>) {
    match condition.kind {
        ExprKind::And(terms) => terms.into_vec().into_iter().for_each(|term| split(term, out)),
        _ => out.push(condition),
    }
}
