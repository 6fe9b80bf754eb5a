//! B+-trees over the pages of one data file: descents, cursors, edits, splits, merges, bulk builds
//! (docs/btree.md).
//!
//! # Concepts
//! ```text
//!  space::Store --- pages, redo, extents
//!    |
//!  Tree (root page number)   point, seek -> Position, Cursor: a leaf latched shared
//!                            edit        -> LeafEdit:         a leaf latched exclusively, one mini-transaction
//!                            shrink      -> merges sparse pages
//! ```
//! Keys are byte strings in memcmp order and unique within a tree; payloads are opaque. Which transaction
//! sees or may change a record is decided above: this crate knows neither locks nor transactions.
//!
//! # Invariants
//! 1. A root's page number never changes: a root split moves the content into two new children.
//! 2. A page's keys lie within its fences, `[lower, upper)`; the parent's separators are its children's lower
//!    fences; neighbours on a level share a fence and the left one links to the right one.
//! 3. Every page change goes through [`space::Mtr`], which applies an operation and encodes it by one call.
//! 4. A page that leaves a tree is formatted as free, in the same mini-transaction, before its number can be
//!    used again; the next use has a higher version. Remembered page numbers are checked against tree and
//!    version after latching.
//! 5. Whatever can fail (reading pages, taking pages) happens before a mini-transaction's first change.
//!
//! # Latching
//! Parent before child, left before right, tree pages before the allocation state before map pages and new
//! pages. Descents couple: the child's latch comes before the parent's release. Edits hold nothing but their
//! leaf. Splits and merges hold a parent and its children exclusively. A thread that holds a [`Position`],
//! [`Cursor`] or [`LeafEdit`] enters no other tree, except for reads that go from a secondary leaf to the
//! clustered tree: see [`Cursor`].
//!
//! # Failure and recovery
//! [`space::Error`]; an operation that fails has not changed anything. Each mini-transaction is one frame of
//! the log.
//!
//! # Performance
//! `point` and `edit` allocate nothing and cost one latch pair and one search; one a level where the leaf
//! directory has no entry. Ascending inserts find the right-most leaf without a descent.
//!
//! # Sources
//! Latch coupling and pre-emptive splits: Graefe, "A Survey of B-Tree Locking Techniques" (TODS 2010). Suffix
//! truncation: Bayer and Unterauer, "Prefix B-Trees" (TODS 1977). Fences: Graefe, "Write-Optimized B-Trees"
//! (VLDB 2004).

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod append;
mod bulk_build;
pub mod check;
mod convert;
mod cursor;
mod descend;
mod directory;
mod end_hint;
mod estimate;
mod leaf_edit;
mod links;
mod merge;
mod overflow;
mod owner;
mod probe;
mod read_ahead;
mod sample;
mod separator;
mod split;
mod split_plan;
mod tree;

#[cfg(test)]
mod tests;

pub use bulk_build::BulkBuild;
pub use cursor::{Cursor, Position, Seek, Suspended};
pub use estimate::Stretch;
pub use leaf_edit::{LeafEdit, NeedRoom, Neighbour};
pub use overflow::SMALL_TREE_BYTES;
pub use probe::Probe;
pub use tree::{KEY_BYTES_MAX, LeafHint, RECORD_BYTES_MAX, Tree, TreeShape};
