//! Index lookups on the inner side of a nested loop, a batch of outer rows at a time.
//!
//! The outer rows are copies, so the inner leaf stays latched from one key to the next ([`LeafProber`]).
//! Pairs are passed on as batches beside one fixed row: where a key has one row at most, all successive outer
//! rows with the key beside that row; elsewhere the inner rows of a key beside one outer row.
//! Both are the order of a nested loop.
//!
//! The loop itself ([`crate::join_nested`]), which runs the inner access for one outer row after the other,
//! is the fallback, and the oracle of the tests.

use std::cell::OnceCell;
use std::ops::Range;

use bumpalo::Bump;
use engine::{Batch, LeafProber, RowRef};
use expr::Expr;

use crate::access::RowPush;
use crate::error::Result;
use crate::frame::{CurrentRow, Frame, TableRow};
use crate::join_ints::IntRuns;
use crate::join_key::{BatchKeys, INT_KEY_BYTES_MAX, JoinKey};
use crate::op::{AccessOp, Op, PathOp};
use crate::pair_sink::PairSink;
use crate::query_run::QueryRun;
use crate::reader::{RowEnv, TableReader};
use crate::source::{Flow, RowBatch, Sink, TakeInts};
use crate::table_filter::BoundTest;

/// A running lookup.
pub(crate) struct IndexLookup<'r> {
    op: &'r AccessOp,
    exprs: &'r [Expr],
    run: &'r QueryRun<'r>,
    /// A key has one row at most.
    single: bool,
    prober: Option<LeafProber<'r>>,
    /// Whether rows may come in older row format versions.
    is_versioned: bool,
    /// Of the relation whose batch came last, and [`TableReader::older`] of its reader; `None` if its rows'
    /// keys are not made of bytes.
    key: Option<(u16, Option<usize>, Option<JoinKey>)>,
    keys: BatchKeys,
    /// Integers of inner rows, made with the first batch; `None` if the sink needs more than those.
    ints: OnceCell<Option<IntRuns>>,
    /// The part of the filter that is decided on page bytes.
    tests: Option<Box<[BoundTest]>>,
    /// Home of decoded columns; emptied between keys.
    arena: Bump,
    filter_arena: Bump,
}

impl<'r> IndexLookup<'r> {
    /// The lookups of `inner`; `None` if that is not all that it does, or if other pages are read while its
    /// rows are processed.
    pub(crate) fn new(inner: &'r Op, run: &'r QueryRun<'r>) -> Option<Self> {
        let Op::Access(op) = inner else { return None };
        let exprs = match &op.path {
            PathOp::Point { key } => &key[..],
            PathOp::Range { eq, null_safe, lower: None, upper: None, reverse: false }
                if !null_safe.contains(&true) =>
            {
                &eq[..]
            }
            _ => return None,
        };
        let is_mixed = op.index != 0 && run.st.view.is_mixed();
        if op.detached || op.row_reader.is_some() || is_mixed || run.st.locks(op.row_use).is_some() {
            return None;
        }
        Some(IndexLookup {
            op,
            exprs,
            run,
            single: op.whole_clustered_key && matches!(op.path, PathOp::Point { .. }),
            prober: None,
            is_versioned: op.is_versioned(),
            key: None,
            keys: BatchKeys::default(),
            ints: OnceCell::new(),
            tests: op
                .filter
                .as_ref()
                .and_then(|filter| filter.bind(run.st.memory, &(), &run.ctx(&Bump::new()))),
            arena: Bump::new(),
            filter_arena: Bump::new(),
        })
    }

    /// Makes the keys of the batch's rows; false if that takes values.
    pub(crate) fn begin(&mut self, batch: &RowBatch<'_>) -> Result<bool> {
        let (op, exprs) = (self.op, self.exprs);
        let is_of =
            |(rel, older, _): &(u16, Option<usize>, _)| *rel == batch.rel && *older == batch.reader.older;
        if !self.key.as_ref().is_some_and(is_of) {
            let key = JoinKey::new(batch.rel, batch.reader, exprs, &op.key);
            self.key = Some((batch.rel, batch.reader.older, key));
        }
        let Some((_, _, Some(key))) = &self.key else { return Ok(false) };
        key.make(batch, exprs, &op.key, self.run, &mut self.keys)?;
        Ok(true)
    }

    /// Pushes the pairs of the batch's rows, whose keys were made, into `pairs`; rows without a partner with
    /// NULLs for the relations `unmatched`, if there are any.
    pub(crate) fn run(
        &mut self,
        batch: &RowBatch<'_>,
        unmatched: Option<&[u16]>,
        pairs: &mut PairSink<'_>,
    ) -> Result<Flow> {
        let st = self.run.st;
        st.fail_if_killed()?;
        let mut prober = if let Some(prober) = self.prober.take() {
            prober
        } else {
            let prober = LeafProber::new(st.engine, &self.op.table, self.op.index, st.view)?;
            if self.is_versioned { prober.versioned() } else { prober }
        };
        let flow = match (self.single, self.is_versioned) {
            (true, false) => self.run_single::<false>(&mut prober, batch, unmatched, pairs),
            (true, true) => self.run_single::<true>(&mut prober, batch, unmatched, pairs),
            (false, false) => self.run_several::<false>(&mut prober, batch, unmatched, pairs),
            (false, true) => self.run_several::<true>(&mut prober, batch, unmatched, pairs),
        };
        // The next outer leaf is about to be latched.
        prober.release();
        self.prober = Some(prober);
        flow
    }

    /// Keys with one row at most.
    fn run_single<const VERSIONED: bool>(
        &mut self,
        prober: &mut LeafProber<'r>,
        batch: &RowBatch<'_>,
        unmatched: Option<&[u16]>,
        pairs: &mut PairSink<'_>,
    ) -> Result<Flow> {
        if self.takes_ints(pairs)
            && let Some(sink) = pairs.sink.as_ints()
        {
            return self.run_ints::<VERSIONED>(prober, batch, unmatched, sink).map(|()| Flow::More);
        }
        let (op, rows, mut at) = (self.op, batch.rows.len(), 0);
        let is_tested = op.filter.is_some() || pairs.on.is_some() || pairs.anti;
        let mut examined = 0;
        while at < rows {
            let same = at..self.keys.run_end(at);
            at = same.end;
            let found = match self.keys.get(same.start, &mut [0; INT_KEY_BYTES_MAX]) {
                Some(key) => find::<VERSIONED>(prober, key, &op.reader)?,
                None => None,
            };
            examined += usize::from(found.is_some());
            let flow = match found {
                None => push_unmatched(batch, same, unmatched, pairs)?,
                Some(found) if is_tested => self.push_tested(found, batch, same, unmatched, pairs)?,
                Some((row, reader)) => {
                    self.arena.reset();
                    let env = RowEnv { st: self.run.st, arena: &self.arena };
                    let row = TableRow { rel: op.rel, row, reader, env, batch: None };
                    push_with(&batch.slice(same), CurrentRow::Record(row), pairs)?
                }
            };
            if flow == Flow::Enough {
                batch.leave(at);
                self.run.st.count_examined(examined);
                return Ok(Flow::Enough);
            }
            pause(prober, pairs)?;
        }
        self.run.st.count_examined(examined);
        Ok(Flow::More)
    }

    /// As [`IndexLookup::run_single`], for a sink that needs integers.
    fn run_ints<const VERSIONED: bool>(
        &mut self,
        prober: &mut LeafProber<'r>,
        batch: &RowBatch<'_>,
        unmatched: Option<&[u16]>,
        sink: &mut dyn TakeInts,
    ) -> Result<()> {
        let (Some(Some(ints)), op) = (self.ints.get_mut(), self.op) else { return Ok(()) };
        let mut at = 0;
        ints.clear(batch.rows.len());
        while at < batch.rows.len() {
            let same = at..self.keys.run_end(at);
            at = same.end;
            let found = match self.keys.get(same.start, &mut [0; INT_KEY_BYTES_MAX]) {
                Some(key) => find::<VERSIONED>(prober, key, &op.reader)?,
                None => None,
            };
            match found {
                Some((row, reader)) => {
                    if VERSIONED {
                        ints.enter_version(reader);
                    }
                    ints.push(same, &row, reader);
                }
                None if unmatched.is_some() => ints.push_missed(same),
                None => {}
            }
        }
        self.run.st.count_examined(ints.found());
        sink.take(batch, ints);
        Ok(())
    }

    /// Whether all that `pairs` needs of the inner rows are integers.
    fn takes_ints(&mut self, pairs: &mut PairSink<'_>) -> bool {
        let (rel, reader) = (self.op.rel, &self.op.reader);
        if self.op.filter.is_some() || pairs.on.is_some() || pairs.anti {
            return false;
        }
        let wanted = || Some(IntRuns::new(rel, &pairs.sink.as_ints()?.wanted(rel), reader));
        self.ints.get_or_init(wanted).is_some()
    }

    /// Pushes the pairs of the outer rows `same` with the row and reader `found` that pass the conditions.
    fn push_tested(
        &mut self,
        found: (RowRef<'_>, &TableReader),
        batch: &RowBatch<'_>,
        same: Range<usize>,
        unmatched: Option<&[u16]>,
        pairs: &mut PairSink<'_>,
    ) -> Result<Flow> {
        let end = same.end;
        for i in same {
            pairs.matched = false;
            let outer = batch.frame(i);
            let flow = self.push_pair(&found.0, found.1, &outer, pairs)?;
            let mut flow = pairs.after(flow);
            if !pairs.matched {
                flow = push_unmatched(batch, i..i + 1, unmatched, pairs)?;
            }
            if flow == Flow::Enough {
                batch.slice(i..end).leave(1);
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    /// Pushes a pair if it passes the inner side's own condition.
    fn push_pair(
        &mut self,
        row: &RowRef<'_>,
        reader: &TableReader,
        outer: &Frame<'_>,
        pairs: &mut PairSink<'_>,
    ) -> Result<Flow> {
        self.arena.reset();
        let mut push = RowPush {
            op: self.op,
            run: self.run,
            filter_arena: &mut self.filter_arena,
            tests: self.tests.as_deref(),
        };
        push.push(row, None, (reader, &self.arena), Some(outer), pairs)
    }

    /// Keys with any number of rows.
    fn run_several<const VERSIONED: bool>(
        &mut self,
        prober: &mut LeafProber<'r>,
        batch: &RowBatch<'_>,
        unmatched: Option<&[u16]>,
        pairs: &mut PairSink<'_>,
    ) -> Result<Flow> {
        for i in 0..batch.rows.len() {
            pairs.matched = false;
            let mut flow = Flow::More;
            if let Some(key) = self.keys.get(i, &mut [0; INT_KEY_BYTES_MAX]) {
                prober.probe(key);
                flow = self.push_prefix::<VERSIONED>(prober, &batch.frame(i), pairs)?;
                flow = pairs.after(flow);
            }
            if !pairs.matched {
                flow = push_unmatched(batch, i..i + 1, unmatched, pairs)?;
            }
            if flow == Flow::Enough {
                batch.leave(i + 1);
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    /// Pushes the pairs of one outer row with the rows that `prober` is searching for.
    fn push_prefix<const VERSIONED: bool>(
        &mut self,
        prober: &mut LeafProber<'r>,
        outer: &Frame<'_>,
        pairs: &mut PairSink<'_>,
    ) -> Result<Flow> {
        let op = self.op;
        while let Some((rows, reader)) = next_batch::<VERSIONED>(prober, &op.reader)? {
            self.run.st.count_examined(rows.len());
            let flow = if op.filter.is_none() {
                self.arena.reset();
                let env = RowEnv { st: self.run.st, arena: &self.arena };
                pairs.batch(&RowBatch { rel: op.rel, rows, reader, env, parent: Some(outer) })?
            } else {
                self.push_rows(rows, reader, outer, pairs)?
            };
            if flow == Flow::Enough {
                return Ok(Flow::Enough);
            }
            pause(prober, pairs)?;
            if !prober.is_done() {
                self.run.st.fail_if_killed()?;
            }
        }
        Ok(Flow::More)
    }

    fn push_rows(
        &mut self,
        rows: Batch<'_>,
        reader: &TableReader,
        outer: &Frame<'_>,
        pairs: &mut PairSink<'_>,
    ) -> Result<Flow> {
        for (i, row) in rows.rows().enumerate() {
            if self.push_pair(&row, reader, outer, pairs)? == Flow::Enough {
                self.run.st.uncount_examined(rows.len() - i - 1);
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }
}

/// The row with this key, and its reader: `current` unless `VERSIONED`.
#[inline(always)]
fn find<'p, const VERSIONED: bool>(
    prober: &'p mut LeafProber<'_>,
    key: &[u8],
    current: &'p TableReader,
) -> Result<Option<(RowRef<'p>, &'p TableReader)>> {
    if VERSIONED {
        let found = prober.get_versioned(key)?;
        return Ok(found.map(|(row, older)| (row, current.of_version(older))));
    }
    Ok(prober.get(key)?.map(|row| (row, current)))
}

/// More rows of the prober's prefix, and their reader, as [`find`].
#[inline(always)]
fn next_batch<'p, const VERSIONED: bool>(
    prober: &'p mut LeafProber<'_>,
    current: &'p TableReader,
) -> Result<Option<(Batch<'p>, &'p TableReader)>> {
    if VERSIONED {
        let found = prober.next_versioned_batch()?;
        return Ok(found.map(|(batch, older)| (batch, current.of_version(older))));
    }
    Ok(prober.next_batch()?.map(|batch| (batch, current)))
}

/// Pushes outer rows beside `inner`.
fn push_with(outer: &RowBatch<'_>, inner: CurrentRow<'_>, pairs: &mut PairSink<'_>) -> Result<Flow> {
    let parent = Frame { parent: outer.parent, row: inner };
    pairs.sink.batch(&RowBatch { parent: Some(&parent), ..*outer })
}

/// Pushes outer rows without a partner, if they are wanted.
fn push_unmatched(
    batch: &RowBatch<'_>,
    rows: Range<usize>,
    unmatched: Option<&[u16]>,
    pairs: &mut PairSink<'_>,
) -> Result<Flow> {
    match unmatched {
        Some(rels) => push_with(&batch.slice(rows), CurrentRow::Nulls(rels), pairs),
        None => Ok(Flow::More),
    }
}

/// Pauses the sink, with the leaf released, if it asks for that.
#[inline]
fn pause(prober: &mut LeafProber<'_>, pairs: &mut PairSink<'_>) -> Result<()> {
    if pairs.sink.wants_pause() {
        prober.release();
        pairs.sink.pause()?;
    }
    Ok(())
}
