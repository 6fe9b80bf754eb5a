//! Chunks of undo words: how they are filled and freed.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use base::sync::plain::{Mutex, RwLock};
use base::sync::{PlantedBug, planted};
use base::{IndexId, TrxId, UndoPtr};
use env::{Disk, IoError};
use log::{Log, Part};

use super::image::{KEY_PART_ROOM, SHORT_PART_ROOM};
use super::record::{NewUndo, UndoRecord};
use super::restore::{RESTORED_CHUNKS_MAX, Restored, RestoredUndo};
use super::room::Room;
use super::swap::{Slot, Swap, SwapError};
use super::{Address, UndoKind};
use crate::commit_table::{Chunk as IdChunk, CommitTable, TrxOutcome};

/// Words in a chunk: 32 KiB, more than the largest record (a key and a payload of half a page each).
pub(super) const CHUNK_WORDS: usize = 4096;
pub(super) const CHUNK_BYTES: u64 = CHUNK_WORDS as u64 * 8;

#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) number: u32,
    pub(super) words: Box<[AtomicU64]>,
}

impl Chunk {
    fn new(number: u32) -> Self {
        Chunk { number, words: (0..CHUNK_WORDS).map(|_| AtomicU64::new(0)).collect() }
    }

    /// The chunk whose words are `bytes`, little-endian.
    pub(super) fn from_bytes(number: u32, bytes: &[u8]) -> Self {
        let words = bytes.as_chunks().0.iter().map(|word| AtomicU64::new(u64::from_le_bytes(*word)));
        Chunk { number, words: words.collect() }
    }
}

/// Where a chunk is.
#[derive(Debug)]
enum Place {
    /// There is none of the number.
    Free,
    Memory(Arc<Chunk>),
    Swapped(Slot),
}

/// Chunks that are not written any more: full ones and those of ended sessions.
#[derive(Debug, Default)]
struct Retired {
    /// With the newest transaction in each, in order of retirement.
    chunks: VecDeque<(TrxId, u32)>,
    /// Number of the oldest chunks that are in the swap file; no others are.
    swapped: usize,
}

/// All undo chunks, by number. The mutex of the swap file is taken before all others here, the lock of the
/// chunks last.
#[derive(Debug, Default)]
pub struct UndoStore {
    /// Index = chunk number - 1, so that no record has the address 0.
    chunks: RwLock<Vec<Place>>,
    /// Numbers that can be given out again.
    free: Mutex<Vec<u32>>,
    retired: Mutex<Retired>,
    room: Room,
    swap: Swap,
    pub(super) restored: Restored,
}

impl UndoStore {
    /// Reads the record at `ptr` into `record`; its key only `with_key`.
    ///
    /// The caller's view is published (or it owns the record's transaction, or is purge before it frees), so
    /// the chunk is there. Cost: a shared lock and the copy; for a chunk that was swapped and is not in the
    /// cache a read of 32 KiB.
    ///
    /// # Errors
    /// The chunk was swapped and cannot be read back.
    pub fn read(&self, ptr: UndoPtr, with_key: bool, record: &mut UndoRecord) -> Result<(), Box<SwapError>> {
        let chunks = self.chunks.read();
        let at = Address::of(ptr);
        if let Place::Memory(chunk) = &chunks[at.chunk as usize - 1] {
            record.read(&chunk.words[at.word..], with_key);
            return Ok(());
        }
        drop(chunks);
        self.read_swapped(ptr, with_key, record)
    }

    #[cold]
    #[inline(never)]
    fn read_swapped(
        &self,
        ptr: UndoPtr,
        with_key: bool,
        record: &mut UndoRecord,
    ) -> Result<(), Box<SwapError>> {
        let at = Address::of(ptr);
        let slot = match self.chunks.read()[at.chunk as usize - 1] {
            Place::Swapped(slot) => slot,
            Place::Memory(_) | Place::Free => panic!("undo is kept while a published view may need it"),
        };
        let chunk = self.swap.read(at.chunk, slot)?;
        record.read(&chunk.words[at.word..], with_key);
        Ok(())
    }

    /// Frees retired chunks whose newest transaction `is_all_visible`, and with it the older ones of its
    /// session. Returns how many were freed.
    pub(crate) fn free_where(&self, is_all_visible: impl Fn(TrxId) -> bool) -> usize {
        let mut slots = self.swap.slots();
        let mut retired = self.retired.lock();
        let Retired { chunks, swapped } = &mut *retired;
        let before = chunks.len();
        chunks.retain(|&(newest, number)| {
            let keep = !is_all_visible(newest);
            if !keep {
                let place = std::mem::replace(&mut self.chunks.write()[number as usize - 1], Place::Free);
                if let Place::Swapped(slot) = place {
                    self.swap.free(&mut slots, number, slot);
                    *swapped -= 1;
                    self.room.unswap();
                }
                self.restored.forget(number);
                self.free.lock().push(number);
                self.room.give_back();
            }
            keep
        });
        before - chunks.len()
    }

    /// Whether [`UndoStore::free_where`] would free the chunk that was retired first.
    pub(crate) fn is_oldest(&self, is_all_visible: impl Fn(TrxId) -> bool) -> bool {
        self.retired.lock().chunks.front().is_some_and(|&(newest, _)| is_all_visible(newest))
    }

    /// Writes the oldest retired chunks to the swap file while memory is above its limit, and some more.
    /// Latches: none may be held. Cost: up to a MiB is written, usually.
    ///
    /// # Errors
    /// Of the disk. What was not written stays in memory.
    pub fn swap_out(&self) -> Result<(), IoError> {
        if !self.room.is_crowded() {
            return Ok(());
        }
        let mut slots = self.swap.slots();
        while self.room.is_nearly_crowded() {
            let Some(chunk) = self.oldest_in_memory() else { break };
            let slot = self.swap.write(&mut slots, &chunk)?;
            self.chunks.write()[chunk.number as usize - 1] = Place::Swapped(slot);
            self.retired.lock().swapped += 1;
            self.room.swap();
        }
        Ok(())
    }

    /// The retired chunk that is swapped next. The caller keeps others from swapping and freeing.
    fn oldest_in_memory(&self) -> Option<Arc<Chunk>> {
        let number = {
            let retired = self.retired.lock();
            retired.chunks.get(retired.swapped)?.1
        };
        match &self.chunks.read()[number as usize - 1] {
            Place::Memory(chunk) => Some(Arc::clone(chunk)),
            Place::Swapped(_) | Place::Free => None,
        }
    }

    /// Chunks, swapped ones among them.
    pub fn chunk_count(&self) -> usize {
        self.chunks.read().iter().filter(|place| !matches!(place, Place::Free)).count()
    }

    /// Says where the swap file is to be made when it is needed; no file is there. Without it nothing is
    /// swapped.
    pub fn swap_to(&self, disk: &Arc<dyn Disk>, path: PathBuf) {
        self.swap.place_at(disk, path);
        self.room.allow_swap();
    }

    /// Sets from how many bytes of chunks in memory on the oldest are swapped.
    pub fn set_memory_max(&self, bytes: u64) {
        self.room.set_memory_max(bytes / CHUNK_BYTES);
    }

    /// Bytes of chunks in memory, except for those that were read back, and in the swap file.
    pub fn memory_and_swapped(&self) -> (u64, u64) {
        let (memory, swapped) = self.room.memory_and_swapped();
        (memory * CHUNK_BYTES, swapped * CHUNK_BYTES)
    }

    /// Chunks that were written to the swap file, and read back, since startup.
    pub fn swaps_and_reads(&self) -> (u64, u64) {
        self.swap.writes_and_reads()
    }

    /// Whether memory has more than it may, and swapping can help.
    pub fn is_crowded(&self) -> bool {
        self.room.is_crowded()
    }

    /// Makes `log` send row changes to [`UndoStore::has_room`] while there may be no room.
    pub fn set_log(&self, log: &Arc<Log>) {
        self.room.set_log(log);
    }

    /// Sets how many bytes there may be.
    pub fn set_bytes_max(&self, bytes: u64) {
        self.room.set_max(bytes / CHUNK_BYTES);
    }

    /// Bytes of chunks, and the most there may be.
    pub fn bytes(&self) -> (u64, u64) {
        let (chunks, max) = self.room.chunks();
        (chunks * CHUNK_BYTES, max.saturating_mul(CHUNK_BYTES))
    }

    /// Whether there are fewer bytes than there may be.
    pub fn has_room(&self) -> bool {
        self.room.publish();
        let (chunks, max) = self.room.chunks();
        chunks < max
    }

    fn allocate(&self) -> Arc<Chunk> {
        self.room.take();
        let reused = self.free.lock().pop();
        let mut chunks = self.chunks.write();
        let number = reused.unwrap_or(chunks.len() as u32 + 1);
        let chunk = Arc::new(Chunk::new(number));
        let at = number as usize - 1;
        if at == chunks.len() {
            chunks.push(Place::Memory(Arc::clone(&chunk)));
        } else {
            chunks[at] = Place::Memory(Arc::clone(&chunk));
        }
        chunk
    }

    /// The chunk `number`, for undo that a startup puts back. `None`: it is there, or no chunk has such a
    /// number.
    pub(super) fn restore_chunk(&self, number: u32) -> Option<Arc<Chunk>> {
        let at = (number as usize).checked_sub(1).filter(|_| number <= RESTORED_CHUNKS_MAX)?;
        let mut chunks = self.chunks.write();
        if at >= chunks.len() {
            chunks.resize_with(at + 1, || Place::Free);
        }
        if !matches!(chunks[at], Place::Free) {
            return None;
        }
        let chunk = Arc::new(Chunk::new(number));
        chunks[at] = Place::Memory(Arc::clone(&chunk));
        self.room.take();
        Some(chunk)
    }

    /// The undo of all unfinished transactions is back: all other numbers can be given out. No chunk was
    /// requested yet.
    pub fn end_restoring(&self) {
        let mut free: Vec<u32> = {
            let chunks = self.chunks.read();
            let free = (1..).zip(&*chunks).filter(|(_, place)| matches!(place, Place::Free));
            free.map(|(number, _)| number).collect()
        };
        // The least is given out first.
        free.reverse();
        *self.free.lock() = free;
    }

    pub(super) fn retire(&self, newest: TrxId, chunk: &Chunk) {
        self.retired.lock().chunks.push_back((newest, chunk.number));
        self.room.retire();
    }
}

/// The undo log of one session. The chunk is shared by its successive transactions.
#[derive(Debug)]
pub struct UndoLog {
    store: Arc<UndoStore>,
    chunk: Option<Arc<Chunk>>,
    used: usize,
    /// Id of the transaction in progress; `TrxId::NONE` between transactions and before the first write.
    id: TrxId,
    /// Id of the last transaction that wrote here.
    newest: TrxId,
    last: UndoPtr,
    records: u64,
    needs_purge: bool,
    /// Log parts that go into the frame of the next change, encoded.
    parts: Vec<u8>,
    /// Where the outcome of the transaction is recorded.
    ids: Option<Arc<IdChunk>>,
    /// The engine rolled the transaction back on its own (shutdown); the session learns of it at its next
    /// call.
    abandoned: bool,
}

impl UndoLog {
    pub(crate) fn new(store: Arc<UndoStore>) -> Self {
        UndoLog {
            store,
            chunk: None,
            used: 0,
            id: TrxId::NONE,
            newest: TrxId::NONE,
            last: UndoPtr::NONE,
            records: 0,
            needs_purge: false,
            parts: Vec::new(),
            ids: None,
            abandoned: false,
        }
    }

    /// With the records of an unfinished transaction, which a startup has put back.
    pub(super) fn with_records(store: Arc<UndoStore>, id: TrxId, undo: RestoredUndo) -> Self {
        let mut log = UndoLog::new(store);
        (log.id, log.newest) = (id, id);
        (log.last, log.records, log.needs_purge) = (undo.last, undo.records, undo.needs_purge);
        log
    }

    /// Starts writing for `id`.
    #[inline]
    pub(crate) fn begin(&mut self, id: TrxId, commits: &CommitTable) {
        debug_assert!(self.last.is_none(), "undo of the previous transaction is still open");
        if !self.ids.as_ref().is_some_and(|ids| ids.has(id)) {
            self.ids = Some(commits.chunk_of(id));
        }
        self.id = id;
        self.newest = id;
    }

    /// Appends a record, and its part to [`UndoLog::parts`]. Cost: a store per 8 bytes and the copy of key
    /// and image; a new chunk every 32 KiB.
    #[inline]
    pub fn append(&mut self, undo: &NewUndo<'_>) -> UndoPtr {
        self.append_any::<SHORT_PART_ROOM>(undo)
    }

    /// [`UndoLog::append`] of a record that consists of a key: less code, because nothing else has to be
    /// looked at.
    #[inline(never)]
    pub fn append_key(&mut self, kind: UndoKind, index: IndexId, flags: u8, key: &[u8]) -> UndoPtr {
        debug_assert!(kind != UndoKind::RowPatch, "a patch has an offset");
        self.append_any::<KEY_PART_ROOM>(&NewUndo {
            kind,
            index,
            flags,
            patch_offset: 0,
            key,
            row_header: None,
            image: &[],
        })
    }

    /// `N`: room for the part if the record is short.
    #[inline(always)]
    fn append_any<const N: usize>(&mut self, undo: &NewUndo<'_>) -> UndoPtr {
        if let Some(chunk) = &self.chunk
            && let Some(room) = chunk.words[self.used..].first_chunk()
            && let Some(short) = undo.short_words()
        {
            undo.write_short(short, self.last, room);
            let ptr = Address { chunk: chunk.number, word: self.used }.ptr();
            if !planted(PlantedBug::UnloggedUndo) {
                let ends = [ptr, self.last];
                undo.push_short_part::<N>(short, &mut self.parts, self.id, ends);
            }
            return self.note_appended(undo, ptr);
        }
        self.append_plainly(undo)
    }

    /// [`UndoLog::append`] of a record of any length.
    #[inline(always)]
    pub(super) fn append_plainly(&mut self, undo: &NewUndo<'_>) -> UndoPtr {
        let words = undo.words();
        if self.chunk.is_none() || self.used + words > CHUNK_WORDS {
            self.next_chunk();
        }
        let chunk = self.chunk.as_ref().expect("just allocated when there was none");
        undo.write(self.last, &chunk.words[self.used..self.used + words]);
        let ptr = Address { chunk: chunk.number, word: self.used }.ptr();
        if !planted(PlantedBug::UnloggedUndo) {
            undo.push_part(&mut self.parts, self.id, ptr, self.last);
        }
        self.note_appended(undo, ptr)
    }

    #[inline(always)]
    fn note_appended(&mut self, undo: &NewUndo<'_>, ptr: UndoPtr) -> UndoPtr {
        debug_assert!(self.id != TrxId::NONE, "undo without a transaction id");
        self.last = ptr;
        self.used += undo.words();
        self.records += 1;
        self.needs_purge |= undo.kind.needs_purge();
        ptr
    }

    #[cold]
    fn next_chunk(&mut self) {
        if let Some(full) = self.chunk.take() {
            self.store.retire(self.newest, &full);
        }
        self.chunk = Some(self.store.allocate());
        self.used = 0;
    }

    /// Parts that have to be in the frame of the next change, or of the commit: undo of that change,
    /// compensation.
    #[inline]
    pub fn parts(&self) -> &[u8] {
        &self.parts
    }

    /// Takes the parts out, for a frame that the caller writes.
    pub fn take_parts(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.parts)
    }

    /// The parts are in the log.
    #[inline]
    pub fn clear_parts(&mut self) {
        self.parts.clear();
    }

    /// Adds a part.
    pub fn push_part(&mut self, part: &Part<'_>) {
        part.encode(&mut self.parts);
    }

    /// The transaction in progress, if it has written.
    #[inline]
    pub fn id(&self) -> Option<TrxId> {
        (self.id != TrxId::NONE).then_some(self.id)
    }

    /// The newest record that is not undone: a mark for rollback.
    #[inline]
    pub fn mark(&self) -> UndoPtr {
        self.last
    }

    /// Records written by the transaction in progress.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Reads the newest record and steps after it; false once `mark` is reached. The caller undoes what it
    /// says; the part that says so is among [`UndoLog::parts`]. The words stay: readers may still follow
    /// pointers to them.
    ///
    /// # Errors
    /// The record was swapped and cannot be read back; nothing has happened.
    pub fn pop(&mut self, mark: UndoPtr, record: &mut UndoRecord) -> Result<bool, Box<SwapError>> {
        if self.last == mark || self.last.is_none() {
            return Ok(false);
        }
        self.store.read(self.last, true, record)?;
        let (undone, next) = (self.last, record.prev);
        self.push_part(&Part::Compensation { trx: self.id, undone, next });
        self.last = record.prev;
        Ok(true)
    }

    /// Takes a [`UndoLog::pop`] back: the record, which was at `newest` when [`UndoLog::parts`] had `parts`
    /// bytes, could not be undone. It must not appear to have been.
    #[cold]
    pub fn take_back(&mut self, newest: UndoPtr, parts: usize) {
        self.last = newest;
        self.parts.truncate(parts);
    }

    /// Whether a record since the start of the transaction needs purge.
    pub(crate) fn needs_purge(&self) -> bool {
        self.needs_purge
    }

    /// The commit is about to be appended to the log: readers that meet a change of the transaction wait for
    /// its number.
    #[inline]
    pub fn begin_commit(&self) {
        if let Some(ids) = &self.ids {
            ids.begin_commit(self.id);
        }
    }

    /// How the transaction has ended becomes public.
    #[inline]
    pub(crate) fn publish_end(&self, commits: &CommitTable, id: TrxId, ending: TrxOutcome) {
        match &self.ids {
            Some(ids) => commits.end(ids, id, ending),
            None => commits.end_unfinished(id, ending),
        }
    }

    pub(crate) fn end(&mut self) {
        self.id = TrxId::NONE;
        self.last = UndoPtr::NONE;
        self.records = 0;
        self.needs_purge = false;
        self.parts.clear();
    }

    /// Marks the transaction as rolled back behind the session's back.
    pub fn abandon(&mut self) {
        self.abandoned = true;
    }

    /// Whether the engine rolled the transaction back and the session has not learned it.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    pub(crate) fn take_abandoned(&mut self) -> bool {
        std::mem::take(&mut self.abandoned)
    }
}

impl Drop for UndoLog {
    fn drop(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            self.store.retire(self.newest, &chunk);
        }
    }
}
