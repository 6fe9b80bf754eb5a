//! A query of one table whose only condition is a list of first parts of clustered keys:
//!
//! ```text
//! WHERE (w, d, o) IN ((1, 1, 7), (1, 2, 9)) .. GROUP BY d      on PRIMARY (w, d, o, number)
//! ```
//! Where these parts bound no other index as far and finding the rows so costs less than reading the table,
//! it is the only way that the search sees, and the condition is taken apart once. [`super::key_list`] plans
//! those queries as a whole that do nothing with their rows.

use std::sync::Arc;

use expr::{Expr, ExprKind};

use super::access::{Choice, Table};
use super::draft::Draft;
use super::join_list::Item;
use super::key_list::{Rows, another_index_serves, keys_of, rows_of};
use super::relations::{RelKind, RelSet};
use super::{cost, key_boxes, sarg};
use crate::bind::same;
use crate::plan::Path;

#[cfg(test)]
thread_local! {
    /// How many lists of this thread were taken so.
    pub(in crate::planner) static ROW_LISTS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Finds the rows by the list, if that is all that WHERE is.
pub(super) fn apply(draft: &mut Draft<'_>) {
    #[cfg(test)]
    if super::key_list::NO_ROW_LISTS.get() {
        return;
    }
    let [Item::Rel(rel)] = draft.list.items[..] else { return };
    let is_whole_query = !draft.rels.is_counted && draft.row_limit.is_none();
    if !is_whole_query || !draft.rels.subqueries.is_empty() {
        return;
    }
    let Draft { rels, list, block, .. } = draft;
    let [Expr { kind: ExprKind::Or(arms), .. }] = &mut list.conditions[..] else { return };
    let RelKind::Table { def, indexes: None, .. } = &rels.get(rel).kind else { return };
    let wants_order = block.aggregation.is_some() || !block.order.is_empty();
    let table = Table { rel, def, rels, wants_order };
    let Some((rows, mut choice)) = find(&table, arms) else { return };
    #[cfg(test)]
    ROW_LISTS.set(ROW_LISTS.get() + 1);
    let keys = Arc::new(keys_of(&rows, arms));
    choice.path = Path::Intervals { index: 0, keys, reverse: false };
    draft.list.conditions.clear();
    draft.methods.only = Some(choice);
}

/// The places of the keys that `arms` are, and the way to find their rows; its path is not filled in.
fn find(table: &Table<'_>, arms: &[Expr]) -> Option<(Rows, Choice)> {
    let Table { def, rels, rel, .. } = table;
    let ExprKind::And(first) = &arms.first()?.kind else { return None };
    let parts = def.clustered().parts.get(..first.len())?;
    if another_index_serves(def, parts) {
        return None;
    }
    let rows = rows_of(arms, parts)?;
    let bytes = key_boxes::bytes_of_keys(arms.len(), parts.len());
    if !rels.range_memory.allows(bytes) {
        return None;
    }
    let first = sarg::of(&arms[0], *rel, RelSet::EMPTY, rels);
    let choice = table.listed(&first, arms.len(), || constants(arms, &rows))?;
    let most = choice.cost + cost::sort(choice.rows) + choice.rows * cost::HASH_ROW;
    (most < table.least_of_scans()).then_some((rows, choice))
}

/// How many leading parts of the keys `rows` have one value in all of `arms`.
fn constants(arms: &[Expr], rows: &Rows) -> usize {
    let value = |at: usize, part: usize| match &arms[at].kind {
        ExprKind::And(terms) => Some(rows[at].get(part)?.value(terms)),
        _ => None,
    };
    let is_constant = |part: &usize| {
        let first = value(0, *part);
        (1..arms.len()).all(|at| first.zip(value(at, *part)).is_some_and(|(a, b)| same::same(a, b)))
    };
    (0..rows[0].len()).take_while(is_constant).count()
}
