//! Ids and units as newtypes, little-endian codecs, checksums, invariant macros, a seeded generator, latches.
//!
//! The lowest layer: no I/O, no SQL, no page format. Everything here is used by every crate above.

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod ascii;
pub mod checksum;
pub mod codec;
pub mod hash;
pub mod ids;
pub mod invariant;
pub mod loser_tree;
pub mod memory;
pub mod prefetch;
pub mod prng;
pub mod sort_runs;
pub mod sync;

pub use ids::{ColumnId, IndexId, Lsn, PageNo, ROW_HEADER_BYTES, SchemaId, TableId, TrxId, UndoPtr};
pub use prefetch::prefetch;
