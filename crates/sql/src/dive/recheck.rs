//! Whether a plan that dives had a say in is good for other values.

use std::sync::Arc;

use expr::EvalCtx;
use types::TableDef;

use super::stretches::{self, Limits};
use crate::bind::Catalog;
use crate::plan::Path;

/// Paths are cheap, whatever else there is, below this cost in rows examined: no dive is worth it.
pub(crate) const WORTH: f64 = 200.0;
/// A plan serves as long as no other path costs less than this part of its own.
const FAR_CHEAPER: f64 = 0.25;

/// The dives that the choice of a path to one table depends on.
#[derive(Clone, Debug)]
pub struct Recheck {
    /// The paths that were dived for.
    pub(crate) candidates: Vec<Candidate>,
    /// The one that was chosen; `None`: another path.
    pub(crate) chosen: Option<usize>,
    /// Cost of the cheapest path that was not dived for.
    pub(crate) least_of_others: f64,
    /// Cost of the path chosen, when it was.
    pub(crate) cost: f64,
    /// How many stretches of a path are asked for.
    pub(crate) limits: Limits,
}

/// A path whose rows an index can be asked for.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The table of the path: that of the choice, or the one that a subquery reads for the values of the
    /// choice.
    pub(crate) table: Arc<TableDef>,
    pub(crate) path: Path,
    /// Cost of finding the first row.
    pub(crate) start: f64,
    /// Cost of each row.
    pub(crate) per_row: f64,
}

impl Candidate {
    /// Cost where the path finds `rows` rows.
    pub(crate) fn cost(&self, rows: f64) -> f64 {
        self.start + rows * self.per_row
    }
}

impl Recheck {
    /// Cost of the path chosen, in rows examined.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Whether the two are about the same paths of the same tables.
    pub(super) fn is_same(&self, other: &Recheck) -> bool {
        let indexes = |recheck: &Recheck| {
            recheck.candidates.iter().map(|c| (c.table.id, c.path.index())).collect::<Vec<_>>()
        };
        self.chosen == other.chosen && self.cost == other.cost && indexes(self) == indexes(other)
    }

    /// Whether the path chosen is good with the values in `ctx`. Cost: a dive if it is cheap with them, else
    /// one for each path.
    fn holds(&self, catalog: &dyn Catalog, ctx: &EvalCtx<'_>) -> bool {
        let cost = |candidate: &Candidate| {
            let Candidate { table, path, .. } = candidate;
            let mut rows = 0.0;
            for stretch in stretches::of(table, path, ctx, self.limits)? {
                rows += catalog.rows_between(table, path.index(), &stretch.from, stretch.to.as_deref())?;
            }
            Some(candidate.cost(rows))
        };
        let own = self.chosen.map_or(Some(self.cost), |at| cost(&self.candidates[at]));
        let Some(own) = own.filter(|&own| own >= WORTH) else { return true };
        let others = (0..self.candidates.len()).filter(|&at| self.chosen != Some(at));
        let dived = others.filter_map(|at| cost(&self.candidates[at]));
        let least = dived.fold(self.least_of_others, f64::min);
        own * FAR_CHEAPER <= least
    }
}

/// Whether a plan with these `rechecks` is good with the values in `ctx`.
pub fn holds(rechecks: &[Recheck], catalog: &dyn Catalog, ctx: &EvalCtx<'_>) -> bool {
    rechecks.iter().all(|recheck| recheck.holds(catalog, ctx))
}
