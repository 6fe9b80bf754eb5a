//! Skip scans: the scan jumps from one value of an index's first parts to the next, and reads a stretch after
//! each.
//!
//! A search in the current leaf finds the end of a group within it; only larger groups take descents.
//!
//! A read that turns out to lock passes over no entry: see [`super::skip_locked`].

use std::ops::Bound;

use engine::{Batch, Direction, KeyRange, Scan};
use sql::plan::Take;
use types::key::successor;

use super::skip_leaf::{StretchEnds, stretch_in, taken};
use super::{End, Keys, TableAccess, push_parts, range_bounds};
use crate::error::Result;
use crate::frame::Frame;
use crate::intervals::Intervals;
use crate::key_runs::run_end;
use crate::op::SkipOp;
use crate::source::{Flow, Sink};

/// State that is kept between jumps and between runs.
#[derive(Debug, Default)]
pub(super) struct Jumps<'r> {
    /// Finds the next value.
    finder: Option<Scan<'r>>,
    /// Reads the first row of a stretch, and the last one.
    forward: Option<Scan<'r>>,
    backward: Option<Scan<'r>>,
    /// Key bytes of the equal first parts.
    pub(super) lead: Vec<u8>,
    /// The source of the values.
    pub(super) area: KeyRange,
    /// Where the next value is searched for.
    from: Vec<u8>,
    /// Key bytes of the first parts up to the last one that is skipped.
    prefix: Vec<u8>,
    /// Ends of a stretch.
    lower: Vec<u8>,
    upper: Vec<u8>,
}

/// Result of a leaf.
enum Found {
    /// All that was left in the area.
    All,
    /// Its groups; the next value is behind them.
    Groups,
    /// The groups before one that continues in the next leaf.
    PartOfGroup,
    /// More than the sink wants.
    Enough,
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
        let flow = match self.stretch_ends(op, parent, &mut jumps.lead)? {
            None => Ok(Flow::More),
            Some(ends) => self.for_each_area(op, &mut jumps, parent, |access, jumps| {
                access.run_jumps(op, ends, jumps, parent, sink)
            }),
        };
        self.jumps = Some(jumps);
        flow
    }

    /// Makes `lead` the key bytes of the equal first parts and returns the ends of each stretch, their bytes
    /// in `keys`; `None` if nothing can be found.
    pub(super) fn stretch_ends(
        &mut self,
        op: &'r SkipOp,
        parent: Option<&Frame<'_>>,
        lead: &mut Vec<u8>,
    ) -> Result<Option<(End, End)>> {
        let (run, keys) = (self.run, &self.op.key);
        lead.clear();
        if !push_parts(run, keys, &op.lead, &op.lead_null_safe, parent, lead, &self.arena)? {
            return Ok(None);
        }
        range_bounds(run, &op.rest, &keys[op.behind()..], parent, &mut self.keys, &self.arena)
    }

    /// Calls `run` with each area of the index that has values, in key order, until it has enough.
    pub(super) fn for_each_area(
        &mut self,
        op: &'r SkipOp,
        jumps: &mut Jumps<'r>,
        parent: Option<&Frame<'_>>,
        mut run: impl FnMut(&mut Self, &mut Jumps<'r>) -> Result<Flow>,
    ) -> Result<Flow> {
        let Some((keys, int_key)) = &op.within else {
            let end = if jumps.lead.is_empty() { Bound::Unbounded } else { Bound::Included(&jumps.lead[..]) };
            jumps.area.set(end, end);
            return run(self, jumps);
        };
        let known = self.intervals.take();
        let mut areas = known.unwrap_or_else(|| Box::new(Intervals::new(self.run.st.memory)));
        let parts = &self.op.key[..keys.parts()];
        areas.make((keys, int_key.as_ref()), parts, self.run, parent, &self.arena)?;
        for at in 0..areas.len() {
            let area = areas.get(at);
            jumps.area.set(area.lower, area.upper);
            if run(self, jumps)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            self.run.st.fail_if_killed()?;
        }
        self.intervals = Some(areas);
        Ok(Flow::More)
    }

    /// The rows of the stretches in one area.
    fn run_jumps(
        &mut self,
        op: &'r SkipOp,
        ends: (End, End),
        jumps: &mut Jumps<'r>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        self.range.clone_from(&jumps.area);
        loop {
            match self.leave_groups(op, ends, jumps, parent, sink)? {
                Found::All => return Ok(Flow::More),
                Found::Enough => return Ok(Flow::Enough),
                Found::Groups => {}
                Found::PartOfGroup => {
                    jumps.set_stretch(ends, &self.keys, &mut self.range);
                    if self.push_stretch(op.take, jumps, parent, sink)? == Flow::Enough {
                        return Ok(Flow::Enough);
                    }
                }
            }
            self.run.st.fail_if_killed()?;
            if sink.wants_pause() {
                sink.pause()?;
            }
            jumps.from.clone_from(&jumps.prefix);
            if !successor(&mut jumps.from) {
                return Ok(Flow::More);
            }
            self.range.set_from(&jumps.area, &jumps.from);
        }
    }

    /// Pushes the stretches of the groups that end in the first leaf of `range`; [`Jumps::prefix`] becomes
    /// that of the last group looked at.
    fn leave_groups(
        &mut self,
        op: &'r SkipOp,
        ends: (End, End),
        jumps: &mut Jumps<'r>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Found> {
        let mut scan = self.scan_of(jumps.finder.take(), Direction::Forward)?;
        let found = match scan.next_batch_to_end()? {
            None => Found::All,
            Some((batch, is_last)) => {
                let (mut flow, mut at) = (Flow::More, 0);
                while flow == Flow::More && at < batch.len() {
                    jumps.prefix.clear();
                    let index = &self.op.table.indexes[self.op.index];
                    index.append_first_parts(&batch.row(at), op.behind(), &mut jumps.prefix);
                    let end = run_end(&batch, at, jumps.prefix.len());
                    if end == batch.len() && !is_last {
                        break;
                    }
                    flow = self.push_group(op.take, (batch, at..end), (&mut *jumps, ends), parent, sink)?;
                    at = end;
                }
                match flow {
                    Flow::Enough => Found::Enough,
                    Flow::More if at < batch.len() => Found::PartOfGroup,
                    Flow::More if is_last => Found::All,
                    Flow::More => Found::Groups,
                }
            }
        };
        scan.suspend();
        jumps.finder = Some(scan);
        Ok(found)
    }

    /// Pushes the rows that are wanted of a group of `batch`, whose key bytes are in [`Jumps::prefix`].
    fn push_group(
        &mut self,
        take: Take,
        (batch, group): (Batch<'_>, std::ops::Range<usize>),
        (jumps, (low, high)): (&mut Jumps<'r>, (End, End)),
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let len = jumps.prefix.len();
        let ends = StretchEnds { low, high, lower: &self.keys.lower, upper: &self.keys.upper };
        let stretch = stretch_in(&batch, group, len, &ends);
        if stretch.is_empty() {
            return Ok(Flow::More);
        }
        let Take::Ends { not_null, .. } = take else {
            return self.push_batch(batch.slice(stretch), parent, sink);
        };
        let first_not_null = match self.op.key.last().filter(|_| not_null) {
            None => None,
            Some(part) => {
                // The stretch begins with the NULLs of its next part.
                jumps.lower.clone_from(&self.keys.lower);
                part.push_null(&mut jumps.lower);
                let values =
                    StretchEnds { low: End::Excluded, high: End::Open, lower: &jumps.lower, upper: &[] };
                let values = stretch_in(&batch, stretch.clone(), len, &values);
                (!values.is_empty()).then_some(values.start)
            }
        };
        for at in taken(take, stretch, first_not_null).into_iter().flatten() {
            if self.push_batch(batch.slice(at..at + 1), parent, sink)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
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

    /// Pushes the first row of `range` in `direction`. `scan`: one of that direction, if there is one
    /// already.
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
