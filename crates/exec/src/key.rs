//! Key bytes from values: what index lookups and ranges are made of.

use std::cmp::Ordering;

use bumpalo::Bump;
use engine::Table;
use expr::{CmpDomain, Number, compare_values};
use page::{IntPart, KeyPartPlace};
use types::collation::LikePattern;
use types::temporal::{Date, DateFlags, DateTime, FSP_MAX};
use types::{CollationId, KeyEncoder, SqlType, StoreContext, TypeKind, Value, storage};

use crate::error::Result;
use crate::range_bugs::{RangeBug, is_planted};
use crate::statement::QueryRun;

/// A part of an index as lookups use it.
#[derive(Debug)]
pub(crate) struct KeyPart {
    encoder: KeyEncoder,
    ty: SqlType,
    pub(crate) nullable: bool,
    pub(crate) desc: bool,
    /// Only the first characters are in the key, so that it finds too much.
    pub(crate) prefix: bool,
    /// Width of an integer column, 0 for others.
    int_width: u8,
    /// How an integer stands in the key.
    int: Option<IntPart>,
}

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
    /// The parts of keys of `table`'s index at position `index`.
    pub(crate) fn of_index(table: &Table, index: usize) -> Box<[KeyPart]> {
        let places = table.indexes[index].format.key_parts();
        let table = &table.def;
        let parts = table.key_parts(index).zip(places);
        let part = |(part, place): (&types::KeyPart, &KeyPartPlace)| {
            let column = &table.columns[usize::from(part.column)];
            let width = if column.ty.is_integer() { storage::fixed_width(&column.ty) } else { None };
            let is_unpadded = is_planted(RangeBug::UnpaddedPrefix) && part.prefix_len.is_some();
            Some(KeyPart {
                encoder: if is_unpadded { unpadded(&column.ty, part)? } else { place.encoder? },
                ty: column.ty.clone(),
                nullable: column.nullable,
                desc: part.desc,
                prefix: part.prefix_len.is_some(),
                int_width: width.unwrap_or(0) as u8,
                int: place.int.filter(|_| column.ty.is_integer()),
            })
        };
        parts.filter_map(part).collect()
    }

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

    /// Appends the part for an integer; false, with nothing appended: the column is of another type, or
    /// cannot hold it.
    #[inline]
    pub(crate) fn push_column_int(&self, value: i64, out: &mut Vec<u8>) -> bool {
        self.int_width > 0 && self.push_int(value, out)
    }

    /// False: the column cannot hold the number.
    #[inline]
    fn push_int(&self, value: i64, out: &mut Vec<u8>) -> bool {
        let bits = 8 * u32::from(self.int_width);
        let unused = 64 - bits;
        let fits = if self.ty.unsigned {
            value >= 0 && (value as u64).leading_zeros() >= unused
        } else {
            (value << unused) >> unused == value
        };
        if fits {
            let bytes = value.to_le_bytes();
            self.encoder.append(Some(&bytes[..usize::from(self.int_width)]), out);
        }
        fits
    }

    /// Appends the part for NULL, which the column can hold.
    pub(crate) fn push_null(&self, out: &mut Vec<u8>) {
        self.encoder.append(None, out);
    }

    /// Appends the part for storage bytes of the column's own type.
    #[inline]
    pub(crate) fn push_stored(&self, bytes: &[u8], out: &mut Vec<u8>) {
        self.encoder.append(Some(bytes), out);
    }

    /// Whether the part for a value of `ty` is made of its storage bytes, and finds what is equal to it.
    pub(crate) fn takes_bytes_of(&self, ty: &SqlType) -> bool {
        use types::TypeKind::{Binary, Char, Date, DateTime, Decimal, Time, VarBinary, VarChar};
        let by_bytes =
            matches!(ty.kind, Binary | Char | Date | DateTime | Decimal | Time | VarBinary | VarChar);
        !self.prefix && *ty == self.ty && (by_bytes || ty.is_integer())
    }

    /// How an integer stands in the part, and whether it is unsigned; `None` for other types.
    pub(crate) fn int(&self) -> Option<(IntPart, bool)> {
        self.int.map(|int| (int, self.ty.unsigned))
    }

    /// The byte before a value that is not NULL, if there is one.
    pub(crate) fn marker(&self) -> Option<u8> {
        self.nullable.then_some(if self.desc { 0xfe } else { 1 })
    }

    /// Appends bytes that the parts of all values like `pattern` start with; false, with nothing appended:
    /// the pattern starts with a wildcard. The pattern is in the character set of the column, which is a
    /// string.
    pub(crate) fn push_like_prefix(
        &self,
        pattern: &Value<'_>,
        escape: Option<char>,
        out: &mut Vec<u8>,
    ) -> bool {
        let (Value::Bytes { data, .. }, Some(collation)) = (pattern, self.ty.collation.collation()) else {
            return false;
        };
        let mut text = Vec::new();
        LikePattern::literal_prefix(data, escape.map(u32::from), collation.charset, &mut text);
        if !text.is_empty() {
            self.encoder.append_prefix(&text, out);
        }
        !text.is_empty()
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
            .map_err(|_| crate::ExecError::NotSupported("a key of a value that its column cannot hold"))?;
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

/// The part for a collation without padding: see [`RangeBug::UnpaddedPrefix`].
#[cold]
fn unpadded(ty: &SqlType, part: &types::KeyPart) -> Option<KeyEncoder> {
    let ty = SqlType { collation: types::CollationId::UTF8MB4_0900_BIN, ..ty.clone() };
    types::KeyColumn { desc: part.desc, prefix_len: part.prefix_len, ..types::KeyColumn::new(ty) }.encoder()
}
