//! All explicit locks, under one mutex, and the tests that come before it.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use base::sync::{LatchLevel, Mutex, MutexGuard};
use base::{IndexId, TrxId};
use smallvec::{SmallVec, smallvec};

use super::LockMode;
use super::queue::{Request, RowQueue};
use super::report::Found;
use crate::slot::TrxSlot;
#[cfg(doc)]
use crate::system::TrxSystem;

/// Counters of requests by hash of the row.
const ROW_COUNTERS: usize = 4096;
/// Counters of gaps by index.
const GAP_COUNTERS: usize = 256;

/// Rows that a transaction locks without an allocation for their list.
const INLINE_ROWS: usize = 4;

/// Names a gap lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapId(u64);

/// An end of a gap lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The lower one.
    Lower,
    /// The upper one.
    Upper,
}

/// A stretch of an index's keys.
#[derive(Clone, Debug)]
pub(super) struct Gap {
    id: GapId,
    pub(super) trx: TrxId,
    pub(super) lower: Bound<Box<[u8]>>,
    pub(super) upper: Bound<Box<[u8]>>,
}

impl Gap {
    pub(super) fn covers(&self, key: &[u8]) -> bool {
        let above = match &self.lower {
            Bound::Unbounded => true,
            Bound::Included(lower) => key >= &lower[..],
            Bound::Excluded(lower) => key > &lower[..],
        };
        let below = match &self.upper {
            Bound::Unbounded => true,
            Bound::Included(upper) => key <= &upper[..],
            Bound::Excluded(upper) => key < &upper[..],
        };
        above && below
    }
}

/// The target of a transaction's wait.
#[derive(Clone, Debug)]
pub(super) enum WaitTarget {
    /// Its request in the row's queue.
    Row { hash: u64, index: IndexId, key: Box<[u8]> },
    /// That others have no gap lock on the key.
    Gap { index: IndexId, key: Box<[u8]> },
}

/// How a wait stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitState {
    Yes,
    Granted,
    Victim,
}

/// A transaction's wait.
#[derive(Debug)]
pub(super) struct Wait {
    pub(super) wanted: WaitTarget,
    pub(super) state: WaitState,
    pub(super) slot: Arc<TrxSlot>,
    /// When it began, on the monotonic clock.
    pub(super) since_ns: u64,
}

/// A transaction with explicit locks or requests.
#[derive(Debug, Default)]
pub(super) struct Owner {
    /// Hashes of the rows whose queues have requests of it, some more than once.
    pub(super) rows: SmallVec<[u64; INLINE_ROWS]>,
    /// Indexes on which it has gap locks, some more than once.
    pub(super) indexes: Vec<IndexId>,
    pub(super) wait: Option<Wait>,
    /// Changes it had made when it began to wait.
    pub(super) changes: u64,
}

impl Owner {
    /// What its rollback would cost. Locks count from when they are explicit, which is the case for members
    /// of a deadlock.
    pub(super) fn weight(&self) -> u64 {
        self.changes + self.rows.len() as u64
    }
}

/// Everything under the mutex.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) rows: HashMap<u64, SmallVec<[RowQueue; 1]>, BuildHasherDefault<IdentityHasher>>,
    pub(super) gaps: BTreeMap<IndexId, Vec<Gap>>,
    pub(super) owners: BTreeMap<TrxId, Owner>,
    next_gap: u64,
    pub(super) found: Found,
    pub(super) closed: bool,
}

/// Keys are hashes already.
#[derive(Debug, Default)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0 << 8 | u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// The explicit locks of all transactions.
#[derive(Debug)]
pub(crate) struct LockTable {
    state: Mutex<State>,
    /// Transactions in the table, and those about to be.
    owners: AtomicUsize,
    /// Deadlocks are detected.
    pub(super) detects: AtomicBool,
    pub(super) row_counters: Box<[AtomicU32]>,
    pub(super) gap_counters: Box<[AtomicU32]>,
}

impl Default for LockTable {
    fn default() -> Self {
        let counters = |n| (0..n).map(|_| AtomicU32::new(0)).collect();
        LockTable {
            state: Mutex::new(LatchLevel::LockTable, State::default()),
            owners: AtomicUsize::new(0),
            detects: AtomicBool::new(true),
            row_counters: counters(ROW_COUNTERS),
            gap_counters: counters(GAP_COUNTERS),
        }
    }
}

/// The hash that a row's requests are found by.
fn row_hash(index: IndexId, key: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(26) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = key.as_chunks::<8>();
    let hash = words
        .iter()
        .fold(u64::from(index.0) << 32 | key.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |last, &byte| last << 8 | u64::from(byte));
    let hash = mix(hash, last);
    hash ^ hash >> 32
}

impl LockTable {
    pub(super) fn lock(&self) -> Locks<'_> {
        Locks { table: self, state: self.state.lock() }
    }

    /// Whether there is no request for the row, among locks taken under the caller's latch.
    #[inline]
    pub(super) fn is_row_free(&self, index: IndexId, key: &[u8]) -> bool {
        self.owners.load(Ordering::SeqCst) == 0 || self.is_row_uncounted(row_hash(index, key))
    }

    fn is_row_uncounted(&self, hash: u64) -> bool {
        self.row_counters[hash as usize % ROW_COUNTERS].load(Ordering::SeqCst) == 0
    }

    /// The same for gap locks on the index.
    #[inline]
    pub(super) fn is_index_free(&self, index: IndexId) -> bool {
        self.owners.load(Ordering::SeqCst) == 0
            || self.gap_counters[index.0 as usize % GAP_COUNTERS].load(Ordering::SeqCst) == 0
    }

    /// Gives up everything that `trx` has, and grants what waited for it. Its end is public already.
    #[inline]
    pub(crate) fn release(&self, trx: TrxId) {
        // Sequentially consistent with `Locks::convert`: a thread that makes a lock for `trx` is counted
        // before it checks whether `trx` has ended.
        if self.owners.load(Ordering::SeqCst) != 0 {
            self.lock().release(trx);
        }
    }

    /// Ends all waits, permanently.
    pub(crate) fn close(&self) {
        let mut locks = self.lock();
        locks.state.closed = true;
        locks.wake_all();
    }

    /// See [`TrxSystem::set_deadlock_detection`].
    pub(crate) fn set_deadlock_detection(&self, detects: bool) {
        self.detects.store(detects, Ordering::Relaxed);
    }

    /// Makes all who wait check their interrupt flags.
    pub(crate) fn wake_waiters(&self) {
        self.lock().wake_all();
    }

    /// Transactions with explicit locks.
    #[cfg(test)]
    pub(super) fn owner_count(&self) -> usize {
        self.owners.load(Ordering::SeqCst)
    }
}

/// The table under its mutex.
pub(super) struct Locks<'t> {
    pub(super) table: &'t LockTable,
    pub(super) state: MutexGuard<'t, State>,
}

impl Locks<'_> {
    pub(super) fn hash(index: IndexId, key: &[u8]) -> u64 {
        row_hash(index, key)
    }

    pub(super) fn queue(&mut self, hash: u64, index: IndexId, key: &[u8]) -> Option<&mut RowQueue> {
        let queues = self.state.rows.get_mut(&hash)?;
        queues.iter_mut().find(|queue| queue.index == index && *queue.key == *key)
    }

    /// The owner `trx`, made if it is not there.
    pub(super) fn owner(&mut self, trx: TrxId) -> &mut Owner {
        let count = &self.table.owners;
        self.state.owners.entry(trx).or_insert_with(|| {
            count.fetch_add(1, Ordering::SeqCst);
            Owner::default()
        })
    }

    /// Makes the row's implicit lock of `holder` explicit, if `is_in_progress` says that it has not ended.
    pub(super) fn convert(
        &mut self,
        hash: u64,
        index: IndexId,
        key: &[u8],
        holder: TrxId,
        is_in_progress: impl FnOnce() -> bool,
    ) {
        let is_new = !self.state.owners.contains_key(&holder);
        // Counted before it is asked: see `LockTable::release`.
        self.owner(holder);
        if is_in_progress() {
            let holds = |queue: &mut RowQueue| queue.holds(holder, LockMode::Exclusive);
            if !self.queue(hash, index, key).is_some_and(holds) {
                self.add(hash, index, key, Request { trx: holder, mode: LockMode::Exclusive, granted: true });
            }
        } else if is_new {
            self.forget_owner(holder);
        }
    }

    fn forget_owner(&mut self, trx: TrxId) -> Option<Owner> {
        let owner = self.state.owners.remove(&trx)?;
        self.table.owners.fetch_sub(1, Ordering::SeqCst);
        Some(owner)
    }

    /// Puts a request at the end of the row's queue.
    pub(super) fn add(&mut self, hash: u64, index: IndexId, key: &[u8], request: Request) {
        self.owner(request.trx).rows.push(hash);
        let queues = self.state.rows.entry(hash).or_default();
        match queues.iter_mut().find(|queue| queue.index == index && *queue.key == *key) {
            Some(queue) => queue.requests.push(request),
            None => {
                queues.push(RowQueue { index, key: SmallVec::from_slice(key), requests: smallvec![request] });
            }
        }
        self.table.row_counters[hash as usize % ROW_COUNTERS].fetch_add(1, Ordering::SeqCst);
    }

    /// Takes the requests of `trx` out of the queues with `hash` that `which` picks, and grants what waited
    /// for them.
    pub(super) fn remove(&mut self, hash: u64, trx: TrxId, which: impl Fn(&RowQueue, &Request) -> bool) {
        let Some(queues) = self.state.rows.get_mut(&hash) else { return };
        let mut granted = Vec::new();
        let mut removed = 0;
        for queue in queues.iter_mut() {
            let requests = std::mem::take(&mut queue.requests);
            let before = requests.len();
            let keep = |request: &Request| !(request.trx == trx && which(queue, request));
            queue.requests = requests.iter().copied().filter(keep).collect();
            if queue.requests.len() < before {
                removed += before - queue.requests.len();
                queue.grant(|trx| granted.push(trx));
            }
        }
        queues.retain(|queue| !queue.requests.is_empty());
        if queues.is_empty() {
            self.state.rows.remove(&hash);
        }
        self.table.row_counters[hash as usize % ROW_COUNTERS].fetch_sub(removed as u32, Ordering::SeqCst);
        for trx in granted {
            self.end_wait(trx, WaitState::Granted);
        }
    }

    /// Tells a waiting transaction how its wait has ended.
    pub(super) fn end_wait(&mut self, trx: TrxId, state: WaitState) {
        if let Some(wait) = self.state.owners.get_mut(&trx).and_then(|owner| owner.wait.as_mut()) {
            wait.state = state;
            wait.slot.wake.notify_all();
        }
    }

    /// Withdraws what `trx` waits for; its wait stays, for the waiter to see.
    pub(super) fn withdraw(&mut self, trx: TrxId) {
        let wait = self.state.owners.get(&trx).and_then(|owner| owner.wait.as_ref());
        let Some(WaitTarget::Row { hash, .. }) = wait.map(|wait| &wait.wanted) else { return };
        self.remove(*hash, trx, |_, request| !request.granted);
    }

    fn release(&mut self, trx: TrxId) {
        let Some(mut owner) = self.forget_owner(trx) else { return };
        owner.rows.sort_unstable();
        owner.rows.dedup();
        for hash in owner.rows {
            self.remove(hash, trx, |_, _| true);
        }
        owner.indexes.sort_unstable();
        owner.indexes.dedup();
        for &index in &owner.indexes {
            self.remove_gaps(index, trx);
        }
        if !owner.indexes.is_empty() {
            self.grant_inserts();
        }
    }

    fn remove_gaps(&mut self, index: IndexId, trx: TrxId) {
        let Some(gaps) = self.state.gaps.get_mut(&index) else { return };
        let before = gaps.len();
        gaps.retain(|gap| gap.trx != trx);
        let removed = before - gaps.len();
        if gaps.is_empty() {
            self.state.gaps.remove(&index);
        }
        self.table.gap_counters[index.0 as usize % GAP_COUNTERS].fetch_sub(removed as u32, Ordering::SeqCst);
    }

    /// Wakes the inserts that no gap lock stands against any more.
    fn grant_inserts(&mut self) {
        let is_free = |(&trx, owner): (&TrxId, &Owner)| {
            let wait = owner.wait.as_ref().filter(|wait| wait.state == WaitState::Yes)?;
            let WaitTarget::Gap { index, key } = &wait.wanted else { return None };
            self.gap_holders(trx, *index, key).next().is_none().then_some(trx)
        };
        let free: Vec<TrxId> = self.state.owners.iter().filter_map(is_free).collect();
        for trx in free {
            self.end_wait(trx, WaitState::Granted);
        }
    }

    /// Others than `trx` that have a gap lock on the key.
    pub(super) fn gap_holders(&self, trx: TrxId, index: IndexId, key: &[u8]) -> impl Iterator<Item = TrxId> {
        let gaps = self.state.gaps.get(&index).into_iter().flatten();
        gaps.filter(move |gap| gap.trx != trx && gap.covers(key)).map(|gap| gap.trx)
    }

    /// Adds a gap lock.
    pub(super) fn add_gap(
        &mut self,
        trx: TrxId,
        index: IndexId,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
    ) -> GapId {
        self.owner(trx).indexes.push(index);
        self.state.next_gap += 1;
        let id = GapId(self.state.next_gap);
        let gap = Gap { id, trx, lower: lower.map(Into::into), upper: upper.map(Into::into) };
        self.state.gaps.entry(index).or_default().push(gap);
        self.table.gap_counters[index.0 as usize % GAP_COUNTERS].fetch_add(1, Ordering::SeqCst);
        id
    }

    /// Moves an end of a gap lock outwards.
    pub(super) fn extend_gap(&mut self, index: IndexId, id: GapId, side: Side, to: Bound<&[u8]>) {
        // The newest are asked for most.
        let gaps = self.state.gaps.get_mut(&index);
        let Some(gap) = gaps.and_then(|gaps| gaps.iter_mut().rev().find(|gap| gap.id == id)) else { return };
        match side {
            Side::Lower => gap.lower = to.map(Into::into),
            Side::Upper => gap.upper = to.map(Into::into),
        }
    }

    fn wake_all(&mut self) {
        let waits = self.state.owners.values().filter_map(|owner| owner.wait.as_ref());
        waits.for_each(|wait| wait.slot.wake.notify_all());
    }
}
