//! The part of a session's transaction that others see: its view, and its undo.

use std::sync::{Arc, OnceLock, Weak};

use base::sync::Event;
use base::sync::atomic::{AtomicU64, Ordering};
use base::sync::plain::Mutex;
use base::{Lsn, TrxId};
use env::{Clock, RealClock};

use crate::client::{Client, ClientInfo};
use crate::undo::{UndoLog, UndoStore};

const IDLE: u64 = u64::MAX;
const NS_PER_S: u64 = 1_000_000_000;

/// One session's place; alone on its cache lines, so that publishing a view disturbs no other thread.
#[derive(Debug)]
#[repr(align(128))]
pub struct TrxSlot {
    /// Number of the view.
    view: AtomicU64,
    /// Where the log of the transaction's undo begins, or before; `IDLE`: it has logged none.
    first_undo: AtomicU64,
    /// Id of the transaction that writes; 0: none.
    id: AtomicU64,
    /// Told when the transaction's wait for a lock is over, or has to check whether it should be.
    pub(crate) wake: Event,
    pub(crate) undo: Mutex<UndoLog>,
    client: OnceLock<Weak<dyn Client>>,
    /// When the startup found the transaction unfinished, if it did: nanoseconds of the monotonic clock.
    found_ns: Option<u64>,
}

impl TrxSlot {
    fn new(log: UndoLog, found_ns: Option<u64>) -> Self {
        TrxSlot {
            view: AtomicU64::new(IDLE),
            first_undo: AtomicU64::new(IDLE),
            id: AtomicU64::new(0),
            wake: Event::new(),
            undo: Mutex::new(log),
            client: OnceLock::new(),
            found_ns,
        }
    }

    /// Takes a snapshot of the newest commit number and publishes it.
    ///
    /// All accesses are sequentially consistent: either purge, which loads the number first and the slots
    /// then, finds the slot filled, or the re-check here finds the number purge went by and publishes again.
    /// Cost: one load, one exchange, one load; no mutex. Repeats only when a commit came between.
    #[inline]
    pub(crate) fn publish(&self, newest: &AtomicU64) -> Lsn {
        let mut seen = newest.load(Ordering::SeqCst);
        loop {
            self.view.store(seen, Ordering::SeqCst);
            let now = newest.load(Ordering::SeqCst);
            if now == seen {
                return Lsn(seen);
            }
            seen = now;
        }
    }

    /// Ends the published view.
    #[inline]
    pub(crate) fn clear_view(&self) {
        // Pairs with the purger's load of the slot: all reads under the view come before.
        self.view.store(IDLE, Ordering::Release);
    }

    /// Notes, before the transaction's first undo part is appended to the log, where the log is. Checkpoints
    /// keep the log from there on until the transaction has ended.
    #[inline]
    pub fn note_first_undo(&self, now: Lsn) {
        // Relaxed: a thread that reads the log's tail after the part was appended has acquired this store,
        // too.
        self.first_undo.store(now.0, Ordering::Relaxed);
    }

    /// See [`TrxSlot::note_first_undo`].
    pub(crate) fn first_undo(&self) -> Lsn {
        Lsn(self.first_undo.load(Ordering::Relaxed))
    }

    /// The transaction writes with this id.
    #[inline]
    pub(crate) fn set_id(&self, id: TrxId) {
        self.id.store(id.0, Ordering::Release);
    }

    /// Changes that the transaction has made. None is being made.
    pub(crate) fn changes(&self) -> u64 {
        self.undo.lock().records()
    }

    /// As [`TrxSlot::changes`]; `None`: one is being made.
    pub(crate) fn try_changes(&self) -> Option<u64> {
        self.undo.try_lock().map(|log| log.records())
    }

    /// The id of the transaction, if it has one, and whether it has a view.
    pub(crate) fn reads(&self) -> (Option<TrxId>, bool) {
        let id = self.id.load(Ordering::Acquire);
        ((id != 0).then_some(TrxId(id)), self.view.load(Ordering::Acquire) != IDLE)
    }

    /// Whose slot it is, to the end.
    pub(crate) fn set_client(&self, client: Weak<dyn Client>) {
        // A second one would be the same session's.
        let _ = self.client.set(client);
    }

    /// Whose slot it is, while the session lasts.
    pub(crate) fn client_info(&self) -> Option<ClientInfo> {
        self.client().map(|client| client.describe())
    }

    /// As [`TrxSlot::client_info`], itself.
    pub(crate) fn client(&self) -> Option<Arc<dyn Client>> {
        self.client.get()?.upgrade()
    }

    /// For how many seconds the transaction has been unfinished, if the startup found it so.
    pub(crate) fn unfinished_s(&self) -> Option<u64> {
        let since_ns = self.found_ns?;
        Some(RealClock.monotonic_ns().saturating_sub(since_ns) / NS_PER_S)
    }

    /// Whether a session has named itself.
    pub(crate) fn has_client(&self) -> bool {
        self.client.get().is_some()
    }

    /// Whether its session is there and has lost its client.
    pub(crate) fn client_is_gone(&self) -> bool {
        self.client().is_some_and(|client| client.is_gone())
    }

    /// The transaction has ended.
    #[inline]
    pub(crate) fn end(&self) {
        self.first_undo.store(IDLE, Ordering::Release);
        self.id.store(0, Ordering::Release);
    }
}

/// The transaction that needs the oldest undo.
#[derive(Clone, Debug)]
pub struct UndoPin {
    /// Where the log was when it began to.
    pub since: Lsn,
    /// The transaction, if it is its own undo; else its view needs that of others.
    pub trx: Option<TrxId>,
    /// The session.
    pub client: Option<ClientInfo>,
}

/// All slots.
#[derive(Debug, Default)]
pub(crate) struct Slots(Mutex<Vec<Arc<TrxSlot>>>);

impl Slots {
    /// A new slot; forgotten once its owner drops it.
    pub(crate) fn register(&self, store: &Arc<UndoStore>) -> Arc<TrxSlot> {
        self.add(TrxSlot::new(UndoLog::new(Arc::clone(store)), None))
    }

    /// The slot of the unfinished transaction `id`, whose undo is `log` and begins in the redo log at
    /// `first_undo`.
    pub(crate) fn adopt(&self, id: TrxId, first_undo: Lsn, log: UndoLog) -> Arc<TrxSlot> {
        let slot = TrxSlot::new(log, Some(RealClock.monotonic_ns()));
        slot.set_id(id);
        slot.note_first_undo(first_undo);
        self.add(slot)
    }

    fn add(&self, slot: TrxSlot) -> Arc<TrxSlot> {
        let slot = Arc::new(slot);
        self.0.lock().push(Arc::clone(&slot));
        slot
    }

    /// The lowest published number, at most `newest`, which the caller loaded before the call.
    pub(crate) fn oldest_view(&self, newest: Lsn) -> Lsn {
        let mut slots = self.0.lock();
        // A slot that only the registry holds has lost its session. Where that could not be rolled back, a
        // shutdown tries again.
        slots.retain(|slot| Arc::strong_count(slot) > 1 || slot.reads().0.is_some());
        let oldest = slots.iter().fold(newest.0, |oldest, slot| oldest.min(slot.view.load(Ordering::SeqCst)));
        Lsn(oldest)
    }

    /// The transaction that needs the oldest undo, by the log position when it began to.
    pub(crate) fn oldest_pin(&self) -> Option<UndoPin> {
        let since = |slot: &TrxSlot| {
            let begun = slot.first_undo.load(Ordering::Acquire);
            slot.view.load(Ordering::SeqCst).min(begun)
        };
        let oldest = self.all().into_iter().map(|slot| (since(&slot), slot)).min_by_key(|(since, _)| *since);
        let (since, slot) = oldest.filter(|(since, _)| *since != IDLE)?;
        let reads = slot.view.load(Ordering::SeqCst) == since;
        let trx = slot.reads().0.filter(|_| !reads);
        Some(UndoPin { since: Lsn(since), trx, client: slot.client_info() })
    }

    /// All there are.
    pub(crate) fn all(&self) -> Vec<Arc<TrxSlot>> {
        self.0.lock().clone()
    }

    /// The transactions that have logged undo and not ended, each with a position at or before its first undo
    /// part.
    pub(crate) fn unfinished(&self) -> Vec<(TrxId, Lsn)> {
        let state = |slot: &Arc<TrxSlot>| {
            let first_undo = slot.first_undo.load(Ordering::Acquire);
            // One that ends meanwhile needs no undo any more.
            let id = slot.id.load(Ordering::Acquire);
            (first_undo != IDLE && id != 0).then_some((TrxId(id), Lsn(first_undo)))
        };
        self.0.lock().iter().filter_map(state).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_published_view_bounds_the_horizon() {
        let (slots, store) = (Slots::default(), Arc::default());
        let newest = AtomicU64::new(7);
        let (a, b) = (slots.register(&store), slots.register(&store));
        assert_eq!(slots.oldest_view(Lsn(7)), Lsn(7));
        a.publish(&newest);
        newest.store(9, Ordering::SeqCst);
        b.publish(&newest);
        assert_eq!(slots.oldest_view(Lsn(9)), Lsn(7));
        a.clear_view();
        assert_eq!(slots.oldest_view(Lsn(11)), Lsn(9));
        drop(b);
        assert_eq!(slots.oldest_view(Lsn(11)), Lsn(11));
    }

    #[test]
    fn a_slot_goes_with_its_session_unless_its_transaction_is_not_over() {
        let (slots, store) = (Slots::default(), Arc::default());
        let (ended, open) = (slots.register(&store), slots.register(&store));
        open.set_id(TrxId(4));
        drop((ended, open));
        slots.oldest_view(Lsn(7));
        let left = slots.all();
        assert_eq!(left.iter().map(|slot| slot.reads().0).collect::<Vec<_>>(), [Some(TrxId(4))]);
    }

    #[test]
    fn every_transaction_with_undo_in_the_log_is_unfinished_until_it_ends() {
        let (slots, store) = (Slots::default(), Arc::default());
        let (a, b) = (slots.register(&store), slots.register(&store));
        a.set_id(TrxId(4));
        b.set_id(TrxId(5));
        assert_eq!(slots.unfinished(), []);
        b.note_first_undo(Lsn(100));
        a.note_first_undo(Lsn(200));
        assert_eq!(slots.unfinished(), [(TrxId(4), Lsn(200)), (TrxId(5), Lsn(100))]);
        b.end();
        assert_eq!(slots.unfinished(), [(TrxId(4), Lsn(200))]);
    }
}
