//! Latches, mutexes with a place in the latch order, parking, critical sections, sharded counters.
//!
//! Every wait of the storage layers goes through [`park`] and [`plain`], which hand it to the scheduler when
//! they run under a simulated one ([`sim`]). The order in which latches may be taken is docs/latching.md;
//! [`LatchLevel`] is that order in code and debug builds assert it.

pub mod atomic;
mod counter;
pub mod critical;
pub mod interrupt;
mod latch;
mod level;
#[cfg(loom)]
pub mod model;
mod mutex;
pub mod park;
#[cfg(not(loom))]
pub mod plain;
mod planted;
mod planted_bug;
mod race_check;
#[cfg_attr(loom, expect(dead_code, reason = "the locks of a model are not simulated"))]
pub mod sim;
mod wait_result;
pub mod wait_times;

#[cfg(loom)]
pub use model::plain;

pub use counter::{Counter, Padded};
pub use latch::Latch;
pub use level::{HeldLatch, LatchLevel, assert_no_latch};
pub use mutex::{Mutex, MutexGuard};
pub use park::Event;
pub use planted::planted;
pub use planted_bug::PlantedBug;
pub use race_check::RaceCheck;
