//! BIT_AND, BIT_OR, BIT_XOR: on 64 bits, or on the bytes of binary strings.

use types::value::{Converted, Loss};
use types::{CollationId, OwnedValue, SqlType, Value};

use super::AggFunc;
use super::typing::BIT_STRING_BYTES_MAX;
use crate::compare::warn_truncated;
use crate::{EvalCtx, EvalError, Warning};

/// From here on a FLOAT is past every BIGINT.
const BIGINT_END: f32 = 9_223_372_036_854_775_808.0;

/// Bits gathered so far.
#[derive(Clone, Debug)]
pub(super) enum Bits {
    Word(u64),
    /// As long as the first term; without one, as long as the type says.
    Bytes {
        bytes: Vec<u8>,
        is_empty: bool,
    },
}

impl Bits {
    /// No terms, for a result of type `ty`.
    pub(super) fn new(func: AggFunc, ty: &SqlType) -> Self {
        let neutral = if func == AggFunc::BitAnd { u64::MAX } else { 0 };
        if ty.is_integer() {
            return Bits::Word(neutral);
        }
        Bits::Bytes { bytes: vec![neutral as u8; ty.length as usize], is_empty: true }
    }

    /// # Errors  [`EvalError::BitOperandLengths`], [`EvalError::BitStringTooLong`].
    pub(super) fn add(
        &mut self,
        func: AggFunc,
        value: &Value<'_>,
        ctx: &EvalCtx<'_>,
    ) -> Result<(), EvalError> {
        match self {
            Bits::Word(word) => *word = combine(func, *word, word_of(value, ctx)),
            Bits::Bytes { bytes, is_empty } => {
                let mut scratch = Vec::new();
                let term = value.as_text(&mut scratch);
                if term.len() > BIT_STRING_BYTES_MAX as usize {
                    return Err(EvalError::BitStringTooLong);
                }
                if std::mem::take(is_empty) {
                    bytes.clear();
                    bytes.extend_from_slice(term);
                    return Ok(());
                }
                if bytes.len() != term.len() {
                    return Err(EvalError::BitOperandLengths);
                }
                for (byte, term) in bytes.iter_mut().zip(term) {
                    *byte = combine(func, u64::from(*byte), u64::from(*term)) as u8;
                }
            }
        }
        Ok(())
    }

    pub(super) fn result(&self) -> OwnedValue {
        match self {
            Bits::Word(word) => OwnedValue::UInt(*word),
            Bits::Bytes { bytes, .. } => {
                OwnedValue::Bytes { data: bytes[..].into(), collation: CollationId::BINARY }
            }
        }
    }
}

/// The bits of a number, which are those of a signed integer for decimals and doubles.
#[inline]
fn word_of(value: &Value<'_>, ctx: &EvalCtx<'_>) -> u64 {
    match *value {
        Value::Int(v) => v as u64,
        Value::UInt(v) => v,
        _ => clipped_word(value, ctx),
    }
}

fn clipped_word(value: &Value<'_>, ctx: &EvalCtx<'_>) -> u64 {
    let is_decimal = matches!(value, Value::Decimal(_));
    if let Value::Float(v) = *value {
        // A FLOAT past BIGINT is the least one.
        return if v.abs() < BIGINT_END { v.round_ties_even() as i64 as u64 } else { i64::MIN as u64 };
    }
    let read = if is_decimal || matches!(value, Value::Double(_)) {
        let signed = value.to_i64();
        Converted { value: signed.value as u64, loss: signed.loss }
    } else {
        value.to_u64()
    };
    if read.loss != Loss::None && matches!(value, Value::DateTime(..)) {
        ctx.session.warn(Warning::DateOverflow);
    } else if read.loss != Loss::None {
        warn_truncated(if is_decimal { "DECIMAL" } else { "INTEGER" }, value, ctx);
    }
    read.value
}

fn combine(func: AggFunc, a: u64, b: u64) -> u64 {
    match func {
        AggFunc::BitAnd => a & b,
        AggFunc::BitOr => a | b,
        _ => a ^ b,
    }
}
