//! The clustered records of a table that a rebuild makes.
//!
//! Rows that come in the order of the new key go to the bottom-up builder. Others are collected up to
//! [`SORT_BYTES`], sorted, and inserted one after another, so that the memory of clustered records stays
//! bounded. Secondary indexes are built afterwards (`index.rs`).

use std::cmp::Ordering;
use std::sync::atomic::Ordering as AtomicOrdering;

use base::sort_runs::{Merge, sort_runs};
use base::{TrxId, invariant};
use btree::{BulkBuild, SMALL_TREE_BYTES};
use page::{RowHeader, RowRef, SlotFlags};
use trx::ReadView;

use super::index::clash;
use super::new_record::NewRecord;
use crate::engine::Engine;
use crate::error::{Result, fail_if_interrupted};
use crate::index::Index;
use crate::index_sort::head_of;
use crate::row::duplicate;
use crate::row::key::Value;
use crate::scan::Batch;
use crate::table::Table;

/// Bytes of records that are sorted at a time, and of their places.
const SORT_BYTES: usize = if cfg!(test) { 16 << 10 } else { 16 << 20 };
/// Records inserted between two checks of the kill flag.
const RECORDS_BETWEEN_LOOKS: usize = 256;

/// Where the rows of a rebuild go.
#[derive(Debug)]
pub(super) struct NewRows<'a> {
    engine: &'a Engine,
    new: &'a Table,
    sink: Sink<'a>,
    record: NewRecord,
    /// Rows added.
    count: u64,
    /// Those whose record stayed as it was.
    kept: u64,
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
    pub(super) fn new(engine: &'a Engine, new: &'a Table, in_order: bool) -> Result<Self> {
        let sink = if in_order {
            let build = BulkBuild::new(&engine.store, &new.clustered().tree, TrxId::NONE)?;
            Sink::InOrder { build: Box::new(build), last: Vec::new() }
        } else {
            Sink::Sorted(Records::default())
        };
        Ok(NewRows { engine, new, sink, record: NewRecord::default(), count: 0, kept: 0 })
    }

    /// Bytes of memory that the rows take at most, beside the one on its way: the places of records cost as
    /// much as small records.
    pub(super) fn memory_max(&self) -> usize {
        match self.sink {
            Sink::InOrder { .. } => 0,
            Sink::Sorted(_) => 2 * SORT_BYTES,
        }
    }

    /// Adds a row: storage bytes per column. `row_id`: the invisible one that it had; 0: it had none.
    ///
    /// # Errors
    /// [`crate::Error::DuplicateKey`], [`crate::Error::RowTooLarge`], [`crate::Error::KeyTooLong`], those of
    /// the log and of the disk.
    pub(super) fn push(&mut self, row: &[Value<'_>], row_id: u64) -> Result<()> {
        debug_assert_eq!(row.len(), self.new.def.columns.len(), "one value per column");
        self.count += 1;
        let row_id = if row_id == 0 { self.count } else { row_id };
        let mut record = std::mem::take(&mut self.record);
        record.encode(self.engine, self.new, row, row_id, |index| self.is_small(index))?;
        self.add(&mut record, row)?;
        self.record = record;
        Ok(())
    }

    /// Adds `row`, whose record except for its header is the new table's
    /// ([`page::RowFormat::has_records_of`]) and is behind all before. False: nothing was added, as values of
    /// it are off page, or a new record of it might have some there.
    ///
    /// # Errors
    /// As [`NewRows::push`].
    #[inline]
    pub(super) fn push_record(&mut self, row: &RowRef<'_>) -> Result<bool> {
        let Sink::InOrder { build, .. } = &mut self.sink else { return Ok(false) };
        let stays = self.new.clustered().format.is_inline(row.body());
        if stays {
            build.push_row(row.record(), &RowHeader::default().encode())?;
            self.count += 1;
            self.kept += 1;
        }
        Ok(stays)
    }

    /// Adds all rows of `batch` as [`NewRows::push_record`] adds one. False: nothing was added, as they are
    /// not all records of a full page, or one of them would not be added.
    pub(super) fn push_leaf(&mut self, batch: &Batch<'_>) -> Result<bool> {
        let Sink::InOrder { build, .. } = &mut self.sink else { return Ok(false) };
        let format = &self.new.clustered().format;
        let Some(leaf) = batch.whole_leaf() else { return Ok(false) };
        let mut stays = true;
        batch.for_each_cell(|cell| stays &= format.is_inline(cell.body()));
        let stays = stays && build.push_leaf(leaf)?;
        if stays {
            self.count += batch.len() as u64;
            self.kept += batch.len() as u64;
        }
        Ok(stays)
    }

    /// Adds the record of `row`.
    fn add(&mut self, record: &mut NewRecord, row: &[Value<'_>]) -> Result<()> {
        let NewRecord { key, payload } = record;
        match &mut self.sink {
            Sink::InOrder { build, last } => {
                let order = if self.count == 1 { Ordering::Less } else { last.as_slice().cmp(key) };
                invariant!(order != Ordering::Greater, "row {} in the order of the key", self.count);
                if order == Ordering::Equal {
                    return Err(duplicate::error(self.new, self.new.clustered(), row));
                }
                build.push(key, payload, SlotFlags::NONE)?;
                std::mem::swap(last, key);
                Ok(())
            }
            Sink::Sorted(records) => {
                records.push(key, payload);
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
        self.engine.records_kept.fetch_add(self.kept, AtomicOrdering::Relaxed);
        Ok(self.count)
    }

    /// Whether the tree is small with the records that it has not been given yet.
    fn is_small(&self, index: &Index) -> Result<bool> {
        match &self.sink {
            Sink::InOrder { build, .. } => Ok(build.is_small()),
            Sink::Sorted(records) => {
                Ok(records.bytes.len() < SMALL_TREE_BYTES && index.tree.is_small(&self.engine.store)?)
            }
        }
    }
}

/// Records to be sorted.
#[derive(Debug, Default)]
struct Records {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

/// Where a record begins.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Of its key.
    head: u64,
    start: usize,
    key_len: u32,
    payload_len: u32,
}

impl Place {
    fn key<'r>(&self, records: &'r [u8]) -> &'r [u8] {
        &records[self.start..][..self.key_len as usize]
    }

    fn payload<'r>(&self, records: &'r [u8]) -> &'r [u8] {
        &records[self.start + self.key_len as usize..][..self.payload_len as usize]
    }
}

impl Records {
    /// Bytes of memory, of records or of their places, whichever are more.
    fn len(&self) -> usize {
        self.bytes.len().max(size_of_val(self.places.as_slice()))
    }

    fn push(&mut self, key: &[u8], payload: &[u8]) {
        let (start, key_len, payload_len) = (self.bytes.len(), key.len() as u32, payload.len() as u32);
        self.places.push(Place { head: head_of(key), start, key_len, payload_len });
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(payload);
    }

    /// Inserts the records in the order of their keys, and forgets them. It sorts them in runs, as a sort of
    /// all would end late after a kill.
    fn insert(&mut self, engine: &Engine, table: &Table) -> Result<()> {
        let Records { bytes, places } = self;
        let compare = |a: &Place, b: &Place| {
            let keys = || (a.key(bytes), a.start).cmp(&(b.key(bytes), b.start));
            a.head.cmp(&b.head).then_with(keys)
        };
        let runs = sort_runs(places, |place| place.key_len as usize, compare, fail_if_interrupted)?;
        for (i, place) in Merge::new(places, runs, compare).enumerate() {
            if i.is_multiple_of(RECORDS_BETWEEN_LOOKS) {
                fail_if_interrupted()?;
            }
            insert(engine, table, place.key(bytes), place.payload(bytes))?;
        }
        self.bytes.clear();
        self.places.clear();
        Ok(())
    }
}

fn insert(engine: &Engine, table: &Table, key: &[u8], payload: &[u8]) -> Result<()> {
    engine.store.log().admit_change()?;
    let mut edit = table.clustered().tree.edit(&engine.store, key, key.len() + payload.len())?;
    if edit.found() {
        drop(edit);
        return Err(clash(engine, table, &ReadView::newest(), table.clustered(), key)?);
    }
    edit.insert(payload, SlotFlags::NONE).expect("edit was asked for the room");
    edit.commit();
    Ok(())
}
