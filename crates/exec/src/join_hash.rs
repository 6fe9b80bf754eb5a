//! Equality joins without an index: the inner side is read once into a hash table.

use std::rc::Rc;

use bumpalo::Bump;
use expr::{CmpDomain, Expr, double};
use sql::plan::JoinKind;
use types::Value;

use crate::build_side::{BuildSide, NO_ROW};
use crate::domain_key::append_domain_key;
use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::keep::keep_frame;
use crate::op::HashJoinOp;
use crate::pair_sink::PairSink;
use crate::query_run::QueryRun;
use crate::source::{Collect, Flow, Sink, Source, pause_with};
use crate::temp_row::TempRow;

/// A running hash join.
pub(crate) struct HashJoin<'r> {
    op: &'r HashJoinOp,
    outer: Box<dyn Source + 'r>,
    inner: Box<dyn Source + 'r>,
    run: &'r QueryRun<'r>,
    built: Option<Rc<BuildSide>>,
}

impl<'r> HashJoin<'r> {
    /// A join of the rows of two sources.
    pub(crate) fn new(
        op: &'r HashJoinOp,
        (outer, inner): (Box<dyn Source + 'r>, Box<dyn Source + 'r>),
        run: &'r QueryRun<'r>,
    ) -> Self {
        HashJoin { op, outer, inner, run, built: None }
    }

    /// Reads the inner side, unless that is done.
    pub(crate) fn prepare(&mut self) -> Result<()> {
        if self.built.is_none() {
            let (op, st) = (self.op, self.run.st);
            self.built = Some(if op.kept {
                st.rare().builds.get_or_make(op, || self.build())?
            } else {
                Rc::new(self.build()?)
            });
        }
        Ok(())
    }

    fn build(&mut self) -> Result<BuildSide> {
        let (op, run) = (self.op, self.run);
        let mut side = BuildSide::new(run.st.memory);
        let (mut key, mut arena) = (Vec::new(), Bump::new());
        self.inner.run(
            None,
            &mut Collect(|frame: &Frame<'_>| {
                let exprs = op.keys.iter().map(|(_, inner, domain)| (inner, *domain));
                if join_key(exprs, frame, run, &mut arena, &mut key)? {
                    side.add(&key, |out| keep_frame(&op.layout, frame, out))?;
                }
                run.st.check()?;
                Ok(Flow::More)
            }),
        )?;
        Ok(side)
    }
}

impl Source for HashJoin<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        self.prepare()?;
        let Some(side) = &self.built else { return Ok(Flow::More) };
        let pairs = PairSink::new(self.op.kind, self.op.on.as_ref(), self.run, sink);
        let mut probe =
            ProbeSink { op: self.op, run: self.run, side, key: Vec::new(), arena: Bump::new(), pairs };
        self.outer.run(parent, &mut probe)
    }
}

/// Takes outer rows.
struct ProbeSink<'x> {
    op: &'x HashJoinOp,
    run: &'x QueryRun<'x>,
    side: &'x BuildSide,
    key: Vec<u8>,
    arena: Bump,
    pairs: PairSink<'x>,
}

impl Sink for ProbeSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let (op, side) = (self.op, self.side);
        let exprs = op.keys.iter().map(|(outer, _, domain)| (outer, *domain));
        let comparable = join_key(exprs, frame, self.run, &mut self.arena, &mut self.key)?;
        let mut at = if comparable { side.first(&self.key) } else { NO_ROW };
        self.pairs.matched = false;
        while at != NO_ROW {
            self.run.st.step()?;
            let row =
                TempRow { layout: &op.layout, bytes: side.rows.row(at as usize), zone: self.run.st.zone };
            let pair = Frame { parent: Some(frame), row: CurrentRow::Temp(row) };
            if self.pairs.row(&pair)? == Flow::Enough {
                if self.pairs.anti {
                    break;
                }
                return Ok(Flow::Enough);
            }
            if self.pairs.wants_pause() {
                self.pairs.pause()?;
                self.run.st.fail_if_killed()?;
            }
            at = side.next[at as usize];
        }
        if op.kind != JoinKind::Inner && !self.pairs.matched {
            let row = CurrentRow::Nulls(&op.inner_rels);
            return self.pairs.sink.row(&Frame { parent: Some(frame), row });
        }
        Ok(Flow::More)
    }

    pause_with!(pairs);
}

/// Fills `key` with bytes that are equal where all values are; false if one of them is NULL.
fn join_key<'e>(
    exprs: impl Iterator<Item = (&'e Expr, CmpDomain)>,
    frame: &Frame<'_>,
    run: &QueryRun<'_>,
    arena: &mut Bump,
    key: &mut Vec<u8>,
) -> Result<bool> {
    arena.reset();
    key.clear();
    let ctx = run.ctx(arena);
    for (expr, domain) in exprs {
        let value = expr.eval(frame, &ctx).map_err(|error| run.st.eval_error(error))?;
        if value.is_null() {
            return Ok(false);
        }
        if domain == CmpDomain::Double && value.is_textual() {
            append_domain_key(&Value::Double(double(&value, &ctx)), domain, run, key);
        } else {
            append_domain_key(&value, domain, run, key);
        }
    }
    run.st.check()?;
    Ok(true)
}
