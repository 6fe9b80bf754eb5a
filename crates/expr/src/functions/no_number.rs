//! What the session is told of texts that are no numbers. MySQL says other things of columns, calculations and literals.

use types::{Decimal, TypeKind, Value};

use crate::{EvalCtx, Expr, ExprKind, Warning};

/// Where a text comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A column of VARCHAR or VARBINARY, whose bytes are shown as they are.
    VaryingColumn,
    /// A column of TEXT or BLOB, or a variable: what follows a number is passed over.
    LongColumn,
    /// Another column.
    Column,
    /// A calculation, of which a DECIMAL is told nothing but that no number begins it.
    Calculated,
    /// Literals.
    Other,
}

impl Origin {
    fn of(expr: &Expr) -> Origin {
        use TypeKind::{Blob, Text, VarBinary, VarChar};
        match (&expr.kind, expr.ty.kind) {
            (ExprKind::Column(_), Text(_) | Blob(_)) | (ExprKind::UserVar(_), _) => Origin::LongColumn,
            (ExprKind::Column(_), VarChar | VarBinary) => Origin::VaryingColumn,
            (ExprKind::Column(_), _) => Origin::Column,
            (ExprKind::Call { .. } | ExprKind::Cast { .. }, _) => Origin::Calculated,
            _ => Origin::Other,
        }
    }
}

/// Warns that the value of `arg` is not wholly a number of the type.
#[cold]
pub(crate) fn warn_no_number(type_name: &str, value: &Value<'_>, arg: &Expr, ctx: &EvalCtx<'_>) {
    let origin = Origin::of(arg);
    if type_name == "DECIMAL" && origin != Origin::Other && value.is_textual() {
        if !begins_with_number(value) {
            ctx.session.warn(Warning::NoDecimal);
        }
        if origin == Origin::Calculated {
            return;
        }
    }
    if origin == Origin::LongColumn {
        return;
    }
    let is_raw = origin == Origin::VaryingColumn;
    let shown = if is_raw { value.raw_message_text() } else { value.message_text() };
    ctx.session.warn(Warning::TruncatedWrongValue { type_name: type_name.to_owned(), value: shown });
}

fn begins_with_number(value: &Value<'_>) -> bool {
    Decimal::parse_prefix(value.as_text(&mut Vec::new())).consumed > 0
}
