//! A table as sessions use it: definition, indexes, counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};

use base::sync::{LatchLevel, Mutex, plain};
use base::{IndexId, Lsn};
use trx::MetadataLock;
use types::{RowHistory, TableDef, TableStatistics};

use crate::column_set::ColumnSet;
use crate::damage::Damages;
use crate::dictionary::TableRecord;
use crate::index::Index;
use crate::side_log::TableSideLog;

/// What lives as long as a table's identity, over all versions of its definition.
#[derive(Debug)]
pub(crate) struct TableState {
    pub(crate) lock: Arc<MetadataLock>,
    /// Next number; 0 = not known: one above the greatest in the table.
    pub(crate) auto_increment: AtomicU64,
    /// Numbers below this are never given out after a restart.
    pub(crate) auto_increment_limit: AtomicU64,
    pub(crate) rows: AtomicI64,
    /// From this number of rows on, plans made for fewer may be bad.
    pub(crate) replan_rows: AtomicI64,
    /// Plans made under older catalog versions were made for a much smaller table.
    plans_from: AtomicU64,
    /// Next invisible row id; 0 = not known.
    pub(crate) next_row_id: AtomicU64,
    /// Its indexes that are out of use.
    pub(crate) damages: Damages,
    /// Sessions that have it locked by LOCK TABLES.
    pub(crate) session_locks: AtomicU32,
}

/// Plans are the same for tables that have fewer rows.
const REPLAN_ROWS_MIN: i64 = 1000;
/// Growth by this factor makes plans again.
const REPLAN_FACTOR: i64 = 4;

impl TableState {
    /// An empty table's, with its next numbers; 0: not known.
    pub(crate) fn new(auto_increment: u64, next_row_id: u64) -> Self {
        TableState {
            lock: Arc::default(),
            auto_increment: AtomicU64::new(auto_increment),
            auto_increment_limit: AtomicU64::new(0),
            rows: AtomicI64::new(0),
            replan_rows: AtomicI64::new(REPLAN_ROWS_MIN),
            plans_from: AtomicU64::new(0),
            next_row_id: AtomicU64::new(next_row_id),
            damages: Damages::default(),
            session_locks: AtomicU32::new(0),
        }
    }

    /// The table was truncated.
    pub(crate) fn begin_again(&self) {
        self.auto_increment.store(1, Ordering::Relaxed);
        self.auto_increment_limit.store(0, Ordering::Relaxed);
        self.next_row_id.store(1, Ordering::Relaxed);
        self.rows.store(0, Ordering::Relaxed);
        self.expect_rows(0);
    }

    /// The table was made again with `rows` rows; numbers below `limit` are never given out after a restart.
    pub(crate) fn begin_rebuilt(&self, auto_increment: u64, limit: u64, rows: u64) {
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        self.auto_increment.store(auto_increment, Ordering::Relaxed);
        self.auto_increment_limit.store(limit, Ordering::Release);
        self.next_row_id.store(0, Ordering::Relaxed);
        self.rows.store(rows, Ordering::Relaxed);
        self.expect_rows(rows);
    }

    /// Plans are made for `rows` rows from now on.
    #[cold]
    pub(crate) fn expect_rows(&self, rows: i64) {
        let next = rows.saturating_mul(REPLAN_FACTOR).max(REPLAN_ROWS_MIN);
        self.replan_rows.store(next, Ordering::Relaxed);
    }
}

/// A version of a table's definition, with its trees. Kept by plans; see [`Table::is_current`].
#[derive(Debug)]
pub struct Table {
    /// The definition.
    pub def: Arc<TableDef>,
    /// Versions that pages of its rows may have; emptied when all are converted.
    history: plain::Mutex<RowHistory>,
    /// Whether there is one.
    has_history: AtomicBool,
    /// Indexes in the definition's order, the clustered one first.
    pub indexes: Vec<Index>,
    pub(crate) state: Arc<TableState>,
    /// Columns that are in the key of some secondary index.
    pub(crate) indexed_columns: ColumnSet,
    /// The last sample of this version's indexes.
    pub(crate) statistics: Mutex<Option<Arc<TableStatistics>>>,
    usability: AtomicU8,
    /// Whether there is a `build`.
    is_building: AtomicBool,
    /// What changes of rows are noted for: indexes that are built, or a rebuild.
    build: plain::Mutex<Option<TableSideLog>>,
}

/// Whether and how a table can be used, in [`Table::usability`].
mod usability {
    /// A newer version has taken its place, or it is gone.
    pub(super) const RETIRED: u8 = 0;
    /// Nothing.
    pub(super) const PLAIN: u8 = 1;
    /// An index is damaged, or rows must not be changed: statements look what there is.
    pub(super) const RESTRICTED: u8 = 2;
}

impl Table {
    /// The table of a dictionary record, with counters not yet known.
    pub(crate) fn open(record: TableRecord) -> Arc<Self> {
        let TableRecord { def, roots, history } = record;
        let opened = def.indexes.iter().zip(roots);
        let open = |(index, root)| Index::open(&def, &history, index, root, Lsn::default());
        let indexes = opened.map(open).collect();
        let state = TableState::new(0, 0);
        Table::with(def, history, indexes, Arc::new(state))
    }

    /// A table whose pages have the version of `def` or those of `history`.
    pub(crate) fn with(
        def: TableDef,
        history: RowHistory,
        indexes: Vec<Index>,
        state: Arc<TableState>,
    ) -> Arc<Self> {
        let parts = indexes[1..].iter().flat_map(|index| &index.def.parts);
        let indexed_columns = parts.map(|part| usize::from(part.column)).collect();
        Arc::new(Table {
            def: Arc::new(def),
            has_history: AtomicBool::new(!history.is_empty()),
            history: plain::Mutex::new(history),
            indexes,
            state,
            indexed_columns,
            statistics: Mutex::new(LatchLevel::Table, None),
            usability: AtomicU8::new(usability::PLAIN),
            is_building: AtomicBool::new(false),
            build: plain::Mutex::new(None),
        })
    }

    /// The clustered index.
    #[inline]
    pub fn clustered(&self) -> &Index {
        &self.indexes[0]
    }

    /// Position of the index called `name`, without regard to case.
    pub fn find_index(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| index.def.name.eq_ignore_ascii_case(name))
    }

    /// Whether this is the newest version; asked with the metadata lock held. Cost: a load.
    #[inline]
    pub fn is_current(&self) -> bool {
        // Acquire pairs with the release in `retire`: a statement that still sees true under the lock sees
        // the live trees.
        self.usability.load(Ordering::Acquire) != usability::RETIRED
    }

    /// Whether it is the newest version, and nothing keeps statements from any use of it; asked with the
    /// metadata lock held. Cost: a load.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.usability.load(Ordering::Acquire) == usability::PLAIN
    }

    /// From now on statements check for obstacles before they use the table.
    pub(crate) fn restrict(&self) {
        self.change_usability(usability::PLAIN, usability::RESTRICTED);
    }

    /// Takes [`Table::restrict`] back.
    pub(crate) fn lift_restriction(&self) {
        self.change_usability(usability::RESTRICTED, usability::PLAIN);
    }

    fn change_usability(&self, from: u8, to: u8) {
        // A table that was retired meanwhile stays so.
        let _ = self.usability.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Whether a plan made under catalog version `version` still finds the table by its name, as it was, and
    /// about as large.
    pub fn serves_plans_of(&self, version: u64) -> bool {
        self.is_current() && self.state.plans_from.load(Ordering::Acquire) <= version
    }

    /// Plans made under catalog versions before `version` no longer serve.
    pub(crate) fn expire_plans_before(&self, version: u64) {
        // Release pairs with `serves_plans_of`; the catalog version that asks for it is raised after.
        self.state.plans_from.fetch_max(version, Ordering::Release);
    }

    /// A newer version takes the place, or the table goes. Called before the catalog version says so: a plan
    /// that meets the new version finds this one retired.
    pub(crate) fn retire(&self) {
        self.usability.store(usability::RETIRED, Ordering::Release);
    }

    /// Whether indexes are being built of the rows, or the table is rebuilt: changes of them are noted. Asked
    /// with the metadata lock for changes held, during which a build may end and none begin. Cost: a load.
    #[inline]
    pub(crate) fn is_building(&self) -> bool {
        // The metadata lock orders this: no build starts while a transaction holds the lock for writing.
        self.is_building.load(Ordering::Relaxed)
    }

    /// What changes are noted for.
    #[cold]
    pub(crate) fn build(&self) -> Option<TableSideLog> {
        self.build.lock().clone()
    }

    /// Starts logging row changes for `build`. The caller excludes writers.
    pub(crate) fn begin_build(&self, build: &TableSideLog) {
        let mut place = self.build.lock();
        self.is_building.store(true, Ordering::Relaxed);
        *place = Some(build.clone());
    }

    /// Stops logging row changes for `build`, unless another build has replaced it.
    pub(crate) fn end_build(&self, build: &TableSideLog) {
        let mut place = self.build.lock();
        if place.as_ref().is_some_and(|current| current.is(build)) {
            self.is_building.store(false, Ordering::Relaxed);
            *place = None;
        }
    }

    /// Rows, uncommitted ones included; about right.
    pub fn row_count_estimate(&self) -> u64 {
        self.state.rows.load(Ordering::Relaxed).max(0) as u64
    }

    pub(crate) fn add_rows(&self, delta: i64) {
        self.state.rows.fetch_add(delta, Ordering::Relaxed);
    }

    /// Counts new rows. Their number with the others, where the table has grown so much that its plans are to
    /// be made again.
    #[inline]
    pub(crate) fn add_new_rows(&self, count: usize) -> Option<i64> {
        let count = count as i64;
        let rows = self.state.rows.fetch_add(count, Ordering::Relaxed) + count;
        (rows >= self.state.replan_rows.load(Ordering::Relaxed)).then_some(rows)
    }

    pub(crate) fn record(&self) -> TableRecord {
        let roots = self.indexes.iter().map(|index| index.tree.root).collect();
        TableRecord { def: (*self.def).clone(), roots, history: self.history() }
    }

    /// What pages of its rows may have beside the definition's version.
    pub(crate) fn history(&self) -> RowHistory {
        self.history.lock().clone()
    }

    /// Whether pages may have another row format version than the definition's. Cost: a load.
    #[inline]
    pub fn has_older_pages(&self) -> bool {
        // Acquire pairs with the release in `forget_history`: a reader that sees none finds converted pages.
        self.has_history.load(Ordering::Acquire)
    }

    /// Row format versions beside the definition's that pages may have. Cost: a load where there are none.
    #[inline]
    pub fn older_versions(&self) -> usize {
        if !self.has_older_pages() {
            return 0;
        }
        self.history.lock().versions(self.def.format_version)
    }

    /// What rows that lack the column at `position` show in it; `None`: there are no such rows.
    pub fn initial_value(&self, position: usize) -> Option<Option<Box<[u8]>>> {
        let (history, id) = (self.history.lock(), self.def.columns[position].id);
        let lacks = |added: &&types::AddedColumn| {
            added.id == id && (added.initial.is_some() || !history.past.iter().any(|past| past.id == id))
        };
        history.added.iter().find(lacks).map(|added| added.initial.clone())
    }

    /// All pages have the definition's version.
    pub(crate) fn forget_history(&self) {
        self.has_history.store(false, Ordering::Release);
        *self.history.lock() = RowHistory::default();
    }

    pub(crate) fn index_ids(&self) -> impl Iterator<Item = IndexId> {
        self.indexes.iter().map(|index| index.tree.index)
    }
}
