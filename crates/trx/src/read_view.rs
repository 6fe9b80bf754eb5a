//! Which transactions a reader sees, and how purge knows who still reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::TrxId;
use base::sync::plain::Mutex;

/// A snapshot: ids below the limit, and the reader's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadView {
    limit: u64,
    own: u64,
    mixed: bool,
}

impl ReadView {
    pub(crate) fn new(limit: TrxId, own: Option<TrxId>) -> Self {
        // The id 0 is below every limit, so it serves as "no own id".
        ReadView { limit: limit.0, own: own.map_or(0, |id| id.0), mixed: false }
    }

    pub(crate) fn with_mixed(self, mixed: bool) -> Self {
        ReadView { mixed, ..self }
    }

    /// The newest version of everything: READ UNCOMMITTED, and the reads of a statement that holds the writer token
    /// (all other writers have ended).
    pub const fn newest() -> Self {
        ReadView { limit: u64::MAX, own: 0, mixed: false }
    }

    /// What transactions below `limit` left, at or above the purge horizon. Nothing may be purged while it is used, for it
    /// is not published: for checks.
    pub const fn before(limit: TrxId) -> Self {
        ReadView { limit: limit.0, own: 0, mixed: false }
    }

    /// Whether changes by `id` are visible. Cost: one compare for settled rows.
    #[inline(always)]
    pub fn sees(self, id: TrxId) -> bool {
        id.0 < self.limit || id.0 == self.own
    }

    /// Whether everything on a page whose highest writer is `max_trx` is visible as it stands.
    #[inline(always)]
    pub fn sees_whole_page(self, max_trx: TrxId) -> bool {
        max_trx.0 < self.limit
    }

    /// Whether the transaction has changed a row over a version that the view does not see. Such a row's secondary
    /// entries, some closed by a writer the view does not see, do not tell alone which of them is the row's.
    #[inline]
    pub fn is_mixed(self) -> bool {
        self.mixed
    }

    /// First id that is not visible, the own one aside.
    #[inline]
    pub fn limit(self) -> TrxId {
        TrxId(self.limit)
    }
}

const IDLE: u64 = u64::MAX;

/// Where one session publishes the limit of its view; alone on its cache lines, so that publishing disturbs nobody.
#[derive(Debug)]
#[repr(align(128))]
pub struct ViewSlot(AtomicU64);

impl ViewSlot {
    /// Takes a snapshot and publishes it.
    ///
    /// All accesses are sequentially consistent: either purge, which loads the limit first and the slots then, finds
    /// the slot filled, or the re-check here finds the limit purge went by and publishes again.
    /// Cost: one load, one exchange, one load; no mutex. Repeats only when a commit came between.
    #[inline]
    pub(crate) fn publish(&self, limit: &AtomicU64) -> TrxId {
        let mut seen = limit.load(Ordering::SeqCst);
        loop {
            self.0.store(seen, Ordering::SeqCst);
            let now = limit.load(Ordering::SeqCst);
            if now == seen {
                return TrxId(seen);
            }
            seen = now;
        }
    }

    /// Ends the published view.
    #[inline]
    pub(crate) fn clear(&self) {
        // Pairs with the purger's load of the slot: all reads under the view come before.
        self.0.store(IDLE, Ordering::Release);
    }
}

/// All slots.
#[derive(Debug, Default)]
pub(crate) struct ViewRegistry {
    slots: Mutex<Vec<Arc<ViewSlot>>>,
}

impl ViewRegistry {
    /// A new slot, idle; forgotten once its owner drops it.
    pub(crate) fn register(&self) -> Arc<ViewSlot> {
        let slot = Arc::new(ViewSlot(AtomicU64::new(IDLE)));
        self.slots.lock().push(Arc::clone(&slot));
        slot
    }

    /// The lowest published limit, at most `limit`, which the caller loaded before the call.
    pub(crate) fn oldest(&self, limit: u64) -> u64 {
        let mut slots = self.slots.lock();
        // A slot only the registry knows has lost its session.
        slots.retain(|slot| Arc::strong_count(slot) > 1);
        slots.iter().fold(limit, |oldest, slot| oldest.min(slot.0.load(Ordering::SeqCst)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_sees_ids_below_its_limit_and_its_own() {
        let view = ReadView::new(TrxId(10), Some(TrxId(12)));
        assert!(view.sees(TrxId(0)) && view.sees(TrxId(9)) && view.sees(TrxId(12)));
        assert!(!view.sees(TrxId(10)) && !view.sees(TrxId(11)) && !view.sees(TrxId(13)));
        assert!(view.sees_whole_page(TrxId(9)) && !view.sees_whole_page(TrxId(12)));
        assert!(ReadView::newest().sees(TrxId::MAX));
    }

    #[test]
    fn the_oldest_published_view_bounds_the_horizon() {
        let registry = ViewRegistry::default();
        let limit = AtomicU64::new(7);
        let (a, b) = (registry.register(), registry.register());
        assert_eq!(registry.oldest(7), 7);
        a.publish(&limit);
        limit.store(9, Ordering::SeqCst);
        b.publish(&limit);
        assert_eq!(registry.oldest(9), 7);
        a.clear();
        assert_eq!(registry.oldest(11), 9);
        drop(b);
        assert_eq!(registry.oldest(11), 11);
    }
}
