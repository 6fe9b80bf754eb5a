//! The first row of each combination of values.

use bumpalo::Bump;
use expr::{Expr, HashIndex};
use types::key::append_group;

use crate::error::Result;
use crate::frame::Frame;
use crate::key_runs::{KeyRuns, columns_of_one};
use crate::query_run::QueryRun;
use crate::source::{Flow, RowBatch, Sink, Source, pause_with};

/// A running DISTINCT.
pub(crate) struct Distinct<'r> {
    pub(crate) input: Box<dyn Source + 'r>,
    pub(crate) exprs: &'r [Expr],
    pub(crate) run: &'r QueryRun<'r>,
}

impl Source for Distinct<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let seen = Seen::new(self.run);
        let columns = columns_of_one(self.exprs);
        let mut distinct = DistinctSink { exprs: self.exprs, columns, seen, arena: Bump::new(), sink };
        self.input.run(parent, &mut distinct)
    }
}

/// The combinations seen so far.
pub(crate) struct Seen<'x> {
    run: &'x QueryRun<'x>,
    index: HashIndex,
    key: Vec<u8>,
}

impl<'x> Seen<'x> {
    pub(crate) fn new(run: &'x QueryRun<'x>) -> Self {
        Seen { run, index: HashIndex::new(run.st.memory), key: Vec::new() }
    }

    /// Whether the values are new.
    pub(crate) fn is_new<'e>(
        &mut self,
        exprs: impl Iterator<Item = &'e Expr>,
        frame: &Frame<'_>,
        arena: &mut Bump,
    ) -> Result<bool> {
        arena.reset();
        self.key.clear();
        let ctx = self.run.ctx(arena);
        for expr in exprs {
            let value = expr.eval(frame, &ctx).map_err(|error| self.run.st.eval_error(error))?;
            append_group(&value, &mut self.key);
        }
        self.run.st.check()?;
        self.run.st.fail_if_cut_short(&self.key)?;
        Ok(self.index.insert(&self.key)?.1)
    }
}

struct DistinctSink<'x> {
    exprs: &'x [Expr],
    /// Set if the values are columns of one relation: that, and the columns.
    columns: Option<(u16, Box<[u16]>)>,
    seen: Seen<'x>,
    arena: Bump,
    sink: &'x mut dyn Sink,
}

impl Sink for DistinctSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        if self.seen.is_new(self.exprs.iter(), frame, &mut self.arena)? {
            self.sink.row(frame)
        } else {
            Ok(Flow::More)
        }
    }

    /// Of neighbours that the key of their index says to be alike, the first one decides.
    fn batch(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        let runs = KeyRuns::of_columns(self.columns.as_ref(), batch);
        let mut at = 0;
        while at < batch.rows.len() {
            let to = runs.as_ref().map_or(at + 1, |runs| runs.end(&batch.rows, at));
            if self.row(&batch.frame(at))? == Flow::Enough {
                batch.leave(at + 1);
                return Ok(Flow::Enough);
            }
            at = to;
        }
        Ok(Flow::More)
    }

    pause_with!(sink);
}
