//! Derived tables are planned, once conditions have been moved into them.

use super::draft::Draft;
use super::query::plan_query;

/// Plans the derived tables of the block.
pub(super) fn apply(draft: &mut Draft<'_>) {
    for (rel, query) in std::mem::take(&mut draft.derived) {
        draft.rels.set_plan(rel, plan_query(query, draft.ctx, draft.params));
    }
}
