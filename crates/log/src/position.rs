//! Positions in the endless redo stream.

use std::fmt::Debug;

use base::Lsn;

use crate::error::Result;

/// The stretch of the log that one frame takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRange {
    /// First byte of the frame: what `rec_lsn` of a page it dirties is set to.
    pub start: Lsn,
    /// First byte after the frame: what the LSN of a page it changes is set to, and what a commit waits for.
    pub end: Lsn,
}

/// What page write-back needs of the log.
pub trait LogPosition: Send + Sync + Debug {
    /// Returns once every log byte below `lsn` survives a crash; makes it so if need be.
    ///
    /// Latches: may wait for a sync, so the caller holds no page latch (docs/latching.md, rules 5 and 7).
    fn durable_up_to(&self, lsn: Lsn) -> Result<()>;

    /// The end of the log: no page was changed after it.
    fn end(&self) -> Lsn {
        Lsn(u64::MAX)
    }
}

/// No log: everything is durable at once. For tests and for files that are rebuilt rather than recovered.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl LogPosition for NoLog {
    fn durable_up_to(&self, _lsn: Lsn) -> Result<()> {
        Ok(())
    }
}
