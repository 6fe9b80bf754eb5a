//! The data file: its space, changes of pages that reach the log whole, and the redo that a startup applies.
//!
//! # Concepts
//! ```text
//!  Store --- Pool (pages), Log (redo), Space (extents: who owns which page)
//!    |
//!   Mtr      a few pages latched exclusively; what changes them is one frame of the log
//! ```
//! A file is a row of extents of 64 pages; the map pages say which tree owns each extent and which of its
//! pages are in use. Small trees share extents. Pages belong to trees by number only: what is in them is
//! the business of the layers above.
//!
//! # Invariants
//! 1. Every page change goes through the one call of [`Mtr`] that applies an operation and encodes it, so
//!    that the log alone rebuilds every page byte for byte.
//! 2. A page that leaves a tree is formatted as free, in the same mini-transaction, before its number can be
//!    used again; the next use has a higher version.
//! 3. Whatever can fail (reading pages, taking pages) happens before a mini-transaction's first change.
//! 4. Disk space of a freed extent is given back only when the log that freed it is below the last
//!    checkpoint.
//!
//! # Latching
//! Pages of trees before the allocation state before map pages and new pages. A mini-transaction keeps the
//! allocation state from its first allocation to its commit.
//!
//! # Failure and recovery
//! [`Error`]; an operation that fails has not changed anything. A startup applies redo by page, on several
//! threads (docs/redo_log.md); what it cannot read or make is lost by page, or refused.
//!
//! # Performance
//! A mini-transaction of one page allocates nothing. Allocation is a bit search in the map's copy in memory.
//!
//! # Sources
//! Gray and Reuter, "Transaction Processing" (1993), for physiological redo; InnoDB's fsp and mtr for the
//! terms.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod allocate;
pub mod check;
mod claims;
mod destroy;
mod error;
mod extent_no;
mod extents;
mod garbage;
mod mtr;
mod overflow;
mod owner;
mod recover;
mod shared_owners;
mod space;
mod space_reserve;
mod store;
mod substitute_header;
mod unclaimed;

pub use allocate::{NewPage, NewRun};
pub use claims::UnclaimedPages;
pub use error::{BadFrame, Error, Result};
pub use extents::Locality;
pub use garbage::Sweep;
pub use mtr::{Latched, Mtr};
pub use overflow::overflow_pages;
pub use recover::{Progress, StartObserver};
pub use space::SpaceReport;
pub use space_reserve::SpaceReserve;
pub use store::{Store, StoreConfig};
