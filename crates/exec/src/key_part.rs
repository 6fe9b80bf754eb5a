//! The parts of an index, and keys of integers and of storage bytes.

use engine::Table;
use page::{IntPart, KeyPartPlace};
use types::collation::LikePattern;
use types::{KeyEncoder, SqlType, Value, storage};

use crate::range_bugs::{RangeBug, is_planted};

/// A part of an index as lookups use it.
#[derive(Debug)]
pub(crate) struct KeyPart {
    pub(crate) encoder: KeyEncoder,
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
    pub(crate) desc: bool,
    /// Only the first characters are in the key, so that it finds too much.
    pub(crate) prefix: bool,
    /// Width of an integer column, 0 for others.
    pub(crate) int_width: u8,
    /// How the key has an integer.
    pub(crate) int: Option<IntPart>,
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

    /// Appends the part for an integer; false, with nothing appended: the column is of another type, or
    /// cannot hold it.
    #[inline]
    pub(crate) fn push_column_int(&self, value: i64, out: &mut Vec<u8>) -> bool {
        self.int_width > 0 && self.push_int(value, out)
    }

    /// False: the column cannot hold the number.
    #[inline]
    pub(crate) fn push_int(&self, value: i64, out: &mut Vec<u8>) -> bool {
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

    /// How the part has an integer, and whether that is unsigned; `None` for other types.
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
}

/// The part for a collation without padding: see [`RangeBug::UnpaddedPrefix`].
#[cold]
fn unpadded(ty: &SqlType, part: &types::KeyPart) -> Option<KeyEncoder> {
    let ty = SqlType { collation: types::CollationId::UTF8MB4_0900_BIN, ..ty.clone() };
    types::KeyColumn { desc: part.desc, prefix_len: part.prefix_len, ..types::KeyColumn::new(ty) }.encoder()
}
