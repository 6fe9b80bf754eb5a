//! CAST, and the conversions that make operands of one type.

use types::{CollationId, OwnedValue, SqlType, TypeKind};

use super::branch_number::is_extreme_of_dates;
use super::branch_text::has_own_text;
use super::collation::find_charset;
use super::typing::{
    Class, class_of, decimal_digits, decimal_type, double_of, is_text, is_unsigned, numeric_class,
};
use super::{BindError, Builder, byte_width, kept_bytes, shown_chars, string_type};
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
    /// `value` as one of type `ty`.
    pub fn converted(&self, value: Expr, ty: SqlType) -> Expr {
        Expr::cast(value, ty, true)
    }

    /// `CAST(expr AS to)`.
    pub fn cast(&self, mut expr: Expr, to: CastTo<'_>) -> Result<Expr, BindError> {
        let reads_number = match to {
            CastTo::Decimal(..) | CastTo::Double | CastTo::Float(_) => true,
            CastTo::Signed | CastTo::Unsigned => expr.ty.is_temporal() || is_extreme_of_dates(&expr),
            _ => false,
        };
        if reads_number {
            self.read_branches(&mut expr);
        }
        let expr = if matches!(to, CastTo::Time(_)) { super::temporal::read_for_time(expr) } else { expr };
        let ty = match to {
            CastTo::Signed => SqlType::bigint(),
            CastTo::Unsigned => SqlType::bigint_unsigned(),
            CastTo::Decimal(precision, scale) => cast_decimal(precision, scale)?,
            CastTo::Double => SqlType::double(),
            CastTo::Float(Some(54..)) => return Err(too_precise(to, 53)),
            CastTo::Float(Some(25..)) => SqlType::double(),
            CastTo::Float(_) => float_type(),
            CastTo::Char { length, charset, binary } => {
                let mut collation = match charset {
                    Some(name) => find_charset(name)?.default_collation(),
                    None => self.collation,
                };
                if let (true, Some(known)) = (binary, collation.collation()) {
                    collation = known.charset.binary_collation();
                }
                let fit = if collation == CollationId::BINARY { Func::PadBytes } else { Func::CutText };
                return Ok(self.cast_text(expr, length, collation, fit));
            }
            CastTo::Binary(length) => {
                return Ok(self.cast_text(expr, length, CollationId::BINARY, Func::PadBytes));
            }
            CastTo::Date => SqlType::new(TypeKind::Date, 10),
            CastTo::Time(7..) | CastTo::DateTime(7..) => return Err(too_precise(to, 6)),
            CastTo::Time(fsp) => super::literal::time_type(fsp as u8),
            CastTo::DateTime(fsp) => super::literal::datetime_type(fsp as u8),
            CastTo::Year => SqlType { unsigned: true, ..SqlType::new(TypeKind::Year, 4) },
        };
        let nullable = expr.nullable || ty.is_temporal() || ty.kind == TypeKind::Year;
        Ok(Expr::cast(expr, ty, nullable).written())
    }

    /// `expr` as a value of `ty`, which loses nothing: the conversion that operands of one type need.
    pub fn coerce(&self, expr: Expr, ty: &SqlType) -> Expr {
        let same_kind = expr.ty.kind == ty.kind
            && expr.ty.decimals == ty.decimals
            && expr.ty.unsigned == ty.unsigned
            && (!ty.is_string() || expr.ty.collation == ty.collation)
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
        if let ExprKind::Const(OwnedValue::Bytes { data, .. }) = &expr.kind
            && expr.ty.is_string()
            && ty.is_string()
            && expr.ty.charset() == ty.charset()
        {
            return self.string(data, ty.collation);
        }
        let nullable = expr.nullable;
        let mut ty = ty.clone();
        if class_of(&expr) == Class::DateTime && matches!(ty.kind, TypeKind::DateTime | TypeKind::Timestamp) {
            // Parts that are zero stay so, whatever the mode.
            return Expr {
                kind: ExprKind::Call { func: Func::AsMoment, args: Box::new([expr]) },
                ty,
                nullable,
            };
        }
        if ty.is_string() {
            return Self::as_text(expr, ty, nullable);
        }
        if ty.kind == TypeKind::Decimal {
            // A type's digits are what clients see, and do not always bound its values.
            ty.length = types::decimal::PRECISION_MAX;
        }
        Expr::cast(expr, ty, nullable)
    }

    /// `expr` as a value of a column of a set operation, of type `ty`: bits beside short texts are numbers
    /// there, and a BINARY is as long as its column.
    pub fn in_set_operation(&self, expr: Expr, ty: &SqlType) -> Expr {
        let nullable = expr.nullable;
        let is_long = matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
        let expr = match expr.ty.kind {
            TypeKind::Bit if is_long => return self.text_of(expr),
            TypeKind::Year if is_long => expr,
            TypeKind::Bit | TypeKind::Year if ty.is_string() => {
                Expr::cast(expr, SqlType::bigint_unsigned(), nullable)
            }
            _ if expr.ty.zerofill && expr.ty.is_integer() && ty.is_string() && !is_long => {
                Expr::cast(expr, SqlType::bigint_unsigned(), nullable)
            }
            // A column shows its fixed digits.
            TypeKind::Double | TypeKind::Float
                if is_long
                    && expr.ty.decimals < SqlType::NOT_FIXED_DECIMALS
                    && matches!(expr.kind, ExprKind::Column(_)) =>
            {
                expr
            }
            // As many digits as have a place in the column.
            TypeKind::Double | TypeKind::Float if ty.is_string() => {
                Expr::cast(expr, SqlType { length: ty.length, ..SqlType::double() }, nullable)
            }
            _ if is_text(&expr) && ty.is_string() => self.in_charset(expr, ty.collation),
            TypeKind::Decimal if ty.is_string() => expr.with_own_digits(),
            _ => expr,
        };
        let is_moment =
            |kind: TypeKind| matches!(kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp);
        let value = if is_moment(expr.ty.kind) && is_moment(ty.kind) && expr.ty != *ty {
            Expr::cast(expr, ty.clone(), nullable)
        } else if ty.is_string() && has_own_text(&expr) {
            // The number that CASE chooses is stored.
            Expr::cast(expr, ty.clone(), nullable)
        } else {
            self.coerce(expr, ty)
        };
        if ty.kind != TypeKind::Binary || value.ty.kind == TypeKind::Null {
            return value;
        }
        Expr {
            kind: ExprKind::Call { func: Func::PadBytes, args: Box::new([value]) },
            ty: ty.clone(),
            nullable,
        }
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
        Self::as_text(expr, ty, nullable)
    }

    /// As [`Builder::text_of`], of what a column of the type of `expr` would keep: CASE of numbers is one.
    pub(crate) fn text_of_kept(&self, expr: Expr) -> Expr {
        if !has_own_text(&expr) {
            return self.text_of(expr);
        }
        let (ty, nullable) = (string_type(shown_chars(&expr.ty), self.collation), expr.nullable);
        Expr::cast(expr.as_kept_decimal(), ty, nullable)
    }

    /// A cast to text, then cut or padded to a length that was given. The cast by itself cuts nothing: the
    /// value of a parameter may be longer than the one its type was taken from.
    fn cast_text(&self, expr: Expr, length: Option<u32>, collation: CollationId, fit: Func) -> Expr {
        let to_bytes = collation == CollationId::BINARY;
        let length_of_all = if to_bytes { kept_bytes(&expr.ty) } else { shown_chars(&expr.ty) };
        let ty = string_type(length_of_all, collation);
        let nullable = expr.nullable || self.modes.is_strict();
        let text = Self::as_text(expr, ty, nullable).written();
        match length {
            None => text,
            Some(n) => {
                let kind = ExprKind::Call { func: fit, args: Box::new([text]) };
                Expr { kind, ty: string_type(n, collation), nullable }
            }
        }
    }

    /// The type of a column of a UNION with these `values`, whose texts have to share a collation.
    pub fn set_operation_type(&self, values: &[&Expr]) -> Result<SqlType, BindError> {
        let operation = "UNION";
        let ty = self.common_type(values, operation)?;
        if ty.is_string() && self.common_collation(values, operation).is_err() {
            return Err(BindError::IllegalMixOfMany { operation: operation.to_owned() });
        }
        Ok(ty)
    }

    /// The one type of values that may each be any of `args`: of CASE, IF, COALESCE, UNION.
    pub fn common_type(&self, args: &[&Expr], operation: &str) -> Result<SqlType, BindError> {
        let typed: Vec<&Expr> = args.iter().copied().filter(|e| e.ty.kind != TypeKind::Null).collect();
        if typed.is_empty() {
            return Ok(SqlType::null());
        }
        if typed.iter().all(|e| e.ty.is_temporal()) {
            return Ok(common_temporal(&typed));
        }
        if let [only] = typed[..]
            && matches!(only.ty.kind, TypeKind::Enum | TypeKind::Set)
        {
            return Ok(only.ty.clone());
        }
        let is_shown_as_text = |e: &&Expr| is_text(e) || matches!(class_of(e), Class::Time | Class::DateTime);
        if typed.iter().any(is_shown_as_text) {
            let collation = self.result_collation(args, operation)?;
            return Ok(common_text(&typed, collation));
        }
        Ok(common_number(&typed))
    }
}

/// FLOAT as a calculated value has it.
fn float_type() -> SqlType {
    SqlType { decimals: SqlType::NOT_FIXED_DECIMALS, ..SqlType::new(TypeKind::Float, 23) }
}

fn common_temporal(args: &[&Expr]) -> SqlType {
    let fsp = args.iter().map(|e| e.ty.decimals).max().unwrap_or(0);
    match args {
        _ if args.iter().all(|e| class_of(e) == Class::Time) => super::literal::time_type(fsp),
        [first, ..] if args.iter().all(|e| e.ty.kind == TypeKind::Date) => first.ty.clone(),
        _ if args.iter().all(|e| e.ty.kind == TypeKind::Timestamp) => {
            SqlType { kind: TypeKind::Timestamp, ..super::literal::datetime_type(fsp) }
        }
        _ => super::literal::datetime_type(fsp),
    }
}

/// Text as long as the longest of `args`; beside TEXT and BLOB columns one of the largest of their classes.
fn common_text(args: &[&Expr], collation: CollationId) -> SqlType {
    let is_binary = collation == CollationId::BINARY;
    let length = |e: &&Expr| match e.ty.kind {
        TypeKind::Double if is_binary => kept_bytes(&e.ty),
        _ if is_binary && is_text(e) => byte_width(&e.ty),
        _ => shown_chars(&e.ty),
    };
    let longest = args.iter().map(length).max().unwrap_or(0);
    let class = |e: &&Expr| match e.ty.kind {
        TypeKind::Text(size) | TypeKind::Blob(size) => Some(size),
        _ => None,
    };
    let ty = string_type(longest, collation);
    match args.iter().filter_map(class).max_by_key(|size| size.max_bytes()) {
        Some(size) if is_binary => SqlType { kind: TypeKind::Blob(size), ..ty },
        Some(size) => SqlType { kind: TypeKind::Text(size), ..ty },
        None if ty.kind == TypeKind::VarChar && stays_fixed(args) => SqlType { kind: TypeKind::Char, ..ty },
        None if ty.kind == TypeKind::VarBinary && stays_fixed(args) => {
            SqlType { kind: TypeKind::Binary, ..ty }
        }
        None => ty,
    }
}

/// Whether texts among `args` that are CHAR or BINARY stay so: no text has a varying length, and nothing
/// before the first of them made one. Types are joined from left to right, and a number makes a text of
/// varying length of a date, as ENUM and SET do of anything else.
fn stays_fixed(args: &[&Expr]) -> bool {
    let is_fixed = |e: &&Expr| matches!(e.ty.kind, TypeKind::Char | TypeKind::Binary);
    let is_member = |e: &&Expr| matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set);
    let is_number = |e: &&Expr| e.ty.is_integer() || is_number_type(e.ty.kind);
    let is_moment = |e: &&Expr| e.ty.is_temporal();
    let typed: Vec<&Expr> = args.iter().copied().filter(|e| e.ty.kind != TypeKind::Null).collect();
    let Some(first) = typed.iter().position(&is_fixed) else { return false };
    let (before, after) = typed.split_at(first);
    (before.iter().all(is_number) || before.iter().all(is_moment) || matches!(before, [e] if is_member(e)))
        && after.iter().all(|e| is_fixed(e) || is_member(e) || is_number(e) || is_moment(e))
}

fn is_number_type(kind: TypeKind) -> bool {
    use TypeKind::{Bit, Decimal, Double, Float, Year};
    matches!(kind, Bit | Decimal | Double | Float | Year)
}

fn common_number(args: &[&Expr]) -> SqlType {
    if args.iter().any(|e| numeric_class(e) == Class::Double) {
        let double = double_of(args.iter().copied(), 0);
        return if are_float(args) { SqlType { kind: TypeKind::Float, ..double } } else { double };
    }
    if args.iter().all(|e| class_of(e) == Class::Int)
        && let Some(ty) = common_integer(args)
    {
        return ty;
    }
    let whole = args.iter().map(|e| decimal_digits(e).0).max().unwrap_or(1);
    let scale = args.iter().map(|e| decimal_digits(e).1).max().unwrap_or(0);
    decimal_type(whole, u32::from(scale))
}

/// Whether values of these types are FLOAT together. INT, DECIMAL and DOUBLE beside a FLOAT make a DOUBLE,
/// and so does a BIGINT before it.
fn are_float(args: &[&Expr]) -> bool {
    use TypeKind::{BigInt, Float, MediumInt, SmallInt, TinyInt, Year};
    let Some(first) = args.iter().position(|e| e.ty.kind == Float) else { return false };
    let is_short = |e: &&Expr| matches!(e.ty.kind, Float | TinyInt | SmallInt | MediumInt | Year);
    args[..first].iter().all(is_short) && args[first..].iter().all(|e| is_short(e) || e.ty.kind == BigInt)
}

/// The integer type that holds all of `args`: the largest, or the next one where that is unsigned beside a
/// signed one; `None` if this is none.
fn common_integer(args: &[&Expr]) -> Option<SqlType> {
    use TypeKind::{BigInt, Bit, Int, MediumInt, SmallInt, TinyInt, Year};
    const BY_SIZE: [TypeKind; 5] = [TinyInt, SmallInt, MediumInt, Int, BigInt];
    let width = args.iter().map(|e| shown_chars(&e.ty)).max().unwrap_or(0);
    let first = args.first()?.ty.kind;
    if matches!(first, Year | Bit) && args.iter().all(|e| e.ty.kind == first) {
        let length = args.iter().map(|e| e.ty.length).max().unwrap_or(0);
        return Some(SqlType { unsigned: first == Year, ..SqlType::new(first, length) });
    }
    // A year fits into SMALLINT of either sign.
    let kind = |e: &&Expr| if e.ty.kind == Year { SmallInt } else { e.ty.kind };
    let size = |e: &&Expr| BY_SIZE.iter().position(|known| *known == kind(e)).unwrap_or(BY_SIZE.len() - 1);
    let mut largest = args.iter().map(size).max()?;
    let is_mixed = args.iter().any(|e| is_unsigned(e) != is_unsigned(args[0]));
    if is_mixed && args.iter().any(|e| is_unsigned(e) && e.ty.kind != Year && size(e) == largest) {
        largest += 1;
    }
    let unsigned = !is_mixed && is_unsigned(args[0]);
    BY_SIZE.get(largest).map(|kind| SqlType { unsigned, ..SqlType::new(*kind, width) })
}

fn cast_decimal(precision: Option<u32>, scale: Option<u32>) -> Result<SqlType, BindError> {
    let name = || "cast".to_owned();
    let (precision, scale) = (precision.unwrap_or(10), scale.unwrap_or(0));
    let precision = if precision == 0 { 10 } else { precision };
    if scale > u32::from(types::decimal::SCALE_MAX) {
        let max = u32::from(types::decimal::SCALE_MAX);
        return Err(BindError::TooBigScale { given: scale, name: name(), max });
    }
    if precision > types::decimal::PRECISION_MAX {
        let max = types::decimal::PRECISION_MAX;
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
