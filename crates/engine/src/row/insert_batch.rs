//! Inserting many rows at once.

use btree::LeafEdit;
use page::{Batch, PAGE_SIZE, SlotFlags};
use trx::{Attempt, Buffers, Trx, UndoKind};

use super::key::Value;
use super::writer::{RowWriter, change};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::key_order::{head_of, sort_by_key};
use crate::table::Table;

/// Encoded records are put in place once there are this many bytes of them.
const CHUNK_BYTES: usize = 1 << 20;

/// Fewer records are put behind a leaf's one by one.
const RUN_ROWS_MIN: usize = 4;

#[cfg(test)]
thread_local! {
    /// Records that were appended to a leaf with others.
    pub(crate) static APPENDED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// All are put in place one by one.
    pub(crate) static NEVER_APPENDED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl Table {
    /// Inserts rows, tree by tree: all clustered records in key order, a leaf's worth under one latch, then
    /// each index's entries in key order.
    ///
    /// A clash takes the whole batch back and inserts row by row instead, so that the error is that of the
    /// first row in the statement's order that fails; the rows before it are in the table then. Returns how
    /// many rows are in.
    /// # Errors
    /// As [`Table::insert`], with the number of rows that are in.
    pub fn insert_batch(
        &self,
        engine: &Engine,
        trx: &mut Trx,
        rows: &[&[Value<'_>]],
    ) -> std::result::Result<usize, (usize, Error)> {
        // Leaves of older versions are converted for one row after the other, each after a check of the log.
        if rows.len() > 1 && self.older_versions() == 0 {
            match change(engine, self, trx, |writer, buffers| writer.insert_by_tree(rows, buffers)) {
                Ok(()) => return Ok(rows.len()),
                Err(Error::DuplicateKey(_) | Error::RowTooLarge { .. } | Error::KeyTooLong { .. }) => {}
                Err(error) => return Err((0, error)),
            }
        }
        for (done, row) in rows.iter().enumerate() {
            self.insert(engine, trx, row).map_err(|error| (done, error))?;
        }
        Ok(rows.len())
    }
}

/// Strings of bytes, one after the other.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Strings {
    /// Room for `count` strings, the bytes of each apart.
    fn for_count(count: usize) -> Self {
        Strings { bytes: Vec::new(), ends: Vec::with_capacity(count) }
    }

    #[inline]
    fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }

    /// What was appended to the bytes since the last call is a string.
    #[inline]
    fn end_string(&mut self) {
        self.ends.push(self.bytes.len());
    }
}

/// Encoded clustered records.
#[derive(Default)]
struct Records {
    /// The keys of all rows so far.
    keys: Strings,
    /// The payloads of those in `places`.
    payloads: Vec<u8>,
    /// The records that are not in place yet.
    places: Vec<Place>,
    /// Those that are appended to a leaf at once.
    run: Vec<u8>,
}

impl Records {
    fn for_rows(rows: usize) -> Self {
        Records { keys: Strings::for_count(rows), places: Vec::with_capacity(rows), ..Records::default() }
    }

    /// Takes memory for `more` records about as long as the first.
    fn expect_alike(&mut self, more: usize) {
        let all = |bytes: &Vec<u8>| (bytes.len() * more).min(CHUNK_BYTES);
        self.keys.bytes.reserve(all(&self.keys.bytes));
        self.payloads.reserve(all(&self.payloads));
    }
}

/// Whether the leaf has room for [`RUN_ROWS_MIN`] rows, from which on one operation is cheaper.
fn is_run<'k>(edit: &LeafEdit<'_>, places: &[Place], key: impl Fn(&Place) -> &'k [u8]) -> bool {
    let Some(first) = places.get(..RUN_ROWS_MIN) else { return false };
    let bytes = |place: &Place| key(place).len() + place.payload.1 - place.payload.0;
    edit.takes_behind(key(&first[RUN_ROWS_MIN - 1]), RUN_ROWS_MIN - 1, first.iter().map(bytes).sum())
}

/// A record: start and end of its key and payload, and its row's position.
struct Place {
    key: (usize, usize),
    payload: (usize, usize),
    row: usize,
}

impl RowWriter<'_> {
    fn insert_by_tree(&mut self, rows: &[&[Value<'_>]], buffers: &mut Buffers) -> Result<()> {
        let mut records = Records::for_rows(rows.len());
        for (position, row) in rows.iter().enumerate() {
            let row_id = self.next_row_id()?.unwrap_or(0);
            let (key, payload) = (records.keys.bytes.len(), records.payloads.len());
            self.encode_clustered(row, row_id, &mut records.keys.bytes, &mut records.payloads)?;
            records.keys.end_string();
            let (key, payload) = ((key, records.keys.bytes.len()), (payload, records.payloads.len()));
            records.places.push(Place { key, payload, row: position });
            if position == 0 {
                records.expect_alike(rows.len() - 1);
            }
            if records.payloads.len() >= CHUNK_BYTES {
                self.insert_records(rows, &mut records)?;
            }
        }
        self.insert_records(rows, &mut records)?;
        for position in 1..self.table.indexes.len() {
            self.insert_entries(position, rows, &records.keys, buffers)?;
        }
        Ok(())
    }

    /// Puts the records in place, in key order, staying on a leaf while it covers the next key and has room.
    fn insert_records(&mut self, rows: &[&[Value<'_>]], records: &mut Records) -> Result<()> {
        let (engine, table) = (self.engine, self.table);
        let Records { keys, payloads, places, run } = records;
        let keys = &keys.bytes[..];
        let key = |place: &Place| &keys[place.key.0..place.key.1];
        if !places.is_sorted_by(|a, b| key(a) <= key(b)) {
            places.sort_by(|a, b| key(a).cmp(key(b)));
        }
        let mut at = 0;
        while at < places.len() {
            let need = |place: &Place| place.key.1 - place.key.0 + place.payload.1 - place.payload.0;
            let mut edit = table.clustered().tree.edit(&engine.store, key(&places[at]), need(&places[at]))?;
            // Locks that prevent one append usually prevent the next.
            let mut appends = true;
            let put = loop {
                let mut count = 0;
                if appends {
                    count = self.append_run(&mut edit, keys, payloads, &places[at..], run);
                    appends = count > 0;
                }
                if count == 0 {
                    let place = &places[at];
                    let payload = &mut payloads[place.payload.0..place.payload.1];
                    let put = self.put_clustered(&mut edit, rows[place.row], payload);
                    if !matches!(put, Ok(Attempt::Granted { .. })) {
                        break put;
                    }
                    count = 1;
                }
                engine.count_new_rows(table, count);
                at += count;
                let goes_on = places.get(at).is_some_and(|next| {
                    edit.move_to(key(next), need(next))
                        || edit.move_beside(&engine.store, key(next), need(next))
                });
                if !goes_on {
                    break Ok(Attempt::Granted { new: false });
                }
            };
            self.commit(edit);
            if put? == Attempt::Wait {
                self.locker.wait()?;
            }
        }
        payloads.clear();
        places.clear();
        Ok(())
    }

    /// Appends the first of `places`, which are in key order, after all records of the leaf in one operation:
    /// those for which it has room and that need no lock request. Returns their number; 0 if there are fewer
    /// than [`RUN_ROWS_MIN`]. `run` is scratch.
    #[inline(never)]
    fn append_run<'k>(
        &mut self,
        edit: &mut LeafEdit<'k>,
        keys: &'k [u8],
        payloads: &[u8],
        places: &[Place],
        run: &mut Vec<u8>,
    ) -> usize {
        let clustered = self.table.clustered();
        let key = |place: &Place| &keys[place.key.0..place.key.1];
        let is_free = |place: &Place| self.locker.is_free(clustered.tree.index, key(place));
        if !edit.is_behind_all()
            || !places.iter().take(RUN_ROWS_MIN).all(is_free)
            || !is_run(edit, places, key)
        {
            return 0;
        }
        #[cfg(test)]
        if NEVER_APPENDED.get() {
            return 0;
        }
        run.clear();
        run.reserve(PAGE_SIZE);
        let (mut count, mut bytes, mut last) = (0, 0, &keys[..0]);
        for place in places {
            let (key, payload) = (key(place), &payloads[place.payload.0..place.payload.1]);
            bytes += key.len() + payload.len();
            if count > 0 && key == last
                || !edit.takes_behind(key, count, bytes)
                || !self.locker.is_free(clustered.tree.index, key)
            {
                break;
            }
            self.undo(clustered, UndoKind::RowInsert, SlotFlags::NONE, key, &[]);
            Batch::push_record(run, key, payload, SlotFlags::NONE);
            (count, last) = (count + 1, key);
        }
        if count > 0 {
            edit.append_rows(Batch(run), last, self.id);
        }
        #[cfg(test)]
        APPENDED.set(APPENDED.get() + count);
        count
    }

    /// Adds the entries of rows, whose clustered keys are `row_keys`, to the index at `position`.
    fn insert_entries(
        &mut self,
        position: usize,
        rows: &[&[Value<'_>]],
        row_keys: &Strings,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let index = &self.table.indexes[position];
        let mut entries = Entries::for_rows(rows.len());
        for (i, row) in rows.iter().enumerate() {
            self.append_first_entry(
                index,
                row,
                row_keys.get(i),
                &mut entries.keys.bytes,
                &mut entries.payloads.bytes,
            )?;
            entries.end_entry();
        }
        entries.sort();
        if !index.is_unique() {
            return self.open_sorted_entries(index, rows.len(), |at| {
                let (key, payload, _) = entries.at(at);
                (key, payload)
            });
        }
        for at in 0..rows.len() {
            let (key, payload, row) = entries.at(at);
            self.open_unique_entry(index, rows[row], key, payload, &mut buffers.third_key)?;
        }
        Ok(())
    }
}

/// Encoded entries of one index.
struct Entries {
    /// By row.
    keys: Strings,
    /// By row.
    payloads: Strings,
    /// In the order of their keys, once sorted: the head of each key, and its row.
    order: Vec<(u64, u32)>,
}

impl Entries {
    fn for_rows(rows: usize) -> Self {
        let strings = || Strings::for_count(rows);
        Entries { keys: strings(), payloads: strings(), order: Vec::with_capacity(rows) }
    }

    /// Key and payload of the next row's entry have been appended.
    #[inline]
    fn end_entry(&mut self) {
        let row = self.order.len();
        self.keys.end_string();
        self.payloads.end_string();
        self.order.push((head_of(self.keys.get(row)), row as u32));
    }

    fn sort(&mut self) {
        let keys = &self.keys;
        sort_by_key(&mut self.order, |entry| entry.0, |entry| keys.get(entry.1 as usize));
    }

    /// Key, payload and row of the entry at this position of the order.
    fn at(&self, at: usize) -> (&[u8], &[u8], usize) {
        let row = self.order[at].1 as usize;
        (self.keys.get(row), self.payloads.get(row), row)
    }
}
