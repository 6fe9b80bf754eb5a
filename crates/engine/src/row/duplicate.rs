//! Finding the row that a new one would clash with.
//!
//! An entry that another transaction is inserting or delete-marking may be a row or not: the search waits for
//! that transaction. Of others, an open entry is a row.
//!
//! As in InnoDB, a row that clashes in several unique keys clashes in the one that was made first: ids of
//! indexes ascend. The indexes of a table are in another order, which a key that ALTER TABLE adds may change.

use base::{IndexId, TrxId};
use btree::Seek;
use page::RowRef;
use trx::{Attempt, LockMode, LockRead, ReadView, Trx, WaitPolicy};

use super::key::{Value, append_declared_key, ensure_key};
use crate::engine::Engine;
use crate::error::{DuplicateKey, DuplicatePart, Error, Result};
use crate::index::Index;
use crate::locking_scan::{Locked, lock_row};
use crate::table::Table;

/// The row that a new one duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// Its clustered key.
    pub clustered_key: Vec<u8>,
    /// Position of the index whose key is taken.
    pub index: usize,
}

impl Table {
    /// The first row, in the order in which indexes were made, that has a unique key of `row`: for REPLACE,
    /// ON DUPLICATE KEY UPDATE and INSERT IGNORE. It is locked. The absence may be over when the caller
    /// inserts.
    pub fn find_duplicate(
        &self,
        engine: &Engine,
        trx: &mut Trx,
        row: &[Value<'_>],
    ) -> Result<Option<Duplicate>> {
        trx.begin_write()?;
        let locks = trx.lock_read(LockMode::Exclusive, WaitPolicy::Wait)?;
        let mut key = std::mem::take(&mut trx.buffers.key);
        let found = self.find_duplicate_with(engine, &locks, row, &mut key);
        trx.buffers.key = key;
        found
    }

    fn find_duplicate_with(
        &self,
        engine: &Engine,
        locks: &LockRead,
        row: &[Value<'_>],
        key: &mut Vec<u8>,
    ) -> Result<Option<Duplicate>> {
        if !self.def.hidden_row_id {
            key.clear();
            let extent = self.clustered().format.append_key(row, 0, key);
            ensure_key(extent, key)?;
            if matches!(lock_row(engine, self, locks.rows(), key)?, Locked::Row { .. }) {
                return Ok(Some(Duplicate { clustered_key: key.clone(), index: 0 }));
            }
        }
        let mut last = None;
        while let Some((position, index)) = self.next_made_unique(last) {
            last = Some(index.def.id);
            key.clear();
            let (comparable, extent) = append_declared_key(index, row, key);
            ensure_key(extent, key)?;
            if comparable && let Some(clustered_key) = self.lock_holder(engine, locks, index, key)? {
                return Ok(Some(Duplicate { clustered_key, index: position }));
            }
        }
        Ok(None)
    }

    /// The secondary unique index that was made after that with the id `last`, and its position.
    fn next_made_unique(&self, last: Option<IndexId>) -> Option<(usize, &Index)> {
        let uniques = self.indexes.iter().enumerate().skip(1).filter(|(_, index)| index.is_unique());
        uniques.filter(|(_, index)| Some(index.def.id) > last).min_by_key(|(_, index)| index.def.id)
    }

    /// The row that has the declared parts `prefix` in the unique index, locked.
    fn lock_holder(
        &self,
        engine: &Engine,
        locks: &LockRead,
        index: &Index,
        prefix: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let clustered = self.clustered().tree.index;
        let mut locked = None;
        loop {
            match find(engine, index, locks.locker().id(), prefix)? {
                None => return Ok(None),
                Some(Holder { clustered_key, writer: Some(writer) }) => {
                    if locks.rows().request_unlatched(clustered, &clustered_key, writer)? == Attempt::Wait {
                        locks.locker().wait()?;
                    }
                }
                // The entry is checked again: it was another's until the row was locked.
                Some(Holder { clustered_key, .. }) if locked.as_ref() != Some(&clustered_key) => {
                    lock_row(engine, self, locks.rows(), &clustered_key)?;
                    locked = Some(clustered_key);
                }
                Some(Holder { clustered_key, .. }) => return Ok(Some(clustered_key)),
            }
        }
    }
}

/// A row that has a unique key, or may have it.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) clustered_key: Vec<u8>,
    /// Another transaction that is changing whether it has.
    pub(crate) writer: Option<TrxId>,
}

/// The row that has the declared parts `prefix` in the unique index, as transaction `own` sees it.
pub(crate) fn find(engine: &Engine, index: &Index, own: TrxId, prefix: &[u8]) -> Result<Option<Holder>> {
    let mut cursor = index.tree.seek(&engine.store, prefix, Seek::AtOrAfter)?;
    while let Some(at) = cursor {
        let record = at.record();
        let is_same = record.with_key(|key| key.starts_with(prefix));
        if !is_same {
            return Ok(None);
        }
        let entry = RowRef::new(&index.format, record);
        let end = entry.end_trx();
        let writer = end.unwrap_or_else(|| entry.begin_trx());
        let is_foreign = writer != own && engine.trx.is_in_progress(writer);
        if is_foreign || end.is_none() {
            let clustered_key = record.with_key(|key| key[prefix.len()..].to_vec());
            return Ok(Some(Holder { clustered_key, writer: is_foreign.then_some(writer) }));
        }
        cursor = at.next()?;
    }
    Ok(None)
}

/// The error for `row`, which was found to be a duplicate in `index`, and may be one in an index that was
/// made before that. `own_row`: its clustered key.
#[cold]
#[inline(never)]
pub(crate) fn first_made(
    engine: &Engine,
    table: &Table,
    own: TrxId,
    (index, row): (&Index, &[Value<'_>]),
    own_row: &[u8],
) -> Error {
    let (mut key, mut last) = (Vec::new(), None);
    while let Some((_, other)) = table.next_made_unique(last)
        && other.def.id < index.def.id
    {
        last = Some(other.def.id);
        key.clear();
        let (comparable, _) = append_declared_key(other, row, &mut key);
        if comparable
            && let Ok(Some(Holder { clustered_key, writer: None })) = find(engine, other, own, &key)
            && clustered_key != own_row
            // It is not the row that this one takes the place of.
            && matches!(table.get(engine, &ReadView::newest(), &clustered_key, |_| ()), Ok(Some(())))
        {
            return error(table, other, row);
        }
    }
    error(table, index, row)
}

#[cold]
pub(crate) fn error(table: &Table, index: &Index, row: &[Value<'_>]) -> Error {
    let part = |part: &types::KeyPart| DuplicatePart {
        ty: table.def.columns[usize::from(part.column)].ty.clone(),
        prefix_len: part.prefix_len,
        value: row[usize::from(part.column)].map(<[u8]>::to_vec),
    };
    Error::DuplicateKey(Box::new(DuplicateKey {
        table: table.def.name.clone(),
        index: index.def.name.clone(),
        parts: index.def.parts.iter().map(part).collect(),
    }))
}
