//! What typing asks of an operand: its class in arithmetic and comparison, its digits, its length as text.

use types::{Charset, CollationId, LobSize, OwnedValue, SqlType, TypeKind};

use crate::{Expr, ExprKind};

/// How an operand takes part in arithmetic and comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A bare NULL.
    Null,
    /// Integers, BIT, YEAR, hexadecimal and bit literals.
    Int,
    /// DECIMAL.
    Decimal,
    /// FLOAT, DOUBLE.
    Double,
    /// Strings, ENUM, SET.
    Text,
    /// DATE, DATETIME, TIMESTAMP.
    DateTime,
    /// TIME.
    Time,
}

/// The class of an operand.
pub(crate) fn class_of(expr: &Expr) -> Class {
    if matches!(expr.kind, ExprKind::Const(OwnedValue::Bit { .. })) {
        return Class::Int;
    }
    match expr.ty.kind {
        TypeKind::Null => Class::Null,
        TypeKind::Bit | TypeKind::Year => Class::Int,
        TypeKind::Decimal => Class::Decimal,
        TypeKind::Float | TypeKind::Double => Class::Double,
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => Class::DateTime,
        TypeKind::Time => Class::Time,
        _ if expr.ty.is_integer() => Class::Int,
        _ => Class::Text,
    }
}

/// Whether an operand can be text: strings, ENUM, SET, and hexadecimal literals, which are numbers only among
/// Whether the value is a number.
pub(crate) fn is_number(expr: &Expr) -> bool {
    matches!(class_of(expr), Class::Int | Class::Decimal | Class::Double)
}

/// numbers.
pub(crate) fn is_text(expr: &Expr) -> bool {
    expr.ty.is_string() || matches!(expr.ty.kind, TypeKind::Enum | TypeKind::Set)
}

/// Whether `expr` is a hexadecimal literal of more than eight bytes, which is no number that fits.
pub(crate) fn is_long_hexadecimal(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(OwnedValue::Bytes { collation: CollationId::BINARY, .. }))
        && expr.ty.unsigned
}

/// The class of an operand's number: dates count as integers, or decimals if they have fractions; text as
/// doubles.
pub(crate) fn numeric_class(expr: &Expr) -> Class {
    match class_of(expr) {
        Class::DateTime | Class::Time if expr.ty.decimals > 0 => Class::Decimal,
        Class::DateTime | Class::Time => Class::Int,
        Class::Null | Class::Text => Class::Double,
        class => class,
    }
}

/// Whether an integer operand is unsigned. A hexadecimal literal is; `b'101'` is not, unless it is past every
/// BIGINT.
pub(crate) fn is_unsigned(expr: &Expr) -> bool {
    const LARGEST: u64 = i64::MAX as u64;
    expr.ty.unsigned
        || matches!(expr.ty.kind, TypeKind::Bit | TypeKind::Year)
        || matches!(expr.kind, ExprKind::Const(OwnedValue::Bit { value, .. }) if value > LARGEST)
}

/// Digits before the point and fraction digits of an operand seen as a decimal.
pub(crate) fn decimal_digits(expr: &Expr) -> (u32, u8) {
    let ty = &expr.ty;
    let whole = match ty.kind {
        TypeKind::Decimal => {
            let precision = ty.length.min(types::decimal::PRECISION_MAX);
            return (precision.saturating_sub(u32::from(ty.decimals)), ty.decimals);
        }
        TypeKind::TinyInt => 3,
        TypeKind::SmallInt => 5,
        TypeKind::MediumInt => 8,
        TypeKind::Int => 10,
        TypeKind::Year => 4,
        TypeKind::Bit => ty.width(),
        TypeKind::Date => 8,
        TypeKind::DateTime | TypeKind::Timestamp => return (14, ty.decimals),
        TypeKind::Time => return (7, ty.decimals),
        _ => match &expr.kind {
            ExprKind::Const(OwnedValue::Bit { bytes, .. }) => byte_digits(*bytes),
            _ if ty.is_string() => return (35, 30),
            _ if ty.kind == TypeKind::BigInt => (ty.width() - u32::from(!ty.unsigned)).max(1),
            _ if ty.unsigned => 20,
            _ => 19,
        },
    };
    (whole, 0)
}

/// Digits of the largest number of `bytes` bytes.
fn byte_digits(bytes: u8) -> u32 {
    let unused = 64 - 8 * u32::from(bytes.min(8));
    u64::MAX.checked_shr(unused).unwrap_or(0).max(1).ilog10() + 1
}

/// Fraction digits that an operand lends to a DOUBLE made of it; [`SqlType::NOT_FIXED_DECIMALS`] if it shows
/// as many as it needs, as texts do.
pub(crate) fn fixed_decimals(expr: &Expr) -> u8 {
    match class_of(expr) {
        Class::Int | Class::Null => 0,
        Class::Text => SqlType::NOT_FIXED_DECIMALS,
        _ => expr.ty.decimals,
    }
}

/// The DOUBLE made of operands: it shows the most fraction digits that one of them has, and `more`, after as
/// many digits as the widest of them has before the point.
pub(crate) fn double_of<'e>(operands: impl IntoIterator<Item = &'e Expr>, more: u8) -> SqlType {
    let (mut most, mut whole) = (None, 0);
    for operand in operands {
        let decimals = fixed_decimals(operand);
        most = most.max(Some(decimals));
        whole = whole.max(operand.ty.width().saturating_sub(u32::from(decimals)));
    }
    let decimals = most.map_or(SqlType::NOT_FIXED_DECIMALS, |most| most.saturating_add(more));
    real_of_width(whole + u32::from(decimals), decimals)
}

/// The DOUBLE of a calculation that shows `decimals` fraction digits after those that a double keeps.
pub(crate) fn real_with_decimals(decimals: u8) -> SqlType {
    /// Digits that a double keeps, a sign and a point.
    const WHOLE: u32 = 17;
    real_of_width(WHOLE + u32::from(decimals), decimals)
}

/// The DOUBLE of a calculation in at most `width` characters.
pub(crate) fn real_of_width(width: u32, decimals: u8) -> SqlType {
    if decimals >= SqlType::NOT_FIXED_DECIMALS {
        return SqlType::double();
    }
    SqlType { decimals, length: width, is_calculated: true, ..SqlType::double() }
}

/// DECIMAL of these digits. No column has more than 30 fraction digits; what is written with more keeps them.
pub(crate) fn decimal_type(whole: u32, scale: u32) -> SqlType {
    let precision = (whole + scale).clamp(1, types::decimal::PRECISION_MAX);
    SqlType::decimal(precision, scale.min(precision) as u8)
}

/// Most characters of a value of `ty` made a text.
pub(crate) fn shown_chars(ty: &SqlType) -> u32 {
    match ty.kind {
        // As in MySQL bits and zero-filled numbers count as more than they show.
        TypeKind::Bit => ty.width(),
        TypeKind::Int if ty.zerofill => ty.width().max(INT_DIGITS),
        // A column's class counts as characters.
        TypeKind::Text(_) | TypeKind::Blob(_) if ty.length > 0 => ty.length,
        // The digits of DOUBLE(8,2) do not bound its text.
        TypeKind::Double if ty.decimals < SqlType::NOT_FIXED_DECIMALS => ty.width().max(DOUBLE_CHARS),
        TypeKind::Double => DOUBLE_CHARS,
        _ => ty.width(),
    }
}

/// Digits of the largest INT.
const INT_DIGITS: u32 = 10;

/// Characters of the longest text of a DOUBLE.
const DOUBLE_CHARS: u32 = 22;

/// Most bytes of a value of `ty` made a text.
pub(crate) fn byte_width(ty: &SqlType) -> u32 {
    shown_chars(ty).saturating_mul(ty.max_char_bytes())
}

/// As [`byte_width`], where the number becomes bytes: of a DOUBLE the digits that its type shows bound them.
pub(crate) fn kept_bytes(ty: &SqlType) -> u32 {
    if ty.kind == TypeKind::Double { ty.width() } else { byte_width(ty) }
}

/// The string type of a computed text of at most `chars` characters: VARCHAR or VARBINARY, and the long types
/// past 65,535 bytes.
pub(crate) fn string_type(chars: u32, collation: CollationId) -> SqlType {
    let varchar = SqlType::varchar(chars, collation);
    let bytes = u64::from(chars) * u64::from(varchar.max_char_bytes());
    let is_binary = collation == CollationId::BINARY;
    let size = if bytes <= LobSize::Medium.max_bytes() { LobSize::Medium } else { LobSize::Long };
    let kind = match (bytes <= LobSize::Normal.max_bytes(), is_binary) {
        (true, false) => return varchar,
        (true, true) => TypeKind::VarBinary,
        (false, false) => TypeKind::Text(size),
        (false, true) => TypeKind::Blob(size),
    };
    SqlType { kind, ..varchar }
}

/// The character set of `collation`; bytes for one that is not known.
pub(crate) fn charset_of(collation: CollationId) -> Charset {
    collation.collation().map_or(Charset::Binary, |c| c.charset)
}
