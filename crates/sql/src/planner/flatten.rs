//! Inner joins are flattened: nothing but costs decides about their order.

use super::draft::{Draft, RelList};
use super::join_list::{Item, JoinList};
use super::relations::{RelSet, Rels};
use crate::bind::block::{JoinTree, Kind};

/// Makes the join list of FROM and WHERE, and a list of the conditions of HAVING.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let block = &mut *draft.block;
    add_names(&block.from, &mut draft.names);
    let mut filter = std::mem::take(&mut block.filter);
    let mut list = flatten(std::mem::take(&mut block.from), &draft.rels);
    list.ordered |= block.straight;
    if list.conditions.is_empty() {
        list.conditions = filter;
    } else {
        list.conditions.append(&mut filter);
    }
    draft.list = list;
    draft.having.extend(block.having.take());
}

/// Adds the relations of `tree` in the order written.
fn add_names(tree: &JoinTree, names: &mut RelList) {
    match tree {
        JoinTree::Dual => {}
        JoinTree::Rel(rel) => names.push(*rel),
        JoinTree::Join { left, right, .. } => {
            add_names(left, names);
            add_names(right, names);
        }
    }
}

/// Flattens `tree`. A left join may be moved after inner joins, but not before the relations that its
/// condition names: rows of the outer side pass it unchanged in number per match.
fn flatten(tree: JoinTree, rels: &Rels) -> JoinList {
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
            list.items.push(Item::Left { list: Box::new(inner), rels: inner_rels, needs });
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
