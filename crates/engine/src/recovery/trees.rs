//! Trees that a DDL statement was about to make or to free when the server ended.
//!
//! Such a change first puts their ids down in the dictionary and takes them out again when it is done. A tree
//! whose id is there and that no table has is freed, whatever there is of it.

use std::collections::BTreeSet;

use base::IndexId;
use base::codec::{push_varint, take_varint};
use base::sync::{PlantedBug, planted};

use crate::dictionary::Kind;
use crate::engine::Engine;
use crate::error::{Error, Result};

/// The name of an entry: the first and the last of its ids. No other entry has both: TRUNCATE records new
/// trees and, after them, the old ones, and its entry may still be there when the new ones are dropped.
fn name_of(ids: &[IndexId]) -> [u8; 8] {
    let number = |id: Option<&IndexId>| id.map_or(0, |id| id.0).to_be_bytes();
    let mut name = [0; 8];
    name[..4].copy_from_slice(&number(ids.first()));
    name[4..].copy_from_slice(&number(ids.last()));
    name
}

/// The trees that the value of an entry lists.
fn trees_in(value: &[u8]) -> Result<Vec<IndexId>> {
    let (mut rest, mut trees) = (value, Vec::new());
    while !rest.is_empty() {
        let id = take_varint(&mut rest).and_then(|id| u32::try_from(id).ok());
        trees.push(IndexId(id.ok_or(Error::DictionaryCorrupt { what: "pending trees" })?));
    }
    Ok(trees)
}

impl Engine {
    /// Puts down the ids of trees that are about to be made or freed. If the server ends before
    /// [`Engine::forget_pending_trees`], the next startup frees those of them that no table has then. The
    /// caller holds the definition mutex.
    pub(crate) fn put_pending_trees(&self, ids: &[IndexId]) -> Result<()> {
        if planted(PlantedBug::ForgottenTrees) {
            return Ok(());
        }
        self.store.log().admit()?;
        let mut value = Vec::new();
        for id in ids {
            push_varint(&mut value, id.0.into());
        }
        self.dictionary.put(&self.store, Kind::PendingTrees, &name_of(ids), &value)
    }

    /// The trees of [`Engine::put_pending_trees`] are made, or gone. The caller holds the definition mutex.
    pub(crate) fn forget_pending_trees(&self, ids: &[IndexId]) -> Result<()> {
        self.store.log().admit_reserved()?;
        self.dictionary.delete(&self.store, Kind::PendingTrees, &name_of(ids)).map(drop)
    }

    /// Frees the trees that were pending when the server ended. No thread allocates pages meanwhile, and no
    /// transaction is unfinished: the pages of a value that was not written to its end may look as those of
    /// such a tree. Work that a full disk has no log for is left to the purge thread.
    pub(crate) fn free_pending_trees(&self) -> Result<()> {
        match self.free_dead_trees() {
            Err(error) if error.is_full_disk() => {
                self.pending_trees()?.into_iter().try_for_each(|pending| self.free_trees_later(pending))
            }
            freed => freed,
        }
    }

    fn free_dead_trees(&self) -> Result<()> {
        let trees = self.dead_trees()?;
        if !trees.is_empty() {
            self.forget_damages(trees.iter().copied())?;
            self.store.free_trees(&trees)?;
        }
        for (name, _) in self.dictionary.list(&self.store, Kind::PendingTrees)? {
            self.dictionary.delete(&self.store, Kind::PendingTrees, &name)?;
        }
        Ok(())
    }

    /// The trees that were pending when the server ended and that no table has.
    pub(crate) fn dead_trees(&self) -> Result<BTreeSet<IndexId>> {
        let catalog = self.catalog();
        let pending = self.pending_trees()?.into_iter().flatten();
        Ok(pending.filter(|&tree| catalog.index(tree).is_none()).collect())
    }

    /// The trees of each entry of pending trees.
    fn pending_trees(&self) -> Result<Vec<Vec<IndexId>>> {
        let entries = self.dictionary.list(&self.store, Kind::PendingTrees)?;
        entries.iter().map(|(_, value)| trees_in(value)).collect()
    }
}
