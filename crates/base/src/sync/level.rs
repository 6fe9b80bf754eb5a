//! The latch order, asserted in debug builds.

use std::marker::PhantomData;

/// Place of a latch or mutex in the order of docs/latching.md: a thread that holds one may wait only for a
/// later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LatchLevel {
    /// Dictionary cache, table definitions, name locks.
    Catalog = 10,
    /// A table's own state: auto-increment, statistics, the side log of an online build.
    Table = 20,
    /// Page latches. Several may be held; their order among themselves is the tree's (docs/latching.md, rule
    /// 4).
    Page = 30,
    /// A shard of the row-lock table, probed and extended under a leaf latch.
    LockTable = 40,
    /// Lists of transactions and read views.
    TrxTable = 50,
    /// The buffer pool's write-back batch.
    WriteBack = 60,
    /// The buffer pool's free frames and clock hand.
    Frames = 70,
    /// The redo log's writer and its ring.
    Log = 80,
    /// Statistics and other leaves: nothing is acquired while one is held.
    Leaf = 90,
}

impl LatchLevel {
    /// Whether one thread may hold several latches of this level.
    #[cfg(debug_assertions)]
    const fn repeats(self) -> bool {
        matches!(self, LatchLevel::Page)
    }

    /// Notes that this thread is about to wait for a latch of this level.
    ///
    /// # Panics
    /// In debug builds, if the thread holds a latch of a later level, or of this one unless it may be held
    /// repeatedly.
    #[inline]
    pub fn acquire(self) -> HeldLatch {
        #[cfg(debug_assertions)]
        held::assert_may_wait(self);
        self.note()
    }

    /// Notes a latch that was or will be taken without waiting: no order applies, since such a latch cannot
    /// be part of a deadlock.
    #[inline]
    pub fn try_acquire(self) -> HeldLatch {
        self.note()
    }

    #[inline]
    fn note(self) -> HeldLatch {
        #[cfg(debug_assertions)]
        held::push(self);
        HeldLatch {
            #[cfg(debug_assertions)]
            level: self,
            not_send: PhantomData,
        }
    }
}

/// Says that the calling thread has let go of all latches: a guard that was kept by mistake shows where its
/// statement ends, not where a later wait hangs.
///
/// # Panics
/// In debug builds, if the thread holds a latch.
#[inline]
pub fn assert_no_latch() {
    #[cfg(debug_assertions)]
    held::assert_none();
}

/// A latch that this thread holds, for the check of the latch order. Empty in release builds.
#[derive(Debug)]
pub struct HeldLatch {
    #[cfg(debug_assertions)]
    level: LatchLevel,
    not_send: PhantomData<*const ()>,
}

#[cfg(debug_assertions)]
impl Drop for HeldLatch {
    fn drop(&mut self) {
        held::remove(self.level);
    }
}

#[cfg(debug_assertions)]
mod held {
    use super::LatchLevel;
    use std::cell::RefCell;

    thread_local! {
        static HELD: RefCell<Vec<LatchLevel>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn assert_may_wait(level: LatchLevel) {
        let latest = HELD.with_borrow(|held| held.iter().copied().max());
        let Some(latest) = latest else { return };
        assert!(
            latest < level || (latest == level && level.repeats()),
            "latch order: waiting for {level:?} while holding {latest:?}"
        );
    }

    pub(super) fn assert_none() {
        HELD.with_borrow(|held| assert!(held.is_empty(), "latches kept at the end: {held:?}"));
    }

    pub(super) fn push(level: LatchLevel) {
        HELD.with_borrow_mut(|held| held.push(level));
    }

    /// Latches are released in any order (latch coupling lets go of the parent first).
    pub(super) fn remove(level: LatchLevel) {
        HELD.with_borrow_mut(|held| {
            let at = held.iter().rposition(|&l| l == level).expect("a held latch is on the stack");
            held.remove(at);
        });
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn later_levels_and_repeated_pages_are_allowed() {
        let parent = LatchLevel::Page.acquire();
        let child = LatchLevel::Page.acquire();
        drop(parent);
        let frames = LatchLevel::Frames.acquire();
        drop(child);
        drop(frames);
        drop(LatchLevel::Catalog.acquire());
    }

    #[test]
    #[should_panic(expected = "waiting for Page while holding Frames")]
    fn an_earlier_level_is_refused() {
        let _frames = LatchLevel::Frames.acquire();
        let _page = LatchLevel::Page.acquire();
    }

    #[test]
    #[should_panic(expected = "waiting for Log while holding Log")]
    fn a_level_that_does_not_repeat_is_refused_twice() {
        let _first = LatchLevel::Log.acquire();
        let _second = LatchLevel::Log.acquire();
    }

    #[test]
    #[should_panic(expected = "latches kept at the end: [Page]")]
    fn a_latch_that_is_kept_is_found() {
        assert_no_latch();
        let _page = LatchLevel::Page.acquire();
        assert_no_latch();
    }

    #[test]
    fn a_try_is_allowed_against_the_order() {
        let _frames = LatchLevel::Frames.acquire();
        let _page = LatchLevel::Page.try_acquire();
    }
}
