//! Index dives: how many rows a path finds, asked of the index itself with the values of this execution.
//!
//! A plan is made for an execution whose values are known, and serves others. So a plan that dives had a say
//! in keeps what they were asked ([`Recheck`]): an execution with other values asks again, and is planned
//! again where another path is far cheaper.

mod recheck;
mod stretches;

use std::cell::{Cell, RefCell};
use std::fmt;

use base::TableId;
use expr::EvalCtx;
use types::TableDef;

pub(crate) use recheck::WORTH;
pub use recheck::{Candidate, Recheck, holds};
use stretches::KeyStretch;
pub(crate) use stretches::Limits;

use crate::bind::Catalog;
use crate::plan::Path;

/// Most stretches of indexes that a statement's plan asks for; beyond, averages are used. The second: where a
/// client wants dives for lists of any length.
const DIVES_MAX: [u32; 2] = [64, 8192];

/// The dives of one statement.
pub struct Dives<'v> {
    ctx: EvalCtx<'v>,
    limits: Limits,
    /// Dives that are left to it.
    left: Cell<u32>,
    made: RefCell<Vec<DiveResult>>,
    rechecks: RefCell<Vec<Recheck>>,
}

/// A dive and its answer.
struct DiveResult {
    table: TableId,
    index: usize,
    stretch: KeyStretch,
    rows: f64,
}

impl fmt::Debug for Dives<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dives").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<'v> Dives<'v> {
    /// Dives with the values of the statement's parameters and variables in `ctx`. `points_max` is the
    /// variable `eq_range_index_dive_limit`: paths of as many single keys are estimated by averages; 0: none
    /// are.
    pub fn new(ctx: EvalCtx<'v>, points_max: u64) -> Self {
        let limits = Limits::new(points_max);
        let left = Cell::new(DIVES_MAX[usize::from(points_max == 0)]);
        Dives { ctx, limits, left, made: RefCell::default(), rechecks: RefCell::default() }
    }

    /// How many stretches of a path are asked for.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// About how many rows of `table` have keys that `path` finds. `None`: its values are not known, it has
    /// too many stretches, or the index cannot be asked now.
    pub(crate) fn rows(&self, catalog: &dyn Catalog, table: &TableDef, path: &Path) -> Option<f64> {
        let mut rows = 0.0;
        for stretch in stretches::of(table, path, &self.ctx, self.limits)? {
            rows += self.dive(catalog, table, path.index(), stretch)?;
        }
        Some(rows)
    }

    fn dive(&self, catalog: &dyn Catalog, table: &TableDef, index: usize, at: KeyStretch) -> Option<f64> {
        let mut made = self.made.borrow_mut();
        let is_same =
            |made: &&DiveResult| made.table == table.id && made.index == index && made.stretch == at;
        if let Some(known) = made.iter().find(is_same) {
            return Some(known.rows);
        }
        self.left.set(self.left.get().checked_sub(1)?);
        let rows = catalog.rows_between(table, index, &at.from, at.to.as_deref())?;
        made.push(DiveResult { table: table.id, index, stretch: at, rows });
        Some(rows)
    }

    /// Notes what the choice of a path depends on.
    pub(crate) fn note(&self, recheck: Recheck) {
        let mut rechecks = self.rechecks.borrow_mut();
        // A table's paths are compared once for each place in the join order.
        if !rechecks.iter().any(|known| known.is_same(&recheck)) {
            rechecks.push(recheck);
        }
    }

    /// The dives that the finished plan depends on.
    pub(crate) fn take_rechecks(&self) -> Vec<Recheck> {
        self.rechecks.take()
    }
}
