//! The text of a CASE whose results are numbers: the text of the branch, not that of the number it became.
//!
//! `CONCAT(IF(c, zero_filled, a_decimal))` has the zeros, and the bytes of a BIT column stay bytes. MySQL
//! asks the branch for its own text, also where it sends a DECIMAL or BIT to the client.

use types::{CollationId, SqlType, TypeKind};

use super::branch_number::{unmarked, unmarked_ref};
use super::control::is_text_type;
use super::func_rules::rule_of;
use super::rules::Rule;
use super::{Builder, shown_chars, string_type};
use crate::func::Func;
use crate::{Expr, ExprKind};

impl Builder {
    /// `expr` as a text of type `ty`: of a CASE of numbers the text of the branch.
    pub(super) fn as_text(expr: Expr, ty: SqlType, nullable: bool) -> Expr {
        if has_own_text(&expr) {
            return Expr { nullable, ..texts_of(expr, &ty) };
        }
        Expr::cast(expr, ty, nullable)
    }

    /// Makes the arguments that `func` reads as texts, and that are such a CASE, texts. `ty` is that of its
    /// result.
    pub(super) fn read_branch_texts_for(&self, func: Func, ty: &SqlType, args: &mut [Expr]) {
        let collation = if ty.is_string() { ty.collation } else { self.collation };
        for (at, arg) in args.iter_mut().enumerate() {
            if has_own_text(arg) && reads_text(func, at) {
                let case = std::mem::replace(arg, self.null());
                let ty = string_type(shown_chars(&case.ty), collation);
                *arg = texts_of(case, &ty);
            }
        }
    }
}

impl Expr {
    /// The expression as a client gets it, where it is no column of a table: a DECIMAL or BIT that is such a
    /// CASE is sent as the text of the branch.
    #[must_use]
    pub fn as_sent(self) -> Expr {
        if !matches!(self.ty.kind, TypeKind::Decimal | TypeKind::Bit) || !has_own_text(&self) {
            return self;
        }
        let ty = self.ty.clone();
        let text = string_type(shown_chars(&ty), CollationId::BINARY);
        Expr { ty, ..texts_of(self, &text) }
    }
}

/// The CASE `expr` with the texts of its branches, of type `ty`.
fn texts_of(expr: Expr, ty: &SqlType) -> Expr {
    let nullable = expr.nullable;
    let kind = match expr.kind {
        ExprKind::Case { arms, otherwise } => ExprKind::Case {
            arms: arms.into_iter().map(|(condition, result)| (condition, texts_of(result, ty))).collect(),
            otherwise: otherwise.map(|result| Box::new(texts_of(*result, ty))),
        },
        ExprKind::Let { value, body } => ExprKind::Let { value, body: Box::new(texts_of(*body, ty)) },
        _ if expr.ty.kind == TypeKind::Null => return expr,
        _ => return Builder::noted_branch(Builder::as_text(unmarked(expr), ty.clone(), nullable), true),
    };
    Expr { kind, ty: ty.clone(), nullable }
}

/// Whether `func` reads its argument at position `at` as a text, whatever type that has.
fn reads_text(func: Func, at: usize) -> bool {
    use Func::{
        Ascii, BitLength, CharLength, Crc32, Length, LikeEscape, Md5, Ord, Sha1, Sha2, ToBase64, Unhex,
    };
    match rule_of(func).0 {
        Rule::FromTexts(_) => func.takes_text(at),
        Rule::FromFirst(_) => at == 0,
        Rule::IntOfTexts(_) => func != Func::StrCmp && func.takes_text(at),
        _ => match func {
            Ascii | BitLength | CharLength | Crc32 | Length | LikeEscape | Md5 | Ord | Sha1 | ToBase64
            | Unhex => true,
            Sha2 => at == 0,
            _ => false,
        },
    }
}

/// Whether `case` is a CASE of numbers of which a branch has a text of its own.
pub(super) fn has_own_text(case: &Expr) -> bool {
    if is_text_type(&case.ty) || case.ty.is_temporal() {
        return false;
    }
    match &case.kind {
        ExprKind::Case { arms, otherwise } => {
            let mut results = arms.iter().map(|(_, result)| result).chain(otherwise.as_deref());
            results.any(|result| {
                let branch = unmarked_ref(result);
                has_own_text(branch) || is_shown_otherwise(&branch.ty, &case.ty)
            })
        }
        ExprKind::Let { body, .. } => has_own_text(body),
        _ => false,
    }
}

/// Whether the text of a value of type `own` may differ from that of the number of type `ty` that it becomes.
fn is_shown_otherwise(own: &SqlType, ty: &SqlType) -> bool {
    use TypeKind::{Bit, Double, Float, Null, Year};
    match own.kind {
        Null => false,
        // Bits of another width have other bytes.
        Bit => ty.kind != Bit || own.length != ty.length,
        Year => ty.kind != Year,
        _ if own.zerofill => true,
        _ => {
            matches!(ty.kind, Double | Float)
                && !own.is_integer()
                && (own.kind != ty.kind || own.decimals != ty.decimals)
        }
    }
}
