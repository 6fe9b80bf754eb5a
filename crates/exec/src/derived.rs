//! Derived tables: streamed where they are read once, kept where they are read again.

use std::rc::Rc;

use base::memory::ByteStore;
use bumpalo::Bump;

use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::give_rows::give_rows;
use crate::keep::keep_outputs;
use crate::kept_rows::KeptRows;
use crate::op::DerivedOp;
use crate::query::QueryProgram;
use crate::query_run::QueryRun;
use crate::source::{Collect, Flow, Sink, Source, pause_with};
use crate::temp_row::{Layout, TempRow};

/// A running derived table.
pub(crate) struct Derived<'r> {
    op: &'r DerivedOp,
    run: &'r QueryRun<'r>,
    kept: Option<Rc<KeptRows>>,
}

impl<'r> Derived<'r> {
    pub(crate) fn new(op: &'r DerivedOp, run: &'r QueryRun<'r>) -> Self {
        Derived { op, run, kept: None }
    }

    fn keep(&self) -> Result<KeptRows> {
        let (op, st) = (self.op, self.run.st);
        let mut rows = KeptRows::new(st.memory);
        let inner = QueryRun::new(st, self.run.params, &op.query);
        let mut arena = Bump::new();
        inner.rows(&mut Collect(|frame: &Frame<'_>| {
            let outputs = op.query.exprs();
            rows.add(|out| keep_outputs(&op.layout, outputs, frame, &inner, &mut arena, out))?;
            Ok(Flow::More)
        }))?;
        Ok(rows)
    }
}

impl Source for Derived<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        if !self.op.repeated {
            let inner = QueryRun::new(self.run.st, self.run.params, &self.op.query);
            let mut stream = Stream::new(&inner, &self.op.query, &self.op.layout, parent, sink);
            return inner.rows(&mut stream);
        }
        if self.kept.is_none() {
            let (op, st) = (self.op, self.run.st);
            self.kept = Some(if op.kept {
                st.rare().kept.get_or_make(op, || self.keep())?
            } else {
                Rc::new(self.keep()?)
            });
        }
        let Some(kept) = &self.kept else { return Ok(Flow::More) };
        give_rows(kept, &self.op.layout, self.run.st, parent, sink)
    }
}

/// Turns the rows of a query into rows of a relation.
pub(crate) struct Stream<'x> {
    run: &'x QueryRun<'x>,
    query: &'x QueryProgram,
    layout: &'x Layout,
    parent: Option<&'x Frame<'x>>,
    arena: Bump,
    row: ByteStore,
    sink: &'x mut dyn Sink,
}

impl<'x> Stream<'x> {
    pub(crate) fn new(
        run: &'x QueryRun<'x>,
        query: &'x QueryProgram,
        layout: &'x Layout,
        parent: Option<&'x Frame<'x>>,
        sink: &'x mut dyn Sink,
    ) -> Self {
        Stream { run, query, layout, parent, arena: Bump::new(), row: run.st.row_store(), sink }
    }
}

impl Sink for Stream<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        self.row.clear();
        let outputs = self.query.exprs();
        keep_outputs(self.layout, outputs, frame, self.run, &mut self.arena, &mut self.row)?;
        let place = self.row.end()?;
        let bytes = self.row.get(place);
        let row = TempRow { layout: self.layout, bytes, zone: self.run.st.zone };
        self.sink.row(&Frame { parent: self.parent, row: CurrentRow::Temp(row) })
    }

    pause_with!(sink);
}
