//! Looking at whole trees.
//!
//! For CHECK TABLE, `ratchet check` and tests: no statement comes here. The data must not change during a
//! check. Memory: a bit for each page of the file, and the children of one page a level.

mod tree;

pub use tree::{TreeReport, VisitLeaf};
