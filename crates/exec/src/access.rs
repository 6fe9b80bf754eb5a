//! Rows of a base table: scans, ranges and lookups through one index.

use std::ops::Bound;

use bumpalo::Bump;
use engine::{Batch, Direction, KeyRange, LockRead, LockingScan, Prober, RowRef, Scan, Table};
use expr::{Expr, HashIndex};

use crate::error::Result;
use crate::frame::{CurrentRow, Frame, TableRow, row_source};
use crate::intervals::{Interval, Intervals};
use crate::op::{AccessOp, PathOp};
use crate::query_run::QueryRun;
use crate::reader::{RowEnv, TableReader};
use crate::source::{Flow, RowBatch, Sink, Source, TakeCells};
use crate::table_filter::{BoundTest, TableFilter};

/// Intervals between two checks of the kill flag; the rows of a long one are counted by themselves.
const KILL_CHECK_INTERVALS: usize = 32;

mod bounds;
mod locked;
pub(crate) mod runs;
mod skip;
mod skip_leaf;
mod skip_locked;

pub(crate) use bounds::{End, push_parts, range_bounds};

/// A running access to a table.
pub(crate) struct TableAccess<'r> {
    op: &'r AccessOp,
    run: &'r QueryRun<'r>,
    /// Of the rows of the last scan.
    reader: &'r TableReader,
    /// Whether scans hand out rows in older row format versions.
    is_versioned: bool,
    /// Of the index of the path.
    scan: Option<Box<Scan<'r>>>,
    prober: Option<Box<Prober<'r>>>,
    /// Of the clustered index, for rows of secondary entries.
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
    /// Clustered keys of the only rows that are wanted.
    row_keys: Option<Box<HashIndex>>,
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
            reader: &op.reader,
            is_versioned: op.is_versioned(),
            scan: None,
            prober: None,
            rows: None,
            range: KeyRange::all(),
            keys: Keys::default(),
            arena: Bump::new(),
            filter_arena: Bump::new(),
            tests: op
                .filter
                .as_ref()
                .filter(|filter| !filter.names_outer)
                .and_then(|filter| filter.bind(run.st.memory, &(), &run.ctx(&Bump::new()))),
            entry_tests: op
                .index_condition
                .as_ref()
                .and_then(|cond| cond.bind(run.st.memory, &(), &run.ctx(&Bump::new()))),
            locks: run.st.locks(op.row_use),
            locked: None,
            intervals: None,
            jumps: None,
            row_keys: None,
        }
    }

    fn table(&self) -> &'r Table {
        &self.op.table
    }

    /// Leaves out, before they are read, rows of entries whose clustered keys are not among `keys`.
    pub(crate) fn restrict_to_keys(&mut self, keys: HashIndex) {
        self.row_keys = Some(Box::new(keys));
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
        if let Some(filter) = self.op.filter.as_ref().filter(|filter| filter.names_outer) {
            self.tests = bind_beside(filter, parent, self.run);
        }
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
        let scan = if let Some(mut scan) = self.scan.take() {
            scan.restart(|range| range.clone_from(&self.range));
            scan
        } else {
            self.open_scan(self.range.clone(), direction)?
        };
        self.run_scan_of(scan, parent, sink)
    }

    #[inline(never)]
    fn open_scan(&self, range: KeyRange, direction: Direction) -> Result<Box<Scan<'r>>> {
        let st = self.run.st;
        let scan = Scan::open(st.engine, self.table(), self.op.index, st.view, range, direction)?;
        let scan = if self.op.detached { scan.detached() } else { scan };
        Ok(Box::new(if self.is_versioned { scan.versioned() } else { scan }))
    }

    /// Pushes the rows of `interval`. The direction is the same in all calls.
    fn scan_interval(
        &mut self,
        interval: Interval<'_>,
        direction: Direction,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let scan = if let Some(mut scan) = self.scan.take() {
            scan.restart(|range| range.set(interval.lower, interval.upper));
            scan
        } else {
            let mut range = KeyRange::all();
            range.set(interval.lower, interval.upper);
            self.open_scan(range, direction)?
        };
        self.run_scan_of(scan, parent, sink)
    }

    /// Pushes the rows of `scan`, and keeps it for the next range.
    #[inline]
    fn run_scan_of(
        &mut self,
        mut scan: Box<Scan<'r>>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
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
        if self.is_versioned {
            let flow = self.drain_versions(scan, parent, sink);
            self.reader = &self.op.reader;
            return flow;
        }
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

    /// As [`TableAccess::drain`], of a scan whose rows may have older row format versions.
    #[cold]
    #[inline(never)]
    fn drain_versions(
        &mut self,
        scan: &mut Scan<'r>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let sends_cells = self.op.in_place && !self.op.batched && sink.as_cells(self.op.rel).is_some();
        while let Some((batch, older)) = scan.next_versioned_batch()? {
            self.reader = self.op.reader.of_version(older);
            let flow = if older.is_some() && sends_cells {
                self.push_older(&batch, parent, sink)?
            } else {
                self.push_batch(batch, parent, sink)?
            };
            if flow == Flow::Enough {
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

    /// Pushes rows of an older version that pass the filter, each as a batch: the sink sends them from there.
    fn push_older(
        &mut self,
        batch: &Batch<'_>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let (op, run, reader) = (self.op, self.run, self.reader);
        run.st.count_examined(batch.len());
        for i in 0..batch.len() {
            self.arena.reset();
            let env = RowEnv { st: run.st, arena: &self.arena };
            let record = TableRow { rel: op.rel, row: batch.row(i), reader, env, batch: None };
            let (filter, tests) = (op.filter.as_ref(), self.tests.as_deref());
            if filtered(record, filter, tests, parent, run, &mut self.filter_arena)?.is_none() {
                continue;
            }
            let rows = RowBatch { rel: op.rel, rows: batch.slice(i..i + 1), reader, env, parent };
            if sink.batch(&rows)? == Flow::Enough {
                run.st.uncount_examined(batch.len() - i - 1);
                return Ok(Flow::Enough);
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
            let reader = self.reader;
            return sink.batch(&RowBatch { rel: self.op.rel, rows: batch, reader, env, parent });
        }
        if let (Some(filter), Some(tests)) = (&self.op.filter, &self.tests)
            && self.op.in_place
            && filter.rest.is_none()
        {
            let (op, read) = ((self.op.rel, self.run.st), (self.reader, &mut self.arena));
            return runs::push_runs(tests, op, read, batch, parent, sink);
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

    /// Pushes one record of the path's index, or the row that it refers to. `place`: the batch that holds the
    /// record.
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
            return push.push(row, place, (self.reader, &self.arena), parent, sink);
        };
        if !self.entry_passes(row, parent)? {
            return Ok(Flow::More);
        }
        let key = &mut self.keys.row;
        key.clear();
        self.op.table.indexes[self.op.index].append_clustered_key(row, key);
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
        if self.op.tests_entries { self.entry_passes_tests(entry, parent) } else { Ok(true) }
    }

    fn entry_passes_tests(&mut self, entry: &RowRef<'_>, parent: Option<&Frame<'_>>) -> Result<bool> {
        if let Some(keys) = &self.row_keys {
            let key = &mut self.keys.row;
            key.clear();
            self.op.table.indexes[self.op.index].append_clustered_key(entry, key);
            if keys.find(key).is_none() {
                return Ok(false);
            }
        }
        let Some(cond) = &self.op.index_condition else { return Ok(true) };
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

    /// Gives the rows of whole clustered keys to a sink that takes their cells where they are.
    fn put_cells(&mut self, parent: Option<&Frame<'_>>, cells: &mut dyn TakeCells) -> Result<Flow> {
        let (table, st) = (self.table(), self.run.st);
        let mut examined = 0;
        let flow = self.for_each_interval(parent, |_, interval, _| {
            let key = point(interval);
            let way = table.prefetch_leaf(st.engine, key);
            let found = table.get_cell(st.engine, &st.view, key, way, |found, older| match older {
                None => cells.cell(&found),
                Some(older) => cells.older_cell(&found, older),
            })?;
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
        intervals.make((&**keys, int_key.as_ref()), &self.op.key, self.run, parent, &self.arena)?;
        let direction = if *reverse { Direction::Backward } else { Direction::Forward };
        let count = intervals.len();
        for at in 0..count {
            let at = if *reverse { count - 1 - at } else { at };
            if run(self, intervals.get(at), direction)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            if at.is_multiple_of(KILL_CHECK_INTERVALS) {
                self.run.st.fail_if_killed()?;
            }
        }
        self.intervals = Some(intervals);
        Ok(Flow::More)
    }
}

/// The tests of `filter` with what their constants are for the row `parent`.
#[inline(never)]
fn bind_beside(
    filter: &TableFilter,
    parent: Option<&Frame<'_>>,
    run: &QueryRun<'_>,
) -> Option<Box<[BoundTest]>> {
    filter.bind(run.st.memory, row_source(parent), &run.ctx(&Bump::new()))
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
    let truth = cond.eval_bool(frame, &ctx).map_err(|error| run.st.eval_error(error))?;
    run.st.check()?;
    Ok(truth == Some(true))
}
