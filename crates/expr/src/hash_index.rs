//! Finding rows by key bytes: what grouping, DISTINCT and hash joins share.

use std::hash::BuildHasher;
use std::rc::Rc;

use base::hash::{self, HashState};
use base::memory::{ByteStore, Charge, ChargedVec, LimitExceeded, Place, Purpose, StatementAccount};
use hashbrown::HashTable;

/// Bytes of one bucket: a number and a control byte.
const BUCKET_BYTES: usize = size_of::<u32>() + 1;
/// Bytes of a table beside its buckets, at most.
const TABLE_BYTES: usize = 64;

/// Keys in the order of their first appearance.
#[derive(Debug)]
pub struct HashIndex {
    table: HashTable<u32>,
    keys: ByteStore,
    places: ChargedVec<Place>,
    hasher: HashState,
    /// Of the table.
    charge: Charge,
}

impl HashIndex {
    /// No keys. No allocation.
    pub fn new(account: &Rc<StatementAccount>) -> Self {
        HashIndex {
            table: HashTable::new(),
            keys: ByteStore::new(account, Purpose::Other),
            places: ChargedVec::new(account, Purpose::Other),
            hasher: hash::state(),
            charge: Charge::new(account, Purpose::Other),
        }
    }

    /// Number of keys.
    #[inline]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no keys.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The number of `key`, and whether it is new.
    /// # Errors  The limit that a new key would exceed; it is not there then.
    pub fn insert(&mut self, key: &[u8]) -> Result<(usize, bool), LimitExceeded> {
        let hash = self.hasher.hash_one(key);
        if let Some(found) = self.table.find(hash, |&n| key_at(&self.keys, &self.places, n) == key) {
            return Ok((*found as usize, false));
        }
        if self.table.len() == self.table.capacity() {
            self.grow()?;
        }
        self.keys.begin();
        self.keys.extend_from_slice(key);
        let place = self.keys.end()?;
        let number = self.places.len() as u32;
        self.places.push(place)?;
        let Self { table, keys, places, hasher, .. } = self;
        table.insert_unique(hash, number, |&n| hasher.hash_one(key_at(keys, places, n)));
        Ok((number as usize, true))
    }

    /// Doubles the table's buckets.
    #[cold]
    fn grow(&mut self) -> Result<(), LimitExceeded> {
        if self.places.len() >= u32::MAX as usize {
            return Err(self.charge.too_large());
        }
        let old = self.charge.bytes();
        let buckets = ((self.table.capacity() + 1) * 8 / 7 + 1).next_power_of_two().max(4);
        self.charge.add(buckets * BUCKET_BYTES + TABLE_BYTES)?;
        let Self { table, keys, places, hasher, .. } = self;
        if table.try_reserve(1, |&n| hasher.hash_one(key_at(keys, places, n))).is_err() {
            self.charge.remove(self.charge.bytes() - old);
            return Err(LimitExceeded::Server);
        }
        debug_assert!(table.allocation_size() <= self.charge.bytes() - old, "more than was charged");
        self.charge.remove(old);
        Ok(())
    }

    /// The number of `key`, if it is there.
    pub fn find(&self, key: &[u8]) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        self.table.find(hash, |&n| key_at(&self.keys, &self.places, n) == key).map(|&n| n as usize)
    }
}

#[inline]
fn key_at<'k>(keys: &'k ByteStore, places: &[Place], number: u32) -> &'k [u8] {
    places.get(number as usize).map_or(&[], |&place| keys.get(place))
}

#[cfg(test)]
mod tests {
    use base::memory::{ConnectionAccount, ConnectionLimits, ServerAccount};

    use super::*;

    #[test]
    fn keys_are_numbered_as_they_come() {
        let account = StatementAccount::unlimited();
        let mut index = HashIndex::new(&account);
        for i in 0..1000u32 {
            assert_eq!(index.insert(&(i % 100).to_le_bytes()), Ok(((i % 100) as usize, i < 100)));
        }
        assert_eq!(index.insert(b""), Ok((100, true)));
        assert_eq!((index.find(&7u32.to_le_bytes()), index.find(b"x"), index.len()), (Some(7), None, 101));
        drop(index);
        assert_eq!(account.used(), 0);
    }

    #[test]
    fn a_full_account_refuses_new_keys_and_finds_the_old_ones() {
        let connection = ConnectionAccount::new(std::sync::Arc::new(ServerAccount::default()));
        connection.set_limits(ConnectionLimits { statement_bytes: 1 << 20, ..ConnectionLimits::default() });
        let account = StatementAccount::new(connection);
        let mut index = HashIndex::new(&account);
        let refused = (0..u32::MAX).find(|i| index.insert(&i.to_le_bytes()).is_err()).unwrap();
        assert!(refused > 10_000, "{refused} keys of 4 bytes in a MiB");
        assert!((0..refused).all(|i| index.find(&i.to_le_bytes()) == Some(i as usize)));
        assert_eq!(index.insert(&7u32.to_le_bytes()), Ok((7, false)));
        assert_eq!(index.find(&refused.to_le_bytes()), None);
    }
}
