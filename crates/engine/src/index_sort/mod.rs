//! Sorting the entries of new indexes within a bounded memory.
//!
//! ```text
//!  add --> open block --sort--> sorted blocks --merge--> runs, in a temporary file --merge--> entries
//!                                     |                   |            ^
//!                                     |                   +---merge----+  more runs than fit
//!                                     +--merge--> entries, if all of them fit
//! ```
//! Entries are collected in a block of moderate size, so that a sort stays in the processor's cache and a
//! killed statement ends soon. When the memory is full of sorted blocks they are merged into one run for each
//! index, at the end of the statement's file. In the end the runs of an index are merged, as many at a time
//! as there are read buffers.
//!
//! | file | role |
//! |---|---|
//! | `key_order` | sorting by keys whose first bytes are kept beside them |
//! | `memory` | how much memory there is, and what it is used for |
//! | `entry` | bytes of an entry with a header |
//! | `layout` | which entries have headers, and which are short keys alone: the same in memory and in the file |
//! | `open_block` | entries that are collected and sorted |
//! | `run_file` | runs in the temporary file |
//! | `merge` | sorted sources, in memory or in the file, as one |
//! | `sorter` | the whole |
//! | `totals` | counters |
//!
//! # Invariants
//! 1. All memory that grows with the number of rows is within [`SortMemory::buffer_bytes`], and charged
//!    before it is allocated.
//! 2. A sort that fits in memory makes no file.
//! 3. No two entries of an index have equal keys: a key ends in that of the clustered index.

mod entry;
mod key_order;
mod layout;
mod memory;
mod merge;
mod open_block;
mod run_file;
mod sorter;
mod totals;

pub(crate) use entry::{ENTRY_BYTES_MAX, Entry, EntryLens, append_entry};
pub(crate) use key_order::head_of;
pub(crate) use layout::{Layout, ShortKeys};
pub(crate) use memory::Charged;
pub use memory::SortMemory;
pub(crate) use merge::{Headed, Merge, MergeOf};
pub(crate) use sorter::{IndexSort, SortPlace};
pub(crate) use totals::SortCounters;
pub use totals::SortTotals;

#[cfg(test)]
mod tests;
