//! Lists of items whose order is free, and the conditions between them.

use expr::Expr;
use smallvec::SmallVec;

use super::relations::{RelSet, Rels};

/// Items joined by inner joins.
#[derive(Clone, Debug, Default)]
pub(super) struct JoinList {
    /// Items in the order written.
    pub(super) items: SmallVec<[Item; 2]>,
    /// Conditions on rows of the whole list.
    pub(super) conditions: Vec<Expr>,
    /// The relations that each condition names, once all are known.
    pub(super) named: SmallVec<[RelSet; 8]>,
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
        list: Box<JoinList>,
        /// Relations of the inner side.
        rels: RelSet,
        /// Relations that must come before.
        needs: RelSet,
    },
}

impl JoinList {
    /// Notes what the conditions name, in this list and in those of its left joins.
    pub(super) fn note_named(&mut self, rels: &Rels<'_>) {
        self.named = self.conditions.iter().map(|condition| rels.of(condition)).collect();
        for item in &mut self.items {
            if let Item::Left { list, .. } = item {
                list.note_named(rels);
            }
        }
    }
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
