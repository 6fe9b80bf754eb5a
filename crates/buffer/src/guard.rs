//! Guards: a latched page, as a type.

use std::ptr::NonNull;

use base::sync::critical::Section;
use base::sync::{HeldLatch, Latch};
use base::{Lsn, PageNo};
use page::{PageBytes, PageMut, PageRef};

use crate::pool::Pool;
use crate::table::Entry;

/// A shared hold of a latch; ends when dropped.
#[derive(Debug)]
pub(crate) struct SharedHold<'p>(&'p Latch);

/// An exclusive hold of a latch; ends when dropped.
#[derive(Debug)]
pub(crate) struct ExclusiveHold<'p>(&'p Latch);

impl<'p> SharedHold<'p> {
    /// Takes over a hold that the caller has just acquired.
    #[inline]
    pub(crate) fn adopt(latch: &'p Latch) -> Self {
        SharedHold(latch)
    }
}

impl Drop for SharedHold<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.release_shared();
    }
}

impl<'p> ExclusiveHold<'p> {
    /// Takes over a hold that the caller has just acquired.
    #[inline]
    pub(crate) fn adopt(latch: &'p Latch) -> Self {
        ExclusiveHold(latch)
    }

    /// Lets sharers in without letting a writer in between.
    pub(crate) fn downgrade(self) -> SharedHold<'p> {
        let latch = self.0;
        std::mem::forget(self);
        latch.downgrade();
        SharedHold(latch)
    }
}

impl Drop for ExclusiveHold<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.release_exclusive();
    }
}

/// A page held shared: it stays in memory and unchanged until the guard is dropped. Bound to its thread.
#[derive(Debug)]
pub struct SharedGuard<'p> {
    // Dropped in this order: the latch goes first, then what the thread notes about it.
    pub(crate) _hold: SharedHold<'p>,
    pub(crate) bytes: NonNull<PageBytes>,
    pub(crate) page_no: PageNo,
    pub(crate) _section: Section,
    pub(crate) _held: HeldLatch,
}

/// A page held exclusively: no other thread sees it until the guard is dropped. Bound to its thread.
#[derive(Debug)]
pub struct ExclusiveGuard<'p> {
    // Dropped in this order: the latch goes first, then what the thread notes about it.
    pub(crate) hold: ExclusiveHold<'p>,
    pub(crate) bytes: NonNull<PageBytes>,
    pub(crate) page_no: PageNo,
    pub(crate) pool: &'p Pool,
    pub(crate) entry: &'p Entry,
    pub(crate) section: Section,
    pub(crate) held: HeldLatch,
}

impl SharedGuard<'_> {
    /// The page's number.
    #[inline]
    pub fn page_no(&self) -> PageNo {
        self.page_no
    }

    /// The page.
    #[inline]
    pub fn page(&self) -> PageRef<'_> {
        #[expect(unsafe_code, reason = "frames are reached by address")]
        // SAFETY: `bytes` is the frame of a page this guard holds shared: it stays this page's frame and is
        // not written (lib.rs, invariants 1 and 3). The frame is initialised memory of the arena, which
        // outlives 'p.
        PageRef::new(unsafe { self.bytes.as_ref() })
    }
}

impl<'p> ExclusiveGuard<'p> {
    /// The page's number.
    #[inline]
    pub fn page_no(&self) -> PageNo {
        self.page_no
    }

    /// The page, for reading.
    #[inline]
    pub fn page(&self) -> PageRef<'_> {
        #[expect(unsafe_code, reason = "frames are reached by address")]
        // SAFETY: as in `page_mut`, and `&self` rules out a `PageMut` of this guard.
        PageRef::new(unsafe { self.bytes.as_ref() })
    }

    /// The page, for changing. After the change: [`ExclusiveGuard::mark_dirty`].
    #[inline]
    pub fn page_mut(&mut self) -> PageMut<'_> {
        #[expect(unsafe_code, reason = "frames are reached by address")]
        // SAFETY: `bytes` is the frame of a page this guard holds exclusively, so no other thread reads or
        // writes it (lib.rs, invariants 1 and 3), and `&mut self` rules out another view through this guard.
        PageMut::new(unsafe { self.bytes.as_mut() })
    }

    /// Notes that the page was changed by a frame of the log that starts at `rec_lsn`. Must precede the
    /// guard's end; a change without it may be lost. Positions of successive calls do not decrease. Cost: one
    /// test once dirty.
    #[inline]
    pub fn mark_dirty(&mut self, rec_lsn: Lsn) {
        self.pool.frames.state(self.entry.frame()).mark_dirty(rec_lsn);
    }

    /// Goes on holding the page shared; no change happens in between.
    pub fn downgrade(self) -> SharedGuard<'p> {
        let ExclusiveGuard { hold, bytes, page_no, section, held, .. } = self;
        SharedGuard { _hold: hold.downgrade(), bytes, page_no, _section: section, _held: held }
    }

    /// Forgets a page that was freed: its changes are never written and its frame is free for others.
    pub fn discard(self) {
        self.pool.forget(self.entry);
    }
}
