//! Copying rows again that have changed while a rebuild copied the table: see `side_log`.
//!
//! A round takes keys out of the side log and makes the new table's row of each what the old table has now,
//! uncommitted changes included. The rebuild alone has the new trees, and holds no latch of an old one when
//! it changes these.

use base::TrxId;
use page::{OverflowRef, RowHeader, RowRef, SlotFlags};
use trx::{ReadView, Span};

use super::index::clash;
use super::new_entries::{NewEntries, SUSPECT_BYTES_MAX};
use super::new_record::NewRecord;
use super::rebuild::MakeRow;
use super::rounds::Rounds;
use super::snapshot::Snapshot;
use crate::column_set::ColumnSet;
use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::index_sort::{Charged, Entry, SortMemory};
use crate::row::key::{Value, row_id_of};
use crate::row::row_image::{RowImage, value_of, with_values};
use crate::row::tree_edit::remove;
use crate::side_log::{
    Action, Change, ChangedRows, Indexed, RowEntries, SideLogTotals, bytes_of_key, take_key,
};
use crate::table::Table;

/// Rows copied between two checks of the kill flag.
const ROWS_BETWEEN_LOOKS: usize = 16;

/// The rows of a rebuild that are copied again.
pub(super) struct RowReplay<'a> {
    engine: &'a Engine,
    old: &'a Table,
    new: &'a Table,
    changed: &'a ChangedRows,
    _memory: Charged,
    entries: NewEntries<'a>,
    /// Columns that entries are made from.
    indexed: ColumnSet,
    /// Rows of the new table.
    rows: u64,
    /// Bytes of keys that the last round has put back.
    put_back: u64,
    record: NewRecord,
}

/// The old table's row with a key.
enum Found {
    Nothing,
    Row(Vec<u8>, Vec<Span>),
    /// A row whose values off page may be freed at any time: its transaction may roll back.
    Unsettled,
}

/// The new table's row with a key.
struct Copied {
    entries: RowEntries,
    values: Vec<OverflowRef>,
}

impl<'a> RowReplay<'a> {
    /// `rows`: how many the new table has.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub(super) fn new(
        engine: &'a Engine,
        (old, new): (&'a Table, &'a Table),
        changed: &'a ChangedRows,
        rows: u64,
        memory: &SortMemory,
    ) -> Result<Self> {
        let charged = Charged::new(memory);
        charged.set(ChangedRows::MEMORY_BYTES_MAX + SUSPECT_BYTES_MAX)?;
        let (secondary, columns) = (&new.indexes[1..], new.def.columns.len());
        Ok(RowReplay {
            engine,
            old,
            new,
            changed,
            _memory: charged,
            entries: NewEntries::new(engine, secondary),
            indexed: secondary.iter().flat_map(|index| index.columns.below(columns)).collect(),
            rows,
            put_back: 0,
            record: NewRecord::default(),
        })
    }

    /// Copies changed rows while others change more, until few are left, or until others are found to change
    /// them as fast: see [`Rounds`].
    ///
    /// # Errors
    /// [`Error::DuplicateKey`]: there are very many keys of which two rows have each; those of
    /// [`ChangedRows::take`]; those of changing trees; [`trx::Error::Interrupted`].
    pub(super) fn catch_up<E: From<Error>>(
        &mut self,
        make: &mut MakeRow<'_, E>,
    ) -> std::result::Result<(), E> {
        fail_if_interrupted()?;
        self.changed.ensure_whole()?;
        self.put_back = 0;
        let mut rounds = Rounds::new(ChangedRows::REST_BYTES);
        // Keys that this call has put back wait for their transactions.
        while rounds.is_worth_another(self.changed.waiting().saturating_sub(self.put_back)) {
            let snapshot = Snapshot::take(self.engine);
            let mut left = self.changed.waiting();
            self.put_back = 0;
            while left > 0 {
                let taken = self.take_some(Some(&snapshot.view), make)?;
                if taken == 0 {
                    break;
                }
                left = left.saturating_sub(taken);
            }
        }
        Ok(())
    }

    /// Copies the last changed rows and checks unique keys; returns how many rows the new table has. The
    /// caller holds the exclusive lock.
    ///
    /// # Errors
    /// Those of `make`; [`Error::DuplicateKey`]; those of [`RowReplay::catch_up`].
    pub(super) fn finish<E: From<Error>>(mut self, make: &mut MakeRow<'_, E>) -> std::result::Result<u64, E> {
        while self.take_some(None, make)? > 0 {}
        self.find_clash()?.map_or(Ok(self.rows), |error| Err(error.into()))
    }

    /// The error for a unique key that two rows of the new table have.
    #[cold]
    fn find_clash(&self) -> Result<Option<Error>> {
        let RowReplay { engine, new, entries, .. } = self;
        let newest = ReadView::newest();
        entries.find_twice(|(position, _, clustered_key)| {
            clash(engine, new, &newest, &new.indexes[1 + position], &clustered_key).map(Some)
        })
    }

    /// Takes the oldest keys and copies their rows; returns how many bytes of keys there were. `view`: of a
    /// snapshot, while others change rows.
    fn take_some<E: From<Error>>(
        &mut self,
        view: Option<&ReadView>,
        make: &mut MakeRow<'_, E>,
    ) -> std::result::Result<u64, E> {
        let mut bytes = Vec::new();
        self.changed.take(&mut bytes)?;
        let mut rest = &bytes[..];
        let mut keys: Vec<&[u8]> = std::iter::from_fn(|| take_key(&mut rest)).collect();
        let (mut applied, mut copied) = (keys.len() as u64, 0);
        keys.sort_unstable();
        keys.dedup();
        for (nth, key) in keys.into_iter().enumerate() {
            if nth.is_multiple_of(ROWS_BETWEEN_LOOKS) {
                fail_if_interrupted()?;
            }
            if self.copy(key, view, make)? {
                copied += 1;
            } else {
                self.changed.put_back(key);
                self.put_back += bytes_of_key(key);
                applied -= 1;
            }
        }
        self.engine.side_log_counters.add(SideLogTotals { applied, copied, ..SideLogTotals::default() });
        Ok(bytes.len() as u64)
    }

    /// Makes the new table's row with `key` what the old table has now. False: that has to be done again
    /// later.
    fn copy<E: From<Error>>(
        &mut self,
        key: &[u8],
        view: Option<&ReadView>,
        make: &mut MakeRow<'_, E>,
    ) -> std::result::Result<bool, E> {
        let (values, spans) = match self.read(key, view)? {
            Found::Nothing => return Ok(self.replace(key, None).map(|()| true)?),
            Found::Row(values, spans) => (values, spans),
            Found::Unsettled => return Ok(false),
        };
        let mut put_failed = false;
        let made = with_values(
            spans.len(),
            |i| value_of(&values, spans[i]),
            |row| {
                make(row, &mut |new| {
                    let put = self.replace(key, Some(new));
                    put_failed = put.is_err();
                    put
                })
            },
        );
        match made {
            // The row may change again.
            Err(_) if view.is_some() && !put_failed => Ok(false),
            made => made.map(|()| true),
        }
    }

    /// Reads the newest version of the old table's row. Purge frees no value of a version that `view` sees.
    fn read(&self, key: &[u8], view: Option<&ReadView>) -> Result<Found> {
        let RowReplay { engine, old, .. } = self;
        let (mut values, mut spans, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        let mut image = RowImage { values: &mut values, spans: &mut spans };
        let writer: Option<TrxId> = old.get(engine, &ReadView::newest(), key, |row| {
            image.fill(&row, old.def.columns.len(), &mut scratch);
            RowHeader::decode(row.record().payload()).trx
        })?;
        let Some(writer) = writer else { return Ok(Found::Nothing) };
        if image.any_off_page(&ColumnSet::ALL) {
            if view.is_some_and(|view| !view.sees(&engine.trx, writer)) {
                return Ok(Found::Unsettled);
            }
            (values, spans) = image.fetched(&engine.store, &ColumnSet::ALL)?;
        }
        Ok(Found::Row(values, spans))
    }

    /// Puts `row`, or nothing, in place of the row with `key`.
    fn replace(&mut self, key: &[u8], row: Option<&[Value<'_>]>) -> Result<()> {
        let row_id = if self.new.def.hidden_row_id { row_id_of(key) } else { 0 };
        let before = self.copied(key)?;
        let mut after = RowEntries::default();
        if let Some(row) = row {
            after.append(row, row_id, &self.new.indexes[1..])?;
        }
        let (store, tree) = (&self.engine.store, &self.new.clustered().tree);
        if let Some(before) = &before {
            store.log().admit_change()?;
            remove(tree, store, key, &[], |_| true)?;
            self.rows -= 1;
            for value in &before.values {
                store.log().admit_change()?;
                store.free_overflow(value, &[])?;
            }
        }
        if let Some(row) = row {
            self.insert(key, row, row_id)?;
        }
        self.replace_entries(&before.map_or_else(RowEntries::default, |before| before.entries), &after)
    }

    /// What the new table has.
    fn copied(&self, key: &[u8]) -> Result<Option<Copied>> {
        let RowReplay { engine, new, .. } = self;
        let (clustered, store) = (new.clustered(), &engine.store);
        let mut bytes = Vec::new();
        let Some(at) = clustered.tree.point(store, key)? else { return Ok(None) };
        let copy = at.record().copy_to(&mut bytes);
        drop(at);
        let row = RowRef::new(&clustered.format, copy.record(&bytes));
        let indexed = Indexed { store, table: new, indexes: &new.indexes[1..], columns: &self.indexed };
        let values = (0..new.def.columns.len()).filter_map(|position| row.off_page(position)).collect();
        Ok(Some(Copied { entries: RowEntries::of(&row, indexed)?, values }))
    }

    fn insert(&mut self, key: &[u8], row: &[Value<'_>], row_id: u64) -> Result<()> {
        let RowReplay { engine, new, record, rows, .. } = self;
        let store = &engine.store;
        record.encode(engine, new, row, row_id, |index| Ok(index.tree.is_small(store)?))?;
        let NewRecord { key: new_key, payload } = record;
        debug_assert_eq!(new_key, key, "the clustered key is kept");
        store.log().admit_change()?;
        let mut edit = new.clustered().tree.edit(store, new_key, new_key.len() + payload.len())?;
        edit.insert(payload, SlotFlags::NONE).expect("edit was asked for the room");
        edit.commit();
        *rows += 1;
        Ok(())
    }

    fn replace_entries(&mut self, before: &RowEntries, after: &RowEntries) -> Result<()> {
        for index in 0..self.new.indexes.len() - 1 {
            let (old, new) = (before.get(index), after.get(index));
            if old.map(Entry::bytes) == new.map(Entry::bytes) {
                continue;
            }
            if let Some(entry) = old {
                self.apply(Change { action: Action::Remove, index, entry })?;
            }
            if let Some(entry) = new {
                self.apply(Change { action: Action::Insert, index, entry })?;
            }
        }
        Ok(())
    }

    /// As in MySQL, a key that too many rows share is a duplicate, though a transaction may still give it up.
    fn apply(&mut self, change: Change<'_>) -> Result<()> {
        match self.entries.apply(change) {
            Err(error @ Error::SideLogFull { .. }) => Err(self.find_clash()?.unwrap_or(error)),
            done => done,
        }
    }
}

impl Drop for RowReplay<'_> {
    fn drop(&mut self) {
        let blocks = self.changed.blocks();
        self.engine.side_log_counters.add(SideLogTotals { blocks, ..SideLogTotals::default() });
    }
}
