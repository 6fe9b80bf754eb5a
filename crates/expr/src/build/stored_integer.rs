//! Constants that NULLIF and STRCMP compare with a BIGINT column: MySQL puts the integer there that the
//! column stores, if that is the same number.

use types::value::{Loss, round_text_to_i128};
use types::{OwnedValue, SqlType, TypeKind, Value};

use super::Builder;
use super::typing::is_long_hexadecimal;
use crate::fold::constant_value;
use crate::{Expr, ExprKind};

/// Characters of such an integer in a result's metadata.
const SHOWN_CHARS: u32 = 22;

impl Builder {
    /// The integer of type `column`, a BIGINT, that stands for `constant`; `None`: the constant stays. A text
    /// that is no number as a whole is read once a statement, with a warning.
    pub fn stored_integer(&self, column: &SqlType, constant: &Expr) -> Option<Expr> {
        let is_integer_literal = constant.ty.is_integer() && matches!(constant.kind, ExprKind::Const(_));
        if column.kind != TypeKind::BigInt || is_integer_literal || is_long_hexadecimal(constant) {
            return None;
        }
        let value = constant_value(constant, self.modes)?;
        let value = value.as_value();
        let number = integer_of(&value)?;
        let stored = if column.unsigned {
            OwnedValue::UInt(u64::try_from(number).ok()?)
        } else {
            OwnedValue::Int(i64::try_from(number).ok()?)
        };
        let ty = SqlType { unsigned: column.unsigned, ..SqlType::new(TypeKind::BigInt, SHOWN_CHARS) };
        if !value.is_textual() || value.to_f64().loss == Loss::None {
            return Some(Expr::constant(stored, ty));
        }
        let read = Expr::cast(constant.clone(), SqlType::double(), constant.nullable);
        Some(self.kept_value(Expr::cast(read, ty, constant.nullable)))
    }
}

/// The integer that `value` is as a number. A text is the number that it begins with.
fn integer_of(value: &Value<'_>) -> Option<i128> {
    let is_same = |number: f64| number.fract() == 0.0 && number.abs() < 2e19;
    match value {
        Value::Null => None,
        Value::Bytes { data, .. } => {
            let (whole, number) = (round_text_to_i128(data).0, value.to_f64().value);
            (is_same(number) && whole as f64 == number).then_some(whole)
        }
        Value::Double(number) => is_same(*number).then_some(*number as i128),
        _ => {
            let read = value.to_decimal();
            let text = read.value.to_string();
            let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
            let is_whole = read.loss == Loss::None && fraction.bytes().all(|digit| digit == b'0');
            if is_whole { whole.parse().ok() } else { None }
        }
    }
}
