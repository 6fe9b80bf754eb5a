//! Terms that compare a column with constants, or with columns of rows that are there before.

use expr::{CmpDomain, CmpOp, Expr, ExprKind, Func};
use types::SqlType;

/// Longest list that is sorted at once, which takes a few ten milliseconds: a kill ends that late.
pub(crate) const LIST_ITEMS_MAX: usize = if cfg!(test) { 64 } else { 1 << 16 };

/// What a column may be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// What is the same for all runs of an access.
    Constants,
    /// Columns of outer rows as well, which are the same for one run.
    Outer,
}

/// Such a term.
#[derive(Clone, Debug)]
pub(crate) struct ColumnTerm<'e> {
    pub(crate) col: u16,
    pub(crate) ty: &'e SqlType,
    pub(crate) domain: CmpDomain,
    pub(crate) beside: Beside<&'e Expr>,
}

/// What is beside the column.
#[derive(Clone, Debug)]
pub(crate) enum Beside<T> {
    /// `column op value`.
    Value(CmpOp, T),
    /// `column BETWEEN low AND high`.
    Ends { negated: bool, low: T, high: T },
    /// `column IN (list)`.
    List { negated: bool, list: Box<[T]> },
}

impl<'e> ColumnTerm<'e> {
    /// The term that `term` is on relation `rel`, if it is one.
    pub(crate) fn of(rel: u16, term: &'e Expr, known: Known) -> Option<Self> {
        let is_known = |expr: &Expr| is_constant(expr) || (known == Known::Outer && is_outer(rel, expr));
        let (domain, column, beside) = match &term.kind {
            ExprKind::Compare { op, domain, args } if *op != CmpOp::NullSafeEq => match &**args {
                [column, value] if is_known(value) => (*domain, column, Beside::Value(*op, value)),
                [value, column] => (*domain, column, Beside::Value(op.swapped(), value)),
            },
            ExprKind::Between { negated, domain, args } => {
                let [column, low, high] = &**args;
                (*domain, column, Beside::Ends { negated: *negated, low, high })
            }
            ExprKind::In { negated, domain, needle, list } if list.len() <= LIST_ITEMS_MAX => {
                (*domain, &**needle, Beside::List { negated: *negated, list: list.iter().collect() })
            }
            _ => return None,
        };
        let ExprKind::Column(at) = column.kind else { return None };
        let beside = beside.try_map(|expr| is_known(expr).then_some(*expr))?;
        (at.rel == rel).then_some(ColumnTerm { col: at.col, ty: &column.ty, domain, beside })
    }
}

impl<T> Beside<T> {
    /// Whether `test` holds for any of them.
    pub(crate) fn any(&self, mut test: impl FnMut(&T) -> bool) -> bool {
        match self {
            Beside::Value(_, value) => test(value),
            Beside::Ends { low, high, .. } => test(low) || test(high),
            Beside::List { list, .. } => list.iter().any(test),
        }
    }

    /// What `of` makes of each constant; `None` if it makes nothing of one of them.
    pub(crate) fn try_map<U>(&self, mut of: impl FnMut(&T) -> Option<U>) -> Option<Beside<U>> {
        Some(match self {
            Beside::Value(op, value) => Beside::Value(*op, of(value)?),
            Beside::Ends { negated, low, high } => {
                Beside::Ends { negated: *negated, low: of(low)?, high: of(high)? }
            }
            Beside::List { negated, list } => {
                let list = list.iter().map(of).collect::<Option<_>>()?;
                Beside::List { negated: *negated, list }
            }
        })
    }
}

impl Beside<&Expr> {
    /// The same, for as long as it is wanted.
    pub(crate) fn to_owned(&self) -> Option<Beside<Expr>> {
        self.try_map(|expr| Some((*expr).clone()))
    }
}

/// Whether `expr` is a column of another relation than `rel`, or a sum or difference of such integers.
pub(crate) fn is_outer(rel: u16, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column(column) => column.rel != rel,
        ExprKind::Call { func: Func::Add | Func::Sub, args } => {
            let is_integer = |arg: &Expr| arg.ty.is_integer() && (is_constant(arg) || is_outer(rel, arg));
            args.iter().all(is_integer)
        }
        _ => false,
    }
}

/// Whether the value of `expr` is known before rows are read.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(_) | ExprKind::Param(_))
}
