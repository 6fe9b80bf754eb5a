//! What a table's writers append changes of rows to.

use std::sync::Arc;

use super::build::IndexBuild;
use super::changed_rows::ChangedRows;

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
}
