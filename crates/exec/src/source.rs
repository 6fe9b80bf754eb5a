//! How rows flow: a source pushes them into a sink, one chain of frames a row.
//!
//! A row is valid during the call only. Sources ask the sink for a pause between batches, with no latch held:
//! that is when the answer is sent.

use std::ops::Range;

use engine::{Batch, FoundCell, OlderVersion};

use crate::error::Result;
use crate::frame::{CurrentRow, Frame, TableRow};
use crate::join_ints::IntRuns;
use crate::reader::{RowEnv, TableReader};

/// Whether a sink wants more rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    More,
    /// The source may stop.
    Enough,
}

/// Rows of one relation, in place, all joined with the same rows of other relations, which are in `parent`.
/// None of their columns is off page.
#[derive(Clone, Copy)]
pub(crate) struct RowBatch<'b> {
    pub(crate) rel: u16,
    pub(crate) rows: Batch<'b>,
    pub(crate) reader: &'b TableReader,
    pub(crate) env: RowEnv<'b>,
    pub(crate) parent: Option<&'b Frame<'b>>,
}

impl RowBatch<'_> {
    /// The rows at the positions `range`, not empty.
    #[inline]
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        RowBatch { rows: self.rows.slice(range), ..*self }
    }

    /// Notes that the rows from position `from` on are not read: they do not count as examined.
    pub(crate) fn leave(&self, from: usize) {
        let rows = self.rows.len() - from;
        if rows > 0 {
            self.env.st.uncount_examined(rows);
        }
    }

    /// The row at position `i` as a row in flight.
    #[inline]
    pub(crate) fn frame(&self, i: usize) -> Frame<'_> {
        let record = TableRow {
            rel: self.rel,
            row: self.rows.row(i),
            reader: self.reader,
            env: self.env,
            batch: Some((&self.rows, i)),
        };
        Frame { parent: self.parent, row: CurrentRow::Record(record) }
    }
}

/// Takes rows.
pub(crate) trait Sink {
    /// Takes the row in flight.
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow>;

    /// Takes a leaf's rows at once; the same as taking each. A sink that has enough before the last of them
    /// says how many it leaves: [`RowBatch::leave`].
    fn batch(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        for i in 0..batch.rows.len() {
            if self.row(&batch.frame(i))? == Flow::Enough {
                batch.leave(i + 1);
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    /// The sink as one that needs integers of a join's rows, if it is.
    fn as_ints(&mut self) -> Option<&mut dyn TakeInts> {
        None
    }

    /// The sink as one that takes records of relation `rel` where they are, if it does.
    fn as_cells(&mut self, _rel: u16) -> Option<&mut dyn TakeCells> {
        None
    }

    /// Whether the sink has something to do for which no latch may be held.
    fn wants_pause(&self) -> bool {
        false
    }

    /// Does it.
    fn pause(&mut self) -> Result<()> {
        Ok(())
    }
}

/// In an `impl Sink`: the sink pauses when the sink of the field does.
macro_rules! pause_with {
    ($($field:ident).+) => {
        fn wants_pause(&self) -> bool {
            self.$($field).+.wants_pause()
        }

        fn pause(&mut self) -> $crate::error::Result<()> {
            self.$($field).+.pause()
        }
    };
}
pub(crate) use pause_with;

/// Takes rows of one relation as cells of their leaves.
pub(crate) trait TakeCells: Sink {
    /// Takes a row. The leaf's latch is held: no I/O, no waiting.
    fn cell(&mut self, found: &FoundCell<'_>);

    /// As [`TakeCells::cell`], of a row in the older row format version `older`.
    fn older_cell(&mut self, found: &FoundCell<'_>, older: &OlderVersion);
}

/// Takes a join's pairs as integers.
pub(crate) trait TakeInts {
    /// The columns of relation `rel` that it needs: integers and dates.
    fn wanted(&self, rel: u16) -> Vec<u16>;

    /// Takes all pairs of a batch of outer rows.
    fn take(&mut self, batch: &RowBatch<'_>, runs: &IntRuns);
}

/// Produces rows; may be run again and again.
pub(crate) trait Source {
    /// Pushes all rows for the outer row `parent` into `sink`. [`Flow::Enough`] if the sink stopped it.
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow>;
}

/// A sink that is a closure and never pauses.
pub(crate) struct Collect<F>(pub(crate) F);

impl<F: FnMut(&Frame<'_>) -> Result<Flow>> Sink for Collect<F> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        (self.0)(frame)
    }
}
