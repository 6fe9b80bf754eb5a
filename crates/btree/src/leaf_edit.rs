//! Changing records of one leaf: a position under an exclusive latch, and the mini-transaction of the
//! changes.

use base::{ROW_HEADER_BYTES, TrxId};
use buffer::ExclusiveGuard;
use log::FrameRange;
use page::{
    Batch, CELL_OVERHEAD_BYTES_MAX, EntryClose, LeafInsert, OpError, PAGE_SIZE, PageOp, PageRef, Record,
    RowDelete, RowPatch, Search, SlotFlags,
};
use space::{Latched, Mtr, Result, Store};

use crate::tree::Tree;

/// The change needs more room than [`Tree::edit`] was asked to provide. Nothing has happened: commit what was
/// done, then call `edit` with a larger need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedRoom;

/// Bytes of a record in the arrays: its head and its slot.
const SLOT_BYTES: usize = 6;

/// Bytes an ascending load leaves free on each leaf, so that rows may grow a little without a split.
pub(crate) const APPEND_RESERVE: usize = PAGE_SIZE / 16;

/// Leaves that one edit latches: others wait for all of them until the last one is changed.
const LEAVES_MAX: usize = 16;

/// An edit with more bytes of redo is committed before the next leaf.
const FRAME_BYTES_MAX: usize = 8 << 10;

/// A leaf below this many bytes in use is worth a call of [`Tree::shrink`].
pub(crate) const SPARSE_BYTES: usize = PAGE_SIZE / 4;

/// A leaf under exclusive latch, positioned at a key: at the record, or where it would be inserted.
///
/// Changes are made one after another and reach the log together in [`LeafEdit::commit`]. Dropping an edit
/// that changed something is a bug and stops the process; dropping one that changed nothing just releases the
/// leaf.
#[derive(Debug)]
pub struct LeafEdit<'p> {
    tree: &'p Tree,
    mtr: Mtr<'p>,
    leaf: Latched,
    key: &'p [u8],
    slot: usize,
    found: bool,
}

impl<'p> LeafEdit<'p> {
    #[inline]
    pub(crate) fn new(
        tree: &'p Tree,
        store: &'p Store,
        leaf: ExclusiveGuard<'p>,
        key: &'p [u8],
        at: Search,
    ) -> Self {
        Self::of(Mtr::new(store), tree, leaf, key, at)
    }

    /// An edit that is committed with `first`: see [`LeafEdit::write_both`].
    #[inline]
    pub(crate) fn beside(
        first: &mut LeafEdit<'_>,
        tree: &'p Tree,
        store: &'p Store,
        leaf: ExclusiveGuard<'p>,
        key: &'p [u8],
        at: Search,
    ) -> Self {
        Self::of(Mtr::beside(store, &mut first.mtr), tree, leaf, key, at)
    }

    #[inline(always)]
    fn of(mut mtr: Mtr<'p>, tree: &'p Tree, leaf: ExclusiveGuard<'p>, key: &'p [u8], at: Search) -> Self {
        let leaf = mtr.adopt(leaf);
        LeafEdit { tree, mtr, leaf, key, slot: at.slot, found: at.found }
    }

    /// Whether the leaf holds a record with the key.
    #[inline]
    pub fn found(&self) -> bool {
        self.found
    }

    /// The record's slot, or the slot it would get.
    #[inline]
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// The key the edit is positioned at.
    #[inline]
    pub fn key(&self) -> &'p [u8] {
        self.key
    }

    /// The leaf as it is now.
    #[inline]
    pub fn page(&self) -> PageRef<'_> {
        self.mtr.page(self.leaf)
    }

    /// The record with the key. Only if [`LeafEdit::found`].
    #[inline]
    pub fn record(&self) -> Record<'_> {
        debug_assert!(self.found, "no record with the key");
        self.page().record(self.slot)
    }

    /// Goes on with another key if it belongs to this leaf and the leaf has room for `need` bytes more. Same
    /// meaning as in [`Tree::edit`]. False: no move; commit and call `edit`.
    #[inline]
    pub fn move_to(&mut self, key: &'p [u8], need: usize) -> bool {
        let page = self.page();
        if page.upper_fence().is_some_and(|upper| key >= upper) {
            return false;
        }
        let is_behind_all = self.found && self.slot + 1 == page.count() && key > self.key;
        let at =
            if is_behind_all { Search { slot: page.count(), found: false } } else { page.search_leaf(key) };
        if !(is_behind_all || page.covers_searched(key, at)) || !has_room(page, key, at, need) {
            return false;
        }
        (self.key, self.slot, self.found) = (key, at.slot, at.found);
        true
    }

    /// Continues in the leaf of `key`, which is above the leaves so far. All changed leaves stay latched and
    /// are logged in one frame. Never waits and never splits. False: no move; commit and call `edit`.
    pub fn move_beside(&mut self, store: &'p Store, key: &'p [u8], need: usize) -> bool {
        let (leaves, redo_bytes) = self.mtr.extent();
        if leaves >= LEAVES_MAX || redo_bytes > FRAME_BYTES_MAX {
            return false;
        }
        let Some((leaf, at)) = self.tree.directory.try_exclusive(store, self.tree, key) else { return false };
        if !self.tree.is_current(leaf.page()) || !has_room(leaf.page(), key, at, need) {
            return false;
        }
        self.leaf = self.mtr.adopt(leaf);
        (self.key, self.slot, self.found) = (key, at.slot, at.found);
        true
    }

    /// [`LeafEdit::move_to`] a key that is probably found next to the position.
    #[inline]
    pub fn move_near(&mut self, key: &'p [u8], need: usize) -> bool {
        let page = self.page();
        let at = page.search_leaf_near(key, self.slot);
        if !page.covers_searched(key, at) || !has_room(page, key, at, need) {
            return false;
        }
        (self.key, self.slot, self.found) = (key, at.slot, at.found);
        true
    }

    /// Goes on to the first record of the leaf, from the position on, that has the edit's key beside its
    /// begin id and that `is_wanted`. `None`: no move; there may be one in the next leaf.
    #[inline]
    pub fn move_to_version(&mut self, is_wanted: impl Fn(&Record<'_>) -> bool) -> Option<Record<'_>> {
        let page = self.mtr.page(self.leaf);
        for slot in self.slot..page.count() {
            let record = page.record(slot);
            if !record.has_key(self.key) {
                return None;
            }
            if is_wanted(&record) {
                (self.slot, self.found) = (slot, true);
                return Some(record);
            }
        }
        None
    }

    /// Inserts a record with the key at the position, which then is that record. `HAS_BEGIN` in `flags` says
    /// that the key ends with a begin id, which raises the page's `trx_max`.
    #[inline]
    pub fn insert(&mut self, payload: &[u8], flags: SlotFlags) -> std::result::Result<(), NeedRoom> {
        self.insert_record(payload, Some(flags))
    }

    /// [`LeafEdit::insert`] of a clustered record without marks. Raises the page's `trx_max` to the writer in
    /// its row header.
    #[inline]
    pub fn insert_row(&mut self, payload: &[u8]) -> std::result::Result<(), NeedRoom> {
        self.insert_record(payload, None)
    }

    #[inline(always)]
    fn insert_record(
        &mut self,
        payload: &[u8],
        flags: Option<SlotFlags>,
    ) -> std::result::Result<(), NeedRoom> {
        debug_assert!(!self.found, "a key is inserted once");
        let insert = LeafInsert { slot: self.slot as u16, flags, key: self.key, payload };
        room(self.mtr.insert(self.leaf, &insert), &insert)?;
        self.found = true;
        let page = self.page();
        if self.slot + 1 == page.count() && page.right().is_none() {
            self.tree.remember_end(page);
        }
        Ok(())
    }

    /// Whether rows that are inserted here come behind all records of the leaf.
    #[inline]
    pub fn is_behind_all(&self) -> bool {
        !self.found && self.slot == self.page().count()
    }

    /// Whether a row with `key`, which is above the position's, can follow `rows` others that
    /// [`LeafEdit::append_rows`] is to append here; `bytes` are those of all keys and payloads with its own.
    #[inline]
    pub fn takes_behind(&self, key: &[u8], rows: usize, bytes: usize) -> bool {
        let page = self.page();
        page.upper_fence().is_none_or(|upper| key < upper)
            && page.takes_behind(key, rows, bytes, APPEND_RESERVE)
    }

    /// Appends clustered records without marks, which [`LeafEdit::takes_behind`] has shown to fit, as one
    /// change. `last` is the key of the last one, where the edit's position is then; `trx` has written them.
    pub fn append_rows(&mut self, rows: Batch<'_>, last: &'p [u8], trx: TrxId) {
        debug_assert!(self.is_behind_all(), "rows are appended behind all others");
        self.mtr.append_batch(self.leaf, rows);
        self.raise_trx_max(trx);
        (self.key, self.slot, self.found) = (last, self.page().count() - 1, true);
        if self.page().right().is_none() {
            self.tree.remember_end(self.page());
        }
    }

    /// Replaces the record's payload; key and marks stay.
    #[inline]
    pub fn replace_payload(&mut self, payload: &[u8]) -> std::result::Result<(), NeedRoom> {
        debug_assert!(self.found, "no record with the key");
        self.try_apply(&PageOp::ReplacePayload { slot: self.slot as u16, payload })
    }

    /// Overwrites `bytes` at `offset` of the record's payload.
    #[inline]
    pub fn patch(&mut self, offset: usize, bytes: &[u8]) {
        debug_assert!(self.found, "no record with the key");
        let op = PageOp::Patch { slot: self.slot as u16, offset: offset as u16, bytes };
        self.mtr.apply(self.leaf, &op);
    }

    /// Gives the clustered record another header and other bytes from `offset` of its payload on, and raises
    /// the page's `trx_max` to the header's writer.
    #[inline]
    pub fn patch_row(&mut self, header: [u8; ROW_HEADER_BYTES], offset: usize, bytes: &[u8]) {
        debug_assert!(self.found, "no record with the key");
        let patch = RowPatch { slot: self.slot as u16, offset: offset as u16, header, bytes };
        self.mtr.patch_row(self.leaf, &patch);
    }

    /// To be called before a record of the leaf is marked as deleted or closed: a crash does not let it be
    /// forgotten then (docs/file_format.md, 1.2). On an error nothing has happened. Cost: a few loads, but
    /// for the first time in an extent.
    #[inline(always)]
    pub fn note_garbage(&mut self) -> Result<()> {
        self.mtr.note_garbage(self.page().page_no())
    }

    /// Marks the row as deleted by the transaction of `header`, its new row header. Raises the page's
    /// `trx_max`.
    #[inline]
    pub fn delete_row(&mut self, header: &[u8; ROW_HEADER_BYTES]) {
        debug_assert!(self.found, "no record with the key");
        self.mtr.delete_row(self.leaf, &RowDelete { slot: self.slot as u16, header });
    }

    /// Closes the secondary entry: end id `trx`, `DELETED`, `HAS_END`. May grow the record by
    /// [`page::TRX_ID_BYTES`]. Raises the page's `trx_max`.
    #[inline]
    pub fn close(&mut self, trx: TrxId) -> std::result::Result<(), NeedRoom> {
        debug_assert!(self.found, "no record with the key");
        let close = EntryClose { slot: self.slot as u16, trx };
        room(self.mtr.close(self.leaf, close), &close)
    }

    /// Takes back a [`LeafEdit::close`].
    pub fn reopen(&mut self) {
        debug_assert!(self.found, "no record with the key");
        self.mtr.apply(self.leaf, &PageOp::Reopen { slot: self.slot as u16 });
    }

    /// Sets the record's marks.
    #[inline]
    pub fn set_flags(&mut self, flags: SlotFlags) {
        debug_assert!(self.found, "no record with the key");
        self.mtr.apply(self.leaf, &PageOp::SetFlags { slot: self.slot as u16, flags });
    }

    /// Removes the record. The position stays where it would be inserted.
    #[inline]
    pub fn remove(&mut self) {
        debug_assert!(self.found, "no record with the key");
        self.mtr.apply(self.leaf, &PageOp::Remove { slot: self.slot as u16 });
        self.found = false;
    }

    /// Removes all records of the leaf that are dead, if they take at least `bytes_min`; commit then. False:
    /// nothing has happened.
    pub fn remove_all(&mut self, bytes_min: usize, is_dead: impl Fn(&Record<'_>) -> bool) -> bool {
        let page = self.page();
        let records = page.records();
        let dead: Vec<u16> =
            (0..page.count()).filter(|&slot| is_dead(&records.get(slot))).map(|slot| slot as u16).collect();
        let bytes: usize = dead.iter().map(|&slot| page.slot_used_bytes(slot.into())).sum();
        if dead.is_empty() || bytes < bytes_min {
            return false;
        }
        for &slot in dead.iter().rev() {
            self.mtr.apply(self.leaf, &PageOp::Remove { slot });
        }
        true
    }

    /// Notes that a transaction changed a record of the leaf: the page's `trx_max` becomes at least `trx`.
    #[inline]
    pub fn raise_trx_max(&mut self, trx: TrxId) {
        if self.page().trx_max() < trx {
            self.mtr.apply(self.leaf, &PageOp::RaiseTrxMax(trx));
        }
    }

    /// Appends the key of the record before the position; if there is none in this leaf, the leaf's lower
    /// fence, below which the previous record lies. True: a record's key.
    pub fn append_prev_key(&self, out: &mut Vec<u8>) -> bool {
        let page = self.page();
        match self.slot.checked_sub(1) {
            Some(before) => page.append_key(before, out),
            None => out.extend_from_slice(page.lower_fence()),
        }
        self.slot > 0
    }

    /// Where the record after the position (after the record itself if found) is; appends its key or the
    /// fence to `out`.
    pub fn append_next_key(&self, out: &mut Vec<u8>) -> Neighbour {
        let page = self.page();
        let after = self.slot + usize::from(self.found);
        if after < page.count() {
            page.append_key(after, out);
            return Neighbour::Record(after);
        }
        match page.upper_fence() {
            Some(fence) => {
                out.extend_from_slice(fence);
                Neighbour::Fence
            }
            None => Neighbour::End,
        }
    }

    /// Whether so little is left that [`Tree::shrink`] should be called after the commit.
    #[inline]
    pub fn is_sparse(&self) -> bool {
        let page = self.page();
        page.used_bytes() < SPARSE_BYTES && page.page_no() != self.tree.root
    }

    #[inline]
    fn try_apply(&mut self, op: &PageOp<'_>) -> std::result::Result<(), NeedRoom> {
        room(self.mtr.try_apply(self.leaf, op), op)
    }

    /// Whether anything was changed.
    #[inline]
    pub fn is_changed(&self) -> bool {
        self.mtr.is_changed()
    }

    /// Writes the changes to the log and releases the leaf. Returns where their frame lies, or `None` if
    /// nothing was changed.
    #[inline(always)]
    pub fn commit(self) -> Option<FrameRange> {
        self.mtr.commit()
    }

    /// [`LeafEdit::commit_with`], but that the leaf stays latched until the edit is dropped or released.
    #[inline(always)]
    pub fn write(&mut self, parts: &[u8]) -> Option<FrameRange> {
        self.mtr.write(parts)
    }

    /// [`LeafEdit::write`] of what was changed in this leaf and in that of `first`, beside which it was
    /// latched.
    #[inline(always)]
    pub fn write_both(&mut self, first: &mut LeafEdit<'_>, parts: &[u8]) -> Option<FrameRange> {
        self.mtr.write_both(&mut first.mtr, parts)
    }

    /// Gives the leaf back. The edit has no position any more; what it changed is written.
    #[inline]
    pub fn release(&mut self) {
        self.mtr.release();
    }

    /// [`LeafEdit::commit`] of a frame that ends with `parts`, encoded: what must reach the log with the
    /// changes or not at all. If nothing was changed they are not written.
    #[inline(always)]
    pub fn commit_with(self, parts: &[u8]) -> Option<FrameRange> {
        self.mtr.commit_with(parts)
    }
}

/// What applying `op` says of the page's room.
#[inline(always)]
fn room(
    applied: std::result::Result<(), OpError>,
    op: &dyn std::fmt::Debug,
) -> std::result::Result<(), NeedRoom> {
    match applied {
        Ok(()) => Ok(()),
        Err(OpError::Full) => Err(NeedRoom),
        Err(OpError::Malformed) => malformed(op),
    }
}

#[cold]
#[inline(never)]
fn malformed(op: &dyn std::fmt::Debug) -> ! {
    base::invariant::violated("the operation suits the page", format_args!("{op:?}"));
}

/// What lies after the position of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// A record of the same leaf, at this slot.
    Record(usize),
    /// The leaf's upper fence: the next record is at or above it, in a later leaf.
    Fence,
    /// Nothing: the key would be the tree's last.
    End,
}

/// Whether a leaf can take `need` bytes of key and payload for `key`, which a search found to belong `at`. An
/// insertion after the tree's last record counts the page as full a little earlier, see [`APPEND_RESERVE`].
#[inline(always)]
pub(crate) fn has_room(page: PageRef<'_>, key: &[u8], at: Search, need: usize) -> bool {
    if need == 0 || page.takes_between(at.slot, need + CELL_OVERHEAD_BYTES_MAX) {
        debug_assert!(need == 0 || has_room_anyhow(page, key, at, need), "room for {need} bytes at {at:?}");
        return true;
    }
    has_room_anyhow(page, key, at, need)
}

/// [`has_room`] once dead cells are squeezed out, and at either end of the leaf.
#[inline(never)]
fn has_room_anyhow(page: PageRef<'_>, key: &[u8], at: Search, need: usize) -> bool {
    let free = page.free_for(key);
    if at.found {
        // The record's old cell is given up for the new one.
        return free + page.slot_used_bytes(at.slot) >= need + CELL_OVERHEAD_BYTES_MAX + SLOT_BYTES;
    }
    let reserve = if is_append(page, at.slot) { APPEND_RESERVE } else { 0 };
    free >= need + CELL_OVERHEAD_BYTES_MAX + reserve
}

/// Whether an insertion at `slot` would add a record after the last one of the tree, and not to an empty
/// tree.
#[inline]
pub(crate) fn is_append(page: PageRef<'_>, slot: usize) -> bool {
    slot == page.count() && slot > 0 && page.upper_fence().is_none()
}
