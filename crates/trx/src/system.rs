//! What all transactions share: ids, commit numbers, locks, the purge queue.

use std::collections::VecDeque;
use std::sync::Arc;

use base::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use base::sync::plain::Mutex;
use base::sync::{PlantedBug, planted};
use base::{Lsn, TrxId, UndoPtr, invariant};

use crate::commit_table::{CommitTable, TrxOutcome};
use crate::error::Error;
use crate::lock::LockTable;
use crate::metadata_waits::MetadataWaits;
use crate::read_view::ReadView;
use crate::slot::{Slots, TrxSlot, UndoPin};
use crate::undo::{UndoLog, UndoStore};

/// A committed transaction whose leftovers wait for purge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurgeEntry {
    /// The transaction.
    pub id: TrxId,
    /// Its commit number.
    pub number: Lsn,
    /// Its newest undo record.
    pub last: UndoPtr,
    /// Its newest undo record whose leftover, if it is no value, may still be there.
    pub rest: UndoPtr,
    /// Where the log of its undo begins, or before.
    pub first_undo: Lsn,
    /// Whether purge has met values without a row.
    pub has_values: bool,
    /// Values without a row that purge has freed already.
    pub values_freed: u32,
}

/// The transactions of one engine.
#[derive(Debug)]
pub struct TrxSystem {
    /// The first id given out since startup.
    first: TrxId,
    /// The next id given out.
    next: AtomicU64,
    /// Every id below has ended, with a number up to `newest`.
    pub(crate) limit: AtomicU64,
    /// The greatest commit number of a transaction that is about to be visible, or a later position of the
    /// log.
    newest: AtomicU64,
    pub(crate) commits: CommitTable,
    pub(crate) locks: LockTable,
    pub(crate) metadata_waits: MetadataWaits,
    /// No thread may begin to write any more.
    closed: AtomicBool,
    pub(crate) slots: Slots,
    undo: Arc<UndoStore>,
    /// In the order of numbers.
    queue: Mutex<VecDeque<PurgeEntry>>,
    /// Purge of every transaction up to this number has begun.
    purge_begun: AtomicU64,
    /// Where the log of the undo begins that purge is at work on; `u64::MAX`: none.
    purging: AtomicU64,
}

impl TrxSystem {
    /// A system whose first transaction gets `next_id` (above 0). Everything older is visible to all. Commit
    /// numbers are above `log`.
    pub fn new(next_id: TrxId, log: Lsn) -> Arc<Self> {
        invariant!(next_id > TrxId::NONE, "transaction ids start at 1");
        Arc::new(TrxSystem {
            first: next_id,
            next: AtomicU64::new(next_id.0),
            limit: AtomicU64::new(next_id.0),
            newest: AtomicU64::new(log.0),
            commits: CommitTable::new(next_id),
            locks: LockTable::default(),
            metadata_waits: MetadataWaits::default(),
            closed: AtomicBool::new(false),
            slots: Slots::default(),
            undo: Arc::new(UndoStore::default()),
            queue: Mutex::new(VecDeque::new()),
            purge_begun: AtomicU64::new(log.0),
            purging: AtomicU64::new(u64::MAX),
        })
    }

    /// Whether a transaction with this id, if it has not ended, was put back from the log by the startup.
    #[inline]
    pub fn is_from_before(&self, id: TrxId) -> bool {
        id < self.first
    }

    /// The next id: no transaction has it or a greater one.
    #[inline]
    pub fn next_id(&self) -> TrxId {
        TrxId(self.next.load(Ordering::SeqCst))
    }

    /// The commit number that a new view gets.
    #[inline]
    pub fn newest(&self) -> Lsn {
        Lsn(self.newest.load(Ordering::SeqCst))
    }

    /// Makes new views as new as `log`, a position that the log has reached: views from before have smaller
    /// numbers.
    pub fn advance(&self, log: Lsn) -> Lsn {
        Lsn(self.newest.fetch_max(log.0, Ordering::SeqCst).max(log.0))
    }

    /// The undo of all transactions.
    #[inline]
    pub fn undo(&self) -> &Arc<UndoStore> {
        &self.undo
    }

    /// A snapshot, published in `slot`.
    #[inline]
    pub(crate) fn view(&self, slot: &TrxSlot, own: Option<TrxId>) -> ReadView {
        // Before the number: see `ReadView::limit`.
        let limit = self.limit.load(Ordering::SeqCst);
        ReadView::new(TrxId(limit), slot.publish(&self.newest), own)
    }

    /// Transactions with numbers up to this one are seen by every published and every future view.
    pub fn purge_horizon(&self) -> Lsn {
        // The number is loaded before the slots: see `TrxSlot::publish`.
        let newest = self.newest();
        if planted(PlantedBug::EarlyPurge) {
            return newest;
        }
        self.slots.oldest_view(newest)
    }

    /// Gives the transaction of `slot` an id.
    /// # Errors  [`Error::ShuttingDown`].
    pub(crate) fn begin(&self, slot: &TrxSlot) -> Result<TrxId, Error> {
        let mut log = slot.undo.lock();
        // Under the mutex that `close` takes after it has set the mark.
        if self.closed.load(Ordering::SeqCst) || log.is_abandoned() {
            return Err(Error::ShuttingDown);
        }
        let id = TrxId(self.next.fetch_add(1, Ordering::SeqCst));
        invariant!(id < TrxId::MAX, "transaction ids are used up");
        log.begin(id, &self.commits);
        slot.set_id(id);
        Ok(id)
    }

    /// Whether `id` is that of a transaction which has not ended.
    #[inline]
    pub fn is_in_progress(&self, id: TrxId) -> bool {
        id.0 >= self.limit.load(Ordering::SeqCst) && self.commits.is_in_progress(id)
    }

    /// The number that `id` has ended with: its place in the order of commits. 0 if it is all-visible, `None`
    /// if it has not ended.
    pub fn number(&self, id: TrxId) -> Option<Lsn> {
        self.commits.number(id)
    }

    /// Ends the transaction `id` of `slot`: what it left is visible (commit) or gone (rolled back before the
    /// call). Its locks are free. `finish` says how it ends, and logs that.
    /// # Errors  [`Error::ShuttingDown`]: [`TrxSystem::close`] has rolled it back, and ended it.
    #[inline]
    pub(crate) fn end(
        &self,
        slot: &TrxSlot,
        id: TrxId,
        finish: impl FnOnce(&mut UndoLog) -> TrxOutcome,
    ) -> Result<TrxOutcome, Error> {
        let ending = {
            let mut log = slot.undo.lock();
            if log.take_abandoned() {
                return Err(Error::ShuttingDown);
            }
            let ending = finish(&mut log);
            self.end_log(slot, &mut log, ending);
            ending
        };
        self.locks.release(id);
        Ok(ending)
    }

    pub(crate) fn end_log(&self, slot: &TrxSlot, log: &mut UndoLog, ending: TrxOutcome) {
        let Some(id) = log.id() else { return };
        // Never before what its session has committed: undo of several transactions goes by the newest one.
        let ending =
            if ending == TrxOutcome::Nothing { TrxOutcome::RolledBack(self.newest()) } else { ending };
        let number = ending.number();
        if log.needs_purge() && !log.mark().is_none() {
            self.enqueue(PurgeEntry {
                id,
                number,
                last: log.mark(),
                rest: log.mark(),
                first_undo: slot.first_undo(),
                has_values: false,
                values_freed: 0,
            });
        }
        log.end();
        slot.end();
        // In this order: a view that finds the id ended, or below the limit, takes a number that is not
        // smaller.
        self.newest.fetch_max(number.0, Ordering::SeqCst);
        log.publish_end(&self.commits, id, ending);
        if self.limit.load(Ordering::SeqCst) == id.0 {
            self.raise_limit(id);
        }
    }

    /// Raises the limit over `id`, before which all have ended, and over those after it that have.
    fn raise_limit(&self, id: TrxId) {
        // Sequentially consistent: of two ids that end at once, one finds the other ended.
        let mut at = id.0;
        loop {
            let next = self.commits.next_open(at);
            match self.limit.compare_exchange(at, next, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => at = next,
                Err(now) => at = now,
            }
            if at >= self.next.load(Ordering::SeqCst) || !self.commits.has_ended(TrxId(at)) {
                return;
            }
        }
    }

    /// Puts a transaction in line for purge, before it is visible.
    fn enqueue(&self, entry: PurgeEntry) {
        let mut queue = self.queue.lock();
        if queue.back().is_none_or(|last| last.number <= entry.number) {
            queue.push_back(entry);
            return;
        }
        let behind = queue.iter().rev().take_while(|queued| queued.number > entry.number).count();
        let at = queue.len() - behind;
        queue.insert(at, entry);
    }

    /// The transactions that have logged undo and not ended, each with a position at or before its first undo
    /// part. Asked after [`log::Log::safe_lsn`]: a transaction that is missing logs all its undo above.
    pub fn unfinished(&self) -> Vec<(TrxId, Lsn)> {
        self.slots.unfinished()
    }

    /// Where the log of the undo begins, or before, of the committed transactions that purge has not done
    /// with. Asked after [`TrxSystem::unfinished`], so that a transaction that ends in between is seen by one
    /// of the two.
    pub fn first_unpurged(&self) -> Option<Lsn> {
        let queue = self.queue.lock();
        let waiting = queue.iter().map(|entry| entry.first_undo.0).min().unwrap_or(u64::MAX);
        let first = waiting.min(self.purging.load(Ordering::Acquire));
        (first != u64::MAX).then_some(Lsn(first))
    }

    /// The transaction that needs the oldest undo, if there is one.
    pub fn oldest_pin(&self) -> Option<UndoPin> {
        self.slots.oldest_pin()
    }

    /// Refuses further writers permanently. Transactions that still write are undone by `roll_back`; their
    /// sessions learn at their next call that they are gone. Waits for the changes that are being made.
    pub fn close<E>(
        &self,
        mut roll_back: impl FnMut(&mut UndoLog) -> Result<TrxOutcome, E>,
    ) -> Result<(), E> {
        self.closed.store(true, Ordering::SeqCst);
        self.locks.close();
        for slot in self.slots.all() {
            let mut log = slot.undo.lock();
            let Some(id) = log.id() else { continue };
            let ending = roll_back(&mut log)?;
            self.end_log(&slot, &mut log, ending);
            log.abandon();
            drop(log);
            self.locks.release(id);
        }
        Ok(())
    }

    /// Makes sessions that wait for a lock check their interrupt flags.
    pub fn wake_waiters(&self) {
        self.locks.wake_waiters();
    }

    /// The oldest committed transaction with leftovers except for `passed_over` older ones, if its number is
    /// up to `horizon`, taken from the queue.
    pub fn next_purge(&self, horizon: Lsn, passed_over: usize) -> Option<PurgeEntry> {
        let mut queue = self.queue.lock();
        let entry = queue.get(passed_over).copied().filter(|entry| entry.number <= horizon);
        self.purging.store(entry.map_or(u64::MAX, |entry| entry.first_undo.0), Ordering::Release);
        let entry = entry?;
        queue.remove(passed_over);
        // Set before a page is visited: see `purge_has_begun`.
        self.purge_begun.fetch_max(entry.number.0, Ordering::SeqCst);
        Some(entry)
    }

    /// Takes back what [`TrxSystem::next_purge`] gave, because it could not be purged: it has its place in
    /// the queue again, and until it is purged the log is kept for a startup that does so.
    pub fn return_purge(&self, entry: PurgeEntry) {
        let mut queue = self.queue.lock();
        let at = queue.partition_point(|queued| queued.number < entry.number);
        queue.insert(at, entry);
    }

    /// Whether purge has begun with, or passed, the leftovers of `id`, or may pass them by since all views
    /// see what `id` has done. Asked under the record's exclusive leaf latch by a rollback about to restore a
    /// delete mark of `id`: on yes, purge may have visited the record already and will not come again, so
    /// that the record must go now.
    pub fn purge_has_begun(&self, id: TrxId) -> bool {
        let number = self.commits.number(id);
        number.is_some_and(|number| number.0 <= self.purge_begun.load(Ordering::SeqCst))
    }

    /// Frees undo no view can need, once purge has visited everything up to `horizon`.
    pub fn free_undo(&self, horizon: Lsn) -> usize {
        let freed = self.undo.free_where(|newest| self.is_all_visible(newest, horizon));
        self.commits.free(Lsn(horizon.0.min(self.first_queued() - 1)));
        freed
    }

    /// Whether [`TrxSystem::free_undo`] would free the chunk that is swapped, or was, before all others.
    pub fn can_free_oldest_undo(&self, horizon: Lsn) -> bool {
        self.undo.is_oldest(|newest| self.is_all_visible(newest, horizon))
    }

    /// Whether a transaction is up to the horizon and has nothing left to purge.
    fn is_all_visible(&self, id: TrxId, horizon: Lsn) -> bool {
        // In this order: a transaction is in the queue before it has ended, which may be now.
        let number = self.commits.number(id);
        number.is_some_and(|number| number <= horizon && number.0 < self.first_queued())
    }

    /// The least number in line for purge; `u64::MAX`: no waiter.
    fn first_queued(&self) -> u64 {
        self.queue.lock().front().map_or(u64::MAX, |entry| entry.number.0)
    }

    /// Committed transactions that wait for purge.
    pub fn purge_pending(&self) -> usize {
        self.queue.lock().len()
    }
}

#[cfg(all(test, loom))]
mod models;
