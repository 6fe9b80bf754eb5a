//! DISTINCT, ORDER BY and LIMIT, and the plan as a whole.

use super::draft::{Draft, Stream};
use super::limit::{sort_limit, window};
use crate::bind::BindContext;
use crate::bind::block::Block;
use crate::plan::{Estimate, Node, QueryPlan, SortKey};

/// Makes the plan.
pub(super) fn make(draft: &mut Draft<'_>) -> QueryPlan {
    leave_out_unused(draft);
    if let Some((rel, read)) = draft.chosen.read.take() {
        draft.rels.list[usize::from(rel)].used = read;
    }
    let Draft { block, ctx, stream: Some(stream), .. } = draft else { unreachable!("rows are made first") };
    let rows = stream.estimate.rows;
    let estimate =
        Estimate { rows: draft.row_limit.map_or(rows, |limit| rows.min(limit)), ..stream.estimate };
    QueryPlan {
        relations: draft.rels.take_plan(),
        root: finished(stream, block, ctx),
        output: std::mem::take(&mut block.output).into(),
        subqueries: std::mem::take(&mut draft.subqueries),
        locks: std::mem::take(&mut block.locks),
        count_found_rows: block.count_found_rows,
        estimate,
        counted: draft.chosen.counted.take().map(Box::new),
    }
}

/// Leaves out the forms of subqueries that were not chosen.
fn leave_out_unused(draft: &mut Draft<'_>) {
    if draft.subquery_forms.lead.is_some_and(|lead| !draft.chosen.in_paths.contains(&lead)) {
        draft.subqueries.pop();
    }
    for &at in &draft.chosen.by_row {
        if let Some(plan) = draft.rels.subqueries.take_by_row(at) {
            draft.subqueries[usize::from(at)] = plan;
        }
    }
}

fn finished(stream: &mut Stream, block: &mut Block, ctx: &BindContext<'_>) -> Node {
    let mut node = std::mem::replace(&mut stream.node, Node::Empty);
    if block.distinct {
        let exprs = block.output.iter().map(|item| item.expr.clone()).collect();
        node = Node::Distinct { input: Box::new(node), exprs };
    }
    let keys: Vec<SortKey> = std::mem::take(&mut block.order);
    if !keys.is_empty() {
        let limit = if block.count_found_rows { None } else { sort_limit(&block.limit, ctx) };
        node = Node::Sort { input: Box::new(node), keys, rels: stream.rels.to_vec(), limit };
    }
    window(node, std::mem::take(&mut block.limit))
}
