//! What goes wrong on a simulated disk, and when.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::IoOp;

/// Faults of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It fails and has no effect, except that after a failed sync each unsynced sector may or may not be
    /// durable, and is not written by a later sync.
    Error(ErrorKind),
    /// The machine loses power before it: it and everything after it fails; a simulation ends.
    PowerOff,
    /// A read ends early, as if the file did.
    ShortRead,
    /// A read finds one bit of what is stored flipped, permanently.
    BitRot,
    /// A read finds what is stored somewhere else in the file.
    MisdirectedRead,
    /// A write stores some of its first sectors and fails with this.
    PartialWrite(ErrorKind),
    /// A write is acknowledged and does not happen.
    LostWrite,
    /// A write is acknowledged and lands somewhere else in the file.
    MisdirectedWrite,
    /// The disk is full: this operation, and each later one that may need space, fails until the disk gets
    /// another capacity.
    Full,
}

/// A fault, and the operation that it happens to.
#[derive(Clone, Copy, Debug)]
pub struct ScheduledFault {
    /// The kind of operation; `None`: every operation counts.
    pub op: Option<IoOp>,
    /// The name of the file; `None`: every file counts.
    pub file: Option<&'static str>,
    /// Which of these operations, counted from now: 1 = the next one.
    pub nth: u64,
    /// What happens.
    pub fault: FaultKind,
}

impl ScheduledFault {
    fn concerns(&self, op: IoOp, path: &Path) -> bool {
        self.op.is_none_or(|its| its == op)
            && self.file.is_none_or(|its| path.file_name().is_some_and(|name| name == its))
    }
}

/// Counts operations and decides which of them go wrong.
#[derive(Debug, Default)]
pub(super) struct FaultPlan {
    /// Sequences of faults, each of which waits for the one before; the first of each counts.
    scheduled: Vec<VecDeque<ScheduledFault>>,
    /// The faults that have come, in order.
    happened: Vec<FaultKind>,
    counts: BTreeMap<IoOp, u64>,
}

impl FaultPlan {
    pub(super) fn schedule(&mut self, scheduled: &[ScheduledFault]) {
        self.scheduled.push(scheduled.iter().copied().collect());
    }

    pub(super) fn unschedule(&mut self) {
        self.scheduled.clear();
    }

    pub(super) fn happened(&self) -> &[FaultKind] {
        &self.happened
    }

    pub(super) fn count(&self, op: IoOp) -> u64 {
        self.counts.get(&op).copied().unwrap_or(0)
    }

    pub(super) fn count_all(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Counts one operation; what happens to it.
    pub(super) fn next(&mut self, op: IoOp, path: &Path) -> Option<FaultKind> {
        *self.counts.entry(op).or_default() += 1;
        let mut due = None;
        for (at, scheduled) in self.scheduled.iter_mut().enumerate() {
            let Some(next) = scheduled.front_mut().filter(|next| next.concerns(op, path)) else { continue };
            next.nth = next.nth.saturating_sub(1);
            if next.nth == 0 {
                due = due.or(Some(at));
            }
        }
        let fault = due.and_then(|at| self.scheduled[at].pop_front()).map(|scheduled| scheduled.fault);
        self.happened.extend(fault);
        fault
    }
}
