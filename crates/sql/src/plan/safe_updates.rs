//! Which changes `sql_safe_updates` refuses.

use super::{Node, Path, Plan, QueryPlan};

impl Plan {
    /// Whether this is an UPDATE or DELETE that finds the rows it changes without a key, by reading all of
    /// them, and has no LIMIT. A condition that cannot hold finds none. Cost: one pass over the nodes.
    pub fn changes_without_key(&self) -> bool {
        match self {
            Plan::Update(plan) => finds_without_key(&plan.query, &plan.targets),
            Plan::Delete(plan) => finds_without_key(&plan.query, &plan.targets),
            Plan::Query(_) | Plan::Insert(_) | Plan::Load(_) => false,
        }
    }
}

fn finds_without_key(query: &QueryPlan, targets: &[u16]) -> bool {
    !matches!(query.root, Node::Limit { .. }) && scans_any(&query.root, targets)
}

/// Whether a table of `targets` is read whole at or below `node`.
fn scans_any(node: &Node, targets: &[u16]) -> bool {
    match node {
        Node::Access { rel, path: Path::Scan { .. }, .. } => targets.contains(rel),
        _ => node.inputs().into_iter().any(|input| scans_any(input, targets)),
    }
}
