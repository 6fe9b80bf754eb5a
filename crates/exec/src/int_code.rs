//! Integer parts of a key as numbers.

use page::IntPart;

use crate::key_part::KeyPart;

/// The place and encoding of one integer part within a key's number.
#[derive(Debug)]
pub(crate) struct IntCode {
    /// Smallest and greatest value of the column.
    pub(crate) min: i128,
    pub(crate) max: i128,
    /// Bits of the part, the byte before the value included, and of the parts after it.
    pub(crate) part_bits: u32,
    pub(crate) bits_after: u32,
    /// Bits of the value.
    pub(crate) value_mask: u64,
    /// As in [`IntPart`].
    pub(crate) flip: u64,
    /// The byte before the value, at its place; 0 if there is none.
    pub(crate) marker: u128,
    pub(crate) desc: bool,
}

impl IntCode {
    pub(crate) fn new(part: &KeyPart) -> Option<Self> {
        let (IntPart { width, flip }, unsigned) = part.int().filter(|_| !part.prefix)?;
        let bits = 8 * u32::from(width);
        let (min, max) =
            if unsigned { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) };
        let marker = part.marker();
        Some(IntCode {
            min,
            max,
            part_bits: bits + 8 * u32::from(marker.is_some()),
            bits_after: 0,
            value_mask: u64::MAX >> (64 - bits),
            flip,
            marker: u128::from(marker.unwrap_or(0)) << bits,
            desc: part.desc,
        })
    }

    /// The part for a value that the column can hold.
    #[inline]
    pub(crate) fn part(&self, value: i128) -> u128 {
        u128::from((value as u64 & self.value_mask) ^ self.flip) | self.marker
    }

    /// The part for NULL, of a column that can hold it.
    pub(crate) fn null(&self) -> u128 {
        if self.desc { (1 << self.part_bits) - 1 } else { 0 }
    }
}
