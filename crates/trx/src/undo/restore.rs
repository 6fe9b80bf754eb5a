//! Putting undo from the log back where it was.
//!
//! Row headers hold addresses of undo records, and the log has each record with its address. A startup puts
//! the records of unfinished transactions into chunks of the same numbers, at the same words, before any
//! other chunk is made. A chunk is written by one session at a time, which leaves it to no other: a chunk has
//! records of one unfinished transaction only.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::sync::plain::RwLock;
use base::sync::{PlantedBug, planted};
use base::{TrxId, UndoPtr};

use super::chunk::{CHUNK_WORDS, Chunk, UndoStore};
use super::record::{NewUndo, UndoRecord};
use super::{Address, UndoLog};

/// Chunks that a startup makes have numbers up to this one: 512 GiB of undo.
pub(super) const RESTORED_CHUNKS_MAX: u32 = 1 << 24;

/// Words of the bits of a chunk.
const BIT_WORDS: usize = CHUNK_WORDS / 64;

/// Whose records are in a chunk, and a bit for each word at which one begins.
type ChunkRecords = (TrxId, Box<[u64; BIT_WORDS]>);

/// Where the records are that a startup has put back: row headers that lead to them come from a disk. Memory:
/// 512 bytes for each chunk of 32 KiB, beside the limit of undo, until the transactions are rolled back.
#[derive(Debug, Default)]
pub(super) struct Restored {
    /// By number.
    chunks: RwLock<BTreeMap<u32, ChunkRecords>>,
    records: AtomicU64,
}

impl Restored {
    fn note(&self, trx: TrxId, at: Address) {
        let mut chunks = self.chunks.write();
        let (_, bits) = chunks.entry(at.chunk).or_insert_with(|| (trx, Box::new([0; BIT_WORDS])));
        bits[at.word / 64] |= 1 << (at.word % 64);
        self.records.fetch_add(1, Ordering::Relaxed);
    }

    /// The chunk is free.
    pub(super) fn forget(&self, chunk: u32) {
        if self.records.load(Ordering::Relaxed) > 0 {
            self.chunks.write().remove(&chunk);
        }
    }
}

/// A record whose address cannot be its own: the log is not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MisplacedUndo;

/// The undo of an unfinished transaction, back in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestoredUndo {
    /// The newest record.
    pub(super) last: UndoPtr,
    pub(super) records: u64,
    pub(super) needs_purge: bool,
}

/// Puts the records of one transaction back, the oldest first.
#[derive(Debug)]
pub struct UndoRestorer<'s> {
    store: &'s UndoStore,
    trx: TrxId,
    chunk: Option<Arc<Chunk>>,
    /// Words of the chunk up to the end of the newest record.
    used: usize,
    restored: RestoredUndo,
}

impl UndoStore {
    /// For the records of `trx`. Chunks are made with [`UndoStore::allocate`] only after
    /// [`UndoStore::end_restoring`].
    pub fn restorer(&self, trx: TrxId) -> UndoRestorer<'_> {
        UndoRestorer { store: self, trx, chunk: None, used: 0, restored: RestoredUndo::default() }
    }
}

impl UndoStore {
    /// Whether `at` is where the startup has put back a record of `trx`.
    pub fn has_restored(&self, trx: TrxId, at: UndoPtr) -> bool {
        let at = Address::of(moved(at));
        let chunks = self.restored.chunks.read();
        let chunk = chunks.get(&at.chunk).filter(|(owner, _)| *owner == trx);
        chunk.is_some_and(|(_, bits)| {
            bits.get(at.word / 64).is_some_and(|word| word >> (at.word % 64) & 1 != 0)
        })
    }

    /// How many records the startup has put back.
    pub fn records_restored(&self) -> u64 {
        self.restored.records.load(Ordering::Relaxed)
    }
}

impl UndoRestorer<'_> {
    /// Writes `record`, which follows `record.prev`, to `at`. Cost: as that of [`UndoLog::append`], without
    /// its log part.
    ///
    /// # Errors
    /// [`MisplacedUndo`]
    pub fn put(&mut self, at: UndoPtr, record: &UndoRecord) -> Result<(), MisplacedUndo> {
        let (ptr, prev) = (moved(at), moved(record.prev));
        let at = Address::of(ptr);
        let undo = NewUndo {
            kind: record.kind,
            index: record.index,
            flags: record.flags,
            patch_offset: record.patch_offset,
            key: &record.key,
            row_header: record.row_header.as_ref(),
            image: &record.image,
        };
        let words = undo.words();
        if prev != self.restored.last || at.word + words > CHUNK_WORDS {
            return Err(MisplacedUndo);
        }
        if self.chunk.as_ref().is_none_or(|chunk| chunk.number != at.chunk) {
            self.retire();
            self.chunk = Some(self.store.restore_chunk(at.chunk).ok_or(MisplacedUndo)?);
            self.used = 0;
        }
        let chunk = self.chunk.as_ref().ok_or(MisplacedUndo)?;
        if at.word < self.used {
            return Err(MisplacedUndo);
        }
        undo.write(prev, &chunk.words[at.word..at.word + words]);
        self.store.restored.note(self.trx, at);
        self.used = at.word + words;
        self.restored.last = ptr;
        self.restored.records += 1;
        self.restored.needs_purge |= undo.kind.needs_purge();
        Ok(())
    }

    /// All records are in their places.
    pub fn finish(mut self) -> RestoredUndo {
        self.retire();
        self.restored
    }

    fn retire(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            self.store.retire(self.trx, &chunk);
        }
    }
}

/// Where a record goes that was at `ptr`.
fn moved(ptr: UndoPtr) -> UndoPtr {
    if planted(PlantedBug::MovedUndo) && !ptr.is_none() {
        let at = Address::of(ptr);
        return Address { chunk: at.chunk + 1, ..at }.ptr();
    }
    ptr
}

impl UndoLog {
    /// The undo of the unfinished transaction `id`. It is not added to.
    pub(crate) fn of_unfinished(store: Arc<UndoStore>, id: TrxId, undo: RestoredUndo) -> Self {
        UndoLog::with_records(store, id, undo)
    }
}
