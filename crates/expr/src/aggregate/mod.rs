//! Aggregate functions: their types, and the states that gather a group's rows.
//!
//! The binder calls [`crate::Builder::aggregate`]; the executor makes an [`Accumulator`] per group and
//! aggregate, shows it the arguments' values of each row, and takes the result.

mod accumulator;
mod bits;
mod concat;
mod extreme;
mod number;
mod typing;

pub use accumulator::{Accumulator, AccumulatorSpec};
pub use typing::TypedAggregate;

/// An aggregate function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggFunc {
    /// COUNT(*) and COUNT(expr, ...).
    Count,
    /// SUM.
    Sum,
    /// AVG.
    Avg,
    /// MIN.
    Min,
    /// MAX.
    Max,
    /// BIT_AND.
    BitAnd,
    /// BIT_OR.
    BitOr,
    /// BIT_XOR.
    BitXor,
    /// STD, STDDEV, STDDEV_POP.
    StdPop,
    /// STDDEV_SAMP.
    StdSamp,
    /// VARIANCE, VAR_POP.
    VarPop,
    /// VAR_SAMP.
    VarSamp,
    /// GROUP_CONCAT.
    GroupConcat,
    /// ANY_VALUE, and columns that depend on the group.
    AnyValue,
}

#[cfg(test)]
mod tests;
