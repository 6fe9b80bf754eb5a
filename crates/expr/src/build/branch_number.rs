//! The number of a CASE whose results are texts: the number that the branch is, not that in its text.
//!
//! `IF(c, CURTIME(), 'none') + 0` adds 101112, where the text would be 10. MySQL asks the branch for what the
//! operator reads.

use types::{CollationId, OwnedValue, SqlType};

use super::Builder;
use super::control::is_text_type;
use crate::func::Func;
use crate::{Expr, ExprKind};

impl Builder {
    /// `branch`, which `expr` became as a text among the results of a CASE. `is_text`: it was one before.
    pub(super) fn noted_branch(mut branch: Expr, is_text: bool) -> Expr {
        if !is_text {
            mark(&mut branch);
        }
        branch
    }

    /// Makes the CASE of texts that `arg` is one of the numbers of its branches, if one of them is no text.
    pub fn read_branches(&self, arg: &mut Expr) {
        if has_branch_of_number(arg) {
            let case = std::mem::replace(arg, self.null());
            *arg = number_of(case);
        }
    }

    /// [`Builder::read_branches`] for the arguments of `func`, if it reads numbers.
    pub(super) fn read_branches_for(&self, func: Func, args: &mut [Expr]) {
        if reads_numbers(func) && !combines_bytes(func, args) {
            self.read_all_branches(args);
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

fn reads_numbers(func: Func) -> bool {
    use Func::{
        Abs, Acos, Add, Asin, Atan, BitAnd, BitCount, BitNot, BitOr, BitXor, Ceiling, Cos, Cot, Degrees, Div,
        Exp, Floor, IntDiv, Ln, Log, Log2, Log10, Mod, Mul, Neg, Pow, Radians, Round, ShiftLeft, ShiftRight,
        Sign, Sin, Sqrt, Sub, Tan, Truncate,
    };
    matches!(
        func,
        Neg | Add
            | Sub
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
            | Abs
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

/// Marks the conversion of a branch to a text.
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
        _ => None,
    }
}

/// `branch` without its conversion, if that is marked.
fn unmarked(mut branch: Expr) -> Expr {
    match &mut branch.kind {
        ExprKind::Cast { arg, is_branch: true, .. } => take(arg),
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
    if !is_text_type(&expr.ty) {
        return false;
    }
    match &expr.kind {
        ExprKind::Case { arms, otherwise } => {
            let mut results = arms.iter().map(|(_, result)| result).chain(otherwise.as_deref());
            results.any(|result| marked(result).is_some() || has_branch_of_number(result))
        }
        ExprKind::Let { body, .. } => has_branch_of_number(body),
        _ => false,
    }
}

fn number_of(expr: Expr) -> Expr {
    let (ty, nullable) = (SqlType::double(), expr.nullable);
    let kind = match expr.kind {
        ExprKind::Case { arms, otherwise } => ExprKind::Case {
            arms: arms.into_iter().map(|(condition, result)| (condition, number_of(result))).collect(),
            otherwise: otherwise.map(|result| Box::new(number_of(*result))),
        },
        ExprKind::Let { value, body } => ExprKind::Let { value, body: Box::new(number_of(*body)) },
        ExprKind::Const(OwnedValue::Null) => return expr,
        _ => return Expr::cast(unmarked(expr), ty, nullable),
    };
    Expr { kind, ty, nullable }
}
