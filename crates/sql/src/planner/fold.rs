//! Constant expressions are computed once, and conditions that always or never hold are found.

use expr::{Expr, ExprKind};
use smallvec::SmallVec;

use crate::bind::block::Block;
use crate::bind::conjuncts;
use crate::bind::volatile::is_volatile;

/// Computes what is constant in `block`.
pub(super) fn block(block: &mut Block) {
    let nullable: SmallVec<[bool; 32]> = block.output.iter().map(|item| item.expr.nullable).collect();
    block.for_each_expr(&mut expr::fold_in_place);
    // Clients see whether the operation may be NULL, not whether this value is.
    for (item, nullable) in block.output.iter_mut().zip(nullable) {
        item.expr.nullable |= nullable;
    }
}

/// Splits `conditions` into conjuncts, without those that are constantly true. False if one can never hold. The statement has
/// `params` parameters.
pub(super) fn settle(conditions: &mut Vec<Expr>, params: u16) -> bool {
    if conditions.iter().any(|condition| matches!(condition.kind, ExprKind::And(_))) {
        let mut split = Vec::with_capacity(conditions.len() + 1);
        for condition in conditions.drain(..) {
            conjuncts::split(condition, &mut split);
        }
        *conditions = split;
    }
    conditions.iter_mut().for_each(super::in_list::from_or);
    let mut possible = true;
    conditions.retain(|condition| match truth(condition) {
        Some(true) => false,
        Some(false) => {
            possible = false;
            false
        }
        None => true,
    });
    conditions.iter_mut().filter(|condition| is_fixed(condition, params)).for_each(keep);
    possible
}

/// Whether a condition is a call that is the same for all rows of a statement. Comparisons become intervals of keys, which are
/// made once.
fn is_fixed(condition: &Expr, params: u16) -> bool {
    if !matches!(condition.kind, ExprKind::Call { .. }) || is_volatile(condition) {
        return false;
    }
    let mut fixed = true;
    condition.walk(&mut |e| {
        fixed &= match e.kind {
            ExprKind::Param(number) => number < params,
            ExprKind::Column(_)
            | ExprKind::Subquery { .. }
            | ExprKind::UserVar(_)
            | ExprKind::AssignUserVar { .. } => false,
            _ => true,
        };
    });
    fixed
}

/// Has a condition computed once a statement.
fn keep(condition: &mut Expr) {
    let build = expr::Builder::default();
    let whole = std::mem::replace(condition, build.null());
    *condition = build.kept_number(whole);
}

/// Whether a constant condition holds; NULL does not.
fn truth(condition: &Expr) -> Option<bool> {
    match &condition.kind {
        ExprKind::Const(value) => Some(value.as_value().to_bool() == Some(true)),
        _ => None,
    }
}
