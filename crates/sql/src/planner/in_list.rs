//! `a = 1 OR a = 2` is `a IN (1, 2)`, which an index can serve.

use expr::{CmpDomain, CmpOp, Expr, ExprKind};

use super::draft::Draft;
use crate::bind::same;

/// Makes lists of the disjunctions among the conditions of joins, WHERE and HAVING.
pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.for_each_conditions(&mut |conditions| conditions.iter_mut().for_each(from_or));
}

/// Makes an IN list of a disjunction of equalities of one operand with values.
fn from_or(condition: &mut Expr) {
    let ExprKind::Or(terms) = &condition.kind else { return };
    let mut parts = terms.iter().map(equality);
    let Some(Some((needle, first, domain))) = parts.next() else { return };
    let mut list = vec![first.clone()];
    for part in parts {
        match part {
            Some((other, value, other_domain)) if other_domain == domain && same::same(other, needle) => {
                list.push(value.clone());
            }
            _ => return,
        }
    }
    let needle = Box::new(needle.clone());
    condition.kind = ExprKind::In { negated: false, domain, needle, list: list.into() };
}

/// The column, the value and the domain of `column = value`.
fn equality(term: &Expr) -> Option<(&Expr, &Expr, CmpDomain)> {
    let ExprKind::Compare { op: CmpOp::Eq, domain, args } = &term.kind else { return None };
    let is_value = |e: &Expr| matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_));
    let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(_));
    match &**args {
        [a, b] if is_column(a) && is_value(b) => Some((a, b, *domain)),
        [a, b] if is_column(b) && is_value(a) => Some((b, a, *domain)),
        _ => None,
    }
}
