//! Constants that are compared with dates and times, which they stand for.

use types::temporal::{DateFlags, FSP_MAX, OddDelimiter};
use types::value::Loss;
use types::{Date, DateTime, OwnedValue, Time, TypeKind, Value};

use super::in_list::is_given;
use super::typing::{Class, class_of, is_number, is_text};
use super::{Builder, no_moment};
use crate::fold::fold;
use crate::func::Func;
use crate::{CmpDomain, Expr, ExprKind};

impl Builder {
    /// A list of constants in which a DATE is searched: invalid dates and the number 0 become a moment that
    /// no DATE has, so that they equal none, not even the zero date. Of numbers alone the dates count.
    pub(super) fn dates_of_list(&self, list: Vec<Expr>) -> Vec<Expr> {
        let is_read = |e: &Expr| matches!(fold(e.clone()).kind, ExprKind::Const(_) | ExprKind::Param(_));
        let is_computed_number = |e: &Expr| is_number(e) && !is_read(e);
        let has_moment = |e: &Expr| matches!(e.ty.kind, TypeKind::DateTime | TypeKind::Timestamp);
        if !list.iter().all(is_given) || list.iter().any(|e| is_computed_number(e) || has_moment(e)) {
            return list;
        }
        let is_number_or_null = |e: &Expr| !is_text(e) && (is_number(e) || class_of(e) == Class::Null);
        let are_dates = list.iter().all(is_number_or_null);
        let of_item = |item: Expr| {
            let mut adopted = item.clone();
            let is_read = self.adopt_temporal_constant(&mut adopted, CmpDomain::DateTime).is_ok();
            let is_zero = matches!(&adopted.kind, ExprKind::Const(OwnedValue::DateTime(DateTime::ZERO, _)));
            let is_date = is_read && (is_text(&item) || !is_zero);
            match adopted.kind {
                ExprKind::Const(OwnedValue::DateTime(moment, _)) if is_date && are_dates => {
                    self.datetime(DateTime::from_date(moment.date()), FSP_MAX)
                }
                _ if is_date => item,
                _ => self.datetime(DateTime::from_packed(0, 1), FSP_MAX),
            }
        };
        list.into_iter().map(of_item).collect()
    }

    /// The time of day of a date literal.
    pub fn time_of_day(&self, moment: &Expr) -> Option<Expr> {
        match moment.kind {
            ExprKind::Const(OwnedValue::Date(_)) => Some(self.time(Time::ZERO, 0)),
            ExprKind::Const(OwnedValue::DateTime(moment, fsp)) => Some(self.time(moment.time(), fsp)),
            _ => None,
        }
    }

    /// Makes a text that names the offset of its zone the date and time before the offset.
    pub(super) fn drop_offset(&self, arg: &mut Expr) {
        let ExprKind::Const(value) = &arg.kind else { return };
        let value = value.as_value();
        if !has_offset(&value) || has_odd_delimiter(&value) {
            return;
        }
        let read = value.to_datetime(DateFlags::from_modes(self.modes), Date::ZERO);
        if let Some(read) = read.filter(|read| read.loss == Loss::None) {
            *arg = self.datetime(read.value, FSP_MAX);
        }
    }

    /// Makes a constant the date or time that it stands for; the error is the text of one that stands for
    /// none.
    pub(super) fn adopt_temporal_constant(&self, arg: &mut Expr, domain: CmpDomain) -> Result<(), String> {
        let folded = match &arg.kind {
            // A date has no collation.
            ExprKind::Call { func: Func::Collate, args } => fold(args[0].clone()),
            _ => fold(arg.clone()),
        };
        let ExprKind::Const(value) = &folded.kind else { return Ok(()) };
        let mut scratch = Vec::new();
        let value = match value.as_value() {
            // Beside dates and times bits are a text.
            bits @ Value::Bit { .. } => Value::binary(bits.as_text(&mut scratch)),
            value => value,
        };
        if value.is_null() || value.is_temporal() {
            return Ok(());
        }
        if domain == CmpDomain::Time {
            let read = value.to_time().filter(|read| read.loss == Loss::None);
            let read = read.ok_or_else(|| no_moment::shown(&value))?;
            *arg = self.time(read.value, FSP_MAX);
            return Ok(());
        }
        let flags = DateFlags::from_modes(self.modes);
        let flags = if value.is_textual() {
            flags
        } else {
            DateFlags { no_zero_date: false, no_zero_in_date: false, allow_invalid_dates: true }
        };
        match value.to_datetime(flags, Date::ZERO) {
            // Only the session knows its zone.
            Some(_) if self.shifts_offsets && has_offset(&value) => {}
            // A deprecated delimiter is a warning of every evaluation.
            Some(_) if has_odd_delimiter(&value) => {}
            Some(read) if read.loss == Loss::None => *arg = self.datetime(read.value, FSP_MAX),
            // What follows the date is a warning of every evaluation.
            Some(_) => {}
            None => {
                return Err(match value {
                    Value::Bytes { data, .. } if is_text(arg) && class_of(arg) == Class::Int => {
                        no_moment::shown_bits(data)
                    }
                    _ => no_moment::shown(&value),
                });
            }
        }
        Ok(())
    }
}

fn has_odd_delimiter(value: &Value<'_>) -> bool {
    matches!(value, Value::Bytes { data, .. } if OddDelimiter::of_date(data).is_some())
}

/// Whether a text names the offset of its zone.
fn has_offset(value: &Value<'_>) -> bool {
    let Value::Bytes { data, .. } = value else { return false };
    DateTime::parse(data, DateFlags::default()).is_some_and(|parsed| parsed.offset.is_some())
}
