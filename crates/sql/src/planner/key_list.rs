//! A query of one table whose only condition is a short list of whole clustered keys, as written in one of
//! three ways:
//!
//! ```text
//! WHERE (w, i) IN ((1, 5), (1, 7))       WHERE (w = 1 AND i = 5) OR (w = 1 AND i = 7)       WHERE id IN (5, 7)
//! ```
//! Where the key bounds no other index as far, so few lookups cost less than any other path: none is
//! compared. Longer lists are left to the general way ([`super::rules`]), which finds the same plan for short
//! ones.

use std::sync::Arc;

use expr::{CmpOp, Expr, ExprKind};
use smallvec::{SmallVec, smallvec};
use types::{KeyPart, TableDef};

use super::draft::{Extra, PlanInput};
use super::rule::MakePlan;
use super::whole_key::{Places, only_table, places, plan_of_path, relation};
use super::{cost, key_boxes, sarg};
use crate::bind::BindContext;
use crate::bind::block::Block;
use crate::plan::{Estimate, KeyBox, KeySet, ParamKeys, ParamOrigin, PartTest, Path, QueryPlan, Relation};

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
    #[cfg(test)]
    if NO_ROW_LISTS.get() && start.block.row_keys.is_none() {
        return None;
    }
    if !start.extra.is_statement {
        return None;
    }
    start.keys = Some(find(start.block, start.ctx)?);
    Some(plan_found)
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
    let estimate = Estimate::new(count as f64, cost);
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
    let mut keys = Rows::new();
    let mut before: Option<&[Expr]> = None;
    for arm in arms {
        let ExprKind::And(terms) = &arm.kind else { return None };
        if terms.len() != parts.len() {
            return None;
        }
        let key = match before.zip(keys.last()) {
            Some((before, key)) if are_alike(before, terms) => key.clone(),
            _ => places(terms, parts)?,
        };
        keys.push(key);
        before = Some(terms);
    }
    Some(keys)
}

/// Whether the values of two keys are in the same places, as those of rows of one list mostly are: all terms
/// compare the same columns with parameters of one type, or with constants of one.
fn are_alike(key: &[Expr], other: &[Expr]) -> bool {
    let is_side_alike = |(a, b): (&Expr, &Expr)| match (&a.kind, &b.kind) {
        (ExprKind::Column(a), ExprKind::Column(b)) => a == b,
        (ExprKind::Param(_), ExprKind::Param(_)) | (ExprKind::Const(_), ExprKind::Const(_)) => a.ty == b.ty,
        _ => false,
    };
    let is_alike = |(a, b): (&Expr, &Expr)| match (&a.kind, &b.kind) {
        (
            ExprKind::Compare { op: CmpOp::Eq, domain, args },
            ExprKind::Compare { op: CmpOp::Eq, domain: other_domain, args: others },
        ) => domain == other_domain && args.iter().zip(&**others).all(is_side_alike),
        _ => false,
    };
    key.iter().zip(other).all(is_alike)
}

/// Whether equalities with all columns of `parts`, the first of the clustered key, bound another index as
/// far. One with another column before the last of them finds more rows by them.
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
            Some(ExprKind::Or(mut arms)) => keys_of(&self.rows, &mut arms),
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
    let numbers = keys.in_order(parts.iter().map(|part| part.column));
    ParamKeys { origin: ParamOrigin::Literals, parts: parts.len(), numbers }
}

#[cfg(test)]
thread_local! {
    /// How many plans of this thread have keys that were never made a condition.
    pub(in crate::planner) static FLAT_LISTS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Whether none is planned by its keys, here and in [`super::row_list`].
    pub(in crate::planner) static NO_ROW_LISTS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// How many lists of conditions were found to be parameters.
    pub(in crate::planner) static PARAM_LISTS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The keys `rows`, whose values are taken out of `arms`.
pub(super) fn keys_of(rows: &[Places], arms: &mut [Expr]) -> KeySet {
    match params_in(rows, arms) {
        Some(keys) => KeySet::of_params(keys),
        None => KeySet::new(boxes_of(rows, arms)),
    }
}

/// The keys `rows`, if all values in `arms` are integer parameters of one origin.
fn params_in(rows: &[Places], arms: &[Expr]) -> Option<ParamKeys> {
    let value = |row: usize, part: usize| match &arms[row].kind {
        ExprKind::And(terms) => ParamOrigin::of(rows[row].get(part)?.value(terms)),
        _ => None,
    };
    let parts = rows.first()?.len();
    let (origin, _) = value(0, 0)?;
    let mut numbers = Vec::with_capacity(rows.len() * parts);
    for row in 0..rows.len() {
        for part in 0..parts {
            let (of, number) = value(row, part)?;
            if of != origin {
                return None;
            }
            numbers.push(number);
        }
    }
    #[cfg(test)]
    PARAM_LISTS.set(PARAM_LISTS.get() + 1);
    Some(ParamKeys { origin, parts, numbers: numbers.into() })
}

/// The boxes of `keys`, whose values are taken out of `arms`.
fn boxes_of(keys: &[Places], arms: &mut [Expr]) -> Vec<KeyBox> {
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
