//! Whether two expressions are the same, as GROUP BY and DISTINCT ask.

use expr::{Expr, ExprKind, RowPart};

/// Whether `a` and `b` compute the same thing from the same columns. Types follow from the operands and are
/// not read. Subqueries are the same only as clones of one another.
pub(crate) fn same(a: &Expr, b: &Expr) -> bool {
    same_node(a, b) && has_same_operands(a, b)
}

fn has_same_operands(a: &Expr, b: &Expr) -> bool {
    matches!(a.kind, ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Column(_)) || {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        a.for_each_child(&mut |child| left.push(child));
        b.for_each_child(&mut |child| right.push(child));
        left.len() == right.len() && left.iter().zip(&right).all(|(a, b)| same(a, b))
    }
}

/// Whether the two agree in everything but their operands.
fn same_node(a: &Expr, b: &Expr) -> bool {
    use ExprKind as K;
    match (&a.kind, &b.kind) {
        (K::Const(x), K::Const(y)) => {
            let (x, y) = (x.as_value(), y.as_value());
            x.collation() == y.collation() && x == y
        }
        (K::Param(x), K::Param(y)) => x == y,
        (K::Column(x), K::Column(y)) => x == y,
        (K::And(_), K::And(_)) | (K::Or(_), K::Or(_)) | (K::Xor(_), K::Xor(_)) | (K::Not(_), K::Not(_)) => {
            true
        }
        (K::Compare { op, domain, .. }, K::Compare { op: op2, domain: domain2, .. }) => {
            op == op2 && domain == domain2
        }
        (K::CompareRows(parts), K::CompareRows(others)) => {
            let is_same = |(a, b): (&RowPart, &RowPart)| a.op == b.op && a.domain == b.domain;
            parts.len() == others.len() && parts.iter().zip(others).all(is_same)
        }
        (K::Between { negated, domain, .. }, K::Between { negated: n2, domain: d2, .. })
        | (K::In { negated, domain, .. }, K::In { negated: n2, domain: d2, .. }) => {
            negated == n2 && domain == d2
        }
        (K::IsNull { negated, .. }, K::IsNull { negated: n2, .. }) => negated == n2,
        (K::IsTruth { negated, truth, .. }, K::IsTruth { negated: n2, truth: t2, .. }) => {
            negated == n2 && truth == t2
        }
        (
            K::Like { negated, collation, escape, .. },
            K::Like { negated: n2, collation: c2, escape: e2, .. },
        ) => negated == n2 && collation == c2 && escape == e2,
        (K::Case { arms, otherwise }, K::Case { arms: arms2, otherwise: o2 }) => {
            arms.len() == arms2.len() && otherwise.is_some() == o2.is_some()
        }
        (K::Let { .. }, K::Let { .. }) | (K::Held { .. }, K::Held { .. }) => true,
        (K::Cast { .. }, K::Cast { .. }) => a.ty == b.ty,
        (K::Call { func, .. }, K::Call { func: func2, .. }) => func == func2 && a.ty == b.ty,
        (K::UserVar(x), K::UserVar(y)) => x == y,
        (K::AssignUserVar { name, .. }, K::AssignUserVar { name: n2, .. }) => name == n2,
        (K::SysVar { global, name }, K::SysVar { global: g2, name: n2 }) => global == g2 && name == n2,
        (K::Subquery { plan, form, .. }, K::Subquery { plan: p2, form: f2, .. }) => plan == p2 && form == f2,
        _ => false,
    }
}
