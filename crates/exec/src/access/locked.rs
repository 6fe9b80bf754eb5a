//! Locking reads: each row is locked before it is read.

use std::ops::Bound;

use engine::{Direction, FoundRow, LockRead, LockingScan, ReadView, RowRef};

use super::{Keys, RowPush, TableAccess, point, push_parts};
use crate::error::Result;
use crate::frame::{Frame, row_source};
use crate::intervals::Interval;
use crate::op::{PathOp, is_unique};
#[cfg(test)]
use crate::point::{LOCKED, NEVER_LOCKS};
use crate::source::{Collect, Flow, Sink};

impl<'r> TableAccess<'r> {
    /// As [`Source::run`] where each row is locked before it is read.
    #[inline(never)]
    pub(super) fn run_locked(
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
                if access.lock_cell(locks, interval, sink)? {
                    return Ok(Flow::More);
                }
                access.range.set(interval.lower, interval.upper);
                let is_single = access.is_one_unique_key(&interval);
                access.lock_range(locks, is_single, parent, sink)
            }),
            PathOp::Skip(skip) => self.lock_skip(skip, locks, parent, sink),
        }
    }

    /// Locks the row of a whole clustered key and gives it to a sink that takes cells where they are, in
    /// one descent; false, with nothing done: there is no such row, or it takes more than that.
    fn lock_cell(&self, locks: &LockRead, interval: Interval<'_>, sink: &mut dyn Sink) -> Result<bool> {
        #[cfg(test)]
        if NEVER_LOCKS.get() {
            return Ok(false);
        }
        let (op, st) = (self.op, self.run.st);
        if !op.whole_clustered_key || !op.batched {
            return Ok(false);
        }
        let Some(cells) = sink.as_cells(op.rel) else { return Ok(false) };
        let found =
            op.table.lock_and_get_cell(st.engine, locks, point(interval), |found, older| match older {
                None => cells.cell(&found),
                Some(older) => cells.older_cell(&found, older),
            })?;
        if found.is_some() {
            #[cfg(test)]
            LOCKED.set(LOCKED.get() + 1);
            st.count_examined(1);
            if cells.wants_pause() {
                cells.pause()?;
            }
        }
        Ok(found.is_some())
    }

    /// Whether the conditions hold that no row changes: else nothing is locked.
    fn may_find_rows(&mut self, parent: Option<&Frame<'_>>) -> Result<bool> {
        let Some(cond) = self.op.filter.as_ref().and_then(|filter| filter.fixed.as_deref()) else {
            return Ok(true);
        };
        let st = self.run.st;
        let passes = cond.eval_bool(row_source(parent), &self.run.ctx(&self.arena));
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
    pub(super) fn next_locked<'s>(
        &mut self,
        scan: &'s mut LockingScan<'r>,
        parent: Option<&Frame<'_>>,
    ) -> Result<Option<FoundRow<'s>>> {
        if !self.op.tests_entries {
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

    /// Pushes a locked record of the path's index, or its row; `None` if it does not pass the
    /// filter.
    pub(super) fn push_locked(
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
        self.op.table.indexes[self.op.index].append_clustered_key(row, key);
        let newest = ReadView::newest();
        let found = self.op.table.get(self.run.st.engine, &newest, key, |row| row.record().copy_to(copy))?;
        let Some(place) = found else { return Ok(None) };
        let row = RowRef::new(&clustered.format, place.record(copy));
        push.push_passing(&row, None, (clustered, &self.arena), parent, sink)
    }
}
