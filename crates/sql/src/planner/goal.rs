//! The order of rows that would save work.

use expr::Expr;

use super::ordering::Ordering;
use crate::plan::SortKey;

/// The use of the joined rows, where the order of tables matters to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Goal<'g> {
    /// Order wanted.
    pub(super) order: &'g [SortKey],
    /// Groups wanted.
    pub(super) groups: &'g [Expr],
    /// Number of rows wanted from the front.
    pub(super) limit: Option<f64>,
}

impl Goal<'_> {
    /// Whether rows in `order` need no sort and no hash table.
    pub(super) fn is_met(&self, order: &Ordering) -> bool {
        if self.groups.is_empty() { order.reading(self.order).is_some() } else { order.groups(self.groups) }
    }

    /// Whether no order is better than another.
    pub(super) fn is_trivial(&self) -> bool {
        self.groups.is_empty() && self.order.is_empty()
    }
}
