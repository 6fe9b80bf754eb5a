//! The data file: pool, log and space together, and the file header.

use std::path::Path;
use std::sync::Arc;

use base::codec::{get_u32, get_u64, put_u32, put_u64};
use base::{IndexId, Lsn, PageNo};
use buffer::{Pool, PoolConfig};
use env::{Disk, File, OpenOptions};
use log::Log;
use page::op::PageOp;
use page::{PAGE_SIZE, PageBytes, PageRef, PageType};

use crate::error::{Error, Result};
use crate::map_format::{CLEAN_AT, FILE_FORMAT, FORMAT_AT, RESTART_LSN_AT, number_offset};
use crate::mtr::Mtr;
use crate::space::{Space, SpaceReport};

/// The file header page.
const HEADER_PAGE: PageNo = PageNo(0);

/// Where the log of a new data file starts: above 0, which means "no position" in places.
const FIRST_LSN: Lsn = Lsn(8192);

/// The restart position lies this far beyond the last frame that the header can know of, which is its own.
const RESTART_SLACK_BYTES: u64 = 4096;

/// How a data file is opened.
#[derive(Clone, Copy, Debug)]
pub struct StoreConfig {
    /// The buffer pool.
    pub pool: PoolConfig,
    /// Whether reads and writes bypass the kernel's page cache.
    pub direct: bool,
}

/// One data file with all trees in it. All calls may be made from many threads at once.
#[derive(Debug)]
pub struct Store {
    pub(crate) pool: Arc<Pool>,
    pub(crate) log: Arc<Log>,
    pub(crate) space: Space,
    #[cfg(test)]
    pub(crate) redo_tap: crate::redo_tap::RedoTap,
}

impl Store {
    /// Makes a data file, which must not exist. It counts as not closed cleanly until [`Store::close`].
    pub fn create(disk: &dyn Disk, path: &Path, config: StoreConfig) -> Result<Store> {
        let file = disk.create(path, OpenOptions { direct: config.direct })?;
        if let Some(dir) = path.parent() {
            disk.sync_dir(dir)?;
        }
        let store = Store::with_file(file, config, FIRST_LSN)?;
        let mut state = store.space.lock();
        Space::grow(&store, &mut state, 1)?;
        drop(state);
        let mut mtr = Mtr::new(&store);
        let header = mtr.adopt(store.pool.create(HEADER_PAGE)?);
        mtr.apply(
            header,
            &PageOp::FormatOther {
                page_no: HEADER_PAGE,
                page_type: PageType::FileHeader,
                index_id: IndexId(0),
                version: 1,
            },
        );
        write(&mut mtr, header, FORMAT_AT, &u32_bytes(FILE_FORMAT));
        mtr.commit();
        store.pool.flush_all()?;
        Ok(store)
    }

    /// Opens a data file that was closed cleanly, and marks it as open.
    ///
    /// # Errors
    /// [`Error::NotClean`] and [`Error::UnknownFormat`] leave the file untouched.
    pub fn open(disk: &dyn Disk, path: &Path, config: StoreConfig) -> Result<Store> {
        let file = disk.open(path, OpenOptions { direct: config.direct })?;
        let restart = read_header(&*file)?;
        let store = Store::with_file(file, config, restart)?;
        store.space.load(&store)?;
        store.write_header(CLEAN_AT, &u32_bytes(0))?;
        store.pool.flush_all()?;
        Ok(store)
    }

    fn with_file(file: Arc<dyn File>, config: StoreConfig, restart: Lsn) -> Result<Store> {
        let log = Arc::new(Log::open(restart));
        let pool = Pool::new(Arc::clone(&file), config.pool, Arc::clone(&log) as Arc<dyn log::LogPosition>)?;
        Ok(Store {
            pool,
            log,
            space: Space::new(file),
            #[cfg(test)]
            redo_tap: crate::redo_tap::RedoTap::default(),
        })
    }

    /// Writes everything and marks the file as closed cleanly. Later changes are refused. The caller has ended all other
    /// use.
    pub fn close(&self) -> Result<()> {
        self.pool.flush_all()?;
        let restart = u64_bytes(self.log.current().0 + RESTART_SLACK_BYTES);
        self.write_header(RESTART_LSN_AT, &restart)?;
        self.write_header(CLEAN_AT, &u32_bytes(1))?;
        Ok(self.pool.close()?)
    }

    /// The buffer pool.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The log.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// Number `number`, below [`crate::HEADER_NUMBERS`], of the file header; 0 if it was never set. What the numbers mean
    /// is the caller's affair.
    pub fn header_number(&self, number: usize) -> Result<u64> {
        let header = self.pool.shared(HEADER_PAGE)?;
        Ok(get_u64(header.page().bytes(), number_offset(number)))
    }

    /// Sets a number of the file header, in a mini-transaction of its own.
    pub fn set_header_number(&self, number: usize, value: u64) -> Result<()> {
        self.write_header(number_offset(number), &u64_bytes(value))
    }

    /// What the file's space is used for. Cost: one pass over the extents.
    pub fn space_report(&self) -> SpaceReport {
        self.space.report()
    }

    /// Gives the disk space of up to `max_extents` freed extents (1 MiB each) back to the file system. Returns how many.
    pub fn punch_free_extents(&self, max_extents: usize) -> Result<usize> {
        self.space.punch_free_extents(max_extents)
    }

    fn write_header(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let mut mtr = Mtr::new(self);
        let header = mtr.latch(HEADER_PAGE)?;
        write(&mut mtr, header, offset, bytes);
        mtr.commit();
        Ok(())
    }
}

fn write(mtr: &mut Mtr<'_>, header: crate::mtr::Latched, offset: usize, bytes: &[u8]) {
    mtr.apply(header, &PageOp::WriteBytes { offset: offset as u16, bytes });
}

/// A page in memory that direct I/O accepts.
#[repr(align(4096))]
struct Image(PageBytes);

/// Checks the header page on disk; returns where the log goes on.
fn read_header(file: &dyn File) -> Result<Lsn> {
    let mut image = Image([0; PAGE_SIZE]);
    file.read_exact_at(&mut image.0, 0)?;
    let bytes = &image.0;
    page::verify_on_read(bytes, HEADER_PAGE)?;
    if PageRef::new(bytes).page_type() != PageType::FileHeader || get_u32(bytes, FORMAT_AT) != FILE_FORMAT {
        return Err(Error::UnknownFormat);
    }
    if get_u32(bytes, CLEAN_AT) != 1 {
        return Err(Error::NotClean);
    }
    Ok(Lsn(get_u64(bytes, RESTART_LSN_AT)))
}

fn u32_bytes(value: u32) -> [u8; 4] {
    let mut bytes = [0; 4];
    put_u32(&mut bytes, 0, value);
    bytes
}

fn u64_bytes(value: u64) -> [u8; 8] {
    let mut bytes = [0; 8];
    put_u64(&mut bytes, 0, value);
    bytes
}
