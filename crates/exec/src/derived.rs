//! Derived tables: streamed where they are read once, kept where they are read again.

use bumpalo::Bump;

use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::keep::keep_outputs;
use crate::op::DerivedOp;
use crate::query::QueryProgram;
use crate::source::{Collect, Flow, Sink, Source};
use crate::statement::QueryRun;
use crate::temp_row::{Layout, TempRow};

/// A running derived table.
pub(crate) struct Derived<'r> {
    op: &'r DerivedOp,
    run: &'r QueryRun<'r>,
    kept: Option<KeptRows>,
}

/// Rows one after the other, and where each ends.
#[derive(Debug, Default)]
pub(crate) struct KeptRows {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Vec<usize>,
}

impl KeptRows {
    /// The row at position `i`.
    #[inline]
    pub(crate) fn row(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    /// Pushes all rows into `sink`.
    pub(crate) fn give(
        &self,
        layout: &Layout,
        run: &QueryRun<'_>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        for i in 0..self.ends.len() {
            let row = TempRow { layout, bytes: self.row(i), zone: run.st.zone };
            if sink.row(&Frame { parent, row: CurrentRow::Temp(row) })? == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }
}

impl<'r> Derived<'r> {
    pub(crate) fn new(op: &'r DerivedOp, run: &'r QueryRun<'r>) -> Self {
        Derived { op, run, kept: None }
    }

    fn keep(&self) -> Result<KeptRows> {
        let mut rows = KeptRows::default();
        let (op, st) = (self.op, self.run.st);
        let inner = QueryRun::new(st, self.run.params, &op.query);
        let mut arena = Bump::new();
        inner.rows(&mut Collect(|frame: &Frame<'_>| {
            let before = rows.bytes.len();
            keep_outputs(&op.layout, op.query.exprs.iter(), frame, &inner, &mut arena, &mut rows.bytes)?;
            st.hold_memory(rows.bytes.len() - before + 8)?;
            rows.ends.push(rows.bytes.len());
            Ok(Flow::More)
        }))?;
        Ok(rows)
    }
}

impl Source for Derived<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        if !self.op.repeated {
            let inner = QueryRun::new(self.run.st, self.run.params, &self.op.query);
            let mut stream = Stream::new(&inner, &self.op.query, &self.op.layout, parent, sink);
            return inner.rows(&mut stream);
        }
        if self.kept.is_none() {
            self.kept = Some(self.keep()?);
        }
        let Some(kept) = &self.kept else { return Ok(Flow::More) };
        kept.give(&self.op.layout, self.run, parent, sink)
    }
}

/// Turns the rows of a query into rows of a relation.
pub(crate) struct Stream<'x> {
    run: &'x QueryRun<'x>,
    query: &'x QueryProgram,
    layout: &'x Layout,
    parent: Option<&'x Frame<'x>>,
    arena: Bump,
    row: Vec<u8>,
    sink: &'x mut dyn Sink,
}

impl<'x> Stream<'x> {
    pub(crate) fn new(
        run: &'x QueryRun<'x>,
        query: &'x QueryProgram,
        layout: &'x Layout,
        parent: Option<&'x Frame<'x>>,
        sink: &'x mut dyn Sink,
    ) -> Self {
        Stream { run, query, layout, parent, arena: Bump::new(), row: Vec::new(), sink }
    }
}

impl Sink for Stream<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        self.row.clear();
        let outputs = self.query.exprs.iter();
        keep_outputs(self.layout, outputs, frame, self.run, &mut self.arena, &mut self.row)?;
        let row = TempRow { layout: self.layout, bytes: &self.row, zone: self.run.st.zone };
        self.sink.row(&Frame { parent: self.parent, row: CurrentRow::Temp(row) })
    }

    fn wants_pause(&self) -> bool {
        self.sink.wants_pause()
    }

    fn pause(&mut self) -> Result<()> {
        self.sink.pause()
    }
}
