//! Types of arithmetic.

use types::decimal::{PRECISION_MAX, SCALE_MAX};
use types::{SqlModes, SqlType};

use super::rules::{constant_int, is_null};
use super::typing::{
    Class, class_of, decimal_digits, decimal_type, double_of, fixed_decimals, is_long_hexadecimal, is_text,
    is_unsigned, numeric_class, real_of_width, real_with_decimals, shown_chars,
};
use super::{BindError, Builder};
use crate::fold::fold;
use crate::func::Func;
use crate::{Expr, ExprKind};

/// Width of the widest BIGINT.
const BIGINT_WIDTH: u32 = 21;

impl Builder {
    /// `-expr`. The negation of a constant is a constant.
    pub fn negate(&self, expr: Expr) -> Result<Expr, BindError> {
        use types::OwnedValue::{Decimal, Double, Int, UInt};
        if let ExprKind::Const(value) = &expr.kind {
            const LEAST: u64 = 1 << 63;
            match value {
                Int(i64::MIN) => return Ok(self.decimal(types::Decimal::from(i64::MIN).negate())),
                Int(v) if !expr.ty.unsigned => return Ok(Expr { ty: expr.ty.clone(), ..self.int(-v) }),
                UInt(LEAST) => return Ok(self.int(i64::MIN)),
                Decimal(v) => return Ok(Expr { ty: expr.ty.clone(), ..self.decimal(v.negate()) }),
                Double(v) => return Ok(self.double(-v)),
                UInt(v) => return Ok(self.decimal(types::Decimal::from(*v).negate())),
                _ => {}
            }
        }
        let is_least = !names_column(&expr)
            && matches!(fold(expr.clone()).kind, ExprKind::Const(types::OwnedValue::Int(i64::MIN)));
        let negated = self.operator(Func::Neg, vec![expr])?;
        // The least BIGINT has no opposite.
        Ok(if is_least { Expr { ty: decimal_type(19, 0), ..negated } } else { negated })
    }

    /// An operator that is a [`Func`]: `+`, `-`, `*`, `/`, DIV, `%`, `&`, `|`, `^`, `<<`, `>>`, `~`.
    pub fn operator(&self, func: Func, args: Vec<Expr>) -> Result<Expr, BindError> {
        self.call_func(func, args)
    }
}

/// `+`, `-`, `%`, `*`: the widest class of the operands.
pub(crate) fn arithmetic(builder: &Builder, func: Func, args: &[Expr]) -> SqlType {
    let (a, b) = (&args[0], &args[1]);
    if [a, b].iter().any(|e| numeric_class(e) == Class::Double) {
        let unsigned = func == Func::Mod && is_unsigned(a);
        return SqlType { unsigned, ..double_of([a, b], 0) };
    }
    let ((whole_a, scale_a), (whole_b, scale_b)) = (decimal_digits(a), decimal_digits(b));
    if [a, b].iter().all(|e| numeric_class(e) == Class::Int) {
        let unsigned = match func {
            Func::Mod => is_unsigned(a),
            Func::Sub if builder.modes.has(SqlModes::NO_UNSIGNED_SUBTRACTION) => false,
            _ => is_unsigned(a) || is_unsigned(b),
        };
        let digits = match func {
            Func::Mul => (whole_a + whole_b).min(PRECISION_MAX),
            Func::Mod => whole_a.max(whole_b) + u32::from(unsigned),
            _ => whole_a.max(whole_b) + 1,
        };
        return integer_type(digits, unsigned);
    }
    decimal_result(func, (a, whole_a, u32::from(scale_a)), (b, whole_b, u32::from(scale_b)))
}

/// `+`, `-`, `%`, `*` of decimals, each with its digits before and after the point. A sum may be longer than
/// any column; a remainder has the sign of the dividend.
fn decimal_result(func: Func, a: (&Expr, u32, u32), b: (&Expr, u32, u32)) -> SqlType {
    let ((a, whole_a, scale_a), (b, whole_b, scale_b)) = (a, b);
    let scale = scale_a.max(scale_b);
    let (precision_a, precision_b) = (whole_a + scale_a, whole_b + scale_b);
    let unsigned = is_unsigned(a) && (func == Func::Mod || is_unsigned(b));
    let (precision, scale) = match func {
        Func::Mul => {
            ((precision_a + precision_b).min(PRECISION_MAX), (scale_a + scale_b).min(SCALE_MAX.into()))
        }
        Func::Mod => (precision_a.max(precision_b) + u32::from(is_unsigned(a)), scale),
        _ => (whole_a.max(whole_b) + 1 + scale, scale),
    };
    SqlType { unsigned, ..SqlType::decimal(precision.max(scale).max(1), scale as u8) }
}

/// `/`.
pub(crate) fn division(builder: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let (a, b) = (&args[0], &args[1]);
    if [a, b].iter().any(|e| numeric_class(e) == Class::Double) {
        return double_quotient(a, b, builder.div_precision_increment);
    }
    let ((whole_a, scale_a), (_, scale_b)) = (decimal_digits(a), decimal_digits(b));
    let increment = u32::from(builder.div_precision_increment);
    let scale = (u32::from(scale_a) + increment).min(u32::from(SCALE_MAX));
    let precision = (whole_a + u32::from(scale_a) + u32::from(scale_b) + increment).clamp(1, PRECISION_MAX);
    let unsigned = is_unsigned(a) && is_unsigned(b);
    SqlType { unsigned, ..SqlType::decimal(precision.max(scale), scale as u8) }
}

/// A quotient of fixed digits is as wide as the dividend before the point.
fn double_quotient(dividend: &Expr, divisor: &Expr, increment: u8) -> SqlType {
    let decimals = fixed_decimals(dividend).max(fixed_decimals(divisor)).saturating_add(increment);
    let longest = real_with_decimals(decimals);
    let whole = dividend.ty.width().saturating_sub(u32::from(fixed_decimals(dividend)));
    real_of_width((whole + u32::from(decimals)).min(longest.length), decimals)
}

/// BIGINT of as many digits.
fn integer_type(digits: u32, unsigned: bool) -> SqlType {
    SqlType { unsigned, ..SqlType::new(types::TypeKind::BigInt, digits + u32::from(!unsigned)) }
}

/// DIV: as wide as the dividend without its fraction; a divisor below one makes it longer by its fraction. A
/// text may be all of either.
pub(crate) fn integer_division(_: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let (dividend, divisor) = (&args[0], &args[1]);
    let unsigned = is_unsigned(dividend) || is_unsigned(divisor);
    let sign = u32::from(!unsigned);
    let width_max = BIGINT_WIDTH + sign;
    let whole = match class_of(dividend) {
        Class::Text | Class::Null => shown_chars(&dividend.ty),
        Class::Double => real_digits(&dividend.ty),
        _ => decimal_digits(dividend).0,
    };
    let fraction = match class_of(divisor) {
        Class::Text => shown_chars(&divisor.ty),
        Class::Int | Class::Null => 0,
        _ => u32::from(divisor.ty.decimals),
    };
    let width = whole.saturating_add(fraction).saturating_add(sign).min(width_max);
    SqlType { unsigned, ..SqlType::new(types::TypeKind::BigInt, width) }
}

/// Digits before the point of a FLOAT or DOUBLE that is divided.
fn real_digits(ty: &SqlType) -> u32 {
    /// Digits that every DOUBLE has, whatever its declaration says.
    const DOUBLE_DIGITS: u32 = 22;
    let digits = if ty.kind == types::TypeKind::Double { DOUBLE_DIGITS } else { ty.width() };
    match ty.decimals {
        SqlType::NOT_FIXED_DECIMALS => digits,
        decimals => digits.saturating_sub(u32::from(decimals)),
    }
}

/// Unary minus, ABS.
pub(crate) fn signed_number(_: &Builder, func: Func, args: &[Expr]) -> SqlType {
    let arg = &args[0];
    match numeric_class(arg) {
        _ if matches!(class_of(arg), Class::DateTime | Class::Time) => signed_real(arg),
        _ if is_hexadecimal(arg) => {
            SqlType { unsigned: func == Func::Abs && arg.ty.unsigned, ..signed_real(arg) }
        }
        _ if is_text(arg) => SqlType::double(),
        // A constant may be beyond BIGINT; what comes from a column fails where it is.
        Class::Int
            if func == Func::Neg && arg.ty.unsigned && decimal_digits(arg).0 > 19 && !names_column(arg) =>
        {
            decimal_type(20, 0)
        }
        Class::Int => {
            let width = if func == Func::Neg { decimal_digits(arg).0 + 1 } else { arg.ty.width() };
            let unsigned = func == Func::Abs && is_unsigned(arg);
            SqlType { unsigned, ..SqlType::new(types::TypeKind::BigInt, width) }
        }
        Class::Decimal => {
            let (whole, scale) = decimal_digits(arg);
            let unsigned = func == Func::Abs && is_unsigned(arg);
            SqlType { unsigned, ..decimal_type(whole, u32::from(scale)) }
        }
        _ => signed_real(arg),
    }
}

/// The negative or absolute number of what is one as a double.
fn signed_real(arg: &Expr) -> SqlType {
    real_with_decimals(fixed_decimals(arg))
}

/// Whether `expr` is a hexadecimal or bit literal.
fn is_hexadecimal(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(types::OwnedValue::Bit { .. })) || is_long_hexadecimal(expr)
}

fn names_column(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Column(_)));
    found
}

/// CEILING, FLOOR.
pub(crate) fn integer_part(_: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let arg = &args[0];
    match numeric_class(arg) {
        _ if matches!(class_of(arg), Class::DateTime | Class::Time) || is_text(arg) => SqlType::double(),
        Class::Int => SqlType { unsigned: is_unsigned(arg), ..SqlType::bigint() },
        Class::Decimal if decimal_digits(arg).0 < 19 => SqlType::bigint(),
        Class::Decimal => decimal_type(decimal_digits(arg).0 + 1, 0),
        _ => SqlType::double(),
    }
}

/// ROUND, TRUNCATE.
pub(crate) fn rounded(_: &Builder, func: Func, args: &[Expr]) -> SqlType {
    let arg = &args[0];
    if matches!(class_of(arg), Class::DateTime | Class::Time) || is_text(arg) {
        return SqlType::double();
    }
    // NULL counts as no digits.
    let digits = args.get(1).map_or(Some(0), |e| if is_null(e) { Some(0) } else { constant_int(e) });
    let may_carry = func == Func::Round;
    match numeric_class(arg) {
        Class::Int => SqlType { unsigned: is_unsigned(arg), ..SqlType::bigint() },
        Class::Decimal => {
            let (whole, scale) = decimal_digits(arg);
            let kept = digits.map_or(scale, |n| n.clamp(0, i64::from(scale.min(SCALE_MAX))) as u8);
            decimal_type(whole + u32::from(may_carry && kept < scale), u32::from(kept))
        }
        _ => SqlType::double(),
    }
}
