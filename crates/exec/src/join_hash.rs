//! Equality joins without an index: the inner side is read once into a hash table.

use std::rc::Rc;

use base::memory::{ChargedVec, Purpose, StatementAccount};
use bumpalo::Bump;
use expr::{CmpDomain, Expr, HashIndex, Number, append_group_key, double, eval, moment_of};
use sql::plan::JoinKind;
use types::temporal::DateFlags;
use types::{DateTime, Time, Value};

use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::join_nested::PairSink;
use crate::keep::keep_frame;
use crate::kept_rows::KeptRows;
use crate::op::HashJoinOp;
use crate::operators::source_of;
use crate::source::{Collect, Flow, Sink, Source, pause_with};
use crate::statement::QueryRun;
use crate::temp_row::{Layout, TempRow};

/// Ends a chain of rows.
const NO_ROW: u32 = u32::MAX;

/// A running hash join.
pub(crate) struct HashJoin<'r> {
    op: &'r HashJoinOp,
    outer: Box<dyn Source + 'r>,
    inner: Box<dyn Source + 'r>,
    run: &'r QueryRun<'r>,
    built: Option<Rc<BuildSide>>,
}

/// The inner rows, found by key.
#[derive(Debug)]
pub(crate) struct BuildSide {
    index: HashIndex,
    rows: KeptRows,
    /// First and last row of each key, and each row's next of the same key.
    chains: ChargedVec<(u32, u32)>,
    next: ChargedVec<u32>,
}

impl<'r> HashJoin<'r> {
    pub(crate) fn new(op: &'r HashJoinOp, run: &'r QueryRun<'r>) -> Self {
        HashJoin { op, outer: source_of(&op.outer, run), inner: source_of(&op.inner, run), run, built: None }
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
                    side.add(&key, &op.layout, frame)?;
                }
                run.st.check()?;
                Ok(Flow::More)
            }),
        )?;
        Ok(side)
    }
}

impl BuildSide {
    fn new(account: &Rc<StatementAccount>) -> Self {
        BuildSide {
            index: HashIndex::new(account),
            rows: KeptRows::new(account),
            chains: ChargedVec::new(account, Purpose::Other),
            next: ChargedVec::new(account, Purpose::Other),
        }
    }

    /// Adds the row in flight.
    fn add(&mut self, key: &[u8], layout: &Layout, frame: &Frame<'_>) -> Result<()> {
        self.rows.add(|out| {
            keep_frame(layout, frame, out);
            Ok(())
        })?;
        let row = self.next.len() as u32;
        self.next.push(NO_ROW)?;
        let (number, is_new) = self.index.insert(key)?;
        if is_new {
            self.chains.push((row, row))?;
        } else {
            let chain = &mut self.chains[number];
            self.next[chain.1 as usize] = row;
            chain.1 = row;
        }
        Ok(())
    }

    fn first(&self, key: &[u8]) -> u32 {
        self.index.find(key).map_or(NO_ROW, |number| self.chains[number].0)
    }
}

impl Source for HashJoin<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        if self.built.is_none() {
            let (op, st) = (self.op, self.run.st);
            self.built = Some(if op.kept {
                st.rare().builds.get_or_make(op, || self.build())?
            } else {
                Rc::new(self.build()?)
            });
        }
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
        let value = eval(expr, frame, &ctx).map_err(|error| run.st.eval_error(error))?;
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

/// Appends bytes that are equal for values that compare as equal in `domain`.
pub(crate) fn append_domain_key(value: &Value<'_>, domain: CmpDomain, run: &QueryRun<'_>, key: &mut Vec<u8>) {
    let converted = match domain {
        CmpDomain::Integer => match *value {
            Value::Int(_) | Value::UInt(_) => *value,
            _ if value.is_unsigned_integer() => Value::UInt(value.to_u64().value),
            _ => Value::Int(value.to_i64().value),
        },
        CmpDomain::Decimal => Value::Decimal(value.to_decimal().value),
        CmpDomain::Double => Value::Double(value.to_f64().value),
        CmpDomain::Number => Number::of(value, &run.ctx(&Bump::new())).to_value(),
        CmpDomain::DateTime => {
            let read = moment_of(value, DateFlags::default(), &run.ctx(&Bump::new()));
            Value::DateTime(read.map_or(DateTime::ZERO, |r| r.value), 6)
        }
        CmpDomain::Time => Value::Time(value.to_time().map_or(Time::ZERO, |r| r.value), 6),
        CmpDomain::String(collation) => {
            let mut scratch = Vec::new();
            let data = value.as_text(&mut scratch);
            append_group_key(&Value::Bytes { data, collation }, key);
            return;
        }
    };
    append_group_key(&converted, key);
}
