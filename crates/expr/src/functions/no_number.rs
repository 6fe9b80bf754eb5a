//! Warnings for texts that are not numbers. MySQL says other things of columns, calculations and literals.

use std::fmt::Write;

use types::value::{Loss, integer_prefix};
use types::{CollationId, Decimal, TypeKind, Value};

use crate::compare::warn_truncated;
use crate::{EvalCtx, Expr, ExprKind, Func, Warning};

/// Where a text comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A column of VARCHAR or VARBINARY, whose bytes are shown as they are.
    VaryingColumn,
    /// A column of TEXT or BLOB: what follows a number is passed over.
    LongColumn,
    /// Another column.
    Column,
    /// A text that was chosen among others, or the value of a subquery: no warning.
    Chosen,
    /// A calculation or a variable: as a DECIMAL, it gives a warning only if it does not begin with a number.
    Calculated,
    /// Literals.
    Other,
}

impl Origin {
    fn of(expr: &Expr) -> Origin {
        use Func::{Coalesce, Greatest, IfNull, Least};
        use TypeKind::{Blob, Text, VarBinary, VarChar};
        match (&expr.kind, expr.ty.kind) {
            (ExprKind::Column(_), Text(_) | Blob(_)) => Origin::LongColumn,
            (ExprKind::Column(_), VarChar | VarBinary) => Origin::VaryingColumn,
            (ExprKind::Column(_), _) => Origin::Column,
            (ExprKind::Call { func: Coalesce | IfNull | Greatest | Least, .. }, _) => Origin::Chosen,
            (ExprKind::Subquery { .. }, _) => Origin::Chosen,
            (ExprKind::Call { .. } | ExprKind::Cast { .. } | ExprKind::UserVar(_), _) => Origin::Calculated,
            _ => Origin::Other,
        }
    }
}

/// Warns that the value of `arg` is not wholly a number of the type.
#[cold]
pub(crate) fn warn_no_number(type_name: &str, value: &Value<'_>, arg: &Expr, ctx: &EvalCtx<'_>) {
    if value.is_textual() && matches!(arg.kind, ExprKind::Call { func: Func::CachedValue, .. }) {
        return;
    }
    match value {
        // Its fraction rounds up to a year that there is not.
        Value::DateTime(..) => return ctx.session.warn(Warning::DateOverflow),
        Value::Bytes { data, collation: CollationId::BINARY } if is_hexadecimal(arg) => {
            return warn_long_hexadecimal(data, ctx);
        }
        _ => {}
    }
    if arg.has_bits_of_bytes() {
        if type_name == "DECIMAL" {
            warn_truncated(type_name, value, ctx);
        }
        return;
    }
    let (arg, value) = without_blanks(arg, value);
    let origin = Origin::of(arg);
    if type_name == "DECIMAL" && origin != Origin::Other && value.is_textual() {
        if !begins_with_number(&value) {
            ctx.session.warn(Warning::NoDecimal);
        }
        if origin == Origin::Calculated {
            return;
        }
    }
    if matches!(origin, Origin::LongColumn | Origin::Chosen) {
        return;
    }
    let is_raw = origin == Origin::VaryingColumn;
    let shown = if is_raw { value.narrow_message_text() } else { value.message_text() };
    ctx.session.warn(Warning::TruncatedWrongValue { type_name: type_name.to_owned(), value: shown });
}

/// Whether `expr` is a calculation whose text warns as such.
pub(super) fn is_calculated(expr: &Expr) -> bool {
    Origin::of(expr) == Origin::Calculated && !matches!(expr.kind, ExprKind::UserVar(_))
}

/// Warns that a text is an integer from 2^63 on, which is negative with a sign.
#[cold]
pub(crate) fn warn_of_sign(text: &Value<'_>, ctx: &EvalCtx<'_>) {
    if is_signed_by_width(text) {
        ctx.session.warn(Warning::PositiveToSigned);
    }
}

/// Whether a text is an integer of 64 bits that is negative with a sign.
pub(crate) fn is_signed_by_width(text: &Value<'_>) -> bool {
    let Value::Bytes { data, .. } = text else { return false };
    let read = integer_prefix(data);
    read.loss != Loss::OutOfRange && read.value > i128::from(i64::MAX)
}

/// `value` of `arg` as MySQL reads it for a number: that of a CHAR column without the blanks that
/// PAD_CHAR_TO_FULL_LENGTH adds.
fn without_blanks<'e, 'v>(arg: &'e Expr, value: &Value<'v>) -> (&'e Expr, Value<'v>) {
    match (arg.unpadded(), *value) {
        (Some(column), Value::Bytes { data, collation }) => {
            let end = data.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            (column, Value::Bytes { data: &data[..end], collation })
        }
        (_, value) => (arg, value),
    }
}

/// Whether `arg` is a hexadecimal literal of more than eight bytes: shorter ones are numbers.
fn is_hexadecimal(arg: &Expr) -> bool {
    matches!(arg.kind, ExprKind::Const(_)) && arg.ty.unsigned
}

fn warn_long_hexadecimal(bytes: &[u8], ctx: &EvalCtx<'_>) {
    /// Bytes of a literal that are enough for a message, which shows fewer digits.
    const BYTES_MAX: usize = 128;
    let mut value = "x'".to_owned();
    for byte in bytes.iter().take(BYTES_MAX) {
        // Writing to a String cannot fail.
        let _ = write!(value, "{byte:02X}");
    }
    value.push('\'');
    ctx.session.warn(Warning::TruncatedWrongValue { type_name: "BINARY".to_owned(), value });
}

fn begins_with_number(value: &Value<'_>) -> bool {
    Decimal::parse_prefix(value.as_text(&mut Vec::new())).consumed > 0
}
