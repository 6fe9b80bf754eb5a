//! Atomics of everything that threads agree through: the standard library's, or, under `--cfg loom`, those of
//! a model checker ([`super::model`]), which sees each access and every value that the memory model lets it
//! return.
//!
//! Counters that are only read by people, and places where a latch orders all accesses, may use `std`
//! directly.

pub use std::sync::atomic::Ordering;

#[cfg(not(loom))]
pub use std::hint::spin_loop;
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, fence};

#[cfg(loom)]
pub use super::model::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, fence};
#[cfg(loom)]
pub use loom::hint::spin_loop;

/// How often a thread checks again before it goes to sleep: `pauses`, but once in a model, where each look is
/// a branch.
pub const fn pauses(pauses: usize) -> usize {
    if cfg!(loom) { 1 } else { pauses }
}
