//! The page latch: one 64-bit word, shared or exclusive, with a version for optimistic readers.
//!
//! | BITS   | FIELD                                                               |
//! |--------|---------------------------------------------------------------------|
//! | 0..17  | number of sharers, at most 131,071; one more waits                  |
//! | 17     | held exclusively                                                    |
//! | 18     | a thread is (or is about to be) parked on the word                  |
//! | 19..64 | version, incremented whenever an exclusive hold ends                |
//!
//! Waiting: about 40 pauses, then the thread parks on the word's address. A parked thread turns newcomers
//! that want to share into waiters, so that sharers cannot starve a writer; it follows that a thread must not
//! share a latch twice. A release that leaves the latch free wakes the oldest waiter, and with a sharer all
//! sharers directly behind it.

use super::atomic::{AtomicU64, Ordering, pauses, spin_loop};
use super::park::{self, Choice, Wake};
use super::sim;
use super::wait_times::{WaitKind, timed};

const SHARERS: u64 = (1 << 17) - 1;
const EXCLUSIVE: u64 = 1 << 17;
const WAITERS: u64 = 1 << 18;
const STATE: u64 = SHARERS | EXCLUSIVE | WAITERS;
const VERSION_SHIFT: u32 = 19;
const VERSION_ONE: u64 = 1 << VERSION_SHIFT;

const _: () = assert!(STATE == VERSION_ONE - 1);
const _: () = assert!(SHARERS >= 65_000);

/// Pauses before parking: about a microsecond, less than a park and an unpark cost.
const SPINS: usize = pauses(40);

const KIND_SHARED: usize = 1;
const KIND_EXCLUSIVE: usize = 2;

/// A shared-exclusive latch in one word. Zero is the free latch, so zeroed memory holds valid latches.
///
/// Raw: the holder must release exactly what it acquired; the guards that see to it live in crate `buffer`.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Latch(AtomicU64);

impl Latch {
    /// A free latch.
    pub fn new() -> Self {
        Latch(AtomicU64::new(0))
    }

    /// Acquires the latch shared. Cost when free or shared: one load, one compare-and-swap.
    #[inline]
    pub fn shared(&self) {
        sim::switch();
        let word = self.0.load(Ordering::Relaxed);
        // Acquire pairs with `release_exclusive` and `downgrade`: the holder sees what the last writer
        // stored.
        if word & STATE >= SHARERS
            || self.0.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed).is_err()
        {
            self.shared_slow();
        }
    }

    /// Acquires the latch exclusively.
    #[inline]
    pub fn exclusive(&self) {
        sim::switch();
        let word = self.0.load(Ordering::Relaxed);
        // Acquire pairs with `release_shared` and `release_exclusive`: earlier reads and writes are over.
        if word & STATE != 0
            || self
                .0
                .compare_exchange_weak(word, word | EXCLUSIVE, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
        {
            self.exclusive_slow();
        }
    }

    /// Acquires the latch shared unless that means waiting.
    #[inline]
    pub fn try_shared(&self) -> bool {
        sim::switch();
        let mut word = self.0.load(Ordering::Relaxed);
        while word & STATE < SHARERS {
            // Acquire: as in `shared`.
            match self.0.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Acquires the latch exclusively unless that means waiting.
    #[inline]
    pub fn try_exclusive(&self) -> bool {
        sim::switch();
        let mut word = self.0.load(Ordering::Relaxed);
        while word & STATE == 0 {
            // Acquire: as in `exclusive`.
            match self.0.compare_exchange_weak(word, word | EXCLUSIVE, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Ends a shared hold.
    #[inline]
    pub fn release_shared(&self) {
        // Release pairs with the Acquire in `exclusive`: a writer starts after our reads.
        let before = self.0.fetch_sub(1, Ordering::Release);
        debug_assert!(before & SHARERS != 0, "a shared latch is released by its holder");
        if before & STATE == WAITERS | 1 {
            self.wake_next();
        }
    }

    /// Ends an exclusive hold; the version moves on.
    #[inline]
    pub fn release_exclusive(&self) {
        // Release pairs with every Acquire above. The sum carries out of bit 63 when the version wraps.
        let before = self.0.fetch_add(VERSION_ONE - EXCLUSIVE, Ordering::Release);
        debug_assert!(before & EXCLUSIVE != 0, "an exclusive latch is released by its holder");
        if before & WAITERS != 0 {
            self.wake_next();
        }
    }

    /// Turns an exclusive hold into a shared one without letting a writer in between; the version moves on.
    #[inline]
    pub fn downgrade(&self) {
        // Release: as in `release_exclusive`.
        let before = self.0.fetch_add(VERSION_ONE - EXCLUSIVE + 1, Ordering::Release);
        debug_assert!(before & EXCLUSIVE != 0, "an exclusive latch is downgraded by its holder");
        if before & WAITERS != 0 {
            self.wake_sharers();
        }
    }

    /// The number of exclusive holds that have ended, modulo 2^45.
    #[inline]
    pub fn version(&self) -> u64 {
        // Acquire pairs with `release_exclusive`.
        self.0.load(Ordering::Acquire) >> VERSION_SHIFT
    }

    /// Whether the latch is held; stale at once, for statistics and assertions.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (EXCLUSIVE | SHARERS) != 0
    }

    #[cold]
    #[inline(never)]
    fn shared_slow(&self) {
        // A newcomer queues behind waiters; one that was woken takes its turn whatever the waiters bit says.
        self.acquire_slow(KIND_SHARED, |word, woken| {
            let free = word & (EXCLUSIVE | SHARERS) == 0;
            let in_turn = woken || free || word & WAITERS == 0;
            (in_turn && word & EXCLUSIVE == 0 && word & SHARERS < SHARERS).then_some(word + 1)
        });
    }

    #[cold]
    #[inline(never)]
    fn exclusive_slow(&self) {
        self.acquire_slow(KIND_EXCLUSIVE, |word, _| {
            (word & (EXCLUSIVE | SHARERS) == 0).then_some(word | EXCLUSIVE)
        });
    }

    /// Spins, then parks, until `taken(word, woken)` gives the word to install. `woken`: a release chose this
    /// thread.
    fn acquire_slow(&self, kind: usize, taken: impl Fn(u64, bool) -> Option<u64>) {
        let mut woken = false;
        let mut spins = 0;
        loop {
            let word = self.0.load(Ordering::Relaxed);
            if let Some(held) = taken(word, woken) {
                // Acquire: as in `shared` and `exclusive`.
                if self.0.compare_exchange_weak(word, held, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                    return;
                }
            } else if spins < SPINS {
                spins += 1;
                spin_loop();
            } else if word & WAITERS != 0
                || self
                    .0
                    .compare_exchange_weak(word, word | WAITERS, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
            {
                woken = self.park(kind);
                spins = 0;
            }
        }
    }

    /// Sleeps until a release chooses this thread (true), unless the latch is no longer held or no release
    /// would wake it.
    ///
    /// The check runs under the queue's lock, which every waker takes after its release: a holder seen here
    /// will find us in the queue.
    fn park(&self, kind: usize) -> bool {
        let still_held = || {
            let word = self.0.load(Ordering::Relaxed);
            word & WAITERS != 0 && word & (EXCLUSIVE | SHARERS) != 0
        };
        timed(WaitKind::Latch, || park::park_on(self.addr(), kind, None, still_held)) == Wake::Unparked
    }

    /// Wakes the oldest waiter; if it wants to share, also the sharers directly behind it.
    #[cold]
    #[inline(never)]
    fn wake_next(&self) {
        let mut first = None;
        let choose = |kind| match first {
            None => {
                first = Some(kind);
                Choice::Wake
            }
            Some(KIND_SHARED) if kind == KIND_SHARED => Choice::Wake,
            Some(_) => Choice::Stop,
        };
        park::unpark_matching(self.addr(), choose, |more| self.keep_waiters_bit(more));
    }

    /// Wakes all waiters that want to share.
    #[cold]
    #[inline(never)]
    fn wake_sharers(&self) {
        let choose = |kind| if kind == KIND_SHARED { Choice::Wake } else { Choice::PassOver };
        park::unpark_matching(self.addr(), choose, |more| self.keep_waiters_bit(more));
    }

    /// Under the queue's lock: clears the waiters bit when the queue is empty.
    fn keep_waiters_bit(&self, more: bool) {
        if !more {
            self.0.fetch_and(!WAITERS, Ordering::Relaxed);
        }
    }

    fn addr(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(test)]
mod tests;
