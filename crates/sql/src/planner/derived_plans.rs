//! Derived tables are planned, once conditions have been moved into them.

use super::draft::Draft;
use super::query::Planner;

/// Plans the derived tables of the block.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let planner = Planner::new(draft.ctx, draft.rules);
    for (rel, query) in std::mem::take(&mut draft.derived) {
        draft.rels.set_plan(rel, planner.inner(query, draft.params));
    }
}
