//! Conditions on a derived table's columns move into its query, where its tables' indexes can serve them.

use expr::{ColumnRef, Expr, ExprKind};

use super::draft::Draft;
use super::join_list::{Item, JoinList};
use super::relations::{RelSet, Rels};
use crate::bind::block::{Block, Query};
use crate::bind::rewrite;
use crate::bind::volatile::{calls_volatile, is_volatile};

/// Greatest height that a condition may have once it is moved: the expressions of its columns take their
/// places, at every level of derived tables again.
const HEIGHT_MAX: usize = 200;
/// Most nodes that a condition may have once it is moved, in all operands of a union.
const NODES_MAX: usize = 50_000;

/// Moves conditions of this query's joins and WHERE into its derived tables.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let Draft { list, derived, rels, .. } = draft;
    if !derived.is_empty() {
        push_down(list, derived, rels);
    }
}

/// Moves conditions of this list and those of its left joins.
fn push_down(list: &mut JoinList, derived: &mut [(u16, Query)], rels: &Rels<'_>) {
    let JoinList { items, conditions, .. } = list;
    for item in items {
        match item {
            Item::Left { list, .. } => push_down(list, derived, rels),
            Item::Rel(rel) => {
                if let Some((_, query)) = derived.iter_mut().find(|(at, _)| at == rel) {
                    push(conditions, *rel, query, rels);
                }
            }
        }
    }
}

/// Moves those of `conditions` that name only `rel`, whose query is `query`, into the query.
fn push(conditions: &mut Vec<Expr>, rel: u16, query: &mut Query, rels: &Rels) {
    if !takes_conditions(query) {
        return;
    }
    conditions.retain(|condition| {
        let is_own = rels.of(condition) == RelSet::of(rel) && !rewrite::has_subquery(condition);
        if is_own && !calls_volatile(condition) && can_take(query, condition) && is_fit(query, condition) {
            add(query, condition);
            return false;
        }
        true
    });
}

/// Whether a condition on the result may be tested before it is complete: no LIMIT counts rows.
fn takes_conditions(query: &Query) -> bool {
    match query {
        Query::Select(block) => block.limit.count.is_none() && !block.count_found_rows,
        Query::Union(union) => union.limit.count.is_none() && union.arms.iter().all(takes_conditions),
    }
}

/// Whether every column that `condition` names is one that the rows have before they are grouped.
fn can_take(query: &Query, condition: &Expr) -> bool {
    match query {
        Query::Union(union) => union.arms.iter().all(|arm| can_take(arm, condition)),
        Query::Select(block) => {
            let mut fits = true;
            condition.walk(&mut |e| {
                if let ExprKind::Column(column) = e.kind {
                    fits &= is_plain(block, &block.output[usize::from(column.col)].expr);
                }
            });
            fits
        }
    }
}

/// Whether `condition` stays of a size that is worth its move.
fn is_fit(query: &Query, condition: &Expr) -> bool {
    let mut nodes_left = NODES_MAX;
    fits_in(query, condition, &mut nodes_left)
}

fn fits_in(query: &Query, condition: &Expr, nodes_left: &mut usize) -> bool {
    let block = match query {
        Query::Union(union) => return union.arms.iter().all(|arm| fits_in(arm, condition, nodes_left)),
        Query::Select(block) => block,
    };
    let (height, mut nodes) = condition.extent();
    let mut item_height = 0;
    let mut extents = vec![None; block.output.len()];
    condition.walk(&mut |e| {
        if let ExprKind::Column(column) = e.kind {
            let col = usize::from(column.col);
            let (height, count) =
                *extents[col].get_or_insert_with(|| moved_extent(block, &block.output[col].expr));
            item_height = item_height.max(height);
            nodes = nodes.saturating_add(count);
        }
    });
    let left = nodes_left.checked_sub(nodes);
    *nodes_left = left.unwrap_or(0);
    left.is_some() && height + item_height <= HEIGHT_MAX
}

/// Height and nodes of an item of the select list in terms of the query's own rows.
fn moved_extent(block: &Block, item: &Expr) -> (usize, usize) {
    let (mut height, mut nodes) = item.extent();
    let Some(aggregation) = &block.aggregation else { return (height, nodes) };
    let mut group_height = 0;
    item.walk(&mut |e| {
        if let ExprKind::Column(column) = e.kind
            && column.rel == aggregation.rel
        {
            let group = aggregation.groups.get(usize::from(column.col));
            let (height, count) = group.map_or((0, 0), Expr::extent);
            group_height = group_height.max(height);
            nodes = nodes.saturating_add(count);
        }
    });
    height += group_height;
    (height, nodes)
}

/// Whether an item of the select list can be computed from one row below the aggregation, at no risk.
fn is_plain(block: &Block, item: &Expr) -> bool {
    if is_volatile(item) || rewrite::has_subquery(item) {
        return false;
    }
    let is_plain_column = |column: ColumnRef| match (&block.aggregation, &block.computed) {
        (_, Some(computed)) if computed.rel == column.rel => false,
        (Some(aggregation), _) if aggregation.rel == column.rel => {
            let group = aggregation.groups.get(usize::from(column.col));
            group.is_some_and(|group| !is_volatile(group))
        }
        _ => true,
    };
    let mut plain = block.aggregation.as_ref().is_none_or(|aggregation| !aggregation.groups.is_empty());
    item.walk(&mut |e| {
        if let ExprKind::Column(column) = e.kind {
            plain &= is_plain_column(column);
        }
    });
    plain
}

/// Adds `condition`, in terms of the query's own rows, to its WHERE.
fn add(query: &mut Query, condition: &Expr) {
    match query {
        Query::Union(union) => union.arms.iter_mut().for_each(|arm| add(arm, condition)),
        Query::Select(block) => {
            let mut own = condition.clone();
            substitute(&mut own, &|col| {
                let mut item = block.output[usize::from(col)].expr.clone();
                if let Some(aggregation) = &block.aggregation {
                    ungroup(&mut item, aggregation.rel, &aggregation.groups);
                }
                item
            });
            block.filter.push(own);
        }
    }
}

/// Replaces each column by its expression.
fn substitute(expr: &mut Expr, item: &dyn Fn(u16) -> Expr) {
    match expr.kind {
        ExprKind::Column(column) => *expr = item(column.col),
        _ => expr.for_each_child_mut(&mut |child| substitute(child, item)),
    }
}

/// Replaces the columns of relation `rel` by the group expressions that they show.
fn ungroup(expr: &mut Expr, rel: u16, groups: &[Expr]) {
    match expr.kind {
        ExprKind::Column(column) if column.rel == rel => *expr = groups[usize::from(column.col)].clone(),
        ExprKind::Column(_) => {}
        _ => expr.for_each_child_mut(&mut |child| ungroup(child, rel, groups)),
    }
}
