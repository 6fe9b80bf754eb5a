//! Finding the row that a new one would clash with.
//!
//! Whoever asks holds the writer token: every entry is its own or committed, so an open entry is a row.

use btree::Seek;
use trx::Trx;

use super::entry::append_declared_key;
use super::insert::Value;
use super::writer::ensure_key;
use crate::engine::Engine;
use crate::error::{DuplicateKey, DuplicatePart, Error, Result};
use crate::table::{Index, Table};

/// The row that stands in a new one's way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// Its clustered key.
    pub clustered_key: Vec<u8>,
    /// Position of the index whose key is taken.
    pub index: usize,
}

impl Table {
    /// The first row, in order of the indexes, that has a unique key of `row`: for REPLACE, ON DUPLICATE KEY UPDATE and
    /// INSERT IGNORE. Takes the writer token, so that the answer holds.
    pub fn find_duplicate(
        &self,
        engine: &Engine,
        trx: &mut Trx,
        row: &[Value<'_>],
    ) -> Result<Option<Duplicate>> {
        trx.lock_for_write()?;
        let mut key = std::mem::take(&mut trx.buffers.key);
        let found = self.find_duplicate_with(engine, row, &mut key);
        trx.buffers.key = key;
        found
    }

    fn find_duplicate_with(
        &self,
        engine: &Engine,
        row: &[Value<'_>],
        key: &mut Vec<u8>,
    ) -> Result<Option<Duplicate>> {
        if !self.def.hidden_row_id {
            key.clear();
            let extent = self.clustered().format.append_key(row, 0, key);
            ensure_key(extent, key)?;
            if let Some(at) = self.clustered().tree.point(&engine.store, key)?
                && !at.record().flags().is_deleted()
            {
                return Ok(Some(Duplicate { clustered_key: key.clone(), index: 0 }));
            }
        }
        for (position, index) in
            self.indexes.iter().enumerate().skip(1).filter(|(_, index)| index.is_unique())
        {
            if let Some(clustered_key) = find(engine, index, row, key)? {
                return Ok(Some(Duplicate { clustered_key, index: position }));
            }
        }
        Ok(None)
    }
}

/// The clustered key of the row that has `row`'s key in the unique index, if there is one. `prefix` is scratch.
pub(crate) fn find(
    engine: &Engine,
    index: &Index,
    row: &[Value<'_>],
    prefix: &mut Vec<u8>,
) -> Result<Option<Vec<u8>>> {
    prefix.clear();
    let (comparable, extent) = append_declared_key(index, row, prefix);
    ensure_key(extent, prefix)?;
    if !comparable {
        return Ok(None);
    }
    let mut cursor = index.tree.seek(&engine.store, prefix, Seek::AtOrAfter)?;
    while let Some(at) = cursor {
        let record = at.record();
        let is_same = record.with_key(|key| key.starts_with(prefix));
        if !is_same {
            return Ok(None);
        }
        if !record.flags().has_ver() {
            return Ok(Some(record.with_key(|key| key[prefix.len()..].to_vec())));
        }
        cursor = at.next()?;
    }
    Ok(None)
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
