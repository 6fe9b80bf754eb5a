//! What short statements take from the heap: nothing while they are read, little while they are planned.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use bumpalo::Bump;
use sql::bind::{Catalog, CatalogError, RangeMemory, SessionTypes};
use sql::{BindContext, CacheKey, LexMode, Literals, bind_and_plan, parse, parse_numbered};
use types::{
    CollationId, ColumnDef, IndexDef, IndexKind, SqlModes, SqlType, TableDef, TableStatistics, TypeKind,
};

thread_local! {
    /// Allocations of this thread.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting.
struct Counting;

// SAFETY: every call is passed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promises are the callee's demands.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations that `work` makes.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

const STATEMENTS: [&str; 6] = [
    "SELECT c FROM sbtest1 WHERE id=12345",
    "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 12345 AND 12444 ORDER BY c",
    "UPDATE sbtest1 SET k=k+1 WHERE id=12345",
    "DELETE FROM `sbtest1` WHERE `id` = 12345",
    "INSERT INTO sbtest1 (id, k, c, pad) VALUES (1, 2, 'abc', 'def'), (3, 4, 'ghi', 'jkl')",
    "SELECT a.x, b.y FROM a JOIN b ON a.id = b.id WHERE a.s = 'open' AND b.r IN (1, 2) LIMIT 20",
];

#[test]
fn short_statements_leave_the_heap_alone() {
    let mut arena = Bump::with_capacity(16 * 1024);
    let mut key = CacheKey::new();
    for text in STATEMENTS {
        assert!(key.read(text.as_bytes(), 0, LexMode::NONE), "{text}");
    }
    for text in STATEMENTS {
        let sql = text.as_bytes();
        assert_eq!(allocations(|| assert!(key.read(sql, 0, LexMode::NONE))), 0, "{text}");
        arena.reset();
        assert_eq!(allocations(|| assert!(parse(sql, 0, LexMode::NONE, &arena).is_ok())), 0, "{text}");
        arena.reset();
        let numbered = allocations(|| {
            let parsed = parse_numbered(sql, 0, LexMode::NONE, &arena, Some(&key), usize::MAX);
            assert!(parsed.is_ok_and(|parsed| parsed.numbered));
        });
        assert_eq!(numbered, 0, "{text}");
    }
}

/// Most allocations of planning a lookup of one row, and of each key more in a list.
const LOOKUP_MAX: u64 = 26;
const KEY_MAX: u64 = 4;
/// For lists that grow to twice their size now and then.
const GROWTH_MAX: u64 = 8;

/// One table of 300,000 rows: `stock (w, i, c0, c1, ..)` with the primary key (w, i).
struct OneTable(Arc<TableDef>);

impl OneTable {
    fn with_columns(count: usize) -> Self {
        let int = || SqlType::new(TypeKind::Int, 11);
        let more = (0..count).map(|at| ColumnDef::new(&format!("c{at}"), int(), true));
        let columns =
            ["w", "i"].map(|name| ColumnDef::new(name, int(), false)).into_iter().chain(more).collect();
        let key = IndexDef::new("PRIMARY", IndexKind::Primary, &[0, 1]);
        let named = IndexDef::new("named", IndexKind::Secondary, &[2]);
        OneTable(Arc::new(TableDef::new("db", "stock", columns, vec![key, named])))
    }
}

impl Catalog for OneTable {
    fn version(&self) -> u64 {
        1
    }
    fn schema_exists(&self, _schema: &str) -> bool {
        true
    }
    fn table(&self, _schema: &str, _name: &str) -> Result<Option<Arc<TableDef>>, CatalogError> {
        Ok(Some(Arc::clone(&self.0)))
    }
    fn virtual_table(&self, _schema: &str, _name: &str) -> Option<Arc<TableDef>> {
        None
    }
    fn row_estimate(&self, _table: &TableDef) -> u64 {
        300_000
    }
    fn statistics(&self, _table: &TableDef) -> Option<Arc<TableStatistics>> {
        None
    }
    fn rows_between(&self, _: &TableDef, _: usize, _: &[u8], _: Option<&[u8]>) -> Option<f64> {
        None
    }
}

struct NoVariables;

impl SessionTypes for NoVariables {
    fn user_variable(&self, _name: &str) -> SqlType {
        SqlType::bigint()
    }
    fn system_variable(&self, _global: Option<bool>, _name: &str) -> Option<SqlType> {
        None
    }
}

/// Allocations of binding and planning `text` for a table with `columns` columns beside its key.
fn planning(text: &str, columns: usize) -> u64 {
    let (arena, catalog, mut key) = (Bump::new(), OneTable::with_columns(columns), CacheKey::new());
    let sql = text.as_bytes();
    assert!(key.read(sql, 0, LexMode::NONE), "{text}");
    let parsed = parse_numbered(sql, 0, LexMode::NONE, &arena, Some(&key), usize::MAX).expect("a statement");
    let context = BindContext {
        catalog: &catalog,
        session: &NoVariables,
        sql,
        database: Some("db"),
        modes: SqlModes::DEFAULT,
        collation: CollationId::UTF8MB4_0900_AI_CI,
        div_precision_increment: 4,
        param_types: &[],
        late_types: &[],
        param_count: key.literals().len() as u16,
        literals: Literals::Parameters { base: 0 },
        range_memory: &RangeMemory::new(0),
        assigns_variables: &OnceCell::new(),
        reads_lock: sql::bind::ReadsLock::default(),
        column_uses: None,
        dives: None,
    };
    allocations(|| assert!(bind_and_plan(&parsed.statement, &context, sql::RULES).is_ok(), "{text}"))
}

#[test]
fn planning_a_lookup_takes_few_allocations_however_wide_the_table_is() {
    let text = "SELECT c0, c1, c2 FROM stock WHERE w = 1 AND i = 7 FOR UPDATE";
    let narrow = planning(text, 15);
    assert!(narrow <= LOOKUP_MAX, "{narrow} allocations");
    assert_eq!(planning(text, 115), narrow, "columns that the statement does not name cost nothing");
}

#[test]
fn planning_a_list_of_keys_takes_few_allocations_a_key() {
    let list = |keys: usize| {
        let keys: Vec<String> = (0..keys).map(|key| format!("(1, {key})")).collect();
        planning(&format!("SELECT c0 FROM stock WHERE (w, i) IN ({}) FOR UPDATE", keys.join(", ")), 15)
    };
    let (short, long) = (list(30), list(130));
    assert!(long - short <= 100 * KEY_MAX + GROWTH_MAX, "{short} allocations for 30 keys, {long} for 130");
    let few = list(10);
    assert!(few <= LOOKUP_MAX + 10 * KEY_MAX, "{few} allocations for 10 keys");
}
