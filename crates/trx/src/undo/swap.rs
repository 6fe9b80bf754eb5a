//! The swap file: old chunks of undo that memory has no room for. It is not needed after a restart, so it is
//! never synced: recovery undoes from the log, or from a spill file.
//!
//! The file is made of slots of a chunk's size, in no order. Which chunk lies where, and the checksum of its
//! bytes, is known in memory alone: bytes that are not those written last are found whatever they are. A slot
//! is free with its chunk, and the file is cut to nothing when the last chunk of it goes.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::checksum::crc32;
use base::sync::plain::{Mutex, MutexGuard};
use base::sync::{PlantedBug, planted};
use env::{Disk, File, IoError, OpenOptions};

use super::chunk::{CHUNK_BYTES, Chunk};

/// Chunks that were read back and stay in memory for the next record of theirs: 2 MiB.
const CACHED_MAX: usize = 64;

/// Why a chunk cannot be read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwapError {
    /// The disk's reason.
    Io(IoError),
    /// The bytes are not those that were written.
    Damaged {
        /// The swap file.
        file: PathBuf,
        /// Where the chunk lies.
        offset: u64,
    },
}

impl fmt::Display for SwapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwapError::Io(error) => error.fmt(f),
            SwapError::Damaged { file, offset } => {
                write!(f, "swapped undo in {} at {offset} is not what was written", file.display())
            }
        }
    }
}

impl std::error::Error for SwapError {}

/// Where a chunk lies, and the checksum of its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    number: u32,
    sum: u32,
}

impl Slot {
    fn offset(self) -> u64 {
        u64::from(self.number) * CHUNK_BYTES
    }
}

/// Which slots are there, and a buffer.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// Slots of the file.
    count: u32,
    /// Those that no chunk has.
    free: Vec<u32>,
    bytes: Vec<u8>,
}

/// The swap file of a store.
#[derive(Debug, Default)]
pub(super) struct Swap {
    place: OnceLock<(Arc<dyn Disk>, PathBuf)>,
    /// Made for the first chunk.
    file: OnceLock<Arc<dyn File>>,
    /// Held by a thread that writes or frees chunks, from beginning to end.
    slots: Mutex<Slots>,
    /// What was read last, the newest at the end.
    cache: Mutex<VecDeque<Arc<Chunk>>>,
    /// Chunks written, and read, since startup.
    writes: AtomicU64,
    reads: AtomicU64,
}

impl Swap {
    /// Sets the path of the file, which does not exist yet.
    pub(super) fn place_at(&self, disk: &Arc<dyn Disk>, path: PathBuf) {
        self.place.get_or_init(|| (Arc::clone(disk), path));
    }

    /// Keeps others from writing and freeing chunks.
    pub(super) fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock()
    }

    /// Writes a retired chunk.
    ///
    /// # Errors
    /// Of the disk; nothing has happened then.
    pub(super) fn write(&self, slots: &mut Slots, chunk: &Chunk) -> Result<Slot, IoError> {
        let file = self.file_to_write()?;
        slots.bytes.clear();
        for word in &chunk.words {
            slots.bytes.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        let number = slots.free.last().copied().unwrap_or(slots.count);
        let slot = Slot { number, sum: crc32(&slots.bytes) };
        file.write_at(&slots.bytes, slot.offset())?;
        self.writes.fetch_add(1, Ordering::Relaxed);
        if slots.free.pop().is_none() {
            slots.count += 1;
        }
        if planted(PlantedBug::EarlySlotReuse) {
            slots.free.push(number);
        }
        Ok(slot)
    }

    #[cold]
    fn file_to_write(&self) -> Result<&Arc<dyn File>, IoError> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let (disk, path) =
            self.place.get().expect("chunks are swapped only when there is a place for the file");
        let file = disk.create(path, OpenOptions::default())?;
        // There is one writer.
        Ok(self.file.get_or_init(|| file))
    }

    /// The chunk `number` that was written to `slot`, and that is not freed meanwhile. Cost: a look through
    /// the cache under its mutex, or a read of 32 KiB.
    ///
    /// # Errors
    /// Of the disk; [`SwapError::Damaged`].
    pub(super) fn read(&self, number: u32, slot: Slot) -> Result<Arc<Chunk>, SwapError> {
        if let Some(chunk) = self.cached(number) {
            return Ok(chunk);
        }
        let file = self.file.get().expect("a chunk that was swapped is in a file");
        let mut bytes = vec![0; CHUNK_BYTES as usize];
        file.read_exact_at(&mut bytes, slot.offset()).map_err(SwapError::Io)?;
        if crc32(&bytes) != slot.sum {
            return Err(SwapError::Damaged { file: file.path().to_path_buf(), offset: slot.offset() });
        }
        self.reads.fetch_add(1, Ordering::Relaxed);
        let chunk = Arc::new(Chunk::from_bytes(number, &bytes));
        let mut cache = self.cache.lock();
        if cache.len() >= CACHED_MAX {
            cache.pop_front();
        }
        cache.push_back(Arc::clone(&chunk));
        Ok(chunk)
    }

    /// Chunks written, and read, since startup.
    pub(super) fn writes_and_reads(&self) -> (u64, u64) {
        (self.writes.load(Ordering::Relaxed), self.reads.load(Ordering::Relaxed))
    }

    fn cached(&self, number: u32) -> Option<Arc<Chunk>> {
        let mut cache = self.cache.lock();
        let at = cache.iter().rposition(|chunk| chunk.number == number)?;
        let chunk = cache.remove(at)?;
        cache.push_back(Arc::clone(&chunk));
        Some(chunk)
    }

    /// Chunk `number` is free, and its slot with it.
    pub(super) fn free(&self, slots: &mut Slots, number: u32, slot: Slot) {
        self.cache.lock().retain(|chunk| chunk.number != number);
        slots.free.push(slot.number);
        if slots.free.len() == slots.count as usize {
            self.cut(slots);
        }
    }

    /// Gives the space of a file without chunks back. If that fails the slots are used again as they are.
    fn cut(&self, slots: &mut Slots) {
        if self.file.get().is_some_and(|file| file.set_len(0).is_ok()) {
            slots.count = 0;
            slots.free.clear();
        }
    }
}
