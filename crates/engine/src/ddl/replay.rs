//! Doing to new trees what changes of rows have done meanwhile: see `side_log`.

use super::index::find_clash;
use super::new_entries::{NewEntries, SUSPECT_BYTES_MAX};
use super::rounds::Rounds;
use super::snapshot::Snapshot;
use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::index_sort::{Charged, SortMemory};
use crate::side_log::{Change, IndexBuild, SideLogTotals};
use crate::table::Table;

/// Entries that are removed or inserted between two checks of the kill flag.
const CHANGES_BETWEEN_LOOKS: u64 = 64;

/// The changes of a build, on their way into its trees.
pub(super) struct Replay<'a> {
    engine: &'a Engine,
    table: &'a Table,
    build: &'a IndexBuild,
    _memory: Charged,
    changes: Vec<u8>,
    entries: NewEntries<'a>,
}

impl<'a> Replay<'a> {
    /// # Errors
    /// [`Error::Memory`].
    pub(super) fn new(
        engine: &'a Engine,
        table: &'a Table,
        build: &'a IndexBuild,
        memory: &SortMemory,
    ) -> Result<Self> {
        let charged = Charged::new(memory);
        charged.set(IndexBuild::MEMORY_BYTES_MAX + SUSPECT_BYTES_MAX)?;
        let entries = NewEntries::new(engine, build.indexes());
        Ok(Replay { engine, table, build, _memory: charged, changes: Vec::new(), entries })
    }

    /// Takes changes while others make more, until few are left, or until others are found to be as fast: see
    /// [`Rounds`].
    ///
    /// # Errors
    /// [`Error::DuplicateKey`], [`Error::SideLogFull`]: there are very many keys of which two rows have each.
    /// Those of [`IndexBuild::take`]; those of changing trees; [`trx::Error::Interrupted`].
    pub(super) fn catch_up(&mut self) -> Result<()> {
        fail_if_interrupted()?;
        self.build.ensure_whole()?;
        let mut rounds = Rounds::new(IndexBuild::REST_BYTES);
        while rounds.is_worth_another(self.build.waiting()) {
            let mut left = self.build.waiting();
            while left > 0 {
                let taken = self.take_some()?;
                if taken == 0 {
                    break;
                }
                left = left.saturating_sub(taken);
            }
        }
        Ok(())
    }

    /// Replays the last changes and checks unique keys. The caller holds the exclusive lock.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`]; those of [`Replay::catch_up`].
    pub(super) fn finish(mut self) -> Result<()> {
        while self.take_some()? > 0 {}
        match self.entries.find_twice(|(position, ..)| Ok(Some(position)))? {
            None => Ok(()),
            Some(position) => Err(self.find_clash()?.unwrap_or_else(|| self.build.disagrees(position))),
        }
    }

    /// Takes the oldest changes; returns how many bytes they have.
    fn take_some(&mut self) -> Result<u64> {
        let mut changes = std::mem::take(&mut self.changes);
        self.build.take(&mut changes)?;
        let taken = changes.len() as u64;
        let (mut rest, mut applied) = (&changes[..], 0);
        while let Some(change) = Change::take(&mut rest) {
            if applied % CHANGES_BETWEEN_LOOKS == 0 {
                fail_if_interrupted()?;
            }
            self.apply(change)?;
            applied += 1;
        }
        self.engine.side_log_counters.add(SideLogTotals { applied, ..SideLogTotals::default() });
        // The queue does not divide the changes of one row, which may need more memory than is charged.
        changes.clear();
        changes.shrink_to(IndexBuild::MEMORY_BYTES_MAX / 2);
        self.changes = changes;
        Ok(taken)
    }

    fn apply(&mut self, change: Change<'_>) -> Result<()> {
        match self.entries.apply(change) {
            Err(error @ Error::SideLogFull { .. }) => Err(self.find_clash()?.unwrap_or(error)),
            done => done,
        }
    }

    /// The error for a suspect that a committed row has.
    #[cold]
    fn find_clash(&self) -> Result<Option<Error>> {
        let Replay { engine, table, build, entries, .. } = self;
        let snapshot = Snapshot::take(engine);
        entries.find_twice(|(position, declared, clustered_key)| {
            let index = &build.indexes()[position];
            find_clash(engine, table, &snapshot.view, index, &declared, &clustered_key)
        })
    }
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        let blocks = self.build.blocks();
        self.engine.side_log_counters.add(SideLogTotals { blocks, ..SideLogTotals::default() });
    }
}
