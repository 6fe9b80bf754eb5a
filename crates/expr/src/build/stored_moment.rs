//! Constants beside a column of dates or times, as the column would store them.
//!
//! MySQL stores a constant that is compared with such a column in the column's type first, computed ones too,
//! so that it is rounded to the column's digits, and a date has no time of day:
//!
//! ```text
//! time_column = '10:00:00.6'      is      time_column = '10:00:01'
//! date_column = 20240101100000    is      date_column = '2024-01-01'
//! ```
//! Literals of the type itself, and texts beside dates, keep what they are.

use types::temporal::FSP_MAX;
use types::{DateTime, OwnedValue, SqlModes, SqlType, Time, TypeKind};

use super::stored_year::stored_year;
use super::typing::{Class, class_of, is_number, is_text};
use super::{BindError, Builder};
use crate::fold::{fold, quiet_value};
use crate::{CmpDomain, Expr, ExprKind};

impl Builder {
    /// Makes the constants among `adopted`, which are `given` converted to `domain`, what the column beside
    /// them stores: of two operands either, of BETWEEN the first.
    pub(super) fn store_beside_column(&self, given: &[Expr], adopted: &mut [Expr], domain: CmpDomain) {
        let columns = if given.len() == 2 { 2 } else { 1 };
        for at in 0..columns {
            if !matches!(given[at].kind, ExprKind::Column(_)) {
                continue;
            }
            for other in (0..given.len()).filter(|&other| other != at) {
                if let Some(stored) =
                    self.stored_moment(&given[at].ty, &given[other], &adopted[other], domain)
                {
                    adopted[other] = stored;
                }
            }
        }
    }

    fn stored_moment(
        &self,
        column: &SqlType,
        given: &Expr,
        adopted: &Expr,
        domain: CmpDomain,
    ) -> Option<Expr> {
        match (column.kind, domain) {
            (TypeKind::Time, CmpDomain::Time) if !is_literal_moment(given) => {
                match quiet_value(adopted, self.modes)? {
                    OwnedValue::Time(time, _) => {
                        Some(self.time(self.fraction_of_time(time, column.decimals), FSP_MAX))
                    }
                    _ => None,
                }
            }
            (TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp, CmpDomain::DateTime)
                if is_number(given) && !is_text(given) =>
            {
                let ExprKind::Const(OwnedValue::DateTime(moment, _)) = adopted.kind else { return None };
                let rounded = self.fraction_of_moment(moment, column.decimals)?;
                let is_date = column.kind == TypeKind::Date;
                let stored = if is_date { DateTime::from_date(rounded.date()) } else { rounded };
                Some(self.datetime(stored, FSP_MAX))
            }
            _ => None,
        }
    }

    /// A constant that STRCMP compares with a TIME or YEAR column is what the column stores, and so is a
    /// number beside a DATE column; a text that is no date is refused beside one.
    pub(super) fn store_for_strcmp(&self, args: &mut [Expr]) -> Result<(), BindError> {
        for at in 0..args.len() {
            let other = args.len() - 1 - at;
            let ExprKind::Const(value) = fold(args[other].clone()).kind else { continue };
            if class_of(&args[at]) == Class::DateTime && value.as_value().is_textual() {
                self.agree_in_time(&mut args.to_vec(), CmpDomain::DateTime, ("strcmp", true))?;
            }
            if !matches!(args[at].kind, ExprKind::Column(_)) || value.as_value().is_temporal() {
                continue;
            }
            let column = args[at].ty.clone();
            let stored = match column.kind {
                TypeKind::Time => self.stored_time(&args[other], column.decimals),
                TypeKind::Date if class_of(&args[other]) == Class::Int => self.date_of_number(&args[other]),
                TypeKind::Year => stored_year(&value.as_value())
                    .map(|year| Expr::constant(OwnedValue::Year(year as u16), column)),
                _ => None,
            };
            if let Some(stored) = stored {
                args[other] = stored;
            }
        }
        Ok(())
    }

    /// The date that a constant number names.
    fn date_of_number(&self, constant: &Expr) -> Option<Expr> {
        let mut adopted = constant.clone();
        self.adopt_temporal_constant(&mut adopted, CmpDomain::DateTime).ok()?;
        let ExprKind::Const(OwnedValue::DateTime(moment, _)) = adopted.kind else { return None };
        let date = moment.date();
        (date.is_calendar_day() || moment.is_zero()).then(|| self.date(date))
    }

    /// The time that a constant is in a column with this number of fraction digits.
    fn stored_time(&self, constant: &Expr, digits: u8) -> Option<Expr> {
        let mut adopted = constant.clone();
        self.adopt_temporal_constant(&mut adopted, CmpDomain::Time).ok()?;
        match adopted.kind {
            ExprKind::Const(OwnedValue::Time(time, _)) => {
                Some(self.time(self.fraction_of_time(time, digits), digits))
            }
            _ => None,
        }
    }

    fn fraction_of_time(&self, time: Time, digits: u8) -> Time {
        if self.cuts_fractions() { time.truncate(digits) } else { time.round(digits) }
    }

    fn fraction_of_moment(&self, moment: DateTime, digits: u8) -> Option<DateTime> {
        if self.cuts_fractions() { Some(moment.truncate(digits)) } else { moment.round(digits) }
    }

    fn cuts_fractions(&self) -> bool {
        self.modes.has(SqlModes::TIME_TRUNCATE_FRACTIONAL)
    }
}

/// Whether `given` is a literal with the name of its type, or a value of the plan that is one.
fn is_literal_moment(given: &Expr) -> bool {
    matches!(&given.kind, ExprKind::Const(value) if value.as_value().is_temporal())
}
