//! Entries that are collected and sorted.

use std::ops::Range;

use base::codec::push_start;

use super::entry::{Entry, EntryLens, HEADER_BYTES, put_header};
use super::key_order::{head_of, sort_by_key};
use super::layout::{Layout, SHORT_KEY_BYTES_MAX, ShortKeys, number_of};
use super::memory::Division;
use crate::error::Result;

/// An entry of the block.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// [`head_of`] of its key.
    head: u64,
    start: u32,
}

/// Entries of up to this many bytes are copied by moves of a length known beforehand.
const SHORT_BYTES: usize = 32;

pub(super) const PLACE_BYTES: usize = size_of::<Place>();

/// The entries of one index.
#[derive(Debug)]
enum Entries {
    Headed(Vec<Place>),
    /// [`number_of`] each key.
    Short(ShortKeys, Vec<u128>),
}

const _: () = assert!(PLACE_BYTES == size_of::<u128>());

impl Entries {
    /// How many more it takes without more memory.
    fn room(&self) -> usize {
        match self {
            Entries::Headed(places) => places.capacity() - places.len(),
            Entries::Short(_, numbers) => numbers.capacity() - numbers.len(),
        }
    }
}

/// Entries of all indexes, in the order in which they came.
#[derive(Debug)]
pub(super) struct OpenBlock {
    /// Those with headers, and one key that is short.
    bytes: Vec<u8>,
    /// By index.
    places: Vec<Entries>,
    /// Bytes of short keys.
    short_bytes: usize,
    entries: usize,
    bytes_max: usize,
    entries_max: usize,
}

impl OpenBlock {
    pub(super) fn new(layouts: &[Layout], division: &Division) -> Self {
        let entries_max = division.block_entries();
        // Each row has an entry in each index.
        let of_each = entries_max / layouts.len().max(1) + 1;
        let entries = |layout: &Layout| match *layout {
            Layout::Headed => Entries::Headed(Vec::with_capacity(of_each)),
            Layout::Short(keys) => Entries::Short(keys, Vec::with_capacity(of_each)),
        };
        OpenBlock {
            bytes: Vec::new(),
            places: layouts.iter().map(entries).collect(),
            short_bytes: 0,
            entries: 0,
            bytes_max: division.block,
            entries_max,
        }
    }

    /// Adds an entry of `index`: `encode` appends key and payload.
    ///
    /// # Errors
    /// Those of `encode`; [`space::Error::RecordTooLarge`].
    #[inline(always)]
    pub(super) fn add(
        &mut self,
        index: usize,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<EntryLens>,
    ) -> Result<()> {
        let start = self.bytes.len();
        let entries = &mut self.places[index];
        if matches!(entries, Entries::Headed(_)) {
            self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
        }
        let lens = encode(&mut self.bytes)?;
        let bytes = &mut self.bytes[start..];
        match entries {
            Entries::Headed(places) => {
                put_header(bytes, lens)?;
                let head = head_of(Entry::at_start_of(bytes).key());
                places.push(Place { head, start: start as u32 });
            }
            Entries::Short(keys, numbers) => {
                debug_assert!(bytes.len() == keys.len && lens.key == keys.len, "{lens:?} of {keys:?}");
                numbers.push(number_of(bytes));
                self.short_bytes += keys.len;
                self.bytes.truncate(start);
            }
        }
        self.entries += 1;
        Ok(())
    }

    /// Whether `rows` entries of each index are a small part of a block.
    pub(super) fn is_large_for(&self, rows: usize) -> bool {
        rows * self.places.len() <= self.entries_max / 4
    }

    /// Whether the places of each index have room for `rows` more.
    pub(super) fn has_room(&self, rows: usize) -> bool {
        self.places.iter().all(|entries| entries.room() >= rows)
    }

    /// Adds keys of `index`: `fill` appends [`number_of`] each. False, with nothing added: its entries have
    /// headers.
    #[inline(always)]
    pub(super) fn add_numbers(&mut self, index: usize, fill: impl FnOnce(&mut Vec<u128>)) -> bool {
        let Entries::Short(keys, numbers) = &mut self.places[index] else { return false };
        let before = numbers.len();
        fill(numbers);
        let added = numbers.len() - before;
        self.short_bytes += added * keys.len;
        self.entries += added;
        true
    }

    /// Bytes of entries.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() + self.short_bytes
    }

    /// Number of entries.
    pub(super) fn count(&self) -> usize {
        self.entries
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= self.bytes_max || self.entries >= self.entries_max
    }

    /// The entries of each index that has any, in the order of their keys.
    pub(super) fn sorted(&mut self) -> impl Iterator<Item = (usize, Vec<u8>)> {
        let OpenBlock { bytes, places, .. } = self;
        let bytes: &[u8] = bytes;
        places.iter_mut().enumerate().filter_map(|(index, entries)| match entries {
            Entries::Headed(places) if !places.is_empty() => Some((index, sorted_entries(places, bytes))),
            Entries::Short(keys, numbers) if !numbers.is_empty() => {
                Some((index, sorted_keys(*keys, numbers)))
            }
            _ => None,
        })
    }

    /// Forgets all entries.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        for entries in &mut self.places {
            match entries {
                Entries::Headed(places) => places.clear(),
                Entries::Short(_, numbers) => numbers.clear(),
            }
        }
        (self.short_bytes, self.entries) = (0, 0);
    }
}

fn sorted_entries(places: &mut [Place], bytes: &[u8]) -> Vec<u8> {
    let len: usize = places.iter().map(|place| entry_range(bytes, place).len()).sum();
    let key = |place: &Place| Entry::at_start_of(&bytes[place.start as usize..]).key();
    sort_by_key(places, |place| place.head, key);
    let mut sorted = Vec::with_capacity(len + SHORT_BYTES);
    for place in &*places {
        let entry = entry_range(bytes, place);
        match bytes[entry.start..].first_chunk::<SHORT_BYTES>() {
            Some(start) if entry.len() <= SHORT_BYTES => push_start(&mut sorted, start, entry.len()),
            _ => sorted.extend_from_slice(&bytes[entry]),
        }
    }
    sorted
}

fn sorted_keys(keys: ShortKeys, numbers: &mut [u128]) -> Vec<u8> {
    keys.sort(numbers);
    let mut sorted = Vec::with_capacity(numbers.len() * keys.len + SHORT_KEY_BYTES_MAX);
    for number in &*numbers {
        push_start(&mut sorted, &number.to_be_bytes(), keys.len);
    }
    sorted
}

fn entry_range(bytes: &[u8], place: &Place) -> Range<usize> {
    let start = place.start as usize;
    start..start + Entry::at_start_of(&bytes[start..]).bytes().len()
}

#[cfg(test)]
mod tests {
    use base::prng::Prng;

    use super::super::memory::SortMemory;
    use super::*;

    #[test]
    fn leaves_of_entries_that_there_is_room_for_take_no_more_memory() {
        let division = Division::of(&SortMemory { buffer_bytes: 0, account: None });
        let layouts = [Layout::of_keys(8, 4, false), Layout::Headed, Layout::of_keys(16, 8, true)];
        let mut block = OpenBlock::new(&layouts, &division);
        let capacities = |block: &OpenBlock| -> Vec<usize> {
            let capacity = |entries: &Entries| match entries {
                Entries::Headed(places) => places.capacity(),
                Entries::Short(_, numbers) => numbers.capacity(),
            };
            block.places.iter().map(capacity).collect()
        };
        let before = capacities(&block);
        let mut prng = Prng::new(9);
        for _ in 0..500 {
            let rows = 1 + prng.below(20) as usize;
            assert!(block.is_large_for(rows));
            if !block.has_room(rows) {
                block.clear();
            }
            for index in [0, 2] {
                assert!(block.add_numbers(index, |numbers| numbers.extend((0..rows).map(|n| n as u128))));
            }
            assert!(!block.add_numbers(1, |_| unreachable!("its entries have headers")));
            for _ in 0..rows {
                let lens = EntryLens { key: 4, declared: 0 };
                block
                    .add(1, |bytes| {
                        bytes.extend_from_slice(b"keys");
                        Ok(lens)
                    })
                    .unwrap();
                // The rest of the leaf goes to the next block.
                if block.is_full() {
                    block.clear();
                }
            }
            assert_eq!(capacities(&block), before);
        }
    }
}
