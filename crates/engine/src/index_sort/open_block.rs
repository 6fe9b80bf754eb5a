//! Entries that are collected and sorted.

use std::ops::Range;

use base::codec::push_start;

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

/// Entries of up to this many bytes are copied by moves of a length known beforehand.
const SHORT_BYTES: usize = 32;

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
        let bytes: &[u8] = bytes;
        places.iter_mut().enumerate().filter(|(_, places)| !places.is_empty()).map(|(index, places)| {
            let len: usize = places.iter().map(|place| entry_range(bytes, place).len()).sum();
            sort(places, bytes);
            let mut sorted = Vec::with_capacity(len + SHORT_BYTES);
            for place in &*places {
                let entry = entry_range(bytes, place);
                match bytes[entry.start..].first_chunk::<SHORT_BYTES>() {
                    Some(start) if entry.len() <= SHORT_BYTES => push_start(&mut sorted, start, entry.len()),
                    _ => sorted.extend_from_slice(&bytes[entry]),
                }
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

/// Brings the places of entries in `bytes` into the order of their keys. Cost: passes by the bytes of the
/// heads that differ, then comparisons of keys with the same head. Takes as much memory as `places`.
fn sort(places: &mut [Place], bytes: &[u8]) {
    if !places.is_sorted_by_key(|place| place.head) {
        radsort::sort_by_key(places, |place| place.head);
    }
    let key = |place: &Place| Entry::at_start_of(&bytes[place.start as usize..]).key();
    for alike in places.chunk_by_mut(|a, b| a.head == b.head).filter(|alike| alike.len() > 1) {
        alike.sort_unstable_by(|a, b| key(a).cmp(key(b)));
    }
}

fn entry_range(bytes: &[u8], place: &Place) -> Range<usize> {
    let start = place.start as usize;
    start..start + Entry::at_start_of(&bytes[start..]).bytes().len()
}
