//! Reading an index by jumps: from one value of its first parts to the next.

use expr::Expr;

use super::key_set::KeySet;

/// Stretches of an index, one for each combination of values that `skipped` parts have.
///
/// ```text
/// key (a, b, c), a = 1 AND c > 5            lead: a = 1, skipped: b, then: 5 < c
/// key (a, b, c), a IN (1, 2) AND b = 5      skipped: a, within a = 1 OR a = 2, then: b = 5
/// ```
#[derive(Clone, Debug)]
pub struct Skip {
    /// Equal first parts.
    pub lead: Vec<Expr>,
    /// Parts after them whose values are looked up one after the other.
    pub skipped: usize,
    /// The keys that those parts are confined to; `lead` is empty then.
    pub within: Option<KeySet>,
    /// Equal parts after those.
    pub eq: Vec<Expr>,
    /// Which of `lead` and `eq`, one after the other, find NULLs too.
    pub null_safe: Vec<bool>,
    /// Lower bound of the next part, and whether it is included.
    pub lower: Option<(Expr, bool)>,
    /// Upper bound, and whether it is included.
    pub upper: Option<(Expr, bool)>,
    /// Which rows of a stretch are given.
    pub take: Take,
}

/// Which rows of a stretch are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// All.
    All,
    /// Those at its ends; a row may come twice.
    Ends {
        /// The first one.
        first: bool,
        /// The first one whose part after the equal ones, which may be NULL and ascends, is not NULL.
        not_null: bool,
        /// The last one.
        last: bool,
    },
}

impl Skip {
    /// The values that it names.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let bounds = self.lower.iter().chain(&self.upper).map(|(expr, _)| expr);
        let within = self.within.iter().flat_map(KeySet::exprs);
        self.lead.iter().chain(within).chain(&self.eq).chain(bounds)
    }

    /// Whether the stretches are less than all that has the values of the parts before.
    pub(crate) fn has_stretch(&self) -> bool {
        !self.eq.is_empty() || self.lower.is_some() || self.upper.is_some()
    }

    /// Parts of the index that it names, at most.
    pub fn parts(&self) -> usize {
        self.lead.len() + self.skipped + self.eq.len() + 1
    }
}
