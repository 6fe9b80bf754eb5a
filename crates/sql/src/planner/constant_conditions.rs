//! Conditions that always hold are left out, and where one never holds, there are no rows.

use expr::{Expr, ExprKind};
use types::value::Loss;

use super::draft::Draft;
use super::join_list::{Item, JoinList};
use super::ordering::Ordering;
use super::relations::Rels;
use crate::plan::{Estimate, Node};

/// Settles the conditions of joins, WHERE and HAVING.
pub(super) fn apply(draft: &mut Draft<'_>) {
    if !settle_list(&mut draft.list, &draft.rels) {
        draft.set_rows(Node::Empty, Ordering::default(), Estimate::default());
    }
    draft.is_having_false = !settle(&mut draft.having);
}

/// Settles this list and those of its left joins. False if the list has no rows.
fn settle_list(list: &mut JoinList, rels: &Rels<'_>) -> bool {
    if !settle(&mut list.conditions) {
        return false;
    }
    for item in &mut list.items {
        if let Item::Left { list: inner, .. } = item
            && !settle_list(inner, rels)
        {
            inner.conditions = vec![rels.build.boolean(false)];
        }
    }
    true
}

/// Leaves out the conditions that are constantly true. False if one can never hold.
fn settle(conditions: &mut Vec<Expr>) -> bool {
    let mut possible = true;
    conditions.retain(|condition| match truth(condition) {
        Some(true) => false,
        Some(false) => {
            possible = false;
            false
        }
        None => true,
    });
    possible
}

/// Whether a constant condition holds; NULL does not.
fn truth(condition: &Expr) -> Option<bool> {
    match &condition.kind {
        // A text that is no number warns when it is read.
        ExprKind::Const(value) if value.as_value().to_f64().loss != Loss::None => None,
        ExprKind::Const(value) => Some(value.as_value().to_bool() == Some(true)),
        _ => None,
    }
}
