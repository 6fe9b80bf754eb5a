//! Inserting many rows at once, also where some of them are left out.
//!
//! With IGNORE, a batch is tried as if none of its rows had a duplicate key. Where one has, the rows before
//! it are in the table then; it is left out, and the rows after it are written one by one.

use std::ops::Range;

use engine::Error;

use super::{BATCH_ROWS, DuplicateRule, RowsWriter};
use crate::auto_numbers::{AutoNumbers, RowNumber};
use crate::build::RowBuild;
use crate::error::{ExecError, Result};
use crate::row_build::RowBuffer;

/// The first rows of a range, with their AUTO_INCREMENT numbers if the table has such.
struct Numbered {
    numbers: Vec<RowNumber>,
    /// Where they end: before a row that needs a new reservation.
    end: usize,
    /// The state after the first row, whose number may have been reserved with others.
    after_first: Option<AutoNumbers>,
    /// What the row at `end` came to.
    error: Option<ExecError>,
}

/// A row of a batch that is not inserted.
struct LeftOut {
    /// The first row of the batch.
    first: usize,
    row: usize,
    number: Option<RowNumber>,
    error: Error,
}

impl RowsWriter<'_, '_> {
    /// Inserts the first `count` rows. Those before a reservation of numbers are written before it: the
    /// numbers that they came with, or the error that they come to, have a part in it.
    pub(super) fn write_batches(
        &mut self,
        rows: &RowBuffer,
        count: usize,
        build: &RowBuild<'_>,
    ) -> Result<()> {
        let mut start = 0;
        while start < count {
            let Numbered { numbers, end, after_first, error } = self.number(rows, start..count, build);
            if end > start
                && let Some(left_out) = self.write_batch(rows, start..end, &numbers, build)?
            {
                // Numbers of the rows after it are given out again.
                self.numbers = after_first;
                return self.go_on_singly(rows, left_out, count, build);
            }
            if let Some(error) = error {
                return Err(error);
            }
            start = end;
        }
        self.singly_next = BATCH_ROWS;
        Ok(())
    }

    fn number(&mut self, rows: &RowBuffer, range: Range<usize>, build: &RowBuild<'_>) -> Numbered {
        let (mut numbers, mut after_first, mut error) = (Vec::new(), None, None);
        let Some(auto) = &mut self.numbers else {
            return Numbered { numbers, end: range.end, after_first, error };
        };
        numbers.reserve(range.len());
        for row in range.clone() {
            if row > range.start && auto.must_reserve(rows, row) {
                break;
            }
            match auto.of_row(self.engine, build.table, rows, row) {
                Ok(number) => numbers.push(number),
                Err(failed) => {
                    error = Some(failed);
                    break;
                }
            }
            after_first.get_or_insert(*auto);
        }
        Numbered { end: range.start + numbers.len(), numbers, after_first, error }
    }

    /// Leaves a row of a batch out, and writes those after it, up to `count`, one by one. The numbers are
    /// those after the first row of the batch.
    #[cold]
    fn go_on_singly(
        &mut self,
        rows: &RowBuffer,
        left_out: LeftOut,
        count: usize,
        build: &RowBuild<'_>,
    ) -> Result<()> {
        let LeftOut { first, row, number, error } = left_out;
        if let Some(auto) = &mut self.numbers {
            (first + 1..=row)
                .try_for_each(|row| auto.of_row(self.engine, build.table, rows, row).map(drop))?;
        }
        self.leave_out(error, number, build)?;
        self.singly = self.singly_next;
        self.singly_next = self.singly_next.saturating_mul(2);
        (row + 1..count).try_for_each(|row| self.write_one(rows, row, build))
    }

    /// Inserts some rows, up to one that is to be left out.
    fn write_batch(
        &mut self,
        rows: &RowBuffer,
        range: Range<usize>,
        numbers: &[RowNumber],
        build: &RowBuild<'_>,
    ) -> Result<Option<LeftOut>> {
        let (first, count) = (range.start, range.len());
        let rooms: Vec<[u8; 8]> = numbers.iter().map(|number| number.value().to_le_bytes()).collect();
        let mut values = rows.columns_of(range);
        let width = values.len() / count;
        if let Some(auto) = &self.numbers {
            for (row, room) in values.chunks_exact_mut(width).zip(&rooms) {
                row[auto.column].get_or_insert(&room[..auto.width]);
            }
        }
        let each: Vec<_> = values.chunks_exact(width).collect();
        let (done, error) = match build.table.insert_batch(self.engine, self.trx, &each) {
            Ok(done) => (done, None),
            Err((done, error)) => (done, Some(error)),
        };
        #[cfg(test)]
        super::BATCHED.set(super::BATCHED.get() + done);
        self.written.affected += done as u64;
        self.written.copied += done as u64;
        self.note_numbers(&numbers[..done.min(numbers.len())], build)?;
        let (Some(error), number) = (error, numbers.get(done).copied()) else { return Ok(None) };
        if matches!((self.rule, &error), (DuplicateRule::Ignore, Error::DuplicateKey(_))) {
            return Ok(Some(LeftOut { first, row: first + done, number, error }));
        }
        self.note_duplicate(&error, number, build)?;
        Err(error.into())
    }
}
