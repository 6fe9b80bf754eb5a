//! The redo log: positions, frames, and the promise that a page never reaches the disk before its log.
//!
//! This version keeps no log file. [`Log`] hands out positions exactly as the log with files will, so that pages carry
//! true log sequence numbers and write-back asks for durability in the right places; the payloads are dropped. What
//! follows from that: a data directory that was not shut down cleanly is refused at start.
//!
//! # Invariants
//! 1. Positions only grow; two frames never share a byte.
//! 2. A clean shutdown stores [`Log::current`], and the next start passes it to [`Log::open`]: positions never repeat.
//! 3. Page writers call [`LogPosition::durable_up_to`] with the page's LSN first.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod error;
mod position;

pub use error::{Error, Result};
pub use position::{FRAME_HEADER_BYTES, FrameRange, Log, LogPosition, NoLog};
