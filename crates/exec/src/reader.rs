//! Where the columns of a relation stand in the records of one index, and reading them.

use std::sync::Arc;

use bumpalo::Bump;
use engine::{Field, RowFormat, RowRef, Table};
use page::{IntPart, KeyPartPlace, NullBit, OverflowRef, Place};
use types::{SqlType, TimeZone, Value, storage};

use crate::statement::Statement;

/// A column's bytes in a record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    Null,
    /// Storage bytes.
    Bytes(&'a [u8]),
    /// The storage bytes are elsewhere.
    OffPage(OverflowRef),
}

/// How a column is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    /// An integer type in key part `part`: a load.
    KeyInt { part: u16, int: IntPart, signed: bool },
    /// Another type that the key holds as an integer of up to 8 bytes.
    KeyBits { part: u16, int: IntPart },
    /// Any other key part: decoded.
    Key,
    /// Bytes of the body.
    Fixed { from: u16, to: u16 },
    /// The variable column of this ordinal.
    Var { ordinal: u16 },
    /// Not in this index.
    Absent,
}

/// A column of the relation.
#[derive(Debug)]
pub(crate) struct ColumnReader {
    pub(crate) access: Access,
    pub(crate) null: Option<NullBit>,
    pub(crate) ty: SqlType,
}

/// Reads the columns of a table from the records of one of its indexes.
#[derive(Debug)]
pub(crate) struct TableReader {
    pub(crate) columns: Box<[ColumnReader]>,
    pub(crate) format: Arc<RowFormat>,
    /// Parts of the key before the clustered key.
    own_parts: usize,
}

/// What reading a record may need beside it.
#[derive(Clone, Copy)]
pub(crate) struct RowEnv<'a> {
    pub(crate) st: &'a Statement<'a>,
    /// Home of decoded key columns and off-page values; lives as long as the row is looked at.
    pub(crate) arena: &'a Bump,
}

impl TableReader {
    /// A reader of `table`'s columns from records of its index at `index`.
    pub(crate) fn new(table: &Table, index: usize) -> Self {
        let (format, def) = (&table.indexes[index].format, &table.def);
        let own_parts = if index == 0 { 0 } else { table.indexes[index].def.parts.len() };
        let columns = def.columns.iter().zip(format.columns()).map(|(column, place)| ColumnReader {
            access: access_of(place.place, format, &column.ty),
            null: place.null,
            ty: column.ty.clone(),
        });
        TableReader { columns: columns.collect(), format: Arc::clone(format), own_parts }
    }

    /// Appends the clustered key of a record.
    pub(crate) fn clustered_key(&self, row: &RowRef<'_>, out: &mut Vec<u8>) {
        row.record().with_key(|key| {
            let parts = &self.format.key_parts()[..self.own_parts];
            let skip =
                |at, part: &KeyPartPlace| at + part.encoder.map_or(0, |encoder| encoder.skip(&key[at..]));
            out.extend_from_slice(&key[parts.iter().fold(0, skip)..]);
        });
    }

    /// The bytes of the column at `position`.
    #[inline]
    pub(crate) fn cell<'a>(&self, row: &RowRef<'a>, position: usize, arena: &'a Bump) -> Cell<'a> {
        let column = &self.columns[position];
        #[cfg(feature = "planted-validator")]
        crate::planted::validate_field(row.body());
        if column.null.is_some_and(|bit| row.null_bit(bit)) {
            return Cell::Null;
        }
        match column.access {
            Access::Fixed { from, to } => Cell::Bytes(&row.body()[usize::from(from)..usize::from(to)]),
            Access::Var { ordinal } => match row.var(ordinal) {
                (bytes, false) => Cell::Bytes(bytes),
                (bytes, true) => Cell::OffPage(OverflowRef::decode(bytes)),
            },
            Access::KeyInt { part, int, .. } | Access::KeyBits { part, int } => {
                match self.key_int(row, part, int, false) {
                    Some(bits) => Cell::Bytes(storage_of(bits, int, arena)),
                    None => Cell::Null,
                }
            }
            Access::Key => decode_key(row, position, arena),
            Access::Absent => {
                debug_assert!(false, "column {position} is not in this index");
                Cell::Null
            }
        }
    }

    /// The storage bytes of the column, fetched if they are off page; `None` for NULL.
    #[inline]
    pub(crate) fn bytes<'a>(&self, row: &RowRef<'a>, position: usize, env: RowEnv<'a>) -> Option<&'a [u8]> {
        match self.cell(row, position, env.arena) {
            Cell::Null => None,
            Cell::Bytes(bytes) => Some(bytes),
            Cell::OffPage(reference) => env.st.fetch(&reference, env.arena),
        }
    }

    /// The value of the column at `position`.
    #[inline]
    pub(crate) fn value<'a>(&'a self, row: &RowRef<'a>, position: usize, env: RowEnv<'a>) -> Value<'a> {
        let column = &self.columns[position];
        if let Access::KeyInt { part, int, signed } = column.access {
            return match self.key_int(row, part, int, signed) {
                None => Value::Null,
                Some(value) if signed => Value::Int(value),
                Some(value) => Value::UInt(value as u64),
            };
        }
        match self.bytes(row, position, env) {
            None => Value::Null,
            Some(bytes) => read(&column.ty, bytes, env.st.zone),
        }
    }

    /// The value of an integer column that is not off page; `None` for NULL.
    #[inline]
    pub(crate) fn int(&self, row: &RowRef<'_>, position: usize) -> Option<i128> {
        let column = &self.columns[position];
        if column.null.is_some_and(|bit| row.null_bit(bit)) {
            return None;
        }
        let unsigned = column.ty.unsigned;
        match column.access {
            Access::KeyInt { part, int, signed } => {
                let value = self.key_int(row, part, int, signed)?;
                Some(if signed { i128::from(value) } else { i128::from(value as u64) })
            }
            Access::Fixed { from, to } if to - from == 4 => Some(widen(row.fixed::<4>(from), unsigned)),
            Access::Fixed { from, to } if to - from == 8 => Some(widen(row.fixed::<8>(from), unsigned)),
            Access::Fixed { from, to } if to - from == 1 => Some(widen(row.fixed::<1>(from), unsigned)),
            Access::Fixed { from, to } if to - from == 2 => Some(widen(row.fixed::<2>(from), unsigned)),
            Access::Fixed { from, to } if to - from == 3 => Some(widen(row.fixed::<3>(from), unsigned)),
            _ => None,
        }
    }

    /// An integer key column, sign- or zero-extended.
    #[inline]
    pub(crate) fn key_int(&self, row: &RowRef<'_>, part: u16, int: IntPart, signed: bool) -> Option<i64> {
        let part = &self.format.key_parts()[usize::from(part)];
        if part.nullable && row.is_null(usize::from(part.column.unwrap_or(0))) {
            return None;
        }
        let bits = row.key_int(part, int);
        let unused = 64 - 8 * u32::from(int.width);
        Some(if signed { ((bits << unused) as i64) >> unused } else { bits as i64 })
    }
}

/// The value of storage bytes.
#[inline]
pub(crate) fn read<'a>(ty: &'a SqlType, bytes: &'a [u8], zone: &TimeZone) -> Value<'a> {
    storage::read(ty, bytes, zone)
}

fn access_of(place: Place, format: &RowFormat, ty: &SqlType) -> Access {
    match place {
        Place::Fixed { offset, width } => Access::Fixed { from: offset, to: offset.saturating_add(width) },
        Place::Var { ordinal } => Access::Var { ordinal },
        Place::Key { part } => match format.key_parts()[usize::from(part)].int {
            Some(int) if ty.is_integer() => Access::KeyInt { part, int, signed: !ty.unsigned },
            Some(int) => Access::KeyBits { part, int },
            _ => Access::Key,
        },
        Place::Absent => Access::Absent,
    }
}

/// The number in little-endian storage bytes.
#[inline(always)]
pub(crate) fn widen<const N: usize>(bytes: [u8; N], unsigned: bool) -> i128 {
    let mut wide = [0; 8];
    wide[..N].copy_from_slice(&bytes);
    let unused = 64 - 8 * N as u32;
    let bits = u64::from_le_bytes(wide) << unused;
    if unsigned { i128::from(bits >> unused) } else { i128::from(bits as i64 >> unused) }
}

/// Storage bytes of an integer: its low bytes.
#[inline]
fn storage_of(bits: i64, int: IntPart, arena: &Bump) -> &[u8] {
    let bytes: &[u8; 8] = arena.alloc(bits.to_le_bytes());
    &bytes[..usize::from(int.width)]
}

fn decode_key<'a>(row: &RowRef<'a>, position: usize, arena: &'a Bump) -> Cell<'a> {
    let mut scratch = Vec::new();
    match row.field(position, &mut scratch) {
        Field::Null => Cell::Null,
        Field::Bytes(bytes) => Cell::Bytes(arena.alloc_slice_copy(bytes)),
        Field::OffPage(reference) => Cell::OffPage(reference),
    }
}
