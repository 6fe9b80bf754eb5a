//! The storage API: tables, indexes, row operations, dictionary, DDL statements, purge.
//!
//! ```text
//!  Engine --- Store (pages, trees) --- TrxSystem (ids, views, undo) --- Dictionary --- Catalog (names -> Arc<Table>)
//!     |
//!   Table --- Index (tree, row format) ...   get, Scan, Prober | insert, update, delete, find_duplicate
//! ```
//!
//! # Invariants
//! 1. Undo is written before the page change it undoes, under the leaf's latch.
//! 2. A clustered record's undo pointer leads to its previous version for as long as a view may need it.
//! 3. A row has exactly one open entry in each secondary index; entries carry their own visibility.
//! 4. Trees are dropped under the table's exclusive metadata lock, after the dictionary has forgotten them.
//! 5. Definition changes hold no row locks; see `trx`, invariant 4.
//!
//! # Latching
//! A row operation latches one leaf at a time, and waits for locks of rows and gaps with none. A [`Scan`]
//! keeps its leaf latched between two calls unless it is detached; while it does, its thread must not change
//! rows, wait, or latch any other page.
//!
//! # Failure
//! [`Error::effect`] says how far an error reaches. A row operation that fails has changed nothing.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod catalog;
pub mod check;
mod checkpoint;
mod checkpoint_control;
mod clustered_key;
mod column_changes;
mod column_set;
mod commit;
mod commit_wait;
mod config;
mod conversion;
mod convert_tables;
mod counters;
mod damage;
mod datadir;
mod ddl;
mod ddl_throttle;
mod dictionary;
mod dropped_trees;
mod engine;
pub mod error;
mod force_recovery;
mod freed_space;
mod get;
mod index;
mod index_sort;
mod key_values;
mod leaf_prober;
pub mod limits;
mod locking_get;
mod locking_scan;
mod log_space;
mod lost_values;
mod open;
mod page_copy;
mod prober;
mod purge;
mod purge_control;
mod quarantine;
mod range;
mod recovery;
mod row;
mod scan;
mod shutdown;
mod side_log;
mod spill;
mod startup_log;
mod statistics;
mod sweep;
mod table;
mod table_lock;
mod temp_file;
mod transaction;
mod undo_full;
mod undo_limit;
mod unique_keys;
mod value_search;

pub use catalog::TableCounts;
pub use column_changes::has_same_storage;
pub use column_set::ColumnSet;
pub use commit_wait::CommitWait;
pub use config::EngineConfig;
pub use damage::DamagedIndex;
pub use datadir::FORMAT_VERSION;
pub use ddl::{
    Alteration, BuildOptions, InitialValues, KeptColumns, NewColumns, PutRow, QualifiedName, RowOrder,
    WholeRows, clustered_index, keeps_clustered_key,
};
pub use dictionary::SchemaDef;
pub use engine::Engine;
pub use error::{
    DataDirError, DefinitionError, DuplicateKey, DuplicatePart, Effect, Error, NameError, Result,
};
pub use force_recovery::ForceRecovery;
pub use index::Index;
pub use index_sort::{SortMemory, SortTotals};
pub use key_values::KeyValue;
pub use leaf_prober::LeafProber;
pub use locking_scan::{FoundRow, LockingScan, RowPredicate};
pub use log::LogConfig;
pub use prober::Prober;
pub use purge::PurgeReport;
pub use range::{Direction, KeyRange};
pub use row::duplicate::Duplicate;
pub use row::{InsertOutcome, OldRow, RowChange, UpdateOutcome};
pub use scan::{Batch, Scan, ScanMemory, VersionedBatch};
pub use shutdown::ShutdownMode;
pub use side_log::SideLogTotals;
pub use startup_log::StartupLog;
pub use table::Table;
pub use table_lock::{TableLock, TableRequest};
pub use temp_file::TempFileError;
pub use undo_full::UndoFull;

pub use btree::LeafHint;
pub use get::FoundCell;
pub use page::{Field, OlderVersion, OverflowRef, RowFormat, RowRef};
pub use trx::{
    BeginOptions, ExclusiveWait, Isolation, LockMode, LockRead, ReadView, TableUse, Trx, WaitPolicy,
};

#[cfg(test)]
mod tests;
