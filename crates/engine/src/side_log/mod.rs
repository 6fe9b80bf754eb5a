//! Changes of rows while indexes are built: the side log of a build.
//!
//! ```text
//!  row change, rollback of one --> entries before and after --> queue, in memory and a file --> the build
//! ```
//! A build reads the rows of a snapshot, and puts their entries into new trees. Whoever changes a row
//! meanwhile, or undoes a change, adds to the side log which entry of each new index the row loses, and which
//! it gets. The build then does the same to its trees, change by change, until there is no change left and
//! nobody who makes one.
//!
//! | file | role |
//! |---|---|
//! | `change` | bytes of a change |
//! | `queue` | changes that wait: bounded, the older ones in a temporary file |
//! | `row_entries` | the entries of a version of a row |
//! | `build` | a build under way, and what is noted of a change |
//! | `totals` | counters |
//!
//! # Invariants
//! 1. A build begins while no transaction has changes of its table that are in progress, and its snapshot is
//!    taken then. From there on every change of a row's newest version is noted.
//! 2. Changes of one row are in the side log in the order in which they were made: a change is noted while
//!    the transaction keeps others from the row. What undoes a change is noted before it is done, because it
//!    lets go of the row.
//! 3. So the trees have exactly the entries of the rows as they are behind the last change that the build has
//!    taken, each of them once; rows of transactions that are in progress count.
//! 4. A row is changed whatever becomes of its note. A note that cannot be made fails the build.

mod build;
mod change;
mod queue;
mod row_entries;
mod totals;

pub(crate) use build::IndexBuild;
pub(crate) use change::{Action, Change};
pub(crate) use totals::SideLogCounters;
pub use totals::SideLogTotals;
