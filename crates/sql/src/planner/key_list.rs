//! A query of one table whose only condition is a short list of whole clustered keys, as written in one of
//! two ways:
//!
//! ```text
//! WHERE (w, i) IN ((1, 5), (1, 7))       WHERE (w = 1 AND i = 5) OR (w = 1 AND i = 7)
//! ```
//! Where no other index begins with a part of the key, so few lookups cost less than any other path: none is
//! compared. Longer lists are left to the general way ([`super::select`]), which finds the same plan for
//! short ones.

use std::sync::Arc;

use expr::{Expr, ExprKind};
use smallvec::SmallVec;
use types::{KeyPart, TableDef};

use super::select::Extra;
use super::whole_key::{Places, only_table, places, plan_of_path, relation};
use super::{cost, key_boxes};
use crate::bind::BindContext;
use crate::bind::block::Block;
use crate::plan::{Estimate, KeyBox, KeySet, PartTest, Path, QueryPlan};

/// Keys whose places need no allocation: about as many as a short list has.
const INLINE_KEYS: usize = 16;

/// A list of whole clustered keys.
pub(super) struct KeyList {
    /// Where the values of each key are.
    keys: SmallVec<[Places; INLINE_KEYS]>,
    estimate: Estimate,
}

/// Finds the keys, if `block` is a query whose path they decide.
pub(super) fn find(block: &Block, ctx: &BindContext<'_>) -> Option<KeyList> {
    let [Expr { kind: ExprKind::Or(arms), .. }] = &block.filter[..] else { return None };
    let def = only_table(block)?;
    let parts = &def.clustered().parts[..];
    let rows = arms.len() as f64;
    let estimate = Estimate { rows, cost: cost::stretches(arms.len()) + cost::reading(rows, false) };
    if estimate.cost >= cost::WORTH_JUMPS || parts.is_empty() || another_index_serves(def, parts) {
        return None;
    }
    let key = |arm: &Expr| match &arm.kind {
        ExprKind::And(terms) if terms.len() == parts.len() => places(terms, parts),
        _ => None,
    };
    let mut keys = SmallVec::new();
    for arm in arms {
        keys.push(key(arm)?);
    }
    let is_allowed = ctx.range_memory.allows(key_boxes::bytes_of_keys(arms.len(), parts.len()));
    is_allowed.then_some(KeyList { keys, estimate })
}

/// Whether conditions on the columns of `parts`, the clustered key's, bound another index.
fn another_index_serves(def: &TableDef, parts: &[KeyPart]) -> bool {
    let is_of_key = |first: &KeyPart| parts.iter().any(|part| part.column == first.column);
    def.indexes[1..].iter().any(|index| index.parts.first().is_none_or(is_of_key))
}

impl KeyList {
    /// The plan of `block`, from which it takes what the plan holds.
    pub(super) fn plan(self, block: &mut Block, extra: &Extra<'_>) -> QueryPlan {
        let relation = relation(block, extra, &[]);
        let Some(Expr { kind: ExprKind::Or(mut arms), .. }) = block.filter.pop() else {
            unreachable!("its only condition is a list")
        };
        let mut boxes = Vec::with_capacity(arms.len());
        for (arm, places) in arms.iter_mut().zip(&self.keys) {
            let ExprKind::And(terms) = &mut arm.kind else { unreachable!("a key of several parts") };
            let mut tests = SmallVec::with_capacity(places.len());
            for (part, place) in (0..).zip(places) {
                tests.push((part, PartTest::Eq(place.take(terms))));
            }
            boxes.push(KeyBox { tests });
        }
        let path = Path::Intervals { index: 0, keys: Arc::new(KeySet { boxes }), reverse: false };
        plan_of_path(block, relation, (path, None), self.estimate)
    }
}
