//! What all transactions share: ids, the limit of new views, the writer token, the purge queue.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::sync::plain::Mutex;
use base::{Lsn, TrxId, invariant};

use crate::error::Error;
use crate::lock::{LockOutcome, TokenWait, WriterToken};
use crate::read_view::ViewRegistry;
use crate::undo::{UndoLog, UndoPtr, UndoStore};

/// A committed transaction whose leftovers wait for purge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurgeEntry {
    /// The transaction.
    pub id: TrxId,
    /// Its newest undo record.
    pub last: UndoPtr,
    /// Where the log of its undo begins, or before.
    pub first_undo: Lsn,
}

/// The transactions of one engine.
#[derive(Debug)]
pub struct TrxSystem {
    /// Ids below have ended; the next id given out is this one, as there is one writer at a time.
    limit: AtomicU64,
    pub(crate) token: WriterToken,
    pub(crate) views: ViewRegistry,
    undo: Arc<UndoStore>,
    queue: Mutex<VecDeque<PurgeEntry>>,
    /// Purge of every transaction below has begun.
    purge_begun: AtomicU64,
    /// Where the log of the undo begins that purge is at work on; `u64::MAX`: none.
    purging: AtomicU64,
    /// Where the log of the writing transaction's undo begins, or before; `u64::MAX`: nobody has logged undo.
    undo_begin: AtomicU64,
}

impl TrxSystem {
    /// A system whose first transaction gets `next_id` (above 0). Everything older is visible to all.
    pub fn new(next_id: TrxId) -> Arc<Self> {
        invariant!(next_id > TrxId::NONE, "transaction ids start at 1");
        Arc::new(TrxSystem {
            limit: AtomicU64::new(next_id.0),
            token: WriterToken::default(),
            views: ViewRegistry::default(),
            undo: Arc::new(UndoStore::default()),
            queue: Mutex::new(VecDeque::new()),
            purge_begun: AtomicU64::new(next_id.0),
            purging: AtomicU64::new(u64::MAX),
            undo_begin: AtomicU64::new(u64::MAX),
        })
    }

    /// First id no new view sees.
    #[inline]
    pub fn limit(&self) -> TrxId {
        TrxId(self.limit.load(Ordering::SeqCst))
    }

    pub(crate) fn limit_word(&self) -> &AtomicU64 {
        &self.limit
    }

    /// The undo of all transactions.
    #[inline]
    pub fn undo(&self) -> &Arc<UndoStore> {
        &self.undo
    }

    /// Transactions below this id are seen by every published and every future view.
    pub fn purge_horizon(&self) -> TrxId {
        // The limit is loaded before the slots: see `ViewSlot::publish`.
        let limit = self.limit.load(Ordering::SeqCst);
        TrxId(self.views.oldest(limit))
    }

    /// Gives the transaction of `undo` the writer token and an id.
    pub(crate) fn seat_writer(
        &self,
        undo: &Arc<Mutex<UndoLog>>,
        wait: &TokenWait<'_>,
    ) -> Result<(LockOutcome, TrxId), Error> {
        let mut id = TrxId::NONE;
        let outcome = self.token.take(undo, wait, || {
            id = TrxId(self.limit.load(Ordering::SeqCst));
            undo.lock().begin(id);
        })?;
        Ok((outcome, id))
    }

    /// Ends the writing transaction of `undo`: what it left is visible (commit) or gone (rolled back before the call).
    /// # Errors  [`Error::ShuttingDown`]: [`TrxSystem::close`] has rolled it back, and ended it.
    pub(crate) fn end_writer(&self, undo: &Arc<Mutex<UndoLog>>) -> Result<(), Error> {
        {
            let mut log = undo.lock();
            if log.take_abandoned() {
                return Err(Error::ShuttingDown);
            }
            self.end_log(&mut log);
        }
        self.token.release(undo);
        Ok(())
    }

    fn end_log(&self, log: &mut UndoLog) {
        let Some(id) = log.id() else { return };
        invariant!(id < TrxId::MAX, "transaction ids are used up");
        if log.needs_purge() && !log.mark().is_none() {
            self.queue.lock().push_back(PurgeEntry {
                id,
                last: log.mark(),
                first_undo: Lsn(self.undo_begin.load(Ordering::Relaxed)),
            });
        }
        log.end();
        self.undo_begin.store(u64::MAX, Ordering::Release);
        self.limit.store(id.0 + 1, Ordering::SeqCst);
    }

    /// Notes, before the writing transaction's first undo part is appended to the log, where the log is. Checkpoints keep
    /// the log from there on until the transaction has ended.
    #[inline]
    pub fn note_first_undo(&self, now: Lsn) {
        // Relaxed: who reads the log's tail after the part was appended has acquired this store, too.
        self.undo_begin.store(now.0, Ordering::Relaxed);
    }

    /// The transaction that has logged undo and not ended, if any, and a position at or before its first undo part. Asked
    /// after [`log::Log::safe_lsn`]: a transaction that is missing logs all its undo above.
    pub fn unfinished(&self) -> Option<(TrxId, Lsn)> {
        let begin = self.undo_begin.load(Ordering::Acquire);
        (begin != u64::MAX).then(|| (self.limit(), Lsn(begin)))
    }

    /// Where the log of the undo begins, or before, of the oldest committed transaction that purge has not done with. Asked
    /// after [`TrxSystem::unfinished`], so that a transaction that ends in between is seen by one of the two.
    pub fn first_unpurged(&self) -> Option<Lsn> {
        let queue = self.queue.lock();
        let waiting = queue.front().map_or(u64::MAX, |entry| entry.first_undo.0);
        let first = waiting.min(self.purging.load(Ordering::Acquire));
        (first != u64::MAX).then_some(Lsn(first))
    }

    /// Refuses further writers for good. If a transaction still writes, `roll_back` undoes it; its session learns
    /// at its next call that it is gone.
    pub fn close<E>(&self, roll_back: impl FnOnce(&mut UndoLog) -> Result<(), E>) -> Result<(), E> {
        let Some(undo) = self.token.close() else { return Ok(()) };
        let mut log = undo.lock();
        roll_back(&mut log)?;
        self.end_log(&mut log);
        log.abandon();
        Ok(())
    }

    /// Makes sessions that wait for the writer token look at their interrupt flags.
    pub fn wake_waiters(&self) {
        self.token.wake_waiters();
    }

    /// The oldest committed transaction with leftovers below `horizon`, taken from the queue.
    pub fn next_purge(&self, horizon: TrxId) -> Option<PurgeEntry> {
        let mut queue = self.queue.lock();
        let entry = queue.front().copied().filter(|entry| entry.id < horizon);
        self.purging.store(entry.map_or(u64::MAX, |entry| entry.first_undo.0), Ordering::Release);
        let entry = entry?;
        queue.pop_front();
        // Set before a page is visited: see `purge_has_begun`.
        self.purge_begun.store(entry.id.0 + 1, Ordering::SeqCst);
        Some(entry)
    }

    /// Whether purge has begun with, or passed, the leftovers of `id`. Asked under the record's exclusive leaf latch by
    /// a rollback about to restore a delete mark of `id`: on yes, purge may have visited the record already and will
    /// not come again, so that the record must go now.
    pub fn purge_has_begun(&self, id: TrxId) -> bool {
        id.0 < self.purge_begun.load(Ordering::SeqCst)
    }

    /// Frees undo no view can need, once purge has visited everything below `horizon`.
    pub fn free_undo(&self, horizon: TrxId) -> usize {
        let first_queued = self.queue.lock().front().map_or(horizon, |entry| entry.id);
        self.undo.free_below(horizon.min(first_queued))
    }

    /// Committed transactions that wait for purge.
    pub fn purge_pending(&self) -> usize {
        self.queue.lock().len()
    }
}
