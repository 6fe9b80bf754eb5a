//! The data file's space: extents of 64 pages, their map pages, growth, giving space back.
//!
//! The state in memory ([`Extents`]) answers every question; each change of it is also written, as one entry,
//! to the map page that covers the extent, in the mini-transaction that makes use of it. The state's mutex is
//! taken after tree pages and before map pages and new pages, and held until that mini-transaction commits,
//! so that no thread builds on an allocation that is not in the log yet.
//!
//! Extents come in groups, each described by one map page, the second page of its group. The first extent of
//! a group is shared by small trees; its first two pages are never given out.

use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;

use base::PageNo;
use base::sync::{LatchLevel, Mutex, MutexGuard};
use env::File;
use page::extent_map::EXTENTS_PER_MAP;
use page::{EXTENT_PAGES, ExtentEntry, ExtentPlace, ExtentState, PAGE_SIZE, PageMut, PageOp, PageRef};

use crate::error::{Error, Result};
use crate::extent_no::{ExtentNo, map_page_of};
use crate::extents::Extents;
use crate::garbage::GarbageBits;
use crate::mtr::{Latched, Mtr};
use crate::space_reserve::EXTENTS_WITHHELD;
use crate::store::Store;

/// Bytes of an extent.
pub(crate) const EXTENT_BYTES: u64 = EXTENT_PAGES as u64 * PAGE_SIZE as u64;

/// Extents the file grows by at a time: an eighth of its size within these bounds.
const GROWTH_EXTENTS: std::ops::RangeInclusive<u32> = 4..=64;

/// Pages of a group's first extent that are never given out: the file header or nothing, and the map page.
const RESERVED_PAGES: u64 = 0b11;

/// How much of the file is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceReport {
    /// Pages of the file.
    pub pages_total: u64,
    /// Pages given out to trees.
    pub pages_used: u64,
    /// Free extents.
    pub extents_free: u64,
    /// Extents whose pages small trees share.
    pub extents_shared: u64,
    /// Extents with records that purge, or a sweep, has to remove.
    pub extents_garbage: u64,
}

/// Allocation of one data file.
#[derive(Debug)]
pub(crate) struct Space {
    state: Mutex<Extents>,
    /// The same as in the state, to be read without it.
    garbage: Arc<GarbageBits>,
    file: Arc<dyn File>,
}

/// The allocation state, held.
pub(crate) type SpaceGuard<'p> = MutexGuard<'p, Extents>;

impl Space {
    /// The space of a file whose extents are not known yet.
    pub(crate) fn new(file: Arc<dyn File>) -> Self {
        // The level of pages: taken after some pages and before others (docs/latching.md).
        let state = Extents::default();
        let garbage = Arc::clone(state.garbage());
        Space { state: Mutex::new(LatchLevel::Page, state), garbage, file }
    }

    /// Extents in which something was marked since startup.
    #[inline]
    pub(crate) fn garbage(&self) -> &GarbageBits {
        &self.garbage
    }

    /// Waits for the allocation state. The caller may hold tree pages, but no map page.
    pub(crate) fn lock(&self) -> SpaceGuard<'_> {
        self.state.lock()
    }

    /// Reads all map pages up to the header's high-water mark: the file was closed cleanly.
    pub(crate) fn load(&self, store: &Store) -> Result<()> {
        let extents = store.header()?.high_water.0 / EXTENT_PAGES;
        let mut state = self.lock();
        for first in (0..extents).step_by(EXTENTS_PER_MAP as usize) {
            let map = store.pool.shared(map_page_of(first))?;
            for at in 0..EXTENTS_PER_MAP.min(extents - first) {
                state.push(map.page().extent(at as usize));
            }
        }
        state.withhold(EXTENTS_WITHHELD);
        Ok(())
    }

    /// Reserves disk space for a part of the file.
    ///
    /// # Errors
    /// [`Error::FileFull`] if there is none; [`Error::Io`].
    fn reserve(&self, extents: Range<ExtentNo>) -> Result<()> {
        let bytes = u64::from(extents.end - extents.start) * EXTENT_BYTES;
        self.file
            .allocate(u64::from(extents.start) * EXTENT_BYTES, bytes)
            .map_err(|error| if error.is_out_of_space() { Error::FileFull } else { error.into() })
    }

    /// Bytes of the file.
    pub(crate) fn file_bytes(&self) -> Result<u64> {
        Ok(self.file.len()?)
    }

    /// Reserves disk space for bytes of the file that pages are about to be written to.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn reserve_bytes(&self, bytes: Range<u64>) -> Result<()> {
        Ok(self.file.allocate(bytes.start, bytes.end - bytes.start)?)
    }

    /// Gives an extent that is a hole its disk space back, so that no later write of its pages finds the disk
    /// full.
    ///
    /// # Errors
    /// [`Error::FileFull`]; [`Error::Io`].
    #[cold]
    pub(crate) fn fill(&self, extent: ExtentNo) -> Result<()> {
        self.reserve(extent..extent + 1)
    }

    /// Makes the file longer by at least `count` extents. The header page is latched last of all.
    ///
    /// # Errors
    /// [`Error::FileFull`] if page numbers or disk space are used up, [`Error::Io`]: the file is as before.
    pub(crate) fn grow(store: &Store, extents: &mut Extents, count: u32) -> Result<()> {
        let step = (extents.len() / 8).clamp(*GROWTH_EXTENTS.start(), *GROWTH_EXTENTS.end()).max(count);
        let from = extents.len();
        let end_after = |step| from.checked_add(step).filter(|&end| end <= u32::MAX / EXTENT_PAGES);
        let mut end = end_after(step).ok_or(Error::FileFull)?;
        match store.space.reserve(from..end) {
            // Little space may be left, and be enough.
            Err(Error::FileFull) if step > count => {
                end = from + count;
                store.space.reserve(from..end)?;
            }
            reserved => reserved?,
        }
        while extents.len() < end {
            let extent = extents.len();
            if extent.is_multiple_of(EXTENTS_PER_MAP) {
                let (state, used) = (ExtentState::Shared, RESERVED_PAGES);
                let first = ExtentEntry { state, used, version: 1, ..ExtentEntry::default() };
                create_map(store, extent, first)?;
                extents.push(first);
            } else {
                extents.push(ExtentEntry::default());
            }
        }
        extents.withhold(EXTENTS_WITHHELD);
        let high_water = PageNo(end * EXTENT_PAGES);
        store.update_header(|header| header.high_water = high_water)
    }

    /// Counts what is in use.
    pub(crate) fn report(&self) -> SpaceReport {
        let state = self.lock();
        let mut report =
            SpaceReport { pages_total: u64::from(state.len() * EXTENT_PAGES), ..Default::default() };
        for (at, extent) in (0..).zip(state.iter()) {
            report.pages_used += u64::from((extent.used & !reserved_pages(at)).count_ones());
            report.extents_free += u64::from(extent.state == ExtentState::Free);
            report.extents_shared += u64::from(extent.state == ExtentState::Shared);
            report.extents_garbage += u64::from(extent.garbage);
        }
        report
    }

    /// Gives the disk space of up to `max` freed extents back to the file system; returns how many.
    pub(crate) fn punch_free_extents(&self, store: &Store, max: usize) -> Result<usize> {
        let checkpoint = store.log.last_checkpoint().redo_lsn;
        for done in 0..max {
            let mut mtr = Mtr::new(store);
            // The state is held while the hole is made: an extent that is given out meanwhile would lose its
            // bytes.
            let Some(extent) = mtr.space().next_unpunched(checkpoint) else { return Ok(done) };
            match mtr.prepare_map(extent) {
                Err(error) if error.damaged_page().is_some() => {
                    mtr.space().keep_unpunched(extent);
                    continue;
                }
                prepared => prepared?,
            }
            match self.file.punch_hole(u64::from(extent) * EXTENT_BYTES, EXTENT_BYTES) {
                Ok(()) => {}
                // A hole may take space for what the file system notes of it.
                Err(error) if error.is_out_of_space() => return Ok(done),
                // The file keeps the space, for pages that are given out again.
                Err(error) if error.kind == ErrorKind::Unsupported => {
                    mtr.space().keep_unpunched(extent);
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            mtr.space().mark_hole(extent);
            mtr.write_map_entry(extent)?;
            mtr.commit();
        }
        Ok(max)
    }
}

/// The pages of an extent that are in use and never given out.
pub(crate) fn reserved_pages(extent: ExtentNo) -> u64 {
    if extent.is_multiple_of(EXTENTS_PER_MAP) { RESERVED_PAGES } else { 0 }
}

/// Makes the map page of a group of free extents; the first one is in use.
fn create_map(store: &Store, extent: ExtentNo, first: ExtentEntry) -> Result<()> {
    let page_no = map_page_of(extent);
    let mut image = Box::new([0; PAGE_SIZE]);
    PageMut::new(&mut image).format_extent_map(page_no);
    let mut mtr = Mtr::new(store);
    let map = mtr.adopt(store.pool.create(page_no)?);
    mtr.apply(map, &PageOp::image_of(PageRef::new(&image)));
    write_entry(&mut mtr, map, extent, first);
    mtr.commit();
    Ok(())
}

/// Writes an extent's state to its map page.
pub(crate) fn write_entry(mtr: &mut Mtr<'_>, map: Latched, extent: ExtentNo, entry: ExtentEntry) {
    let place = ExtentPlace::of(PageNo(extent * EXTENT_PAGES));
    mtr.apply(map, &ExtentEntry::store_op(place.slot, &entry.encode()));
}
