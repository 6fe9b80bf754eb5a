//! How a target stands in a row of the report.

use crate::stats::{Comparison, Verdict};

use super::row::{Row, TargetResult};

/// How a target stands in a row.
#[derive(Clone, Copy)]
pub(super) enum Standing<'a> {
    /// It is what the others are compared to.
    Base,
    /// Judged.
    Compared(&'a Comparison),
    /// Measured in too few rounds: only the quotient of the medians is known.
    Unjudged(f64),
    /// Measured, but the base was not.
    NoBase,
    /// No number, and why.
    Failed(&'a str),
    Missing,
}

impl Standing<'_> {
    /// Of the target at this position.
    pub(super) fn of(row: &Row, target: usize) -> Standing<'_> {
        match (&row.results[target], &row.results[0]) {
            (TargetResult::Failed(why), _) => Standing::Failed(why),
            (TargetResult::Missing, _) => Standing::Missing,
            (TargetResult::Measured(..), _) if target == 0 => Standing::Base,
            (TargetResult::Measured(_, Some(comparison)), _) => Standing::Compared(comparison),
            (TargetResult::Measured(figures, None), TargetResult::Measured(base, _)) => {
                Standing::Unjudged(figures.qps / base.qps)
            }
            (TargetResult::Measured(_, None), _) => Standing::NoBase,
        }
    }
}

/// The sign that stands for a verdict: none is told by colour alone.
pub(super) fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::Faster => '▲',
        Verdict::Slower => '▼',
        Verdict::NoDifference => '~',
        Verdict::Undecided => '?',
    }
}
