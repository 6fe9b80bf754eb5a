//! Constants that are not what their place asks for: MySQL warns of them once, before it reads a row. Strict modes make an error of
//! that in statements that change rows. Beside a column of dates the comparison may be refused after that.

use expr::{CmpDomain, ColumnRef, Expr, ExprKind};
use types::temporal::DateFlags;
use types::value::Loss;
use types::{Date, TypeKind, Value};

use super::binder::Binder;
use super::block::Source;
use super::{BindError, Deprecated};
use crate::literal::Literal;

/// A column of dates and its type in messages.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    column: ColumnRef,
    type_name: &'static str,
}

impl Binder<'_, '_> {
    /// The column of dates among the sides of a comparison.
    pub(super) fn moment_beside(sides: &[Expr]) -> Option<Moment> {
        sides.iter().find_map(|side| {
            let ExprKind::Column(column) = side.kind else { return None };
            let type_name = match side.ty.kind {
                TypeKind::Date => "date",
                TypeKind::DateTime | TypeKind::Timestamp => "datetime",
                TypeKind::Time => "time",
                _ => return None,
            };
            Some(Moment { column, type_name })
        })
    }

    /// The truth of a text that is a whole condition.
    pub(super) fn text_condition(&mut self, literal: &Literal) -> Result<Expr, BindError> {
        let text = self.constant(literal)?;
        let ExprKind::Const(value) = &text.kind else { return Ok(text) };
        let number = value.as_value().to_f64();
        if number.loss != Loss::None {
            let shown = value.as_value().message_text();
            self.note_incorrect(format!("Truncated incorrect DOUBLE value: '{shown}'"))?;
        }
        Ok(self.build.boolean(number.value != 0.0))
    }

    /// Notes a constant of which `text` tells.
    ///
    /// # Errors
    /// 1292 in strict modes.
    pub(super) fn note_incorrect(&mut self, text: String) -> Result<(), BindError> {
        if self.change == Some(true) {
            return Err(BindError::Incorrect { text, moment: None });
        }
        self.deprecated.push(Deprecated::Incorrect(text));
        Ok(())
    }

    /// What became of the comparison of the column with a constant.
    pub(super) fn compared_with_moment(
        &mut self,
        compared: Result<Expr, expr::BindError>,
        moment: Moment,
    ) -> Result<Expr, BindError> {
        let is_strict = self.change == Some(true);
        match compared {
            Err(expr::BindError::IncorrectTemporal { type_name: known_as, value })
                if self.change.is_some() =>
            {
                let Some(text) = self.incorrect(moment, &value) else {
                    return Err(expr::BindError::IncorrectTemporal { type_name: known_as, value }.into());
                };
                Err(BindError::Incorrect { text, moment: (!is_strict).then_some((known_as, value)) })
            }
            Ok(compared) => {
                let text =
                    constant_beside(&compared, moment).and_then(|value| self.incorrect(moment, &value));
                if let Some(text) = text {
                    self.note_incorrect(text)?;
                }
                Ok(compared)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Notes numbers that are no dates among the bounds between which a column of dates is to lie.
    ///
    /// # Errors
    /// 1292 in strict modes.
    pub(super) fn note_bounds(&mut self, operands: &[Expr; 3]) -> Result<(), BindError> {
        let (value, bounds) = operands.split_at(1);
        let Some(moment) = Self::moment_beside(value) else { return Ok(()) };
        if moment.type_name == "time" {
            return Ok(());
        }
        let flags = DateFlags::from_modes(self.ctx.modes);
        for bound in bounds {
            let ExprKind::Const(bound) = &bound.kind else { continue };
            let bound = bound.as_value();
            let is_number = !bound.is_null() && !bound.is_textual() && !bound.is_temporal();
            if is_number
                && !matches!(bound, Value::Bit { .. })
                && bound.to_datetime(flags, Date::ZERO).is_none()
                && let Some(text) = self.incorrect(moment, &bound.message_text())
            {
                self.note_incorrect(text)?;
            }
        }
        Ok(())
    }

    /// MySQL's text of a value that a column of dates does not have; `None`: the column is not one of a table.
    #[cold]
    fn incorrect(&mut self, moment: Moment, value: &str) -> Option<String> {
        let Moment { column, type_name } = moment;
        let Source::Table { def, .. } = self.level().rels.get(usize::from(column.rel))? else { return None };
        let name = &def.columns.get(usize::from(column.col))?.name;
        Some(format!("Incorrect {type_name} value: '{value}' for column '{name}' at row 1"))
    }
}

/// The constant that a date is compared with as a number, or a time as a text, because it is none.
fn constant_beside(compared: &Expr, moment: Moment) -> Option<String> {
    let ExprKind::Compare { domain, args, .. } = &compared.kind else { return None };
    let constant = args.iter().find_map(|arg| match &arg.kind {
        ExprKind::Const(value) => Some(value.as_value()),
        _ => None,
    })?;
    let is_none = match domain {
        CmpDomain::Double => !constant.is_textual(),
        CmpDomain::String(_) => moment.type_name == "time" && constant.is_textual(),
        _ => false,
    };
    is_none.then(|| constant.message_text())
}
