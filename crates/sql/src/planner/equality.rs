//! Equalities spread: from `a = b AND b = 5` follows `a = 5`, from `a = b AND b = c` follows `a = c`.

use expr::{CmpDomain, CmpOp, ColumnRef, Expr, ExprKind};

use super::relations::Rels;
use crate::bind::same;

/// Most equalities that are added: chains are short, and each addition is looked at by every later rule.
const MAX_ADDED: usize = 16;

/// An equality of a column and another operand.
struct Equality {
    column: Expr,
    other: Expr,
    domain: CmpDomain,
}

/// Adds the equalities that follow from those in `conditions`. Only columns of one type in one domain take
/// part, for which equality is transitive.
pub(super) fn spread(conditions: &mut Vec<Expr>, rels: &Rels) {
    if !conditions.iter().any(joins_columns) {
        return;
    }
    let mut known: Vec<Equality> = conditions.iter().flat_map(equalities).collect();
    let mut added = 0;
    let mut at = 0;
    while at < known.len() && added < MAX_ADDED {
        for second in 0..at {
            let Some(new) = join(&known[at], &known[second]) else { continue };
            if known.iter().any(|e| is_same(e, &new)) || rels.of(&new.other).has(column_of(&new.column).rel) {
                continue;
            }
            let Ok(condition) = rels.build.compare(CmpOp::Eq, new.column.clone(), new.other.clone()) else {
                continue;
            };
            conditions.push(condition);
            known.push(new);
            added += 1;
            if added == MAX_ADDED {
                return;
            }
        }
        at += 1;
    }
}

/// Whether `condition` equates two columns: without one nothing follows from the others.
fn joins_columns(condition: &Expr) -> bool {
    let ExprKind::Compare { op: CmpOp::Eq, args, .. } = &condition.kind else { return false };
    args.iter().all(|e| matches!(e.kind, ExprKind::Column(_)))
}

/// The two readings of `a = b` (a column first), or the one if the other side is no column.
fn equalities(condition: &Expr) -> Vec<Equality> {
    let ExprKind::Compare { op: CmpOp::Eq, domain, args } = &condition.kind else { return Vec::new() };
    let mut found = Vec::new();
    for (column, other) in [(&args[0], &args[1]), (&args[1], &args[0])] {
        let other_fits = match other.kind {
            ExprKind::Const(_) | ExprKind::Param(_) => true,
            ExprKind::Column(_) => is_one_type(column, other),
            _ => false,
        };
        if matches!(column.kind, ExprKind::Column(_)) && other_fits {
            found.push(Equality { column: column.clone(), other: other.clone(), domain: *domain });
        }
    }
    found
}

/// From `x = a` and `x = b`: `a = b`, where `a` is a column.
fn join(first: &Equality, second: &Equality) -> Option<Equality> {
    if first.domain != second.domain || !same::same(&first.column, &second.column) {
        return None;
    }
    let (column, other) = match (&first.other.kind, &second.other.kind) {
        (ExprKind::Column(_), _) => (&first.other, &second.other),
        (_, ExprKind::Column(_)) => (&second.other, &first.other),
        _ => return None,
    };
    let is_fit = !same::same(column, other) && is_one_type(&first.column, column);
    is_fit.then(|| Equality { column: column.clone(), other: other.clone(), domain: first.domain })
}

fn is_same(a: &Equality, b: &Equality) -> bool {
    (same::same(&a.column, &b.column) && same::same(&a.other, &b.other))
        || (same::same(&a.column, &b.other) && same::same(&a.other, &b.column))
}

/// Whether equality with the one means equality with the other for every third operand.
pub(super) fn is_one_type(a: &Expr, b: &Expr) -> bool {
    (a.ty.kind == b.ty.kind && a.ty.collation == b.ty.collation) || (a.ty.is_integer() && b.ty.is_integer())
}

fn column_of(expr: &Expr) -> ColumnRef {
    match expr.kind {
        ExprKind::Column(column) => column,
        _ => ColumnRef { rel: 0, col: 0 },
    }
}
