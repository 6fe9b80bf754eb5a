//! Integers of looked-up rows, kept for a batch of outer rows: what sums over a join are made of. A date is
//! the integer that it is packed to.

use std::ops::Range;

use engine::RowRef;
use page::{IntPart, NullBit};
use types::TypeKind;

use crate::reader::{Access, TableReader};

/// Runs of a batch's rows, each with the integers of the one row of another relation that is beside all of
/// them.
#[derive(Debug)]
pub(crate) struct IntRuns {
    /// The other relation.
    pub(crate) rel: u16,
    /// How columns are read from rows of the version `older`.
    columns: Box<[IntColumn]>,
    /// See [`TableReader::older`].
    older: Option<usize>,
    /// The same for other versions.
    others: Vec<(Option<usize>, Box<[IntColumn]>)>,
    runs: Vec<Range<u32>>,
    /// A value for each column, run by run; unsigned ones by their bits.
    values: Vec<Option<i64>>,
    /// Rows in all runs.
    rows: usize,
    /// Runs beside no row.
    missed: usize,
}

#[derive(Debug)]
struct IntColumn {
    col: u16,
    way: ReadAs,
    null: Option<NullBit>,
    unsigned: bool,
}

/// How a column is read.
#[derive(Clone, Copy, Debug)]
enum ReadAs {
    /// Four bytes from here on.
    Fixed4(u16),
    /// A date, in three bytes from here on.
    Date(u16),
    /// A date in the key.
    KeyDate(u16, IntPart),
    Other,
}

impl IntRuns {
    /// Integers of `columns` in rows that `reader` reads.
    pub(crate) fn new(rel: u16, columns: &[u16], reader: &TableReader) -> Self {
        IntRuns {
            rel,
            columns: columns.iter().map(|&col| IntColumn::new(col, reader)).collect(),
            older: reader.older,
            others: Vec::new(),
            runs: Vec::new(),
            values: Vec::new(),
            rows: 0,
            missed: 0,
        }
    }

    /// From now on rows are of the version of `reader`.
    #[inline]
    pub(crate) fn enter_version(&mut self, reader: &TableReader) {
        if self.older != reader.older {
            self.change_version(reader);
        }
    }

    fn change_version(&mut self, reader: &TableReader) {
        let known = self.others.iter().position(|(older, _)| *older == reader.older);
        let columns = match known {
            Some(position) => self.others.swap_remove(position).1,
            None => self.columns.iter().map(|column| IntColumn::new(column.col, reader)).collect(),
        };
        let before = std::mem::replace(&mut self.columns, columns);
        self.others.push((self.older, before));
        self.older = reader.older;
    }

    /// Begins with none, with room for `runs`.
    pub(crate) fn clear(&mut self, runs: usize) {
        self.runs.clear();
        self.runs.reserve(runs);
        self.values.clear();
        self.values.reserve(runs * self.columns.len());
        (self.rows, self.missed) = (0, 0);
    }

    /// Adds outer rows beside `row`.
    #[inline(always)]
    pub(crate) fn push(&mut self, run: Range<usize>, row: &RowRef<'_>, reader: &TableReader) {
        self.rows += run.len();
        self.runs.push(run.start as u32..run.end as u32);
        for column in &self.columns {
            self.values.push(column.read(row, reader));
        }
    }

    /// Adds outer rows beside none.
    #[cold]
    #[inline(never)]
    pub(crate) fn push_missed(&mut self, run: Range<usize>) {
        self.rows += run.len();
        self.missed += 1;
        self.runs.push(run.start as u32..run.end as u32);
        self.values.extend(self.columns.iter().map(|_| None));
    }

    /// Number of runs beside a row.
    pub(crate) fn found(&self) -> usize {
        self.runs.len() - self.missed
    }

    /// Number of rows in all runs.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The runs.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        self.runs.iter().map(|run| run.start as usize..run.end as usize)
    }

    /// The integers of a column that was wanted, each with the number of rows beside it.
    #[inline]
    pub(crate) fn values(&self, col: u16) -> impl Iterator<Item = (i128, usize)> {
        let position = self.columns.iter().position(|column| column.col == col);
        let unsigned = position.is_some_and(|position| self.columns[position].unsigned);
        let values = self.values.iter().skip(position.unwrap_or(self.values.len()));
        let values = values.step_by(self.columns.len().max(1));
        self.runs.iter().zip(values).filter_map(move |(run, value)| {
            let value = (*value)?;
            let value = if unsigned { i128::from(value as u64) } else { i128::from(value) };
            Some((value, run.len()))
        })
    }
}

impl IntColumn {
    /// How column `col` is read from the rows of `reader`.
    fn new(col: u16, reader: &TableReader) -> Self {
        let column = &reader.columns[usize::from(col)];
        let way = match column.access {
            Access::Fixed { from, .. } if column.ty.kind == TypeKind::Date => ReadAs::Date(from),
            Access::KeyBits { part, int } => ReadAs::KeyDate(part, int),
            Access::Fixed { from, to } if to - from == 4 => ReadAs::Fixed4(from),
            _ => ReadAs::Other,
        };
        IntColumn { col, way, null: column.null, unsigned: column.ty.unsigned }
    }

    #[inline]
    fn read(&self, row: &RowRef<'_>, reader: &TableReader) -> Option<i64> {
        if self.null.is_some_and(|bit| row.null_bit(bit)) {
            return None;
        }
        match self.way {
            ReadAs::Fixed4(from) if self.unsigned => Some(u32::from_le_bytes(row.fixed(from)).into()),
            ReadAs::Fixed4(from) => Some(i32::from_le_bytes(row.fixed(from)).into()),
            ReadAs::Date(from) => {
                let [low, middle, high] = row.fixed(from);
                Some(u32::from_le_bytes([low, middle, high, 0]).into())
            }
            ReadAs::KeyDate(part, int) => reader.key_int(row, part, int, false),
            ReadAs::Other => reader.int(row, usize::from(self.col)).map(|value| value as i64),
        }
    }
}
