//! Rows are not sorted by what is the same for all of them.

use super::draft::Draft;
use super::ordering;

/// Leaves constant keys out of ORDER BY.
pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.block.order.retain(|key| !ordering::is_constant(&key.expr));
}
