//! MySQL's coercibility: how hard operands hold on to their collations.

use std::fmt;

use types::TypeKind;

use crate::build::is_text;
use crate::func::Func;
use crate::{Expr, ExprKind};

/// How hard a collation holds on to its operand; the lower one wins. Numbers as COERCIBILITY() returns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coercibility {
    /// COLLATE.
    Explicit = 0,
    /// Operands with different collations.
    NoCollation = 1,
    /// Columns, CAST.
    Implicit = 2,
    /// USER(), VERSION().
    SystemConstant = 3,
    /// Literals.
    Coercible = 4,
    /// Numbers and dates.
    Numeric = 5,
    /// NULL.
    Ignorable = 6,
}

impl fmt::Display for Coercibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Coercibility::Explicit => "EXPLICIT",
            Coercibility::NoCollation => "NONE",
            Coercibility::Implicit => "IMPLICIT",
            Coercibility::SystemConstant => "SYSCONST",
            Coercibility::Coercible => "COERCIBLE",
            Coercibility::Numeric => "NUMERIC",
            Coercibility::Ignorable => "IGNORABLE",
        })
    }
}

/// The coercibility of an operand.
pub(crate) fn coercibility(expr: &Expr) -> Coercibility {
    if expr.ty.kind == TypeKind::Null {
        return Coercibility::Ignorable;
    }
    if !is_text(expr) {
        // The bits of a column are bytes where a text is wanted.
        // A number in a variable is a text of the connection.
        let is_held = expr.ty.kind == TypeKind::Bit || matches!(expr.kind, ExprKind::UserVar(_));
        return if is_held { Coercibility::Implicit } else { Coercibility::Numeric };
    }
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Param(_) => Coercibility::Coercible,
        ExprKind::SysVar { .. } => Coercibility::SystemConstant,
        ExprKind::Call { func, args } => match func {
            Func::Collate => Coercibility::Explicit,
            Func::ConvertUsing | Func::ShareCharset => Coercibility::Implicit,
            Func::Version | Func::Database | Func::User | Func::CurrentUser | Func::CurrentRole => {
                Coercibility::SystemConstant
            }
            Func::DateFormat | Func::TimeFormat | Func::FormatUnixTime => strongest(args[1..].iter()),
            _ if func.makes_own_text() => Coercibility::Coercible,
            _ => {
                let main = func.main_text();
                let counts = |at: usize| main.map_or_else(|| !func.takes_number(at), |main| main == at);
                strongest(args.iter().enumerate().filter(|(at, _)| counts(*at)).map(|(_, text)| text))
            }
        },
        ExprKind::Case { arms, otherwise } => {
            strongest(arms.iter().map(|(_, result)| result).chain(otherwise.as_deref()))
        }
        ExprKind::Let { body, .. } => coercibility(body),
        ExprKind::Held { coercibility, .. } => *coercibility,
        _ => Coercibility::Implicit,
    }
}

fn strongest<'e>(args: impl Iterator<Item = &'e Expr>) -> Coercibility {
    args.map(coercibility).filter(|c| *c < Coercibility::Numeric).min().unwrap_or(Coercibility::Coercible)
}
