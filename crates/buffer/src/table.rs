//! The translation array: page number to entry.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use base::PageNo;
use base::sync::Latch;

/// Entries per chunk: 1 MiB of address space, taken from the machine as it is touched.
const CHUNK_ENTRIES: usize = 1 << 16;
/// Chunks for all page numbers.
const CHUNKS: usize = 1 << 16;

const REFERENCED: u32 = 1;
const UNUSED: u32 = 2;
const ASKS_FOR_MORE: u32 = 4;

/// How [`crate::Pool::shared_in_order`] found a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupOutcome {
    /// In memory.
    Resident,
    /// In memory thanks to [`crate::Pool::read_ahead`], and not used before.
    ReadAhead,
    /// As `ReadAhead`, and what follows should be asked for.
    AsksForMore,
    /// It had to be read while the caller waited.
    Missed,
}

/// The entry of one page on disk. All zero: unlatched, not resident.
///
/// | OFFSET | SIZE | FIELD                                                                    |
/// |--------|------|--------------------------------------------------------------------------|
/// | 0      | 8    | latch word                                                               |
/// | 8      | 4    | frame number; 0 if not resident. Stored under the exclusive latch only   |
/// | 12     | 4    | bit 0: used since the clock hand last passed; 1: read ahead and not used |
/// |        |      | by a scan since; 2: a scan that uses it is to ask for more               |
#[derive(Debug)]
#[repr(C, align(16))]
pub(crate) struct Entry {
    pub(crate) latch: Latch,
    frame: AtomicU32,
    meta: AtomicU32,
}

const _: () = assert!(size_of::<Entry>() == 16);

impl Entry {
    /// The frame, 0 if none. Steady while the latch is held; the latch's ordering covers the Relaxed load.
    #[inline]
    pub(crate) fn frame(&self) -> u32 {
        self.frame.load(Ordering::Relaxed)
    }

    /// Ties the page to `frame`, or with 0 to none. The caller holds the latch exclusively.
    pub(crate) fn set_frame(&self, frame: u32) {
        self.frame.store(frame, Ordering::Relaxed);
    }

    /// Notes a use. Writes only if the bit is clear, so that hits do not fight over the line more than the
    /// latch does.
    #[inline]
    pub(crate) fn touch(&self) {
        if self.meta.load(Ordering::Relaxed) & REFERENCED == 0 {
            self.meta.fetch_or(REFERENCED, Ordering::Relaxed);
        }
    }

    /// Notes a use by a scan. The first one of a page that was read ahead for it does not count.
    #[inline]
    pub(crate) fn touch_in_order(&self) -> LookupOutcome {
        let meta = self.meta.load(Ordering::Relaxed);
        if meta & REFERENCED != 0 { LookupOutcome::Resident } else { self.touch_first(meta) }
    }

    #[cold]
    #[inline(never)]
    fn touch_first(&self, meta: u32) -> LookupOutcome {
        if meta & UNUSED == 0 {
            self.meta.fetch_or(REFERENCED, Ordering::Relaxed);
            return LookupOutcome::Resident;
        }
        let before = self.meta.fetch_and(!(UNUSED | ASKS_FOR_MORE), Ordering::Relaxed);
        if before & ASKS_FOR_MORE != 0 { LookupOutcome::AsksForMore } else { LookupOutcome::ReadAhead }
    }

    /// Notes that the page was read ahead. The caller holds the latch exclusively and has just tied it to a
    /// frame.
    pub(crate) fn mark_unused(&self, asks_for_more: bool) {
        self.meta.store(UNUSED | if asks_for_more { ASKS_FOR_MORE } else { 0 }, Ordering::Relaxed);
    }

    /// Whether the page was used since the last call of [`Entry::clear_referenced`].
    pub(crate) fn is_referenced(&self) -> bool {
        self.meta.load(Ordering::Relaxed) & REFERENCED != 0
    }

    /// Forgets all uses and marks, for a page that leaves or has just come. The caller holds the latch
    /// exclusively.
    pub(crate) fn forget_uses(&self) {
        self.meta.store(0, Ordering::Relaxed);
    }

    pub(crate) fn clear_referenced(&self) {
        self.meta.fetch_and(!REFERENCED, Ordering::Relaxed);
    }
}

type Chunk = [Entry; CHUNK_ENTRIES];

/// The two-level array of entries. Chunks are made on first use and live as long as the table.
#[derive(Debug)]
pub(crate) struct PageTable {
    chunks: Box<[AtomicPtr<Chunk>; CHUNKS]>,
}

impl PageTable {
    #[expect(unsafe_code, reason = "half a megabyte of null pointers must not be touched to be made")]
    pub(crate) fn new() -> Self {
        let chunks = Box::<[AtomicPtr<Chunk>; CHUNKS]>::new_zeroed();
        // SAFETY: the null pointer is a valid AtomicPtr, and it is all zero bits.
        PageTable { chunks: unsafe { chunks.assume_init() } }
    }

    /// The entry of `page`. Cost: two loads, once its chunk exists.
    #[inline]
    pub(crate) fn entry(&self, page: PageNo) -> &Entry {
        let (slot, at) = (&self.chunks[(page.0 >> 16) as usize], page.0 as usize % CHUNK_ENTRIES);
        // Acquire pairs with the Release in `add_chunk`: the entries are seen as they were made.
        let mut chunk = slot.load(Ordering::Acquire);
        if chunk.is_null() {
            chunk = add_chunk(slot);
        }
        #[expect(unsafe_code, reason = "chunks are reached through atomic pointers")]
        // SAFETY: a non-null slot points to a chunk that `add_chunk` leaked and only `drop` frees; entries
        // are shared by design and have interior mutability only.
        let chunk = unsafe { &*chunk };
        &chunk[at]
    }
}

/// Makes a chunk of empty entries, unless another thread was faster.
#[cold]
#[inline(never)]
fn add_chunk(slot: &AtomicPtr<Chunk>) -> *mut Chunk {
    let chunk = Box::<Chunk>::new_zeroed();
    #[expect(unsafe_code, reason = "a megabyte of empty entries must not be touched to be made")]
    // SAFETY: an entry of zero bits is an unlatched, non-resident page: a free `Latch` and two zero integers.
    let fresh = Box::into_raw(unsafe { chunk.assume_init() });
    // AcqRel: publishes our entries (see `entry`), or sees the other thread's.
    match slot.compare_exchange(std::ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => fresh,
        Err(theirs) => {
            #[expect(unsafe_code, reason = "gives back the chunk that lost the race")]
            // SAFETY: `fresh` came from `into_raw` above and was not published.
            drop(unsafe { Box::from_raw(fresh) });
            theirs
        }
    }
}

impl Drop for PageTable {
    fn drop(&mut self) {
        for slot in self.chunks.iter_mut() {
            let chunk = std::mem::replace(slot.get_mut(), std::ptr::null_mut());
            if !chunk.is_null() {
                #[expect(unsafe_code, reason = "chunks are owned through atomic pointers")]
                // SAFETY: `add_chunk` leaked this box into the slot, and `&mut self` means no entry is
                // borrowed.
                drop(unsafe { Box::from_raw(chunk) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_all_corners_are_distinct_and_stay_where_they_are() {
        let table = PageTable::new();
        let corners = [0, 1, 0xffff, 0x1_0000, u32::MAX - 1, u32::MAX];
        for (n, &page) in corners.iter().enumerate() {
            assert_eq!(table.entry(PageNo(page)).frame(), 0);
            table.entry(PageNo(page)).set_frame(n as u32 + 1);
        }
        for (n, &page) in corners.iter().enumerate() {
            assert_eq!(table.entry(PageNo(page)).frame(), n as u32 + 1);
        }
    }

    #[test]
    fn the_reference_bit_is_set_by_use_and_cleared_by_the_hand() {
        let table = PageTable::new();
        let entry = table.entry(PageNo(7));
        entry.touch();
        entry.touch();
        assert!(entry.is_referenced());
        entry.clear_referenced();
        assert!(!entry.is_referenced());
    }

    #[test]
    fn threads_that_race_for_a_chunk_agree_on_it() {
        let table = PageTable::new();
        let address = || std::ptr::from_ref(table.entry(PageNo(70_000))).addr();
        let found: Vec<usize> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..4).map(|_| scope.spawn(address)).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert!(found.iter().all(|&a| a == found[0]));
    }
}
