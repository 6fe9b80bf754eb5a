//! GROUP BY, computed items of the select list, and HAVING.

use smallvec::smallvec;

use super::draft::{Draft, Stream};
use super::ordering::Ordering;
use super::{cost, join_node};
use crate::bind::block::{Aggregation, Computation};
use crate::plan::Node;

/// Puts the nodes that group, compute and test groups above the joined rows.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let Some(stream) = &mut draft.stream else { return };
    if let Some(aggregation) = draft.block.aggregation.take() {
        aggregate(stream, aggregation, draft.are_groups_together);
    }
    if let Some(Computation { rel, exprs }) = draft.block.computed.take() {
        stream.node = Node::Compute { input: take(&mut stream.node), rel, exprs };
        stream.rels.push(rel);
    }
    if draft.is_having_false {
        stream.node = Node::Empty;
    } else if !draft.having.is_empty() {
        let node = std::mem::replace(&mut stream.node, Node::Empty);
        stream.node = join_node::filter(node, std::mem::take(&mut draft.having), &draft.rels);
    }
}

/// The node, in whose place another one comes.
fn take(node: &mut Node) -> Box<Node> {
    Box::new(std::mem::replace(node, Node::Empty))
}

fn aggregate(stream: &mut Stream, aggregation: Aggregation, sorted: bool) {
    let Aggregation { rel, groups, aggs } = aggregation;
    let has_groups = !groups.is_empty();
    stream.order = if sorted { stream.order.of_groups(&groups, rel) } else { Ordering::default() };
    stream.node = Node::Aggregate { input: take(&mut stream.node), rel, groups, aggs, sorted };
    let rows = stream.estimate.rows;
    let groups_left = if has_groups { (rows * cost::GROUP_SHARE).max(1.0) } else { 1.0 };
    stream.estimate = stream.estimate.then(groups_left, rows * cost::HASH_ROW);
    stream.rels = smallvec![rel];
}
