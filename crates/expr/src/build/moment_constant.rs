//! Constants that are compared with dates and times, which they stand for.

use types::temporal::{DateFlags, FSP_MAX, OddDelimiter};
use types::value::Loss;
use types::{Date, DateTime, Value};

use super::typing::{Class, class_of, is_text};
use super::{Builder, no_moment};
use crate::fold::fold;
use crate::{CmpDomain, Expr, ExprKind};

impl Builder {
    /// Makes a constant the date or time that it stands for; the error is the text of one that stands for
    /// none.
    pub(super) fn adopt_temporal_constant(&self, arg: &mut Expr, domain: CmpDomain) -> Result<(), String> {
        let folded = fold(arg.clone());
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
            DateFlags { no_zero_date: false, allow_invalid_dates: true, ..flags }
        };
        match value.to_datetime(flags, Date::ZERO) {
            // Only the session knows its zone.
            Some(_) if has_offset(&value) => {}
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
