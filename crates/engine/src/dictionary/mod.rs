//! The dictionary: schemas, tables and named objects, in a tree of their own.
//!
//! Every entry is a byte string under (kind, name), cut into records:
//!
//! | SIZE | FIELD OF THE KEY |
//! |---|---|
//! | 1 | kind |
//! | 2 | length of the name, big-endian |
//! | n | name: a schema's or object's name, a table's id |
//! | 4 | big-endian: bit 31 side, 0..31 number of the piece |
//!
//! The payload of piece 0, whose side bit is 0, begins with a byte: the side that the entry's other pieces
//! are on. An entry is replaced by writing the new pieces to the other side and then piece 0, and removed by
//! removing piece 0: one mini-transaction decides. Pieces on the side that does not count, or without a piece
//! 0, are what a crash left. Several entries change as one by `change.rs`.
//!
//! Changes are made under the engine's definition mutex; the dictionary has no versions, sessions see it
//! through the catalog.

mod change;
mod codec;
mod fields;
mod history;
mod shape;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::sync::plain::Mutex;
use base::{IndexId, PageNo, SchemaId};
use btree::{Seek, Tree, TreeShape};
use page::SlotFlags;
use space::Store;
use types::{CollationId, RowHistory, TableDef};

pub(crate) use change::Change;
use codec::decode_table;
pub(crate) use codec::{decode_schema, encode_schema, encode_table};

use crate::error::{Error, Result};
use crate::startup_log::StartupLog;

/// The dictionary's tree. Ids below [`FIRST_USER_INDEX`] are kept for it.
pub(crate) const DICTIONARY_INDEX: IndexId = IndexId(1);
/// First id of a table's tree.
pub(crate) const FIRST_USER_INDEX: u32 = 64;
/// Bytes of an entry in one record.
const PIECE_BYTES: usize = 4000;
/// The bit of a piece's number that is its side.
const SIDE_BIT: u32 = 31;
/// Bytes of a key before the name.
const KEY_HEAD_BYTES: usize = 3;

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

impl SchemaDef {
    /// A schema whose definition cannot be read, but is needed for one of its tables.
    pub(crate) fn unreadable(name: &str) -> Self {
        SchemaDef { id: SchemaId(0), name: name.into(), collation: CollationId::UTF8MB4_0900_AI_CI }
    }
}

/// A table as the dictionary holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableRecord {
    pub(crate) def: TableDef,
    /// Root of each index's tree, in the order of the indexes.
    pub(crate) roots: Vec<PageNo>,
    /// What pages of its rows may have beside the definition's version.
    pub(crate) history: RowHistory,
}

/// The table that an entry defines.
///
/// # Errors
/// [`Error::DictionaryCorrupt`] for bytes that are no definition, or define what no table can be;
/// [`Error::NewerDefinition`].
pub(crate) fn read_table(bytes: &[u8]) -> Result<TableRecord> {
    let record = decode_table(bytes)?;
    if shape::is_usable(&record.def) && shape::is_usable_history(&record) {
        Ok(record)
    } else {
        Err(Error::DictionaryCorrupt { what: "table" })
    }
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Schema = 1,
    Table = 2,
    /// Name: the caller's kind, a zero byte, the caller's name.
    Object = 3,
    /// Counters of a table, see `counters`.
    Counters = 4,
    /// Ids of trees that a DDL statement in progress makes or frees. Name: one of them.
    PendingTrees = 5,
    /// A [`Change`] whose steps are to be made. Name: none.
    Change = 6,
    /// A search for lost values is to be made by the next startup (`lost_values.rs`). Name: none.
    SearchNote = 7,
    /// Why an index is out of use permanently, see `quarantine`. Name: the index's id.
    Damage = 8,
}

/// The dictionary's tree.
#[derive(Debug)]
pub(crate) struct Dictionary {
    tree: Tree,
    /// There is, or may be, a change whose steps are not all made.
    is_unsettled: AtomicBool,
    /// Lists leave out what cannot be read.
    forced: bool,
    /// One has left something out.
    is_partial: AtomicBool,
    notes: Arc<dyn StartupLog>,
    /// Whether damaged pages are logged: not during a startup, which is refused for them or logs what it
    /// leaves out.
    logs_damage: AtomicBool,
    /// The damaged pages that were logged.
    logged: Mutex<BTreeSet<PageNo>>,
}

/// Entries as their pieces come, in the order of their keys.
#[derive(Default)]
struct Entries {
    /// Name and bytes.
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// Of the last one.
    side: u8,
}

impl Entries {
    fn add(&mut self, key: &[u8], bytes: &[u8]) {
        let Some((prefix, number)) = split_number(key) else { return };
        let Some(name) = prefix.get(KEY_HEAD_BYTES..) else { return };
        if let (0, Some((&first, bytes))) = (number, bytes.split_first()) {
            self.side = first;
            self.entries.push((name.to_vec(), bytes.to_vec()));
        } else if let Some((last, value)) = self.entries.last_mut()
            && last == name
            && side_of(number) == self.side
        {
            value.extend_from_slice(bytes);
        }
    }
}

impl Dictionary {
    const SHAPE: TreeShape = TreeShape { format_version: 1, fixed_key_len: None };

    /// Makes the dictionary's tree. Returns its root.
    pub(crate) fn create(store: &Store) -> Result<PageNo> {
        Ok(Tree::create(store, DICTIONARY_INDEX, Self::SHAPE)?.root)
    }

    /// The dictionary whose tree has this root. If it is `forced`, lists leave out what cannot be read.
    pub(crate) fn open(root: PageNo, forced: bool, notes: &Arc<dyn StartupLog>) -> Self {
        Dictionary {
            tree: Tree::open(DICTIONARY_INDEX, root, Self::SHAPE),
            is_unsettled: AtomicBool::new(true),
            forced,
            is_partial: AtomicBool::new(false),
            notes: Arc::clone(notes),
            logs_damage: AtomicBool::new(false),
            logged: Mutex::default(),
        }
    }

    /// Logs each damaged page once from now on.
    pub(crate) fn begin_logging_damage(&self) {
        self.logs_damage.store(true, Ordering::Relaxed);
    }

    /// Logs the damaged page that `done` has met, if any, and returns `done`.
    fn log_damage_of<T>(&self, done: Result<T>) -> Result<T> {
        if let Err(error) = &done {
            self.log_damage(error);
        }
        done
    }

    #[cold]
    fn log_damage(&self, error: &Error) {
        if let Error::Storage(storage) = error
            && let Some(page) = storage.damaged_page()
            && self.logs_damage.load(Ordering::Relaxed)
            && self.logged.lock().insert(page)
        {
            self.notes.note(&format!(
                "data file: {error}; it is a page of the dictionary: statements that need it are refused, all others are not; dump \
                 the tables now, because the next start is refused without --innodb-force-recovery=1"
            ));
        }
    }

    /// A definition that was listed cannot be understood, and is left out.
    #[cold]
    pub(crate) fn leave_out(&self, notes: &dyn StartupLog, name: &[u8], error: &Error) {
        self.is_partial.store(true, Ordering::Relaxed);
        notes.note(&format!("recovery: the definition {} is left out: {error}", name.escape_ascii()));
    }

    /// Whether a list has left out what could not be read.
    pub(crate) fn is_partial(&self) -> bool {
        self.is_partial.load(Ordering::Relaxed)
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Writes an entry in place of what has the name, all or nothing.
    pub(crate) fn put(&self, store: &Store, kind: Kind, name: &[u8], value: &[u8]) -> Result<()> {
        self.settle(store)?;
        self.log_damage_of(self.write(store, kind, name, value))
    }

    fn write(&self, store: &Store, kind: Kind, name: &[u8], value: &[u8]) -> Result<()> {
        let prefix = prefix(kind, name);
        let old = self.pieces(store, &prefix)?;
        let side = match old.first() {
            Some(&(0, side)) => side ^ 1,
            _ => 0,
        };
        self.remove_pieces(store, &prefix, &old, |number| number != 0 && side_of(number) == side)?;
        let mut pieces = value.chunks(PIECE_BYTES);
        // An empty value is one empty piece.
        let head = [&[side], pieces.next().unwrap_or_default()].concat();
        for (number, bytes) in (1..).zip(pieces) {
            store.log().admit_reserved()?;
            self.put_piece(store, &key_of(&prefix, u32::from(side) << SIDE_BIT | number), bytes)?;
        }
        self.put_piece(store, &key_of(&prefix, 0), &head)?;
        // The new value counts from here on. Pieces that stay on the other side are removed by the next
        // write.
        match self.remove_pieces(store, &prefix, &old, |number| number != 0 && side_of(number) != side) {
            Err(error) if error.is_corrupt_page() || error.is_full_disk() => Ok(()),
            removed => removed,
        }
    }

    fn put_piece(&self, store: &Store, key: &[u8], bytes: &[u8]) -> Result<()> {
        let mut edit = self.tree.edit(store, key, key.len() + bytes.len())?;
        let put =
            if edit.found() { edit.replace_payload(bytes) } else { edit.insert(bytes, SlotFlags::NONE) };
        put.expect("edit was asked for the room");
        edit.commit();
        Ok(())
    }

    /// The numbers of an entry's pieces in order, each with the first byte of its payload.
    fn pieces(&self, store: &Store, prefix: &[u8]) -> Result<Vec<(u32, u8)>> {
        let mut pieces = Vec::new();
        self.for_each(store, prefix, |key, bytes| {
            if let (Some((_, number)), Some(&first)) = (split_number(key), bytes.first()) {
                pieces.push((number, first));
            }
        })?;
        Ok(pieces)
    }

    fn remove_pieces(
        &self,
        store: &Store,
        prefix: &[u8],
        pieces: &[(u32, u8)],
        which: impl Fn(u32) -> bool,
    ) -> Result<()> {
        for &(number, _) in pieces.iter().filter(|(number, _)| which(*number)) {
            let key = key_of(prefix, number);
            let mut edit = self.tree.edit(store, &key, 0)?;
            edit.remove();
            let sparse = edit.is_sparse();
            edit.commit();
            if sparse {
                match self.tree.shrink(store, &key) {
                    // The piece is gone; a leaf that stays sparse does no harm.
                    Err(error) if error.damaged_page().is_some() => self.log_damage(&error.into()),
                    shrunk => shrunk?,
                }
            }
        }
        Ok(())
    }

    /// The entry's bytes.
    pub(crate) fn get(&self, store: &Store, kind: Kind, name: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.entries(store, &prefix(kind, name)) {
            Err(error) if self.forced && error.is_corrupt_page() => {
                let mut readable = self.readable(store, kind).into_iter();
                Ok(readable.rfind(|(found, _)| found == name).map(|(_, value)| value))
            }
            entries => Ok(self.log_damage_of(entries)?.pop().map(|(_, value)| value)),
        }
    }

    /// All entries of a kind: name and bytes, by length and bytes of the name.
    pub(crate) fn list(&self, store: &Store, kind: Kind) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        match self.entries(store, &[kind as u8]) {
            Err(error) if self.forced && error.is_corrupt_page() => Ok(self.readable(store, kind)),
            listed => self.log_damage_of(listed),
        }
    }

    fn entries(&self, store: &Store, prefix: &[u8]) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut entries = Entries::default();
        self.for_each(store, prefix, |key, bytes| entries.add(key, bytes))?;
        Ok(entries.entries)
    }

    /// [`Dictionary::list`] of the leaves that can be read, also where no inner page leads to them. An entry
    /// of which a piece is missing is among them.
    #[cold]
    fn readable(&self, store: &Store, kind: Kind) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.is_partial.store(true, Ordering::Relaxed);
        let mut records = BTreeMap::new();
        // No error: what cannot be read is left out.
        let _ = store.visit_leaves(DICTIONARY_INDEX, &mut |leaf| {
            for slot in 0..leaf.count() {
                let key = leaf.key(slot);
                if key.first() == Some(&(kind as u8)) {
                    records.insert(key, leaf.record(slot).payload().to_vec());
                }
            }
        });
        let mut entries = Entries::default();
        for (key, bytes) in &records {
            entries.add(key, bytes);
        }
        entries.entries
    }

    /// Removes an entry; whether there was one.
    pub(crate) fn delete(&self, store: &Store, kind: Kind, name: &[u8]) -> Result<bool> {
        self.settle(store)?;
        self.log_damage_of(self.remove(store, kind, name))
    }

    fn remove(&self, store: &Store, kind: Kind, name: &[u8]) -> Result<bool> {
        let prefix = prefix(kind, name);
        let pieces = self.pieces(store, &prefix)?;
        // In order, so that piece 0 goes first.
        self.remove_pieces(store, &prefix, &pieces, |_| true)?;
        Ok(pieces.first().is_some_and(|&(number, _)| number == 0))
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

/// The side of a piece other than piece 0.
fn side_of(number: u32) -> u8 {
    (number >> SIDE_BIT) as u8
}

fn key_of(prefix: &[u8], number: u32) -> Vec<u8> {
    [prefix, &number.to_be_bytes()].concat()
}

/// The key of a piece without its number, and the number.
fn split_number(key: &[u8]) -> Option<(&[u8], u32)> {
    let (prefix, number) = key.split_last_chunk()?;
    Some((prefix, u32::from_be_bytes(*number)))
}

fn prefix(kind: Kind, name: &[u8]) -> Vec<u8> {
    let mut key = vec![kind as u8];
    key.extend_from_slice(&(name.len() as u16).to_be_bytes());
    key.extend_from_slice(name);
    key
}
