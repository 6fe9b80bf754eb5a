//! Types of aggregates.

use types::decimal::{PRECISION_MAX, SCALE_MAX};
use types::{CollationId, LobSize, SqlType, TypeKind};

use super::AggFunc;
use crate::build::{
    BindError, Builder, Class, class_of, decimal_digits, fixed_decimals, is_long_hexadecimal, is_read_apart,
    numeric_class, real_with_decimals, shown_chars, string_type,
};
use crate::func::Func;
use crate::{CmpDomain, Expr, ExprKind};

/// An aggregate ready to be evaluated.
#[derive(Clone, Debug)]
pub struct TypedAggregate {
    /// Arguments, converted to what the function gathers.
    pub args: Vec<Expr>,
    /// Type of the result.
    pub ty: SqlType,
    /// Whether the result may be NULL.
    pub nullable: bool,
}

/// Digits that a sum has more than its terms.
const SUM_DIGITS: u32 = 22;

impl Builder {
    /// Types the aggregate `func` of `args` (none for COUNT(*)).
    pub fn aggregate(&self, func: AggFunc, args: Vec<Expr>) -> Result<TypedAggregate, BindError> {
        let mut args = args;
        let Some(first) = args.first() else {
            return Ok(TypedAggregate { args, ty: SqlType::bigint(), nullable: false });
        };
        let ty = match func {
            AggFunc::Count => SqlType::bigint(),
            AggFunc::Sum => sum_type(first, SUM_DIGITS, 0),
            AggFunc::Avg => sum_type(first, 0, u32::from(self.div_precision_increment)),
            AggFunc::Min | AggFunc::Max | AggFunc::AnyValue => {
                let ty = if func == AggFunc::AnyValue { first.ty.clone() } else { extreme_type(first) };
                args = args.into_iter().map(Expr::as_kept_decimal).collect();
                ty
            }
            AggFunc::BitAnd | AggFunc::BitOr | AggFunc::BitXor => {
                let ty = bits_type(first)?;
                if ty.is_integer() {
                    self.read_all_branches(&mut args);
                }
                let first = &args[0];
                let is_read = |e: &Expr| {
                    let is_stored = matches!(e.kind, ExprKind::Column(_) | ExprKind::UserVar(_));
                    is_stored || is_long_hexadecimal(e) || e.unpadded().is_some()
                };
                let is_double = matches!(first.ty.kind, TypeKind::Double | TypeKind::Float);
                let is_computed = is_double && is_literal_or_call(first);
                if ty.is_integer() && (is_computed || first.ty.is_string() && is_read(first)) {
                    // The bits that an operator reads warn as those of columns and literals do, and doubles
                    // are refused or clipped alike.
                    args = vec![self.call_func(Func::BitOr, vec![args.remove(0), self.int(0)])?];
                }
                ty
            }
            AggFunc::StdPop | AggFunc::StdSamp | AggFunc::VarPop | AggFunc::VarSamp => SqlType::double(),
            AggFunc::GroupConcat => {
                let collation = self.result_collation(&args.iter().collect::<Vec<_>>(), "group_concat")?;
                args = args.into_iter().map(|e| self.in_charset(self.text_of_kept(e), collation)).collect();
                concat_type(collation)
            }
        };
        if is_number_of_texts(func) {
            self.read_all_branches(&mut args);
            // A constant is read for each row.
            let is_read = |arg: &&mut Expr| {
                matches!(arg.kind, ExprKind::Column(_)) || is_long_hexadecimal(arg) || is_read_apart(arg)
            };
            args.iter_mut().filter(is_read).for_each(|arg| self.read_special_text(arg));
        }
        let nullable = !matches!(func, AggFunc::Count | AggFunc::BitAnd | AggFunc::BitOr | AggFunc::BitXor);
        Ok(TypedAggregate { args, ty, nullable })
    }
}

fn is_literal_or_call(arg: &Expr) -> bool {
    matches!(
        arg.kind,
        ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Call { .. } | ExprKind::Cast { .. }
    )
}

/// Whether texts are gathered as doubles.
fn is_number_of_texts(func: AggFunc) -> bool {
    use AggFunc::{Avg, StdPop, StdSamp, Sum, VarPop, VarSamp};
    matches!(func, Sum | Avg | StdPop | StdSamp | VarPop | VarSamp)
}

/// A sum with `digits` more digits before the point and `scale` more after it.
fn sum_type(arg: &Expr, digits: u32, scale: u32) -> SqlType {
    if numeric_class(arg) == Class::Double {
        return real_with_decimals(fixed_decimals(arg).saturating_add(scale as u8));
    }
    let (whole, present) = decimal_digits(arg);
    // An average has no more fraction digits than a column may have; a sum has those of its terms.
    let scale = if scale == 0 { present.into() } else { (u32::from(present) + scale).min(SCALE_MAX.into()) };
    SqlType::decimal((whole + digits + scale).min(PRECISION_MAX), scale as u8)
}

/// Longest binary string that bits are gathered of.
pub(super) const BIT_STRING_BYTES_MAX: u32 = 511;

/// Bits of binary strings are a binary string; of everything else, a number.
fn bits_type(arg: &Expr) -> Result<SqlType, BindError> {
    let is_bytes =
        arg.ty.is_string() && arg.ty.collation == CollationId::BINARY && class_of(arg) == Class::Text;
    if !is_bytes || is_long_hexadecimal(arg) {
        return Ok(SqlType::bigint_unsigned());
    }
    // So is a variable of bytes that is set.
    if matches!((&arg.kind, arg.ty.kind), (ExprKind::UserVar(_), TypeKind::Blob(_) | TypeKind::Text(_))) {
        return Err(BindError::BitStringTooLong);
    }
    // A BLOB is refused whatever it holds.
    if matches!(arg.ty.kind, TypeKind::Blob(size) if size.max_bytes() > u64::from(BIT_STRING_BYTES_MAX))
        && matches!(arg.kind, ExprKind::Column(_))
    {
        return Err(BindError::BitStringTooLong);
    }
    // The type of a calculation is only an upper bound; what its values need is found when they come.
    if arg.ty.length > BIT_STRING_BYTES_MAX && matches!(arg.kind, ExprKind::Column(_)) {
        return Err(BindError::BitStringTooLong);
    }
    Ok(string_type(arg.ty.length.min(BIT_STRING_BYTES_MAX), CollationId::BINARY))
}

/// ENUM and SET are compared, and shown, as text.
fn extreme_type(arg: &Expr) -> SqlType {
    match arg.ty.kind {
        TypeKind::Enum | TypeKind::Set => {
            SqlType { kind: TypeKind::Char, ..SqlType::varchar(shown_chars(&arg.ty), arg.ty.collation) }
        }
        TypeKind::Text(_) | TypeKind::Blob(_) => SqlType { length: shown_chars(&arg.ty), ..arg.ty.clone() },
        _ => arg.ty.clone(),
    }
}

/// The default of `group_concat_max_len`, from which MySQL derives the length.
const CONCAT_CHARS: u32 = 1024;

fn concat_type(collation: CollationId) -> SqlType {
    let size = LobSize::Long;
    let kind = if collation == CollationId::BINARY { TypeKind::Blob(size) } else { TypeKind::Text(size) };
    let ty = SqlType::varchar(CONCAT_CHARS, collation);
    SqlType { kind, length: CONCAT_CHARS.saturating_mul(ty.max_char_bytes()), ..ty }
}

/// The domain in which MIN and MAX compare values.
pub(super) fn order_domain(expr: &Expr) -> CmpDomain {
    match class_of(expr) {
        Class::Int | Class::Null => CmpDomain::Integer,
        Class::Decimal => CmpDomain::Decimal,
        Class::Double => CmpDomain::Double,
        Class::Text => CmpDomain::String(expr.ty.collation),
        Class::DateTime => CmpDomain::DateTime,
        Class::Time => CmpDomain::Time,
    }
}
