//! Mutexes of unique keys.

use base::IndexId;
use base::sync::{LatchLevel, Mutex, MutexGuard};

/// Mutexes of unique keys, by hash. A transaction that adds an entry to a unique index holds the mutex of its
/// key from its search for duplicates until the entry is inserted.
#[derive(Debug)]
pub(crate) struct UniqueKeyMutexes(Box<[Mutex<()>]>);

const KEY_MUTEXES: usize = 64;

impl Default for UniqueKeyMutexes {
    fn default() -> Self {
        UniqueKeyMutexes((0..KEY_MUTEXES).map(|_| Mutex::new(LatchLevel::Table, ())).collect())
    }
}

impl UniqueKeyMutexes {
    /// Waits for the mutex of the declared parts `prefix`. No page latch is held.
    pub(crate) fn lock(&self, index: IndexId, prefix: &[u8]) -> MutexGuard<'_, ()> {
        let hash = prefix
            .iter()
            .fold(index.0, |hash, &byte| (hash.rotate_left(5) ^ u32::from(byte)).wrapping_mul(0x9e37_79b1));
        self.0[(hash >> 16) as usize % KEY_MUTEXES].lock()
    }
}
