//! Binary rows: a NULL bitmap, then the values of the columns that are not NULL.
//!
//! Integers and floats go in with [`OutBuffer::put_u8`] to [`OutBuffer::put_u64`] in the column's own width
//! (YEAR as 2 bytes, MEDIUMINT as 4, FLOAT and DOUBLE as their bits); DECIMAL, BIT and everything textual
//! with [`OutBuffer::put_lenenc_bytes`]; dates and times with
//! [`BinaryDateTime::put`](crate::BinaryDateTime::put) and [`BinaryTime::put`](crate::BinaryTime::put).

use crate::OutBuffer;

/// Bits before the first column's in a row's NULL bitmap.
const BITMAP_OFFSET: usize = 2;

/// A binary row being written: the place of its NULL bitmap.
#[derive(Clone, Copy, Debug)]
pub struct BinaryRow {
    bitmap_at: usize,
}

impl BinaryRow {
    /// Opens the packet of a row of `columns` columns, none of them NULL so far.
    #[inline]
    pub fn begin(out: &mut OutBuffer, columns: usize) -> Self {
        out.begin_packet();
        // A zero byte opens the row.
        let head = out.put_zeros(1 + (columns + BITMAP_OFFSET).div_ceil(8));
        BinaryRow { bitmap_at: head + 1 }
    }

    /// Marks column `column` as NULL; nothing is appended for it.
    #[inline]
    pub fn put_null(self, out: &mut OutBuffer, column: usize) {
        let bit = column + BITMAP_OFFSET;
        out.set_bits(self.bitmap_at + bit / 8, 1 << (bit % 8));
    }

    /// Closes the packet.
    #[inline]
    pub fn end(self, out: &mut OutBuffer) {
        out.end_packet();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_are_bits_from_the_third_on() {
        let mut out = OutBuffer::new();
        let row = BinaryRow::begin(&mut out, 7);
        for column in 0..7 {
            if column % 3 == 0 {
                row.put_null(&mut out, column);
            } else {
                out.put_u8(column as u8);
            }
        }
        row.end(&mut out);
        assert_eq!(out.pending(), [7, 0, 0, 0, 0, 0b0010_0100, 0b1, 1, 2, 4, 5]);
    }
}
