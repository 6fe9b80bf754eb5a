//! Tables whose rows the session makes: asked for when a run of the operator first needs them, and kept for
//! the next ones.

use crate::error::Result;
use crate::frame::Frame;
use crate::give_rows::give_rows;
use crate::kept_rows::KeptRows;
use crate::op::VirtualOp;
use crate::query_run::QueryRun;
use crate::source::{Flow, Sink, Source};
use crate::temp_row::RowWriter;

/// A running virtual table.
pub(crate) struct VirtualTable<'r> {
    op: &'r VirtualOp,
    run: &'r QueryRun<'r>,
    kept: Option<KeptRows>,
}

impl<'r> VirtualTable<'r> {
    pub(crate) fn new(op: &'r VirtualOp, run: &'r QueryRun<'r>) -> Self {
        VirtualTable { op, run, kept: None }
    }

    fn rows(&self) -> Result<KeptRows> {
        let st = self.run.st;
        let mut rows = KeptRows::new(st.memory);
        for row in st.session.virtual_rows(&self.op.def).map_err(|error| st.eval_error(error))? {
            st.step()?;
            rows.add(|out| {
                let mut writer = RowWriter::new(out, self.op.layout.cells.len());
                for value in &row {
                    writer.put_value(&value.as_value());
                }
                Ok(())
            })?;
        }
        Ok(rows)
    }
}

impl Source for VirtualTable<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        if self.kept.is_none() {
            self.kept = Some(self.rows()?);
        }
        let Some(kept) = &self.kept else { return Ok(Flow::More) };
        give_rows(kept, &self.op.layout, self.run.st, parent, sink)
    }
}
