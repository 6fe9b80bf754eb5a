//! Rows of a table that runs of a correlated subquery look up in a hash table which they share, once enough
//! of them have read the table.

use std::cell::Cell;

use crate::error::{ExecError, Result};
use crate::frame::Frame;
use crate::join_hash::HashJoin;
use crate::op::{HashLookupOp, Op};
use crate::query_run::QueryRun;
use crate::source::{Flow, Sink, Source};

/// A running lookup.
pub(crate) struct HashLookup<'r> {
    pub(crate) op: &'r HashLookupOp,
    pub(crate) run: &'r QueryRun<'r>,
    /// Makes a running operator.
    pub(crate) open: for<'o> fn(&'o Op, &'o QueryRun<'o>) -> Box<dyn Source + 'o>,
}

impl Source for HashLookup<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let (op, run, open) = (self.op, self.run, self.open);
        let read = run.st.rare().read_before_hash.get_or_make(op, || Ok(Cell::new(Some(0))))?;
        if read.get().is_some_and(|read| read >= op.after) {
            let sides = (open(&op.hashed.outer, run), open(&op.hashed.inner, run));
            let mut join = HashJoin::new(&op.hashed, sides, run);
            match join.prepare() {
                Ok(()) => return join.run(parent, sink),
                Err(ExecError::Memory(_)) => read.set(None),
                Err(error) => return Err(error),
            }
        }
        let before = run.st.examined();
        let flow = open(&op.each, run).run(parent, sink)?;
        let examined = run.st.examined().saturating_sub(before);
        read.set(read.get().map(|sum| sum + examined));
        Ok(flow)
    }
}
