//! The number of a CASE whose results are texts, or dates and times of several types: the number that the
//! branch is, not that of what it became.
//!
//! `IF(c, CURTIME(), 'none') + 0` adds 101112, where the text would be 10. `IF(c, a_date, a_datetime) + 0`
//! has eight digits where the date is chosen. MySQL asks the branch for what the operator reads.

use types::{CollationId, OwnedValue, SqlType, TypeKind};

use super::Builder;
use super::control::is_text_type;
use super::fsp::temporal_fsp;
use super::literal::datetime_type;
use super::typing::{decimal_digits, decimal_type};
use crate::func::Func;
use crate::{Expr, ExprKind};

impl Builder {
    /// `branch`, a result of a CASE. `is_converted`: it had another type before, and a number of its own.
    pub(super) fn noted_branch(mut branch: Expr, is_converted: bool) -> Expr {
        if is_converted {
            mark(&mut branch);
        }
        branch
    }

    /// Makes the CASE of texts or dates that `arg` is one of the numbers of its branches, if one of them was
    /// converted.
    pub fn read_branches(&self, arg: &mut Expr) {
        if has_branch_of_number(arg) {
            let case = std::mem::replace(arg, self.null());
            let ty = number_type(&case);
            *arg = number_of(case, &ty);
        }
    }

    /// [`Builder::read_branches`] for the arguments of `func`, if it reads numbers.
    pub(super) fn read_branches_for(&self, func: Func, args: &mut [Expr]) {
        if !reads_numbers(func) || combines_bytes(func, args) {
            return;
        }
        for arg in args {
            let is_double = arg.ty.is_temporal() && !is_exact(func) && has_branch_of_number(arg);
            self.read_branches(arg);
            if is_double {
                let (decimals, nullable) = (arg.ty.decimals, arg.nullable);
                let number = std::mem::replace(arg, self.null());
                *arg = Expr::cast(number, SqlType { decimals, ..SqlType::double() }, nullable);
            }
        }
    }

    /// [`Builder::read_branches`] for each of `args`.
    pub(crate) fn read_all_branches(&self, args: &mut [Expr]) {
        for arg in args {
            self.read_branches(arg);
        }
    }
}

/// Whether `func` is an operator of bits that has strings of bytes for operands.
fn combines_bytes(func: Func, args: &[Expr]) -> bool {
    use Func::{BitAnd, BitCount, BitNot, BitOr, BitXor, ShiftLeft, ShiftRight};
    let is_bytes = |e: &Expr| e.ty.is_string() && e.ty.collation == CollationId::BINARY;
    match func {
        BitAnd | BitOr | BitXor | BitNot | BitCount => args.iter().all(is_bytes),
        ShiftLeft | ShiftRight => is_bytes(&args[0]),
        _ => false,
    }
}

/// Whether `func` reads the number of a date as an integer or decimal.
fn is_exact(func: Func) -> bool {
    use Func::{
        Add, BitAnd, BitCount, BitNot, BitOr, BitXor, Div, IntDiv, Mod, Mul, ShiftLeft, ShiftRight, Sub,
    };
    matches!(
        func,
        Add | Sub
            | Mul
            | Div
            | IntDiv
            | Mod
            | BitAnd
            | BitOr
            | BitXor
            | BitNot
            | BitCount
            | ShiftLeft
            | ShiftRight
    )
}

fn reads_numbers(func: Func) -> bool {
    use Func::{
        Abs, Acos, Asin, Atan, Ceiling, Cos, Cot, Degrees, Exp, Floor, Ln, Log, Log2, Log10, Neg, Pow,
        Radians, Round, Sign, Sin, Sqrt, Tan, Truncate,
    };
    is_exact(func)
        || matches!(
            func,
            Neg | Abs
                | Sign
                | Ceiling
                | Floor
                | Round
                | Truncate
                | Sqrt
                | Exp
                | Ln
                | Log
                | Log2
                | Log10
                | Pow
                | Sin
                | Cos
                | Tan
                | Cot
                | Asin
                | Acos
                | Atan
                | Degrees
                | Radians
        )
}

/// The type of the number that a text, date or time is.
fn number_type(case: &Expr) -> SqlType {
    if !case.ty.is_temporal() {
        return SqlType::double();
    }
    match decimal_digits(case) {
        (digits, 0) => SqlType::new(TypeKind::BigInt, digits + 1),
        (digits, fraction) => decimal_type(digits, u32::from(fraction)),
    }
}

/// Marks the conversion of a branch.
fn mark(branch: &mut Expr) {
    match &mut branch.kind {
        ExprKind::Cast { is_branch, .. } => *is_branch = true,
        ExprKind::Call { func: Func::ConvertUsing, args } => mark(&mut args[0]),
        _ => {}
    }
}

/// What a marked branch is before its conversion.
fn marked(branch: &Expr) -> Option<&Expr> {
    match &branch.kind {
        ExprKind::Cast { arg, is_branch: true, .. } => Some(arg),
        ExprKind::Call { func: Func::ConvertUsing, args } => marked(&args[0]),
        // Nothing else makes a branch one.
        ExprKind::Call { func: Func::AsMoment, args } => Some(&args[0]),
        _ => None,
    }
}

/// As [`unmarked`].
pub(super) fn unmarked_ref(branch: &Expr) -> &Expr {
    marked(branch).unwrap_or(branch)
}

/// `branch` without its conversion, if that is marked.
pub(super) fn unmarked(mut branch: Expr) -> Expr {
    match &mut branch.kind {
        ExprKind::Cast { arg, is_branch: true, .. } => take(arg),
        ExprKind::Call { func: Func::AsMoment, args } => take(&mut args[0]),
        ExprKind::Call { func: Func::ConvertUsing, args } if marked(&args[0]).is_some() => {
            unmarked(take(&mut args[0]))
        }
        _ => branch,
    }
}

fn take(expr: &mut Expr) -> Expr {
    let null = Expr { kind: ExprKind::Const(OwnedValue::Null), ty: SqlType::null(), nullable: true };
    std::mem::replace(expr, null)
}

fn has_branch_of_number(expr: &Expr) -> bool {
    if !is_text_type(&expr.ty) && !expr.ty.is_temporal() {
        return false;
    }
    match &expr.kind {
        ExprKind::Case { arms, otherwise } => {
            let mut results = arms.iter().map(|(_, result)| result).chain(otherwise.as_deref());
            results.any(|result| marked(result).is_some() || has_branch_of_number(result))
        }
        ExprKind::Let { body, .. } => has_branch_of_number(body),
        _ => is_extreme_of_moments(expr),
    }
}

/// Whether `expr` is GREATEST or LEAST of texts and dates or times, which is a text and has the number of
/// another value: of dates that of the chosen one, of times the extreme one of the numbers.
fn is_extreme_of_moments(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { func: Func::Greatest | Func::Least, args } => {
            is_text_type(&expr.ty) && args.iter().any(|arg| marked(arg).is_some())
        }
        _ => is_extreme_of_dates(expr),
    }
}

/// [`is_extreme_of_moments`] of dates.
pub(super) fn is_extreme_of_dates(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { func: Func::GreatestMoment | Func::LeastMoment, .. } => true,
        ExprKind::Cast { arg, is_branch: true, .. } => {
            matches!(arg.kind, ExprKind::Call { func: Func::Greatest | Func::Least, .. })
        }
        _ => false,
    }
}

/// GREATEST or LEAST of `args`, as values of type `ty`.
fn extreme(func: Func, args: Box<[Expr]>, ty: SqlType, nullable: bool) -> Expr {
    let func =
        if matches!(func, Func::Greatest | Func::GreatestMoment) { Func::Greatest } else { Func::Least };
    Expr { kind: ExprKind::Call { func, args }, ty, nullable }
}

/// `expr` as a number of type `ty`; a decimal keeps its own fraction digits.
fn number_of(expr: Expr, ty: &SqlType) -> Expr {
    let nullable = expr.nullable;
    let kind = match expr.kind {
        ExprKind::Case { arms, otherwise } => ExprKind::Case {
            arms: arms.into_iter().map(|(condition, result)| (condition, number_of(result, ty))).collect(),
            otherwise: otherwise.map(|result| Box::new(number_of(*result, ty))),
        },
        ExprKind::Let { value, body } => ExprKind::Let { value, body: Box::new(number_of(*body, ty)) },
        ExprKind::Const(OwnedValue::Null) => return expr,
        ExprKind::Call { func: func @ (Func::GreatestMoment | Func::LeastMoment), args } => {
            let fsp = args.iter().map(temporal_fsp).max().unwrap_or(0);
            return Expr::cast(extreme(func, args, datetime_type(fsp), true), ty.clone(), true);
        }
        ExprKind::Call { func: func @ (Func::Greatest | Func::Least), args }
            if is_text_type(&expr.ty) && args.iter().any(|arg| marked(arg).is_some()) =>
        {
            let double = SqlType::double();
            let args = args.into_iter().map(|arg| number_of(arg, &double)).collect();
            return Expr::cast(extreme(func, args, double, nullable), ty.clone(), nullable);
        }
        _ => {
            let mut branch = unmarked(expr);
            if has_branch_of_number(&branch) {
                let own = number_type(&branch);
                branch = number_of(branch, &own);
            }
            let ty = match ty.kind {
                TypeKind::Decimal => SqlType { decimals: branch.ty.decimals, ..ty.clone() },
                _ => ty.clone(),
            };
            return Expr::cast(branch, ty, nullable);
        }
    };
    Expr { kind, ty: ty.clone(), nullable }
}
