//! The engine: what a data directory in use consists of, and names.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::{ArcSwap, Guard};
use base::TrxId;
use base::sync::plain::Mutex;
use env::{Clock, RealClock};
use page::{FileHeader, OverflowRef};
use space::Store;
use trx::{TableUse, Trx, TrxSystem, UnfinishedTrx};
use types::TableDef;

use crate::catalog::{Catalog, TableCounts};
use crate::checkpoint_control::CheckpointControl;
use crate::commit_wait::CommitWaitCell;
use crate::conversion::Conversion;
use crate::datadir::DataDir;
use crate::ddl_throttle::DdlThrottle;
use crate::dictionary::{Dictionary, SchemaDef};
use crate::dropped_trees::DroppedTrees;
use crate::error::{Error, Result};
use crate::force_recovery::ForceRecovery;
use crate::index_sort::{SortCounters, SortTotals};
use crate::purge_control::PurgeControl;
use crate::side_log::{SideLogCounters, SideLogTotals};
use crate::spill::Spills;
use crate::startup_log::StartupLog;
use crate::table::Table;
use crate::temp_file::TempFolder;
use crate::undo_full::UndoWarnings;
use crate::unique_keys::UniqueKeyMutexes;
use crate::value_search::LostValues;

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
    /// The unfinished transactions that are not rolled back yet, the newest last: it is rolled back first.
    pub(crate) unfinished: Mutex<Vec<UnfinishedTrx>>,
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
            unfinished: Mutex::default(),
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

    /// Counts new rows of `table`. Now and then as it grows, all its plans are made again.
    #[inline]
    pub(crate) fn count_new_rows(&self, table: &Table, count: usize) {
        if let Some(rows) = table.add_new_rows(count) {
            self.has_grown(table, rows);
        }
    }

    #[cold]
    #[inline(never)]
    fn has_grown(&self, table: &Table, rows: i64) {
        table.state.expect_rows(rows);
        self.expire_plans(table);
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
