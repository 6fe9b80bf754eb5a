//! Terms that compare a column with constants.

use expr::{CmpDomain, CmpOp, Expr, ExprKind};
use types::SqlType;

/// Such a term.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnTerm<'e> {
    pub(crate) col: u16,
    pub(crate) ty: &'e SqlType,
    pub(crate) domain: CmpDomain,
    beside: Parts<'e>,
}

#[derive(Clone, Copy, Debug)]
enum Parts<'e> {
    Value(CmpOp, &'e Expr),
    Ends(bool, [&'e Expr; 2]),
    List(bool, &'e [Expr]),
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
                [column, value] if is_constant(value) => (*domain, column, Parts::Value(*op, value)),
                [value, column] => (*domain, column, Parts::Value(op.swapped(), value)),
            },
            ExprKind::Between { negated, domain, args } => {
                let [column, low, high] = &**args;
                (*domain, column, Parts::Ends(*negated, [low, high]))
            }
            ExprKind::In { negated, domain, needle, list } => {
                (*domain, &**needle, Parts::List(*negated, list))
            }
            _ => return None,
        };
        let ExprKind::Column(at) = column.kind else { return None };
        let serves = at.rel == rel && beside.all_constant();
        serves.then_some(ColumnTerm { col: at.col, ty: &column.ty, domain, beside })
    }

    /// What is beside the column.
    pub(crate) fn beside(&self) -> Beside<Expr> {
        match self.beside {
            Parts::Value(op, value) => Beside::Value(op, value.clone()),
            Parts::Ends(negated, [low, high]) => {
                Beside::Ends { negated, low: low.clone(), high: high.clone() }
            }
            Parts::List(negated, list) => Beside::List { negated, list: list.into() },
        }
    }
}

impl Parts<'_> {
    fn all_constant(&self) -> bool {
        match self {
            Parts::Value(_, value) => is_constant(value),
            Parts::Ends(_, ends) => ends.iter().all(|end| is_constant(end)),
            Parts::List(_, list) => list.iter().all(is_constant),
        }
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

    /// Number of constants.
    pub(crate) fn len(&self) -> usize {
        match self {
            Beside::Value(..) => 1,
            Beside::Ends { .. } => 2,
            Beside::List { list, .. } => list.len(),
        }
    }
}

/// Whether the value of `expr` is known before rows are read.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(_) | ExprKind::Param(_))
}
