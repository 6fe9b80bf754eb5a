//! Nested loops: the inner side runs once for each outer row, its keys made of outer columns.

use expr::Expr;
use sql::plan::JoinKind;

use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::join_lookup::IndexLookup;
use crate::pair_sink::PairSink;
use crate::query_run::QueryRun;
use crate::source::{Flow, RowBatch, Sink, Source, pause_with};

/// A running nested loop join.
pub(crate) struct NestedLoopJoin<'r> {
    pub(crate) kind: JoinKind,
    pub(crate) outer: Box<dyn Source + 'r>,
    pub(crate) inner: Box<dyn Source + 'r>,
    pub(crate) on: Option<&'r Expr>,
    pub(crate) inner_rels: &'r [u16],
    /// The inner side a batch of outer rows at a time, where that is possible.
    pub(crate) lookup: Option<IndexLookup<'r>>,
    pub(crate) run: &'r QueryRun<'r>,
}

impl Source for NestedLoopJoin<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let mut outer = OuterSink {
            kind: self.kind,
            inner: &mut *self.inner,
            inner_rels: self.inner_rels,
            lookup: self.lookup.as_mut(),
            pairs: PairSink::new(self.kind, self.on, self.run, sink),
        };
        self.outer.run(parent, &mut outer)
    }
}

/// Takes outer rows.
struct OuterSink<'x, 'r> {
    kind: JoinKind,
    inner: &'x mut (dyn Source + 'r),
    inner_rels: &'x [u16],
    lookup: Option<&'x mut IndexLookup<'r>>,
    pairs: PairSink<'x>,
}

impl Sink for OuterSink<'_, '_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        self.pairs.run.st.step()?;
        self.pairs.matched = false;
        let flow = self.inner.run(Some(frame), &mut self.pairs)?;
        if self.pairs.after(flow) == Flow::Enough {
            return Ok(Flow::Enough);
        }
        if self.kind != JoinKind::Inner && !self.pairs.matched {
            let row = CurrentRow::Nulls(self.inner_rels);
            return self.pairs.sink.row(&Frame { parent: Some(frame), row });
        }
        Ok(Flow::More)
    }

    fn batch(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        if let Some(lookup) = &mut self.lookup
            && lookup.begin(batch)?
        {
            let unmatched = (self.kind != JoinKind::Inner).then_some(self.inner_rels);
            return lookup.run(batch, unmatched, &mut self.pairs);
        }
        for i in 0..batch.rows.len() {
            if self.row(&batch.frame(i))? == Flow::Enough {
                batch.leave(i + 1);
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    pause_with!(pairs.sink);
}
