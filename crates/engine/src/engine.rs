//! The engine: opening and closing a data directory, names, transactions.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::{ArcSwap, Guard};
use base::sync::plain::Mutex;
use base::{IndexId, TrxId, UndoPtr};
use buffer::PoolConfig;
use env::{Clock, RealClock};
use page::{FileHeader, OverflowRef};
use space::{Store, StoreConfig};
use trx::{BeginOptions, RollbackOnDrop, TableUse, Trx, TrxOutcome, TrxSystem, WriteParts};
use types::TableDef;

use crate::catalog::{Catalog, TableCounts};
use crate::checkpoint::{self, CheckpointControl};
use crate::commit::CommitWaitCell;
use crate::config::EngineConfig;
use crate::conversion::Conversion;
use crate::datadir::{DataDir, Found};
use crate::ddl::dropped_trees::DroppedTrees;
use crate::ddl_throttle::DdlThrottle;
use crate::dictionary::{Dictionary, FIRST_USER_INDEX, SchemaDef};
use crate::error::{Error, Result};
use crate::force_recovery::ForceRecovery;
use crate::index_sort::{SortCounters, SortTotals};
use crate::log_space::LogSpace;
use crate::lost_values::LostValues;
use crate::purge::{self, PurgeControl};
use crate::recovery::{self, History, StartupLog, Unfinished};
use crate::row::duplicate::UniqueKeyMutexes;
use crate::row::rollback;
use crate::side_log::{SideLogCounters, SideLogTotals};
use crate::spill::Spills;
use crate::table::Table;
use crate::temp_file::TempFolder;
use crate::undo_limit::UndoWarnings;

/// The storage engine over one data directory. All calls may be made from many threads at once; a [`Trx`]
/// belongs to one.
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) trx: Arc<TrxSystem>,
    pub(crate) dictionary: Dictionary,
    catalog: ArcSwap<Catalog>,
    version: AtomicU64,
    /// Taken by every DDL statement while it touches dictionary and catalog; nothing waits for locks
    /// under it.
    pub(crate) definition: Mutex<()>,
    pub(crate) dropped_trees: DroppedTrees,
    pub(crate) lost_values: LostValues,
    pub(crate) conversion: Conversion,
    pub(crate) purge: Arc<PurgeControl>,
    pub(crate) purge_thread: Mutex<Option<env::Thread<()>>>,
    pub(crate) commit_wait: CommitWaitCell,
    pub(crate) unique_key_mutexes: UniqueKeyMutexes,
    pub(crate) checkpoints: Arc<CheckpointControl>,
    pub(crate) undo_warnings: UndoWarnings,
    pub(crate) unfinished: Unfinished,
    /// A startup has left a checkpoint and rollbacks to be done.
    pub(crate) is_recovering: AtomicBool,
    /// Where problems are reported that no statement's answer can report.
    pub(crate) notes: Arc<dyn StartupLog>,
    pub(crate) checkpoint_thread: Mutex<Option<env::Thread<()>>>,
    pub(crate) recovery_thread: Mutex<Option<env::Thread<()>>>,
    /// Ids below were given out before the start: except for the unfinished ones, their transactions have
    /// ended.
    pub(crate) restart_horizon: TrxId,
    /// As in the file header: ids at or above it are not in use.
    trx_limit: AtomicU64,
    /// Problems that startup has passed over.
    pub(crate) force: ForceRecovery,
    pub(crate) closed: AtomicBool,
    pub(crate) temp_folder: TempFolder,
    pub(crate) sort_counters: SortCounters,
    pub(crate) side_log_counters: SideLogCounters,
    /// See [`Engine::records_kept`].
    pub(crate) records_kept: AtomicU64,
    /// See [`Engine::set_ddl_throttle`].
    pub(crate) ddl_throttle: DdlThrottle,
    _datadir: DataDir,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("trx", &self.trx).finish_non_exhaustive()
    }
}

impl Engine {
    /// Opens a data directory, or makes one in an empty or missing folder.
    ///
    /// # Errors
    /// [`Error::DataDir`] for a directory that is in use, of another version, not clean, not ours or not
    /// writable; it has not been changed then. [`Error::Storage`], [`Error::Io`].
    pub fn open(config: EngineConfig) -> Result<Arc<Engine>> {
        let engine = Engine::open_unfinished(&config)?;
        if config.background {
            Engine::start_threads(&engine)?;
        } else {
            engine.finish_recovery()?;
        }
        Ok(engine)
    }

    /// As [`Engine::open`], without threads and rollbacks.
    pub(crate) fn open_unfinished(config: &EngineConfig) -> Result<Arc<Engine>> {
        let pool = PoolConfig { bytes: config.pool_bytes, background: config.background };
        let EngineConfig { log, direct, doublewrite, force_recovery, .. } = *config;
        let forced = force_recovery.is_forced();
        let store_config = |identity| StoreConfig { pool, log, direct, doublewrite, identity, forced };
        let history = |datadir: &DataDir, identity| {
            let spills = datadir.spill_folder(&config.disk, identity);
            History::new(&config.startup_log, spills, config.undo_memory_bytes)
        };
        let (datadir, store, history) = match DataDir::open(&config.disk, &config.datadir)? {
            Found::New(datadir) => {
                let mut identity = [0; 16];
                env::random_bytes(&mut identity)?;
                let store_config = store_config(identity);
                let store = create(config, &datadir, store_config)?;
                datadir.finish(&config.disk, identity)?;
                let history = history(&datadir, identity);
                (datadir, store, history)
            }
            Found::Existing(datadir, identity) if !force_recovery.applies_log() => {
                let (disk, file) = (&config.disk, datadir.data_file());
                let store = Store::open_without_log(disk, &file, config.pool_bytes, identity)?;
                let history = history(&datadir, identity);
                (datadir, store, history)
            }
            Found::Existing(datadir, identity) => {
                let store_config = store_config(identity);
                let mut history = history(&datadir, identity);
                let store = Store::open(&config.disk, &datadir.data_file(), store_config, &mut history)?;
                (datadir, store, history)
            }
        };
        Engine::start(store, datadir, config, history)
    }

    fn start(store: Store, datadir: DataDir, config: &EngineConfig, history: History) -> Result<Arc<Engine>> {
        let mut header = store.header()?;
        let spills = datadir.spill_folder(&config.disk, header.identity);
        let force = config.force_recovery;
        if let Some(damage) = store.header_damage() {
            config.startup_log.note(&format!("recovery: the file header cannot be read: {damage}"));
        }
        if !force.applies_log() || store.header_damage().is_some() {
            // Only the log records which ids were assigned, and which of their transactions ended.
            header.trx_limit = TrxId(TrxId::MAX.0 / 2);
        }
        let startup_log = Spills::new(spills.clone(), &config.startup_log);
        let temp_folder = datadir.temp_folder(&config.disk);
        let engine = Engine::assemble(store, datadir, temp_folder, &header, startup_log, force);
        if force.applies_log() {
            let space = LogSpace::new(&engine.trx, &engine.notes);
            engine.store.log().keep_space_ahead(Arc::new(space));
        }
        engine.settle_definitions()?;
        engine.load_catalog()?;
        engine.load_damages()?;
        if engine.is_read_only() {
            config.startup_log.note("recovery: definitions and rows cannot be changed");
        }
        if !force.applies_log() {
            return Ok(engine);
        }
        engine.load_counters(!history.is_unclean())?;
        engine.trx.undo().set_memory_max(config.undo_memory_bytes as u64);
        spills.offer_swap(engine.trx.undo())?;
        engine.temp_folder.clear()?;
        let is_unclean = history.is_unclean();
        if is_unclean {
            engine.recover(history, &config.startup_log)?;
        } else if engine.cleans_up() {
            engine.checkpoints.remove_unneeded_files()?;
            engine.free_pending_trees()?;
        }
        if engine.cleans_up() {
            engine.begin_search(is_unclean)?;
        }
        engine.end_start(config.background)?;
        Ok(engine)
    }

    /// Makes sure that commits and checkpoints have log to write to. From here on what must be written waits
    /// for space: the server is up, and says why.
    fn end_start(&self, has_checkpoints: bool) -> Result<()> {
        let log = self.store.log();
        if !self.is_read_only() && log.make_last_reserve().is_err() {
            // It gives files back.
            self.checkpoint()?;
            log.make_last_reserve()?;
        }
        self.dictionary.begin_logging_damage();
        if has_checkpoints {
            log.expect_checkpoints();
        }
        self.store.set_waits_for_space(true);
        Ok(())
    }

    /// Does what a DDL statement had decided before the server ended, before definitions are read.
    fn settle_definitions(&self) -> Result<()> {
        if self.force.is_read_only() {
            return Ok(());
        }
        match self.dictionary.settle(&self.store) {
            Err(error) if self.force.is_forced() && error.is_corrupt_page() => {
                self.dictionary.leave_out(&*self.notes, b"of a change", &error);
                Ok(())
            }
            settled => settled,
        }
    }

    fn start_threads(engine: &Arc<Engine>) -> Result<()> {
        // A background thread that cannot continue ends the process: pages or log could not be written.
        if engine.cleans_up() {
            let (weak, control) = (Arc::downgrade(engine), Arc::clone(&engine.purge));
            let thread = env::spawn_background("purge", move || {
                let ended = purge::run(&weak, &control);
                ended.unwrap_or_else(|error| {
                    env::end_process(&format!("purge reads and writes pages: {error}"));
                });
            })?;
            *engine.purge_thread.lock() = Some(thread);
        }
        if engine.is_read_only() {
            return Ok(());
        }
        let (weak, control) = (Arc::downgrade(engine), Arc::clone(&engine.checkpoints));
        let log = Arc::clone(engine.store.log());
        let thread = env::spawn_background("checkpoint", move || {
            let ended = checkpoint::run(&weak, &control, &log);
            ended.unwrap_or_else(|error| {
                env::end_process(&format!("a checkpoint writes pages and log: {error}"))
            });
        })?;
        *engine.checkpoint_thread.lock() = Some(thread);
        if !engine.is_recovering.load(Ordering::Relaxed) || !engine.cleans_up() {
            return Ok(());
        }
        let weak = Arc::downgrade(engine);
        let thread = env::spawn_background("recovery", move || {
            let ended = recovery::run(&weak);
            ended.unwrap_or_else(|error| {
                env::end_process(&format!("recovery writes pages and rolls open transactions back: {error}"))
            });
        })?;
        *engine.recovery_thread.lock() = Some(thread);
        Ok(())
    }

    /// An engine whose catalog is not loaded yet.
    pub(crate) fn assemble(
        store: Store,
        datadir: DataDir,
        temp_folder: TempFolder,
        header: &FileHeader,
        spills: Spills,
        force: ForceRecovery,
    ) -> Arc<Engine> {
        let pages_lsn = store.log().last_checkpoint().redo_lsn;
        let notes = Arc::clone(spills.notes());
        let undo_warnings = UndoWarnings::new(&notes);
        let checkpoints = CheckpointControl::new(store.log().file_bytes().1, pages_lsn, spills);
        let trx = TrxSystem::new(header.trx_limit.max(TrxId(1)), store.log().current());
        trx.undo().set_log(store.log());
        Arc::new(Engine {
            trx,
            dictionary: Dictionary::open(header.roots[0], force.is_forced(), &notes),
            catalog: ArcSwap::default(),
            version: AtomicU64::new(1),
            definition: Mutex::new(()),
            dropped_trees: DroppedTrees::default(),
            lost_values: LostValues::default(),
            conversion: Conversion::default(),
            purge: Arc::default(),
            purge_thread: Mutex::new(None),
            commit_wait: CommitWaitCell::default(),
            unique_key_mutexes: UniqueKeyMutexes::default(),
            checkpoints: Arc::new(checkpoints),
            undo_warnings,
            notes,
            checkpoint_thread: Mutex::new(None),
            recovery_thread: Mutex::new(None),
            unfinished: Unfinished::default(),
            is_recovering: AtomicBool::new(false),
            restart_horizon: header.trx_limit,
            trx_limit: AtomicU64::new(header.trx_limit.0),
            force,
            closed: AtomicBool::new(false),
            temp_folder,
            sort_counters: SortCounters::default(),
            side_log_counters: SideLogCounters::default(),
            records_kept: AtomicU64::new(0),
            ddl_throttle: DdlThrottle::default(),
            _datadir: datadir,
            store,
        })
    }

    /// Sees to it, before the first change of transaction `id` is logged, that no start gives the id out
    /// again.
    #[inline]
    pub(crate) fn keep_below_trx_limit(&self, id: TrxId) -> Result<()> {
        if id.0 < self.trx_limit.load(Ordering::Acquire) {
            return Ok(());
        }
        self.raise_trx_limit(id)
    }

    /// Raises the limit in the file header. It is in the log before what `id` changes.
    #[cold]
    #[inline(never)]
    fn raise_trx_limit(&self, id: TrxId) -> Result<()> {
        let limit = TrxId((id.0 + TRX_LIMIT_STEP).min(TrxId::MAX.0));
        let raised = self.store.update_header(|header| {
            header.trx_limit = header.trx_limit.max(limit);
            header.trx_limit
        })?;
        self.store.pool().raise_id_limit(raised);
        self.trx_limit.fetch_max(raised.0, Ordering::AcqRel);
        Ok(())
    }

    /// Whether nothing can be changed: `innodb_force_recovery` says so, or the startup has passed over damage
    /// of what says where changes may go.
    pub fn is_read_only(&self) -> bool {
        let is_whole = self.store.is_map_known() && self.store.header_damage().is_none();
        self.force.is_read_only() || !is_whole || self.dictionary.is_partial()
    }

    /// Whether unfinished transactions are rolled back, what transactions have left is purged, and a shutdown
    /// is clean.
    pub(crate) fn cleans_up(&self) -> bool {
        self.force.cleans_up() && !self.is_read_only()
    }

    /// Whether a thread purges, and frees trees that were given up.
    pub(crate) fn has_purge_thread(&self) -> bool {
        self.purge_thread.lock().is_some()
    }

    /// What sorting the entries of new indexes has cost since startup.
    pub fn index_sort_totals(&self) -> SortTotals {
        self.sort_counters.totals()
    }

    /// What changes of rows while indexes are built have cost since startup.
    pub fn side_log_totals(&self) -> SideLogTotals {
        self.side_log_counters.totals()
    }

    /// Records that rebuilds since the start have copied as they were.
    pub fn records_kept(&self) -> u64 {
        self.records_kept.load(Ordering::Relaxed)
    }

    /// Sets the percentage of its time, 1 to 100, that an online index build or rebuild works, also for those
    /// in progress. It rests for the remaining time.
    pub fn set_ddl_throttle(&self, percent: u32) {
        self.ddl_throttle.set_percent(percent);
    }

    /// How long such builds have rested since the start, in microseconds.
    pub fn ddl_rested_micros(&self) -> u64 {
        self.ddl_throttle.rested_micros()
    }

    /// Whether [`Engine::shutdown`] has begun.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// # Errors  [`Error::Closed`].
    pub(crate) fn ensure_open(&self) -> Result<()> {
        if self.is_closed() { Err(Error::Closed) } else { Ok(()) }
    }

    // Transactions.

    /// An open transaction. It takes an id only when it writes, a view only when it reads.
    pub fn begin(self: &Arc<Self>, options: BeginOptions) -> Trx {
        Trx::begin(&self.trx, Arc::new(Owner(Arc::downgrade(self))), options)
    }

    /// Undoes what came after `mark` ([`Trx::mark`] at the start of a statement). Locks stay.
    pub fn rollback_statement(&self, trx: &mut Trx, mark: UndoPtr) -> Result<()> {
        self.undo_back_to(trx, mark)
    }

    /// ROLLBACK TO SAVEPOINT.
    pub fn rollback_to_savepoint(&self, trx: &mut Trx, name: &str) -> Result<()> {
        let mark = trx.return_to_savepoint(name)?;
        self.undo_back_to(trx, mark)
    }

    fn undo_back_to(&self, trx: &mut Trx, mark: UndoPtr) -> Result<()> {
        let Some(id) = trx.id() else { return Ok(()) };
        self.past_damage(|| match trx.write_parts(id) {
            Ok(WriteParts { mut log, locker, .. }) => rollback::undo_partly(self, &mut log, mark, &locker),
            Err(trx::Error::ShuttingDown) => Ok(()),
            Err(error) => Err(error.into()),
        })
    }

    /// What all transactions share.
    pub fn trx_system(&self) -> &Arc<TrxSystem> {
        &self.trx
    }

    // Names.

    /// The number of DDL statements, and of tables that have become much larger. A plan made under another
    /// version asks its tables ([`Table::serves_plans_of`]) before it runs. Cost: a load.
    #[inline]
    pub fn catalog_version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The table of this name as it is now. Nothing keeps it from changing before [`Engine::lock_table`].
    pub fn table(&self, schema: &str, name: &str) -> Result<Arc<Table>> {
        self.catalog().table(schema, name).cloned()
    }

    /// The table of the name that `def` has; as [`Engine::table`]. Cost: less than that, where `def` is its
    /// definition.
    pub fn table_of(&self, def: &Arc<TableDef>) -> Result<Arc<Table>> {
        let catalog = self.catalog();
        catalog.defined_by(def).map_or_else(|| catalog.table(&def.schema, &def.name), Ok).cloned()
    }

    /// The table of this name to change its rows: see [`Engine::open_table_to`].
    pub fn open_table(&self, trx: &mut Trx, schema: &str, name: &str) -> Result<Arc<Table>> {
        self.open_table_to(trx, schema, name, TableUse::Write)
    }

    /// The table of this name under a shared metadata lock, which `trx` keeps to its end.
    ///
    /// # Errors
    /// Those of [`Engine::table`] and [`Engine::lock_table`].
    pub fn open_table_to(
        &self,
        trx: &mut Trx,
        schema: &str,
        name: &str,
        use_: TableUse,
    ) -> Result<Arc<Table>> {
        loop {
            let table = self.table(schema, name)?;
            if self.lock_table(trx, &table, use_)? {
                return Ok(table);
            }
        }
    }

    /// Takes the shared metadata lock of a table that was looked up before. False: it has been redefined or
    /// dropped since; look it up again. Cost: a short search, or one compare-and-exchange the first time in a
    /// transaction.
    ///
    /// # Errors
    /// Those of the lock; [`Error::Damaged`] or [`Error::Forced`] where the table cannot be put to this use.
    #[inline(always)]
    pub fn lock_table(&self, trx: &mut Trx, table: &Table, use_: TableUse) -> Result<bool> {
        let taken = trx.lock_metadata(&table.state.lock, use_)?;
        if table.is_plain() {
            return Ok(true);
        }
        self.lock_restricted(trx, table, use_, taken)
    }

    /// [`Engine::lock_table`] of a table that was redefined, or of which not all can be used.
    #[cold]
    #[inline(never)]
    fn lock_restricted(&self, trx: &mut Trx, table: &Table, use_: TableUse, taken: bool) -> Result<bool> {
        let may_use = self.may_use(table, use_);
        if taken && !matches!(may_use, Ok(true)) {
            trx.unlock_newest_metadata();
        }
        may_use
    }

    /// All schemas, by name.
    pub fn schemas(&self) -> Vec<Arc<SchemaDef>> {
        self.catalog().schemas.values().map(|schema| Arc::clone(&schema.def)).collect()
    }

    /// The schema of this name.
    pub fn schema(&self, name: &str) -> Result<Arc<SchemaDef>> {
        self.catalog().schema(name).map(|schema| Arc::clone(&schema.def))
    }

    /// The tables of a schema, by name.
    pub fn tables(&self, schema: &str) -> Result<Vec<Arc<Table>>> {
        Ok(self.catalog().schema(schema)?.tables.values().cloned().collect())
    }

    /// How many tables are open and have been opened. Cost: one pass over the schemas.
    pub fn table_counts(&self) -> TableCounts {
        self.catalog().table_counts()
    }

    pub(crate) fn catalog(&self) -> Guard<Arc<Catalog>> {
        self.catalog.load()
    }

    /// Replaces the catalog by a changed copy. The caller holds the definition mutex, and has retired the
    /// tables that go.
    pub(crate) fn change_catalog(&self, change: impl FnOnce(&mut Catalog)) {
        let mut catalog = (**self.catalog.load()).clone();
        change(&mut catalog);
        if self.force.is_forced() {
            for table in catalog.all_tables() {
                table.restrict();
            }
        }
        self.catalog.store(Arc::new(catalog));
        // Release pairs with `catalog_version`: a thread that sees the new version finds the new catalog.
        self.version.fetch_add(1, Ordering::Release);
    }

    /// All plans that use `table` are made again before they run once more.
    #[cold]
    pub fn expire_plans(&self, table: &Table) {
        table.expire_plans_before(self.catalog_version() + 1);
        self.version.fetch_add(1, Ordering::Release);
    }

    // Values and time.

    /// Appends an off-page value to `out`. The row that refers to it is visible to a view that is still
    /// published, or locked. KILL ends it.
    pub fn read_value(&self, reference: &OverflowRef, out: &mut Vec<u8>) -> Result<()> {
        Ok(self.store.read_overflow_of_statement(reference, out)?)
    }

    /// The pages and trees.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Seconds since 1970, for creation times.
    pub(crate) fn now_seconds() -> u64 {
        RealClock.wall().seconds.max(0) as u64
    }
}

/// How far ahead of use the limit of transaction ids is raised.
const TRX_LIMIT_STEP: u64 = 1 << 16;

fn create(config: &EngineConfig, datadir: &DataDir, store_config: StoreConfig) -> Result<Store> {
    let store = Store::create(&config.disk, &datadir.data_file(), store_config)?;
    let root = Dictionary::create(&store)?;
    store.update_header(|header| {
        header.roots[0] = root;
        header.next_index = IndexId(FIRST_USER_INDEX);
    })?;
    // The directory counts as made once FORMAT is there.
    store.log().flush()?;
    Ok(store)
}

/// Rolls back transactions that their sessions drop.
struct Owner(std::sync::Weak<Engine>);

impl RollbackOnDrop for Owner {
    fn roll_back_dropped(&self, trx: &mut Trx) {
        // Without an engine nothing is left to roll back.
        match self.0.upgrade() {
            Some(engine) => {
                // No statement waits for the answer. The locks stay; shutdown, which tries again, fails too.
                engine.rollback(trx).unwrap_or_else(|error| {
                    engine
                        .notes
                        .note(&format!("a transaction whose session has gone is not rolled back: {error}"));
                });
            }
            None => trx.end(TrxOutcome::Nothing).unwrap_or_default(),
        }
    }
}
