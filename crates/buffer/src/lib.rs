//! The buffer pool: pages of `data.pages` in memory, found by number, latched through guards, written back
//! after.
//!
//! # Concepts
//! ```text
//!  page number --> entry (16 bytes: latch word, frame, reference bit) --> frame (16 KiB in one arena)
//!                  two-level array, one chunk per 65,536 pages            clock hand, free list, rec_lsn
//! ```
//! A page is *resident* while its entry names a frame. The latch is the pin: a latched page is never evicted.
//! Frames are taken in order and touched on first use only, so a large idle pool costs no memory.
//! docs/buffer_pool.md has the rules.
//!
//! # Invariants
//! 1. An entry's frame changes only under the page's exclusive latch. A thread that holds the page in any
//!    mode and sees a frame may use it until it releases the page.
//! 2. A frame belongs to one entry, or to the free list, or to the one thread that is filling it.
//! 3. A frame's bytes change only under its page's exclusive latch (or, unowned, by the thread that fills
//!    it).
//! 4. Bytes in a resident frame were verified when read, or made by page functions since; records of leaves,
//!    too, once the row format of their tree is registered ([`Pool::register_format`],
//!    [`Pool::ensure_resident_sound`]).
//! 5. A changed page has `rec_lsn` or `writing_lsn` set until it is on disk, and is not evicted before.
//! 6. The log is durable up to a page's LSN before the page is written.
//! 7. With doublewrite, a page being written has a durable copy until the write is durable, too.
//! 8. After a failed write or sync, no page can be latched exclusively any more.
//!
//! # Latching
//! docs/latching.md. Page latches first; then the write-back batch; then the free frames. Write-back copies a
//! page under a shared latch that it only tries for, so it never waits for a page and no I/O happens under a
//! latch of its own.
//!
//! # Failure
//! [`Error`]; corruption names file and page. A pool whose frames are all latched answers
//! [`Error::Exhausted`].
//!
//! # Performance
//! A hit is an array lookup, one compare-and-swap, and a test of the reference bit.
//!
//! # Sources
//! Translation arrays against hash tables and swizzling: Leis et al., "Virtual-Memory Assisted Buffer
//! Management" (SIGMOD 2023). Second chance: Corbato, "A Paging Experiment with the Multics System" (1968).

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod background;
mod doublewrite;
mod error;
mod evict;
mod fault;
mod file_offset;
mod formats;
mod frames;
mod guard;
mod pool;
mod read_ahead;
mod table;
mod write_back;

pub use doublewrite::{Doublewrite, LogBounds, RestoreReport, forget_copies, restore_torn_pages};
pub use error::{CorruptPage, Error, PageDefect, Result};
pub use formats::TrxIds;
pub use guard::{ExclusiveGuard, SharedGuard};
pub use pool::{FrameHint, Pool, PoolConfig, PoolStats};
pub use table::LookupOutcome;

#[cfg(test)]
mod tests;
