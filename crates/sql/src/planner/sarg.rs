//! Conditions that an index can serve: a column of the relation, compared with values known before its rows are read.

use expr::{CmpDomain, CmpOp, Expr, ExprKind};
use types::{SqlType, TypeKind};

use super::relations::{RelSet, Rels};
use crate::bind::volatile::is_volatile;

/// What a condition says about a column.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// `=`
    Eq(Expr),
    /// `<=>` and IS NULL: finds NULLs too.
    NullSafeEq(Expr),
    /// `>` and `>=` (true).
    Lower(Expr, bool),
    /// `<` and `<=` (true).
    Upper(Expr, bool),
    /// BETWEEN.
    Between(Expr, Expr),
    /// IN.
    In(Vec<Expr>),
}

/// A condition on a column of the relation.
#[derive(Clone, Debug)]
pub(super) struct Sarg {
    /// The column.
    pub(super) col: u16,
    /// What is said.
    pub(super) test: Test,
    /// Position of the condition in the list it was taken from.
    pub(super) condition: usize,
    /// A path that uses it finds exactly the rows that satisfy it; else they must be tested again.
    pub(super) exact: bool,
}

/// What `condition`, the `at`-th, says about a column of `rel`, given that `bound` are read.
pub(super) fn of(condition: &Expr, at: usize, rel: u16, bound: RelSet, rels: &Rels) -> Option<Sarg> {
    let finder = Finder { rel, bound, rels };
    let (col, test, exact) = match &condition.kind {
        ExprKind::Compare { op, domain, args } => finder.comparison(*op, *domain, args)?,
        ExprKind::Between { negated: false, domain, args } => {
            let (col, ty) = finder.column(&args[0])?;
            let low = finder.fit(ty, *domain, &args[1], false)?;
            let high = finder.fit(ty, *domain, &args[2], false)?;
            (col, Test::Between(args[1].clone(), args[2].clone()), low && high)
        }
        ExprKind::In { negated: false, domain, needle, list } => {
            let (col, ty) = finder.column(needle)?;
            let mut exact = true;
            for item in list {
                exact &= finder.fit(ty, *domain, item, true)?;
            }
            (col, Test::In(list.to_vec()), exact)
        }
        ExprKind::IsNull { negated: false, arg } => {
            let (col, _) = finder.column(arg)?;
            (col, Test::NullSafeEq(rels.build.null()), true)
        }
        _ => return None,
    };
    Some(Sarg { col, test, condition: at, exact })
}

struct Finder<'r> {
    rel: u16,
    bound: RelSet,
    rels: &'r Rels,
}

impl Finder<'_> {
    fn comparison(&self, op: CmpOp, domain: CmpDomain, args: &[Expr; 2]) -> Option<(u16, Test, bool)> {
        let (column, value, op) = match self.column(&args[0]) {
            Some(column) => (column, &args[1], op),
            None => (self.column(&args[1])?, &args[0], op.swapped()),
        };
        let (col, ty) = column;
        let is_equality = matches!(op, CmpOp::Eq | CmpOp::NullSafeEq);
        let exact = self.fit(ty, domain, value, is_equality)?;
        let value = value.clone();
        let test = match op {
            CmpOp::Eq => Test::Eq(value),
            CmpOp::NullSafeEq => Test::NullSafeEq(value),
            CmpOp::Lt | CmpOp::Le => Test::Upper(value, op == CmpOp::Le),
            CmpOp::Gt | CmpOp::Ge => Test::Lower(value, op == CmpOp::Ge),
            CmpOp::Ne => return None,
        };
        Some((col, test, exact))
    }

    /// The column of the relation that `expr` is.
    fn column<'e>(&self, expr: &'e Expr) -> Option<(u16, &'e SqlType)> {
        match expr.kind {
            ExprKind::Column(column) if column.rel == self.rel => Some((column.col, &expr.ty)),
            _ => None,
        }
    }

    /// Whether an index on a column of type `ty` finds what compares with `value` in `domain`: `None` if not,
    /// `Some(false)` if what it finds must be tested again.
    fn fit(&self, ty: &SqlType, domain: CmpDomain, value: &Expr, is_equality: bool) -> Option<bool> {
        if !self.rels.of(value).within(self.bound) || is_volatile(value) {
            return None;
        }
        // Members of an ENUM are in the order of their numbers, so that only equality of their texts can be looked up.
        let is_member = ty.kind == TypeKind::Enum && matches!(domain, CmpDomain::String(_));
        if is_member && is_equality && value.ty.is_string() {
            return Some(false);
        }
        domain_fit(ty, domain, &value.ty)
    }
}

/// Whether the order of a column of type `ty` in an index is that of its comparison with values of type `value` in
/// `domain`.
fn domain_fit(ty: &SqlType, domain: CmpDomain, value: &SqlType) -> Option<bool> {
    if value.kind == TypeKind::Null {
        return Some(false);
    }
    match domain {
        CmpDomain::Integer if ty.is_integer() && value.is_integer() => Some(true),
        CmpDomain::Number if ty.is_integer() => (is_number(value) || value.is_string()).then_some(true),
        CmpDomain::Integer | CmpDomain::Decimal | CmpDomain::Double
            if is_number(ty) || ty.kind == TypeKind::Year =>
        {
            (is_number(value) || value.is_string()).then_some(false)
        }
        CmpDomain::String(collation) if ty.is_string() && ty.collation == collation && value.is_string() => {
            let padded = matches!(ty.kind, TypeKind::Binary);
            Some(!padded)
        }
        CmpDomain::DateTime
            if matches!(ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp) =>
        {
            let is_same =
                value.kind == ty.kind && ty.kind != TypeKind::Timestamp && value.decimals <= ty.decimals;
            let is_fit = value.is_temporal() && value.kind != TypeKind::Time || value.is_string();
            is_fit.then_some(is_same)
        }
        CmpDomain::Time if ty.kind == TypeKind::Time => {
            let is_fit = value.kind == TypeKind::Time || value.is_string();
            is_fit.then_some(value.kind == TypeKind::Time && value.decimals <= ty.decimals)
        }
        _ => None,
    }
}

fn is_number(ty: &SqlType) -> bool {
    ty.is_integer() || matches!(ty.kind, TypeKind::Decimal | TypeKind::Double)
}
