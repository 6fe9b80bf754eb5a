//! Sums, averages and variances.

use types::{Decimal, SqlType, TypeKind, Value};

use crate::compare::{double, integer};
use crate::{AggFunc, EvalCtx, EvalError};

/// A sum and its number of terms. Integers and decimals are added exactly.
#[derive(Clone, Debug)]
pub(super) enum Sum {
    /// Nothing but integers so far, within 128 bits.
    Integer(i128),
    /// Decimals.
    Decimal(Decimal),
    /// Doubles.
    Double(f64),
}

impl Sum {
    /// An empty sum for a result of type `ty`.
    pub(super) fn new(ty: &SqlType) -> Sum {
        if ty.kind == TypeKind::Double { Sum::Double(0.0) } else { Sum::Integer(0) }
    }

    /// Adds a term, which is not NULL.
    #[inline]
    pub(super) fn add(&mut self, value: &Value<'_>, ctx: &EvalCtx<'_>) -> Result<(), EvalError> {
        match (&mut *self, value) {
            (Sum::Double(sum), _) => *sum += double(value, ctx),
            (Sum::Integer(sum), Value::Int(_) | Value::UInt(_)) => {
                // 2^63 terms of 64 bits stay below 2^127.
                *sum += integer(value);
            }
            (Sum::Integer(sum), _) => {
                let start = Decimal::from_i128(*sum, 0);
                *self = Sum::Decimal(plus(start, value)?);
            }
            (Sum::Decimal(sum), _) => *sum = plus(*sum, value)?,
        }
        Ok(())
    }

    fn to_decimal(&self) -> Option<Decimal> {
        match self {
            Sum::Integer(v) => Some(Decimal::from_i128(*v, 0)),
            Sum::Decimal(v) => Some(*v),
            Sum::Double(_) => None,
        }
    }

    /// The sum as a value of `ty`.
    pub(super) fn total(&self, ty: &SqlType) -> Result<Value<'static>, EvalError> {
        match self {
            // As in MySQL a sum of doubles may be infinite: what calculates with it refuses it.
            Sum::Double(v) => Ok(Value::Double(*v)),
            _ => self.to_decimal().map(|v| exact(v, ty)).ok_or_else(|| overflow("DECIMAL", "sum")),
        }
    }

    /// The average of `count` terms, not 0, as a value of `ty`.
    pub(super) fn average(&self, count: u64, ty: &SqlType) -> Result<Value<'static>, EvalError> {
        if let Sum::Double(sum) = self {
            return Ok(Value::Double(sum / count as f64));
        }
        let refused = || overflow("DECIMAL", "avg");
        let sum = self.to_decimal().ok_or_else(refused)?;
        let increment = ty.decimals.saturating_sub(sum.scale());
        let quotient = sum.checked_div(Decimal::from(count), increment).map_err(|_| refused())?;
        quotient.map(|v| exact(v, ty)).ok_or_else(refused)
    }
}

fn exact(value: Decimal, ty: &SqlType) -> Value<'static> {
    Value::Decimal(value.rescale(ty.decimals).unwrap_or(value))
}

fn plus(sum: Decimal, value: &Value<'_>) -> Result<Decimal, EvalError> {
    sum.checked_add(value.to_decimal().value).ok_or_else(|| overflow("DECIMAL", "sum"))
}

#[cold]
fn overflow(type_name: &'static str, operation: &str) -> EvalError {
    EvalError::OutOfRange { type_name, operation: operation.to_owned() }
}

/// Variance in one pass.
///
/// # Source
/// Welford, Note on a method for calculating corrected sums of squares and products, 1962.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Variance {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Variance {
    /// Adds a term.
    #[inline]
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1;
        let difference = value - self.mean;
        self.mean += difference / self.count as f64;
        self.squares += difference * (value - self.mean);
    }

    /// The variance or standard deviation; `None` without enough terms.
    ///
    /// # Errors
    /// 1690: it is beyond the range of doubles.
    pub(super) fn result(&self, func: AggFunc) -> Result<Option<f64>, EvalError> {
        let sample = matches!(func, AggFunc::StdSamp | AggFunc::VarSamp);
        let Some(divisor) = self.count.checked_sub(u64::from(sample)).filter(|n| *n > 0) else {
            return Ok(None);
        };
        let variance = self.squares / divisor as f64;
        if !variance.is_finite() {
            let name = match func {
                AggFunc::StdPop => "std",
                AggFunc::StdSamp => "stddev_samp",
                AggFunc::VarSamp => "var_samp",
                _ => "variance",
            };
            return Err(overflow("DOUBLE", name));
        }
        Ok(Some(if matches!(func, AggFunc::StdPop | AggFunc::StdSamp) { variance.sqrt() } else { variance }))
    }
}
