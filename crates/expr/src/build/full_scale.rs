//! Decimals with fewer digits after the point than their type has.
//!
//! A user variable and a branch of CASE show the digits that they have themselves, whatever the type says.
//! What MySQL computes of them shows as many as its type. Whether that needs padding is decided here, so that
//! operators of columns do not ask.

use types::TypeKind;
use types::decimal::{PRECISION_MAX, SCALE_MAX};

use crate::func::Func;
use crate::{Expr, ExprKind};

/// Whether `func` computes a number, which shows all digits of its type.
fn is_computed(func: Func) -> bool {
    use Func::{Abs, Add, Coalesce, Greatest, IfNull, Least, Mod, Mul, Neg, Sub};
    matches!(func, Neg | Abs | Add | Sub | Mul | Mod | Coalesce | IfNull | Greatest | Least)
}

fn may_lack_digits(expr: &Expr) -> bool {
    if expr.ty.kind != TypeKind::Decimal {
        return false;
    }
    match &expr.kind {
        ExprKind::UserVar(_) => true,
        ExprKind::Case { arms, otherwise } => {
            let mut results = arms.iter().map(|(_, result)| result).chain(otherwise.as_deref());
            results.any(|result| lacks_digits_of(result, expr.ty.decimals))
        }
        ExprKind::Let { body, .. } => may_lack_digits(body),
        ExprKind::Held { shown: Some(shown), .. } => may_lack_digits(shown),
        _ => false,
    }
}

/// Whether the branch `result` of a CASE may have fewer digits after the point than `scale`.
fn lacks_digits_of(result: &Expr, scale: u8) -> bool {
    // The value of a parameter has its own digits.
    let is_open = matches!(result.kind, ExprKind::Param(_)) && result.ty.decimals == SCALE_MAX;
    result.ty.kind == TypeKind::Decimal && (result.ty.decimals < scale || is_open || may_lack_digits(result))
}

impl Expr {
    /// The result of `func`, with all digits of its type if one of its operands may lack some.
    #[must_use]
    pub(super) fn with_digits_of(self, func: Func, args_lack_digits: bool) -> Expr {
        let is_padded = args_lack_digits && is_computed(func) && self.ty.kind == TypeKind::Decimal;
        if is_padded { self.in_full_scale() } else { self }
    }

    /// Whether the decimal that this is may have fewer digits after the point than its type.
    #[must_use]
    pub fn may_lack_digits(&self) -> bool {
        may_lack_digits(self)
    }

    /// The decimal with as many digits after the point as its type has.
    #[must_use]
    fn in_full_scale(self) -> Expr {
        let (ty, nullable) = (self.ty.clone(), self.nullable);
        Expr { kind: ExprKind::Call { func: Func::FullScale, args: Box::new([self]) }, ty, nullable }
    }

    /// Whether this is a number as a decimal of the type that several values have in common, which has the
    /// most digits that there are.
    pub(crate) fn is_common_decimal(&self) -> bool {
        let is_longest = self.ty.kind == TypeKind::Decimal && self.ty.length == PRECISION_MAX;
        let from_number = |arg: &Expr| arg.ty.kind == TypeKind::Decimal || arg.ty.is_integer();
        is_longest && matches!(&self.kind, ExprKind::Cast { arg, .. } if from_number(arg))
    }

    /// The decimal as a text or a date that stores it shows it: with the digits that it has itself.
    #[must_use]
    pub fn with_own_digits(self) -> Expr {
        use Func::{Add, Coalesce, Div, FullScale, IfNull, Mod, Mul, Neg, Sub};
        let is_computed = match &self.kind {
            ExprKind::Call { func, .. } => {
                matches!(func, Add | Sub | Mul | Div | Mod | Neg | Coalesce | IfNull | FullScale)
            }
            ExprKind::Case { .. } => true,
            _ => self.is_common_decimal(),
        };
        if !is_computed || self.ty.kind != TypeKind::Decimal {
            return self;
        }
        let (ty, nullable) = (self.ty.clone(), self.nullable);
        Expr { kind: ExprKind::Call { func: Func::OwnDigits, args: Box::new([self]) }, ty, nullable }
    }

    /// The expression as what keeps it in a column of its type shows it.
    #[must_use]
    pub fn as_kept_decimal(self) -> Expr {
        if may_lack_digits(&self) { self.in_full_scale() } else { self }
    }
}
