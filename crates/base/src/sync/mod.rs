//! Latches, mutexes with a place in the latch order, parking, critical sections, sharded counters.
//!
//! Every wait of the storage layers goes through [`park`] and [`plain`], which hand it to the scheduler when they run
//! under a simulated one ([`sim`]). The order in which latches may be taken is docs/latching.md; [`LatchLevel`] is that order in
//! code and debug builds assert it.

mod counter;
pub mod critical;
mod latch;
mod level;
mod mutex;
pub mod park;
pub mod plain;
mod planted;
pub mod sim;

pub use counter::{Counter, Padded};
pub use latch::Latch;
pub use level::{Held, LatchLevel};
pub use mutex::{Mutex, MutexGuard};
pub use park::Event;
pub use planted::{Planted, planted};
