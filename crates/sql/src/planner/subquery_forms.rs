//! Subqueries in a second form, as [`super::semi_join`] finds them.

use expr::Expr;

use crate::bind::block::SubBlock;

/// A condition that runs its subquery for each row.
pub(super) struct ByRow {
    pub(super) condition: Expr,
    pub(super) subquery: SubBlock,
}

/// Forms beside those in WHERE.
#[derive(Default)]
pub(super) struct SubqueryForms {
    /// Conditions that run their subqueries for each row, by ordinal.
    pub(super) by_row: Vec<Option<ByRow>>,
    /// The last subquery: what IN of it says follows from another condition, so that it is of use only to
    /// find rows.
    pub(super) lead: Option<u16>,
}
