//! Keys of index lookups for all rows of an outer batch at once, made of their bytes without values in
//! between.
//!
//! A key of one integer stays an integer until it is searched for. Other keys are made of storage bytes of
//! the very type that the index has. [`crate::access::push_parts`], which makes keys of any values, is the
//! oracle of the tests.

use engine::RowRef;
use expr::{Expr, ExprKind};
use page::{IntPart, NullBit};

use crate::error::Result;
use crate::frame::row_source;
use crate::key::Fit;
use crate::key_part::KeyPart;
use crate::query_run::QueryRun;
use crate::reader::{Access, TableReader};
use crate::source::RowBatch;

/// Most bytes of a key of one integer, its null marker included.
pub(crate) const INT_KEY_BYTES_MAX: usize = 9;

/// How the keys of a lookup come from the rows of one relation; what else they are made of is constant in a
/// batch.
#[derive(Debug)]
pub(crate) struct JoinKey(KeySource);

#[derive(Debug)]
enum KeySource {
    Int(IntKey),
    Parts(Box<[Part]>),
}

#[derive(Debug)]
enum Part {
    /// Storage bytes of this column.
    Column(u16),
    /// Of other relations, or of none.
    Constant,
}

/// An integer column of any width as a key of an integer column of any other.
#[derive(Debug)]
struct IntKey {
    col: u16,
    place: IntPlace,
    null: Option<NullBit>,
    signed: bool,
    /// Greatest and, if signed, least value that the index's column holds.
    max: u64,
    min: i64,
    to: IntPart,
    /// Of a value that is not NULL.
    marker: Option<u8>,
}

#[derive(Clone, Copy, Debug)]
enum IntPlace {
    Key {
        offset: usize,
        width: usize,
        flip: u64,
    },
    Fixed4 {
        from: u16,
    },
    Fixed8 {
        from: u16,
    },
    /// Any other.
    Other,
}

/// The keys of a batch's rows.
#[derive(Debug, Default)]
pub(crate) struct BatchKeys {
    /// Keys as integers, if they are.
    ints: Vec<u64>,
    /// Rows whose integers stand for no key: empty if none does.
    absent: Vec<bool>,
    /// Ends of keys in `bytes`; a row without a key has none there.
    ends: Vec<u32>,
    bytes: Vec<u8>,
    int_width: u8,
    marker: Option<u8>,
    /// Parts that all keys have in common, and their ends.
    constants: Vec<u8>,
    constant_ends: Vec<u32>,
}

impl JoinKey {
    /// The way from rows that `reader` reads to keys made of `exprs`; `None` if it leads through values.
    pub(crate) fn new(rel: u16, reader: &TableReader, exprs: &[Expr], parts: &[KeyPart]) -> Option<Self> {
        if parts.len() < exprs.len()
            || exprs.is_empty()
            || parts[..exprs.len()].iter().any(|part| part.prefix)
        {
            return None;
        }
        if let ([expr], [part, ..]) = (exprs, parts)
            && let Some(col) = column_of(rel, expr)
            && let Some(int) = IntKey::new(col, reader, part)
        {
            return Some(JoinKey(KeySource::Int(int)));
        }
        let part = |(expr, part): (&Expr, &KeyPart)| match column_of(rel, expr) {
            Some(col) => {
                part.takes_bytes_of(&reader.columns[usize::from(col)].ty).then_some(Part::Column(col))
            }
            None => is_constant(rel, expr).then_some(Part::Constant),
        };
        let parts = exprs.iter().zip(parts).map(part).collect::<Option<_>>()?;
        Some(JoinKey(KeySource::Parts(parts)))
    }

    /// Makes the keys of all rows of `batch`. Cost: about 40 instructions a row for an integer of fixed
    /// place.
    pub(crate) fn make(
        &self,
        batch: &RowBatch<'_>,
        exprs: &[Expr],
        parts: &[KeyPart],
        run: &QueryRun<'_>,
        keys: &mut BatchKeys,
    ) -> Result<()> {
        keys.ints.clear();
        keys.absent.clear();
        keys.ends.clear();
        keys.bytes.clear();
        match &self.0 {
            KeySource::Int(int) => {
                (keys.int_width, keys.marker) = (int.to.width, int.marker);
                int.make(batch, keys);
            }
            KeySource::Parts(ways) => {
                let possible = keys.make_constants(ways, batch, exprs, parts, run)?;
                for row in batch.rows.rows() {
                    let start = keys.bytes.len();
                    if !possible || !keys.push_row(ways, batch, &row, parts) {
                        keys.bytes.truncate(start);
                    }
                    keys.ends.push(keys.bytes.len() as u32);
                }
                run.st.check()?;
            }
        }
        Ok(())
    }
}

impl BatchKeys {
    /// The first row after `row` with another key.
    #[inline(always)]
    pub(crate) fn run_end(&self, row: usize) -> usize {
        match self.ints.get(row..) {
            Some([key, next, ..]) if key != next => row + 1,
            _ => self.long_run_end(row),
        }
    }

    fn long_run_end(&self, row: usize) -> usize {
        let is_same = |other: usize| match self.ints.get(row) {
            Some(key) => self.ints[other] == *key && self.absent.get(other) == self.absent.get(row),
            None => self.slice(other) == self.slice(row),
        };
        let rows = self.ints.len().max(self.ends.len());
        (row + 1..rows).find(|&other| !is_same(other)).unwrap_or(rows)
    }

    /// The key of `row`; `None` if no row of the index can have it. An integer's bytes are made in `buffer`.
    #[inline(always)]
    pub(crate) fn get<'k>(&'k self, row: usize, buffer: &'k mut [u8; INT_KEY_BYTES_MAX]) -> Option<&'k [u8]> {
        let Some(&int) = self.ints.get(row) else {
            return Some(self.slice(row)).filter(|key| !key.is_empty());
        };
        if self.absent.get(row) == Some(&true) {
            return None;
        }
        let (bits, skip) = (int << (64 - 8 * u32::from(self.int_width)), usize::from(self.marker.is_some()));
        buffer[0] = self.marker.unwrap_or(0);
        buffer[skip..skip + 8].copy_from_slice(&bits.to_be_bytes());
        Some(&buffer[..skip + usize::from(self.int_width)])
    }

    fn slice(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[row] as usize]
    }
}

impl IntKey {
    fn new(col: u16, reader: &TableReader, part: &KeyPart) -> Option<Self> {
        let column = &reader.columns[usize::from(col)];
        if !column.ty.is_integer() {
            return None;
        }
        let (to, unsigned) = part.int()?;
        let bits = 8 * u32::from(to.width);
        let (min, max) = if unsigned {
            (0, u64::MAX >> (64 - bits))
        } else {
            (i64::MIN >> (64 - bits), i64::MAX as u64 >> (64 - bits))
        };
        let place = match column.access {
            Access::Fixed { from, to } => match to - from {
                4 => IntPlace::Fixed4 { from },
                8 => IntPlace::Fixed8 { from },
                _ => IntPlace::Other,
            },
            Access::KeyInt { part, int, .. } => {
                let place = &reader.format.key_parts()[usize::from(part)];
                match place.offset.filter(|_| !place.nullable) {
                    Some(offset) => {
                        IntPlace::Key { offset: offset.into(), width: int.width.into(), flip: int.flip }
                    }
                    None => IntPlace::Other,
                }
            }
            Access::Narrow { .. } => IntPlace::Other,
            _ => return None,
        };
        let (null, signed) = (column.null, !column.ty.unsigned);
        Some(IntKey { col, place, null, signed, max, min, to, marker: part.marker() })
    }

    fn make(&self, batch: &RowBatch<'_>, keys: &mut BatchKeys) {
        keys.ints.reserve(batch.rows.len());
        match self.place {
            IntPlace::Key { offset, width, flip } => {
                let (int, records) = (batch.rows.key_int(offset, width), batch.rows.records());
                batch.rows.for_each_cell(|cell| {
                    self.push(Some(self.widen(int.of_cell(&records, cell) ^ flip, width)), keys);
                });
            }
            IntPlace::Fixed4 { from } => self.make_fixed::<4>(from, batch, keys),
            IntPlace::Fixed8 { from } => self.make_fixed::<8>(from, batch, keys),
            IntPlace::Other => {
                for row in batch.rows.rows() {
                    let value = batch.reader.int(&row, usize::from(self.col));
                    self.push(value.map(|value| value as u64), keys);
                }
            }
        }
    }

    fn make_fixed<const N: usize>(&self, from: u16, batch: &RowBatch<'_>, keys: &mut BatchKeys) {
        batch.rows.for_each_cell(|cell| {
            let mut bytes = [0; 8];
            bytes[..N].copy_from_slice(&cell.chunk::<N>(from));
            let is_null = self.null.is_some_and(|bit| cell.null_bit(bit.byte, bit.mask));
            let value = self.widen(u64::from_le_bytes(bytes), N);
            self.push((!is_null).then_some(value), keys);
        });
    }

    /// The value of `width` bytes as 64 bits of the column's signedness.
    #[inline(always)]
    fn widen(&self, bits: u64, width: usize) -> u64 {
        let unused = 64 - 8 * width as u32;
        if self.signed { ((bits << unused) as i64 >> unused) as u64 } else { bits }
    }

    /// Whether the index's column can hold the value.
    #[inline(always)]
    fn fits(&self, value: u64) -> bool {
        if self.signed && (value as i64) < 0 { self.min <= value as i64 } else { value <= self.max }
    }

    #[inline(always)]
    fn push(&self, value: Option<u64>, keys: &mut BatchKeys) {
        match value.filter(|&value| self.fits(value)) {
            Some(value) => {
                keys.ints.push(value ^ self.to.flip);
                if !keys.absent.is_empty() {
                    keys.absent.push(false);
                }
            }
            None => keys.push_absent(),
        }
    }
}

impl BatchKeys {
    #[cold]
    fn push_absent(&mut self) {
        self.absent.resize(self.ints.len(), false);
        self.absent.push(true);
        self.ints.push(0);
    }

    /// Makes the parts that do not come from the batch's rows; false if no row of the index can have one of
    /// them.
    fn make_constants(
        &mut self,
        ways: &[Part],
        batch: &RowBatch<'_>,
        exprs: &[Expr],
        parts: &[KeyPart],
        run: &QueryRun<'_>,
    ) -> Result<bool> {
        self.constants.clear();
        self.constant_ends.clear();
        let ctx = run.ctx(batch.env.arena);
        for ((way, expr), part) in ways.iter().zip(exprs).zip(parts) {
            if let Part::Constant = way {
                let value = expr.eval(row_source(batch.parent), &ctx);
                let value = value.map_err(|error| run.st.eval_error(error))?;
                if part.push(&value, run, &mut self.constants)? != Fit::Exact {
                    return Ok(false);
                }
                self.constant_ends.push(self.constants.len() as u32);
            }
        }
        Ok(true)
    }

    /// Appends the key of `row`; false if no row of the index can have it.
    fn push_row(&mut self, ways: &[Part], batch: &RowBatch<'_>, row: &RowRef<'_>, parts: &[KeyPart]) -> bool {
        let (mut start, mut ends) = (0, self.constant_ends.iter());
        for (way, part) in ways.iter().zip(parts) {
            match (way, ends.as_slice().first()) {
                (Part::Column(col), _) => match batch.reader.bytes(row, usize::from(*col), batch.env) {
                    Some(bytes) => part.push_stored(bytes, &mut self.bytes),
                    None => return false,
                },
                (Part::Constant, Some(&end)) => {
                    self.bytes.extend_from_slice(&self.constants[start..end as usize]);
                    start = end as usize;
                    ends.next();
                }
                (Part::Constant, None) => debug_assert!(false, "constants were made"),
            }
        }
        true
    }
}

fn column_of(rel: u16, expr: &Expr) -> Option<u16> {
    match &expr.kind {
        ExprKind::Column(column) if column.rel == rel => Some(column.col),
        _ => None,
    }
}

/// Whether `expr` is the same for all rows of relation `rel`.
fn is_constant(rel: u16, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Param(_) => true,
        ExprKind::Column(column) => column.rel != rel,
        _ => false,
    }
}
