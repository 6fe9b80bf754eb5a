//! Numbers a table keeps beside its rows: AUTO_INCREMENT, invisible row ids, the row count.
//!
//! They live in memory; a clean shutdown writes them to the dictionary, the next startup takes them from
//! there. One that is not known is found again: one above the greatest value in the table.
//!
//! AUTO_INCREMENT numbers are not given out twice, not even after a crash: the dictionary has a limit that is
//! raised, in steps, before numbers at or above it are given out; after a crash the counter is at the
//! limit.

use std::sync::atomic::Ordering;

use base::codec::{push_varint, take_varint};
use btree::Seek;
use page::{Field, ROW_ID_BYTES};
use types::TypeKind;

use crate::dictionary::Kind;
use crate::engine::Engine;
use crate::error::{Error, Result, fail_if_interrupted};
use crate::range::{Direction, KeyRange};
use crate::row::key::row_id_of;
use crate::scan::Scan;
use crate::table::Table;

impl Engine {
    /// Takes the tables' counters from the dictionary. After a crash (not `clean`) AUTO_INCREMENT continues
    /// at its limit, and row ids are found again.
    pub(crate) fn load_counters(&self, clean: bool) -> Result<()> {
        for (name, bytes) in self.dictionary.list(&self.store, Kind::Counters)? {
            let catalog = self.catalog();
            let table = catalog.all_tables().find(|table| table.def.id.0.to_be_bytes()[..] == name[..]);
            let Some(table) = table else {
                // Its definition may be what cannot be read.
                if self.is_read_only() {
                    continue;
                }
                self.dictionary.delete(&self.store, Kind::Counters, &name)?;
                continue;
            };
            let mut rest = &bytes[..];
            if let (Some(next), Some(row_id), Some(rows)) =
                (take_varint(&mut rest), take_varint(&mut rest), take_varint(&mut rest))
            {
                table.state.auto_increment.store(next, Ordering::Relaxed);
                table.state.auto_increment_limit.store(next, Ordering::Relaxed);
                table.state.next_row_id.store(if clean { row_id } else { 0 }, Ordering::Relaxed);
                table.state.rows.store(rows as i64, Ordering::Relaxed);
                table.state.expect_rows(rows as i64);
            }
        }
        Ok(())
    }

    /// Writes the tables' counters to the dictionary.
    pub(crate) fn save_counters(&self) -> Result<()> {
        let catalog = self.catalog();
        for table in catalog.all_tables() {
            self.put_counters(table, table.state.auto_increment.load(Ordering::Relaxed))?;
        }
        Ok(())
    }

    fn put_counters(&self, table: &Table, next: u64) -> Result<()> {
        let (name, bytes) = (table.def.id.0.to_be_bytes(), table.counters(next));
        self.dictionary.put(&self.store, Kind::Counters, &name, &bytes)
    }

    /// Raises the limit of a table's AUTO_INCREMENT numbers to `after` and some more. It is in the log before
    /// a row with one of them can be.
    #[cold]
    #[inline(never)]
    fn raise_auto_increment_limit(&self, table: &Table, after: u64) -> Result<()> {
        self.store.log().admit()?;
        let _definition = self.definition.lock();
        let limit = table.auto_increment_limit_after(after);
        // A table that was dropped meanwhile has no counters.
        if table.is_current() && limit > table.state.auto_increment_limit.load(Ordering::Relaxed) {
            self.put_counters(table, limit)?;
            table.state.auto_increment_limit.store(limit, Ordering::Release);
        }
        Ok(())
    }
}

/// How far ahead the limit of AUTO_INCREMENT numbers is raised, at most. Near the last number it is raised
/// less far.
const AUTO_INCREMENT_STEP: u64 = 1024;

impl Table {
    /// The bytes of its counters in the dictionary, with `next` as the next AUTO_INCREMENT number.
    pub(crate) fn counters(&self, next: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_varint(&mut bytes, next);
        push_varint(&mut bytes, self.state.next_row_id.load(Ordering::Relaxed));
        push_varint(&mut bytes, self.row_count_estimate());
        bytes
    }

    /// The limit that is recorded when numbers below `after` were given out.
    pub(crate) fn auto_increment_limit_after(&self, after: u64) -> u64 {
        let left = self.auto_increment_max().saturating_sub(after);
        after + (left / 16).min(AUTO_INCREMENT_STEP)
    }

    /// Takes `count` consecutive AUTO_INCREMENT numbers, none below `at_least`, and returns the first. They
    /// are not given back by a rollback.
    ///
    /// # Errors
    /// [`Error::AutoIncrementExhausted`] when the column's type has no such numbers left.
    pub fn reserve_auto_increment(&self, engine: &Engine, count: u64, at_least: u64) -> Result<u64> {
        let counter = &self.state.auto_increment;
        self.find_auto_increment(engine)?;
        let max = self.auto_increment_max();
        let mut next = counter.load(Ordering::Relaxed);
        loop {
            let first = next.max(at_least).max(1);
            let after = first.checked_add(count).filter(|_| first.saturating_add(count - 1) <= max);
            let Some(after) = after.filter(|_| count > 0) else { return Err(Error::AutoIncrementExhausted) };
            match counter.compare_exchange_weak(next, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.keep_below_auto_increment_limit(engine, after)?;
                    return Ok(first);
                }
                Err(now) => next = now,
            }
        }
    }

    /// Takes up to `count` consecutive AUTO_INCREMENT numbers, none below `at_least`, and returns the first.
    /// At the end of the column's type there are fewer than `count`, and the last number is given out again:
    /// as in MySQL, the row that gets it fails with a duplicate key.
    ///
    /// # Errors
    /// [`Error::AutoIncrementExhausted`] when the counter or `at_least` is beyond the type's numbers.
    pub fn take_auto_increment(&self, engine: &Engine, count: u64, at_least: u64) -> Result<u64> {
        self.find_auto_increment(engine)?;
        let (counter, last) = (&self.state.auto_increment, self.auto_increment_last());
        let mut next = counter.load(Ordering::Relaxed);
        loop {
            let first = self.shown_auto_increment(next).max(at_least).max(1);
            if first > last || first == u64::MAX {
                return Err(Error::AutoIncrementExhausted);
            }
            let after = first.saturating_add(count).min(last).max(next);
            match counter.compare_exchange_weak(next, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.keep_below_auto_increment_limit(engine, after)?;
                    return Ok(first);
                }
                Err(now) => next = now,
            }
        }
    }

    /// Counts the rows again, for [`Table::row_count_estimate`]: those that a statement which begins now
    /// would see, give or take what is written meanwhile.
    pub fn count_rows(&self, engine: &Engine) -> Result<u64> {
        let mut cursor = self.clustered().tree.seek(&engine.store, &[], Seek::First)?;
        let mut rows: u64 = 0;
        while let Some(at) = cursor {
            rows += u64::from(!at.record().flags().is_deleted());
            if at.slot() == 0 {
                fail_if_interrupted()?;
            }
            cursor = at.next()?;
        }
        self.state.rows.store(i64::try_from(rows).unwrap_or(i64::MAX), Ordering::Relaxed);
        Ok(rows)
    }

    /// Makes numbers reserved from now on be above `used`, which a statement gave explicitly.
    pub fn advance_auto_increment(&self, engine: &Engine, used: u64) -> Result<()> {
        self.find_auto_increment(engine)?;
        let after = used.saturating_add(1);
        self.state.auto_increment.fetch_max(after, Ordering::Relaxed);
        self.keep_below_auto_increment_limit(engine, after)
    }

    /// Whether [`Table::advance_auto_increment`] after `used`, if that is a number, does nothing that can
    /// fail.
    #[inline]
    pub fn has_auto_increment_room(&self, used: u64) -> bool {
        used == 0
            || self.state.auto_increment.load(Ordering::Relaxed) != 0
                && used < self.state.auto_increment_limit.load(Ordering::Acquire)
    }

    #[inline]
    fn keep_below_auto_increment_limit(&self, engine: &Engine, after: u64) -> Result<()> {
        if after <= self.state.auto_increment_limit.load(Ordering::Acquire) {
            return Ok(());
        }
        engine.raise_auto_increment_limit(self, after)
    }

    /// The next AUTO_INCREMENT number, for SHOW; `None` without such a column.
    pub fn next_auto_increment(&self, engine: &Engine) -> Result<Option<u64>> {
        if self.def.auto_increment_column().is_none() {
            return Ok(None);
        }
        self.find_auto_increment(engine)?;
        Ok(Some(self.shown_auto_increment(self.state.auto_increment.load(Ordering::Relaxed))))
    }

    /// The counter as MySQL would have it, whose counter stays at the last number. That of ALTER TABLE ..
    /// AUTO_INCREMENT may be far beyond.
    fn shown_auto_increment(&self, next: u64) -> u64 {
        let last = self.auto_increment_last();
        if next.checked_sub(1) == Some(last) { last } else { next }
    }

    /// The next AUTO_INCREMENT number after ALTER TABLE .. AUTO_INCREMENT = `wanted`: not below what is in
    /// the table.
    pub(crate) fn free_auto_increment(&self, engine: &Engine, wanted: u64) -> Result<u64> {
        Ok(wanted.max(self.greatest_auto_increment(engine)?.saturating_add(1)).max(1))
    }

    fn find_auto_increment(&self, engine: &Engine) -> Result<()> {
        if self.state.auto_increment.load(Ordering::Relaxed) != 0 {
            return Ok(());
        }
        let next = self.greatest_auto_increment(engine)?.saturating_add(1).max(self.def.auto_increment_start);
        // The thread that came first has the same number or a later one.
        let zero = self.state.auto_increment.compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed);
        debug_assert!(zero.is_ok() || zero.is_err_and(|now| now > 0), "a counter starts once");
        Ok(())
    }

    /// The greatest positive number in the column, 0 if there is none.
    fn greatest_auto_increment(&self, engine: &Engine) -> Result<u64> {
        let Some(column) = self.def.auto_increment_column() else { return Ok(0) };
        let leads = |index: &crate::index::Index| {
            index.def.parts.first().is_some_and(|part| usize::from(part.column) == column && !part.desc)
        };
        let index = self.indexes.iter().position(leads);
        let (index, range) = (index.unwrap_or(0), KeyRange::all());
        let view = trx::ReadView::newest();
        let mut scan = Scan::open(engine, self, index, view, range, Direction::Backward)?;
        let (mut greatest, mut scratch) = (0, Vec::new());
        while let Some(batch) = scan.next_batch()? {
            for row in batch.rows() {
                if let Field::Bytes(bytes) = row.field(column, &mut scratch) {
                    greatest = greatest.max(self.number(column, bytes));
                }
            }
            if self.indexes[index].def.parts.first().is_some_and(|part| usize::from(part.column) == column) {
                break;
            }
        }
        Ok(greatest)
    }

    /// The positive integer in the column's storage bytes; 0 for others.
    fn number(&self, column: usize, bytes: &[u8]) -> u64 {
        let ty = &self.def.columns[column].ty;
        let mut wide = [0u8; 8];
        match ty.kind {
            TypeKind::Float => bytes.first_chunk().map_or(0, |raw| f32::from_le_bytes(*raw) as u64),
            TypeKind::Double => bytes.first_chunk().map_or(0, |raw| f64::from_le_bytes(*raw) as u64),
            _ => {
                wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
                let negative = !ty.unsigned && bytes.last().is_some_and(|top| top & 0x80 != 0);
                if negative { 0 } else { u64::from_le_bytes(wide) }
            }
        }
    }

    /// The greatest number that a row without one may get.
    fn auto_increment_max(&self) -> u64 {
        // The last number is kept back, so that the counter can be after it.
        self.auto_increment_last().min(u64::MAX - 1)
    }

    /// The greatest number of the column's type.
    fn auto_increment_last(&self) -> u64 {
        let Some(column) = self.def.auto_increment_column() else { return u64::MAX };
        let ty = &self.def.columns[column].ty;
        let bits = match ty.kind {
            TypeKind::TinyInt => 8,
            TypeKind::SmallInt => 16,
            TypeKind::MediumInt => 24,
            TypeKind::Int => 32,
            _ => 64,
        };
        u64::MAX >> (64 - bits + u32::from(!ty.unsigned))
    }

    /// A new invisible row id.
    pub(crate) fn reserve_row_id(&self, engine: &Engine) -> Result<u64> {
        let counter = &self.state.next_row_id;
        if counter.load(Ordering::Relaxed) == 0 {
            let last = self.clustered().tree.seek(&engine.store, &[], Seek::Last)?;
            let greatest = last.map_or(0, |at| at.record().with_key(row_id_of));
            // The thread that came first has found the same id or a later one, and may have used it.
            let _first = counter.compare_exchange(0, greatest + 1, Ordering::Relaxed, Ordering::Relaxed);
        }
        let id = counter.fetch_add(1, Ordering::Relaxed);
        if id >> (8 * ROW_ID_BYTES) != 0 {
            return Err(Error::AutoIncrementExhausted);
        }
        Ok(id)
    }
}
