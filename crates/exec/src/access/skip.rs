//! Skip scans: the scan jumps from one value of an index's first parts to the next, and reads a stretch after each.
//!
//! A read that turns out to lock (under SERIALIZABLE, or of a statement that changes other rows) passes over no entry: what lies
//! between the stretches is locked as well, and all rows of a stretch are given, also where its ends would do.

use std::ops::Bound;

use engine::{Direction, KeyRange, LockRead, LockingScan, RowRef, Scan};
use sql::plan::Take;
use types::key::successor;

use super::{End, Keys, TableAccess, push_parts, range_bounds};
use crate::error::Result;
use crate::frame::Frame;
use crate::op::SkipOp;
use crate::source::{Collect, Flow, Sink};

/// What is kept from jump to jump, and from run to run.
#[derive(Debug, Default)]
pub(super) struct Jumps<'r> {
    /// Finds the next value.
    finder: Option<Scan<'r>>,
    /// Reads the first row of a stretch, and the last one.
    forward: Option<Scan<'r>>,
    backward: Option<Scan<'r>>,
    /// Key bytes of the equal first parts.
    lead: Vec<u8>,
    /// Where the next value is looked for.
    from: Vec<u8>,
    /// Key bytes of the first parts up to the last one that is skipped.
    prefix: Vec<u8>,
    /// Ends of a stretch.
    lower: Vec<u8>,
    upper: Vec<u8>,
}

impl<'r> TableAccess<'r> {
    /// The rows of a stretch for each value of the parts that are skipped.
    pub(super) fn run_skip(
        &mut self,
        op: &'r SkipOp,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        self.arena.reset();
        let mut jumps = self.jumps.take().unwrap_or_default();
        let flow = self.run_jumps(op, &mut jumps, parent, sink);
        self.jumps = Some(jumps);
        flow
    }

    fn run_jumps(
        &mut self,
        op: &'r SkipOp,
        jumps: &mut Jumps<'r>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let (run, keys) = (self.run, &self.op.key);
        let behind = op.lead.len() + op.skipped;
        jumps.lead.clear();
        let (lead, safe) = (&op.lead, &op.lead_null_safe);
        if !push_parts(run, keys, lead, safe, parent, &mut jumps.lead, &self.arena)? {
            return Ok(Flow::More);
        }
        let rest = range_bounds(run, &op.rest, &keys[behind..], parent, &mut self.keys, &self.arena)?;
        let Some(ends) = rest else { return Ok(Flow::More) };
        jumps.from.clone_from(&jumps.lead);
        while self.find_next(behind, jumps)? {
            jumps.set_stretch(ends, &self.keys, &mut self.range);
            if self.push_stretch(op.take, jumps, parent, sink)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            run.st.fail_if_killed()?;
            if sink.wants_pause() {
                sink.pause()?;
            }
            jumps.from.clone_from(&jumps.prefix);
            if !successor(&mut jumps.from) {
                break;
            }
        }
        Ok(Flow::More)
    }

    /// As [`TableAccess::run_skip`] where each row is locked before it is looked at.
    pub(super) fn lock_skip(
        &mut self,
        op: &'r SkipOp,
        locks: &'r LockRead,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let (run, keys) = (self.run, &self.op.key);
        let behind = op.lead.len() + op.skipped;
        let (mut lead, safe) = (Vec::new(), &op.lead_null_safe);
        if !push_parts(run, keys, &op.lead, safe, parent, &mut lead, &self.arena)? {
            return Ok(Flow::More);
        }
        let rest = range_bounds(run, &op.rest, &keys[behind..], parent, &mut self.keys, &self.arena)?;
        let Some(ends) = rest else { return Ok(Flow::More) };
        let end = if lead.is_empty() { Bound::Unbounded } else { Bound::Included(&lead[..]) };
        self.range.set(end, end);
        let (table, index) = (&self.op.table, self.op.index);
        let mut scan = LockingScan::new(run.st.engine, table, index, locks, Direction::Forward);
        scan.restart(false, |range| range.clone_from(&self.range));
        let mut flow = Flow::More;
        while flow == Flow::More
            && let Some(found) = self.next_locked(&mut scan, parent)?
        {
            run.st.count_examined(1);
            let is_inside = self.is_in_stretch(&found.row, behind, ends);
            if !found.is_locked {
                let nothing = &mut Collect(|_: &Frame<'_>| Ok(Flow::More));
                if is_inside && self.push_locked(&found.row, parent, nothing)?.is_some() {
                    scan.insist();
                }
                continue;
            }
            let pushed = if is_inside { self.push_locked(&found.row, parent, sink)? } else { None };
            flow = pushed.unwrap_or(Flow::More);
            if pushed.is_none() && !locks.gaps {
                scan.release_row();
            }
            run.st.fail_if_killed()?;
            if sink.wants_pause() {
                sink.pause()?;
            }
        }
        Ok(flow)
    }

    /// Whether the parts of a row's key after the first `parts` lie between the `ends` in `keys`.
    fn is_in_stretch(&self, row: &RowRef<'_>, parts: usize, (low, high): (End, End)) -> bool {
        let (lower, upper) = (&self.keys.lower[..], &self.keys.upper[..]);
        let mut first = Vec::new();
        self.op.table.indexes[self.op.index].append_first_parts(row, parts, &mut first);
        row.record().with_key(|key| {
            let rest = &key[first.len()..];
            let is_above = match low {
                End::Open => true,
                End::Included => rest >= lower,
                End::Excluded => rest > lower && !rest.starts_with(lower),
            };
            let is_below = match high {
                End::Open => true,
                End::Included => rest < upper || rest.starts_with(upper),
                End::Excluded => rest < upper,
            };
            is_above && is_below
        })
    }

    /// Makes `prefix` the first `parts` parts of the first row from `from` on; false: there is none that starts with `lead`.
    fn find_next(&mut self, parts: usize, jumps: &mut Jumps<'r>) -> Result<bool> {
        let end = if jumps.lead.is_empty() { Bound::Unbounded } else { Bound::Included(&jumps.lead[..]) };
        self.range.set(Bound::Included(&jumps.from), end);
        let mut scan = self.scan_of(jumps.finder.take(), Direction::Forward)?;
        let found = match scan.next_batch()? {
            None => false,
            Some(batch) => {
                jumps.prefix.clear();
                self.op.table.indexes[self.op.index].append_first_parts(
                    &batch.row(0),
                    parts,
                    &mut jumps.prefix,
                );
                true
            }
        };
        scan.suspend();
        jumps.finder = Some(scan);
        Ok(found)
    }

    /// Pushes the rows of `range` that are wanted.
    fn push_stretch(
        &mut self,
        take: Take,
        jumps: &mut Jumps<'r>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let Take::Ends { first, not_null, last } = take else {
            return self.scan_range(Direction::Forward, parent, sink);
        };
        if first && self.push_end(&mut jumps.forward, Direction::Forward, parent, sink)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
        if last && self.push_end(&mut jumps.backward, Direction::Backward, parent, sink)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
        if not_null && let Some(part) = self.op.key.last() {
            // The stretch begins with the NULLs of its next part.
            part.push_null(&mut jumps.lower);
            self.range.set(Bound::Excluded(&jumps.lower), Bound::Included(&jumps.upper));
            return self.push_end(&mut jumps.forward, Direction::Forward, parent, sink);
        }
        Ok(Flow::More)
    }

    /// Pushes the first row of `range` in `direction`. `scan`: one of that direction, if there is one already.
    fn push_end(
        &mut self,
        kept: &mut Option<Scan<'r>>,
        direction: Direction,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let mut scan = self.scan_of(kept.take(), direction)?;
        let flow = match scan.next_batch()? {
            Some(batch) => self.push_batch(batch.slice(0..1), parent, sink)?,
            None => Flow::More,
        };
        scan.suspend();
        *kept = Some(scan);
        Ok(flow)
    }

    /// A scan of `range`: `known` started again, or a new one.
    fn scan_of(&self, known: Option<Scan<'r>>, direction: Direction) -> Result<Scan<'r>> {
        let st = self.run.st;
        if let Some(mut scan) = known {
            scan.restart(|range: &mut KeyRange| range.clone_from(&self.range));
            return Ok(scan);
        }
        let scan =
            Scan::open(st.engine, self.table(), self.op.index, st.view, self.range.clone(), direction)?;
        Ok(if self.op.detached { scan.detached() } else { scan })
    }
}

impl Jumps<'_> {
    /// Makes `range` the stretch that starts with `prefix` and whose next parts have the `ends` in `keys`.
    fn set_stretch(&mut self, (low, high): (End, End), keys: &Keys, range: &mut KeyRange) {
        let Jumps { prefix, lower, upper, .. } = self;
        for (key, rest) in [(&mut *lower, &keys.lower), (&mut *upper, &keys.upper)] {
            key.clone_from(prefix);
            key.extend_from_slice(rest);
        }
        // Without bounds the ends are those of the prefix.
        let end = |end: End| if matches!(end, End::Open) { End::Included } else { end };
        range.set(end(low).on(lower), end(high).on(upper));
    }
}
