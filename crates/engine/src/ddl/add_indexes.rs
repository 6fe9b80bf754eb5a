//! ALTER TABLE that builds indexes of a table as it is.
//!
//! | phase | function | lock |
//! |---|---|---|
//! | trees, snapshot, side log | [`Engine::begin_build`] | no thread changes rows |
//! | scan, sort, fill | [`Engine::build`] | others read and change rows |
//! | changes of others | [`Replay::catch_up`] | the same, also while the next lock is waited for |
//! | the last changes | [`Replay::finish`] | exclusive |
//! | the new definition | [`Engine::put_altered`] | exclusive |
//!
//! With [`BuildOptions::lets_writers_on`] off, no thread changes rows before the exclusive lock. An error,
//! KILL or a crash before the new definition leaves the table as it was, and the new trees are freed as
//! pending ones.

use std::sync::Arc;

use base::IndexId;
use trx::ExclusiveWait;
use types::TableDef;

use super::alter::{Alteration, Rows, ensure_alterable};
use super::pace::Pace;
use super::replay::Replay;
use super::snapshot::Snapshot;
use super::{DefinitionLock, Exclusive};
use crate::engine::Engine;
use crate::error::Result;
use crate::index::Index;
use crate::index_sort::SortMemory;
use crate::side_log::{IndexBuild, TableSideLog};
use crate::table::Table;

/// Limits of an index build or a rebuild, and whether writers continue during it.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// For the entries of the indexes.
    pub memory: SortMemory,
    /// Most bytes of changes of rows that may wait (`innodb_online_alter_log_max_size`).
    pub side_log_bytes_max: u64,
    /// Others change rows meanwhile.
    pub lets_writers_on: bool,
}

impl Default for BuildOptions {
    /// MySQL's.
    fn default() -> Self {
        BuildOptions { memory: SortMemory::default(), side_log_bytes_max: 128 << 20, lets_writers_on: true }
    }
}

/// Guard: row changes are logged until it drops.
pub(super) struct Noted<'t>(&'t Table, TableSideLog);

impl<'t> Noted<'t> {
    /// Starts logging. The caller excludes writers.
    pub(super) fn begin(table: &'t Table, watch: TableSideLog) -> Self {
        table.begin_build(&watch);
        Noted(table, watch)
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.0.end_build(&self.1);
    }
}

impl Engine {
    /// [`Engine::alter_table`] with new indexes, of a table whose rows no thread changes.
    pub(super) fn add_indexes(
        &self,
        old: &Arc<Table>,
        alteration: Alteration,
        options: &BuildOptions,
        lock: DefinitionLock,
        wait: &ExclusiveWait,
    ) -> Result<()> {
        let Alteration { mut def, auto_increment } = alteration;
        ensure_alterable(&old.def, &def)?;
        self.ensure_name_is_free(&old.def, &def)?;
        let made = self.number_new_indexes(&mut def)?;
        let built = self.build_new_indexes(old, &def, &made, options, lock, wait);
        let put = built.and_then(|(built, exclusive)| {
            Ok((self.put_altered(old, def, Rows::Same(built), auto_increment)?, exclusive))
        });
        match put {
            Ok((gone, exclusive)) => {
                let kept = self.keep_made_trees(&made);
                drop(exclusive);
                self.flush_change()?;
                self.free_trees_later(gone)?;
                kept
            }
            Err(error) => Err(self.name_damage(self.free_made(made, error), std::slice::from_ref(old))),
        }
    }

    /// The indexes of `def` that are in `made`, with the entries of all rows, and the exclusive lock that
    /// keeps rows from changing.
    fn build_new_indexes(
        &self,
        old: &Arc<Table>,
        def: &TableDef,
        made: &[IndexId],
        options: &BuildOptions,
        lock: DefinitionLock,
        wait: &ExclusiveWait,
    ) -> Result<(Vec<Index>, Exclusive)> {
        let (build, snapshot, noted) = self.begin_build(old, def, made, options)?;
        let lock = if options.lets_writers_on { lock.admit_writers() } else { lock };
        let pace = Pace::new(&self.ddl_throttle, &self.trx);
        self.build(old, build.indexes(), &snapshot.view, &options.memory, &|| {
            if options.lets_writers_on {
                pace.keep()?;
            }
            build.ensure_whole()
        })?;
        drop(snapshot);
        let mut replay = Replay::new(self, old, &build, &options.memory)?;
        replay.catch_up()?;
        let exclusive = lock.into_exclusive_with(wait, || replay.catch_up())?;
        replay.finish()?;
        drop(noted);
        // The indexes lack the older versions of rows, which older views need.
        let usable_from = self.trx.advance(self.store.log().current());
        let index = |index: &Index| {
            Index::new(&index.def, Arc::clone(&index.tree), Arc::clone(&index.format), usable_from)
        };
        Ok((build.indexes().iter().map(index).collect(), exclusive))
    }

    /// Makes the trees, and notes changes from the snapshot on. The snapshot has all earlier changes: none is
    /// in progress, as that would hold the metadata lock.
    fn begin_build<'t>(
        &self,
        old: &'t Table,
        def: &TableDef,
        made: &[IndexId],
        options: &BuildOptions,
    ) -> Result<(Arc<IndexBuild>, Snapshot, Noted<'t>)> {
        let snapshot = Snapshot::take(self);
        let new = def.indexes.iter().filter(|index| made.contains(&index.id));
        let indexes = new.map(|index| self.create_tree(def, index, snapshot.view.number()));
        let build = IndexBuild::new(
            &self.temp_folder,
            &old.def,
            indexes.collect::<Result<_>>()?,
            options.side_log_bytes_max,
        );
        let build = Arc::new(build);
        let noted = Noted::begin(old, TableSideLog::Indexes(Arc::clone(&build)));
        Ok((build, snapshot, noted))
    }
}
