//! The parking lot of `parking_lot_core`.

use std::time::Instant;

use parking_lot_core::{DEFAULT_UNPARK_TOKEN, FilterOp, ParkResult, ParkToken, UnparkResult, unpark_filter};

use super::{Choice, Wake};

/// [`super::park_on`] of a thread that is not simulated.
#[inline]
#[expect(unsafe_code, reason = "parking_lot_core's entry points are unsafe")]
pub(super) fn park(
    addr: usize,
    kind: usize,
    deadline: Option<Instant>,
    still_wanted: impl FnOnce() -> bool,
) -> Wake {
    // SAFETY: `addr` is the address of a live object of ours, which only this crate's `sync` parks on; the
    // callbacks neither panic nor call into parking_lot_core (promised by both callers, `Latch` and
    // `wait_while_equal`).
    let result =
        unsafe { parking_lot_core::park(addr, still_wanted, || {}, |_, _| {}, ParkToken(kind), deadline) };
    match result {
        ParkResult::Unparked(_) => Wake::Unparked,
        ParkResult::Invalid => Wake::Stale,
        ParkResult::TimedOut => Wake::TimedOut,
    }
}

/// [`super::unpark_matching`] by a thread that is not simulated.
#[inline]
#[expect(unsafe_code, reason = "parking_lot_core's entry points are unsafe")]
pub(super) fn unpark(addr: usize, mut choose: impl FnMut(usize) -> Choice, done: impl FnOnce(bool)) {
    let filter = |token: ParkToken| match choose(token.0) {
        Choice::Wake => FilterOp::Unpark,
        Choice::PassOver => FilterOp::Skip,
        Choice::Stop => FilterOp::Stop,
    };
    let callback = |result: UnparkResult| {
        done(result.have_more_threads);
        DEFAULT_UNPARK_TOKEN
    };
    // SAFETY: as in `park`: our own address, callbacks that neither panic nor re-enter.
    unsafe { unpark_filter(addr, filter, callback) };
}
