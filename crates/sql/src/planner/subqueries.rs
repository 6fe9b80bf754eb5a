//! The planner's data about a query's subqueries: the cost of running them, and the cheaper form of each
//! condition.

use expr::{ColumnRef, Expr, ExprKind};
use types::SqlType;

use super::cost;
use super::relations::RelSet;
use crate::dive::Candidate;
use crate::plan::{Estimate, SubPlan};

/// The subqueries of one query, by ordinal.
#[derive(Debug, Default)]
pub(super) struct Subqueries {
    list: Vec<Subquery>,
    /// The one that is of use only to find rows.
    lead: Option<u16>,
}

#[derive(Debug)]
struct Subquery {
    /// Relations of the enclosing query that it names.
    names: RelSet,
    estimate: Estimate,
    /// Type of its first column.
    ty: SqlType,
    by_row: Option<ByRowPlan>,
    counted: Option<Candidate>,
}

/// A condition that runs its subquery for each row, in the place of one that reads a list.
#[derive(Debug)]
pub(super) struct ByRowPlan {
    pub(super) condition: Expr,
    pub(super) plan: SubPlan,
}

/// The values of a subquery that names nothing outside.
#[derive(Clone, Debug)]
pub(super) struct List<'s> {
    pub(super) estimate: Estimate,
    pub(super) ty: &'s SqlType,
    /// The path whose rows a dive estimated; its cost is the number of values.
    pub(super) counted: Option<&'s Candidate>,
}

impl List<'_> {
    /// Cost of making it.
    pub(super) fn cost(&self) -> f64 {
        self.estimate.cost + self.estimate.rows * cost::HASH_ROW
    }
}

impl Subqueries {
    /// `plans` with the other forms of their conditions.
    pub(super) fn new(plans: &[SubPlan], by_row: Vec<Option<ByRowPlan>>, lead: Option<u16>) -> Subqueries {
        let rels_of = |columns: &[ColumnRef]| {
            columns.iter().fold(RelSet::EMPTY, |set, column| set.with(RelSet::of(column.rel)))
        };
        let subquery = |(plan, by_row): (&SubPlan, _)| Subquery {
            names: rels_of(&plan.outer),
            estimate: plan.query.estimate,
            ty: plan.query.output.first().map_or_else(SqlType::null, |column| column.expr.ty.clone()),
            by_row,
            counted: plan.query.counted.as_deref().cloned(),
        };
        Subqueries { list: plans.iter().zip(by_row).map(subquery).collect(), lead }
    }

    /// Whether `condition` follows from another one, so that it need not be tested.
    pub(super) fn is_lead(&self, condition: &Expr) -> bool {
        matches!(condition.kind, ExprKind::Subquery { plan, .. } if self.lead == Some(plan))
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Relations that subquery `plan` names.
    pub(super) fn named_by(&self, plan: u16) -> RelSet {
        self.list.get(usize::from(plan)).map_or(RelSet::EMPTY, |subquery| subquery.names)
    }

    /// Subquery `plan` as a list, if it names nothing outside.
    pub(super) fn list(&self, plan: u16) -> Option<List<'_>> {
        let subquery = self.list.get(usize::from(plan)).filter(|subquery| subquery.names.is_empty())?;
        let Subquery { estimate, ty, counted, .. } = subquery;
        Some(List { estimate: *estimate, ty, counted: counted.as_ref() })
    }

    /// The cost of the subqueries in `condition` when it is tested on `rows` rows. Lists that are there
    /// already cost nothing but the looking up.
    pub(super) fn cost(&self, condition: &Expr, rows: f64, makes_lists: bool) -> f64 {
        let mut cost = 0.0;
        if self.list.is_empty() || self.is_lead(condition) {
            return cost;
        }
        condition.walk(&mut |e| {
            let ExprKind::Subquery { plan, .. } = e.kind else { return };
            let by_row = self.by_row(plan).map(|other| runs(&other.plan.query.estimate, rows));
            let own = match (self.list(plan), self.list.get(usize::from(plan))) {
                (Some(list), _) if makes_lists => list.cost() + rows * cost::LIST_PROBE,
                (Some(_), _) => rows * cost::LIST_PROBE,
                (None, Some(subquery)) => runs(&subquery.estimate, rows),
                (None, None) => 0.0,
            };
            cost += by_row.map_or(own, |by_row| own.min(by_row));
        });
        cost
    }

    /// The ordinal of the subquery in `condition` that is better run for each of `rows` rows, and the
    /// condition that does so.
    pub(super) fn cheaper_by_row(&self, condition: &Expr, rows: f64) -> Option<(u16, &Expr)> {
        if self.list.is_empty() {
            return None;
        }
        let mut found = None;
        condition.walk(&mut |e| {
            if let ExprKind::Subquery { plan, .. } = e.kind {
                found = found.or_else(|| Some((plan, self.by_row(plan)?)));
            }
        });
        let (plan, other) = found?;
        let list = self.list(plan)?;
        let by_row = runs(&other.plan.query.estimate, rows);
        let is_cheaper = by_row < list.cost() + rows * cost::LIST_PROBE;
        is_cheaper.then_some((plan, &other.condition))
    }

    fn by_row(&self, plan: u16) -> Option<&ByRowPlan> {
        self.list.get(usize::from(plan))?.by_row.as_ref()
    }

    /// The plan that runs subquery `plan` for each row.
    pub(super) fn take_by_row(&mut self, plan: u16) -> Option<SubPlan> {
        Some(self.list.get_mut(usize::from(plan))?.by_row.take()?.plan)
    }
}

/// Cost of `count` runs of a subquery.
fn runs(estimate: &Estimate, count: f64) -> f64 {
    count * cost::RUN_SUBQUERY + estimate.cost_of_runs(count)
}
