//! What binding may come to: names that stand for whole expressions or queries make a bound statement larger
//! and deeper than its text.

use base::sync::interrupt;
use expr::Expr;

use super::BindError;
use super::binder::Binder;
use crate::parser::{HEIGHT_MAX, SELECT_NESTING_MAX};

/// Most references to common table expressions that one statement may come to. Each binds the query again, so
/// that a chain of expressions, each of which names the one before twice, comes to `2^n` of them. MySQL's
/// bound is about this.
const CTE_REFERENCES_MAX: u32 = 1100;
/// Nodes that a statement may be bound to for each byte of its text. A node is at least a byte of text,
/// unless a name stands for it.
const NODES_PER_BYTE: usize = 4;
/// Nodes that every statement may be bound to.
const NODES_MIN: usize = 200_000;

/// Nodes between two checks whether the statement is to end.
const NODES_BETWEEN_LOOKS: usize = 1024;

/// # Errors  [`BindError::Interrupted`].
#[cold]
pub(super) fn fail_if_interrupted() -> Result<(), BindError> {
    if interrupt::is_requested() { Err(BindError::Interrupted) } else { Ok(()) }
}

/// How far the binder has come.
#[derive(Debug)]
pub(super) struct Expansion {
    /// Levels of the tree that enclose the point it has reached, through common table expressions.
    height: u16,
    /// Queries that enclose it.
    selects: u16,
    /// Nodes that may still be bound.
    nodes_left: usize,
    /// References to common table expressions so far.
    cte_references: u32,
}

impl Expansion {
    /// For a statement of `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Expansion {
        let nodes_left = bytes.saturating_mul(NODES_PER_BYTE).saturating_add(NODES_MIN);
        Expansion { height: 0, selects: 0, nodes_left, cte_references: 0 }
    }

    /// Whether the point it has reached is in a query within another.
    pub(super) fn is_in_select(&self) -> bool {
        self.selects > 0
    }

    /// Takes `nodes` from what may be bound.
    fn take(&mut self, nodes: usize) -> Result<(), BindError> {
        match self.nodes_left.checked_sub(nodes) {
            Some(left) => {
                self.nodes_left = left;
                Ok(())
            }
            None if self.cte_references > 0 => Err(BindError::CteExpansion),
            None => Err(BindError::TooDeep),
        }
    }
}

impl Binder<'_, '_> {
    /// Takes `nodes`, which were bound apart, from what may be bound.
    pub(super) fn expend(&mut self, nodes: usize) -> Result<(), BindError> {
        self.expansion.take(nodes)
    }

    /// Enters `levels` levels of the tree; [`Binder::ascend`] leaves them again. A statement that fails need
    /// not.
    pub(super) fn descend(&mut self, levels: u16) -> Result<(), BindError> {
        let expansion = &mut self.expansion;
        expansion.height += levels;
        if expansion.height > HEIGHT_MAX {
            return Err(BindError::TooDeep);
        }
        expansion.take(usize::from(levels))?;
        if expansion.nodes_left.is_multiple_of(NODES_BETWEEN_LOOKS) { fail_if_interrupted() } else { Ok(()) }
    }

    /// Leaves `levels` levels of the tree.
    pub(super) fn ascend(&mut self, levels: u16) {
        self.expansion.height -= levels;
    }

    /// Enters a query within another; [`Binder::leave_select`] leaves it.
    pub(super) fn enter_select(&mut self) -> Result<(), BindError> {
        self.expansion.selects += 1;
        if self.expansion.selects > SELECT_NESTING_MAX { Err(BindError::TooManySelects) } else { Ok(()) }
    }

    /// Leaves a query within another.
    pub(super) fn leave_select(&mut self) {
        self.expansion.selects -= 1;
    }

    /// Counts a reference to a common table expression.
    pub(super) fn note_cte_reference(&mut self) -> Result<(), BindError> {
        self.expansion.cte_references += 1;
        if self.expansion.cte_references > CTE_REFERENCES_MAX { Err(BindError::CteExpansion) } else { Ok(()) }
    }

    /// Counts `expr`, which replaces a name here and may be far larger than the name.
    pub(super) fn note_copy(&mut self, expr: &Expr) -> Result<(), BindError> {
        let (height, nodes) = expr.extent();
        if usize::from(self.expansion.height) + height > usize::from(HEIGHT_MAX) {
            return Err(BindError::TooDeep);
        }
        self.expansion.take(nodes)
    }
}
