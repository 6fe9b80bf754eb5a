//! The pairs of a join: its condition, and what becomes of outer rows.

use bumpalo::Bump;
use expr::Expr;
use sql::plan::JoinKind;

use crate::access::passes;
use crate::error::Result;
use crate::frame::Frame;
use crate::query_run::QueryRun;
use crate::source::{Flow, RowBatch, Sink, pause_with};

/// Takes pairs of an outer and an inner row.
pub(crate) struct PairSink<'x> {
    pub(crate) on: Option<&'x Expr>,
    pub(crate) run: &'x QueryRun<'x>,
    pub(crate) arena: Bump,
    /// A pair has passed since this was last cleared.
    pub(crate) matched: bool,
    /// Of an antijoin: pairs are not handed on, and one is enough.
    pub(crate) anti: bool,
    pub(crate) sink: &'x mut dyn Sink,
}

impl<'x> PairSink<'x> {
    pub(crate) fn new(
        kind: JoinKind,
        on: Option<&'x Expr>,
        run: &'x QueryRun<'x>,
        sink: &'x mut dyn Sink,
    ) -> Self {
        PairSink { on, run, arena: Bump::new(), matched: false, anti: kind == JoinKind::Anti, sink }
    }

    /// The effect of `flow`, the end of one outer row's pairs, on the rows after it. An antijoin's pairs end
    /// for that row alone.
    #[inline]
    pub(crate) fn after(&self, flow: Flow) -> Flow {
        if self.anti { Flow::More } else { flow }
    }
}

impl Sink for PairSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        if let Some(on) = self.on
            && !passes(on, frame, self.run, &mut self.arena)?
        {
            return Ok(Flow::More);
        }
        self.matched = true;
        if self.anti {
            return Ok(Flow::Enough);
        }
        self.sink.row(frame)
    }

    fn batch(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        if self.on.is_none() {
            self.matched = true;
            if self.anti {
                batch.leave(1);
                return Ok(Flow::Enough);
            }
            return self.sink.batch(batch);
        }
        for i in 0..batch.rows.len() {
            if self.row(&batch.frame(i))? == Flow::Enough {
                batch.leave(i + 1);
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    pause_with!(sink);
}
