//! The entries that a build of an index makes of a leaf's rows at once, if they are integers one after the
//! other: as numbers, what [`super::built_entry`] makes of a row as bytes.

use page::{IntPart, KeyInt, KeyPartPlace, NullBit, Place};

use crate::index::Index;
use crate::scan::Batch;

/// Most integers in a key, those of the clustered key counted as one.
const PARTS_MAX: usize = 6;
/// Bytes of the number that a key is the beginning of.
const NUMBER_BYTES: usize = size_of::<u128>();

/// Where an integer of the key comes from. Its bits are flipped as the key has them.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Little-endian bytes of the record's body.
    Body { from: u16, width: u8, flip: u64 },
    /// The same with a marker byte before it, where the body may say NULL.
    Nullable { from: u16, width: u8, flip: u64, null: NullBit, mask: u8 },
    /// Bytes of the clustered key.
    Key { key: KeyInt, width: u8, flip: u64 },
}

/// How the keys of an index are made of the rows of a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntEntries {
    parts: [Part; PARTS_MAX],
    count: usize,
    /// Bits behind the key.
    behind: u32,
}

impl IntEntries {
    /// The entries of `index` for the rows of `batch`. `None`: they are something else than integers.
    pub(crate) fn of_leaf(index: &Index, batch: &Batch<'_>) -> Option<Self> {
        let clustered_len = batch.format().fixed_key_len()?;
        if !index.format.has_no_payload() || !(1..=8).contains(&clustered_len) {
            return None;
        }
        let declared = &index.format.key_parts()[..index.def.parts.len()];
        let last = declared.len();
        if last >= PARTS_MAX {
            return None;
        }
        let whole =
            Part::Key { key: batch.key_int(0, clustered_len.into()), width: clustered_len as u8, flip: 0 };
        let (mut parts, mut bytes) = ([whole; PARTS_MAX], usize::from(clustered_len));
        for (part, place) in parts.iter_mut().zip(declared) {
            *part = source(batch, place)?;
            bytes += usize::from(place.len?);
        }
        let behind = NUMBER_BYTES.checked_sub(bytes)?;
        Some(IntEntries { parts, count: last + 1, behind: 8 * behind as u32 })
    }

    /// Appends the keys of the rows of `batch`.
    #[inline]
    pub(crate) fn append_all(&self, batch: &Batch<'_>, out: &mut Vec<u128>) {
        let records = batch.records();
        if let [Part::Body { from, width: 4, flip }, Part::Key { key, width, flip: 0 }, ..] = self.parts
            && self.count == 2
            && self.behind >= u64::BITS
        {
            // The whole key is in the upper half of the number.
            let (bits, behind) = (8 * u32::from(width), self.behind - u64::BITS);
            batch.for_each_cell(|cell| {
                let int = u32::from_le_bytes(cell.chunk(from)) ^ flip as u32;
                let number = u64::from(int) << bits | key.of_cell(&records, cell);
                out.push(u128::from(number << behind) << u64::BITS);
            });
            return;
        }
        batch.for_each_cell(|cell| {
            let number = self.parts[..self.count].iter().fold(0, |number, part| {
                let (before, int, width) = match *part {
                    Part::Body { from, width, flip } => {
                        (number, cell.number(from, width.into()) ^ flip, width)
                    }
                    Part::Key { key, width, flip } => (number, key.of_cell(&records, cell) ^ flip, width),
                    Part::Nullable { from, width, flip, null, mask } => {
                        let is_null = cell.null_bit(null.byte, null.mask);
                        let int = cell.number(from, width.into()) ^ flip;
                        let marker = mask ^ u8::from(!is_null);
                        let int = if is_null { u64::MAX * u64::from(mask & 1) } else { int };
                        (number << 8 | u128::from(marker), int, width)
                    }
                };
                let bits = 8 * u32::from(width);
                before << bits | u128::from(int & u64::MAX >> (64 - bits))
            });
            out.push(number << self.behind);
        });
    }
}

/// Where the part `part` of a key comes from.
fn source(batch: &Batch<'_>, part: &KeyPartPlace) -> Option<Part> {
    let (format, IntPart { width, flip }) = (batch.format(), part.int?);
    let column = &format.columns()[usize::from(part.column?)];
    match column.place {
        Place::Fixed { offset: from, width: bytes } if bytes == width.into() && is_body_width(width) => {
            if !part.nullable {
                return Some(Part::Body { from, width, flip });
            }
            let mask = if part.desc { u8::MAX } else { 0 };
            Some(Part::Nullable { from, width, flip, null: column.null?, mask })
        }
        Place::Key { part: _ } if part.nullable => None,
        Place::Key { part } => {
            let place = &format.key_parts()[usize::from(part)];
            let int = place.int.filter(|int| !place.nullable && int.width == width)?;
            let key = batch.key_int(place.offset?.into(), width.into());
            Some(Part::Key { key, width, flip: flip ^ int.flip })
        }
        _ => None,
    }
}

/// Whether [`Cell::number`] reads integers of `width` bytes.
///
/// [`Cell::number`]: page::Cell::number
fn is_body_width(width: u8) -> bool {
    matches!(width, 1..=4 | 8)
}
