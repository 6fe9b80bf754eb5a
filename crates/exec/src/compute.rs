//! Values that a row has once, whatever reads them.

use base::memory::ByteStore;
use bumpalo::Bump;

use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::keep::keep_outputs;
use crate::op::ComputeOp;
use crate::query_run::QueryRun;
use crate::source::{Flow, Sink, Source, pause_with};
use crate::temp_row::TempRow;

/// A running computation.
pub(crate) struct Compute<'r> {
    pub(crate) op: &'r ComputeOp,
    pub(crate) input: Box<dyn Source + 'r>,
    pub(crate) run: &'r QueryRun<'r>,
}

impl Source for Compute<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let row = self.run.st.row_store();
        let mut compute = ComputeSink { op: self.op, run: self.run, arena: Bump::new(), row, sink };
        self.input.run(parent, &mut compute)
    }
}

struct ComputeSink<'x> {
    op: &'x ComputeOp,
    run: &'x QueryRun<'x>,
    arena: Bump,
    row: ByteStore,
    sink: &'x mut dyn Sink,
}

impl Sink for ComputeSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let layout = &self.op.layout;
        self.row.clear();
        keep_outputs(layout, self.op.exprs.iter(), frame, self.run, &mut self.arena, &mut self.row)?;
        let place = self.row.end()?;
        let bytes = self.row.get(place);
        let row = TempRow { layout, bytes, zone: self.run.st.zone };
        self.sink.row(&Frame { parent: Some(frame), row: CurrentRow::Temp(row) })
    }

    pause_with!(sink);
}
