//! Constant expressions are computed once, and conditions that always or never hold are found.

use expr::{Expr, ExprKind};

use crate::bind::block::Block;
use crate::bind::conjuncts;

/// Computes what is constant in `block`.
pub(super) fn block(block: &mut Block) {
    let nullable: Vec<bool> = block.output.iter().map(|item| item.expr.nullable).collect();
    block.for_each_expr(&mut fold_in_place);
    // Clients see whether the operation may be NULL, not whether this value is.
    for (item, nullable) in block.output.iter_mut().zip(nullable) {
        item.expr.nullable |= nullable;
    }
}

/// Computes what is constant in `expr`.
pub(super) fn fold_in_place(expr: &mut Expr) {
    let whole = std::mem::replace(expr, Expr::constant(types::OwnedValue::Null, types::SqlType::null()));
    *expr = expr::fold(whole);
}

/// Splits `conditions` into conjuncts, without those that are constantly true. False if one can never hold.
pub(super) fn settle(conditions: &mut Vec<Expr>) -> bool {
    let mut settled = Vec::with_capacity(conditions.len());
    for condition in std::mem::take(conditions) {
        conjuncts::split(condition, &mut settled);
    }
    settled.iter_mut().for_each(super::in_list::from_or);
    let mut possible = true;
    settled.retain(|condition| match truth(condition) {
        Some(true) => false,
        Some(false) => {
            possible = false;
            false
        }
        None => true,
    });
    *conditions = settled;
    possible
}

/// Whether a constant condition holds; NULL does not.
fn truth(condition: &Expr) -> Option<bool> {
    match &condition.kind {
        ExprKind::Const(value) => Some(value.as_value().to_bool() == Some(true)),
        _ => None,
    }
}
