//! CAST, and the conversions that make operands of one type.

use types::{CollationId, SqlType, TypeKind};

use super::collation::find_charset;
use super::typing::{Class, class_of, decimal_digits, decimal_type, double_of, is_unsigned, numeric_class};
use super::{BindError, Builder, shown_chars, string_type};
use crate::func::Func;
use crate::{Expr, ExprKind};

/// A target of CAST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastTo<'a> {
    /// SIGNED
    Signed,
    /// UNSIGNED
    Unsigned,
    /// DECIMAL(precision, scale), defaults 10 and 0.
    Decimal(Option<u32>, Option<u32>),
    /// DOUBLE, REAL
    Double,
    /// FLOAT(p)
    Float(Option<u32>),
    /// CHAR(n) CHARACTER SET x [BINARY]
    Char {
        /// Characters.
        length: Option<u32>,
        /// Character set; the connection's if not given.
        charset: Option<&'a str>,
        /// The `_bin` collation.
        binary: bool,
    },
    /// BINARY(n)
    Binary(Option<u32>),
    /// DATE
    Date,
    /// TIME(fsp)
    Time(u32),
    /// DATETIME(fsp)
    DateTime(u32),
    /// YEAR
    Year,
}

impl Builder {
    /// `CAST(expr AS to)`.
    pub fn cast(&self, expr: Expr, to: CastTo<'_>) -> Result<Expr, BindError> {
        let ty = match to {
            CastTo::Signed => SqlType::bigint(),
            CastTo::Unsigned => SqlType::bigint_unsigned(),
            CastTo::Decimal(precision, scale) => cast_decimal(precision, scale)?,
            CastTo::Double => SqlType::double(),
            CastTo::Float(Some(54..)) => return Err(too_precise(to, 53)),
            CastTo::Float(Some(25..)) => SqlType::double(),
            CastTo::Float(_) => {
                SqlType { decimals: SqlType::NOT_FIXED_DECIMALS, ..SqlType::new(TypeKind::Float, 12) }
            }
            CastTo::Char { length, charset, binary } => {
                let mut collation = match charset {
                    Some(name) => find_charset(name)?.default_collation(),
                    None => self.collation,
                };
                if let (true, Some(known)) = (binary, collation.collation()) {
                    collation = known.charset.binary_collation();
                }
                let fit = if collation == CollationId::BINARY { Func::PadBytes } else { Func::CutText };
                return Ok(cast_text(expr, length, collation, fit));
            }
            CastTo::Binary(length) => {
                return Ok(cast_text(expr, length, CollationId::BINARY, Func::PadBytes));
            }
            CastTo::Date => SqlType::new(TypeKind::Date, 10),
            CastTo::Time(7..) | CastTo::DateTime(7..) => return Err(too_precise(to, 6)),
            CastTo::Time(fsp) => super::literal::time_type(fsp as u8),
            CastTo::DateTime(fsp) => super::literal::datetime_type(fsp as u8),
            CastTo::Year => SqlType { unsigned: true, ..SqlType::new(TypeKind::Year, 4) },
        };
        let nullable = expr.nullable || ty.is_temporal() || ty.kind == TypeKind::Year;
        Ok(Expr::cast(expr, ty, nullable))
    }

    /// `expr` as a value of `ty`, which loses nothing: the conversion that operands of one type need.
    pub fn coerce(&self, expr: Expr, ty: &SqlType) -> Expr {
        let same_kind = expr.ty.kind == ty.kind
            && expr.ty.decimals == ty.decimals
            && expr.ty.unsigned == ty.unsigned
            && class_of(&expr) != Class::Int;
        let both_integers = class_of(&expr) == Class::Int && expr.ty.is_integer() && ty.is_integer();
        let both_strings = expr.ty.is_string()
            && ty.is_string()
            && (expr.ty.collation == ty.collation)
            && class_of(&expr) == Class::Text;
        let sign_changes = both_integers && is_unsigned(&expr) != ty.unsigned && ty.unsigned;
        let both_years = expr.ty.kind == TypeKind::Year && ty.kind == TypeKind::Year;
        if expr.ty.kind == TypeKind::Null
            || both_years
            || same_kind
            || both_strings
            || (both_integers && !sign_changes)
        {
            return expr;
        }
        let nullable = expr.nullable;
        Expr::cast(expr, ty.clone(), nullable)
    }

    /// `expr` as text: numbers and dates in the connection's collation, strings as they are.
    pub(crate) fn text_of(&self, expr: Expr) -> Expr {
        if expr.ty.is_string() || expr.ty.kind == TypeKind::Null {
            return expr;
        }
        let collation = match expr.ty.kind {
            TypeKind::Enum | TypeKind::Set => expr.ty.collation,
            TypeKind::Bit => CollationId::BINARY,
            _ => self.collation,
        };
        let ty = string_type(shown_chars(&expr.ty), collation);
        let nullable = expr.nullable;
        Expr::cast(expr, ty, nullable)
    }

    /// The one type of values that may each be any of `args`: of CASE, IF, COALESCE, UNION.
    pub fn common_type(&self, args: &[&Expr], operation: &str) -> Result<SqlType, BindError> {
        let typed: Vec<&Expr> = args.iter().copied().filter(|e| e.ty.kind != TypeKind::Null).collect();
        let Some(first) = typed.first() else { return Ok(SqlType::null()) };
        if typed.iter().all(|e| e.ty.is_temporal()) {
            return Ok(common_temporal(&typed));
        }
        if typed.iter().any(|e| matches!(class_of(e), Class::Text | Class::Time | Class::DateTime)) {
            let collation = self.result_collation(args, operation)?;
            let chars = typed.iter().map(|e| shown_chars(&e.ty)).max().unwrap_or(0);
            return Ok(string_type(chars, collation));
        }
        if typed
            .iter()
            .all(|e| e.ty.kind == first.ty.kind && e.ty.unsigned == first.ty.unsigned && e.ty.is_integer())
        {
            let length = typed.iter().map(|e| e.ty.length).max().unwrap_or(0);
            return Ok(SqlType { zerofill: false, length, ..first.ty.clone() });
        }
        Ok(common_number(&typed))
    }
}

/// A cast to text, then cut or padded to a length that was given. The cast by itself cuts nothing, because the
/// value of a parameter may be longer than the one its type was taken from.
fn cast_text(expr: Expr, length: Option<u32>, collation: CollationId, fit: Func) -> Expr {
    let ty = string_type(shown_chars(&expr.ty), collation);
    let nullable = true;
    let text = Expr::cast(expr, ty, nullable);
    match length {
        None => text,
        Some(n) => {
            let kind = ExprKind::Call { func: fit, args: Box::new([text]) };
            Expr { kind, ty: string_type(n, collation), nullable }
        }
    }
}

fn common_temporal(args: &[&Expr]) -> SqlType {
    let fsp = args.iter().map(|e| e.ty.decimals).max().unwrap_or(0);
    match args {
        _ if args.iter().all(|e| class_of(e) == Class::Time) => super::literal::time_type(fsp),
        [first, ..] if args.iter().all(|e| e.ty.kind == TypeKind::Date) => first.ty.clone(),
        _ => super::literal::datetime_type(fsp),
    }
}

fn common_number(args: &[&Expr]) -> SqlType {
    if args.iter().any(|e| numeric_class(e) == Class::Double) {
        let double = double_of(args.iter().copied(), 0);
        return if are_float(args) { float_of(double.decimals) } else { double };
    }
    let whole = args.iter().map(|e| decimal_digits(e).0).max().unwrap_or(1);
    let scale = args.iter().map(|e| decimal_digits(e).1).max().unwrap_or(0);
    let mixed_signs = args.iter().any(|e| is_unsigned(e)) && !args.iter().all(|e| is_unsigned(e));
    let is_wide = args.iter().any(|e| is_unsigned(e) && decimal_digits(e).0 > 19);
    if args.iter().all(|e| class_of(e) == Class::Int) && !(mixed_signs && is_wide) {
        let unsigned = !mixed_signs && is_unsigned(args[0]);
        return SqlType { unsigned, ..SqlType::new(TypeKind::BigInt, whole + 1) };
    }
    decimal_type(whole, u32::from(scale))
}

/// Whether values of these types are FLOAT together. INT, DECIMAL and DOUBLE beside a FLOAT make a DOUBLE, and so does a
/// BIGINT before it.
fn are_float(args: &[&Expr]) -> bool {
    use TypeKind::{BigInt, Float, MediumInt, SmallInt, TinyInt, Year};
    let Some(first) = args.iter().position(|e| e.ty.kind == Float) else { return false };
    let is_short = |e: &&Expr| matches!(e.ty.kind, Float | TinyInt | SmallInt | MediumInt | Year);
    args[..first].iter().all(is_short) && args[first..].iter().all(|e| is_short(e) || e.ty.kind == BigInt)
}

/// FLOAT that shows `decimals` fraction digits.
fn float_of(decimals: u8) -> SqlType {
    SqlType { decimals, ..SqlType::new(TypeKind::Float, 12) }
}

fn cast_decimal(precision: Option<u32>, scale: Option<u32>) -> Result<SqlType, BindError> {
    let name = || "cast".to_owned();
    let (precision, scale) = (precision.unwrap_or(10), scale.unwrap_or(0));
    let precision = if precision == 0 { 10 } else { precision };
    if scale > u32::from(types::decimal::MAX_SCALE) {
        let max = u32::from(types::decimal::MAX_SCALE);
        return Err(BindError::TooBigScale { given: scale, name: name(), max });
    }
    if precision > types::decimal::MAX_PRECISION {
        let max = types::decimal::MAX_PRECISION;
        return Err(BindError::TooBigPrecision { given: precision, name: name(), max });
    }
    if scale > precision {
        return Err(BindError::ScaleAbovePrecision);
    }
    Ok(SqlType::decimal(precision, scale as u8))
}

fn too_precise(to: CastTo<'_>, max: u32) -> BindError {
    let given = match to {
        CastTo::Time(n) | CastTo::DateTime(n) | CastTo::Float(Some(n)) => n,
        _ => 0,
    };
    BindError::TooBigPrecision { given, name: "CAST".into(), max }
}
