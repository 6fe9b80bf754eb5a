//! Inserting many rows at once.

use btree::LeafEdit;
use page::{Batch, PAGE_SIZE, RowHeader, SlotFlags};
use trx::{Attempt, Buffers, Trx, UndoKind};

use super::key::{Value, ensure_key, push_begin};
use super::writer::{RowWriter, change};
use crate::engine::Engine;
use crate::error::{Error, Result};
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

/// Encoded clustered records, and their rows.
#[derive(Default)]
struct Records {
    keys: Vec<u8>,
    payloads: Vec<u8>,
    places: Vec<Place>,
    /// Those that are appended to a leaf at once.
    run: Vec<u8>,
}

impl Records {
    fn for_rows(rows: usize) -> Self {
        Records { places: Vec::with_capacity(rows), ..Records::default() }
    }

    /// Takes memory for `more` records about as long as the first.
    fn expect_alike(&mut self, more: usize) {
        let all = |bytes: &Vec<u8>| (bytes.len() * more).min(CHUNK_BYTES);
        self.keys.reserve(all(&self.keys));
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
        self.engine.store.log().sync_ahead();
        let mut row_ids = Vec::with_capacity(if self.table.def.hidden_row_id { rows.len() } else { 0 });
        let mut records = Records::for_rows(rows.len());
        for (position, row) in rows.iter().enumerate() {
            let row_id = self.next_row_id()?;
            row_ids.extend(row_id);
            self.encode_record(row, row_id.unwrap_or(0), position, &mut records)?;
            if position == 0 {
                records.expect_alike(rows.len() - 1);
            }
            if records.payloads.len() >= CHUNK_BYTES {
                self.insert_records(rows, &mut records)?;
            }
        }
        self.insert_records(rows, &mut records)?;
        for position in 1..self.table.indexes.len() {
            self.insert_entries(position, rows, &row_ids, buffers)?;
        }
        Ok(())
    }

    fn encode_record(
        &mut self,
        row: &[Value<'_>],
        row_id: u64,
        position: usize,
        to: &mut Records,
    ) -> Result<()> {
        let (key, payload) = (to.keys.len(), to.payloads.len());
        self.encode_clustered(row, row_id, &mut to.keys, &mut to.payloads)?;
        let (key, payload) = ((key, to.keys.len()), (payload, to.payloads.len()));
        to.places.push(Place { key, payload, row: position });
        Ok(())
    }

    /// Puts the records in place, in key order, staying on a leaf while it covers the next key and has room.
    fn insert_records(&mut self, rows: &[&[Value<'_>]], records: &mut Records) -> Result<()> {
        let (engine, table) = (self.engine, self.table);
        let Records { keys, payloads, places, run } = records;
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
        keys.clear();
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

    fn insert_entries(
        &mut self,
        position: usize,
        rows: &[&[Value<'_>]],
        row_ids: &[u64],
        buffers: &mut Buffers,
    ) -> Result<()> {
        let index = &self.table.indexes[position];
        let mut entries = Entries::for_rows(rows.len());
        for (i, row) in rows.iter().enumerate() {
            let row_id = row_ids.get(i).copied().unwrap_or(0);
            let (key, payload) = (entries.keys.len(), entries.payloads.len());
            let extent = index.format.append_key(row, row_id, &mut entries.keys);
            ensure_key(extent, &entries.keys[key..])?;
            push_begin(&mut entries.keys, self.id);
            index.format.encode(RowHeader::default(), row, &[], &mut entries.payloads);
            let start = start_of(&entries.keys[key..]);
            let (key, payload) = ((key, entries.keys.len()), (payload, entries.payloads.len()));
            entries.places.push(Place { key, payload, row: i });
            entries.order.push((start, i as u32));
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
#[derive(Default)]
struct Entries {
    keys: Vec<u8>,
    payloads: Vec<u8>,
    /// By row.
    places: Vec<Place>,
    /// In the order of their keys, once sorted: the start of each key, and its row.
    order: Vec<(u64, u32)>,
}

impl Entries {
    fn for_rows(rows: usize) -> Self {
        Entries { places: Vec::with_capacity(rows), order: Vec::with_capacity(rows), ..Entries::default() }
    }

    fn sort(&mut self) {
        let (keys, places) = (&self.keys, &self.places);
        let key = |row: u32| {
            let (from, to) = places[row as usize].key;
            &keys[from..to]
        };
        self.order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| key(a.1).cmp(key(b.1))));
    }

    /// Key, payload and row of the entry at this position of the order.
    fn at(&self, at: usize) -> (&[u8], &[u8], usize) {
        let row = self.order[at].1 as usize;
        let Place { key, payload, .. } = &self.places[row];
        (&self.keys[key.0..key.1], &self.payloads[payload.0..payload.1], row)
    }
}

/// The first bytes of a key, in the order of keys: of keys with different ones, the key with the lower start
/// is lower.
fn start_of(key: &[u8]) -> u64 {
    match key.first_chunk::<8>() {
        Some(start) => u64::from_be_bytes(*start),
        None => key.iter().fold(0, |start, &byte| start << 8 | u64::from(byte)) << (64 - 8 * key.len()),
    }
}
