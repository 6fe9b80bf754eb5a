//! Comparisons, BETWEEN and LIKE.

use std::sync::Arc;

use types::collation::LikePattern;
use types::{OwnedValue, SqlType, TypeKind, storage};

use super::control::is_textual;
use super::logic::truth;
use super::typing::{Class, class_of, fixed_decimals, is_text};
use super::{BindError, Builder, shown_chars, string_type};
use crate::fold::fold;
use crate::func::Func;
use crate::{CmpDomain, CmpOp, Expr, ExprKind};

impl CmpOp {
    /// The operator as written.
    pub fn symbol(self) -> &'static str {
        match self {
            CmpOp::Eq => "=",
            CmpOp::NullSafeEq => "<=>",
            CmpOp::Ne => "<>",
            CmpOp::Lt => "<",
            CmpOp::Le => "<=",
            CmpOp::Gt => ">",
            CmpOp::Ge => ">=",
        }
    }
}

impl Builder {
    /// `a op b`.
    pub fn compare(&self, op: CmpOp, a: Expr, b: Expr) -> Result<Expr, BindError> {
        self.compare_digits(op, [a, b], true)
    }

    /// `a = b` of a text and a number, which is compared as a text in the collation of `a`.
    pub fn equal_texts(&self, a: Expr, b: Expr) -> Expr {
        let (collation, nullable) = (a.ty.collation, b.nullable);
        let is_fixed = matches!(b.kind, ExprKind::Const(_) | ExprKind::Param(_));
        let ty = string_type(shown_chars(&b.ty), collation);
        let shown = Expr::cast(b, ty, nullable);
        let shown = if is_fixed { self.kept_value(shown) } else { shown };
        let nullable = a.nullable || nullable;
        let args = Box::new([a, shown]);
        truth(ExprKind::Compare { op: CmpOp::Eq, domain: CmpDomain::String(collation), args }, nullable)
    }

    /// Whether `a` and `b` are texts of one character set and two collations.
    pub fn are_of_two_collations(&self, a: &Expr, b: &Expr) -> bool {
        let (x, y) = (&a.ty, &b.ty);
        is_text(a) && is_text(b) && x.charset() == y.charset() && x.collation != y.collation
    }

    /// `a = b` of such texts in the collation of `a`, whichever holds on to its own.
    pub fn equal_as_first(&self, a: Expr, b: Expr) -> Expr {
        let (domain, nullable) = (CmpDomain::String(a.ty.collation), a.nullable || b.nullable);
        truth(ExprKind::Compare { op: CmpOp::Eq, domain, args: Box::new([a, b]) }, nullable)
    }

    /// `a op b`; `is_rounded`: of doubles with a fixed number of fraction digits only these count.
    pub(super) fn compare_digits(
        &self,
        op: CmpOp,
        mut args: [Expr; 2],
        is_rounded: bool,
    ) -> Result<Expr, BindError> {
        let domain = if args.iter().all(is_plain_integer) {
            CmpDomain::Integer
        } else {
            self.read_text_as_decimal(&mut args);
            self.agree(&mut args, op.symbol())?
        };
        if matches!(domain, CmpDomain::Double | CmpDomain::Number) {
            if is_rounded {
                self.round_fixed(&mut args);
            }
            self.read_texts(&mut args, domain);
        }
        let nullable = op != CmpOp::NullSafeEq && args.iter().any(|e| e.nullable);
        Ok(truth(ExprKind::Compare { op, domain, args: Box::new(args) }, nullable))
    }

    /// Where both sides have a fixed number of fraction digits, doubles are compared by these: the error of a
    /// sum of DOUBLE(8,2) does not show.
    fn round_fixed(&self, args: &mut [Expr; 2]) {
        /// Rounding to more digits would change doubles.
        const DIGITS_MAX: u8 = 15;
        let decimals = args.iter().map(fixed_decimals).max().unwrap_or(SqlType::NOT_FIXED_DECIMALS);
        if decimals > DIGITS_MAX {
            return;
        }
        for at in 0..2 {
            let (arg, beside) = (&args[at], &args[1 - at]);
            if class_of(arg) != Class::Double || matches!(arg.kind, ExprKind::Const(_)) {
                continue;
            }
            if !is_stored_with_digits(arg) {
                args[at] = self.rounded(arg.clone(), decimals);
            } else if let Some(value) = constant_number(beside) {
                let stored = storage::round_to_scale(&arg.ty, value);
                if arg.ty.decimals == decimals && stored != value {
                    args[1 - at] = self.stored_digits(stored, decimals);
                }
            } else if !(is_stored_with_digits(beside) && beside.ty.decimals == arg.ty.decimals) {
                args[at] = self.rounded(arg.clone(), decimals);
            }
        }
    }

    fn rounded(&self, value: Expr, decimals: u8) -> Expr {
        let (ty, nullable) = (SqlType { decimals, ..SqlType::double() }, value.nullable);
        let args = Box::new([value, self.int(i64::from(decimals))]);
        Expr { kind: ExprKind::Call { func: Func::Round, args }, ty, nullable }
    }

    /// A constant as a column of DOUBLE(M,D) stores it: its last bit may be another than that of the number
    /// as it is written.
    fn stored_digits(&self, stored: f64, decimals: u8) -> Expr {
        let constant = self.double(stored);
        Expr { ty: SqlType { decimals, ..constant.ty }, ..constant }
    }

    /// `value [NOT] BETWEEN low AND high`.
    pub fn between(&self, value: Expr, low: Expr, high: Expr, negated: bool) -> Result<Expr, BindError> {
        if class_of(&value) == Class::Double
            && !negated
            && constant_number(&low).is_some_and(|low| constant_number(&high) == Some(low))
        {
            return self.compare(CmpOp::Eq, value, low);
        }
        let mut args = [value, low, high];
        if args.iter().all(is_textual) {
            // Dates do not keep texts from having to share a collation.
            self.common_collation(&args.each_ref(), "between")?;
        }
        self.share_among_dates(&mut args, "between");
        self.read_beside_moments(&mut args);
        let domain = self.agree(&mut args, "between")?;
        if matches!(domain, CmpDomain::Double | CmpDomain::Number) {
            for arg in &mut args {
                self.read_special_text(arg);
            }
        }
        let nullable = args.iter().any(|e| e.nullable);
        Ok(truth(ExprKind::Between { negated, domain, args: Box::new(args) }, nullable))
    }

    /// `text [NOT] LIKE pattern ESCAPE escape`; `None` for `ESCAPE ''`, backslash is the default. A constant
    /// pattern is compiled here.
    pub fn like(
        &self,
        text: Expr,
        pattern: Expr,
        escape: Option<char>,
        negated: bool,
    ) -> Result<Expr, BindError> {
        let collation = self.common_collation(&[&text, &pattern], "like")?;
        let text = self.in_charset(self.text_of(text), collation);
        let pattern = self.in_charset(self.text_of(pattern), collation);
        let nullable = text.nullable || pattern.nullable;
        let compiled = match (&pattern.kind, collation.collation()) {
            (ExprKind::Const(OwnedValue::Bytes { data, .. }), Some(known)) => {
                Some(Arc::new(LikePattern::new(data, escape.map(u32::from), known)))
            }
            _ => None,
        };
        let args = Box::new([text, pattern]);
        Ok(truth(ExprKind::Like { negated, collation, escape, compiled, args }, nullable))
    }

    /// Checks that the three operands of `text LIKE pattern ESCAPE escape` have a collation in common.
    ///
    /// # Errors
    /// 1270 if they have none.
    pub fn agree_like(&self, text: &Expr, pattern: &Expr, escape: &Expr) -> Result<(), BindError> {
        self.common_collation(&[text, pattern, escape], "like").map(drop)
    }

    /// `text [NOT] LIKE pattern ESCAPE escape` with an escape character that is computed. The operands
    /// agree; see [`Builder::agree_like`].
    pub fn like_with_escape(
        &self,
        text: Expr,
        pattern: Expr,
        escape: Expr,
        negated: bool,
    ) -> Result<Expr, BindError> {
        let mut args = vec![self.text_of(text), self.text_of(pattern)];
        let collation = self.share_charset(&mut args, Func::LikeEscape, true)?;
        args.push(self.in_charset(self.text_of(escape), collation));
        let nullable = args.iter().any(|e| e.nullable);
        let kind = ExprKind::Call { func: Func::LikeEscape, args: args.into() };
        let found = truth(kind, nullable);
        Ok(if negated { self.not(found) } else { found })
    }
}

pub(super) fn is_temporal(expr: &Expr) -> bool {
    matches!(class_of(expr), Class::DateTime | Class::Time)
}

/// Whether `expr` is a column whose values were rounded when they were stored.
fn is_stored_with_digits(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(_))
        && expr.ty.kind == TypeKind::Double
        && !expr.ty.is_calculated
        && expr.ty.length != SqlType::double().length
}

/// The number that a constant is.
fn constant_number(expr: &Expr) -> Option<f64> {
    let is_number = matches!(class_of(expr), Class::Int | Class::Decimal | Class::Double);
    match fold(expr.clone()).kind {
        ExprKind::Const(OwnedValue::Null) => None,
        ExprKind::Const(value) if is_number => Some(value.as_value().to_f64().value),
        _ => None,
    }
}

/// Whether `expr` is an integer that [`Builder::agree`] would leave as it is.
#[inline]
pub(super) fn is_plain_integer(expr: &Expr) -> bool {
    expr.ty.is_integer() && !matches!(expr.kind, ExprKind::Const(_))
}
