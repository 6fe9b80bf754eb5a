//! Calculated constants of rows. MySQL computes them when it finds out what a row is, to see whether one of
//! them is NULL, and warns of them then. Rows that `=`, `<=>` and `<>` compare are no rows by that time.

use expr::{Expr, Warning};

use super::binder::Binder;
use super::{BindError, Deprecated};
use crate::ast::{self, ExprKind, UnaryOp};

/// Most parts of a constant that is computed for its warnings: within each other, large ones would be
/// computed as often as they are deep.
const NOTED_PARTS_MAX: usize = 32;

impl<'a> Binder<'a, '_> {
    /// Notes what the calculated constants of `row` warn of, as far as the first operand that varies.
    #[inline]
    pub(super) fn note_row(&mut self, row: &'a [ast::Expr<'a>]) -> Result<(), BindError> {
        use ExprKind::{Bool, Column, Literal, Null};
        if self.notes_constants
            && !row.iter().all(|part| matches!(part.kind, Literal(_) | Column(_) | Null | Bool(_)))
        {
            self.note_constants_of_row(row)?;
        }
        Ok(())
    }

    /// [`Binder::note_row`] for the rows of `needle IN (list)`, as far as one of another number of operands.
    pub(super) fn note_rows_of_list(
        &mut self,
        needle: &'a [ast::Expr<'a>],
        list: &'a [ast::Expr<'a>],
    ) -> Result<(), BindError> {
        self.note_row(needle)?;
        for item in list {
            let ExprKind::Row(row) = item.kind else { break };
            self.note_row(row)?;
            if row.len() != needle.len() {
                break;
            }
        }
        Ok(())
    }

    /// Notes what a calculated constant warns of that MySQL reads before any row, an operand of a function.
    #[cold]
    pub(super) fn note_operand(&mut self, operand: &'a ast::Expr<'a>) -> Result<(), BindError> {
        let is_written = matches!(operand.kind, ExprKind::Literal(_) | ExprKind::Null | ExprKind::Bool(_));
        if self.notes_constants
            && !is_written
            && is_small(operand)
            && !operand.any(&varies)
            && !is_condition(operand)
        {
            self.note_value(operand)?;
        }
        Ok(())
    }

    /// Returns whether all operands are constants.
    #[cold]
    fn note_constants_of_row(&mut self, row: &'a [ast::Expr<'a>]) -> Result<bool, BindError> {
        for part in row {
            let is_constant = match part.kind {
                ExprKind::Literal(_) | ExprKind::Null | ExprKind::Bool(_) => true,
                ExprKind::Row(inner) => {
                    self.descend(1)?;
                    let is_constant = self.note_constants_of_row(inner)?;
                    self.ascend(1);
                    is_constant
                }
                _ if !is_small(part) || part.any(&varies) => false,
                // What it compares is kept, and warns once.
                _ if is_condition(part) => true,
                _ => self.note_value(part)?,
            };
            if !is_constant {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes what the value of `constant` warns of. Returns whether it is one.
    fn note_value(&mut self, constant: &'a ast::Expr<'a>) -> Result<bool, BindError> {
        let noted = self.deprecated.len();
        self.notes_constants = false;
        let bound = self.value_of_literals(constant);
        self.notes_constants = true;
        let bound = bound?;
        // What the text has is noted for the first look at it, what is read of it for each.
        let found = self.deprecated.split_off(noted);
        self.deprecated.extend(found.into_iter().filter(|found| {
            !matches!(found, Deprecated::Incorrect(_) | Deprecated::LostTime(_) | Deprecated::Constant(_))
        }));
        let mut is_constant = true;
        bound.walk(&mut |part: &Expr| is_constant &= !part.may_vary());
        for warning in expr::warnings_of(&bound, self.ctx.modes) {
            match warning {
                Warning::TruncatedWrongValue { type_name, value } => {
                    self.note_incorrect(format!("Truncated incorrect {type_name} value: '{value}'"));
                }
                other => self.deprecated.push(Deprecated::Constant(other)),
            }
        }
        Ok(is_constant)
    }
}

/// Whether the value of `e` is not the text's alone.
fn varies(e: &ast::Expr<'_>) -> bool {
    use ExprKind::{
        Aggregate, Assign, Column, DefaultOf, Exists, InSubquery, Match, Param, Quantified, Subquery,
        SystemVar, UserVar, ValuesOf,
    };
    matches!(
        e.kind,
        Aggregate(_)
            | Assign(_)
            | Column(_)
            | DefaultOf(_)
            | Exists(_)
            | InSubquery(_)
            | Match(_)
            | Param(_)
            | Quantified(_)
            | Subquery(_)
            | SystemVar(_)
            | UserVar(_)
            | ValuesOf(_)
    )
}

fn is_small(e: &ast::Expr<'_>) -> bool {
    let parts = std::cell::Cell::new(0);
    !e.any(&|_| {
        parts.set(parts.get() + 1);
        parts.get() > NOTED_PARTS_MAX
    })
}

fn is_condition(e: &ast::Expr<'_>) -> bool {
    use ExprKind::{And, Between, Binary, InList, Is, Like, Or, Unary};
    match e.kind {
        Binary(op, ..) => op.comparison().is_some(),
        Unary(op, _) => op == UnaryOp::Not,
        And(..) | Between(_) | InList(_) | Is(..) | Like(_) | Or(..) => true,
        _ => false,
    }
}
