//! Entries that trees in the making get and lose one by one, and unique keys that two rows have for a while.

use std::collections::BTreeSet;

use btree::Seek;
use page::SlotFlags;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::index_sort::Entry;
use crate::row::tree_edit::remove;
use crate::side_log::{Action, Change};

/// Upper bound on memory for possibly duplicate keys, bytes.
pub(super) const SUSPECT_BYTES_MAX: usize = 128 << 10;

/// Secondary indexes that no other thread has, filled with the entries of a snapshot.
pub(super) struct NewEntries<'a> {
    engine: &'a Engine,
    indexes: &'a [Index],
    /// Declared keys, each with the position of its unique index, of which there were two entries at some
    /// time: one of the rows may have gone, or got another key.
    suspects: BTreeSet<(usize, Vec<u8>)>,
    suspect_bytes: usize,
}

/// A declared key in the index at a position, and the clustered key of the second row that has it.
pub(super) type DuplicateEntry = (usize, Vec<u8>, Vec<u8>);

impl<'a> NewEntries<'a> {
    pub(super) fn new(engine: &'a Engine, indexes: &'a [Index]) -> Self {
        NewEntries { engine, indexes, suspects: BTreeSet::new(), suspect_bytes: 0 }
    }

    /// Removes or inserts an entry.
    ///
    /// # Errors
    /// [`Error::SideLogDisagrees`]; [`Error::SideLogFull`]: there are very many keys of which two rows have
    /// each; those of changing trees.
    pub(super) fn apply(&mut self, change: Change<'_>) -> Result<()> {
        let Change { action, index: position, entry } = change;
        let index = &self.indexes[position];
        let store = &self.engine.store;
        store.log().admit_change()?;
        let done = match action {
            Action::Remove => remove(&index.tree, store, entry.key(), &[], |_| true)?,
            Action::Insert => insert(self.engine, index, entry)?,
        };
        if !done {
            return Err(Error::SideLogDisagrees { index: index.def.name.clone() });
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
        // More than half would have to be checked again and again.
        if self.suspect_bytes <= SUSPECT_BYTES_MAX / 2 {
            return Ok(());
        }
        Err(Error::SideLogFull { index: self.indexes[position].def.name.clone() })
    }

    /// Forgets the keys of which there is but one entry now.
    fn forget_settled(&mut self) -> Result<()> {
        let suspects = std::mem::take(&mut self.suspects);
        self.suspect_bytes = 0;
        for (position, declared) in suspects {
            if self.second_row(&self.indexes[position], &declared)?.is_some() {
                self.suspect_bytes += bytes_of(&declared);
                self.suspects.insert((position, declared));
            }
        }
        Ok(())
    }

    /// Looks for keys that two entries have now, until `visit` returns something.
    pub(super) fn find_twice<R>(
        &self,
        mut visit: impl FnMut(DuplicateEntry) -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        for (position, declared) in &self.suspects {
            if let Some(clustered_key) = self.second_row(&self.indexes[*position], declared)?
                && let Some(found) = visit((*position, declared.clone(), clustered_key))?
            {
                return Ok(Some(found));
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
