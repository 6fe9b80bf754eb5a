//! What a table's writers append changes of rows to.

use std::sync::Arc;

use base::UndoPtr;
use trx::{UndoLog, UndoRecord};

use super::build::IndexBuild;
use super::changed_rows::ChangedRows;
use crate::engine::Engine;
use crate::table::Table;

/// The side log of a table.
#[derive(Clone, Debug)]
pub(crate) enum TableSideLog {
    /// Indexes are built.
    Indexes(Arc<IndexBuild>),
    /// The table is rebuilt.
    Rows(Arc<ChangedRows>),
}

impl TableSideLog {
    /// Whether both are one.
    pub(crate) fn is(&self, other: &TableSideLog) -> bool {
        match (self, other) {
            (TableSideLog::Indexes(one), TableSideLog::Indexes(other)) => Arc::ptr_eq(one, other),
            (TableSideLog::Rows(one), TableSideLog::Rows(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Notes what the change of a row after `mark` in `log` has done to `table`. Its transaction is in
    /// progress. No latch is held.
    #[cold]
    pub(crate) fn note_changes(&self, engine: &Engine, table: &Table, log: &UndoLog, mark: UndoPtr) {
        match self {
            TableSideLog::Indexes(build) => build.note_changes(engine, table, log, mark),
            TableSideLog::Rows(rows) => rows.note_changes(engine, table, log, mark),
        }
    }

    /// The row change recorded in `undo` is about to be undone. The caller holds no latch.
    #[cold]
    pub(crate) fn note_undo(&self, engine: &Engine, table: &Table, undo: &UndoRecord) {
        match self {
            TableSideLog::Indexes(build) => build.note_undo(engine, table, undo),
            TableSideLog::Rows(_) => {}
        }
    }

    /// The undo that [`TableSideLog::note_undo`] announced has taken place, or has failed.
    #[cold]
    pub(crate) fn note_undone(&self, engine: &Engine, undo: &UndoRecord, took_place: bool) {
        match self {
            TableSideLog::Indexes(build) if !took_place => build.note_not_undone(),
            TableSideLog::Indexes(_) => {}
            TableSideLog::Rows(rows) => rows.note_undone(engine, undo),
        }
    }
}
