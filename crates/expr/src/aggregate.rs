//! Aggregate functions.

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
