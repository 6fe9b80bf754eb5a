//! How each transaction id stands: in progress, committing, ended, and with which number.
//!
//! ```text
//!  bit 63 ......... 2   1..0
//!  commit number        kind: 0 in progress, 1 committing, 2 committed, 3 rolled back
//! ```
//! One word an id, in chunks. A chunk is freed once every transaction in it is all-visible: visible to all
//! views, or rolled back for all. An id without a word is all-visible. The transactions that a startup found
//! unfinished have words of their own: all other ids from before the start are all-visible.

use std::sync::Arc;

use arc_swap::ArcSwap;
use base::sync::atomic::{AtomicU32, AtomicU64, Ordering, pauses, spin_loop};
use base::sync::plain::Mutex;
use base::sync::wait_times::{WaitKind, timed};
use base::sync::{Event, PlantedBug, planted};
use base::{Lsn, TrxId};

/// Ids in a chunk; few in a model, so that chunks go.
const CHUNK_IDS: u64 = if cfg!(loom) { 2 } else { 4096 };

/// Looks at a committing transaction before the looker goes to sleep.
const SPINS: usize = pauses(40);

const IN_PROGRESS: u64 = 0;
const COMMITTING: u64 = 1;
const COMMITTED: u64 = 2;
const ROLLED_BACK: u64 = 3;
const KIND: u64 = 3;
const NUMBER_SHIFT: u32 = 2;

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrxOutcome {
    /// With this commit number: the end of the commit's frame in the log.
    Committed(Lsn),
    /// What it had changed is as before; the end of the frame that says so.
    RolledBack(Lsn),
    /// It had changed nothing.
    Nothing,
}

impl TrxOutcome {
    fn word(self) -> u64 {
        match self {
            TrxOutcome::Committed(number) => number.0 << NUMBER_SHIFT | COMMITTED,
            TrxOutcome::RolledBack(number) => number.0 << NUMBER_SHIFT | ROLLED_BACK,
            TrxOutcome::Nothing => ROLLED_BACK,
        }
    }

    /// Its place in the order of commits.
    pub(crate) fn number(self) -> Lsn {
        match self {
            TrxOutcome::Committed(number) | TrxOutcome::RolledBack(number) => number,
            TrxOutcome::Nothing => Lsn(0),
        }
    }
}

/// The words of consecutive ids. A session keeps the chunk of its last id, where its next one is most likely,
/// too.
#[derive(Debug)]
pub(crate) struct Chunk {
    first: u64,
    words: [AtomicU64; CHUNK_IDS as usize],
}

impl Chunk {
    #[inline]
    fn word(&self, id: TrxId) -> Option<&AtomicU64> {
        self.words.get(id.0.wrapping_sub(self.first) as usize)
    }

    /// Whether `id` has its word here.
    #[inline]
    pub(crate) fn has(&self, id: TrxId) -> bool {
        self.word(id).is_some()
    }

    /// `id`, in progress and in this chunk, is about to get its commit number: views that need to know
    /// whether it is visible wait from here on.
    #[inline]
    pub(crate) fn begin_commit(&self, id: TrxId) {
        if let Some(word) = self.word(id) {
            // Before the number exists: a view that still finds the id in progress has an older number.
            word.store(COMMITTING, Ordering::SeqCst);
        }
    }
}

/// How a transaction from before the startup stands.
#[derive(Debug)]
struct Unfinished {
    id: u64,
    word: AtomicU64,
}

/// The chunks there are, one after another.
#[derive(Debug)]
struct Directory {
    /// The first id of the first chunk.
    first: u64,
    chunks: Vec<Arc<Chunk>>,
    /// The transactions that the startup found unfinished, by id, while any of them is not all-visible.
    unfinished: Arc<[Unfinished]>,
}

impl Directory {
    #[inline]
    fn chunk(&self, id: TrxId) -> Option<&Arc<Chunk>> {
        self.chunks.get((id.0.checked_sub(self.first)? / CHUNK_IDS) as usize)
    }

    #[inline]
    fn word(&self, id: TrxId) -> Option<&AtomicU64> {
        if id.0 < self.first {
            return self.unfinished_word(id);
        }
        self.chunk(id)?.word(id)
    }

    #[inline(never)]
    fn unfinished_word(&self, id: TrxId) -> Option<&AtomicU64> {
        let at = self.unfinished.binary_search_by_key(&id.0, |unfinished| unfinished.id).ok()?;
        Some(&self.unfinished[at].word)
    }
}

/// The states of all ids that are not all-visible, and of some that are.
#[derive(Debug)]
pub(crate) struct CommitTable {
    directory: ArcSwap<Directory>,
    /// The first id given out after startup.
    restart: u64,
    /// Taken to replace the directory.
    change: Mutex<()>,
    /// Notified when a transaction has its number, if a thread waits for that.
    ended: Event,
    waiters: AtomicU32,
}

impl CommitTable {
    /// For ids from `next` on; those below are all-visible.
    pub(crate) fn new(next: TrxId) -> Self {
        let directory = Directory { first: next.0, chunks: Vec::new(), unfinished: Arc::default() };
        CommitTable {
            directory: ArcSwap::from_pointee(directory),
            restart: next.0,
            change: Mutex::new(()),
            ended: Event::new(),
            waiters: AtomicU32::new(0),
        }
    }

    /// The transactions `ids` from before the startup, in ascending order, are in progress. No thread reads
    /// yet.
    pub(crate) fn set_unfinished(&self, ids: &[TrxId]) {
        let _change = self.change.lock();
        let unfinished = |id: &TrxId| Unfinished { id: id.0, word: AtomicU64::new(IN_PROGRESS) };
        let unfinished = ids.iter().map(unfinished).collect();
        let directory = self.directory.load();
        let (first, chunks) = (directory.first, directory.chunks.clone());
        self.directory.store(Arc::new(Directory { first, chunks, unfinished }));
    }

    /// The next id after `id`, which has ended, that may not have ended.
    #[inline]
    pub(crate) fn next_open(&self, id: u64) -> u64 {
        if id >= self.restart { id + 1 } else { self.next_unfinished(id) }
    }

    #[cold]
    #[inline(never)]
    fn next_unfinished(&self, id: u64) -> u64 {
        let directory = self.directory.load();
        let next = directory.unfinished.iter().find(|unfinished| unfinished.id > id);
        next.map_or(directory.first, |unfinished| unfinished.id)
    }

    /// The chunk of `id`, which is given out: it is in progress.
    #[cold]
    #[inline(never)]
    pub(crate) fn chunk_of(&self, id: TrxId) -> Arc<Chunk> {
        loop {
            if let Some(chunk) = self.directory.load().chunk(id) {
                return Arc::clone(chunk);
            }
            self.grow(id);
        }
    }

    fn grow(&self, id: TrxId) {
        let _change = self.change.lock();
        let directory = self.directory.load();
        let mut chunks = directory.chunks.clone();
        loop {
            let first = directory.first + chunks.len() as u64 * CHUNK_IDS;
            if first > id.0 {
                break;
            }
            let words = std::array::from_fn(|_| AtomicU64::new(IN_PROGRESS));
            chunks.push(Arc::new(Chunk { first, words }));
        }
        let (first, unfinished) = (directory.first, Arc::clone(&directory.unfinished));
        self.directory.store(Arc::new(Directory { first, chunks, unfinished }));
    }

    /// `id`, whose word is in `chunk`, has ended.
    #[inline]
    pub(crate) fn end(&self, chunk: &Chunk, id: TrxId, ending: TrxOutcome) {
        if let Some(word) = chunk.word(id) {
            word.store(ending.word(), Ordering::SeqCst);
        }
        self.wake_waiters();
    }

    /// The transaction `id` from before the startup has ended.
    #[cold]
    pub(crate) fn end_unfinished(&self, id: TrxId, ending: TrxOutcome) {
        if let Some(word) = self.directory.load().unfinished_word(id) {
            word.store(ending.word(), Ordering::SeqCst);
        }
        self.wake_waiters();
    }

    #[inline]
    fn wake_waiters(&self) {
        // Sequentially consistent with the waiter: it is counted before it looks, or it sees the word.
        if self.waiters.load(Ordering::SeqCst) != 0 {
            self.ended.notify_all();
        }
    }

    /// Whether `id` has ended, as far as it is known to have begun.
    pub(crate) fn has_ended(&self, id: TrxId) -> bool {
        let directory = self.directory.load();
        match directory.word(id) {
            Some(word) => word.load(Ordering::SeqCst) & KIND >= COMMITTED,
            None => id.0 < directory.first,
        }
    }

    /// Whether `id`, which has begun, has not ended.
    pub(crate) fn is_in_progress(&self, id: TrxId) -> bool {
        self.directory.load().word(id).is_some_and(|word| word.load(Ordering::SeqCst) & KIND < COMMITTED)
    }

    /// Whether a view of the number `number` sees what `id` has done. Waits while the id is about to get its
    /// number, which needs no page latch.
    #[inline(never)]
    pub(crate) fn is_visible(&self, id: TrxId, number: Lsn) -> bool {
        let directory = self.directory.load();
        let Some(word) = directory.word(id) else { return true };
        let mut state = word.load(Ordering::SeqCst);
        if state == COMMITTING {
            state = self.wait_for_number(word);
        }
        let newest = number.0 - u64::from(planted(PlantedBug::ViewOffByOne));
        state & KIND == COMMITTED && state >> NUMBER_SHIFT <= newest
    }

    fn wait_for_number(&self, word: &AtomicU64) -> u64 {
        for _ in 0..SPINS {
            let state = word.load(Ordering::SeqCst);
            if state != COMMITTING {
                return state;
            }
            spin_loop();
        }
        self.waiters.fetch_add(1, Ordering::SeqCst);
        let state = loop {
            let ticket = self.ended.ticket();
            let state = word.load(Ordering::SeqCst);
            if state != COMMITTING {
                break state;
            }
            timed(WaitKind::CommitNumber, || self.ended.wait(ticket, None));
        };
        self.waiters.fetch_sub(1, Ordering::SeqCst);
        state
    }

    /// The number `id` has ended with; 0 for one that is all-visible, `None` for one that has not ended.
    pub(crate) fn number(&self, id: TrxId) -> Option<Lsn> {
        let directory = self.directory.load();
        let Some(word) = directory.word(id) else { return Some(Lsn(0)) };
        let state = word.load(Ordering::SeqCst);
        (state & KIND >= COMMITTED).then_some(Lsn(state >> NUMBER_SHIFT))
    }

    /// Frees the chunks, oldest first, whose ids have all ended with a number up to `horizon`.
    pub(crate) fn free(&self, horizon: Lsn) {
        let is_all_visible = |word: &AtomicU64| {
            let state = word.load(Ordering::SeqCst);
            state & KIND >= COMMITTED && state >> NUMBER_SHIFT <= horizon.0
        };
        let all_visible = |chunks: &[Arc<Chunk>]| {
            chunks.iter().take_while(|chunk| chunk.words.iter().all(is_all_visible)).count()
        };
        let are_unfinished_all_visible = |directory: &Directory| {
            !directory.unfinished.is_empty()
                && directory.unfinished.iter().all(|unfinished| is_all_visible(&unfinished.word))
        };
        let directory = self.directory.load();
        if all_visible(&directory.chunks) == 0 && !are_unfinished_all_visible(&directory) {
            return;
        }
        let _change = self.change.lock();
        let directory = self.directory.load();
        let gone = all_visible(&directory.chunks);
        let chunks = directory.chunks[gone..].to_vec();
        let unfinished = if are_unfinished_all_visible(&directory) {
            Arc::default()
        } else {
            Arc::clone(&directory.unfinished)
        };
        let first = directory.first + gone as u64 * CHUNK_IDS;
        self.directory.store(Arc::new(Directory { first, chunks, unfinished }));
    }

    /// Chunks in memory.
    #[cfg(test)]
    pub(crate) fn chunk_count(&self) -> usize {
        self.directory.load().chunks.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(table: &CommitTable, id: u64, ending: TrxOutcome) {
        table.end(&table.chunk_of(TrxId(id)), TrxId(id), ending);
    }

    #[test]
    fn a_view_sees_commits_up_to_its_number() {
        let table = CommitTable::new(TrxId(10));
        end(&table, 11, TrxOutcome::Committed(Lsn(200)));
        end(&table, 10, TrxOutcome::Committed(Lsn(300)));
        end(&table, 12, TrxOutcome::RolledBack(Lsn(250)));
        let seen =
            |number| (9..14).filter(|&id| table.is_visible(TrxId(id), Lsn(number))).collect::<Vec<_>>();
        assert_eq!(seen(199), [9]);
        assert_eq!(seen(200), [9, 11]);
        assert_eq!(seen(400), [9, 10, 11]);
        assert_eq!(table.number(TrxId(12)), Some(Lsn(250)));
        assert_eq!(table.number(TrxId(13)), None);
        assert!(table.is_in_progress(TrxId(13)) && !table.has_ended(TrxId(13)));
        assert!(!table.is_in_progress(TrxId(12)) && table.has_ended(TrxId(12)));
    }

    #[test]
    fn a_reader_of_a_committing_transaction_waits_for_its_number() {
        let table = CommitTable::new(TrxId(1));
        table.chunk_of(TrxId(1)).begin_commit(TrxId(1));
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| table.is_visible(TrxId(1), Lsn(70)));
            while table.waiters.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            end(&table, 1, TrxOutcome::Committed(Lsn(70)));
            assert!(reader.join().unwrap());
        });
    }

    #[test]
    fn of_the_ids_from_before_the_start_only_the_unfinished_ones_are_in_progress() {
        let table = CommitTable::new(TrxId(50));
        table.set_unfinished(&[TrxId(7), TrxId(30)]);
        let in_progress = || (1..50).filter(|&id| table.is_in_progress(TrxId(id))).collect::<Vec<_>>();
        assert_eq!(in_progress(), [7, 30]);
        assert_eq!((table.number(TrxId(7)), table.number(TrxId(8))), (None, Some(Lsn(0))));
        assert!(!table.is_visible(TrxId(7), Lsn(900)) && table.is_visible(TrxId(8), Lsn(0)));
        assert!(table.has_ended(TrxId(8)) && !table.has_ended(TrxId(7)) && !table.has_ended(TrxId(50)));
        assert_eq!([7, 30, 50].map(|id| table.next_open(id)), [30, 50, 51]);
        table.end_unfinished(TrxId(30), TrxOutcome::RolledBack(Lsn(200)));
        assert_eq!(in_progress(), [7]);
        table.free(Lsn(u64::MAX));
        assert_eq!(table.number(TrxId(30)), Some(Lsn(200)));
        table.end_unfinished(TrxId(7), TrxOutcome::RolledBack(Lsn(300)));
        table.free(Lsn(299));
        assert!(!table.is_visible(TrxId(7), Lsn(900)));
        table.free(Lsn(300));
        assert_eq!(table.number(TrxId(30)), Some(Lsn(0)));
    }

    #[test]
    fn chunks_go_while_an_older_transaction_is_unfinished() {
        let table = CommitTable::new(TrxId(10));
        table.set_unfinished(&[TrxId(3)]);
        for id in 10..10 + 2 * CHUNK_IDS {
            end(&table, id, TrxOutcome::Committed(Lsn(id)));
        }
        table.free(Lsn(u64::MAX));
        assert_eq!(table.chunk_count(), 0);
        assert!(table.is_in_progress(TrxId(3)) && table.has_ended(TrxId(11)));
        assert_eq!(table.next_open(3), 10 + 2 * CHUNK_IDS);
    }

    #[test]
    fn all_visible_chunks_go_and_their_ids_are_seen_by_all() {
        let table = CommitTable::new(TrxId(1));
        let ids = 1..3 * CHUNK_IDS + 1;
        for id in ids.clone() {
            if id != CHUNK_IDS + 5 {
                end(&table, id, TrxOutcome::Committed(Lsn(id)));
            }
        }
        table.free(Lsn(CHUNK_IDS - 1));
        assert_eq!(table.chunk_count(), 3);
        table.free(Lsn(u64::MAX));
        assert_eq!(table.chunk_count(), 2);
        assert!(table.is_visible(TrxId(3), Lsn(1)) && !table.is_in_progress(TrxId(3)));
        end(&table, CHUNK_IDS + 5, TrxOutcome::RolledBack(Lsn(9)));
        table.free(Lsn(u64::MAX));
        assert_eq!(table.chunk_count(), 0);
        assert!(table.chunk_of(TrxId(ids.end)).has(TrxId(ids.end)));
        assert!(table.is_in_progress(TrxId(ids.end)));
    }
}
