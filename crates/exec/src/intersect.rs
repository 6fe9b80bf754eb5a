//! Rows that two accesses of a table find: clustered keys of the second one are gathered, then the first one
//! runs.

use expr::HashIndex;

use crate::access::TableAccess;
use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::op::IntersectOp;
use crate::query_run::QueryRun;
use crate::source::{Flow, RowBatch, Sink, Source, pause_with};

/// A running intersection.
pub(crate) struct Intersect<'r> {
    op: &'r IntersectOp,
    first: TableAccess<'r>,
    second: TableAccess<'r>,
    run: &'r QueryRun<'r>,
}

impl<'r> Intersect<'r> {
    pub(crate) fn new(op: &'r IntersectOp, run: &'r QueryRun<'r>) -> Self {
        let (first, second) = (TableAccess::new(&op.first, run), TableAccess::new(&op.second, run));
        Intersect { op, first, second, run }
    }
}

impl Source for Intersect<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let mut gather = Gather { keys: HashIndex::new(self.run.st.memory), key: Vec::new() };
        self.second.run(parent, &mut gather)?;
        let Gather { keys, key } = gather;
        if keys.is_empty() {
            return Ok(Flow::More);
        }
        if self.op.first.tests_entries {
            self.first.restrict_to_keys(keys);
            return self.first.run(parent, sink);
        }
        self.first.run(parent, &mut OfKeys { keys: &keys, key, sink })
    }
}

/// Takes entries for the clustered keys in them.
struct Gather {
    keys: HashIndex,
    key: Vec<u8>,
}

impl Sink for Gather {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        if let CurrentRow::Record(record) = &frame.row {
            self.key.clear();
            record.clustered_key(&mut self.key);
            self.keys.insert(&self.key)?;
        }
        Ok(Flow::More)
    }

    fn batch(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        for row in batch.rows.rows() {
            self.key.clear();
            batch.reader.clustered_key(&row, &mut self.key);
            self.keys.insert(&self.key)?;
        }
        Ok(Flow::More)
    }
}

/// Hands on entries whose clustered keys are among `keys`.
struct OfKeys<'x> {
    keys: &'x HashIndex,
    key: Vec<u8>,
    sink: &'x mut dyn Sink,
}

impl Sink for OfKeys<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let CurrentRow::Record(record) = &frame.row else { return Ok(Flow::More) };
        self.key.clear();
        record.clustered_key(&mut self.key);
        if self.keys.find(&self.key).is_some() { self.sink.row(frame) } else { Ok(Flow::More) }
    }

    pause_with!(sink);
}
