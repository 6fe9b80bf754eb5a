//! Skip scans that lock (under SERIALIZABLE, or of a statement that changes other rows): they pass over no
//! entry. What lies between the stretches is locked as well, and all rows of a stretch are given, also where
//! its ends would do.

use engine::{Direction, LockRead, LockingScan, RowRef};

use super::skip::Jumps;
use super::skip_leaf::StretchEnds;
use super::{End, TableAccess};
use crate::error::Result;
use crate::frame::Frame;
use crate::op::SkipOp;
use crate::source::{Collect, Flow, Sink};

impl<'r> TableAccess<'r> {
    /// As [`TableAccess::run_skip`] where each row is locked before it is read.
    pub(super) fn lock_skip(
        &mut self,
        op: &'r SkipOp,
        locks: &'r LockRead,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let mut jumps = Jumps::default();
        let Some(ends) = self.stretch_ends(op, parent, &mut jumps.lead)? else { return Ok(Flow::More) };
        let (table, index) = (&self.op.table, self.op.index);
        let mut scan = LockingScan::new(self.run.st.engine, table, index, locks, Direction::Forward);
        self.for_each_area(op, &mut jumps, parent, |access, jumps| {
            scan.restart(false, |range| range.clone_from(&jumps.area));
            access.lock_area(op, ends, &mut scan, locks, parent, sink)
        })
    }

    /// Locks the rows of `scan` and pushes those that lie in stretches.
    fn lock_area(
        &mut self,
        op: &'r SkipOp,
        ends: (End, End),
        scan: &mut LockingScan<'r>,
        locks: &LockRead,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        let mut flow = Flow::More;
        while flow == Flow::More
            && let Some(found) = self.next_locked(scan, parent)?
        {
            self.run.st.count_examined(1);
            let is_inside = self.is_in_stretch(&found.row, op.behind(), ends);
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
            self.run.st.fail_if_killed()?;
            if sink.wants_pause() {
                sink.pause()?;
            }
        }
        Ok(flow)
    }

    /// Whether the parts of a row's key after the first `parts` lie between the `ends` in `keys`.
    fn is_in_stretch(&self, row: &RowRef<'_>, parts: usize, (low, high): (End, End)) -> bool {
        let ends = StretchEnds { low, high, lower: &self.keys.lower, upper: &self.keys.upper };
        let mut first = Vec::new();
        self.op.table.indexes[self.op.index].append_first_parts(row, parts, &mut first);
        row.record().with_key(|key| {
            let rest = &key[first.len()..];
            ends.is_above(rest) && ends.is_below(rest)
        })
    }
}
