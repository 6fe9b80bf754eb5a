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
pub(crate) enum Watch {
    /// Indexes are built.
    Indexes(Arc<IndexBuild>),
    /// The table is rebuilt.
    Rows(Arc<ChangedRows>),
}

impl Watch {
    /// Whether both are one.
    pub(crate) fn is(&self, other: &Watch) -> bool {
        match (self, other) {
            (Watch::Indexes(one), Watch::Indexes(other)) => Arc::ptr_eq(one, other),
            (Watch::Rows(one), Watch::Rows(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Notes what the change of a row behind `mark` in `log` has done to `table`. Its transaction is in
    /// progress. No latch is held.
    #[cold]
    pub(crate) fn note_changes(&self, engine: &Engine, table: &Table, log: &UndoLog, mark: UndoPtr) {
        match self {
            Watch::Indexes(build) => build.note_changes(engine, table, log, mark),
            Watch::Rows(rows) => rows.note_changes(engine, table, log, mark),
        }
    }

    /// The row change recorded in `undo` is about to be undone. The caller holds no latch.
    #[cold]
    pub(crate) fn note_undo(&self, engine: &Engine, table: &Table, undo: &UndoRecord) {
        match self {
            Watch::Indexes(build) => build.note_undo(engine, table, undo),
            Watch::Rows(_) => {}
        }
    }

    /// The undo that [`Watch::note_undo`] announced has taken place, or has failed.
    #[cold]
    pub(crate) fn note_undone(&self, engine: &Engine, undo: &UndoRecord, took_place: bool) {
        match self {
            Watch::Indexes(build) if !took_place => build.note_not_undone(),
            Watch::Indexes(_) => {}
            Watch::Rows(rows) => rows.note_undone(engine, undo),
        }
    }
}
