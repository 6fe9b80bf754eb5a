//! Rows under construction, as storage bytes per column.

use std::ops::Range;

use base::memory::Charge;
use types::storage::fixed_width;
use types::temporal::OddDelimiter;
use types::{SqlType, StoreContext, StoreNote, TypeKind, Value, storage};

use crate::conditions::{Conditions, Level};
use crate::error::{ExecError, Result};

/// Rows of up to this many columns are handed on without an allocation.
const COLUMNS_ON_STACK: usize = 32;

/// Where a column's bytes are; `None` is NULL.
pub(crate) type Span = Option<(u32, u32)>;

/// Rows of equally many columns: bytes of all, one span per column and row.
#[derive(Debug, Default)]
pub(crate) struct RowBuffer {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    columns: usize,
}

impl RowBuffer {
    pub(crate) fn new(columns: usize) -> Self {
        RowBuffer { bytes: Vec::new(), spans: Vec::new(), columns }
    }

    /// An empty buffer for rows of `columns` columns in the memory of this one.
    pub(crate) fn reused(mut self, columns: usize) -> Self {
        self.clear();
        self.columns = columns;
        self
    }

    /// Rows begun.
    pub(crate) fn len(&self) -> usize {
        self.spans.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Bytes of all values.
    pub(crate) fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of values that it has memory for.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    /// Drops the first rows.
    pub(crate) fn drop_first(&mut self, rows: usize) {
        if rows == self.len() {
            self.clear();
        } else {
            self.spans.drain(..rows * self.columns);
        }
    }

    /// Makes room for one more row with values of `bytes` bytes, charged to `charge`.
    pub(crate) fn reserve_row(&mut self, bytes: usize, charge: &Charge) -> Result<()> {
        if self.bytes.len() + bytes > u32::MAX as usize {
            return Err(charge.too_large().into());
        }
        charge.reserve(&mut self.bytes, bytes)?;
        Ok(charge.reserve(&mut self.spans, self.columns)?)
    }

    /// Begins a row of NULLs.
    #[inline]
    pub(crate) fn begin_row(&mut self) {
        self.spans.resize(self.spans.len() + self.columns, None);
    }

    /// Drops the row begun last.
    pub(crate) fn abandon_row(&mut self) {
        self.spans.truncate(self.spans.len() - self.columns);
    }

    /// Sets a column of the row begun last.
    #[inline]
    pub(crate) fn set(&mut self, col: usize, value: Option<&[u8]>) {
        let span = value.map(|value| {
            let start = self.bytes.len() as u32;
            self.bytes.extend_from_slice(value);
            (start, value.len() as u32)
        });
        self.set_span(col, span);
    }

    /// Sets a column of the row begun last to what `write` appends, or to NULL if it says false.
    #[inline]
    pub(crate) fn set_maybe(
        &mut self,
        col: usize,
        write: impl FnOnce(&mut Vec<u8>) -> Result<bool>,
    ) -> Result<()> {
        let start = self.bytes.len() as u32;
        let is_value = write(&mut self.bytes)?;
        let len = self.bytes.len() as u32 - start;
        self.set_span(col, is_value.then_some((start, len)));
        Ok(())
    }

    #[inline]
    fn set_span(&mut self, col: usize, span: Span) {
        let at = self.spans.len() - self.columns + col;
        self.spans[at] = span;
    }

    /// A column of row `row`.
    #[inline]
    pub(crate) fn get(&self, row: usize, col: usize) -> Option<&[u8]> {
        let (start, len) = self.spans[row * self.columns + col]?;
        Some(&self.bytes[start as usize..][..len as usize])
    }

    /// A column of the row begun last.
    #[inline]
    pub(crate) fn last(&self, col: usize) -> Option<&[u8]> {
        let (start, len) = self.spans[self.spans.len() - self.columns + col]?;
        Some(&self.bytes[start as usize..][..len as usize])
    }

    /// Calls `f` with the columns of row `row`, in which it may put other values.
    pub(crate) fn with_row<'v, R>(&'v self, row: usize, f: impl FnOnce(&mut [Option<&'v [u8]>]) -> R) -> R {
        if self.columns <= COLUMNS_ON_STACK {
            let mut values = [None; COLUMNS_ON_STACK];
            for (col, value) in values[..self.columns].iter_mut().enumerate() {
                *value = self.get(row, col);
            }
            f(&mut values[..self.columns])
        } else {
            f(&mut (0..self.columns).map(|col| self.get(row, col)).collect::<Vec<_>>())
        }
    }

    /// The columns of some rows, one after the other.
    pub(crate) fn columns_of(&self, rows: Range<usize>) -> Vec<Option<&[u8]>> {
        let bytes = |&(start, len): &(u32, u32)| &self.bytes[start as usize..][..len as usize];
        let spans = &self.spans[rows.start * self.columns..rows.end * self.columns];
        spans.iter().map(|span| span.as_ref().map(bytes)).collect()
    }
}

/// Converts a value, not NULL, to storage bytes of the column; what is lost is warned of.
#[inline]
pub(crate) fn store_value(
    ty: &SqlType,
    value: &Value<'_>,
    ctx: &StoreContext<'_>,
    report: &Report<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    if let Some(odd) = storage::odd_delimiter(ty, value, ctx) {
        report.warn_of_delimiter(odd, value);
    }
    store_in_any_spelling(ty, value, ctx, report, out)
}

/// As [`store_value`], without warnings about the delimiters of dates.
#[inline]
pub(crate) fn store_in_any_spelling(
    ty: &SqlType,
    value: &Value<'_>,
    ctx: &StoreContext<'_>,
    report: &Report<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let stored = match *value {
        Value::Int(v) => storage::store_int_literal(ty, v, ctx, out),
        _ => storage::store(ty, value, ctx, out),
    };
    match stored {
        Ok(StoreNote::Exact) => Ok(()),
        Ok(StoreNote::Note(problem)) => {
            report.warn(Level::Note, problem);
            Ok(())
        }
        Ok(StoreNote::Warnings(problems)) => {
            for problem in *problems {
                let is_note = matches!(problem, types::Problem::Truncated);
                report.warn(if is_note { Level::Note } else { Level::Warning }, Box::new(problem));
            }
            Ok(())
        }
        Ok(StoreNote::Warning(problem)) => {
            report.warn(Level::Warning, problem);
            Ok(())
        }
        Err(error) => Err(report.error(error.0)),
    }
}

/// What messages about a column's value need.
#[derive(Clone, Copy)]
pub(crate) struct Report<'a> {
    pub(crate) column: &'a str,
    /// 1-based row of the statement.
    pub(crate) row: u64,
    pub(crate) conditions: &'a dyn Conditions,
}

impl Report<'_> {
    #[cold]
    fn warn_of_delimiter(&self, odd: OddDelimiter, value: &Value<'_>) {
        let value = value.message_text().into();
        self.warn(Level::Warning, Box::new(types::Problem::OddDelimiter { odd, value }));
    }

    #[cold]
    fn warn(&self, level: Level, problem: Box<types::Problem>) {
        self.conditions.warn(level, &self.error(problem));
    }

    #[cold]
    fn error(&self, problem: Box<types::Problem>) -> ExecError {
        ExecError::Store { problem, column: self.column.into(), row: self.row }
    }
}

/// Appends the value that a NOT NULL column gets where nothing better is known: zero, the empty string, the
/// first member.
pub(crate) fn push_implicit_default(ty: &SqlType, out: &mut Vec<u8>) {
    let start = out.len();
    push_zero(ty, out);
    if ty.kind == TypeKind::Enum
        && let Some(first) = out.get_mut(start)
    {
        *first = 1;
    }
}

/// Appends what a NULL becomes that a NOT NULL column has to take: zero, the empty string, no member.
pub(crate) fn push_zero(ty: &SqlType, out: &mut Vec<u8>) {
    out.resize(out.len() + fixed_width(ty).unwrap_or(0), 0);
}
