//! Building an index.
//!
//! A new index is built bottom-up from the clustered one under the exclusive metadata lock. Its entries are
//! sorted in memory, key and payload of every row at once: memory bounds the size of the table.

use std::cmp::Ordering;
use std::ops::Range;

use base::sort_runs::{Merge, sort_runs};
use btree::{BulkBuild, KEY_BYTES_MAX};
use page::{RowHeader, RowRef, SlotFlags};
use trx::{ReadView, Span};

use crate::column_set::ColumnSet;
use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::range::{Direction, KeyRange};
use crate::row::duplicate;
use crate::row::entry::append_declared_key;
use crate::row::insert::{Value, row_id_of};
use crate::row::row_image::{RowImage, value_of, with_values};
use crate::row::writer::ensure_key;
use crate::scan::{Scan, append_clustered_key};
use crate::table::{Index, Table};

/// Entries that a build adds between two looks at the kill flag.
const ENTRIES_BETWEEN_LOOKS: usize = 256;

impl Engine {
    /// Fills the empty tree of `index` with the rows of `table`.
    pub(super) fn build(&self, table: &Table, index: &Index) -> Result<()> {
        let mut entries = Entries::default();
        let mut collector = Collector { engine: self, table, index, entries: &mut entries };
        collector.collect()?;
        let runs = entries.sort()?;
        let mut build = BulkBuild::new(&self.store, &index.tree, base::TrxId::NONE)?;
        let mut last: Option<&Place> = None;
        for (i, place) in entries.merge(runs).enumerate() {
            if i.is_multiple_of(ENTRIES_BETWEEN_LOOKS) {
                fail_if_interrupted()?;
            }
            if let (true, Some(last)) = (index.is_unique(), last) {
                entries.refuse_clash(last, place, self, table, index)?;
            }
            last = Some(place);
            let (key, payload) = entries.parts(place);
            build.push(key, payload, SlotFlags::NONE)?;
        }
        Ok(build.finish()?)
    }
}

/// The entries of an index in the making: keys and payloads one after another, and an order.
#[derive(Default)]
struct Entries {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

/// An entry in [`Entries::bytes`].
struct Place {
    /// First 8 key bytes, zero padded, big-endian: settles most comparisons.
    head: u64,
    start: usize,
    key_len: u32,
    payload_len: u32,
    /// Bytes of the declared parts; 0 = a NULL among them, so that nothing equals it.
    unique_len: u32,
}

impl Place {
    #[inline]
    fn compare(&self, other: &Self, bytes: &[u8]) -> Ordering {
        let key = |place: &Place| place.start..place.start + place.key_len as usize;
        self.head.cmp(&other.head).then_with(|| bytes[key(self)].cmp(&bytes[key(other)]))
    }
}

impl Entries {
    fn parts(&self, place: &Place) -> (&[u8], &[u8]) {
        let payload = place.start + place.key_len as usize;
        (&self.bytes[place.start..payload], &self.bytes[payload..payload + place.payload_len as usize])
    }

    /// Sorts the entries in runs, for [`Entries::merge`].
    fn sort(&mut self) -> Result<Vec<Range<usize>>> {
        let Self { bytes, places } = self;
        let key_bytes = |place: &Place| place.key_len as usize;
        sort_runs(places, key_bytes, |a, b| a.compare(b, bytes), fail_if_interrupted)
    }

    fn merge(&self, runs: Vec<Range<usize>>) -> impl Iterator<Item = &Place> {
        Merge::new(&self.places, runs, |a, b| a.compare(b, &self.bytes))
    }

    /// Equal neighbours are rows that clash.
    fn refuse_clash(
        &self,
        last: &Place,
        place: &Place,
        engine: &Engine,
        table: &Table,
        index: &Index,
    ) -> Result<()> {
        let declared = |place: &Place| &self.parts(place).0[..place.unique_len as usize];
        if last.unique_len != 0 && declared(last) == declared(place) {
            let clustered = &self.parts(place).0[place.unique_len as usize..];
            return Err(clash(engine, table, index, clustered)?);
        }
        Ok(())
    }
}

/// The error for the row with `clustered_key`, whose key in `index` is another's too.
#[cold]
pub(super) fn clash(engine: &Engine, table: &Table, index: &Index, clustered_key: &[u8]) -> Result<Error> {
    let (mut values, mut spans, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    let mut image = RowImage { values: &mut values, spans: &mut spans };
    table.get(engine, &ReadView::newest(), clustered_key, |row| {
        image.fill(&row, table.def.columns.len(), &mut scratch);
    })?;
    let columns: ColumnSet = index.def.parts.iter().map(|part| usize::from(part.column)).collect();
    let (values, spans) = image.fetched(&engine.store, &columns)?;
    Ok(with_values(spans.len(), |i| value_of(&values, spans[i]), |row| duplicate::error(table, index, row)))
}

struct Collector<'a> {
    engine: &'a Engine,
    table: &'a Table,
    index: &'a Index,
    entries: &'a mut Entries,
}

impl Collector<'_> {
    fn collect(&mut self) -> Result<()> {
        let (engine, table) = (self.engine, self.table);
        let mut scan =
            Scan::open(engine, table, 0, ReadView::newest(), KeyRange::all(), Direction::Forward)?.detached();
        let (mut values, mut spans, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(batch) = scan.next_batch()? {
            fail_if_interrupted()?;
            for row in batch.rows() {
                let mut image = RowImage { values: &mut values, spans: &mut spans };
                image.fill(&row, table.def.columns.len(), &mut scratch);
                self.add_row(&row, &mut image, &mut scratch)?;
            }
        }
        Ok(())
    }

    fn add_row(&mut self, row: &RowRef<'_>, image: &mut RowImage<'_>, scratch: &mut Vec<u8>) -> Result<()> {
        scratch.clear();
        append_clustered_key(self.table.clustered(), row, scratch);
        let row_id = if self.table.def.hidden_row_id { row_id_of(scratch) } else { 0 };
        if image.any_off_page(&self.index.columns) {
            let (values, spans) = image.fetched(&self.engine.store, &self.index.columns)?;
            return self.add(&values, &spans, row_id, scratch);
        }
        self.add(image.values, image.spans, row_id, scratch)
    }

    fn add(&mut self, values: &[u8], spans: &[Span], row_id: u64, scratch: &mut Vec<u8>) -> Result<()> {
        with_values(spans.len(), |i| value_of(values, spans[i]), |row| self.add_entry(row, row_id, scratch))
    }

    fn add_entry(&mut self, row: &[Value<'_>], row_id: u64, scratch: &mut Vec<u8>) -> Result<()> {
        let (index, entries) = (self.index, &mut *self.entries);
        scratch.clear();
        let (comparable, _) = append_declared_key(index, row, scratch);
        let unique_len = if comparable { scratch.len() as u32 } else { 0 };
        let start = entries.bytes.len();
        let extent = index.format.append_key(row, row_id, &mut entries.bytes);
        ensure_key(extent, &entries.bytes[start..])?;
        let payload = entries.bytes.len();
        index.format.encode(RowHeader::default(), row, &[], &mut entries.bytes);
        debug_assert!(payload - start <= KEY_BYTES_MAX, "checked above");
        let mut head = [0; 8];
        let head_len = (payload - start).min(8);
        head[..head_len].copy_from_slice(&entries.bytes[start..start + head_len]);
        entries.places.push(Place {
            head: u64::from_be_bytes(head),
            start,
            key_len: (payload - start) as u32,
            payload_len: (entries.bytes.len() - payload) as u32,
            unique_len,
        });
        Ok(())
    }
}
