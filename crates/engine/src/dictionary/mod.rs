//! The dictionary: schemas, tables and named objects, in a tree of their own.
//!
//! Every entry is a byte string under (kind, name), cut into records:
//!
//! | SIZE | FIELD OF THE KEY |
//! |---|---|
//! | 1 | kind |
//! | 2 | length of the name, big-endian |
//! | n | name: a schema's or object's name, a table's id |
//! | 4 | number of the piece, big-endian |
//!
//! Changes are made under the engine's definition mutex; the dictionary has no versions, sessions see it through the
//! catalog.

mod codec;

use base::{IndexId, PageNo, SchemaId};
use btree::{Seek, Store, Tree, TreeShape};
use page::SlotFlags;
use types::{CollationId, TableDef};

pub(crate) use codec::{decode_schema, decode_table, encode_schema, encode_table};

use crate::error::Result;

/// The dictionary's tree. Ids below [`FIRST_USER_INDEX`] are kept for it.
pub(crate) const DICTIONARY_INDEX: IndexId = IndexId(1);
/// First id of a table's tree.
pub(crate) const FIRST_USER_INDEX: u32 = 64;
/// Bytes of an entry in one record.
const PIECE_BYTES: usize = 4000;

/// A schema (database).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaDef {
    /// Stable id.
    pub id: SchemaId,
    /// Name.
    pub name: Box<str>,
    /// Collation of tables that name none.
    pub collation: CollationId,
}

/// A table as the dictionary holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableRecord {
    pub(crate) def: TableDef,
    /// Root of each index's tree, in the order of the indexes.
    pub(crate) roots: Vec<PageNo>,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Schema = 1,
    Table = 2,
    /// Name: the caller's kind, a zero byte, the caller's name.
    Object = 3,
    /// Counters of a table, written by a clean shutdown and gone while the engine runs.
    Counters = 4,
}

/// The dictionary's tree.
#[derive(Debug)]
pub(crate) struct Dictionary {
    tree: Tree,
}

impl Dictionary {
    const SHAPE: TreeShape = TreeShape { format_version: 1, fixed_key_len: None };

    pub(crate) fn create(store: &Store) -> Result<Self> {
        Ok(Dictionary { tree: Tree::create(store, DICTIONARY_INDEX, Self::SHAPE)? })
    }

    pub(crate) fn open(root: PageNo) -> Self {
        Dictionary { tree: Tree::open(DICTIONARY_INDEX, root, Self::SHAPE) }
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn root(&self) -> PageNo {
        self.tree.root
    }

    /// Writes an entry in place of what has the name.
    pub(crate) fn put(&self, store: &Store, kind: Kind, name: &[u8], value: &[u8]) -> Result<()> {
        self.delete(store, kind, name)?;
        let mut key = prefix(kind, name);
        let prefix_len = key.len();
        // An empty value is one empty piece.
        let pieces = value.len().div_ceil(PIECE_BYTES).max(1);
        for piece in 0..pieces {
            let bytes = &value[piece * PIECE_BYTES..value.len().min((piece + 1) * PIECE_BYTES)];
            key.truncate(prefix_len);
            key.extend_from_slice(&(piece as u32).to_be_bytes());
            let mut edit = self.tree.edit(store, &key, key.len() + bytes.len())?;
            edit.insert(bytes, SlotFlags::NONE).expect("edit was asked for the room");
            edit.commit();
        }
        Ok(())
    }

    /// The entry's bytes.
    pub(crate) fn get(&self, store: &Store, kind: Kind, name: &[u8]) -> Result<Option<Vec<u8>>> {
        let prefix = prefix(kind, name);
        let mut value = None;
        self.for_each(store, &prefix, |_, bytes| {
            value.get_or_insert_with(Vec::new).extend_from_slice(bytes);
        })?;
        Ok(value)
    }

    /// All entries of a kind: name and bytes, by length and bytes of the name.
    pub(crate) fn list(&self, store: &Store, kind: Kind) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut entries: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        self.for_each(store, &[kind as u8], |key, bytes| {
            let name = &key[3..key.len() - 4];
            match entries.last_mut() {
                Some((last, value)) if last == name => value.extend_from_slice(bytes),
                _ => entries.push((name.to_vec(), bytes.to_vec())),
            }
        })?;
        Ok(entries)
    }

    /// Removes an entry; whether there was one.
    pub(crate) fn delete(&self, store: &Store, kind: Kind, name: &[u8]) -> Result<bool> {
        let prefix = prefix(kind, name);
        let mut keys = Vec::new();
        self.for_each(store, &prefix, |key, _| keys.push(key.to_vec()))?;
        for key in &keys {
            let mut edit = self.tree.edit(store, key, 0)?;
            edit.remove();
            let sparse = edit.is_sparse();
            edit.commit();
            if sparse {
                self.tree.shrink(store, key)?;
            }
        }
        Ok(!keys.is_empty())
    }

    fn for_each(&self, store: &Store, prefix: &[u8], mut visit: impl FnMut(&[u8], &[u8])) -> Result<()> {
        let mut cursor = self.tree.seek(store, prefix, Seek::AtOrAfter)?;
        let mut key = Vec::new();
        while let Some(at) = cursor {
            let record = at.record();
            key.clear();
            record.append_key(&mut key);
            if !key.starts_with(prefix) {
                break;
            }
            visit(&key, record.payload());
            cursor = at.next()?;
        }
        Ok(())
    }
}

fn prefix(kind: Kind, name: &[u8]) -> Vec<u8> {
    let mut key = vec![kind as u8];
    key.extend_from_slice(&(name.len() as u16).to_be_bytes());
    key.extend_from_slice(name);
    key
}
