//! A window of the rows.

use bumpalo::Bump;
use expr::Expr;

use crate::error::Result;
use crate::frame::Frame;
use crate::query_run::QueryRun;
use crate::source::{Flow, RowBatch, Sink, Source, pause_with};

/// A running LIMIT.
pub(crate) struct Limit<'r> {
    pub(crate) input: Box<dyn Source + 'r>,
    pub(crate) offset: Option<&'r Expr>,
    pub(crate) count: Option<&'r Expr>,
    /// Count the rows after the window as well (SQL_CALC_FOUND_ROWS).
    pub(crate) count_all: bool,
    pub(crate) run: &'r QueryRun<'r>,
}

impl Source for Limit<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let from = number(self.offset, self.run)?.unwrap_or(0);
        let count = number(self.count, self.run)?.unwrap_or(u64::MAX);
        if count == 0 && !self.count_all {
            return Ok(Flow::More);
        }
        let to = from.saturating_add(count);
        let mut window = WindowSink { seen: 0, from, to, count_all: self.count_all, stopped: false, sink };
        self.input.run(parent, &mut window)?;
        if self.count_all {
            self.run.found_rows.set(Some(window.seen));
        }
        Ok(if window.stopped { Flow::Enough } else { Flow::More })
    }
}

/// The row count in a LIMIT clause.
pub(crate) fn number(expr: Option<&Expr>, run: &QueryRun<'_>) -> Result<Option<u64>> {
    let Some(expr) = expr else { return Ok(None) };
    let arena = Bump::new();
    let ctx = run.ctx(&arena);
    let value = expr.eval(&(), &ctx).map_err(|error| run.st.eval_error(error))?;
    Ok(Some(value.to_u64().value))
}

struct WindowSink<'x> {
    seen: u64,
    from: u64,
    to: u64,
    count_all: bool,
    /// The next sink wants no more rows.
    stopped: bool,
    sink: &'x mut dyn Sink,
}

impl Sink for WindowSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let position = self.seen;
        self.seen += 1;
        if (self.from..self.to).contains(&position) && !self.stopped {
            self.stopped = self.sink.row(frame)? == Flow::Enough;
        }
        let enough = self.stopped || self.seen >= self.to;
        Ok(if enough && !self.count_all { Flow::Enough } else { Flow::More })
    }

    fn batch(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        let (start, len) = (self.seen, batch.rows.len());
        self.seen += len as u64;
        let position = |at: u64| at.saturating_sub(start).min(len as u64) as usize;
        let wanted = position(self.from)..position(self.to);
        let end = wanted.end;
        if !wanted.is_empty() && !self.stopped {
            let batch = if wanted.len() == len { *batch } else { batch.slice(wanted) };
            self.stopped = self.sink.batch(&batch)? == Flow::Enough;
        }
        if (self.stopped || self.seen >= self.to) && !self.count_all {
            batch.leave(end);
            return Ok(Flow::Enough);
        }
        Ok(Flow::More)
    }

    pause_with!(sink);
}
