//! The AUTO_INCREMENT numbers of a statement's rows. Which numbers a statement uses up is visible in the rows
//! of later ones, so they are reserved as InnoDB reserves them with `innobase_autoinc_lock_mode` 2:
//!
//! - A VALUES list reserves a number for each of its rows when the first row needs one, whether the others
//!   come with numbers, fail or are never reached.
//! - Other sources reserve 1, 2, 4, .. numbers; what is left of the last reservation is lost.
//! - A row that is not inserted hands its number to the next row of the statement. The statement's end gives
//!   back none.
//! - ON DUPLICATE KEY UPDATE may assign to the column the number that the row would have had, which is then
//!   used up, but no other of those reserved.

use engine::{Engine, Table};
use types::storage::fixed_width;

use crate::error::{ExecError, Result};
use crate::row_build::RowBuffer;

/// Numbers that a statement reserves at once if it does not know how many it needs, at most.
const RESERVED_MAX: u64 = 65_535;

/// Where a statement's rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowOrigin {
    /// A VALUES list of this many rows.
    Values(usize),
    /// A query.
    Query,
    /// A file.
    File,
}

/// The AUTO_INCREMENT number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowNumber {
    /// The row came with it.
    Given(u64),
    /// The row came without.
    Taken(u64),
}

impl RowNumber {
    /// The number.
    pub(crate) fn value(self) -> u64 {
        match self {
            RowNumber::Given(number) | RowNumber::Taken(number) => number,
        }
    }

    /// The number that the row came without.
    pub(crate) fn taken(self) -> Option<u64> {
        match self {
            RowNumber::Taken(number) => Some(number),
            RowNumber::Given(_) => None,
        }
    }
}

/// The numbers of one statement's rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AutoNumbers {
    /// Position of the column.
    pub(crate) column: usize,
    /// Position of the index that the column leads.
    pub(crate) index: Option<usize>,
    /// Bytes of the column.
    pub(crate) width: usize,
    is_unsigned: bool,
    rows: Option<u64>,
    reservations: u32,
    /// The number of the next row that needs one; 0: none is reserved yet.
    next: u64,
    /// `next` before the row in hand.
    before: u64,
    /// The first number of the last reservation.
    start: u64,
    /// Behind the last number reserved.
    end: u64,
    /// Rows still to come of those that the last reservation is for.
    rows_left: u64,
}

impl AutoNumbers {
    /// `None`: the table has no such column.
    pub(crate) fn of(table: &Table, origin: RowOrigin) -> Option<Self> {
        let column = table.def.auto_increment_column()?;
        let ty = &table.def.columns[column].ty;
        let leads = |index: &engine::Index| {
            index.def.parts.first().is_some_and(|part| usize::from(part.column) == column)
        };
        Some(AutoNumbers {
            column,
            index: table.indexes.iter().position(leads),
            width: fixed_width(ty).unwrap_or(8),
            is_unsigned: ty.unsigned,
            rows: match origin {
                RowOrigin::Values(rows) => Some(rows as u64),
                RowOrigin::Query | RowOrigin::File => None,
            },
            reservations: 0,
            next: 0,
            before: 0,
            start: 0,
            end: 0,
            rows_left: 0,
        })
    }

    /// Whether row `row` needs a number and none is reserved for it.
    pub(crate) fn must_reserve(&self, rows: &RowBuffer, row: usize) -> bool {
        self.next >= self.end && rows.get(row, self.column).is_none()
    }

    /// The number of row `row`, which is written next.
    pub(crate) fn of_row(
        &mut self,
        engine: &Engine,
        table: &Table,
        rows: &RowBuffer,
        row: usize,
    ) -> Result<RowNumber> {
        self.before = self.next;
        let number = match rows.get(row, self.column) {
            Some(bytes) => {
                let number = self.number_in(bytes);
                self.pass(number);
                RowNumber::Given(number)
            }
            None => RowNumber::Taken(self.take(engine, table)?),
        };
        self.count_write();
        Ok(number)
    }

    fn take(&mut self, engine: &Engine, table: &Table) -> Result<u64> {
        if self.next >= self.end {
            let wanted = match (self.reservations, self.rows) {
                (0, Some(rows)) => rows,
                (reservations, _) => (1 << reservations.min(16)).min(RESERVED_MAX),
            };
            if self.rows_left == 0 {
                self.rows_left = wanted;
            }
            self.next = table.take_auto_increment(engine, self.rows_left, self.next)?;
            self.start = self.next;
            self.end = self.next.saturating_add(self.rows_left);
            self.reservations += 1;
        }
        if self.next > self.last() {
            return Err(ExecError::Engine(engine::Error::AutoIncrementExhausted));
        }
        let number = self.next;
        self.next = number.saturating_add(1);
        Ok(number)
    }

    /// Instead of the row in hand, with `number`, another is updated, and its column is given the number
    /// `assigned`. Call after [`AutoNumbers::give_back`].
    ///
    /// # Errors
    /// [`ExecError::NumberReserved`]: other rows may get it.
    pub(crate) fn assign(&mut self, number: RowNumber, assigned: u64) -> Result<()> {
        match number.taken() {
            Some(own) if own == assigned => self.pass(assigned),
            Some(_) if (self.start..self.end).contains(&assigned) => return Err(ExecError::NumberReserved),
            _ => {}
        }
        Ok(())
    }

    /// Numbers taken from now on are above `number`, if any was taken before.
    fn pass(&mut self, number: u64) {
        if self.next > 0 && number >= self.next && !self.is_negative(number) {
            self.next = number.saturating_add(1);
        }
    }

    /// A row is tried to be written.
    pub(crate) fn count_write(&mut self) {
        self.rows_left = self.rows_left.saturating_sub(1);
    }

    /// The row in hand, with `number`, is not inserted.
    pub(crate) fn give_back(&mut self, number: RowNumber) {
        self.next = number.taken().unwrap_or(self.before);
    }

    /// The number in the column's bytes; a negative one as the unsigned number that clients see.
    pub(crate) fn number_in(&self, bytes: &[u8]) -> u64 {
        let is_negative = !self.is_unsigned && bytes.last().is_some_and(|top| top & 0x80 != 0);
        let mut wide = if is_negative { [0xff; 8] } else { [0; 8] };
        wide[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(wide)
    }

    /// Whether `number` counts for the table's counter.
    pub(crate) fn counts(&self, number: u64) -> bool {
        number != 0 && !self.is_negative(number)
    }

    fn is_negative(&self, number: u64) -> bool {
        !self.is_unsigned && number > i64::MAX as u64
    }

    /// The greatest number of the column's type.
    fn last(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.width as u32 + u32::from(!self.is_unsigned))
    }
}
