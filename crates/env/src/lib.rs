//! The operating system as the storage layers see it: files, clock, threads, memory, randomness.
//!
//! # Concepts
//! [`Disk`] is a tree of files, [`File`] one open file. [`RealDisk`] calls the kernel; [`SimDisk`] keeps the
//! bytes in memory, behaves the same on every run, fails, lies or flips bits when a test says so, and can
//! lose in a crash what was not synced. Both are used through `Arc<dyn ..>`: an I/O is a system call, so a
//! virtual call is nothing.
//!
//! # Invariants
//! 1. No other storage crate touches `std::fs`, `std::time`, `std::thread` or a system call.
//! 2. A read fills its buffer unless the file ends first; a write is whole or an error.
//! 3. Data are durable after [`File::sync_data`], names after [`Disk::sync_dir`]; nothing else is promised.
//! 4. A failed [`File::sync_data`] is never retried: the kernel may have dropped the pages it could not
//!    write.
//!
//! # Failure
//! Every call returns a typed [`IoError`] that names the operation, the path and the kernel's reason.

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod clock;
mod disk;
mod error;
mod memory;
mod random;
mod read_only_disk;
mod real_disk;
mod sim_disk;
mod simulation;
mod space_wait;
mod thread;

pub use clock::{Clock, RealClock, WallTime, deadline_in};
pub use disk::{Disk, DiskLock, File, OpenOptions};
pub use error::{IoError, IoOp, Result};
pub use memory::Mapping;
pub use random::random_bytes;
pub use read_only_disk::ReadOnlyDisk;
pub use real_disk::RealDisk;
pub use sim_disk::{FaultKind, ScheduledFault, SimDisk};
pub use simulation::{Simulated, simulate, simulate_with};
pub use space_wait::{pause_for_space, wait_for_space_if};
pub use thread::{Thread, end_process, processors, spawn, spawn_background};
