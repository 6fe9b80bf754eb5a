//! A query of one table whose only condition is a short list of whole clustered keys, as written in one of
//! three ways:
//!
//! ```text
//! WHERE (w, i) IN ((1, 5), (1, 7))       WHERE (w = 1 AND i = 5) OR (w = 1 AND i = 7)       WHERE id IN (5, 7)
//! ```
//! Where the key bounds no other index as far, so few lookups cost less than any other path: none is compared. Longer lists are left to the general way ([`super::rules`]), which finds the same plan for
//! short ones.

use std::sync::Arc;

use expr::{Expr, ExprKind};
use smallvec::{SmallVec, smallvec};
use types::{KeyPart, TableDef};

use super::draft::{Extra, PlanInput};
use super::rule::MakePlan;
use super::whole_key::{Places, only_table, places, plan_of_path, relation};
use super::{cost, key_boxes, sarg};
use crate::bind::BindContext;
use crate::bind::block::Block;
use crate::plan::{Estimate, KeyBox, KeySet, ParamKeys, PartTest, Path, QueryPlan, Relation};

/// Keys whose places need no allocation: about as many as a short list has.
const INLINE_KEYS: usize = 16;

/// Where the values of keys are in the arms of a disjunction.
pub(super) type Rows = SmallVec<[Places; INLINE_KEYS]>;

/// A list of whole clustered keys.
pub(super) struct KeyList {
    /// Empty: the keys are the items of a list, or those of [`Block::row_keys`].
    rows: Rows,
    estimate: Estimate,
}

/// Plans the block, if it is a query of a few rows.
pub(super) fn apply(start: &mut PlanInput<'_>) -> Option<MakePlan> {
    start.keys = if start.extra.is_statement { find(start.block, start.ctx) } else { None };
    start.keys.is_some().then_some(plan_found as MakePlan)
}

fn plan_found(start: &mut PlanInput<'_>) -> QueryPlan {
    let Some(keys) = &start.keys else { unreachable!("they were found") };
    keys.plan(start.block, start.extra)
}

/// Finds the keys, if `block` is a query whose path they decide.
pub(super) fn find(block: &Block, ctx: &BindContext<'_>) -> Option<KeyList> {
    let condition = match &block.filter[..] {
        [condition] => Some(&condition.kind),
        _ => None,
    };
    let count = match (condition, &block.row_keys) {
        (Some(ExprKind::Or(arms)), _) => arms.len(),
        (Some(ExprKind::In { list, .. }), _) => list.len(),
        (None, Some(keys)) if keys.len() > 1 => keys.len(),
        _ => return None,
    };
    let def = only_table(block)?;
    let parts = &def.clustered().parts[..];
    let cost = cost::stretches(count) + cost::reading(count as f64, false);
    let estimate = Estimate { rows: count as f64, cost };
    if estimate.cost >= cost::WORTH_JUMPS || parts.is_empty() || another_index_serves(def, parts) {
        return None;
    }
    let (rows, bytes) = match condition {
        Some(ExprKind::Or(arms)) => (rows_of(arms, parts)?, key_boxes::bytes_of_keys(count, parts.len())),
        None => (Rows::new(), key_boxes::bytes_of_keys(count, parts.len())),
        _ if is_of_items(&block.filter[0], parts) => (Rows::new(), key_boxes::bytes_of_items(count)),
        _ => return None,
    };
    ctx.range_memory.allows(bytes).then_some(KeyList { rows, estimate })
}

/// Whether the items of `condition` are keys of a clustered index of one part.
fn is_of_items(condition: &Expr, parts: &[KeyPart]) -> bool {
    let [KeyPart { column, prefix_len: None, .. }] = parts else { return false };
    sarg::exact_list(condition, 0) == Some(*column)
}

/// The keys that `arms` are.
pub(super) fn rows_of(arms: &[Expr], parts: &[KeyPart]) -> Option<Rows> {
    let key = |arm: &Expr| match &arm.kind {
        ExprKind::And(terms) if terms.len() == parts.len() => places(terms, parts),
        _ => None,
    };
    let mut keys = SmallVec::new();
    for arm in arms {
        keys.push(key(arm)?);
    }
    Some(keys)
}

/// Whether equalities with all columns of `parts`, the first of the clustered key, bound another index as far.
/// One with another column before the last of them finds more rows by them.
pub(super) fn another_index_serves(def: &TableDef, parts: &[KeyPart]) -> bool {
    let is_of_key = |part: &&KeyPart| parts.iter().any(|known| known.column == part.column);
    def.indexes[1..].iter().any(|index| {
        let bounded = index.parts.iter().take_while(is_of_key).count();
        bounded == parts.len() || bounded == index.parts.len()
    })
}

impl KeyList {
    /// The plan of `block`, from which it takes what the plan holds.
    pub(super) fn plan(&self, block: &mut Block, extra: &Extra<'_>) -> QueryPlan {
        let relation = relation(block, extra, &[]);
        let keys = match block.filter.pop().map(|condition| condition.kind) {
            Some(ExprKind::Or(mut arms)) => KeySet::new(boxes_of(&self.rows, &mut arms)),
            Some(ExprKind::In { list, .. }) => {
                KeySet::new(vec![KeyBox { tests: smallvec![(0, PartTest::In(list))] }])
            }
            _ => KeySet::of_params(params_of(block, &relation)),
        };
        let path = Path::Intervals { index: 0, keys: Arc::new(keys), reverse: false };
        plan_of_path(block, relation, (path, None), self.estimate)
    }
}

/// The keys of `block`, each in the order of the clustered key of `relation`, its table.
fn params_of(block: &mut Block, relation: &Relation) -> ParamKeys {
    let (Relation::Table { def, .. }, Some(keys)) = (relation, block.row_keys.take()) else {
        unreachable!("a table, whose rows are found by their keys")
    };
    let parts = &def.clustered().parts;
    #[cfg(test)]
    FLAT_LISTS.set(FLAT_LISTS.get() + 1);
    ParamKeys { parts: parts.len(), numbers: keys.in_order(parts.iter().map(|part| part.column)) }
}

#[cfg(test)]
thread_local! {
    /// How many plans of this thread have keys that were never made a condition.
    pub(in crate::planner) static FLAT_LISTS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The boxes of `keys`, whose values are taken out of `arms`.
pub(super) fn boxes_of(keys: &[Places], arms: &mut [Expr]) -> Vec<KeyBox> {
    let mut boxes = Vec::with_capacity(arms.len());
    for (arm, places) in arms.iter_mut().zip(keys) {
        let ExprKind::And(terms) = &mut arm.kind else { unreachable!("a key of several parts") };
        let mut tests = SmallVec::with_capacity(places.len());
        for (part, place) in (0..).zip(places) {
            tests.push((part, PartTest::Eq(place.take(terms))));
        }
        boxes.push(KeyBox { tests });
    }
    boxes
}
