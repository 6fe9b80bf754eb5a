//! Waiting for space on a full disk.

use std::time::Duration;

use base::sync::Event;

use crate::clock::deadline_in;
use crate::error::{IoError, Result};

/// How long a write that found the disk full waits before it is tried again.
const PAUSE: Duration = Duration::from_millis(100);

/// If `waits`, repeats `work` until it does anything but find the disk full, and returns that. For writes
/// that cannot be taken back, such as those of a committed transaction's log: their space is reserved ahead,
/// but a file system that copies on write may need space for any write. Without `waits` a full disk is an
/// error like any other.
///
/// Latches: those that the writer of the file holds.
#[inline]
pub fn wait_for_space_if<T>(waits: bool, mut work: impl FnMut() -> Result<T>) -> Result<T> {
    match work() {
        Err(error) if waits => repeat_while_full(error, work),
        done => done,
    }
}

#[cold]
#[inline(never)]
fn repeat_while_full<T>(mut error: IoError, mut work: impl FnMut() -> Result<T>) -> Result<T> {
    while error.is_out_of_space() {
        pause_for_space();
        match work() {
            Err(again) => error = again,
            done => return done,
        }
    }
    Err(error)
}

/// Waits a moment, in which space may be freed.
#[cold]
pub fn pause_for_space() {
    let event = Event::new();
    event.wait(event.ticket(), Some(deadline_in(PAUSE)));
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;

    use super::*;
    use crate::error::IoOp;

    fn error(op: IoOp, kind: ErrorKind) -> IoError {
        IoError::new(op, Path::new("f"), kind)
    }

    #[test]
    fn a_write_that_finds_the_disk_full_is_repeated_and_no_other_failure_is() {
        let mut full = 3;
        let written = wait_for_space_if(true, || {
            full -= 1;
            if full > 0 { Err(error(IoOp::Write, ErrorKind::StorageFull)) } else { Ok(full) }
        });
        assert_eq!(written, Ok(0));
        let mut tries = 0;
        let refused: Result<()> = wait_for_space_if(false, || {
            tries += 1;
            Err(error(IoOp::Write, ErrorKind::StorageFull))
        });
        assert_eq!((refused.is_err(), tries), (true, 1));
        for failure in [error(IoOp::Write, ErrorKind::Other), error(IoOp::Sync, ErrorKind::StorageFull)] {
            let mut tries = 0;
            let failed: Result<()> = wait_for_space_if(true, || {
                tries += 1;
                Err(failure.clone())
            });
            assert_eq!((failed, tries), (Err(failure), 1));
        }
    }
}
