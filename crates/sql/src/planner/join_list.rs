//! Lists of items whose order is free, and the conditions between them.

use expr::Expr;

use super::relations::RelSet;

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
