//! The row in flight: the current row of every relation, as a chain that grows from outer to inner.

use engine::{Batch, RowRef};
use expr::RowSource;
use types::Value;

use crate::reader::{RowEnv, TableReader};
use crate::temp_row::TempRow;

/// One link of the chain.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) parent: Option<&'a Frame<'a>>,
    pub(crate) row: CurrentRow<'a>,
}

/// The current row of one relation, or of several that travel together.
#[derive(Clone, Copy)]
pub(crate) enum CurrentRow<'a> {
    /// A record of a base table.
    Record(TableRow<'a>),
    /// A row kept or made by an operator.
    Temp(TempRow<'a>),
    /// All columns of these relations are NULL.
    Nulls(&'a [u16]),
}

/// A record of a base table.
#[derive(Clone, Copy)]
pub(crate) struct TableRow<'a> {
    pub(crate) rel: u16,
    pub(crate) row: RowRef<'a>,
    pub(crate) reader: &'a TableReader,
    pub(crate) env: RowEnv<'a>,
    /// The batch that the row came in, if it came in one, and its position there.
    pub(crate) batch: Option<(&'a Batch<'a>, usize)>,
}

impl<'a> TableRow<'a> {
    /// The value of a column.
    #[inline]
    pub(crate) fn value(&self, col: u16) -> Value<'a> {
        self.reader.value(&self.row, usize::from(col), self.env)
    }

    /// Appends the row's clustered key.
    pub(crate) fn clustered_key(&self, out: &mut Vec<u8>) {
        self.reader.clustered_key(&self.row, out);
    }
}

impl<'a> Frame<'a> {
    /// The row of relation `rel`; `None` if no operator below has produced it.
    #[inline]
    pub(crate) fn find(&self, rel: u16) -> Option<&CurrentRow<'a>> {
        let mut frame = self;
        loop {
            let here = match &frame.row {
                CurrentRow::Record(record) => record.rel == rel,
                CurrentRow::Temp(temp) => temp.layout.has(rel),
                CurrentRow::Nulls(rels) => rels.contains(&rel),
            };
            if here {
                return Some(&frame.row);
            }
            frame = frame.parent?;
        }
    }
}

impl RowSource for Frame<'_> {
    #[inline]
    fn column(&self, rel: u16, col: u16) -> Value<'_> {
        match self.find(rel) {
            Some(CurrentRow::Record(record)) => record.value(col),
            Some(CurrentRow::Temp(temp)) => temp.value(rel, col),
            Some(CurrentRow::Nulls(_)) => Value::Null,
            None => {
                debug_assert!(false, "relation {rel} has no row here");
                Value::Null
            }
        }
    }
}

/// The row of a chain that may be empty: what constant expressions see.
pub(crate) fn row_source<'a>(frame: Option<&'a Frame<'a>>) -> &'a dyn RowSource {
    match frame {
        Some(frame) => frame,
        None => &(),
    }
}
