//! Constant operations in conditions are computed once a statement.

use expr::{Builder, CmpDomain, Expr, ExprKind, Func};
use smallvec::SmallVec;
use types::SqlType;

use super::draft::Draft;
use super::relations::Fixed;

/// Makes a statement compute the constant operations in the conditions of joins, WHERE and HAVING once.
pub(super) fn apply(draft: &mut Draft<'_>) {
    // What is read whole is changed.
    let is_select = draft.extra.whole.is_empty();
    let keeping = Keeping {
        fixed: draft.rels.fixed,
        keep: if is_select { Builder::cached_value } else { Builder::kept_value },
    };
    draft.for_each_conditions(&mut |conditions| {
        for condition in conditions {
            keep_in_condition(condition, keeping);
        }
    });
}

/// Which values are the same for all rows, and what keeps a constant operation.
#[derive(Clone, Copy)]
struct Keeping<'f> {
    fixed: Fixed<'f>,
    keep: fn(&Builder, Expr) -> Expr,
}

/// Makes a statement compute each constant operation in `condition` once, as MySQL does. Comparisons of two
/// values become intervals of keys, which are made once.
fn keep_in_condition(condition: &mut Expr, keeping: Keeping<'_>) {
    if compares_column(condition) || !keep_operands(condition, keeping) {
        return;
    }
    match condition.kind {
        ExprKind::Compare { .. } | ExprKind::IsNull { .. } | ExprKind::Like { .. } => {
            condition.for_each_child_mut(&mut |operand| keep(operand, None, keeping.keep));
        }
        ExprKind::Param(_) if !condition.ty.is_string() => {}
        _ => {
            let build = Builder::default();
            let whole = std::mem::replace(condition, build.null());
            *condition = build.kept_truth(whole);
        }
    }
}

/// Whether `condition` compares a column with another column, or with a literal, a parameter or a variable.
fn compares_column(condition: &Expr) -> bool {
    let ExprKind::Compare { args, .. } = &condition.kind else { return false };
    let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(_));
    let is_value = |e: &Expr| matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_));
    match &**args {
        [a, b] if is_column(a) => is_column(b) || is_value(b),
        [a, b] => is_column(b) && is_value(a),
    }
}

/// Whether `expr` is the same for all rows of a statement; if it is not, its operands that are get computed
/// once.
fn keep_operands(expr: &mut Expr, keeping: Keeping<'_>) -> bool {
    if compares_column(expr) {
        return false;
    }
    match &expr.kind {
        ExprKind::Const(_) => return true,
        ExprKind::Param(number) => return keeping.fixed.param(*number),
        ExprKind::UserVar(_) => return keeping.fixed.variables(),
        ExprKind::Column(_)
        | ExprKind::Held { .. }
        | ExprKind::AssignUserVar { .. }
        | ExprKind::SysVar { .. } => return false,
        ExprKind::Call { func: Func::KeptNumber | Func::KeptValue | Func::CachedValue, .. } => return false,
        _ => {}
    }
    let mut constant = SmallVec::<[bool; 8]>::new();
    expr.for_each_child_mut(&mut |operand| constant.push(keep_operands(operand, keeping)));
    let is_volatile = match expr.kind {
        ExprKind::Subquery { .. } | ExprKind::Let { .. } => true,
        ExprKind::Call { func, .. } => func.is_volatile(),
        _ => false,
    };
    if !is_volatile && constant.iter().all(|is_constant| *is_constant) {
        return true;
    }
    split_difference(expr, &constant);
    let domain = read_as(expr, &constant);
    let mut constant = constant.into_iter();
    let is_connective =
        matches!(expr.kind, ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Xor(_) | ExprKind::Not(_));
    expr.for_each_child_mut(&mut |operand| match constant.next() {
        Some(true) if is_connective && operand.ty.is_string() => keep_truth(operand),
        Some(true) => keep(operand, domain, keeping.keep),
        _ => {}
    });
    false
}

/// Makes DATEDIFF of a constant and another date what it is in MySQL: a difference of numbers of days, of
/// which one is a constant operation.
fn split_difference(expr: &mut Expr, constant: &[bool]) {
    let ExprKind::Call { func: func @ Func::DateDiff, args } = &mut expr.kind else { return };
    if constant[0] == constant[1] {
        return;
    }
    *func = Func::Sub;
    for arg in args.iter_mut() {
        let date = std::mem::replace(arg, Builder::default().null());
        let kind = ExprKind::Call { func: Func::ToDays, args: Box::new([date]) };
        *arg = Expr { kind, ty: SqlType::bigint(), nullable: true };
    }
    expr.ty = SqlType::bigint();
}

/// Makes a statement read a constant text as a truth value once, a literal too: one that is no number warns.
#[cold]
fn keep_truth(operand: &mut Expr) {
    let build = Builder::default();
    let whole = std::mem::replace(operand, build.null());
    *operand = build.kept_truth(whole);
}

/// The numbers as which `expr` compares its operands, if it reads a constant text among them once. A list is
/// read once that has nothing but constants.
fn read_as(expr: &Expr, constant: &[bool]) -> Option<CmpDomain> {
    let domain = match expr.kind {
        ExprKind::Compare { domain, .. } => domain,
        ExprKind::In { domain, .. } if constant[1..].iter().all(|is_constant| *is_constant) => domain,
        _ => return None,
    };
    matches!(domain, CmpDomain::Double | CmpDomain::Number).then_some(domain)
}

/// Makes a statement compute a constant operation once, and convert its text once if it is compared as a
/// number of `domain`. Literals and values that the session holds cost nothing.
fn keep(operation: &mut Expr, domain: Option<CmpDomain>, keep: fn(&Builder, Expr) -> Expr) {
    let is_at_hand = match &operation.kind {
        ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::UserVar(_) => true,
        ExprKind::Call { args, .. } => args.is_empty(),
        _ => false,
    };
    if !is_at_hand {
        let build = Builder::default();
        let whole = std::mem::replace(operation, build.null());
        *operation = match domain {
            Some(CmpDomain::Double) => build.kept_truth(whole),
            Some(_) => build.kept_beside_integers(whole),
            None => keep(&build, whole),
        };
    }
}
