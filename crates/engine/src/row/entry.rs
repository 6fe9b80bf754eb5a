//! Secondary entries: inserted with the id of the transaction that began them, closed with the id of the one
//! that ended them.
//!
//! An entry is never changed otherwise while a reader may need it: a new value is another entry.

use base::TrxId;
use base::codec::{get_u48, push_short, put_u48};
use btree::{LeafEdit, Seek};
use page::{PAGE_SIZE, Record, RowHeader, SlotFlags, TRX_ID_BYTES};
use trx::{Attempt, Buffers, LockMode, RowLocker, UndoKind, WaitPolicy};

use super::duplicate::{self, Holder};
use super::key::{Value, append_declared_key, ensure_key, push_begin};
use super::tree_edit::replace_payload;
use super::version::CLOSED;
use super::writer::RowWriter;
use crate::engine::Engine;
use crate::error::Result;
use crate::index::Index;
use crate::locking_scan::lock_row;

/// Left free on a leaf beside a new entry. An entry that is closed grows by an end id, so that a leaf filled
/// to the last byte would be squeezed together for every change.
const ENTRY_SLACK_BYTES: usize = 512;

/// What dead entries have to take of a full leaf, so that it is not looked through again soon.
const RECLAIM_BYTES_MIN: usize = PAGE_SIZE / 16;

impl<'a> RowWriter<'a> {
    /// Adds the entry of a new row to the index at `position`, checking uniqueness.
    pub(crate) fn insert_entry(
        &mut self,
        position: usize,
        row: &[Value<'_>],
        row_id: u64,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let index = &self.table.indexes[position];
        let Buffers { other_key, other_payload, third_key, .. } = buffers;
        self.encode_entry(index, row, row_id, other_key, other_payload)?;
        if index.is_unique() {
            return self.open_unique_entry(index, row, other_key, other_payload, third_key);
        }
        self.open_entry(index, other_key, other_payload)
    }

    /// Makes the whole key and the payload of a new row's entry.
    #[inline(never)]
    pub(crate) fn encode_entry(
        &self,
        index: &Index,
        row: &[Value<'_>],
        row_id: u64,
        key: &mut Vec<u8>,
        payload: &mut Vec<u8>,
    ) -> Result<()> {
        key.clear();
        payload.clear();
        let extent = index.format.append_key(row, row_id, key);
        ensure_key(extent, key)?;
        push_begin(key, self.id);
        index.format.encode(RowHeader::default(), row, &[], payload);
        Ok(())
    }

    /// [`RowWriter::encode_entry`] for a row whose clustered key is known: `clustered_key` is the entry key's
    /// last part but the begin id, so it is copied instead of encoded a second time.
    #[inline]
    pub(crate) fn encode_first_entry(
        &self,
        index: &Index,
        row: &[Value<'_>],
        clustered_key: &[u8],
        key: &mut Vec<u8>,
        payload: &mut Vec<u8>,
    ) -> Result<()> {
        key.clear();
        payload.clear();
        let (_, extent) = append_declared_key(index, row, key);
        key.extend_from_slice(clustered_key);
        ensure_key(extent, key)?;
        push_begin(key, self.id);
        if !index.format.has_no_payload() {
            index.format.encode(RowHeader::default(), row, &[], payload);
        }
        Ok(())
    }

    /// Opens the entry of `row` with `key` (no begin id yet), once no lock conflicts with it. `prefix` is
    /// scratch.
    /// # Errors  [`crate::Error::DuplicateKey`].
    pub(crate) fn open_row_entry(
        &mut self,
        index: &Index,
        row: &[Value<'_>],
        key: &mut Vec<u8>,
        payload: &[u8],
        prefix: &mut Vec<u8>,
    ) -> Result<()> {
        push_begin(key, self.id);
        if index.is_unique() {
            return self.open_unique_entry(index, row, key, payload, prefix);
        }
        self.open_entry(index, key, payload)
    }

    /// Opens the entry with the whole key `key`, once no other transaction locks its gap.
    pub(crate) fn open_entry(&mut self, index: &Index, key: &[u8], payload: &[u8]) -> Result<()> {
        while self.try_open_entry(index, key, payload)? == Attempt::Wait {
            self.locker.wait()?;
        }
        Ok(())
    }

    /// Opens the entry of `row` with the whole key `key` in a unique index. `prefix` is scratch.
    pub(crate) fn open_unique_entry(
        &mut self,
        index: &Index,
        row: &[Value<'_>],
        key: &[u8],
        payload: &[u8],
        prefix: &mut Vec<u8>,
    ) -> Result<()> {
        prefix.clear();
        let (comparable, extent) = append_declared_key(index, row, prefix);
        ensure_key(extent, prefix)?;
        let mut locked = None;
        loop {
            // Held from the look to the insert, so that of two transactions one finds the other's entry.
            let key_mutex = self.engine.unique_key_mutexes.lock(index.tree.index, prefix);
            let holder =
                if comparable { duplicate::find(self.engine, index, self.id, prefix)? } else { None };
            let attempt = match holder {
                None => match self.try_open_entry(index, key, payload)? {
                    Attempt::Wait => Attempt::Wait,
                    _ => return Ok(()),
                },
                Some(Holder { clustered_key, writer: Some(writer) }) => {
                    self.request_holder(&clustered_key, writer)?
                }
                Some(Holder { clustered_key, .. }) if locked.as_ref() == Some(&clustered_key) => {
                    let own_row = &key[prefix.len()..key.len() - TRX_ID_BYTES];
                    return Err(duplicate::first_made(
                        self.engine,
                        self.table,
                        self.id,
                        (index, row),
                        own_row,
                    ));
                }
                Some(Holder { clustered_key, .. }) => {
                    drop(key_mutex);
                    // It remains a duplicate until the transaction ends, if it is still there.
                    lock_row(self.engine, self.table, self.shared(), &clustered_key)?;
                    locked = Some(clustered_key);
                    continue;
                }
            };
            drop(key_mutex);
            if attempt == Attempt::Wait {
                self.locker.wait()?;
            }
        }
    }

    /// How duplicate rows are locked.
    pub(crate) fn shared(&self) -> RowLocker<'_> {
        RowLocker {
            locker: self.locker,
            mode: LockMode::Shared,
            policy: WaitPolicy::Wait,
            changes: self.log.records(),
            snapshot: None,
        }
    }

    /// Asks for the row of an entry that another transaction is changing. If that has ended meanwhile,
    /// nothing is to be waited for.
    fn request_holder(&self, clustered_key: &[u8], writer: TrxId) -> Result<Attempt> {
        let clustered = self.table.clustered().tree.index;
        Ok(self.shared().request_unlatched(clustered, clustered_key, writer)?)
    }

    /// Inserts the entry with `key`, or opens it again if this transaction has closed its own. Nothing has
    /// happened if this is to wait for a gap.
    pub(crate) fn try_open_entry(&mut self, index: &Index, key: &[u8], payload: &[u8]) -> Result<Attempt> {
        let mut edit = self.edit_entry(index, key, room_for_entry(key, payload))?;
        let attempt = self.put_entry(index, &mut edit, payload)?;
        if attempt != Attempt::Wait {
            self.commit(edit);
        }
        Ok(attempt)
    }

    /// Inserts or opens again the entry that the edit is positioned at, which has room for it. Nothing has
    /// happened if this is to wait for a gap.
    pub(crate) fn put_entry(
        &mut self,
        index: &Index,
        edit: &mut LeafEdit<'_>,
        payload: &[u8],
    ) -> Result<Attempt> {
        let key = edit.key();
        if edit.found() {
            // An entry that the transaction itself has delete-marked was no gap for others.
            let record = edit.record();
            debug_assert!(record.flags().has_end(), "an open entry is not inserted again");
            self.undo(index, UndoKind::EntryReopen, record.flags(), key, record.payload());
            edit.replace_payload(payload).expect("edit was asked for the room");
            edit.set_flags(SlotFlags::HAS_BEGIN);
            edit.raise_trx_max(self.id);
            return Ok(Attempt::Granted { new: false });
        }
        let without_begin = &key[..key.len() - TRX_ID_BYTES];
        let attempt = self.locker.try_insert(index.tree.index, without_begin, self.log.records())?;
        if attempt != Attempt::Wait {
            self.undo(index, UndoKind::EntryInsert, SlotFlags::HAS_BEGIN, key, &[]);
            edit.insert(payload, SlotFlags::HAS_BEGIN).expect("edit was asked for the room");
        }
        Ok(attempt)
    }

    /// Opens entries of an index that is not unique, in ascending order of their whole keys, staying on a
    /// leaf while it covers the next key and has room, and with those leaves while the next is free.
    pub(crate) fn open_sorted_entries<'k>(
        &mut self,
        index: &'k Index,
        count: usize,
        entry: impl Fn(usize) -> (&'k [u8], &'k [u8]),
    ) -> Result<()>
    where
        Self: 'k,
    {
        let mut at = 0;
        while at < count {
            let (key, mut payload) = entry(at);
            let mut edit = self.edit_entry(index, key, room_for_entry(key, payload))?;
            let put = loop {
                let put = self.put_entry(index, &mut edit, payload);
                if !matches!(put, Ok(Attempt::Granted { .. })) {
                    break put;
                }
                at += 1;
                if at == count {
                    break put;
                }
                let next = entry(at);
                let room = room_for_entry(next.0, next.1);
                if !edit.move_to(next.0, room) && !edit.move_beside(&self.engine.store, next.0, room) {
                    break put;
                }
                payload = next.1;
            };
            self.commit(edit);
            if put? == Attempt::Wait {
                self.locker.wait()?;
            }
        }
        Ok(())
    }

    /// Closes the open entry of a row whose key without a begin id is `key`, which is scratch, as is
    /// `scratch`.
    pub(crate) fn close_entry(
        &mut self,
        index: &Index,
        key: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        if self.close_entry_nearby(index, key, scratch)? {
            return Ok(());
        }
        self.close_entry_anywhere(index, key, scratch)
    }

    /// Closes the open entry for `key` if the leaf that the key leads to has it and room for an end id, in
    /// one descent. False: the entry is as it was. `whole_key` is scratch.
    fn close_entry_nearby(&mut self, index: &Index, key: &[u8], whole_key: &mut Vec<u8>) -> Result<bool> {
        let mut edit = index.tree.edit(&self.engine.store, key, 0)?;
        let closed = self.close_in_leaf(index, &mut edit, whole_key)?;
        self.commit(edit);
        Ok(closed)
    }

    /// Closes the open entry for the key of `edit` if its leaf has it, and room for an end id. False: the
    /// entry is as it was. `whole_key` is scratch.
    #[inline]
    pub(crate) fn close_in_leaf(
        &mut self,
        index: &Index,
        edit: &mut LeafEdit<'_>,
        whole_key: &mut Vec<u8>,
    ) -> Result<bool> {
        let key = edit.key();
        let Some(record) = edit.move_to_version(|record| !record.flags().has_end()) else {
            return Ok(false);
        };
        let open = record.flags();
        whole_key.clear();
        push_short(whole_key, key);
        if open.has_begin() {
            record.append_begin(whole_key);
        }
        edit.note_garbage()?;
        if edit.close(self.id).is_err() {
            return Ok(false);
        }
        // The undo record is complete before the latch is released, so readers cannot see it incomplete.
        self.undo(index, UndoKind::EntryClose, open, whole_key, &[]);
        Ok(true)
    }

    /// Latches the leaf that an entry's `key` belongs to, with room for `need` bytes. A full leaf first loses
    /// entries that no view can see any more.
    #[inline]
    pub(crate) fn edit_entry<'k>(&self, index: &'k Index, key: &'k [u8], need: usize) -> Result<LeafEdit<'k>>
    where
        'a: 'k,
    {
        let engine = self.engine;
        Ok(index.tree.edit_reclaiming(&engine.store, key, need, |leaf| reclaim(engine, leaf))?)
    }

    /// Closes the open entry for `key`, wherever it is: found first, then changed. What
    /// [`RowWriter::close_entry_nearby`] does in most cases. `key` and `payload` are scratch.
    #[cold]
    fn close_entry_anywhere(
        &mut self,
        index: &Index,
        key: &mut Vec<u8>,
        payload: &mut Vec<u8>,
    ) -> Result<()> {
        put_end(payload, self.id);
        if !find_open_entry(self.store(), index, key, payload)? {
            return Err(missing_entry(index));
        }
        let (engine, id) = (self.engine, self.id);
        let closed = replace_payload(
            &index.tree,
            &engine.store,
            key,
            payload,
            |edit| {
                let is_open = !edit.record().flags().has_end();
                if is_open {
                    edit.note_garbage()?;
                }
                Ok(is_open)
            },
            |mut edit| {
                let open = edit.record().flags();
                edit.set_flags(open.with(CLOSED));
                edit.raise_trx_max(id);
                // The undo record is complete before the latch is released, so readers cannot see it
                // incomplete.
                self.undo(index, UndoKind::EntryClose, open, key, &[]);
                self.commit(edit);
            },
        )?;
        if closed { Ok(()) } else { Err(missing_entry(index)) }
    }

    /// Closes the entries of a row that goes, in every secondary index. Of `row` only indexed columns are
    /// looked at. `last`: nothing comes after it that can fail.
    pub(crate) fn close_entries(
        &mut self,
        row: &[Value<'_>],
        clustered_key: &[u8],
        last: bool,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let indexes = &self.table.indexes;
        for (position, index) in indexes.iter().enumerate().skip(1) {
            if last && position + 1 == indexes.len() {
                self.expect_last_edit();
            }
            buffers.other_key.clear();
            append_declared_key(index, row, &mut buffers.other_key);
            buffers.other_key.extend_from_slice(clustered_key);
            self.close_entry(index, &mut buffers.other_key, &mut buffers.other_payload)?;
        }
        Ok(())
    }
}

/// Removes the leaf's entries that were closed before the oldest view began, as purge will not have to.
/// False: they would not make much room, and nothing has happened.
#[cold]
#[inline(never)]
fn reclaim(engine: &Engine, mut leaf: LeafEdit<'_>) -> bool {
    let horizon = engine.trx.purge_horizon();
    let is_dead = |record: &Record<'_>| {
        let end = || TrxId(get_u48(record.payload(), 0));
        record.flags().has_end() && engine.trx.number(end()).is_some_and(|number| number <= horizon)
    };
    let removed = leaf.remove_all(RECLAIM_BYTES_MIN, is_dead);
    leaf.commit();
    removed
}

/// Completes `key` with the begin id of the row's one open entry; appends the entry's payload to `payload`.
fn find_open_entry(
    store: &space::Store,
    index: &Index,
    key: &mut Vec<u8>,
    payload: &mut Vec<u8>,
) -> Result<bool> {
    let mut cursor = index.tree.seek(store, key, Seek::AtOrAfter)?;
    while let Some(at) = cursor {
        let record = at.record();
        if !record.with_key(|found| found == &key[..]) {
            return Ok(false);
        }
        let flags = record.flags();
        if !flags.has_end() {
            if flags.has_begin() {
                push_begin(key, TrxId(record.begin_trx()));
            }
            payload.extend_from_slice(record.payload());
            return Ok(true);
        }
        cursor = at.next()?;
    }
    Ok(false)
}

/// Room to ask for before an entry is inserted.
pub(crate) fn room_for_entry(key: &[u8], payload: &[u8]) -> usize {
    key.len() + payload.len() + ENTRY_SLACK_BYTES
}

/// Starts a closed entry's payload in `payload`.
fn put_end(payload: &mut Vec<u8>, end: TrxId) {
    payload.clear();
    payload.resize(TRX_ID_BYTES, 0);
    put_u48(payload, 0, end.0);
}

#[cold]
fn missing_entry(index: &Index) -> crate::error::Error {
    crate::error::Error::IndexDisagrees { index: index.tree.index }
}
