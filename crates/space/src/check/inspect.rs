//! Opening a data file to read it: nothing is written, and a damaged map is reported instead of
//! refused.

use std::path::Path;
use std::sync::Arc;

use base::{Lsn, PageNo};
use buffer::PoolConfig;
use env::{Disk, OpenOptions, ReadOnlyDisk, SimDisk};
use log::{Log, LogConfig, LogReader};
use page::check::check_extent_map;
use page::extent_map::EXTENTS_PER_MAP;
use page::{EXTENT_PAGES, ExtentEntry, ExtentState, PAGE_SIZE};

use super::Problems;
use crate::error::{Error, Result};
use crate::extent_no::map_page_of;
use crate::store::{Store, StoreConfig, log_folder, read_header};

/// A data file that is read.
#[derive(Debug)]
pub struct Inspected {
    /// The file. It is not marked as open; concurrent changes of its pages spoil the result.
    pub store: Store,
    /// What is wrong with header and map.
    pub problems: Problems,
    /// Whether all of the map could be read. Pages whose map could not be read count as allocated to the
    /// trees that use them.
    pub is_map_known: bool,
}

impl Store {
    /// Opens a data file that was closed cleanly, to look at it. `disk` may refuse changes.
    ///
    /// # Errors
    /// [`crate::Error::NotClean`], [`crate::Error::UnknownFormat`]; [`crate::Error::Corruption`] for a header
    /// page that cannot be trusted.
    pub fn inspect(disk: &Arc<dyn Disk>, path: &Path, pool_bytes: usize) -> Result<Inspected> {
        let file = disk.open(path, OpenOptions::default())?;
        let header = read_header(&*file)?;
        let mut reader = LogReader::open(disk, &log_folder(path), header.identity)?;
        let end = reader.skip_to_end()?;
        if !reader.is_clean() {
            return Err(Error::NotClean);
        }
        let pages_on_disk = file.len()? / PAGE_SIZE as u64;
        let pool = PoolConfig { bytes: pool_bytes, background: false };
        let identity = header.identity;
        let store = Store::with_file(file, looked_at(pool, identity), None, idle_log(identity, end)?)?;
        let high_water = header.high_water;
        let mut problems = Problems::default();
        if u64::from(high_water.0) > pages_on_disk || !high_water.0.is_multiple_of(EXTENT_PAGES) {
            let told = high_water.0;
            problems.add(
                PageNo(0),
                format!("(file header) tells of {told} pages, but the file has {pages_on_disk}"),
            );
        }
        let extents = u64::from(high_water.0).min(pages_on_disk) as u32 / EXTENT_PAGES;
        let is_map_known = store.load_map(extents, &mut problems);
        Ok(Inspected { store, problems, is_map_known })
    }

    /// Opens a data file as it lies on disk, to read it: its log is not read, and nothing is written. What
    /// the log has of its pages is missing there, so that they may not agree.
    ///
    /// # Errors
    /// [`crate::Error::UnknownFormat`]; that of a header that cannot be read, where the dictionary cannot be
    /// found without it.
    pub fn open_without_log(
        disk: &Arc<dyn Disk>,
        path: &Path,
        pool_bytes: usize,
        identity: [u8; 16],
    ) -> Result<Store> {
        let disk: Arc<dyn Disk> = Arc::new(ReadOnlyDisk::new(Arc::clone(disk)));
        let file = disk.open(path, OpenOptions::default())?;
        let noted = match read_header(&*file) {
            Ok(header) => header.checkpoint.max(header.clean),
            Err(error @ Error::UnknownFormat(_)) => return Err(error),
            Err(_) => Lsn(0),
        };
        let pool = PoolConfig { bytes: pool_bytes, background: false };
        // Beyond the LSN of every page.
        let log = idle_log(identity, Lsn(noted.0 + BEYOND_PAGES))?;
        let mut store = Store::with_file(file, looked_at(pool, identity), None, log)?;
        store.do_without_header(identity)?;
        let extents = store.header()?.high_water.0 / EXTENT_PAGES;
        store.is_map_known = store.load_map(extents, &mut Problems::default());
        Ok(store)
    }

    /// Loads the map page by page; false if one could not be had.
    pub(crate) fn load_map(&self, extents: u32, problems: &mut Problems) -> bool {
        let unknown = ExtentEntry { used: u64::MAX, state: ExtentState::Shared, ..ExtentEntry::default() };
        let mut is_known = true;
        let mut state = self.space.lock();
        for first in (0..extents).step_by(EXTENTS_PER_MAP as usize) {
            let map_page = map_page_of(first);
            let map = match self.pool.shared(map_page) {
                Ok(map) => {
                    check_extent_map(map.page()).map(|()| map).map_err(|bad| bad.what.words().to_owned())
                }
                Err(error) => Err(error.to_string()),
            };
            if let Err(what) = &map {
                problems.add(map_page, format!("(extent map) {what}"));
                is_known = false;
            }
            for at in 0..EXTENTS_PER_MAP.min(extents - first) {
                state.push(map.as_ref().map_or(unknown, |map| map.page().extent(at as usize)));
            }
        }
        is_known
    }
}

/// A page's last change is at most this far, in bytes of log, beyond the newest checkpoint.
const BEYOND_PAGES: u64 = 1 << 48;

/// How a file is opened that is only read.
fn looked_at(pool: PoolConfig, identity: [u8; 16]) -> StoreConfig {
    StoreConfig { pool, log: NO_LOG, direct: false, doublewrite: false, identity, forced: false }
}

/// A log that nothing is appended to.
const NO_LOG: LogConfig = LogConfig { capacity_bytes: 1 << 20, buffer_bytes: 0, file_bytes_min: 1 << 16 };

/// A log in memory, for a store that asks where its log is.
fn idle_log(identity: [u8; 16], end: Lsn) -> Result<Log> {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
    let folder = Path::new("/redo");
    disk.create_dir(folder)?;
    Ok(Log::create(&disk, folder, identity, end, NO_LOG)?)
}
