//! Doing to new trees what changes of rows have done meanwhile: see `side_log`.

use std::collections::BTreeSet;

use btree::Seek;
use page::SlotFlags;

use super::index::find_clash;
use super::snapshot::Snapshot;
use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::index_sort::{Charged, Entry, SortMemory};
use crate::row::writer::remove;
use crate::side_log::{Action, Change, IndexBuild, SideLogTotals};
use crate::table::{Index, Table};

/// Entries that are removed or inserted between two looks at the kill flag.
const CHANGES_BETWEEN_LOOKS: u64 = 64;
/// Upper bound on memory for possibly duplicate keys, bytes.
const SUSPECT_BYTES_MAX: usize = 128 << 10;

/// The changes of a build, on their way into its trees.
pub(super) struct Replay<'a> {
    engine: &'a Engine,
    table: &'a Table,
    build: &'a IndexBuild,
    _memory: Charged,
    changes: Vec<u8>,
    /// Declared keys, each with the position of its unique index, of which there were two entries at some
    /// time: one of the rows may have gone, or got another key.
    suspects: BTreeSet<(usize, Vec<u8>)>,
    suspect_bytes: usize,
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
        charged.set(IndexBuild::MEMORY_BYTES + SUSPECT_BYTES_MAX)?;
        let (changes, suspects) = (Vec::new(), BTreeSet::new());
        Ok(Replay { engine, table, build, _memory: charged, changes, suspects, suspect_bytes: 0 })
    }

    /// Takes changes while others make more, until few are left.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`], [`Error::SideLogFull`]: there are very many keys of which two rows have each.
    /// Those of [`IndexBuild::take`]; those of changing trees; [`trx::Error::Interrupted`].
    pub(super) fn catch_up(&mut self) -> Result<()> {
        fail_if_interrupted()?;
        self.build.ensure_whole()?;
        while self.build.waiting() > IndexBuild::REST_BYTES {
            self.take_some()?;
        }
        Ok(())
    }

    /// Replays the last changes and checks unique keys. The caller holds the exclusive lock.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`]; those of [`Replay::catch_up`].
    pub(super) fn finish(mut self) -> Result<()> {
        while self.take_some()? {}
        self.forget_settled()?;
        match self.suspects.first() {
            None => Ok(()),
            Some((position, _)) => Err(self.find_clash()?.unwrap_or_else(|| self.build.disagrees(*position))),
        }
    }

    /// Takes the oldest changes. False: there are none.
    fn take_some(&mut self) -> Result<bool> {
        let mut changes = std::mem::take(&mut self.changes);
        let taken = self.build.take(&mut changes)?;
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
        changes.shrink_to(IndexBuild::MEMORY_BYTES / 2);
        self.changes = changes;
        Ok(taken)
    }

    fn apply(&mut self, change: Change<'_>) -> Result<()> {
        let Change { action, index: position, entry } = change;
        let index = &self.build.indexes()[position];
        let store = &self.engine.store;
        store.log().admit()?;
        let done = match action {
            Action::Remove => remove(&index.tree, store, entry.key(), &[], |_| true)?,
            Action::Insert => insert(self.engine, index, entry)?,
        };
        if !done {
            return Err(self.build.disagrees(position));
        }
        let declared = entry.declared();
        if action == Action::Insert && !declared.is_empty() && self.second_row(index, declared)?.is_some() {
            self.suspect(position, declared)?;
        }
        Ok(())
    }

    fn suspect(&mut self, position: usize, declared: &[u8]) -> Result<()> {
        if !self.suspects.insert((position, declared.to_vec())) {
            return Ok(());
        }
        self.suspect_bytes += bytes_of(declared);
        if self.suspect_bytes <= SUSPECT_BYTES_MAX {
            return Ok(());
        }
        self.forget_settled()?;
        // More than half would have to be looked at again and again.
        if self.suspect_bytes <= SUSPECT_BYTES_MAX / 2 {
            return Ok(());
        }
        let index = self.build.indexes()[position].def.name.clone();
        Err(self.find_clash()?.unwrap_or(Error::SideLogFull { index }))
    }

    /// Forgets the keys of which there is but one entry now.
    fn forget_settled(&mut self) -> Result<()> {
        let suspects = std::mem::take(&mut self.suspects);
        self.suspect_bytes = 0;
        for (position, declared) in suspects {
            if self.second_row(&self.build.indexes()[position], &declared)?.is_some() {
                self.suspect_bytes += bytes_of(&declared);
                self.suspects.insert((position, declared));
            }
        }
        Ok(())
    }

    /// The error for a suspect that a committed row has.
    #[cold]
    fn find_clash(&self) -> Result<Option<Error>> {
        let snapshot = Snapshot::take(self.engine);
        for (position, declared) in &self.suspects {
            let index = &self.build.indexes()[*position];
            if let Some(clustered_key) = self.second_row(index, declared)?
                && let Some(error) =
                    find_clash(self.engine, self.table, &snapshot.view, index, declared, &clustered_key)?
            {
                return Ok(Some(error));
            }
        }
        Ok(None)
    }

    /// The clustered key of the second row whose entry begins with `declared`.
    fn second_row(&self, index: &Index, declared: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut cursor = index.tree.seek(&self.engine.store, declared, Seek::AtOrAfter)?;
        for nth in 0..2 {
            let Some(at) = cursor else { return Ok(None) };
            let clustered_key = at.record().with_key(|key| key.strip_prefix(declared).map(<[u8]>::to_vec));
            match clustered_key {
                Some(clustered_key) if nth == 1 => return Ok(Some(clustered_key)),
                Some(_) => cursor = at.next()?,
                None => return Ok(None),
            }
        }
        Ok(None)
    }
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        let blocks = self.build.blocks();
        self.engine.side_log_counters.add(SideLogTotals { blocks, ..SideLogTotals::default() });
    }
}

/// Approximate memory of a suspect, bytes.
fn bytes_of(declared: &[u8]) -> usize {
    declared.len() + size_of::<(usize, Vec<u8>)>() * 2
}

/// Inserts the entry. Returns false if the index already has its key.
fn insert(engine: &Engine, index: &Index, entry: Entry<'_>) -> Result<bool> {
    let (key, payload) = (entry.key(), entry.payload());
    let mut edit = index.tree.edit(&engine.store, key, key.len() + payload.len())?;
    if edit.found() {
        return Ok(false);
    }
    edit.insert(payload, SlotFlags::NONE).expect("edit was asked for the room");
    edit.commit();
    Ok(true)
}
