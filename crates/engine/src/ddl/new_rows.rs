//! The clustered records of a table that a rebuild makes.
//!
//! Rows that come in the order of the new key go to the bottom-up builder. Others are collected up to
//! [`SORT_BYTES`], sorted, and inserted one after another, so that the memory of clustered records stays
//! bounded. Secondary indexes are built afterwards (`index.rs`).

use std::cmp::Ordering;

use base::{TrxId, invariant};
use btree::{BulkBuild, SMALL_TREE_BYTES};
use page::{OVERFLOW_REF_BYTES, RowHeader, SlotFlags};
use trx::ReadView;

use super::index::clash;
use super::whole_rows::WholeRows;
use crate::engine::Engine;
use crate::error::{Result, fail_if_interrupted};
use crate::row::duplicate;
use crate::row::insert::{Value, too_large};
use crate::row::writer::ensure_key;
use crate::table::{Index, Table};

/// Bytes of records that are sorted at a time, and of their places.
const SORT_BYTES: usize = if cfg!(test) { 16 << 10 } else { 16 << 20 };
/// Records inserted between two looks at the kill flag.
const RECORDS_BETWEEN_LOOKS: usize = 256;

/// The rows of a rebuild: those of the old table, and the place where new ones go.
#[derive(Debug)]
pub struct NewRows<'a> {
    engine: &'a Engine,
    old: &'a Table,
    new: &'a Table,
    sink: Sink<'a>,
    key: Vec<u8>,
    payload: Vec<u8>,
    /// Rows added.
    count: u64,
}

/// Where encoded records go.
#[derive(Debug)]
enum Sink<'a> {
    /// Keys come in order; the last one is kept to find equal ones.
    InOrder { build: Box<BulkBuild<'a>>, last: Vec<u8> },
    /// Keys come in any order.
    Sorted(Records),
}

impl<'a> NewRows<'a> {
    /// Rows for the empty clustered tree of `new`; `in_order`: they come in the order of its key.
    pub(super) fn new(engine: &'a Engine, old: &'a Table, new: &'a Table, in_order: bool) -> Result<Self> {
        let sink = if in_order {
            let build = BulkBuild::new(&engine.store, &new.clustered().tree, TrxId::NONE)?;
            Sink::InOrder { build: Box::new(build), last: Vec::new() }
        } else {
            Sink::Sorted(Records::default())
        };
        Ok(NewRows { engine, old, new, sink, key: Vec::new(), payload: Vec::new(), count: 0 })
    }

    /// The rows of the old table.
    pub fn old_rows(&self) -> WholeRows<'a> {
        WholeRows::new(self.engine, self.old, ReadView::newest())
    }

    /// Bytes of memory that the rows take at most, beside the one on its way: the places of records cost as
    /// much as small records.
    pub fn memory_max(&self) -> usize {
        match self.sink {
            Sink::InOrder { .. } => 0,
            Sink::Sorted(_) => 2 * SORT_BYTES,
        }
    }

    /// The table that the rows go to.
    pub fn table(&self) -> &'a Table {
        self.new
    }

    /// Adds a row: storage bytes per column. `row_id`: the invisible one that it had; 0: it had none.
    ///
    /// # Errors
    /// [`crate::Error::DuplicateKey`], [`crate::Error::RowTooLarge`], [`crate::Error::KeyTooLong`], those of
    /// the log and of the disk.
    pub fn push(&mut self, row: &[Value<'_>], row_id: u64) -> Result<()> {
        debug_assert_eq!(row.len(), self.new.def.columns.len(), "one value per column");
        self.count += 1;
        let row_id = if row_id == 0 { self.count } else { row_id };
        self.encode(row, row_id)?;
        match &mut self.sink {
            Sink::InOrder { build, last } => {
                let order = if self.count == 1 { Ordering::Less } else { last.as_slice().cmp(&self.key) };
                invariant!(order != Ordering::Greater, "row {} in the order of the key", self.count);
                if order == Ordering::Equal {
                    return Err(duplicate::error(self.new, self.new.clustered(), row));
                }
                build.push(&self.key, &self.payload, SlotFlags::NONE)?;
                std::mem::swap(last, &mut self.key);
                Ok(())
            }
            Sink::Sorted(records) => {
                records.push(&self.key, &self.payload);
                if records.len() < SORT_BYTES { Ok(()) } else { records.insert(self.engine, self.new) }
            }
        }
    }

    /// Writes what is left; returns how many rows there are.
    pub(super) fn finish(self) -> Result<u64> {
        match self.sink {
            Sink::InOrder { build, .. } => build.finish()?,
            Sink::Sorted(mut records) => records.insert(self.engine, self.new)?,
        }
        Ok(self.count)
    }

    /// Makes the record of a row in `key` and `payload`, long values written to pages of the new tree.
    fn encode(&mut self, row: &[Value<'_>], row_id: u64) -> Result<()> {
        let index = self.new.clustered();
        self.key.clear();
        self.payload.clear();
        let extent = index.format.append_key(row, row_id, &mut self.key);
        ensure_key(extent, &self.key)?;
        let header = RowHeader::default();
        if index.format.encode_inline(header, row, self.key.len(), &mut self.payload) {
            return Ok(());
        }
        let off_page = index.format.choose_off_page(row, self.key.len()).map_err(too_large)?;
        let references = self.write_values(index, row, &off_page)?;
        let mut stored = row.to_vec();
        for (&position, reference) in off_page.iter().zip(&references) {
            stored[usize::from(position)] = Some(reference);
        }
        index.format.encode(header, &stored, &off_page, &mut self.payload);
        Ok(())
    }

    /// Writes the values at `positions` to pages of the tree. They are freed with it if the rebuild fails.
    fn write_values(
        &self,
        index: &Index,
        row: &[Value<'_>],
        positions: &[u16],
    ) -> Result<Vec<[u8; OVERFLOW_REF_BYTES]>> {
        let store = &self.engine.store;
        let write = |&position: &u16| {
            store.log().admit()?;
            let value = row[usize::from(position)].unwrap_or(&[]);
            let is_small = match &self.sink {
                Sink::InOrder { build, .. } => build.is_small(),
                Sink::Sorted(records) => {
                    records.bytes.len() < SMALL_TREE_BYTES && index.tree.is_small(store)?
                }
            };
            Ok(index.tree.write_overflow_of_new_tree(store, value, is_small)?.encode())
        };
        positions.iter().map(write).collect()
    }
}

/// Records to be sorted.
#[derive(Debug, Default)]
struct Records {
    bytes: Vec<u8>,
    /// Where each record begins, bytes of its key and of its payload.
    places: Vec<(usize, u32, u32)>,
}

impl Records {
    /// Bytes of memory, of records or of their places, whichever are more.
    fn len(&self) -> usize {
        self.bytes.len().max(size_of_val(self.places.as_slice()))
    }

    fn push(&mut self, key: &[u8], payload: &[u8]) {
        self.places.push((self.bytes.len(), key.len() as u32, payload.len() as u32));
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(payload);
    }

    /// Inserts the records in the order of their keys, and forgets them.
    fn insert(&mut self, engine: &Engine, table: &Table) -> Result<()> {
        let Records { bytes, places } = self;
        let key = |&(start, key_len, _): &(usize, u32, u32)| &bytes[start..start + key_len as usize];
        places.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        for (i, place) in places.iter().enumerate() {
            if i.is_multiple_of(RECORDS_BETWEEN_LOOKS) {
                fail_if_interrupted()?;
            }
            let (key, payload_at) = (key(place), place.0 + place.1 as usize);
            insert(engine, table, key, &bytes[payload_at..payload_at + place.2 as usize])?;
        }
        self.bytes.clear();
        self.places.clear();
        Ok(())
    }
}

fn insert(engine: &Engine, table: &Table, key: &[u8], payload: &[u8]) -> Result<()> {
    engine.store.log().admit()?;
    let mut edit = table.clustered().tree.edit(&engine.store, key, key.len() + payload.len())?;
    if edit.found() {
        drop(edit);
        return Err(clash(engine, table, &ReadView::newest(), table.clustered(), key)?);
    }
    edit.insert(payload, SlotFlags::NONE).expect("edit was asked for the room");
    edit.commit();
    Ok(())
}
