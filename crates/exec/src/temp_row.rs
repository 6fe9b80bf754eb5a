//! Rows that operators keep: compact, of variable length, used bytes only.
//!
//! A row is an end offset (u32, the top bit set for NULL) per cell, then the cells' bytes. A cell is the
//! storage bytes of a table's column, or a value with its kind in front, as the layout says.

use base::memory::ByteStore;
use types::{CollationId, Date, DateTime, Decimal, SqlType, Time, TimeZone, TypeKind, Value, storage};

const NULL: u32 = 1 << 31;

/// The contents of a cell.
#[derive(Clone, Debug)]
pub(crate) enum CellKind {
    /// Storage bytes of this type.
    Storage(SqlType),
    /// A value and its kind; the type knows the members of ENUM and SET.
    Tagged(SqlType),
}

impl CellKind {
    /// Type of the column.
    pub(crate) fn ty(&self) -> &SqlType {
        match self {
            CellKind::Storage(ty) | CellKind::Tagged(ty) => ty,
        }
    }
}

/// One relation's columns among the cells.
#[derive(Clone, Debug)]
struct RelationCells {
    rel: u16,
    /// Cell of each column; `NONE` if it is not kept.
    cells: Box<[u16]>,
}

const NONE: u16 = u16::MAX;
/// In place of a column: the clustered key of a relation's row.
pub(crate) const CLUSTERED_KEY: u16 = u16::MAX;

/// The cells of a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    relations: Vec<RelationCells>,
    pub(crate) cells: Vec<CellKind>,
    /// Source of each cell: relation and column.
    pub(crate) sources: Vec<(u16, u16)>,
}

impl Layout {
    /// Adds the columns of a relation: `None` leaves one out.
    pub(crate) fn add_relation(&mut self, rel: u16, columns: impl Iterator<Item = Option<CellKind>>) {
        let mut cells = Vec::new();
        for (col, kind) in columns.enumerate() {
            match kind {
                Some(kind) => {
                    cells.push(self.cells.len() as u16);
                    self.cells.push(kind);
                    self.sources.push((rel, col as u16));
                }
                None => cells.push(NONE),
            }
        }
        self.relations.push(RelationCells { rel, cells: cells.into() });
    }

    /// Adds the clustered key of a relation added before.
    pub(crate) fn add_key(&mut self, rel: u16) {
        self.cells.push(CellKind::Storage(SqlType::new(TypeKind::VarBinary, 0)));
        self.sources.push((rel, CLUSTERED_KEY));
    }

    /// Whether the rows hold columns of `rel`.
    #[inline]
    pub(crate) fn has(&self, rel: u16) -> bool {
        self.relations.iter().any(|relation| relation.rel == rel)
    }

    fn cell_of(&self, rel: u16, col: u16) -> Option<usize> {
        if col == CLUSTERED_KEY {
            return self.sources.iter().position(|source| *source == (rel, col));
        }
        let relation = self.relations.iter().find(|relation| relation.rel == rel)?;
        let cell = relation.cells[usize::from(col)];
        (cell != NONE).then_some(usize::from(cell))
    }
}

/// Writes a row one cell after the other.
pub(crate) struct RowWriter<'b> {
    out: &'b mut ByteStore,
    /// Where it begins in what `out` is writing.
    start: usize,
    next: usize,
}

impl<'b> RowWriter<'b> {
    /// Starts a row of `cells` cells at the end of what `out` is writing.
    pub(crate) fn new(out: &'b mut ByteStore, cells: usize) -> Self {
        let start = out.row().len();
        out.push_zeros(4 * cells);
        RowWriter { out, start, next: start }
    }

    /// Continues the first row of what `out` is writing, which has `written` cells so far.
    pub(crate) fn resume(out: &'b mut ByteStore, written: usize) -> Self {
        RowWriter { out, start: 0, next: 4 * written }
    }

    /// The next cell has these bytes already.
    #[inline]
    pub(crate) fn put_cell(&mut self, bytes: Option<&[u8]>) {
        if let Some(bytes) = bytes {
            self.out.extend_from_slice(bytes);
        }
        self.end_cell(bytes.is_none());
    }

    /// The next cell is a value.
    #[inline]
    pub(crate) fn put_value(&mut self, value: &Value<'_>) {
        push_tagged(value, self.out);
        self.end_cell(value.is_null());
    }

    fn end_cell(&mut self, null: bool) {
        let row = self.out.row_mut();
        let end = (row.len() - self.start) as u32 | if null { NULL } else { 0 };
        // A row that the account refused has no room for its ends.
        if let Some(place) = row.get_mut(self.next..self.next + 4) {
            place.copy_from_slice(&end.to_le_bytes());
        }
        self.next += 4;
    }
}

/// A row and its layout.
#[derive(Clone, Copy)]
pub(crate) struct TempRow<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) bytes: &'a [u8],
    pub(crate) zone: &'a TimeZone,
}

impl<'a> TempRow<'a> {
    /// Kind and bytes of a column's cell; `None` for NULL.
    #[inline]
    pub(crate) fn cell(&self, rel: u16, col: u16) -> Option<(&'a CellKind, &'a [u8])> {
        let Some(cell) = self.layout.cell_of(rel, col) else {
            debug_assert!(false, "column {col} of relation {rel} was not kept");
            return None;
        };
        Some((&self.layout.cells[cell], self.cell_at(cell)?))
    }

    /// Bytes of the cell at a position; `None` for NULL.
    #[inline]
    pub(crate) fn cell_at(&self, cell: usize) -> Option<&'a [u8]> {
        let end = base::codec::get_u32(self.bytes, 4 * cell);
        if end & NULL != 0 {
            return None;
        }
        let start = match cell {
            0 => 4 * self.layout.cells.len(),
            _ => (base::codec::get_u32(self.bytes, 4 * cell - 4) & !NULL) as usize,
        };
        Some(&self.bytes[start..end as usize])
    }

    /// The value of a column.
    pub(crate) fn value(&self, rel: u16, col: u16) -> Value<'a> {
        match self.cell(rel, col) {
            None => Value::Null,
            Some((CellKind::Storage(ty), bytes)) => storage::read(ty, bytes, self.zone),
            Some((CellKind::Tagged(ty), bytes)) => read_tagged(bytes, ty),
        }
    }
}

mod tag {
    pub(super) const INT: u8 = 1;
    pub(super) const UINT: u8 = 2;
    pub(super) const DOUBLE: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const DECIMAL: u8 = 5;
    pub(super) const BYTES: u8 = 6;
    pub(super) const DATE: u8 = 7;
    pub(super) const TIME: u8 = 8;
    pub(super) const DATETIME: u8 = 9;
    pub(super) const YEAR: u8 = 10;
    pub(super) const BIT: u8 = 11;
    pub(super) const ENUM: u8 = 12;
    pub(super) const SET: u8 = 13;
}

/// Appends a value and its kind; nothing for NULL.
fn push_tagged(value: &Value<'_>, out: &mut ByteStore) {
    match *value {
        Value::Null => {}
        Value::Int(v) => push(out, tag::INT, &v.to_le_bytes()),
        Value::UInt(v) => push(out, tag::UINT, &v.to_le_bytes()),
        Value::Double(v) => push(out, tag::DOUBLE, &v.to_bits().to_le_bytes()),
        Value::Float(v) => push(out, tag::FLOAT, &v.to_bits().to_le_bytes()),
        Value::Decimal(v) => push_decimal(v, out),
        Value::Bytes { data, collation } => {
            push(out, tag::BYTES, &collation.0.to_le_bytes());
            out.extend_from_slice(data);
        }
        Value::Date(v) => push(out, tag::DATE, &v.packed().to_le_bytes()),
        Value::Time(v, fsp) => {
            push(out, tag::TIME, &[fsp]);
            out.extend_from_slice(&v.micros().to_le_bytes());
        }
        Value::DateTime(v, fsp) => {
            push(out, tag::DATETIME, &[fsp]);
            out.extend_from_slice(&v.packed_seconds().to_le_bytes());
            out.extend_from_slice(&v.micro().to_le_bytes());
        }
        Value::Year(v) => push(out, tag::YEAR, &v.to_le_bytes()),
        Value::Bit { value, bytes } => {
            push(out, tag::BIT, &[bytes]);
            out.extend_from_slice(&value.to_le_bytes());
        }
        Value::Enum { index, collation, .. } => {
            push(out, tag::ENUM, &collation.0.to_le_bytes());
            out.extend_from_slice(&index.to_le_bytes());
        }
        Value::Set { mask, collation, .. } => {
            push(out, tag::SET, &collation.0.to_le_bytes());
            out.extend_from_slice(&mask.to_le_bytes());
        }
    }
}

fn push(out: &mut ByteStore, kind: u8, bytes: &[u8]) {
    out.push(kind);
    out.extend_from_slice(bytes);
}

/// Small decimals as their units in 16 bytes, others in 32: a sum has more digits than any text of a decimal.
fn push_decimal(value: Decimal, out: &mut ByteStore) {
    push(out, tag::DECIMAL, &[value.scale()]);
    if let Some(units) = value.to_i128_units() {
        out.extend_from_slice(&units.to_le_bytes());
    } else {
        out.extend_from_slice(&value.wide_units());
    }
}

fn read_decimal(rest: &[u8]) -> Decimal {
    let (scale, body) = (rest[0], &rest[1..]);
    match body.try_into() {
        Ok(units) => Decimal::from_i128(i128::from_le_bytes(units), scale),
        Err(_) => Decimal::from_units_le(body, scale),
    }
}

fn read_tagged<'a>(bytes: &'a [u8], ty: &'a SqlType) -> Value<'a> {
    let (kind, rest) = (bytes[0], &bytes[1..]);
    let collation = || CollationId(base::codec::get_u16(rest, 0));
    match kind {
        tag::INT => Value::Int(base::codec::get_u64(rest, 0) as i64),
        tag::UINT => Value::UInt(base::codec::get_u64(rest, 0)),
        tag::DOUBLE => Value::Double(f64::from_bits(base::codec::get_u64(rest, 0))),
        tag::FLOAT => Value::Float(f32::from_bits(base::codec::get_u32(rest, 0))),
        tag::DECIMAL => Value::Decimal(read_decimal(rest)),
        tag::BYTES => Value::Bytes { data: &rest[2..], collation: collation() },
        tag::DATE => Value::Date(Date::from_packed(base::codec::get_u32(rest, 0))),
        tag::TIME => {
            let micros = base::codec::get_u64(rest, 1) as i64;
            Value::Time(Time::from_micros_clipped(micros), rest[0])
        }
        tag::DATETIME => {
            let packed = base::codec::get_u64(rest, 1);
            Value::DateTime(DateTime::from_packed(packed, base::codec::get_u32(rest, 9)), rest[0])
        }
        tag::YEAR => Value::Year(base::codec::get_u16(rest, 0)),
        tag::BIT => Value::Bit { value: base::codec::get_u64(rest, 1), bytes: rest[0] },
        tag::ENUM => match &ty.members {
            Some(members) => {
                Value::Enum { index: base::codec::get_u16(rest, 2), members, collation: collation() }
            }
            None => Value::Null,
        },
        tag::SET => match &ty.members {
            Some(members) => {
                Value::Set { mask: base::codec::get_u64(rest, 2), members, collation: collation() }
            }
            None => Value::Null,
        },
        _ => Value::Null,
    }
}
