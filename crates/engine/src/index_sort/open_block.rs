//! Entries that are collected and sorted.

use std::ops::Range;

use super::entry::{Entry, EntryLens, append_entry};
use super::memory::Division;
use crate::error::Result;

/// An entry of the block.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// [`Entry::head`].
    head: u64,
    start: u32,
}

pub(super) const PLACE_BYTES: usize = size_of::<Place>();

/// Entries of all indexes, in the order in which they came.
#[derive(Debug)]
pub(super) struct OpenBlock {
    bytes: Vec<u8>,
    /// By index.
    places: Vec<Vec<Place>>,
    entries: usize,
    bytes_max: usize,
    entries_max: usize,
}

impl OpenBlock {
    pub(super) fn new(indexes: usize, division: &Division) -> Self {
        let entries_max = division.block_entries();
        // Each row has an entry in each index.
        let places = (0..indexes).map(|_| Vec::with_capacity(entries_max / indexes + 1)).collect();
        OpenBlock { bytes: Vec::new(), places, entries: 0, bytes_max: division.block, entries_max }
    }

    /// Adds an entry of `index`: `encode` appends key and payload.
    ///
    /// # Errors
    /// Those of `encode`; [`space::Error::RecordTooLarge`].
    pub(super) fn add(
        &mut self,
        index: usize,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<EntryLens>,
    ) -> Result<()> {
        let start = self.bytes.len();
        append_entry(&mut self.bytes, encode)?;
        let head = Entry::at_start_of(&self.bytes[start..]).head();
        self.places[index].push(Place { head, start: start as u32 });
        self.entries += 1;
        Ok(())
    }

    /// Bytes of entries.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
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
        places.iter_mut().enumerate().filter(|(_, places)| !places.is_empty()).map(|(index, places)| {
            let len = places.iter().map(|place| entry_range(bytes, place).len()).sum();
            places.sort_unstable_by(|a, b| {
                let key = |place: &Place| Entry::at_start_of(&bytes[place.start as usize..]).key();
                a.head.cmp(&b.head).then_with(|| key(a).cmp(key(b)))
            });
            let mut sorted = Vec::with_capacity(len);
            for place in &*places {
                sorted.extend_from_slice(&bytes[entry_range(bytes, place)]);
            }
            (index, sorted)
        })
    }

    /// Forgets all entries.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.places.iter_mut().for_each(Vec::clear);
        self.entries = 0;
    }
}

fn entry_range(bytes: &[u8], place: &Place) -> Range<usize> {
    let start = place.start as usize;
    start..start + Entry::at_start_of(&bytes[start..]).bytes().len()
}
