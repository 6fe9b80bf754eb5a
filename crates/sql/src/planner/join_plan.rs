//! The joined rows are made by the cheapest join plan.

use super::draft::Draft;
use super::join_order;
use super::relations::RelSet;

/// Searches for the join plan.
pub(super) fn apply(draft: &mut Draft<'_>) {
    if draft.stream.is_none() {
        draft.list.note_named(&draft.rels);
        let of = (&draft.rels, &draft.methods);
        draft.join_plan = Some(join_order::best(&draft.list, RelSet::EMPTY, draft.goal(), of));
    }
}
