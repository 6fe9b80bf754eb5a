//! The redo log: frames in a stream, the files it lies in, group commit, checkpoints, reading it back.
//!
//! # Concepts
//! ```text
//!  append -> ring (memory) -> leader's write -> redo/N.redo -> leader's sync       LogReader -> frames
//!  tail                       written                          durable
//! ```
//! A position ([`base::Lsn`]) is a byte of the endless stream. A frame is a payload with a checksum; a
//! payload is a sequence of [`Part`]s, whose insides belong to the layers above. docs/redo_log.md is the
//! format and the protocol.
//!
//! # Use
//! A change: [`Log::admit`], latch pages, change them, `let pending = log.append(..)`, stamp the pages with
//! `pending.range()`, drop `pending`, unlatch. A commit then waits in [`LogPosition::durable_up_to`], holding
//! nothing. A start: [`LogReader::open`], frames to the end, [`LogReader::into_log`]. A checkpoint:
//! [`Log::safe_lsn`], write pages back, [`Log::checkpoint`]. The end: [`Log::close`].
//!
//! # Invariants
//! 1. Positions only grow; two frames never share a byte; frames follow each other without gaps.
//! 2. `durable <= written <= safe prefix <= tail`. What is written is complete frames except for the last,
//!    and in order.
//! 3. A frame below [`Log::safe_lsn`] has its bytes in the ring and `rec_lsn` on its pages.
//! 4. The holder of the writer never waits for room in the ring, and a thread that waits for room needs no
//!    page latch.
//! 5. After a failed write or sync nothing is written, nothing becomes durable, and every caller gets the
//!    failure. A write that finds the disk full has not failed: it is repeated until there is space.
//! 6. What is appended after an admission lies in files that are there already ([`Log::keep_space_ahead`]).
//!
//! # Latching
//! The writer is at level Log (docs/latching.md). Appends take no mutex.
//!
//! # Performance
//! An append is the checksum and the copy of its bytes and two atomic read-modify-writes. A lone durable
//! commit is one write and one sync by its own thread.

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod checkpoint;
mod commit_delay;
mod error;
mod files;
mod frame;
mod group_commit;
mod header;
mod in_flight;
mod log;
mod part;
mod position;
mod read_back;
mod reader;
mod reserve;
mod ring;
mod spill;
mod stretch;
mod sync_ahead;

#[cfg(test)]
mod tests;

pub use error::{Damage, Error, Result, SpillDamage};
pub use frame::{FRAME_HEADER_BYTES, PAYLOAD_BYTES_MAX};
pub use header::{Checkpoint, Identity};
pub use log::{Log, LogConfig, LogStats, Pending};
pub use part::{Part, Parts, TrxPhase, TrxState, UNDO_HEAD_BYTES_MAX, UnknownPart, put_undo};
pub use position::{FrameRange, LogPosition, NoLog};
pub use read_back::ReadBack;
pub use reader::LogReader;
pub use reserve::SpaceObserver;
pub use spill::{SpillFile, SpillReader};
pub use stretch::{Frame, Stretch};
