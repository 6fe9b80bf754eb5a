//! UNION: the arms one after the other, without duplicates among the arms up to the last UNION DISTINCT.

use crate::derived::Stream;
use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::op::UnionOp;
use crate::query_run::QueryRun;
use crate::source::{Flow, Sink, Source, pause_with};
use crate::statement::Statement;
use expr::HashIndex;
use types::key::append_group;

/// A running UNION.
pub(crate) struct Union<'r> {
    pub(crate) op: &'r UnionOp,
    pub(crate) run: &'r QueryRun<'r>,
}

impl Source for Union<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let st = self.run.st;
        let mut unique = UniqueSink { st, index: HashIndex::new(st.memory), key: Vec::new(), sink };
        for (i, arm) in self.op.arms.iter().enumerate() {
            let inner = QueryRun::new(st, self.run.params, arm);
            let is_distinct = self.op.distinct_after.is_some_and(|last| i <= last);
            let sink: &mut dyn Sink = if is_distinct { &mut unique } else { &mut *unique.sink };
            let mut stream = Stream::new(&inner, arm, &self.op.layout, parent, sink);
            if inner.rows(&mut stream)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            // A single arm is VALUES, whose one row of SLEEP() is no error.
            if self.op.arms.len() > 1 {
                st.fail_if_killed()?;
            }
        }
        Ok(Flow::More)
    }
}

/// Lets the first of equal rows through.
struct UniqueSink<'x> {
    st: &'x Statement<'x>,
    index: HashIndex,
    key: Vec<u8>,
    sink: &'x mut dyn Sink,
}

impl Sink for UniqueSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        self.key.clear();
        if let CurrentRow::Temp(row) = &frame.row {
            for &(rel, col) in &row.layout.sources {
                append_group(&row.value(rel, col), &mut self.key);
            }
        }
        self.st.fail_if_cut_short(&self.key)?;
        let (_, is_new) = self.index.insert(&self.key)?;
        if is_new { self.sink.row(frame) } else { Ok(Flow::More) }
    }

    pause_with!(sink);
}
