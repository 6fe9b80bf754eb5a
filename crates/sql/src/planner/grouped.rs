//! GROUP BY, computed items of the select list, and HAVING.

use super::draft::{Draft, Stream};
use super::ordering::Ordering;
use super::{cost, join_node};
use crate::bind::block::{Aggregation, Computation};
use crate::plan::{Estimate, Node};

/// Puts the nodes that group, compute and test groups above the joined rows.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let Some(mut stream) = draft.stream.take() else { return };
    if let Some(aggregation) = draft.block.aggregation.take() {
        stream = aggregated(stream, aggregation, draft.are_groups_together);
    }
    if let Some(Computation { rel, exprs }) = draft.block.computed.take() {
        stream.node = Node::Compute { input: Box::new(stream.node), rel, exprs };
        stream.rels.push(rel);
    }
    if draft.is_having_false {
        stream.node = Node::Empty;
    } else if !draft.having.is_empty() {
        stream.node = join_node::filter(stream.node, std::mem::take(&mut draft.having), &draft.rels);
    }
    draft.stream = Some(stream);
}

fn aggregated(stream: Stream, aggregation: Aggregation, sorted: bool) -> Stream {
    let Aggregation { rel, groups, aggs } = aggregation;
    let has_groups = !groups.is_empty();
    let order = if sorted { stream.order.of_groups(&groups, rel) } else { Ordering::default() };
    let node = Node::Aggregate { input: Box::new(stream.node), rel, groups, aggs, sorted };
    let Estimate { rows, cost } = stream.estimate;
    let groups_left = if has_groups { (rows * cost::GROUP_SHARE).max(1.0) } else { 1.0 };
    let estimate = Estimate { rows: groups_left, cost: cost + rows * cost::HASH_ROW };
    Stream { node, order, rels: vec![rel], estimate }
}
