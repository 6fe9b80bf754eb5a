//! Subqueries are planned, those with two forms in both.

use super::draft::Draft;
use super::query::Planner;
use super::subqueries::{ByRowPlan, Subqueries};
use super::subquery_forms::ByRow;

/// Plans the subqueries of the block.
pub(super) fn apply(draft: &mut Draft<'_>) {
    if draft.block.subqueries.is_empty() {
        return;
    }
    let (planner, params) = (Planner::new(draft.ctx, draft.rules), draft.params);
    let subqueries = std::mem::take(&mut draft.block.subqueries);
    let mut others = std::mem::take(&mut draft.subquery_forms.by_row);
    others.resize_with(subqueries.len(), || None);
    let inside = params.of_one_form();
    let by_row = |other: ByRow| ByRowPlan {
        condition: other.condition,
        plan: planner.subquery(other.subquery, &inside),
    };
    let others = others.into_iter().map(|other| other.map(by_row)).collect();
    draft.subqueries = planner.subqueries(subqueries, params);
    draft.rels.subqueries = Subqueries::new(&draft.subqueries, others, draft.subquery_forms.lead);
}
