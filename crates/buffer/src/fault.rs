//! The miss path: frames for pages that are not resident, reading, creating, forgetting.

use std::sync::atomic::Ordering;

use base::sync::{LatchLevel, critical};
use base::{IndexId, PageNo};
use page::{PAGE_SIZE, PageBytes, PageRef, PageType};

use crate::doublewrite::Image;
use crate::error::{Error, PageDefect, Result};
use crate::file_offset::offset_of;
use crate::guard::{ExclusiveGuard, ExclusiveHold, SharedGuard};
use crate::pool::Pool;
use crate::table::{Entry, LookupOutcome};

impl Pool {
    /// [`Pool::shared`] of a page that was not resident a moment ago.
    #[cold]
    #[inline(never)]
    pub(crate) fn fault_shared<'p>(&'p self, page: PageNo, entry: &'p Entry) -> Result<SharedGuard<'p>> {
        let guard = self.fault_cold(page, entry)?;
        entry.touch();
        Ok(guard)
    }

    /// [`Pool::shared_cold`] of a page that was not resident a moment ago.
    #[cold]
    #[inline(never)]
    pub(crate) fn fault_cold<'p>(&'p self, page: PageNo, entry: &'p Entry) -> Result<SharedGuard<'p>> {
        let held = LatchLevel::Page.acquire();
        // The exclusive latch makes others who want the page wait for this read instead of reading it, too.
        entry.latch.exclusive();
        self.load_and_share(page, entry, held)
    }

    /// [`Pool::shared_in_order`] of a page that was not resident a moment ago.
    #[cold]
    #[inline(never)]
    pub(crate) fn fault_in_order<'p>(
        &'p self,
        page: PageNo,
        entry: &'p Entry,
    ) -> Result<(SharedGuard<'p>, LookupOutcome)> {
        Ok((self.fault_cold(page, entry)?, LookupOutcome::Missed))
    }

    /// [`Pool::try_shared`] of a page that was not resident a moment ago.
    #[cold]
    #[inline(never)]
    pub(crate) fn try_fault_shared<'p>(
        &'p self,
        page: PageNo,
        entry: &'p Entry,
    ) -> Result<Option<SharedGuard<'p>>> {
        if !entry.latch.try_exclusive() {
            return Ok(None);
        }
        let guard = self.load_and_share(page, entry, LatchLevel::Page.try_acquire())?;
        entry.touch();
        Ok(Some(guard))
    }

    /// Loads a page held exclusively, unless another thread has, and continues holding it shared.
    fn load_and_share<'p>(
        &'p self,
        page_no: PageNo,
        entry: &'p Entry,
        held: base::sync::HeldLatch,
    ) -> Result<SharedGuard<'p>> {
        let hold = ExclusiveHold::adopt(&entry.latch);
        let section = critical::enter();
        let frame = match entry.frame() {
            0 => self.load(page_no, entry)?,
            frame => frame,
        };
        let bytes = self.frames.bytes(frame);
        Ok(SharedGuard { _hold: hold.downgrade(), bytes, page_no, _section: section, _held: held })
    }

    /// Reads a page into a frame. The caller holds it exclusively; after an error the page is as before.
    #[cold]
    #[inline(never)]
    pub(crate) fn load(&self, page: PageNo, entry: &Entry) -> Result<u32> {
        let frame = self.allocate_frame()?;
        #[expect(unsafe_code, reason = "frames are reached by address")]
        // SAFETY: this thread took the frame from the free list and owns it (lib.rs, invariant 2).
        let bytes = unsafe { self.frames.bytes(frame).as_mut() };
        // A read may go astray where the page is sound: it is damaged if it is so twice.
        if let Err(error) = self.read(page, bytes).or_else(|_| self.read(page, bytes)) {
            self.frames.give_back(frame);
            return Err(error);
        }
        self.install(page, entry, frame);
        Ok(frame)
    }

    /// Reads and verifies. The only place where bytes enter the pool (lib.rs, invariant 4).
    fn read(&self, page: PageNo, bytes: &mut PageBytes) -> Result<()> {
        self.counters.reads.add(1);
        self.reads_under_way.fetch_add(1, Ordering::Relaxed);
        let read = self.file.read_at(bytes, offset_of(page));
        self.reads_under_way.fetch_sub(1, Ordering::Relaxed);
        let got = read.map_err(|error| {
            let defect = PageDefect::Unreadable { kind: error.kind, errno: error.errno };
            Error::corrupt(self.file.path(), page, defect)
        })?;
        if got < bytes.len() {
            return Err(Error::corrupt(self.file.path(), page, PageDefect::PastEnd));
        }
        self.verify(page, bytes).map_err(|defect| Error::corrupt(self.file.path(), page, defect))
    }

    /// The check of a page that was read: of its bytes, of its records if their format is known, and that the
    /// log has of its last change.
    pub(crate) fn verify(&self, page: PageNo, bytes: &PageBytes) -> std::result::Result<(), PageDefect> {
        if self.formats.is_lost(page) {
            return Err(PageDefect::Lost);
        }
        verify(bytes, page)?;
        self.formats.verify(PageRef::new(bytes)).map_err(|corrupt| PageDefect::Bytes(corrupt.what))?;
        if PageRef::new(bytes).lsn() > self.log.end() { Err(PageDefect::BeyondLog) } else { Ok(()) }
    }

    /// Makes the page resident in `frame`. The caller holds the page exclusively and owns the frame.
    pub(crate) fn install(&self, page: PageNo, entry: &Entry, frame: u32) {
        self.frames.state(frame).set_owner(Some(page));
        entry.forget_uses();
        entry.set_frame(frame);
    }

    /// Latches a page that is about to be formatted exclusively: its header is that of a free page, what
    /// follows may be anything. It is not read from disk.
    ///
    /// Latches as [`Pool::exclusive`]. The caller formats it and marks it dirty.
    ///
    /// # Errors
    /// [`Error::Exhausted`], [`Error::ChangesRefused`].
    pub fn create(&self, page: PageNo) -> Result<ExclusiveGuard<'_>> {
        self.may_change()?;
        let entry = self.table.entry(page);
        let held = LatchLevel::Page.acquire();
        entry.latch.exclusive();
        let hold = ExclusiveHold::adopt(&entry.latch);
        let section = critical::enter();
        self.formats.find_again(page);
        if entry.frame() == 0 {
            let frame = self.allocate_frame()?;
            self.install(page, entry, frame);
        }
        let mut bytes = self.frames.bytes(entry.frame());
        #[expect(unsafe_code, reason = "frames are reached by address")]
        // SAFETY: the frame of a page held exclusively (lib.rs, invariants 1 and 3).
        let header = unsafe { bytes.as_mut() }.split_at_mut(page::COMMON_HEADER_BYTES).0;
        header.fill(0);
        entry.touch();
        Ok(ExclusiveGuard { hold, bytes, page_no: page, pool: self, entry, section, held })
    }

    /// The tree that the bytes of `page` on disk name as its owner, sound or not: a hint where nothing else
    /// says whose a damaged page is.
    #[cold]
    pub fn claimed_owner(&self, page: PageNo) -> Option<IndexId> {
        let mut image = Image::zeroed();
        let got = self.file.read_at(&mut image.0, offset_of(page)).ok()?;
        let header = PageRef::new(&image.0);
        (got == PAGE_SIZE && header.page_no() == page).then(|| header.index_id())
    }

    /// Forgets a page that was freed, without writing it; a write already under way may still land. Waits for
    /// its latch, so the caller must not hold it; see [`ExclusiveGuard::discard`] for that.
    pub fn discard(&self, page: PageNo) {
        let entry = self.table.entry(page);
        let _held = LatchLevel::Page.acquire();
        entry.latch.exclusive();
        let _hold = ExclusiveHold::adopt(&entry.latch);
        self.forget(entry);
    }

    /// Makes a page non-resident. The caller holds it exclusively. While a write of the page is under way it
    /// stays, clean, until it is evicted: the write ends by marking the frame, which must still be this
    /// page's.
    pub(crate) fn forget(&self, entry: &Entry) {
        let frame = entry.frame();
        if frame == 0 {
            return;
        }
        let state = self.frames.state(frame);
        state.forget_changes();
        entry.forget_uses();
        if state.is_clean() {
            entry.set_frame(0);
            state.set_owner(None);
            self.frames.give_back(frame);
        }
    }
}

/// The check of bytes that were read. A page is read only after it was created, and a created page is written
/// before it is evicted: zeros are the result of a misdirected write or read.
fn verify(bytes: &PageBytes, page: PageNo) -> std::result::Result<(), PageDefect> {
    page::verify_on_read(bytes, page).map_err(|corrupt| PageDefect::Bytes(corrupt.what))?;
    if PageRef::new(bytes).page_type() == PageType::Free { Err(PageDefect::Unwritten) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_zeros_is_a_damage_that_has_a_name() {
        let defect = verify(&[0; page::PAGE_SIZE], PageNo(9)).unwrap_err();
        let error = Error::corrupt("data.pages".as_ref(), PageNo(9), defect);
        assert_eq!(error.to_string(), "page 9 of data.pages is corrupt: it was never written");
    }
}
