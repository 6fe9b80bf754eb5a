//! Key bytes from values: what index lookups and ranges are made of.

use std::cmp::Ordering;

use bumpalo::Bump;
use expr::{CmpDomain, Number, compare_values};
use types::temporal::{Date, DateFlags, DateTime, FSP_MAX};
use types::{CollationId, StoreContext, TypeKind, Value, storage};

use crate::error::{ExecError, Result};
use crate::key_part::KeyPart;
use crate::query_run::QueryRun;

/// How the bytes appended compare with the value asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// They are the value.
    Exact,
    /// The column cannot hold the value; this is its nearest neighbour, below it.
    Below,
    /// The same, above it.
    Above,
    /// The value is NULL; nothing was appended.
    Null,
}

impl KeyPart {
    /// Appends the part for `value`. Cost: a dozen instructions for an integer in an integer column; other
    /// values are converted to storage form first.
    #[inline]
    pub(crate) fn push(&self, value: &Value<'_>, run: &QueryRun<'_>, out: &mut Vec<u8>) -> Result<Fit> {
        if let (&Value::Int(v), 1..) = (value, self.int_width)
            && self.push_int(v, out)
        {
            return Ok(Fit::Exact);
        }
        self.push_converted(value, run, out)
    }

    fn push_converted(&self, value: &Value<'_>, run: &QueryRun<'_>, out: &mut Vec<u8>) -> Result<Fit> {
        if value.is_null() {
            return Ok(Fit::Null);
        }
        if let Value::Bytes { data, collation } = value
            && self.takes_text(*collation)
        {
            self.encoder.append(Some(data), out);
            return Ok(Fit::Exact);
        }
        let st = run.st;
        let arena = Bump::new();
        let value = &if self.int_width > 0 && value.is_textual() {
            match Number::of(value, &run.ctx(&arena)) {
                Number::Integer(_) => *value,
                Number::Decimal(v) => Value::Decimal(v),
                Number::Double(v) => Value::Double(v),
            }
        } else {
            *value
        };
        let mut lax = StoreContext { strict: false, ..st.store_context_for(st.store_context(), value) };
        if matches!(value, Value::Date(_) | Value::DateTime(..)) {
            // A day that the sql_mode does not let in has its place among the others.
            lax.date_flags = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
        }
        let mut stored = Vec::new();
        storage::store(&self.ty, value, &lax, &mut stored)
            .map_err(|_| ExecError::NotSupported("a key of a value that its column cannot hold"))?;
        if matches!(self.ty.kind, TypeKind::Timestamp | TypeKind::Year)
            && stored.iter().all(|&byte| byte == 0)
        {
            match self.ty.kind {
                TypeKind::Year => self.store_last_year(value, run, &mut stored),
                _ => self.store_last_before(value, &lax, run, &mut stored),
            }
        }
        self.encoder.append(Some(&stored), out);
        if let Value::Bytes { data, .. } = value
            && self.ty.is_string()
            && *data == stored
        {
            return Ok(Fit::Exact);
        }
        let kept = storage::read(&self.ty, &stored, st.zone);
        let order = compare_values(&kept, value, self.domain(value), &run.ctx(&arena));
        Ok(match order {
            Some(Ordering::Equal) => Fit::Exact,
            Some(Ordering::Less) => Fit::Below,
            // What cannot be compared equals nothing, and bounds nothing from below.
            Some(Ordering::Greater) | None => Fit::Above,
        })
    }

    /// Makes `stored` the last moment of a TIMESTAMP before `value`, if it is beyond all that there are, or a
    /// day that there is not.
    #[cold]
    fn store_last_before(
        &self,
        value: &Value<'_>,
        lax: &StoreContext<'_>,
        run: &QueryRun<'_>,
        stored: &mut Vec<u8>,
    ) {
        let zone = run.st.zone;
        let unit = 10u32.pow(u32::from(FSP_MAX - self.ty.decimals));
        let micro = 999_999 / unit * unit;
        let day = match *value {
            Value::Date(date) => Some(date),
            Value::DateTime(moment, _) => Some(moment.date()),
            _ => None,
        };
        // Of a day that does not exist, the last moment of the last day before it.
        let before = day.and_then(Date::last_day_before);
        let before = before.map(|date| DateTime::new(date, 23, 59, 59, micro));
        let candidates = [Some(zone.to_local(i64::from(i32::MAX), micro)), before];
        let arena = Bump::new();
        for moment in candidates.into_iter().flatten() {
            let mut bytes = Vec::new();
            let is_stored =
                storage::store(&self.ty, &Value::DateTime(moment, FSP_MAX), lax, &mut bytes).is_ok();
            let kept = storage::read(&self.ty, &bytes, zone);
            let order = compare_values(&kept, value, CmpDomain::DateTime, &run.ctx(&arena));
            if is_stored && order == Some(Ordering::Less) && bytes.iter().any(|&byte| byte != 0) {
                *stored = bytes;
                return;
            }
        }
    }

    /// Makes `stored` the last YEAR that there is, if `value` is not before it.
    #[cold]
    fn store_last_year(&self, value: &Value<'_>, run: &QueryRun<'_>, stored: &mut Vec<u8>) {
        let last = storage::read(&self.ty, &[u8::MAX], run.st.zone);
        let order = compare_values(&last, value, self.domain(value), &run.ctx(&Bump::new()));
        if matches!(order, Some(Ordering::Less | Ordering::Equal)) {
            *stored = vec![u8::MAX];
        }
    }

    /// Whether a text of `collation` has its own place among the keys, be it longer than the column: cut to
    /// the column's length it would not be the nearest value that the column can hold, since characters may
    /// weigh nothing, or as much as two.
    fn takes_text(&self, collation: CollationId) -> bool {
        let charset = |id: CollationId| id.collation().map(|collation| collation.charset);
        matches!(self.ty.kind, TypeKind::Char | TypeKind::VarChar | TypeKind::Text(_))
            && !self.prefix
            && charset(collation).is_some_and(|of_value| charset(self.ty.collation) == Some(of_value))
    }

    /// How the column's values compare with `value`.
    fn domain(&self, value: &Value<'_>) -> CmpDomain {
        use types::TypeKind::{Date, DateTime, Enum, Set, Time, Timestamp};
        match self.ty.kind {
            Date | DateTime | Timestamp => CmpDomain::DateTime,
            Time => CmpDomain::Time,
            Enum | Set if value.is_textual() => CmpDomain::String(self.ty.collation),
            _ if self.ty.is_string() => CmpDomain::String(self.ty.collation),
            _ if self.int_width > 0 => CmpDomain::Number,
            _ if value.is_textual() || matches!(value, Value::Double(_) | Value::Float(_)) => {
                CmpDomain::Double
            }
            _ => CmpDomain::Decimal,
        }
    }
}
