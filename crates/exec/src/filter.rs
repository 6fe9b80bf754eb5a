//! Rows that satisfy a condition.

use bumpalo::Bump;
use expr::Expr;

use crate::access::passes;
use crate::error::Result;
use crate::frame::Frame;
use crate::query_run::QueryRun;
use crate::source::{Flow, Sink, Source, pause_with};

/// A running filter.
pub(crate) struct Filter<'r> {
    pub(crate) input: Box<dyn Source + 'r>,
    pub(crate) cond: &'r Expr,
    pub(crate) run: &'r QueryRun<'r>,
}

impl Source for Filter<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let mut filter = FilterSink { cond: self.cond, run: self.run, arena: Bump::new(), sink };
        self.input.run(parent, &mut filter)
    }
}

struct FilterSink<'x> {
    cond: &'x Expr,
    run: &'x QueryRun<'x>,
    arena: Bump,
    sink: &'x mut dyn Sink,
}

impl Sink for FilterSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        if passes(self.cond, frame, self.run, &mut self.arena)? {
            self.sink.row(frame)
        } else {
            Ok(Flow::More)
        }
    }

    pause_with!(sink);
}
