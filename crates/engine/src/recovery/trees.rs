//! Trees that a definition change was about to make or to free when the server ended.
//!
//! Such a change first puts their ids down in the dictionary and takes them out again when it is done. A tree whose id is
//! there and that no table has is freed, whatever there is of it.

use std::collections::BTreeSet;

use base::IndexId;
use base::codec::{push_varint, take_varint};
use base::sync::{Planted, planted};

use crate::dictionary::Kind;
use crate::engine::Engine;
use crate::error::{Error, Result};

/// The name of an entry: the first and the last of its ids. No other entry has both: TRUNCATE puts down new trees and, after
/// them, the old ones, and its entry may still be there when the new ones are dropped.
fn name_of(ids: &[IndexId]) -> [u8; 8] {
    let number = |id: Option<&IndexId>| id.map_or(0, |id| id.0).to_be_bytes();
    let mut name = [0; 8];
    name[..4].copy_from_slice(&number(ids.first()));
    name[4..].copy_from_slice(&number(ids.last()));
    name
}

impl Engine {
    /// Puts down the ids of trees that are about to be made or freed. If the server ends before
    /// [`Engine::forget_pending_trees`], the next start frees those of them that no table has then. The caller holds the
    /// definition mutex.
    pub(crate) fn put_pending_trees(&self, ids: &[IndexId]) -> Result<()> {
        if planted(Planted::ForgottenTrees) {
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

    /// Frees the trees that were pending when the server ended. Nobody allocates pages meanwhile, and no transaction is
    /// unfinished: the pages of a value that was not written to its end may look as those of such a tree.
    pub(crate) fn free_pending_trees(&self) -> Result<()> {
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
        let mut trees = BTreeSet::new();
        for (_, value) in &self.dictionary.list(&self.store, Kind::PendingTrees)? {
            let mut rest = &value[..];
            while !rest.is_empty() {
                let id = take_varint(&mut rest).and_then(|id| u32::try_from(id).ok());
                trees.insert(IndexId(id.ok_or(Error::DictionaryCorrupt { what: "pending trees" })?));
            }
        }
        let catalog = self.catalog();
        trees.retain(|&tree| catalog.index(tree).is_none());
        Ok(trees)
    }
}
