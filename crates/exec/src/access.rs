//! Rows of a base table: scans, ranges and lookups through one index.

use std::ops::Bound;

use bumpalo::Bump;
use engine::{
    Batch, Direction, FoundRow, KeyRange, LockRead, LockingScan, Prober, ReadView, RowRef, Scan, Table,
};
use expr::{Expr, eval, eval_bool};

use crate::error::Result;
use crate::frame::{CurrentRow, Frame, TableRow, row_source};
use crate::intervals::{Interval, Intervals};
use crate::key::{Fit, KeyPart};
use crate::op::{AccessOp, PathOp, is_unique};
use crate::reader::{RowEnv, TableReader};
use crate::source::{Collect, Flow, RowBatch, Sink, Source, TakeCells};
use crate::statement::QueryRun;
use crate::table_filter::{BoundTest, TableFilter};

mod skip;

/// A running access to a table.
pub(crate) struct TableAccess<'r> {
    op: &'r AccessOp,
    run: &'r QueryRun<'r>,
    /// Of the index of the path.
    scan: Option<Box<Scan<'r>>>,
    prober: Option<Box<Prober<'r>>>,
    /// Of the clustered index, for rows behind secondary entries.
    rows: Option<Box<Prober<'r>>>,
    range: KeyRange,
    keys: Keys,
    /// Home of key values and decoded columns; emptied between rows.
    arena: Bump,
    filter_arena: Bump,
    /// The part of the filter that is decided on page bytes.
    tests: Option<Box<[BoundTest]>>,
    /// The same of the condition on entries.
    entry_tests: Option<Box<[BoundTest]>>,
    /// How rows are locked, if they are; nothing above but the keys is used then.
    locks: Option<&'r LockRead>,
    locked: Option<LockingScan<'r>>,
    /// Memory for the intervals of the path.
    intervals: Option<Box<Intervals>>,
    /// What jumping over parts of the index keeps.
    jumps: Option<Box<skip::Jumps<'r>>>,
}

/// The key of an interval of one whole key.
#[inline]
fn point(interval: Interval<'_>) -> &[u8] {
    match interval.lower {
        Bound::Included(key) | Bound::Excluded(key) => key,
        Bound::Unbounded => &[],
    }
}

/// Buffers for key bytes.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) lower: Vec<u8>,
    pub(crate) upper: Vec<u8>,
    row: Vec<u8>,
    /// A record of the clustered index.
    copy: Vec<u8>,
}

impl<'r> TableAccess<'r> {
    pub(crate) fn new(op: &'r AccessOp, run: &'r QueryRun<'r>) -> Self {
        TableAccess {
            op,
            run,
            scan: None,
            prober: None,
            rows: None,
            range: KeyRange::all(),
            keys: Keys::default(),
            arena: Bump::new(),
            filter_arena: Bump::new(),
            tests: op.filter.as_ref().and_then(|filter| filter.bind(run)),
            entry_tests: op.index_condition.as_ref().and_then(|cond| cond.bind(run)),
            locks: run.st.locks(op.row_use),
            locked: None,
            intervals: None,
            jumps: None,
        }
    }

    fn table(&self) -> &'r Table {
        &self.op.table
    }

    /// The range's bounds; false if nothing lies in it.
    fn make_range(&mut self, parent: Option<&Frame<'_>>) -> Result<bool> {
        let Some(bounds) =
            range_bounds(self.run, &self.op.path, &self.op.key, parent, &mut self.keys, &self.arena)?
        else {
            return Ok(false);
        };
        let Keys { lower, upper, .. } = &self.keys;
        self.range.set(bounds.0.on(lower), bounds.1.on(upper));
        Ok(true)
    }

    fn run_scan(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let reverse = match &self.op.path {
            PathOp::Scan { reverse } | PathOp::Range { reverse, .. } => *reverse,
            _ => false,
        };
        self.arena.reset();
        if !self.make_range(parent)? {
            return Ok(Flow::More);
        }
        let direction = if reverse { Direction::Backward } else { Direction::Forward };
        self.scan_range(direction, parent, sink)
    }

    /// Pushes the rows of `range`. The direction is the same in all calls.
    fn scan_range(
        &mut self,
        direction: Direction,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let mut scan = if let Some(mut scan) = self.scan.take() {
            scan.restart(|range| range.clone_from(&self.range));
            scan
        } else {
            self.open_scan(self.range.clone(), direction)?
        };
        let flow = self.drain(&mut scan, parent, sink);
        scan.suspend();
        self.scan = Some(scan);
        flow
    }

    #[inline(never)]
    fn open_scan(&self, range: KeyRange, direction: Direction) -> Result<Box<Scan<'r>>> {
        let st = self.run.st;
        let scan = Scan::open(st.engine, self.table(), self.op.index, st.view, range, direction)?;
        Ok(Box::new(if self.op.detached { scan.detached() } else { scan }))
    }

    /// Pushes the rows of `interval`. The direction is the same in all calls.
    fn scan_interval(
        &mut self,
        interval: Interval<'_>,
        direction: Direction,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let mut scan = if let Some(mut scan) = self.scan.take() {
            scan.restart(|range| range.set(interval.lower, interval.upper));
            scan
        } else {
            let mut range = KeyRange::all();
            range.set(interval.lower, interval.upper);
            self.open_scan(range, direction)?
        };
        let flow = self.drain(&mut scan, parent, sink);
        scan.suspend();
        self.scan = Some(scan);
        flow
    }

    fn drain(
        &mut self,
        scan: &mut Scan<'r>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        while let Some(batch) = scan.next_batch()? {
            if self.push_batch(batch, parent, sink)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            self.run.st.fail_if_killed()?;
            if sink.wants_pause() {
                scan.suspend();
                sink.pause()?;
            }
        }
        Ok(Flow::More)
    }

    /// Pushes a leaf's rows that pass the filter.
    fn push_batch(
        &mut self,
        batch: Batch<'_>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        self.run.st.count_examined(batch.len());
        if self.op.batched {
            self.arena.reset();
            let env = RowEnv { st: self.run.st, arena: &self.arena };
            let reader = &self.op.reader;
            return sink.batch(&RowBatch { rel: self.op.rel, rows: batch, reader, env, parent });
        }
        for i in 0..batch.len() {
            let place = self.op.in_place.then_some((&batch, i));
            if self.push_entry(&batch.row(i), place, parent, sink)? == Flow::Enough {
                self.run.st.uncount_examined(batch.len() - i - 1);
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    /// Pushes one record of the path's index, or the row behind it. `place`: the batch that it stands in.
    #[inline]
    fn push_entry(
        &mut self,
        row: &RowRef<'_>,
        place: Option<(&Batch<'_>, usize)>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        self.arena.reset();
        let Some(clustered) = &self.op.row_reader else {
            let mut push = RowPush {
                op: self.op,
                run: self.run,
                filter_arena: &mut self.filter_arena,
                tests: self.tests.as_deref(),
            };
            return push.push(row, place, (&self.op.reader, &self.arena), parent, sink);
        };
        if !self.entry_passes(row, parent)? {
            return Ok(Flow::More);
        }
        let key = &mut self.keys.row;
        key.clear();
        self.op.table.indexes[self.op.index].clustered_key(row, key);
        let prober = match &mut self.rows {
            Some(prober) => prober,
            none => {
                let st = self.run.st;
                none.insert(Box::new(Prober::new(st.engine, &self.op.table, 0, st.view)?))
            }
        };
        let Some(row) = prober.get(key)? else { return Ok(Flow::More) };
        let mut push = RowPush {
            op: self.op,
            run: self.run,
            filter_arena: &mut self.filter_arena,
            tests: self.tests.as_deref(),
        };
        push.push(&row, None, (clustered, &self.arena), parent, sink)
    }

    /// Whether an entry of the path's index passes the condition on entries.
    #[inline]
    fn entry_passes(&mut self, entry: &RowRef<'_>, parent: Option<&Frame<'_>>) -> Result<bool> {
        match &self.op.index_condition {
            None => Ok(true),
            Some(cond) => self.entry_passes_condition(cond, entry, parent),
        }
    }

    fn entry_passes_condition(
        &mut self,
        cond: &TableFilter,
        entry: &RowRef<'_>,
        parent: Option<&Frame<'_>>,
    ) -> Result<bool> {
        let env = RowEnv { st: self.run.st, arena: &self.arena };
        let record = TableRow { rel: self.op.rel, row: *entry, reader: &self.op.reader, env, batch: None };
        let tests = self.entry_tests.as_deref();
        Ok(filtered(record, Some(cond), tests, parent, self.run, &mut self.filter_arena)?.is_some())
    }

    /// The one row of a whole clustered key.
    fn run_point(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let PathOp::Point { key } = &self.op.path else { return Ok(Flow::More) };
        self.arena.reset();
        self.keys.lower.clear();
        if !push_parts(self.run, &self.op.key, key, &[], parent, &mut self.keys.lower, &self.arena)? {
            return Ok(Flow::More);
        }
        if self.op.whole_clustered_key && !self.op.repeated {
            return self.get_once(parent, sink);
        }
        self.lookup(parent, sink)
    }

    /// Pushes the row with the clustered key in `keys.lower`, without the leaf copy that many lookups share.
    fn get_once(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let (op, st) = (self.op, self.run.st);
        let mut copy = std::mem::take(&mut self.keys.row);
        copy.clear();
        let found =
            op.table.get(st.engine, &st.view, &self.keys.lower, |row| row.record().copy_to(&mut copy))?;
        let flow = match found {
            Some(place) => {
                st.count_examined(1);
                self.push_entry(&RowRef::new(&op.reader.format, place.record(&copy)), None, parent, sink)
            }
            None => Ok(Flow::More),
        };
        self.keys.row = copy;
        flow
    }

    /// Pushes what the key in `keys.lower` finds.
    fn lookup(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let mut prober = self.take_prober()?;
        let flow = self.lookup_with(&mut prober, parent, sink);
        self.prober = Some(prober);
        flow
    }

    /// The prober of the path's index; put it back when it is no longer used.
    fn take_prober(&mut self) -> Result<Box<Prober<'r>>> {
        let st = self.run.st;
        match self.prober.take() {
            Some(prober) => Ok(prober),
            None => Ok(Box::new(Prober::new(st.engine, self.table(), self.op.index, st.view)?)),
        }
    }

    fn lookup_with(
        &mut self,
        prober: &mut Prober<'r>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        if self.op.whole_clustered_key {
            let Some(row) = prober.get(&self.keys.lower)? else { return Ok(Flow::More) };
            self.run.st.count_examined(1);
            return self.push_entry(&row, None, parent, sink);
        }
        prober.probe(&self.keys.lower);
        while let Some(batch) = prober.next_batch()? {
            if self.push_batch(batch, parent, sink)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            self.run.st.step()?;
            if sink.wants_pause() {
                sink.pause()?;
            }
        }
        Ok(Flow::More)
    }

    /// The rows of several intervals.
    fn run_intervals(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        if !self.op.whole_clustered_key {
            return self.for_each_interval(parent, |access, interval, direction| {
                access.scan_interval(interval, direction, parent, sink)
            });
        }
        if self.op.batched
            && let Some(cells) = sink.as_cells(self.op.rel)
        {
            return self.put_cells(parent, cells);
        }
        let mut prober = self.take_prober()?;
        let flow = self.for_each_interval(parent, |access, interval, _| {
            let flow = match prober.get(point(interval))? {
                Some(row) => {
                    access.run.st.count_examined(1);
                    access.push_entry(&row, None, parent, sink)?
                }
                None => Flow::More,
            };
            if sink.wants_pause() {
                sink.pause()?;
            }
            Ok(flow)
        });
        self.prober = Some(prober);
        flow
    }

    /// Gives the rows of whole clustered keys to a sink that takes their cells where they stand.
    fn put_cells(&mut self, parent: Option<&Frame<'_>>, cells: &mut dyn TakeCells) -> Result<Flow> {
        let (table, st) = (self.table(), self.run.st);
        let mut examined = 0;
        let flow = self.for_each_interval(parent, |_, interval, _| {
            let key = point(interval);
            let way = table.foresee(st.engine, key);
            let found = table.get_cell(st.engine, &st.view, key, way, |found| cells.cell(&found))?;
            examined += usize::from(found.is_some());
            if cells.wants_pause() {
                cells.pause()?;
            }
            Ok(Flow::More)
        });
        st.count_examined(examined);
        flow
    }

    /// Calls `run` for each interval of the path, in the order in which rows are wanted, until it has enough.
    fn for_each_interval(
        &mut self,
        parent: Option<&Frame<'_>>,
        mut run: impl FnMut(&mut Self, Interval<'_>, Direction) -> Result<Flow>,
    ) -> Result<Flow> {
        let PathOp::Intervals { keys, int_key, reverse, .. } = &self.op.path else { return Ok(Flow::More) };
        self.arena.reset();
        let known = self.intervals.take();
        let mut intervals = known.unwrap_or_else(|| Box::new(Intervals::new(self.run.st.memory)));
        intervals.make((keys, int_key.as_ref()), &self.op.key, self.run, parent, &self.arena)?;
        let direction = if *reverse { Direction::Backward } else { Direction::Forward };
        let count = intervals.len();
        for at in 0..count {
            let at = if *reverse { count - 1 - at } else { at };
            if run(self, intervals.get(at), direction)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            self.run.st.fail_if_killed()?;
        }
        self.intervals = Some(intervals);
        Ok(Flow::More)
    }
}

impl<'r> TableAccess<'r> {
    /// As [`Source::run`] where each row is locked before it is looked at.
    #[inline(never)]
    fn run_locked(
        &mut self,
        locks: &'r LockRead,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        self.arena.reset();
        if !self.may_find_rows(parent)? {
            return Ok(Flow::More);
        }
        match &self.op.path {
            PathOp::Scan { .. } | PathOp::Range { .. } => {
                if !self.make_range(parent)? {
                    return Ok(Flow::More);
                }
                self.lock_range(locks, false, parent, sink)
            }
            PathOp::Point { key } => {
                self.keys.lower.clear();
                if !push_parts(self.run, &self.op.key, key, &[], parent, &mut self.keys.lower, &self.arena)? {
                    return Ok(Flow::More);
                }
                self.range.set(Bound::Included(&self.keys.lower), Bound::Included(&self.keys.lower));
                self.lock_range(locks, self.is_unique_key(key.len()), parent, sink)
            }
            PathOp::Intervals { .. } => self.for_each_interval(parent, |access, interval, _| {
                access.range.set(interval.lower, interval.upper);
                let is_single = access.is_one_unique_key(&interval);
                access.lock_range(locks, is_single, parent, sink)
            }),
            PathOp::Skip(skip) => self.lock_skip(skip, locks, parent, sink),
        }
    }

    /// Whether the conditions hold that no row changes: else nothing is locked.
    fn may_find_rows(&mut self, parent: Option<&Frame<'_>>) -> Result<bool> {
        let Some(cond) = self.op.filter.as_ref().and_then(|filter| filter.fixed.as_deref()) else {
            return Ok(true);
        };
        let st = self.run.st;
        let passes = eval_bool(cond, row_source(parent), &self.run.ctx(&self.arena));
        Ok(passes.map_err(|error| st.eval_error(error))? == Some(true))
    }

    /// Whether values of `parts` parts, none of them NULL, are a whole key of a unique index.
    fn is_unique_key(&self, parts: usize) -> bool {
        let index = &self.op.table.indexes[self.op.index];
        parts == index.def.parts.len() && is_unique(index)
    }

    /// Whether an interval of the path is one key of a unique index, which is not NULL.
    fn is_one_unique_key(&self, interval: &Interval<'_>) -> bool {
        let PathOp::Intervals { keys, .. } = &self.op.path else { return false };
        let is_null = match (&self.op.key[..], interval.lower) {
            _ if !keys.finds_nulls() => false,
            ([part], Bound::Included(key)) => part.marker().is_some_and(|marker| !key.starts_with(&[marker])),
            _ => true,
        };
        interval.point && !is_null && self.is_unique_key(keys.parts())
    }

    /// Locks and pushes the rows of `range`; `single`: it is one unique key.
    fn lock_range(
        &mut self,
        locks: &'r LockRead,
        single: bool,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let direction = match &self.op.path {
            PathOp::Scan { reverse: true }
            | PathOp::Range { reverse: true, .. }
            | PathOp::Intervals { reverse: true, .. } => Direction::Backward,
            _ => Direction::Forward,
        };
        let (op, engine) = (self.op, self.run.st.engine);
        let mut scan = match self.locked.take() {
            Some(scan) => scan,
            None => LockingScan::new(engine, &op.table, op.index, locks, direction),
        };
        scan.restart(single, |range| range.clone_from(&self.range));
        let mut flow = Flow::More;
        let st = self.run.st;
        while flow == Flow::More
            && let Some(found) = self.next_locked(&mut scan, parent)?
        {
            st.count_examined(1);
            if !found.is_locked {
                let passes = self
                    .push_locked(&found.row, parent, &mut Collect(|_: &Frame<'_>| Ok(Flow::More)))?
                    .is_some();
                if passes {
                    scan.insist();
                }
                self.run.st.fail_if_killed()?;
                continue;
            }
            let pushed = self.push_locked(&found.row, parent, sink)?;
            flow = pushed.unwrap_or(Flow::More);
            if pushed.is_none() && !locks.gaps {
                scan.release_row();
            }
            self.run.st.fail_if_killed()?;
            if sink.wants_pause() {
                sink.pause()?;
            }
        }
        self.locked = Some(scan);
        Ok(flow)
    }

    /// The next row of `scan` whose entry passes the condition on entries.
    #[inline]
    fn next_locked<'s>(
        &mut self,
        scan: &'s mut LockingScan<'r>,
        parent: Option<&Frame<'_>>,
    ) -> Result<Option<FoundRow<'s>>> {
        if self.op.index_condition.is_none() {
            return Ok(scan.next_row()?);
        }
        let mut failed = None;
        let mut is_wanted = |entry: &RowRef<'_>| {
            self.arena.reset();
            let passes = self.entry_passes(entry, parent).unwrap_or_else(|error| {
                failed = Some(error);
                true
            });
            self.run.st.count_examined(usize::from(!passes));
            passes
        };
        let found = scan.next_row_where(Some(&mut is_wanted))?;
        match failed {
            Some(error) => Err(error),
            None => Ok(found),
        }
    }

    /// Pushes a locked record of the path's index, or the row behind it; `None` if it does not pass the filter.
    fn push_locked(
        &mut self,
        row: &RowRef<'_>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Option<Flow>> {
        self.arena.reset();
        let mut push = RowPush {
            op: self.op,
            run: self.run,
            filter_arena: &mut self.filter_arena,
            tests: self.tests.as_deref(),
        };
        let Some(clustered) = &self.op.row_reader else {
            return push.push_passing(row, None, (&self.op.reader, &self.arena), parent, sink);
        };
        let Keys { row: key, copy, .. } = &mut self.keys;
        key.clear();
        copy.clear();
        self.op.table.indexes[self.op.index].clustered_key(row, key);
        let newest = ReadView::newest();
        let found = self.op.table.get(self.run.st.engine, &newest, key, |row| row.record().copy_to(copy))?;
        let Some(place) = found else { return Ok(None) };
        let row = RowRef::new(&clustered.format, place.record(copy));
        push.push_passing(&row, None, (clustered, &self.arena), parent, sink)
    }
}

impl Source for TableAccess<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        if let Some(locks) = self.locks {
            return self.run_locked(locks, parent, sink);
        }
        match &self.op.path {
            PathOp::Point { .. } => self.run_point(parent, sink),
            PathOp::Intervals { .. } => self.run_intervals(parent, sink),
            PathOp::Skip(skip) => self.run_skip(skip, parent, sink),
            PathOp::Scan { .. } | PathOp::Range { .. } => self.run_scan(parent, sink),
        }
    }
}

/// Filters one row and hands it on.
pub(crate) struct RowPush<'x, 'r> {
    pub(crate) op: &'r AccessOp,
    pub(crate) run: &'r QueryRun<'r>,
    pub(crate) filter_arena: &'x mut Bump,
    pub(crate) tests: Option<&'x [BoundTest]>,
}

impl RowPush<'_, '_> {
    #[inline]
    pub(crate) fn push(
        &mut self,
        row: &RowRef<'_>,
        place: Option<(&Batch<'_>, usize)>,
        read: (&TableReader, &Bump),
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        Ok(self.push_passing(row, place, read, parent, sink)?.unwrap_or(Flow::More))
    }

    /// As [`RowPush::push`]; `None` if the row does not pass the filter.
    #[inline]
    fn push_passing(
        &mut self,
        row: &RowRef<'_>,
        place: Option<(&Batch<'_>, usize)>,
        (reader, arena): (&TableReader, &Bump),
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Option<Flow>> {
        let env = RowEnv { st: self.run.st, arena };
        let record = TableRow { rel: self.op.rel, row: *row, reader, env, batch: place };
        let filter = self.op.filter.as_ref();
        match filtered(record, filter, self.tests, parent, self.run, self.filter_arena)? {
            Some(frame) => sink.row(&frame).map(Some),
            None => Ok(None),
        }
    }
}

/// The frame of a record that passes `filter`, of which `tests` are decided on page bytes.
#[inline]
fn filtered<'f>(
    record: TableRow<'f>,
    filter: Option<&TableFilter>,
    tests: Option<&[BoundTest]>,
    parent: Option<&'f Frame<'f>>,
    run: &QueryRun<'_>,
    arena: &mut Bump,
) -> Result<Option<Frame<'f>>> {
    if let Some(tests) = tests
        && !tests.iter().all(|test| test.passes(&record.row, record.reader, record.env))
    {
        return Ok(None);
    }
    let frame = Frame { parent, row: CurrentRow::Record(record) };
    let cond = match (filter, tests) {
        (None, _) => None,
        (Some(filter), None) => Some(&filter.whole),
        (Some(filter), Some(_)) => filter.rest.as_ref(),
    };
    if let Some(cond) = cond
        && !passes(cond, &frame, run, arena)?
    {
        return Ok(None);
    }
    Ok(Some(frame))
}

/// Whether `cond` is true for the row; `arena` is emptied first.
pub(crate) fn passes(cond: &Expr, frame: &Frame<'_>, run: &QueryRun<'_>, arena: &mut Bump) -> Result<bool> {
    arena.reset();
    let ctx = run.ctx(arena);
    let truth = eval_bool(cond, frame, &ctx).map_err(|error| run.st.eval_error(error))?;
    run.st.check()?;
    Ok(truth == Some(true))
}

/// An end of a range, over the bytes of one of two buffers.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Open,
    Included,
    Excluded,
}

impl End {
    pub(crate) fn on(self, key: &[u8]) -> Bound<&[u8]> {
        match self {
            End::Open => Bound::Unbounded,
            End::Included => Bound::Included(key),
            End::Excluded => Bound::Excluded(key),
        }
    }
}

/// Appends the parts for equality with `key`; false if no row can be equal. `null_safe`: parts for which NULL equals NULL.
pub(crate) fn push_parts(
    run: &QueryRun<'_>,
    parts: &[KeyPart],
    key: &[Expr],
    null_safe: &[bool],
    parent: Option<&Frame<'_>>,
    out: &mut Vec<u8>,
    arena: &Bump,
) -> Result<bool> {
    let ctx = run.ctx(arena);
    for (i, (part, expr)) in parts.iter().zip(key).enumerate() {
        let value = eval(expr, row_source(parent), &ctx).map_err(|error| run.st.eval_error(error))?;
        match part.push(&value, run, out)? {
            Fit::Exact => {}
            Fit::Null if part.nullable && null_safe.get(i) == Some(&true) => part.push_null(out),
            Fit::Null => return Ok(false),
            // A cut key finds what shares its first characters; the filter decides.
            Fit::Below | Fit::Above if part.prefix => {}
            Fit::Below | Fit::Above => return Ok(false),
        }
    }
    run.st.check()?;
    Ok(true)
}

/// The ends of a path's range, their bytes in `keys`; `None` if nothing can lie in it.
pub(crate) fn range_bounds(
    run: &QueryRun<'_>,
    path: &PathOp,
    parts: &[KeyPart],
    parent: Option<&Frame<'_>>,
    keys: &mut Keys,
    arena: &Bump,
) -> Result<Option<(End, End)>> {
    let PathOp::Range { eq, null_safe, lower, upper, .. } = path else {
        return Ok(Some((End::Open, End::Open)));
    };
    keys.lower.clear();
    if !push_parts(run, parts, eq, null_safe, parent, &mut keys.lower, arena)? {
        return Ok(None);
    }
    keys.upper.clear();
    keys.upper.extend_from_slice(&keys.lower);
    let all = if eq.is_empty() { End::Open } else { End::Included };
    let Some(part) = parts.get(eq.len()).filter(|_| lower.is_some() || upper.is_some()) else {
        return Ok(Some((all, all)));
    };
    // Descending parts have their greatest value first.
    let (low_key, high_key) =
        if part.desc { (&mut keys.upper, &mut keys.lower) } else { (&mut keys.lower, &mut keys.upper) };
    let bound = |bound: &Option<(Expr, bool)>, is_lower, key: &mut Vec<u8>| match bound {
        None => Ok(Some(all)),
        Some((expr, inclusive)) => one_bound(run, part, expr, *inclusive, is_lower, parent, key, arena),
    };
    let Some(high) = bound(upper, false, high_key)? else { return Ok(None) };
    let low = if lower.is_none() && part.nullable {
        // NULL is below all values, and in no range.
        part.push_null(low_key);
        Some(End::Excluded)
    } else {
        bound(lower, true, low_key)?
    };
    let Some(low) = low else { return Ok(None) };
    Ok(Some(if part.desc { (high, low) } else { (low, high) }))
}

/// Appends the part of a bound and says how it ends; `None` for NULL, which bounds nothing.
#[expect(clippy::too_many_arguments, reason = "one call, two ends")]
fn one_bound(
    run: &QueryRun<'_>,
    part: &KeyPart,
    expr: &Expr,
    inclusive: bool,
    is_lower: bool,
    parent: Option<&Frame<'_>>,
    key: &mut Vec<u8>,
    arena: &Bump,
) -> Result<Option<End>> {
    let ctx = run.ctx(arena);
    let value = eval(expr, row_source(parent), &ctx).map_err(|error| run.st.eval_error(error))?;
    let fit = part.push(&value, run, key)?;
    let included = match fit {
        Fit::Null => return Ok(None),
        _ if part.prefix => true,
        Fit::Exact => inclusive,
        // The neighbour below the bound is inside an upper one and outside a lower one.
        Fit::Below => !is_lower,
        Fit::Above => is_lower,
    };
    Ok(Some(if included { End::Included } else { End::Excluded }))
}
