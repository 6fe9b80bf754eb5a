//! Terms that compare a column with constants.

use expr::{CmpDomain, CmpOp, Expr, ExprKind};
use types::SqlType;

/// Longest list that is sorted at once, which takes a few ten milliseconds: a kill ends that late.
pub(crate) const LIST_ITEMS_MAX: usize = if cfg!(test) { 64 } else { 1 << 16 };

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
    pub(crate) fn of(rel: u16, term: &'e Expr) -> Option<Self> {
        let (domain, column, beside) = match &term.kind {
            ExprKind::Compare { op, domain, args } if *op != CmpOp::NullSafeEq => match &**args {
                [column, value] if is_constant(value) => (*domain, column, Beside::Value(*op, value)),
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
        let beside = beside.try_map(|expr| is_constant(expr).then_some(*expr))?;
        (at.rel == rel).then_some(ColumnTerm { col: at.col, ty: &column.ty, domain, beside })
    }
}

impl<T> Beside<T> {
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

/// Whether the value of `expr` is known before rows are read.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(_) | ExprKind::Param(_))
}
