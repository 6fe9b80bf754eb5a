//! Inner joins flattened: a list of items whose order is free, and the conditions between them.

use expr::Expr;

use super::relations::{RelSet, Rels};
use crate::bind::block::{JoinTree, Kind};

/// Items joined by inner joins.
#[derive(Clone, Debug, Default)]
pub(super) struct JoinList {
    /// Items in the order written.
    pub(super) items: Vec<Item>,
    /// Conditions on rows of the whole list.
    pub(super) conditions: Vec<Expr>,
    /// The order is fixed: STRAIGHT_JOIN.
    pub(super) ordered: bool,
}

/// An item of a join list.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A relation.
    Rel(u16),
    /// The inner side of a left join. Its list's conditions hold the join condition.
    Left {
        /// The inner side.
        list: JoinList,
        /// Relations of the inner side.
        rels: RelSet,
        /// Relations that must come before.
        needs: RelSet,
    },
}

impl Item {
    /// The relations of the item.
    pub(super) fn rels(&self) -> RelSet {
        match self {
            Item::Rel(rel) => RelSet::of(*rel),
            Item::Left { rels, .. } => *rels,
        }
    }

    /// The relations that must come before it.
    pub(super) fn needs(&self) -> RelSet {
        match self {
            Item::Rel(_) => RelSet::EMPTY,
            Item::Left { needs, .. } => *needs,
        }
    }
}

/// Flattens `tree`. A left join may be moved behind inner joins, but not before the relations that its
/// condition names: rows of the outer side pass it unchanged in number per match.
pub(super) fn flatten(tree: JoinTree, rels: &Rels) -> JoinList {
    let mut list = JoinList::default();
    add(tree, &mut list, rels);
    list
}

fn add(tree: JoinTree, list: &mut JoinList, rels: &Rels) {
    match tree {
        JoinTree::Dual => {}
        JoinTree::Rel(rel) => list.items.push(Item::Rel(rel)),
        JoinTree::Join { kind: Kind::Left, left, right, on } => {
            let outer = set_of(&left.rels());
            add(*left, list, rels);
            let inner_rels = set_of(&right.rels());
            let mut inner = flatten(*right, rels);
            let named = on.iter().fold(RelSet::EMPTY, |set, e| set.with(rels.of(e)));
            let needs = named.without(inner_rels);
            inner.conditions.extend(on);
            let needs = if needs.is_empty() { outer } else { needs };
            list.items.push(Item::Left { list: inner, rels: inner_rels, needs });
        }
        JoinTree::Join { kind, left, right, on } => {
            list.ordered |= kind == Kind::Straight;
            add(*left, list, rels);
            add(*right, list, rels);
            list.conditions.extend(on);
        }
    }
}

fn set_of(rels: &[u16]) -> RelSet {
    rels.iter().fold(RelSet::EMPTY, |set, &rel| set.with(RelSet::of(rel)))
}
