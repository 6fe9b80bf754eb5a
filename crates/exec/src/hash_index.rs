//! Finding rows by key bytes: what grouping, DISTINCT and hash joins share.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// Keys in the order of their first appearance.
#[derive(Debug, Default)]
pub(crate) struct HashIndex {
    table: HashTable<u32>,
    /// All keys, one after the other, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    hasher: FixedState,
}

impl HashIndex {
    /// Number of keys.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes held, about.
    pub(crate) fn byte_len(&self) -> usize {
        self.bytes.len() + 16 * self.ends.len()
    }

    /// The number of `key`, and whether it is new.
    pub(crate) fn insert(&mut self, key: &[u8]) -> (usize, bool) {
        let hash = self.hasher.hash_one(key);
        if let Some(found) = self.table.find(hash, |&n| key_at(&self.bytes, &self.ends, n) == key) {
            return (*found as usize, false);
        }
        let number = self.ends.len() as u32;
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        let Self { table, bytes, ends, hasher } = self;
        table.insert_unique(hash, number, |&n| hasher.hash_one(key_at(bytes, ends, n)));
        (number as usize, true)
    }

    /// The number of `key`, if it is there.
    pub(crate) fn find(&self, key: &[u8]) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        self.table.find(hash, |&n| key_at(&self.bytes, &self.ends, n) == key).map(|&n| n as usize)
    }
}

fn key_at<'k>(bytes: &'k [u8], ends: &[usize], number: u32) -> &'k [u8] {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &bytes[start..ends[number]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbered_as_they_come() {
        let mut index = HashIndex::default();
        for i in 0..1000u32 {
            assert_eq!(index.insert(&(i % 100).to_le_bytes()), ((i % 100) as usize, i < 100));
        }
        assert_eq!(index.insert(b""), (100, true));
        assert_eq!((index.find(&7u32.to_le_bytes()), index.find(b"x"), index.len()), (Some(7), None, 101));
    }
}
