//! Reading an index by jumps: from one value of its first parts to the next.

use expr::Expr;

/// Stretches of an index, one for each combination of values that `skipped` parts have.
///
/// ```text
/// key (a, b, c), a = 1 AND c > 5      lead: a = 1, skipped: b, then: 5 < c
/// ```
#[derive(Clone, Debug)]
pub struct Skip {
    /// Equal first parts.
    pub lead: Vec<Expr>,
    /// Parts after them whose values are looked up one after the other.
    pub skipped: usize,
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
        self.lead.iter().chain(&self.eq).chain(bounds)
    }

    /// Parts of the index that it names, at most.
    pub fn parts(&self) -> usize {
        self.lead.len() + self.skipped + self.eq.len() + 1
    }
}
