//! Transactions: ids, read views, undo records, locks, savepoints. Data and waiting only; what a row change
//! means, how it is rolled back and purged is behaviour of `engine`.
//!
//! ```text
//!  TrxSystem --- next id, commit numbers, purge horizon, published views, locks, purge queue
//!      |            ^                                    ^
//!     Trx --- ReadView (limit, number, own id)       TrxSlot (own cache lines)
//!      |
//!   UndoLog --- chunks of words in UndoStore, found by 7-byte UndoPtr from row headers
//! ```
//!
//! # Invariants
//! 1. A transaction's commit number is where its commit ends in the log. A view sees the commits up to a
//!    number; those of ids below its limit are among them.
//! 2. A view is published before it is used; undo of a transaction is kept until every published number is as
//!    great as its own.
//! 3. Undo words are written before a page points at them (the page latch orders both) and never change until
//!    their chunk is freed.
//! 4. A session that keeps others out by a metadata lock waits for nothing while it has it: definition
//!    changes and LOCK TABLES hold no row locks. The exception is a rebuild, which waits for the readers of
//!    its table: `metadata_waits.rs` finds the cycles that come of it.
//!
//! # Latching
//! No function here takes a page latch. The undo mutex of a transaction is taken before page latches by the
//! thread that changes rows, and is held while it waits for a row; the lock table's mutex and the undo
//! store's lock may be taken under page latches. Undo that was swapped may be read back under a shared one.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod client;
mod commit_point;
mod commit_table;
mod deadline;
pub mod error;
mod held_locks;
mod isolation;
pub mod lock;
pub mod metadata_lock;
mod metadata_waits;
pub mod read_view;
mod report;
pub mod savepoint;
mod slot;
pub mod system;
pub mod transaction;
pub mod undo;
mod unfinished;

pub use client::{Client, ClientInfo, ClientSettings};
pub use commit_point::CommitPoint;
pub use commit_table::TrxOutcome;
pub use error::Error;
pub use isolation::Isolation;
pub use lock::{Attempt, Deadlock, DeadlockMember, LockInfo, LockKind, LockReport, OwnerInfo, WaitInfo};
pub use lock::{LockMode, LockRead, Locker, RowLocker, RowRequest, WaitPolicy};
pub use metadata_lock::{ExclusiveWait, MetadataLock, TableUse};
pub use read_view::ReadView;
pub use report::TrxInfo;
pub use savepoint::Savepoint;
pub use slot::{TrxSlot, UndoPin};
pub use system::{PurgeEntry, TrxSystem};
pub use transaction::{BeginOptions, Buffers, RollbackOnDrop, Span, Trx, WriteParts};
pub use undo::{MisplacedUndo, RestoredUndo, UndoRestorer};
pub use undo::{NewUndo, SwapError, UndoKind, UndoLog, UndoRecord, UndoStore};
pub use unfinished::{FoundTrx, UnfinishedTrx};
