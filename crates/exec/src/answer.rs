//! Finished results of subqueries.

use expr::HashIndex;
use types::OwnedValue;

/// Result of a subquery.
#[derive(Debug)]
pub(crate) enum Answer {
    Scalar(OwnedValue),
    Exists(bool),
    /// The values of IN, by key in the domain of the comparison.
    List {
        keys: HashIndex,
        has_null: bool,
    },
    /// The values of ANY and ALL.
    Extremes(Extremes),
}

/// Summary of a subquery's values: the comparisons with the least and the largest decide.
#[derive(Debug)]
pub(crate) struct Extremes {
    /// NULL without values.
    pub(crate) least: OwnedValue,
    pub(crate) most: OwnedValue,
    pub(crate) has_null: bool,
}
