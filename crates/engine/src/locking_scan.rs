//! Reading a stretch of an index and locking what is read: rows by their clustered keys, the gaps between
//! them by the keys of the index.
//!
//! ```text
//!            |-- gap lock ------------------------------->|   grows before the next record is asked for
//!   --- a --[ from    b         c        d (of another)   to ] --- e
//!                     locked    locked   wait, no latch held
//! ```
//! A gap grows under the latch of the leaf where its new end is. What lies on another leaf may have been
//! inserted before it grew, so the search for the next record is repeated then: later inserts find the lock.
//!
//! *Semi-consistent* scans of the clustered index do not wait for a row that another has locked: they hand
//! out what was committed of it, and continue after it unless the caller insists.

use std::cmp::Ordering;
use std::ops::Bound;

use base::TrxId;
use btree::{Cursor, Seek, Suspended};
use page::{PageRef, Record, RecordCopy, RowHeader, RowRef, SlotFlags};
use trx::lock::{GapId, Side};
use trx::{Attempt, LockRead, ReadView, RowLocker, WaitPolicy};

use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::index::Index;
use crate::range::{Direction, KeyRange};
use crate::row::version::{self, Seen};
use crate::table::Table;

/// The state of a record after its lock was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locked {
    /// A row, and it is locked; `new`: it was not before.
    Row { new: bool },
    /// There is none.
    Nothing,
    /// Another has it, and SKIP LOCKED was asked for.
    Skipped,
}

/// Locks the row with the clustered key, waiting for it.
pub(crate) fn lock_row(engine: &Engine, table: &Table, rows: RowLocker<'_>, key: &[u8]) -> Result<Locked> {
    let index = table.clustered();
    loop {
        let Some(at) = index.tree.point(&engine.store, key)? else { return Ok(Locked::Nothing) };
        let record = at.record();
        let writer = RowHeader::decode(record.payload()).trx;
        let is_deleted = record.flags().is_deleted();
        if is_deleted && !rows.locker.is_foreign(writer) {
            ensure_seen(table, rows, writer)?;
            return Ok(Locked::Nothing);
        }
        let attempt = rows.request(index.tree.index, key, writer)?;
        if matches!(attempt, Attempt::Granted { .. }) {
            ensure_seen(table, rows, writer)?;
        }
        match attempt {
            // Its writer has ended just now.
            Attempt::Granted { .. } if is_deleted => return Ok(Locked::Nothing),
            Attempt::Granted { new } => return Ok(Locked::Row { new }),
            Attempt::Skipped => return Ok(Locked::Skipped),
            Attempt::Wait => {}
        }
        drop(at);
        rows.locker.wait()?;
    }
}

/// # Errors
/// [`Error::RecordChanged`]: the row's writer has ended, and the transaction must see its version but does
/// not.
pub(crate) fn ensure_seen(table: &Table, rows: RowLocker<'_>, writer: TrxId) -> Result<()> {
    if rows.refuses(writer) { Err(Error::record_changed(&table.def.name)) } else { Ok(()) }
}

/// A scan that locks each row before it hands it out, and holds no latch between calls. It sees the newest
/// versions.
#[derive(Debug)]
pub struct LockingScan<'e> {
    engine: &'e Engine,
    table: &'e Table,
    index: &'e Index,
    locks: &'e LockRead,
    range: KeyRange,
    direction: Direction,
    /// At most one row is in the range: where it is found, no gap is locked.
    single: bool,
    /// The last record that was passed.
    passed: Option<Suspended>,
    gap: Option<GapId>,
    /// How far the gap lock reaches.
    covered: Bound<Vec<u8>>,
    /// The row of the entry that comes next is locked, by its clustered key; whether it was not before.
    locked: Option<(Vec<u8>, bool)>,
    /// Clustered key of the row handed out last, if its lock is new.
    new: Option<Vec<u8>>,
    /// The record handed out last.
    copy: Vec<u8>,
    /// Where the row is that was handed out last without its lock.
    unlocked: Option<(Suspended, Vec<u8>)>,
    /// The clustered key of a row that is waited for.
    insisted: Option<Vec<u8>>,
    done: bool,
}

/// A row that a scan has found.
#[derive(Debug)]
pub struct FoundRow<'s> {
    /// Its record of the scan's index.
    pub row: RowRef<'s>,
    /// False: another has locked it, and this is what was committed.
    pub is_locked: bool,
}

/// Whether the row of an entry is wanted.
pub type RowPredicate<'w> = &'w mut dyn FnMut(&RowRef<'_>) -> bool;

/// What became of a record.
enum Verdict {
    /// Hand it out.
    Row,
    /// Hand out what was committed of it, of which there is a copy.
    Committed(RecordCopy),
    /// Go on after it.
    Pass,
    /// Look again, with no latch held meanwhile.
    Again,
    /// Wait for what was asked for, and check again.
    Wait,
    /// Lock the row with this clustered key, and check again.
    LockRow(Vec<u8>),
}

impl<'e> LockingScan<'e> {
    /// Makes a scan of the index at position `index` of `table`, whose ranges [`LockingScan::restart`] sets.
    pub fn new(
        engine: &'e Engine,
        table: &'e Table,
        index: usize,
        locks: &'e LockRead,
        direction: Direction,
    ) -> Self {
        LockingScan {
            engine,
            table,
            index: &table.indexes[index],
            locks,
            range: KeyRange::default(),
            direction,
            single: false,
            passed: None,
            gap: None,
            covered: Bound::Unbounded,
            locked: None,
            new: None,
            copy: Vec::new(),
            unlocked: None,
            insisted: None,
            done: true,
        }
    }

    /// Starts with a range. `single`: it is one unique key.
    pub fn restart(&mut self, single: bool, range: impl FnOnce(&mut KeyRange)) {
        range(&mut self.range);
        self.single = single;
        self.done = self.range.empty;
        (self.passed, self.gap, self.locked, self.new) = (None, None, None, None);
        (self.unlocked, self.insisted) = (None, None);
    }

    /// The next row, locked unless the scan is semi-consistent.
    /// # Errors  Those of locks, and of pages.
    pub fn next_row(&mut self) -> Result<Option<FoundRow<'_>>> {
        self.next_row_where(None)
    }

    /// As [`LockingScan::next_row`], for a secondary index: entries that `is_wanted` refuses are passed, and
    /// their rows are neither locked nor waited for. It is asked with the entry's leaf latched.
    /// # Errors  Those of locks, and of pages.
    pub fn next_row_where(
        &mut self,
        mut is_wanted: Option<RowPredicate<'_>>,
    ) -> Result<Option<FoundRow<'_>>> {
        self.new = None;
        if let Some((at, _)) = self.unlocked.take() {
            self.passed = Some(at);
        }
        while !self.done {
            fail_if_interrupted()?;
            let Some(cursor) = self.seek()? else {
                self.done = !self.cover(Bound::Unbounded);
                continue;
            };
            let key = cursor.record().with_key(<[u8]>::to_vec);
            if !self.is_inside(&key) {
                self.done = !self.cover(Bound::Excluded(key));
                continue;
            }
            let page = cursor.page();
            let is_edge = match self.direction {
                Direction::Forward => cursor.slot() == 0,
                Direction::Backward => cursor.slot() + 1 == page.count(),
            };
            if !self.single && self.cover(Bound::Included(key.clone())) && is_edge {
                continue;
            }
            let entry = || RowRef::new(&self.index.format, cursor.record());
            let is_wanted = is_wanted.as_mut().is_none_or(|is_wanted| is_wanted(&entry()));
            match if is_wanted { self.judge(&cursor, &key)? } else { Verdict::Pass } {
                Verdict::Row => {
                    self.copy.clear();
                    let record = self.index.copy_record(cursor.page(), &cursor.record(), &mut self.copy)?;
                    self.done = self.single || self.is_last(&key);
                    if !self.done {
                        self.pass(cursor);
                    }
                    let row = RowRef::new(&self.index.format, record.record(&self.copy));
                    return Ok(Some(FoundRow { row, is_locked: true }));
                }
                Verdict::Committed(record) => {
                    let mut at = Suspended::default();
                    cursor.suspend_into(&mut at);
                    self.unlocked = Some((at, key));
                    let row = RowRef::new(&self.index.format, record.record(&self.copy));
                    return Ok(Some(FoundRow { row, is_locked: false }));
                }
                // What is passed may come back to life: the gap has it in time.
                Verdict::Pass if self.single && self.cover(Bound::Included(key)) && is_edge => {}
                Verdict::Pass => self.pass(cursor),
                Verdict::Again => {}
                Verdict::Wait => {
                    drop(cursor);
                    self.locks.locker().wait()?;
                }
                Verdict::LockRow(row) => {
                    self.lock_row_behind(cursor, row)?;
                }
            }
        }
        Ok(None)
    }

    /// The row handed out last, which is not locked, is wanted: it is waited for and handed out again,
    /// locked, if it is still there.
    pub fn insist(&mut self) {
        if let Some((_, key)) = self.unlocked.take() {
            self.insisted = Some(key);
        }
    }

    /// Gives up the lock of the row handed out last, if it had none before: it is not what was searched for.
    pub fn release_row(&mut self) {
        if let Some(key) = self.new.take() {
            let clustered = self.table.clustered().tree.index;
            self.locks.locker().release_row(clustered, &key, self.locks.mode);
        }
    }

    /// The next record, after those that were passed.
    fn seek(&self) -> Result<Option<Cursor<'e>>> {
        let (tree, store) = (&self.index.tree, &self.engine.store);
        Ok(match (&self.passed, self.direction) {
            (Some(passed), Direction::Forward) => passed.resume(tree, store, Seek::After)?,
            (Some(passed), Direction::Backward) => passed.resume(tree, store, Seek::Before)?,
            (None, Direction::Forward) => tree.seek(store, &self.range.from, Seek::AtOrAfter)?,
            (None, Direction::Backward) => match self.range.to() {
                Some(to) => tree.seek(store, to, Seek::Before)?,
                None => tree.seek(store, &[], Seek::Last)?,
            },
        })
    }

    fn is_inside(&self, key: &[u8]) -> bool {
        match self.direction {
            Direction::Forward => self.range.to().is_none_or(|to| key < to),
            Direction::Backward => key >= &self.range.from[..],
        }
    }

    /// Whether no other key of the range can come after a record's `key`: that of a row of the clustered
    /// index, at the end of the range. So the gap beyond stays free.
    fn is_last(&self, key: &[u8]) -> bool {
        self.direction == Direction::Forward
            && self.locks.gaps
            && self.index.format.is_clustered()
            && self.range.ends_with(key)
    }

    /// Extends the gap lock to `to`; false if it reached there already, or no gap lock is wanted.
    fn cover(&mut self, to: Bound<Vec<u8>>) -> bool {
        if !self.locks.gaps {
            return false;
        }
        let (locker, index) = (self.locks.locker(), self.index.tree.index);
        match self.gap {
            // A record that has come in between: a gap lock does not get smaller.
            Some(_) if self.is_covered(&to) => return false,
            Some(gap) => {
                let side = match self.direction {
                    Direction::Forward => Side::Upper,
                    Direction::Backward => Side::Lower,
                };
                locker.extend_gap(index, gap, side, to.as_ref().map(|key| &key[..]));
            }
            None => {
                let reach = to.as_ref().map(|key| &key[..]);
                let (lower, upper) = match self.direction {
                    Direction::Forward => (Bound::Included(&self.range.from[..]), reach),
                    Direction::Backward => (reach, self.range.to().map_or(Bound::Unbounded, Bound::Excluded)),
                };
                self.gap = Some(locker.lock_gap(index, lower, upper));
            }
        }
        self.covered = to;
        true
    }

    /// Whether the gap lock reaches as far as `to`.
    fn is_covered(&self, to: &Bound<Vec<u8>>) -> bool {
        let (Bound::Included(reached) | Bound::Excluded(reached)) = &self.covered else { return true };
        let (Bound::Included(key) | Bound::Excluded(key)) = to else { return false };
        let order = match self.direction {
            Direction::Forward => reached.cmp(key),
            Direction::Backward => key.cmp(reached),
        };
        let is_at_least = matches!(self.covered, Bound::Included(_)) || matches!(to, Bound::Excluded(_));
        order == Ordering::Greater || (order == Ordering::Equal && is_at_least)
    }

    /// Asks for the lock of the record's row.
    fn judge(&mut self, cursor: &Cursor<'_>, key: &[u8]) -> Result<Verdict> {
        let record = cursor.record();
        if !self.index.format.is_clustered() {
            return self.judge_entry(&RowRef::new(&self.index.format, record));
        }
        let (writer, is_deleted) = (RowHeader::decode(record.payload()).trx, record.flags().is_deleted());
        let rows = self.locks.rows();
        if is_deleted && !rows.locker.is_foreign(writer) {
            ensure_seen(self.table, rows, writer)?;
            return Ok(Verdict::Pass);
        }
        let may_wait = self.single || !self.locks.semi_consistent || self.insisted.as_deref() == Some(key);
        let policy = if may_wait { rows.policy } else { WaitPolicy::SkipLocked };
        let attempt = RowLocker { policy, ..rows }.request(self.index.tree.index, key, writer)?;
        if matches!(attempt, Attempt::Granted { .. }) {
            ensure_seen(self.table, rows, writer)?;
        }
        Ok(match attempt {
            Attempt::Wait => Verdict::Wait,
            Attempt::Skipped if !may_wait => self.copy_committed(cursor.page(), &record)?,
            Attempt::Skipped => Verdict::Pass,
            // Its writer has ended just now.
            Attempt::Granted { .. } if is_deleted => Verdict::Pass,
            Attempt::Granted { new } => {
                self.new = new.then(|| key.to_vec());
                Verdict::Row
            }
        })
    }

    /// Copies what was committed of a row, if it was there.
    fn copy_committed(&mut self, page: PageRef<'_>, record: &Record<'_>) -> Result<Verdict> {
        let mut older = Vec::new();
        self.copy.clear();
        let (trx, index) = (&self.engine.trx, self.index);
        Ok(Verdict::Committed(
            match version::clustered(trx, ReadView::committed(), index, page, record, &mut older)? {
                Seen::Nothing => return Ok(Verdict::Pass),
                Seen::Current => record.copy_to(&mut self.copy),
                Seen::Older => record.with_payload(&older, SlotFlags::NONE).copy_to(&mut self.copy),
            },
        ))
    }

    fn judge_entry(&mut self, entry: &RowRef<'_>) -> Result<Verdict> {
        let end = entry.end_trx();
        let writer: TrxId = end.unwrap_or_else(|| entry.begin_trx());
        let mut row = Vec::new();
        self.index.append_clustered_key(entry, &mut row);
        if self.locks.locker().is_foreign(writer) {
            let clustered = self.table.clustered().tree.index;
            return Ok(match self.locks.rows().request_unlatched(clustered, &row, writer)? {
                Attempt::Wait => Verdict::Wait,
                Attempt::Skipped => Verdict::Pass,
                Attempt::Granted { .. } => Verdict::Again,
            });
        }
        if end.is_some() {
            return Ok(Verdict::Pass);
        }
        Ok(match self.locked.take() {
            Some((locked, new)) if locked == row => {
                self.new = new.then_some(locked);
                Verdict::Row
            }
            _ => Verdict::LockRow(row),
        })
    }

    /// Locks the row of the entry that comes next; the entry is checked again after that.
    fn lock_row_behind(&mut self, cursor: Cursor<'e>, row: Vec<u8>) -> Result<()> {
        let mut entry = Suspended::default();
        cursor.suspend_into(&mut entry);
        match lock_row(self.engine, self.table, self.locks.rows(), &row)? {
            Locked::Skipped => self.passed = Some(entry),
            Locked::Row { new } => self.locked = Some((row, new)),
            Locked::Nothing => self.locked = Some((row, false)),
        }
        Ok(())
    }

    fn pass(&mut self, cursor: Cursor<'e>) {
        cursor.suspend_into(self.passed.get_or_insert_default());
    }
}
