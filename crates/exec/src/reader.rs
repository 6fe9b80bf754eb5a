//! Where the columns of a relation are in the records of one index, and reading them.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bumpalo::Bump;
use engine::{Field, OlderVersion, RowFormat, RowRef, Table};
use page::{ColumnPlace, IntPart, NullBit, OverflowRef, Place};
use sql::plan::RelationColumns;
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
    /// That, or the key's letters and the case that it has.
    KeyText { ordinal: u16 },
    /// Not in this index, or in no record of this version: see [`TableReader::initial`].
    Absent,
    /// An integer in records of an older version, whose column has become wider since: bytes of the body.
    Narrow { from: u16, to: u16 },
}

/// A column of the relation.
#[derive(Debug)]
pub(crate) struct ColumnReader {
    pub(crate) access: Access,
    pub(crate) null: Option<NullBit>,
    pub(crate) ty: SqlType,
}

/// Reads the columns of a table from the records of one of its indexes, all of one row format version.
#[derive(Debug)]
pub(crate) struct TableReader {
    pub(crate) columns: Box<[ColumnReader]>,
    pub(crate) format: Arc<RowFormat>,
    /// Parts of the key before the clustered key.
    own_parts: usize,
    /// What records of an older version show in each column that they lack; empty in the current version.
    initials: Box<[Initial]>,
    /// Place of the version among the older ones; `None`: the current one.
    pub(crate) older: Option<usize>,
    /// Of the current version: the readers of older ones, each made when a page of it is met.
    versions: Box<[OnceLock<Box<TableReader>>]>,
}

/// What records show in a column that they may lack.
#[derive(Debug)]
pub(crate) enum Initial {
    /// They have the column.
    InRecord,
    Null,
    /// Storage bytes.
    Bytes(Box<[u8]>),
}

/// What reading a record may need beside it.
#[derive(Clone, Copy)]
pub(crate) struct RowEnv<'a> {
    pub(crate) st: &'a Statement<'a>,
    /// Home of decoded key columns and off-page values; lives as long as the row is in use.
    pub(crate) arena: &'a Bump,
}

#[cfg(test)]
thread_local! {
    /// Rows and leaves that were read in older row format versions on this thread.
    pub(crate) static OLDER_READS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl TableReader {
    /// A reader of `table`'s columns from records of its index at `index`.
    pub(crate) fn new(table: &Table, index: usize) -> Self {
        let (format, def) = (&table.indexes[index].format, &table.def);
        let own_parts = if index == 0 { 0 } else { table.indexes[index].def.parts.len() };
        let versions = (0..table.indexes[index].older_versions()).map(|_| OnceLock::new()).collect();
        TableReader {
            columns: columns(def.columns.iter().map(|column| &column.ty), format),
            format: Arc::clone(format),
            own_parts,
            initials: Box::default(),
            older: None,
            versions,
        }
    }

    /// The reader of rows of version `older`, or this one, which is the current version's. Cost: two loads
    /// except for the first time.
    #[inline]
    pub(crate) fn of_version(&self, older: Option<&OlderVersion>) -> &TableReader {
        match older {
            None => self,
            Some(older) => {
                #[cfg(test)]
                OLDER_READS.set(OLDER_READS.get() + 1);
                self.versions[older.ordinal()].get_or_init(|| Box::new(self.make_version(older)))
            }
        }
    }

    #[cold]
    fn make_version(&self, older: &OlderVersion) -> TableReader {
        let format = older.seen();
        let initial = |position| match older.initial(position) {
            _ if format.covers(position) => Initial::InRecord,
            Some(bytes) => Initial::Bytes(bytes.into()),
            None => Initial::Null,
        };
        TableReader {
            columns: columns(self.columns.iter().map(|column| &column.ty), format)
                .into_iter()
                .map(ColumnReader::of_older)
                .collect(),
            format: Arc::clone(format),
            own_parts: self.own_parts,
            initials: (0..self.columns.len()).map(initial).collect(),
            older: Some(older.ordinal()),
            versions: Box::default(),
        }
    }

    /// Number of older versions that rows may have.
    pub(crate) fn older_versions(&self) -> usize {
        self.versions.len()
    }

    /// What the records show in the column at `position` if they lack it.
    pub(crate) fn initial(&self, position: usize) -> &Initial {
        self.initials.get(position).unwrap_or(&Initial::InRecord)
    }

    /// The integer that the records show in the column at `position`, which they lack; a date is the integer
    /// that it is packed to.
    #[cold]
    pub(crate) fn initial_int(&self, position: usize) -> Option<i128> {
        let Initial::Bytes(bytes) = self.initial(position) else { return None };
        let ty = &self.columns[position].ty;
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let unused = 64 - 8 * bytes.len() as u32;
        let bits = u64::from_le_bytes(wide);
        let is_signed = ty.is_integer() && !ty.unsigned;
        Some(if is_signed { i128::from((bits << unused) as i64 >> unused) } else { i128::from(bits) })
    }

    /// Appends the clustered key of a record.
    pub(crate) fn clustered_key(&self, row: &RowRef<'_>, out: &mut Vec<u8>) {
        let at = row.key_bytes_of_parts(self.own_parts);
        row.record().with_key(|key| out.extend_from_slice(&key[at..]));
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
            Access::KeyText { ordinal } => match row.var(ordinal) {
                (bytes, false) => Cell::Bytes(bytes),
                (case, true) => {
                    Cell::Bytes(row.key_text(ordinal, case, |len| arena.alloc_slice_fill_copy(len, 0)))
                }
            },
            Access::KeyInt { part, int, .. } | Access::KeyBits { part, int } => {
                match self.key_int(row, part, int, false) {
                    Some(bits) => Cell::Bytes(storage_of(bits, int, arena)),
                    None => Cell::Null,
                }
            }
            Access::Key => decode_key(row, position, arena),
            Access::Absent | Access::Narrow { .. } => self.unlike_column(row, position, arena),
        }
    }

    /// Whether the column is a text whose letters are in the key, where they begin with `codes`.
    #[inline]
    pub(crate) fn key_text_starts_with(&self, row: &RowRef<'_>, position: usize, codes: &[u8]) -> bool {
        let ColumnReader { access: Access::KeyText { ordinal }, null, .. } = self.columns[position] else {
            return false;
        };
        let is_null = null.is_some_and(|bit| row.null_bit(bit));
        !is_null && row.var(ordinal).1 && row.key_text_starts_with(ordinal, codes)
    }

    /// The bytes of a column that the records lack, or have in a narrower type.
    #[cold]
    fn unlike_column<'a>(&self, row: &RowRef<'a>, position: usize, arena: &'a Bump) -> Cell<'a> {
        let ColumnReader { access, ty, .. } = &self.columns[position];
        if let Access::Narrow { from, to } = *access {
            let wide = storage::widened(&row.body()[usize::from(from)..usize::from(to)], !ty.unsigned);
            return Cell::Bytes(arena.alloc_slice_copy(&wide[..storage::fixed_width(ty).unwrap_or(0)]));
        }
        match self.initial(position) {
            Initial::Bytes(bytes) => Cell::Bytes(arena.alloc_slice_copy(bytes)),
            initial => {
                debug_assert!(matches!(initial, Initial::Null), "column {position} is not in this index");
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
            Access::Absent => self.initial_int(position),
            Access::Narrow { from, to } => Some(narrow_int(row, from..to, unsigned)),
            _ => None,
        }
    }

    /// The storage bytes of a column of up to 8 bytes, as a little-endian number; `None` for NULL.
    #[inline]
    pub(crate) fn bits(&self, row: &RowRef<'_>, position: usize, env: RowEnv<'_>) -> Option<u64> {
        let column = &self.columns[position];
        if column.null.is_some_and(|bit| row.null_bit(bit)) {
            return None;
        }
        let bits = |value: i128| value as u64;
        match column.access {
            Access::Fixed { from, to } if to - from == 3 => Some(bits(widen(row.fixed::<3>(from), true))),
            Access::Fixed { from, to } if to - from == 4 => Some(bits(widen(row.fixed::<4>(from), true))),
            Access::Fixed { from, to } if to - from == 5 => Some(bits(widen(row.fixed::<5>(from), true))),
            Access::Fixed { from, to } if to - from == 8 => Some(bits(widen(row.fixed::<8>(from), true))),
            Access::KeyInt { part, int, .. } | Access::KeyBits { part, int } => {
                self.key_int(row, part, int, false).map(|bits| bits as u64)
            }
            _ => {
                let (bytes, mut wide) = (self.bytes(row, position, env)?, [0; 8]);
                wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
                Some(u64::from_le_bytes(wide))
            }
        }
    }

    /// Whether the column at `position` is NULL.
    #[inline]
    pub(crate) fn is_null(&self, row: &RowRef<'_>, position: usize) -> bool {
        match self.columns[position].access {
            Access::Absent => !matches!(self.initial(position), Initial::Bytes(_)),
            _ => row.is_null(position),
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

#[cold]
fn narrow_int(row: &RowRef<'_>, at: Range<u16>, unsigned: bool) -> i128 {
    let bytes = storage::widened(&row.body()[usize::from(at.start)..usize::from(at.end)], !unsigned);
    widen(bytes, unsigned)
}

impl ColumnReader {
    /// The column of records in which an integer may be narrower than it is now.
    fn of_older(self) -> Self {
        let access = match self.access {
            Access::Fixed { from, to }
                if self.ty.is_integer() && Some(usize::from(to - from)) != storage::fixed_width(&self.ty) =>
            {
                Access::Narrow { from, to }
            }
            access => access,
        };
        ColumnReader { access, ..self }
    }
}

/// The value of storage bytes.
#[inline]
pub(crate) fn read<'a>(ty: &'a SqlType, bytes: &'a [u8], zone: &TimeZone) -> Value<'a> {
    storage::read(ty, bytes, zone)
}

/// How columns of these types are read from records of `format`.
fn columns<'t>(types: impl Iterator<Item = &'t SqlType>, format: &RowFormat) -> Box<[ColumnReader]> {
    let column = |(ty, place): (&SqlType, &ColumnPlace)| ColumnReader {
        access: access_of(place.place, format, ty),
        null: place.null,
        ty: ty.clone(),
    };
    types.zip(format.columns()).map(column).collect()
}

fn access_of(place: Place, format: &RowFormat, ty: &SqlType) -> Access {
    match place {
        Place::Fixed { offset, width } => Access::Fixed { from: offset, to: offset.saturating_add(width) },
        Place::Var { ordinal } if format.key_text(ordinal).is_some() => Access::KeyText { ordinal },
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

/// Whether a column of `used` may be off page: its row may be long enough for that.
pub(crate) fn may_read_off_page(table: &Table, used: &RelationColumns) -> bool {
    let format = &table.clustered().format;
    if !format.var_columns().iter().any(|&col| used.contains(col)) {
        return false;
    }
    let longest = |&col: &u16| storage::max_width(&table.def.columns[usize::from(col)].ty);
    let total: u64 = format.var_columns().iter().map(longest).sum();
    format.var_from() as u64 + total > format.inline_bytes_min() as u64
}
