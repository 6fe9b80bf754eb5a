//! A left join is an inner join if some condition above it refuses the rows that it fills with NULLs.

use expr::{Expr, ExprKind};

use super::draft::Draft;
use super::relations::{RelSet, Rels};
use crate::bind::block::{JoinTree, Kind};

/// Makes left joins of FROM inner where WHERE rejects NULLs of their inner side.
pub(super) fn apply(draft: &mut Draft<'_>) {
    simplify(&mut draft.block.from, &draft.block.filter, &draft.rels);
}

/// Makes left joins inner where a conjunct of `conditions`, which all hold above `tree`, rejects NULLs of
/// their inner side.
fn simplify(tree: &mut JoinTree, conditions: &[Expr], rels: &Rels) {
    if has_left_join(tree) {
        simplify_below(tree, conditions, rels);
    }
}

fn has_left_join(tree: &JoinTree) -> bool {
    match tree {
        JoinTree::Dual | JoinTree::Rel(_) => false,
        JoinTree::Join { kind, left, right, .. } => {
            *kind == Kind::Left || has_left_join(left) || has_left_join(right)
        }
    }
}

fn simplify_below(tree: &mut JoinTree, conditions: &[Expr], rels: &Rels) {
    let JoinTree::Join { kind, left, right, on } = tree else { return };
    if *kind == Kind::Left {
        let inner = right.rels();
        if conditions.iter().any(|c| inner.iter().any(|&rel| rejects_null(c, rel, rels))) {
            *kind = Kind::Inner;
        }
    }
    if *kind == Kind::Left {
        simplify_below(left, conditions, rels);
        simplify_below(right, on, rels);
    } else {
        let all: Vec<Expr> = conditions.iter().chain(on.iter()).cloned().collect();
        simplify_below(left, &all, rels);
        simplify_below(right, &all, rels);
    }
}

/// Whether `condition` is never true for a row in which all columns of `rel` are NULL.
fn rejects_null(condition: &Expr, rel: u16, rels: &Rels) -> bool {
    if !rels.of(condition).meets(RelSet::of(rel)) {
        return false;
    }
    match &condition.kind {
        ExprKind::And(terms) => terms.iter().any(|t| rejects_null(t, rel, rels)),
        ExprKind::Or(terms) => terms.iter().all(|t| rejects_null(t, rel, rels)),
        ExprKind::Compare { op, args, .. } => {
            *op != expr::CmpOp::NullSafeEq && args.iter().any(|a| is_strict(a, rel))
        }
        ExprKind::Between { args, negated: false, .. } => args.iter().any(|a| is_strict(a, rel)),
        ExprKind::Between { args, .. } => is_strict(&args[0], rel),
        ExprKind::In { needle, .. } => is_strict(needle, rel),
        ExprKind::Like { args, .. } => args.iter().any(|a| is_strict(a, rel)),
        ExprKind::IsNull { negated: true, arg } => is_strict(arg, rel),
        ExprKind::IsTruth { negated: false, arg, .. } => is_strict(arg, rel),
        _ => is_strict(condition, rel),
    }
}

/// Whether `expr` is NULL whenever all columns of `rel` are.
fn is_strict(expr: &Expr, rel: u16) -> bool {
    use expr::Func;
    match &expr.kind {
        ExprKind::Column(column) => column.rel == rel,
        ExprKind::Cast { arg, .. } => is_strict(arg, rel),
        ExprKind::Call { func: Func::Add | Func::Sub | Func::Mul | Func::Div | Func::Neg, args } => {
            args.iter().any(|a| is_strict(a, rel))
        }
        _ => false,
    }
}
