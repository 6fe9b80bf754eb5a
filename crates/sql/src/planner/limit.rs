//! What LIMIT asks for.

use expr::Expr;

use super::cost;
use crate::bind::BindContext;
use crate::bind::block::{Block, Window};
use crate::plan::Node;

/// The rows of `node` that LIMIT leaves.
pub(super) fn window(node: Node, limit: Window) -> Node {
    if limit.count.is_none() {
        return node;
    }
    Node::Limit { input: Box::new(node), offset: limit.offset, count: limit.count }
}

/// How many sorted rows LIMIT reads: offset and count together. `None` if that is not known before the
/// statement runs.
pub(super) fn sort_limit(limit: &Window, ctx: &BindContext<'_>) -> Option<Expr> {
    let count = limit.count.as_ref()?;
    let Some(offset) = &limit.offset else { return Some(count.clone()) };
    let total = constant(offset)?.saturating_add(constant(count)?);
    let build = expr::Builder { collation: ctx.collation, ..expr::Builder::default() };
    Some(build.uint(total))
}

/// How many joined rows LIMIT needs, if it needs not all of them.
pub(super) fn row_limit(block: &Block) -> Option<f64> {
    if block.distinct || block.having.is_some() || block.count_found_rows {
        return None;
    }
    let count = block.limit.count.as_ref()?;
    let rows = |e: &Expr| constant(e).map_or(cost::UNKNOWN_LIMIT, |n| n as f64);
    Some(rows(count) + block.limit.offset.as_ref().map_or(0.0, rows))
}

/// The value of a constant limit.
pub(super) fn constant(expr: &Expr) -> Option<u64> {
    match &expr.kind {
        expr::ExprKind::Const(types::OwnedValue::Int(n)) => u64::try_from(*n).ok(),
        expr::ExprKind::Const(types::OwnedValue::UInt(n)) => Some(*n),
        _ => None,
    }
}
