//! Groups whose rows come one after the other need no hash table.

use super::draft::Draft;

/// Notes whether the rows of each group come together.
pub(super) fn apply(draft: &mut Draft<'_>) {
    if let (Some(aggregation), Some(stream)) = (&draft.block.aggregation, &draft.stream) {
        let groups = &aggregation.groups;
        draft.are_groups_together = !groups.is_empty() && stream.order.groups(groups);
    }
}
