//! A build under way: its indexes, and the changes that wait for it.

use types::TableDef;

use super::queue::{BLOCK_BYTES, ChangeQueue};
use crate::column_set::ColumnSet;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::temp_file::TempFolder;

/// Indexes that are built while rows change, and the changes.
#[derive(Debug)]
pub(crate) struct IndexBuild {
    pub(super) indexes: Vec<Index>,
    /// Columns that their entries are made from.
    pub(super) columns: ColumnSet,
    pub(super) queue: ChangeQueue,
}

impl IndexBuild {
    /// Most bytes of changes in memory: those that the queue keeps, and those that the build has taken.
    pub(crate) const MEMORY_BYTES_MAX: usize = 2 * BLOCK_BYTES;
    /// Catch-up stops when at most this many bytes wait; the rest is replayed under the exclusive lock.
    pub(crate) const REST_BYTES: u64 = BLOCK_BYTES as u64;

    /// A build of `indexes` of `table`, of which there is one at least, for which changes of up to
    /// `bytes_max` bytes may wait.
    pub(crate) fn new(folder: &TempFolder, table: &TableDef, indexes: Vec<Index>, bytes_max: u64) -> Self {
        let columns = table.columns.len();
        let columns = indexes.iter().flat_map(|index| index.columns.below(columns)).collect();
        let name = format!("changes-{}", indexes[0].def.id.0);
        let names = indexes.iter().map(|index| index.def.name.clone()).collect();
        let queue = ChangeQueue::new(folder, name, bytes_max, names);
        IndexBuild { indexes, columns, queue }
    }

    pub(crate) fn indexes(&self) -> &[Index] {
        &self.indexes
    }

    /// The error for a change that does not fit the index at `position`.
    #[cold]
    pub(crate) fn disagrees(&self, position: usize) -> Error {
        Error::SideLogDisagrees { index: self.indexes[position].def.name.clone() }
    }

    /// Fails the build because a change could not be logged.
    #[cold]
    pub(super) fn fail(&self, error: Error) {
        self.queue.fail(error);
    }

    /// # Errors
    /// What keeps the build from knowing of all changes.
    pub(crate) fn ensure_whole(&self) -> Result<()> {
        self.queue.ensure_whole()
    }

    /// Replaces `changes` by the oldest ones that wait. False: there are none.
    ///
    /// # Errors
    /// Those of [`IndexBuild::ensure_whole`]; [`Error::TempFile`].
    pub(crate) fn take(&self, changes: &mut Vec<u8>) -> Result<bool> {
        self.queue.take(changes)
    }

    /// Bytes of changes that wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.queue.waiting()
    }

    /// Blocks that were written to the temporary file.
    pub(crate) fn blocks(&self) -> u64 {
        self.queue.blocks()
    }
}
