//! Equalities spread: from `a = b AND b = 5` follows `a = 5`, from `a = b AND b = c` follows `a = c`.

use expr::{CmpDomain, CmpOp, ColumnRef, Expr, ExprKind};
use smallvec::SmallVec;

use super::draft::{Draft, for_each_conditions};
use super::relations::Rels;
use crate::bind::same;

/// Most equalities that are added: chains are short, and every later rule reads each addition.
const ADDED_MAX: usize = 16;

/// An equality of a column and another operand, which are operands of conditions.
#[derive(Clone, Copy)]
struct Equality<'e> {
    /// The column that `column` is.
    of: ColumnRef,
    column: &'e Expr,
    other: &'e Expr,
    domain: CmpDomain,
}

/// Equalities: those of most lists need no allocation.
type Equalities<'e> = SmallVec<[Equality<'e>; 12]>;

/// Spreads equalities in each list of conditions.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let Draft { list, rels, .. } = draft;
    for_each_conditions(list, &mut |conditions| spread(conditions, rels));
}

/// Adds the equalities that follow from those in `conditions`. Only columns of one type in one domain take
/// part, for which equality is transitive.
fn spread(conditions: &mut Vec<Expr>, rels: &Rels) {
    if conditions.iter().any(joins_columns) {
        let added = following(conditions, rels);
        conditions.extend(added);
    }
}

/// The equalities that follow from `conditions`.
fn following(conditions: &[Expr], rels: &Rels) -> SmallVec<[Expr; 2]> {
    let mut known = Equalities::new();
    for condition in conditions {
        add_readings(condition, &mut known);
    }
    let mut added = SmallVec::new();
    let mut at = 0;
    while at < known.len() {
        for second in 0..at {
            if known[at].of != known[second].of {
                continue;
            }
            let Some(new) = join(known[at], known[second]) else { continue };
            if known.iter().any(|e| is_same(e, &new)) || rels.of(new.other).has(new.of.rel) {
                continue;
            }
            let Ok(condition) = rels.build.compare(CmpOp::Eq, new.column.clone(), new.other.clone()) else {
                continue;
            };
            added.push(condition);
            known.push(new);
            if added.len() == ADDED_MAX {
                return added;
            }
        }
        at += 1;
    }
    added
}

/// Whether `condition` equates two columns: without one nothing follows from the others.
fn joins_columns(condition: &Expr) -> bool {
    let ExprKind::Compare { op: CmpOp::Eq, args, .. } = &condition.kind else { return false };
    args.iter().all(|e| matches!(e.kind, ExprKind::Column(_)))
}

/// Adds the two readings of `a = b` (a column first), or the one if the other side is no column.
fn add_readings<'e>(condition: &'e Expr, known: &mut Equalities<'e>) {
    let ExprKind::Compare { op: CmpOp::Eq, domain, args } = &condition.kind else { return };
    for (column, other) in [(&args[0], &args[1]), (&args[1], &args[0])] {
        let other_fits = match other.kind {
            ExprKind::Const(_) | ExprKind::Param(_) => true,
            ExprKind::Column(_) => is_one_type(column, other),
            _ => false,
        };
        if let (ExprKind::Column(of), true) = (&column.kind, other_fits) {
            known.push(Equality { of: *of, column, other, domain: *domain });
        }
    }
}

/// From `x = a` and `x = b`, with the same `x`: `a = b`, where `a` is a column.
fn join<'e>(first: Equality<'e>, second: Equality<'e>) -> Option<Equality<'e>> {
    if first.domain != second.domain {
        return None;
    }
    let (column, other) = match (&first.other.kind, &second.other.kind) {
        (ExprKind::Column(_), _) => (first.other, second.other),
        (_, ExprKind::Column(_)) => (second.other, first.other),
        _ => return None,
    };
    let is_fit = !same::same(column, other) && is_one_type(first.column, column);
    is_fit.then_some(Equality { of: column_of(column), column, other, domain: first.domain })
}

fn is_same(a: &Equality<'_>, b: &Equality<'_>) -> bool {
    (same::same(a.column, b.column) && same::same(a.other, b.other))
        || (same::same(a.column, b.other) && same::same(a.other, b.column))
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
