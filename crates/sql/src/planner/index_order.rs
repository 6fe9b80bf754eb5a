//! Rows that come in the order wanted are not sorted.

use super::draft::Draft;
use super::ordering::{self, Ordering, Reading};
use crate::plan::{Node, SortKey};

/// Leaves ORDER BY out where the rows come in its order, once the first table is read the right way round.
pub(super) fn apply(draft: &mut Draft<'_>) {
    if let Some(stream) = &mut draft.stream
        && !draft.block.order.is_empty()
        && in_order(&mut stream.node, &stream.order, &draft.block.order)
    {
        draft.block.order.clear();
    }
}

/// Whether the rows of `node` come ordered by `keys`, once the first table is read the right way round.
fn in_order(node: &mut Node, order: &Ordering, keys: &[SortKey]) -> bool {
    match order.reading(keys) {
        Some(Reading::Forward) => true,
        Some(Reading::Backward) => reverse_first(node),
        None => false,
    }
}

/// Makes the first table be read last row first. False, and nothing changed, if it cannot.
fn reverse_first(node: &mut Node) -> bool {
    match node {
        Node::Access { path, .. } => ordering::reverse(path),
        Node::Join { outer, .. } | Node::HashJoin { outer, .. } => reverse_first(outer),
        Node::Intersect { first, .. } => reverse_first(first),
        Node::Filter { input, .. }
        | Node::Compute { input, .. }
        | Node::Distinct { input, .. }
        | Node::Aggregate { input, .. } => reverse_first(input),
        _ => false,
    }
}
