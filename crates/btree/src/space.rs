//! The data file's space: extents of 64 pages, their map pages, growth, giving space back.
//!
//! The state in memory ([`Extents`]) answers every question; each change of it is also written, as one entry, to the map
//! page that covers the extent, in the mini-transaction that makes use of it. The state's mutex is taken after tree pages
//! and before map pages and new pages, and held until that mini-transaction commits, so that nobody builds on an
//! allocation that is not in the log yet.
//!
//! Extents come in groups, each described by one map page, the second page of its group. The first extent of a group is
//! shared by small trees; its first two pages are never given out.

use std::sync::Arc;

use base::sync::{LatchLevel, Mutex, MutexGuard};
use base::{IndexId, PageNo};
use env::File;
use page::op::PageOp;
use page::{PAGE_SIZE, PageType};

use crate::error::{Error, Result};
use crate::extents::{EXTENT_PAGES, Extent, ExtentNo, Extents, OWNER_NONE, OWNER_SHARED};
use crate::map_format::{EXTENTS_PER_MAP, entry_bytes, entry_offset, read_entry};
use crate::mtr::{Latched, Mtr};
use crate::store::Store;

pub(crate) use crate::extents::Locality;

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
    /// Extents that nobody uses.
    pub extents_free: u64,
    /// Extents whose pages small trees share.
    pub extents_shared: u64,
}

/// Allocation of one data file.
#[derive(Debug)]
pub(crate) struct Space {
    state: Mutex<Extents>,
    file: Arc<dyn File>,
}

/// The allocation state, held.
pub(crate) type SpaceGuard<'p> = MutexGuard<'p, Extents>;

impl Space {
    /// The space of a file whose extents are not known yet.
    pub(crate) fn new(file: Arc<dyn File>) -> Self {
        // The level of pages: taken after some pages and before others (docs/latching.md).
        Space { state: Mutex::new(LatchLevel::Page, Extents::default()), file }
    }

    /// Waits for the allocation state. The caller may hold tree pages, but no map page.
    pub(crate) fn lock(&self) -> SpaceGuard<'_> {
        self.state.lock()
    }

    /// Reads all map pages: the file was closed cleanly.
    pub(crate) fn load(&self, store: &Store) -> Result<()> {
        let extents = self.file.len()? / EXTENT_BYTES;
        let mut state = self.lock();
        for first in (0..extents as ExtentNo).step_by(EXTENTS_PER_MAP) {
            let map = store.pool.shared(map_page_of(first))?;
            for at in 0..EXTENTS_PER_MAP.min(extents as usize - first as usize) {
                state.push(read_entry(map.page(), at));
            }
        }
        Ok(())
    }

    /// Makes the file longer by at least `count` extents.
    pub(crate) fn grow(store: &Store, state: &mut Extents, count: u32) -> Result<()> {
        let step = (state.len() / 8).clamp(*GROWTH_EXTENTS.start(), *GROWTH_EXTENTS.end()).max(count);
        let end = state.len().checked_add(step).filter(|&end| end <= u32::MAX / EXTENT_PAGES);
        let end = end.ok_or(Error::FileFull)?;
        let from = u64::from(state.len()) * EXTENT_BYTES;
        store.space.file.allocate(from, u64::from(step) * EXTENT_BYTES)?;
        while state.len() < end {
            let extent = state.len();
            if (extent as usize).is_multiple_of(EXTENTS_PER_MAP) {
                let first = Extent { owner: OWNER_SHARED, version: 1, used: RESERVED_PAGES };
                create_map(store, extent, first)?;
                state.push(first);
            } else {
                state.push(Extent::default());
            }
        }
        Ok(())
    }

    /// Whether `page` is given out, and not to another tree than `index` as far as the map can tell.
    pub(crate) fn owns(&self, index: IndexId, page: PageNo) -> bool {
        self.lock().is_used_by(index, page)
    }

    /// Counts what is in use.
    pub(crate) fn report(&self) -> SpaceReport {
        let state = self.lock();
        let mut report =
            SpaceReport { pages_total: u64::from(state.len() * EXTENT_PAGES), ..Default::default() };
        for (at, extent) in state.iter().enumerate() {
            let reserved = if at.is_multiple_of(EXTENTS_PER_MAP) { RESERVED_PAGES.count_ones() } else { 0 };
            report.pages_used += u64::from(extent.used.count_ones() - reserved);
            report.extents_free += u64::from(extent.owner == OWNER_NONE);
            report.extents_shared += u64::from(extent.owner == OWNER_SHARED);
        }
        report
    }

    /// Gives the disk space of up to `max` freed extents back to the file system; returns how many.
    pub(crate) fn punch_free_extents(&self, max: usize) -> Result<usize> {
        // The state is held while the holes are made: an extent that is given out meanwhile would lose its bytes.
        let mut state = self.lock();
        let freed = state.take_unpunched(max);
        for &extent in &freed {
            self.file.punch_hole(u64::from(extent) * EXTENT_BYTES, EXTENT_BYTES)?;
        }
        Ok(freed.len())
    }
}

/// The page that describes an extent.
pub(crate) fn map_page_of(extent: ExtentNo) -> PageNo {
    let first = extent - extent % EXTENTS_PER_MAP as u32;
    PageNo(first * EXTENT_PAGES + 1)
}

/// Makes the map page of a group of free extents; the first one is in use.
fn create_map(store: &Store, extent: ExtentNo, first: Extent) -> Result<()> {
    let page_no = map_page_of(extent);
    let mut mtr = Mtr::new(store);
    let map = mtr.adopt(store.pool.create(page_no)?);
    let format =
        PageOp::FormatOther { page_no, page_type: PageType::ExtentMap, index_id: IndexId(0), version: 1 };
    mtr.apply(map, &format);
    write_entry(&mut mtr, map, extent, first);
    mtr.commit();
    Ok(())
}

/// Writes an extent's state to its map page.
pub(crate) fn write_entry(mtr: &mut Mtr<'_>, map: Latched, extent: ExtentNo, state: Extent) {
    let at = extent as usize % EXTENTS_PER_MAP;
    mtr.apply(map, &PageOp::WriteBytes { offset: entry_offset(at) as u16, bytes: &entry_bytes(state) });
}
