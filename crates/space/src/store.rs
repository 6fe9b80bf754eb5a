//! The data file: pool, log and space together, and the file header.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::sync::Counter;
use base::{IndexId, Lsn, PageNo, SchemaId, TableId, TrxId};
use buffer::{CorruptPage, Doublewrite, LogBounds, PageDefect, Pool, PoolConfig};
use buffer::{forget_copies, restore_torn_pages};
use env::{Disk, File, OpenOptions};
use log::{Log, LogConfig, LogPosition, LogReader, TrxState};
use page::file_header::DICTIONARY_ROOTS;
use page::{EXTENT_PAGES, FileHeader, PAGE_SIZE, PageBytes, PageMut, PageOp, PageRef};

use crate::check::Problems;
use crate::error::{Error, Result};
use crate::mtr::Mtr;
use crate::recover::{self, LatePosition, LostPages, StartObserver};
use crate::space::{Space, SpaceReport};
use crate::space_reserve::EXTENTS_WITHHELD;
use crate::substitute_header::SubstituteHeader;

/// The file header page.
pub(crate) const HEADER_PAGE: PageNo = PageNo(0);

/// Where the log of a new data file starts: above 0, which means "no position" in places.
const FIRST_LSN: Lsn = Lsn(8192);

/// First index id that is not one of the dictionary's own.
const FIRST_USER_INDEX: IndexId = IndexId(64);

/// How a data file is opened.
#[derive(Clone, Copy, Debug)]
pub struct StoreConfig {
    /// The buffer pool.
    pub pool: PoolConfig,
    /// The log, in the folder `redo` beside the file.
    pub log: LogConfig,
    /// Whether reads and writes of the file bypass the kernel's page cache.
    pub direct: bool,
    /// Whether pages are copied to the folder `doublewrite` beside the file before they are written, so that
    /// a crash cannot tear them permanently. The folder exists. Not done where the device writes pages
    /// atomically.
    pub doublewrite: bool,
    /// Identity of the data directory.
    pub identity: [u8; 16],
    /// Whether a startup continues past damage of the extent map, and past pages that it can neither read nor
    /// make.
    pub forced: bool,
}

/// One data file with all trees in it. All calls may be made from many threads at once.
#[derive(Debug)]
pub struct Store {
    pub(crate) pool: Arc<Pool>,
    pub(crate) log: Arc<Log>,
    pub(crate) space: Space,
    /// Boxed, so that what every access reads stays close together.
    pub(crate) counters: Box<Counters>,
    /// Whether the whole extent map could be read. If not, pages must not be changed.
    pub(crate) is_map_known: bool,
    /// In place of a file header that cannot be read.
    pub(crate) substitute_header: Option<Box<SubstituteHeader>>,
}

/// Changes to the shape of trees, and to whole leaves.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) splits: Counter,
    pub(crate) merges: Counter,
    pub(crate) conversions: Counter,
}

impl Store {
    /// Makes a data file, which must not exist, and its log. It counts as not closed cleanly until
    /// [`Store::close`].
    pub fn create(disk: &Arc<dyn Disk>, path: &Path, config: StoreConfig) -> Result<Store> {
        let folder = log_folder(path);
        if !disk.exists(&folder)? {
            disk.create_dir(&folder)?;
        }
        let file = disk.create(path, OpenOptions { direct: config.direct })?;
        if let Some(dir) = path.parent() {
            disk.sync_dir(dir)?;
        }
        let doublewrite = open_doublewrite(&**disk, path, config, config.identity, &*file)?;
        let log = Log::create(disk, &folder, config.identity, FIRST_LSN, config.log)?;
        let store = Store::with_file(file, config, doublewrite, log)?;
        store.set_waits_for_space(false);
        let mut image = Box::new([0; PAGE_SIZE]);
        PageMut::new(&mut image).format_file_header(&new_header(config.identity));
        let mut mtr = Mtr::new(&store);
        let page = mtr.adopt(store.pool.create(HEADER_PAGE)?);
        mtr.apply(page, &PageOp::image_of(PageRef::new(&image)));
        mtr.commit();
        let mut state = store.space.lock();
        Space::grow(&store, &mut state, 1)?;
        drop(state);
        store.pool.flush_all()?;
        Ok(store)
    }

    /// Opens a data file. The pages of a file that was not closed are recovered from the log; `observer`
    /// learns which transactions are to be undone. The caller undoes them and then records a checkpoint.
    ///
    /// # Errors
    /// [`Error::UnknownFormat`], and errors of a log that cannot be read to its end, leave file and log as
    /// they are.
    pub fn open(
        disk: &Arc<dyn Disk>,
        path: &Path,
        config: StoreConfig,
        observer: &mut dyn StartObserver,
    ) -> Result<Store> {
        let options = OpenOptions { direct: config.direct };
        let file = disk.open(path, options)?;
        // A page that a crash has torn is restored below.
        let header = known_header(&*file)?;
        let reader = LogReader::open(disk, &log_folder(path), config.identity)?;
        let alone = !config.pool.background;
        let (mut reader, freed) = recover::analyse(reader, alone, observer)?;
        let is_header_sound = header.is_some();
        if let Some(damage) = header.and_then(|header| mismatch(&header, &reader)) {
            let corrupt = CorruptPage { file: path.to_path_buf(), page: HEADER_PAGE, defect: damage };
            return Err(buffer::Error::Corruption(Box::new(corrupt)).into());
        }
        let clean = reader.is_clean();
        if !clean {
            observer.unclean()?;
            // Pages follow the log: what is applied to them below is durable from here on.
            reader.sync()?;
        }
        // A closed file has no torn page, but its header may have rotted, and be among the copies.
        if !clean || !is_header_sound {
            let copies = doublewrite_folder(path);
            let bounds = LogBounds { redo_lsn: reader.checkpoint().redo_lsn, end: reader.position() };
            let report = restore_torn_pages(&**disk, &copies, options, config.identity, bounds, &*file)?;
            observer.torn_pages(&report);
        }
        let doublewrite = open_doublewrite(&**disk, path, config, config.identity, &*file)?;
        let position = Arc::new(LatePosition::new(reader.position()));
        let pool =
            Pool::with_doublewrite(Arc::clone(&file), config.pool, Arc::clone(&position) as _, doublewrite)?;
        pool.set_waits_for_space(false);
        if !clean {
            let lost = LostPages::new(config.forced);
            reader = recover::redo(reader, &pool, freed, &lost, alone, observer)?;
            let lost = lost.into_pages();
            for corrupt in &lost {
                pool.lose_page(corrupt.page);
            }
            observer.lost_pages(&lost);
        }
        let log = Arc::new(reader.into_log(config.log)?);
        position.set(&log);
        let mut store = Store::of_parts(file, pool, log);
        if config.forced {
            store.do_without_header(config.identity)?;
        }
        store.load_space(config.forced)?;
        if store.substitute_header.is_some() {
            return Ok(store);
        }
        store.set_clean(Lsn(0))?;
        if clean {
            store.pool.flush_all()?;
        } else {
            store.restore_length()?;
        }
        Ok(store)
    }

    pub(crate) fn with_file(
        file: Arc<dyn File>,
        config: StoreConfig,
        doublewrite: Option<Doublewrite>,
        log: Log,
    ) -> Result<Store> {
        let log = Arc::new(log);
        let position = Arc::clone(&log) as Arc<dyn LogPosition>;
        let pool = Pool::with_doublewrite(Arc::clone(&file), config.pool, position, doublewrite)?;
        Ok(Store::of_parts(file, pool, log))
    }

    fn of_parts(file: Arc<dyn File>, pool: Arc<Pool>, log: Arc<Log>) -> Store {
        Store {
            pool,
            log,
            space: Space::new(file),
            counters: Box::default(),
            is_map_known: true,
            substitute_header: None,
        }
    }

    /// Sets whether what must be written waits for space on a full disk. If not, a full disk is an error,
    /// after which nothing is written. A store that has just been made or opened does not wait, so that its
    /// start is refused.
    pub fn set_waits_for_space(&self, waits: bool) {
        self.log.set_waits_for_space(waits);
        self.pool.set_waits_for_space(waits);
    }

    /// Reserves the space of pages at the end of the file that the header counts and a crash has taken back.
    fn restore_length(&self) -> Result<()> {
        let counted = u64::from(self.header()?.high_water.0) * PAGE_SIZE as u64;
        let present = self.space.file_bytes()?;
        if present < counted { self.space.reserve_bytes(present..counted) } else { Ok(()) }
    }

    /// Learns what the map says. Where it is damaged, the startup fails, or continues without those parts if
    /// it is `forced`.
    fn load_space(&mut self, forced: bool) -> Result<()> {
        if !forced {
            return self.space.load(self);
        }
        let extents = self.header()?.high_water.0 / EXTENT_PAGES;
        self.is_map_known = self.load_map(extents, &mut Problems::default());
        self.space.lock().withhold(EXTENTS_WITHHELD);
        Ok(())
    }

    /// Whether the whole extent map could be read. If not, no page must be changed: what the map does not say
    /// may be in use.
    pub fn is_map_known(&self) -> bool {
        self.is_map_known
    }

    /// Writes everything and marks the file as closed cleanly. Later changes are refused. The caller has
    /// ended all other use.
    pub fn close(&self) -> Result<()> {
        self.pool.flush_all()?;
        // So that nothing is appended before the log's own last checkpoint.
        self.log.flush()?;
        self.note_checkpoint(self.log.current())?;
        let end = self.log.close()?;
        self.set_clean(end)?;
        Ok(self.pool.close()?)
    }

    /// Records a checkpoint: recovery begins at `redo_lsn`, and undoes `transactions`. Every change below is
    /// durable in the file ([`Pool::sync_below`]).
    pub fn checkpoint(&self, redo_lsn: Lsn, transactions: Vec<TrxState>) -> Result<()> {
        self.note_checkpoint(redo_lsn)?;
        Ok(self.log.checkpoint(redo_lsn, transactions)?)
    }

    /// Notes in the file, durably, from where on the log is needed, before the log says so: a file that is
    /// older than the log beside it is recognised.
    fn note_checkpoint(&self, redo_lsn: Lsn) -> Result<()> {
        let mut page = self.pool.exclusive(HEADER_PAGE)?;
        page.page_mut().set_checkpoint(redo_lsn, Lsn(0));
        page.mark_dirty(self.log.current());
        drop(page);
        Ok(self.pool.flush_page(HEADER_PAGE)?)
    }

    /// The buffer pool.
    #[inline]
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The log.
    #[inline]
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// How many pages were split and how many merged since the store was opened.
    pub fn splits_and_merges(&self) -> (u64, u64) {
        (self.counters.splits.sum(), self.counters.merges.sum())
    }

    /// Counts `pages` that were split.
    pub fn count_splits(&self, pages: u64) {
        self.counters.splits.add(pages);
    }

    /// Counts a page that was merged with its neighbour.
    pub fn count_merge(&self) {
        self.counters.merges.add(1);
    }

    /// How many leaves were brought to a newer row format version since the store was opened.
    pub fn conversions(&self) -> u64 {
        self.counters.conversions.sum()
    }

    /// Counts a leaf that was brought to a newer row format version.
    pub fn count_conversion(&self) {
        self.counters.conversions.add(1);
    }

    /// The file header as it is now.
    pub fn header(&self) -> Result<FileHeader> {
        if let Some(substitute_header) = &self.substitute_header {
            return Ok(substitute_header.header.clone());
        }
        let page = self.pool.shared(HEADER_PAGE)?;
        FileHeader::decode(page.page()).map_err(Error::UnknownFormat)
    }

    /// Changes the file header, in a mini-transaction of its own, and returns what `change` returns. `change`
    /// may be anything short; checkpoint and clean mark are not taken from it.
    ///
    /// Latches: none may be held but those of the catalog and of tables.
    pub fn update_header<T>(&self, change: impl FnOnce(&mut FileHeader) -> T) -> Result<T> {
        let mut mtr = Mtr::new(self);
        let page = mtr.latch(HEADER_PAGE)?;
        let mut header = FileHeader::decode(mtr.page(page)).map_err(Error::UnknownFormat)?;
        let result = change(&mut header);
        for op in FileHeader::store_ops(&header.encode()) {
            mtr.apply(page, &op);
        }
        mtr.commit();
        Ok(result)
    }

    /// Use of the file's space. Cost: one pass over the extents.
    pub fn space_report(&self) -> SpaceReport {
        self.space.report()
    }

    /// How many freed extents still take disk space, and when the last of them was freed.
    pub fn space_to_give_back(&self) -> (usize, Lsn) {
        self.space.lock().unpunched()
    }

    /// Gives the disk space of up to `max_extents` extents (1 MiB each) that were freed below the last
    /// checkpoint back to the file system. Returns how many.
    pub fn punch_free_extents(&self, max_extents: usize) -> Result<usize> {
        self.space.punch_free_extents(self, max_extents)
    }

    /// Repeats the log's clean mark for tools: the end of the log, or 0 while the file is in use. Not logged.
    fn set_clean(&self, clean: Lsn) -> Result<()> {
        let mut page = self.pool.exclusive(HEADER_PAGE)?;
        let noted = FileHeader::decode(page.page()).map_err(Error::UnknownFormat)?.checkpoint;
        page.page_mut().set_checkpoint(noted.max(clean), clean);
        page.mark_dirty(self.log.current());
        Ok(())
    }
}

pub(crate) fn new_header(identity: [u8; 16]) -> FileHeader {
    FileHeader {
        identity,
        trx_limit: TrxId(1),
        row_id_limit: 1,
        next_index: FIRST_USER_INDEX,
        next_table: TableId(1),
        next_schema: SchemaId(1),
        high_water: PageNo::NONE,
        checkpoint: FIRST_LSN,
        clean: Lsn(0),
        catalog_version: 1,
        roots: [PageNo::NONE; DICTIONARY_ROOTS],
    }
}

/// Why file and log, which was read to its end, cannot be of one moment.
fn mismatch(header: &FileHeader, log: &LogReader) -> Option<PageDefect> {
    if header.clean > log.position() {
        return Some(PageDefect::BeyondLog);
    }
    // 0: not noted.
    let is_behind = header.checkpoint != Lsn(0) && header.checkpoint < log.checkpoint().redo_lsn;
    is_behind.then_some(PageDefect::BehindLog)
}

/// A page in memory that direct I/O accepts.
#[repr(align(4096))]
struct Image(PageBytes);

/// Opens the doublewrite files of the data file at `path` if they are wanted and of use; if not, copies of an
/// earlier use no longer count.
fn open_doublewrite(
    disk: &dyn Disk,
    path: &Path,
    config: StoreConfig,
    identity: [u8; 16],
    file: &dyn File,
) -> Result<Option<Doublewrite>> {
    let dir = doublewrite_folder(path);
    let options = OpenOptions { direct: config.direct };
    if !config.doublewrite || file.atomic_write_bytes() >= PAGE_SIZE {
        forget_copies(disk, &dir, options, file)?;
        return Ok(None);
    }
    Ok(Some(Doublewrite::open(disk, &dir, options, identity, file)?))
}

/// Where the copies of pages of the data file at `path` are.
fn doublewrite_folder(path: &Path) -> PathBuf {
    path.with_file_name("doublewrite")
}

/// Where the log of the data file at `path` is.
pub(crate) fn log_folder(path: &Path) -> PathBuf {
    path.with_file_name("redo")
}

/// The header, if it can be read.
///
/// # Errors
/// [`Error::UnknownFormat`]
fn known_header(file: &dyn File) -> Result<Option<FileHeader>> {
    match read_header(file) {
        Err(error @ Error::UnknownFormat(_)) => Err(error),
        header => Ok(header.ok()),
    }
}

/// Reads and checks the header page on disk.
pub(crate) fn read_header(file: &dyn File) -> Result<FileHeader> {
    let mut image = Image([0; PAGE_SIZE]);
    file.read_exact_at(&mut image.0, 0)?;
    page::verify_on_read(&image.0, HEADER_PAGE)?;
    FileHeader::decode(PageRef::new(&image.0)).map_err(Error::UnknownFormat)
}
