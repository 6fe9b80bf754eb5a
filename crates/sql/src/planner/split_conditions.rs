//! Conjunctions are split: each conjunct is a condition of its own.

use expr::{Expr, ExprKind};

use super::draft::Draft;
use crate::bind::conjuncts;

/// Splits the conditions of joins, WHERE and HAVING.
pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.for_each_conditions(&mut split);
}

fn split(conditions: &mut Vec<Expr>) {
    if !conditions.iter().any(|condition| matches!(condition.kind, ExprKind::And(_))) {
        return;
    }
    let mut split = Vec::with_capacity(conditions.len() + 1);
    for condition in conditions.drain(..) {
        conjuncts::split(condition, &mut split);
    }
    *conditions = split;
}
