//! The side log of an index build or a rebuild: row changes that other transactions make meanwhile.
//!
//! ```text
//!  row change or its rollback --> entries before and after --> queue, in memory and a file --> the build
//! ```
//! A build reads the rows of a snapshot and inserts their entries into new trees. A transaction that changes
//! a row meanwhile, or rolls a change back, appends to the side log the entries that the row loses and gains
//! in each new index. The build then replays these changes in its trees. Under the exclusive lock, when no
//! transaction can append, it replays the last ones.
//!
//! | file | role |
//! |---|---|
//! | `change` | bytes of a change |
//! | `changed_rows` | a rebuild in progress: the keys of rows that change |
//! | `note` | what both log of a change |
//! | `table_side_log` | which of the two a table has |
//! | `queue` | changes not yet replayed: bounded, the older ones in a temporary file |
//! | `row_entries` | the entries of a version of a row |
//! | `build` | a build in progress |
//! | `totals` | counters |
//!
//! # Invariants
//! 1. A build takes its snapshot while no active transaction has changed the table. Every later change of a
//!    row's newest version is logged.
//! 2. The side log has the changes of one row in their order. A transaction logs a change while it still
//!    locks the row. It logs a rollback before it undoes the change, because the undo unlocks the row.
//! 3. Therefore the trees have exactly the entries of the newest row versions as of the last replayed change,
//!    uncommitted versions included.
//! 4. A change that cannot be logged fails the build, never the change.
//!
//! A rebuild takes its snapshot likewise. Its side log has only the clustered keys of changed rows, in any
//! order: the rebuild reads each of these rows again (`ddl/row_replay.rs`). A transaction logs a key after
//! the change, or after its rollback. Under the exclusive lock no transaction has changes that it has not
//! logged.

mod build;
mod change;
mod changed_rows;
mod note;
mod queue;
mod row_entries;
mod table_side_log;
mod totals;

pub(crate) use build::IndexBuild;
pub(crate) use change::{Action, Change};
pub(crate) use changed_rows::{ChangedRows, bytes_of_key, take_key};
pub(crate) use row_entries::{Indexed, RowEntries};
pub(crate) use table_side_log::TableSideLog;
pub(crate) use totals::SideLogCounters;
pub use totals::SideLogTotals;
