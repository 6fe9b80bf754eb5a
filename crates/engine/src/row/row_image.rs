//! A row taken out of its record: values in one buffer, so that the record's latch can go.

use page::{Field, OVERFLOW_REF_BYTES, OverflowRef, RowRef};
use trx::Span;

use crate::column_set::ColumnSet;
use crate::error::Result;

/// Rows of up to this many columns are handed to encoders without an allocation.
const COLUMNS_ON_STACK: usize = 32;

/// A row's values over borrowed buffers.
#[derive(Debug)]
pub(crate) struct RowImage<'b> {
    pub(crate) values: &'b mut Vec<u8>,
    pub(crate) spans: &'b mut Vec<Span>,
}

impl RowImage<'_> {
    /// Copies every column of a clustered record. Off-page values come as their references.
    pub(crate) fn fill(&mut self, row: &RowRef<'_>, columns: usize, scratch: &mut Vec<u8>) {
        self.values.clear();
        self.spans.clear();
        for position in 0..columns {
            let field = row.field(position, scratch);
            self.push(field);
        }
    }

    /// As [`RowImage::fill`], but of the columns that are not `wanted` only the references: others are NULL.
    pub(crate) fn fill_only(
        &mut self,
        wanted: &ColumnSet,
        row: &RowRef<'_>,
        columns: usize,
        scratch: &mut Vec<u8>,
    ) {
        self.values.clear();
        self.spans.clear();
        for position in 0..columns {
            let field = if wanted.contains(position) {
                row.field(position, scratch)
            } else {
                row.off_page(position).map_or(Field::Null, Field::OffPage)
            };
            self.push(field);
        }
    }

    fn push(&mut self, field: Field<'_>) {
        let start = self.values.len() as u32;
        let (null, off_page) = match field {
            Field::Null => (true, false),
            Field::Bytes(bytes) => {
                self.values.extend_from_slice(bytes);
                (false, false)
            }
            Field::OffPage(reference) => {
                self.values.extend_from_slice(&reference.encode());
                (false, true)
            }
        };
        let len = self.values.len() as u32 - start;
        self.spans.push(Span { start, len, null, off_page });
    }

    /// Whether a column of `columns` is off page.
    pub(crate) fn any_off_page(&self, columns: &ColumnSet) -> bool {
        self.spans.iter().enumerate().any(|(i, span)| span.off_page && columns.contains(i))
    }

    /// A copy of the image in which the off-page values of `columns` have been read.
    pub(crate) fn fetched(&self, store: &space::Store, columns: &ColumnSet) -> Result<(Vec<u8>, Vec<Span>)> {
        let (mut values, mut spans) = (self.values.clone(), self.spans.clone());
        for (position, span) in spans.iter_mut().enumerate().filter(|(_, span)| span.off_page) {
            if columns.contains(position) {
                let reference = reference_at(self.values, *span);
                let start = values.len();
                store.read_overflow(&reference, &mut values)?;
                *span = Span {
                    start: start as u32,
                    len: (values.len() - start) as u32,
                    null: false,
                    off_page: false,
                };
            }
        }
        Ok((values, spans))
    }

    /// References of the off-page columns.
    pub(crate) fn references(&self) -> impl Iterator<Item = (usize, OverflowRef)> {
        let off_page = self.spans.iter().enumerate().filter(|(_, span)| span.off_page);
        off_page.map(|(position, span)| (position, reference_at(self.values, *span)))
    }
}

fn reference_at(values: &[u8], span: Span) -> OverflowRef {
    debug_assert_eq!(span.len as usize, OVERFLOW_REF_BYTES, "a reference has one length");
    OverflowRef::decode(&values[span.start as usize..])
}

/// The bytes of a span; `None` for NULL.
#[inline]
pub(crate) fn value_of(values: &[u8], span: Span) -> Option<&[u8]> {
    (!span.null).then(|| &values[span.start as usize..][..span.len as usize])
}

/// Calls `f` with one slice per column, the `i`-th being `value(i)`. Cost: no allocation for narrow rows.
#[inline]
pub(crate) fn with_values<'v, R>(
    count: usize,
    value: impl Fn(usize) -> Option<&'v [u8]>,
    f: impl FnOnce(&[Option<&'v [u8]>]) -> R,
) -> R {
    if count <= COLUMNS_ON_STACK {
        let mut values = [None; COLUMNS_ON_STACK];
        for (i, slot) in values[..count].iter_mut().enumerate() {
            *slot = value(i);
        }
        f(&values[..count])
    } else {
        f(&(0..count).map(value).collect::<Vec<_>>())
    }
}
