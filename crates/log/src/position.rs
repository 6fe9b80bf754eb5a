//! Positions in the endless redo stream, and who hands them out.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};

use base::Lsn;

use crate::error::Result;

/// Bytes before a frame's payload.
///
/// | OFFSET | SIZE | FIELD                                   |
/// |--------|------|-----------------------------------------|
/// | 0      | 4    | length of the payload in bytes          |
/// | 4      | 4    | CRC-32 of the length and the payload    |
/// | 8      | len  | payload                                 |
pub const FRAME_HEADER_BYTES: u64 = 8;

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
}

/// No log: everything is durable at once. For tests and for files that are rebuilt rather than recovered.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl LogPosition for NoLog {
    fn durable_up_to(&self, _lsn: Lsn) -> Result<()> {
        Ok(())
    }
}

/// The redo log of a data directory; in this version a position counter (see the crate's documentation).
#[derive(Debug)]
pub struct Log {
    tail: AtomicU64,
}

impl Log {
    /// A log that goes on at `restart`: the position stored by the last clean shutdown.
    pub fn open(restart: Lsn) -> Self {
        Log { tail: AtomicU64::new(restart.0) }
    }

    /// Appends one frame and returns where it lies. This version keeps the position and drops the payload.
    ///
    /// Latches: called with the changed pages latched exclusively; never waits. Cost: one atomic add.
    #[inline]
    pub fn reserve_and_copy(&self, payload: &[u8]) -> FrameRange {
        let bytes = FRAME_HEADER_BYTES + payload.len() as u64;
        // AcqRel: a position read after another thread's reservation orders after what that thread did before it.
        let start = self.tail.fetch_add(bytes, Ordering::AcqRel);
        FrameRange { start: Lsn(start), end: Lsn(start + bytes) }
    }

    /// The position that the next frame will have.
    #[inline]
    pub fn current(&self) -> Lsn {
        Lsn(self.tail.load(Ordering::Acquire))
    }
}

impl LogPosition for Log {
    fn durable_up_to(&self, lsn: Lsn) -> Result<()> {
        debug_assert!(lsn <= self.current(), "{lsn} was never written");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_follow_each_other_from_the_restart_position() {
        let log = Log::open(Lsn(1000));
        let first = log.reserve_and_copy(b"abc");
        assert_eq!(first, FrameRange { start: Lsn(1000), end: Lsn(1011) });
        assert_eq!(log.reserve_and_copy(b"").start, first.end);
        assert_eq!(log.current(), Lsn(1019));
        assert_eq!(log.durable_up_to(Lsn(1019)), Ok(()));
    }

    #[test]
    fn frames_of_concurrent_writers_never_overlap() {
        let log = Log::open(Lsn(0));
        let mut frames: Vec<FrameRange> = std::thread::scope(|scope| {
            let append = || (0..500).map(|n| log.reserve_and_copy(&vec![0; n % 7])).collect::<Vec<_>>();
            let writers: Vec<_> = (0..4).map(|_| scope.spawn(append)).collect();
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
        });
        frames.sort_by_key(|frame| frame.start);
        assert!(frames.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}
