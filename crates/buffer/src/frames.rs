//! Frames: the arena, what is known of each frame, and the free list.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use base::prefetch::LINE_BYTES;
use base::sync::{LatchLevel, Mutex, Padded, PlantedBug, planted};
use base::{Lsn, PageNo, prefetch};
use env::Mapping;
use page::{PAGE_SIZE, PageBytes};

/// The lines of a page that a search reads first: the header, and what is behind it. In a usual leaf these
/// are the heads of keys and the slots.
const PREFETCHED_LINES: [usize; 9] = [0, 2, 3, 4, 5, 6, 7, 8, 9];
const _: () = assert!(page::HEADER_BYTES == 2 * LINE_BYTES, "heads begin at the third line");

/// The state of one frame. All zero: owned by no page, clean.
///
/// Positions are stored plus one, so that zero can mean "none" and untouched memory is valid.
#[derive(Debug)]
pub(crate) struct FrameState {
    owner: AtomicU64,
    rec_lsn: AtomicU64,
    writing_lsn: AtomicU64,
}

impl FrameState {
    /// The page in the frame. A hint unless that page is latched: verify with the entry.
    pub(crate) fn owner(&self) -> Option<PageNo> {
        self.owner.load(Ordering::Relaxed).checked_sub(1).map(|page| PageNo(page as u32))
    }

    /// Caller: holds the page exclusively, or owns the frame alone.
    pub(crate) fn set_owner(&self, page: Option<PageNo>) {
        self.owner.store(page.map_or(0, |page| u64::from(page.0) + 1), Ordering::Relaxed);
    }

    /// Notes that a change whose log begins at `lsn` is not on disk. The first since the last write counts.
    /// Caller: holds the page exclusively. True if the page was clean.
    #[inline]
    pub(crate) fn mark_dirty(&self, lsn: Lsn) -> bool {
        let was_clean = self.rec_lsn.load(Ordering::Relaxed) == 0;
        if was_clean {
            // Release pairs with the Acquire in `oldest_change`.
            self.rec_lsn.store(lsn.0 + 1, Ordering::Release);
        }
        was_clean
    }

    /// Whether there are changes that no write has picked up.
    pub(crate) fn is_dirty(&self) -> bool {
        self.rec_lsn.load(Ordering::Relaxed) != 0
    }

    /// Where the log of the oldest change begins that no write has picked up.
    pub(crate) fn rec_lsn(&self) -> Option<Lsn> {
        self.rec_lsn.load(Ordering::Relaxed).checked_sub(1).map(Lsn)
    }

    /// Whether the page may be forgotten: unchanged, and no write of it is under way. Caller: holds it
    /// exclusively.
    pub(crate) fn is_clean(&self) -> bool {
        // Acquire pairs with `end_write`: a later read of the page finds the finished write.
        self.rec_lsn.load(Ordering::Relaxed) == 0 && self.writing_lsn.load(Ordering::Acquire) == 0
    }

    /// Hands all changes to a write that starts now. Caller: holds the page shared and the write-back batch.
    pub(crate) fn begin_write(&self) {
        // In this order, and with Release: `oldest_change` reads them the other way round and cannot miss
        // both.
        self.writing_lsn.store(self.rec_lsn.load(Ordering::Relaxed), Ordering::Release);
        self.rec_lsn.store(0, Ordering::Release);
    }

    /// The write that `begin_write` announced has succeeded.
    pub(crate) fn end_write(&self) {
        if planted(PlantedBug::StalePage) {
            self.rec_lsn.store(0, Ordering::Release);
        }
        self.writing_lsn.store(0, Ordering::Release);
    }

    /// Drops the changes. Caller: holds the page exclusively.
    pub(crate) fn forget_changes(&self) {
        self.rec_lsn.store(0, Ordering::Relaxed);
    }

    /// Where the log of the oldest change begins that is not known to be written.
    pub(crate) fn oldest_change(&self) -> Option<Lsn> {
        // Acquire, in this order: pairs with `begin_write`.
        let rec_lsn = self.rec_lsn.load(Ordering::Acquire);
        let writing_lsn = self.writing_lsn.load(Ordering::Acquire);
        let positions = [rec_lsn, writing_lsn].into_iter().filter_map(|stored| stored.checked_sub(1));
        positions.min().map(Lsn)
    }
}

/// Frames that hold no page.
#[derive(Debug)]
struct FreeList {
    /// Frames given back, last in, first out: their memory is likely still cached.
    returned: Vec<u32>,
    /// The next frame that was never used.
    fresh: u32,
}

/// All frames of a pool, numbered from 1.
#[derive(Debug)]
pub(crate) struct Frames {
    arena: Mapping,
    states: Box<[FrameState]>,
    /// What every miss writes, away from what every hit reads.
    churn: Padded<MissState>,
}

#[derive(Debug)]
struct MissState {
    free: Mutex<FreeList>,
    /// Length of the free list, readable without the mutex.
    free_count: AtomicU32,
    /// One past the highest frame ever used.
    used_end: AtomicU32,
    hand: AtomicU32,
}

impl Frames {
    /// `count` frames (1 to 2^31), none of them touched.
    #[expect(unsafe_code, reason = "frame states of a large pool must not be touched to be made")]
    pub(crate) fn new(count: u32) -> env::Result<Frames> {
        let states = Box::<[FrameState]>::new_zeroed_slice(count as usize + 1);
        Ok(Frames {
            // Frame 0 stands for "none"; its address space is left unused.
            arena: Mapping::zeroed((count as usize + 1) * PAGE_SIZE)?,
            // SAFETY: a frame state of zero bits is a free, clean frame: three zero integers.
            states: unsafe { states.assume_init() },
            churn: Padded(MissState {
                free: Mutex::new(LatchLevel::Frames, FreeList { returned: Vec::new(), fresh: 1 }),
                free_count: AtomicU32::new(count),
                used_end: AtomicU32::new(1),
                hand: AtomicU32::new(0),
            }),
        })
    }

    /// How many frames there are.
    pub(crate) fn count(&self) -> u32 {
        self.states.len() as u32 - 1
    }

    /// How many frames are free; stale at once.
    pub(crate) fn free_count(&self) -> u32 {
        self.churn.0.free_count.load(Ordering::Relaxed)
    }

    /// The state of `frame` (1 to `count`).
    #[inline]
    pub(crate) fn state(&self, frame: u32) -> &FrameState {
        &self.states[frame as usize]
    }

    /// The frames that were ever used.
    pub(crate) fn used(&self) -> std::ops::Range<u32> {
        1..self.churn.0.used_end.load(Ordering::Relaxed)
    }

    /// The bytes of `frame`, aligned to their size.
    #[inline]
    pub(crate) fn bytes(&self, frame: u32) -> NonNull<PageBytes> {
        debug_assert!((1..=self.count()).contains(&frame), "frame {frame} does not exist");
        #[expect(unsafe_code, reason = "address arithmetic inside the arena")]
        // SAFETY: the arena has count + 1 frames, and frame numbers come from `take` (lib.rs, invariant 2).
        let start = unsafe { self.arena.base().add(frame as usize * PAGE_SIZE) };
        start.cast()
    }

    /// Prefetches what a search in the page reads first: the header and the first heads. Most frames are in
    /// memory only, and each load would wait for the one before.
    #[inline(always)]
    pub(crate) fn prefetch(&self, frame: u32) {
        let page = self.arena.base().as_ptr().wrapping_add(frame as usize * PAGE_SIZE);
        for line in PREFETCHED_LINES {
            prefetch(page.wrapping_add(line * LINE_BYTES));
        }
    }

    /// Takes a free frame. The caller then owns it (lib.rs, invariant 2).
    pub(crate) fn take(&self) -> Option<u32> {
        let mut free = self.churn.0.free.lock();
        let frame = match free.returned.pop() {
            Some(frame) => frame,
            None if free.fresh <= self.count() => {
                free.fresh += 1;
                self.churn.0.used_end.store(free.fresh, Ordering::Relaxed);
                free.fresh - 1
            }
            None => return None,
        };
        self.churn.0.free_count.fetch_sub(1, Ordering::Relaxed);
        Some(frame)
    }

    /// Gives back a frame that the caller owns.
    pub(crate) fn give_back(&self, frame: u32) {
        debug_assert!(self.state(frame).owner().is_none(), "a free frame has no owner");
        let mut free = self.churn.0.free.lock();
        free.returned.push(frame);
        // Under the mutex, like the subtraction in `take`: outside it the count could fall below zero for a
        // moment.
        self.churn.0.free_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Moves the clock hand on by one and returns the frame it passed. Frames never used are passed over.
    pub(crate) fn advance_hand(&self) -> Option<u32> {
        let used = self.used();
        let turn = self.churn.0.hand.fetch_add(1, Ordering::Relaxed);
        (!used.is_empty()).then(|| used.start + turn % (used.end - used.start))
    }

    /// The used frames, beginning at the clock hand.
    pub(crate) fn beginning_at_hand(&self) -> impl Iterator<Item = u32> {
        let used = self.used();
        let at = self.churn.0.hand.load(Ordering::Relaxed) % (used.end - used.start).max(1);
        (used.start + at..used.end).chain(used.start..used.start + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_handed_out_once_and_again_after_being_given_back() {
        let frames = Frames::new(3).unwrap();
        let taken: Vec<u32> = std::iter::from_fn(|| frames.take()).collect();
        assert_eq!(taken, [1, 2, 3]);
        assert_eq!(frames.free_count(), 0);
        frames.give_back(2);
        assert_eq!((frames.take(), frames.take()), (Some(2), None));
    }

    #[test]
    fn the_hand_visits_used_frames_only() {
        let frames = Frames::new(10).unwrap();
        assert_eq!(frames.advance_hand(), None);
        assert_eq!(frames.beginning_at_hand().count(), 0);
        frames.take();
        frames.take();
        let mut seen: Vec<u32> = (0..4).filter_map(|_| frames.advance_hand()).collect();
        seen.sort_unstable();
        assert_eq!(seen, [1, 1, 2, 2]);
        assert_eq!(frames.beginning_at_hand().count(), 2);
    }

    #[test]
    fn the_oldest_change_is_known_before_during_and_after_a_write() {
        let frames = Frames::new(1).unwrap();
        let state = frames.state(1);
        assert!(state.mark_dirty(Lsn(0)));
        assert!(!state.mark_dirty(Lsn(5)));
        assert_eq!(state.oldest_change(), Some(Lsn(0)));
        state.begin_write();
        assert!(!state.is_dirty() && !state.is_clean());
        state.mark_dirty(Lsn(9));
        assert_eq!(state.oldest_change(), Some(Lsn(0)));
        state.end_write();
        assert_eq!(state.oldest_change(), Some(Lsn(9)));
    }
}
