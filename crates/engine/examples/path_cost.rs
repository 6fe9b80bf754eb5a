//! What the short paths of the storage engine cost, in instructions.
//!
//! Everything is cached, keys are uniform over the table and come from a fixed seed. Each operation runs in a
//! function of its own, so that a profiler counts it alone:
//!
//! ```text
//! cargo build --release --package engine --example path_cost
//! valgrind --tool=callgrind --toggle-collect='path_cost::measure_*' --collect-atstart=no \
//!     --callgrind-out-file=/tmp/cost.out target/release/examples/path_cost
//! callgrind_annotate --inclusive=yes /tmp/cost.out | grep measure_
//! ```
//!
//! An inclusive count divided by [`CALLS`] (by [`ROWS`] for scans) is the cost of one operation.

#![expect(clippy::unwrap_used, reason = "a tool")]
#![expect(clippy::print_stdout, reason = "a tool")]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use base::IndexId;
use base::prng::Prng;
use btree::{BulkBuild, Seek, Tree, TreeShape};
use buffer::PoolConfig;
use engine::{BeginOptions, Direction, Engine, EngineConfig, KeyRange, Prober, ReadView, Scan, Table};
use env::SimDisk;
use page::{PageRef, SlotFlags};
use space::{Store, StoreConfig};
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

/// Records of a table: three levels of tree.
const ROWS: u64 = 300_000;
/// Calls of each operation.
const CALLS: u64 = 10_000;
/// Row bytes after the record's header.
const PAYLOAD: [u8; 187] = [b'x'; 187];

/// Trees over keys 1 to [`ROWS`].
struct Trees {
    store: Store,
    int: Tree,
    bigint: Tree,
    text: Tree,
}

fn int_key(id: u64) -> Vec<u8> {
    (id as u32 ^ 1 << 31).to_be_bytes().to_vec()
}

fn bigint_key(id: u64) -> Vec<u8> {
    (id ^ 1 << 63).to_be_bytes().to_vec()
}

fn text_key(id: u64) -> Vec<u8> {
    format!("user/{:07}@example.org", id.wrapping_mul(7_654_321) % 9_999_991).into_bytes()
}

fn build(store: &Store, index: u32, fixed_key_len: Option<u16>, key: fn(u64) -> Vec<u8>) -> Tree {
    let shape = TreeShape { format_version: 1, fixed_key_len };
    let tree = Tree::create(store, IndexId(index), shape).unwrap();
    let mut keys: Vec<Vec<u8>> = (1..=ROWS).map(key).collect();
    keys.sort_unstable();
    let mut build = BulkBuild::new(store, &tree, base::TrxId(1)).unwrap();
    for key in &keys {
        build.push(key, &PAYLOAD, SlotFlags::NONE).unwrap();
    }
    build.finish().unwrap();
    tree
}

fn trees(disk: &SimDisk) -> Trees {
    let pool = PoolConfig { bytes: 512 << 20, background: false };
    let log = log::LogConfig::default();
    let config =
        StoreConfig { pool, log, direct: false, doublewrite: false, identity: [7; 16], forced: false };
    let disk: Arc<dyn env::Disk> = Arc::new(disk.clone());
    let store = Store::create(&disk, Path::new("data.pages"), config).unwrap();
    let int = build(&store, 100, Some(4), int_key);
    let bigint = build(&store, 101, Some(8), bigint_key);
    let text = build(&store, 102, None, text_key);
    Trees { store, int, bigint, text }
}

fn keys(seed: u64, count: u64, key: fn(u64) -> Vec<u8>) -> Vec<Vec<u8>> {
    let mut prng = Prng::new(seed);
    (0..count).map(|_| key(1 + prng.below(ROWS))).collect()
}

#[inline(never)]
fn measure_point_int(trees: &Trees, keys: &[Vec<u8>]) {
    point(trees, &trees.int, keys);
}

#[inline(never)]
fn measure_point_bigint(trees: &Trees, keys: &[Vec<u8>]) {
    point(trees, &trees.bigint, keys);
}

#[inline(never)]
fn measure_point_text(trees: &Trees, keys: &[Vec<u8>]) {
    point(trees, &trees.text, keys);
}

#[inline(always)]
fn point(trees: &Trees, tree: &Tree, keys: &[Vec<u8>]) {
    for key in keys {
        let at = tree.point(&trees.store, black_box(key)).unwrap().unwrap();
        black_box(at.record().payload()[0]);
    }
}

#[inline(never)]
fn measure_edit_int(trees: &Trees, keys: &[Vec<u8>]) {
    edit(trees, &trees.int, keys);
}

#[inline(never)]
fn measure_edit_bigint(trees: &Trees, keys: &[Vec<u8>]) {
    edit(trees, &trees.bigint, keys);
}

#[inline(always)]
fn edit(trees: &Trees, tree: &Tree, keys: &[Vec<u8>]) {
    for key in keys {
        let edit = tree.edit(&trees.store, black_box(key), 0).unwrap();
        black_box(edit.record().payload()[0]);
    }
}

#[inline(never)]
fn measure_patch_bigint(trees: &Trees, keys: &[Vec<u8>]) {
    for key in keys {
        let mut edit = trees.bigint.edit(&trees.store, black_box(key), 0).unwrap();
        edit.patch(16, &[7; 4]);
        edit.commit();
    }
}

/// Ascending keys after all others.
#[inline(never)]
fn measure_append_bigint(trees: &Trees, keys: &[Vec<u8>]) {
    for key in keys {
        let mut edit = trees.bigint.edit(&trees.store, black_box(key), key.len() + PAYLOAD.len()).unwrap();
        edit.insert(&PAYLOAD, SlotFlags::NONE).unwrap();
        edit.commit();
    }
}

#[inline(never)]
fn measure_cursor_scan(trees: &Trees) {
    let mut bytes = 0;
    let mut cursor = trees.bigint.seek(&trees.store, &[], Seek::First).unwrap();
    while let Some(at) = cursor {
        bytes += at.record().payload().len();
        cursor = at.next().unwrap();
    }
    black_box(bytes);
}

/// Searches in the root of each tree.
#[inline(never)]
fn measure_search_root(page: PageRef<'_>, keys: &[Vec<u8>]) {
    for key in keys {
        black_box(page.child_for(black_box(key)));
    }
}

/// (id BIGINT PRIMARY KEY, k INT, c CHAR(120), pad CHAR(60)).
fn table_def() -> TableDef {
    let text = |chars| SqlType { length: chars, ..SqlType::varchar(chars, CollationId::UTF8MB4_0900_AI_CI) };
    let columns = vec![
        ColumnDef::new("id", SqlType::new(TypeKind::BigInt, 20), false),
        ColumnDef::new("k", SqlType::new(TypeKind::Int, 11), false),
        ColumnDef::new("c", text(120), false),
        ColumnDef::new("pad", text(60), false),
    ];
    TableDef::new("s", "t", columns, vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])])
}

fn engine_with_rows() -> (Arc<Engine>, Arc<Table>) {
    let disk: Arc<dyn env::Disk> = Arc::new(SimDisk::new());
    let config =
        EngineConfig { background: false, pool_bytes: 256 << 20, ..EngineConfig::new(disk, "/data") };
    let engine = Engine::open(config).unwrap();
    engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
    engine.create_table(table_def()).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let table = engine.open_table(&mut trx, "s", "t").unwrap();
    for id in 1..=ROWS {
        let (id, k) = (id.to_le_bytes(), (id as u32).to_le_bytes());
        let row = [Some(&id[..]), Some(&k[..]), Some(&PAYLOAD[..119]), Some(&PAYLOAD[..59])];
        table.insert(&engine, &mut trx, &row).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    (engine, table)
}

#[inline(never)]
fn measure_get(engine: &Engine, table: &Table, view: ReadView, keys: &[Vec<u8>]) {
    for key in keys {
        let found = table.get(engine, &view, black_box(key), |row| row.record().payload()[0]).unwrap();
        black_box(found.unwrap());
    }
}

#[inline(never)]
fn measure_probe_random(prober: &mut Prober<'_>, keys: &[Vec<u8>]) {
    for key in keys {
        black_box(prober.get(black_box(key)).unwrap().unwrap().record().payload()[0]);
    }
}

#[inline(never)]
fn measure_probe_sequential(prober: &mut Prober<'_>, keys: &[Vec<u8>]) {
    for key in keys {
        black_box(prober.get(black_box(key)).unwrap().unwrap().record().payload()[0]);
    }
}

#[inline(always)]
fn sum_rows(mut scan: Scan<'_>) {
    let mut sum = 0;
    while let Some(batch) = scan.next_batch().unwrap() {
        for row in batch.rows() {
            sum += usize::from(row.record().payload()[20]);
        }
    }
    black_box(sum);
}

#[inline(never)]
fn measure_scan(scan: Scan<'_>) {
    sum_rows(scan);
}

#[inline(never)]
fn measure_scan_detached(scan: Scan<'_>) {
    sum_rows(scan.detached());
}

fn measure_trees() {
    let disk = SimDisk::new();
    let trees = trees(&disk);
    measure_point_int(&trees, &keys(1, CALLS, int_key));
    measure_point_bigint(&trees, &keys(2, CALLS, bigint_key));
    measure_point_text(&trees, &keys(3, CALLS, text_key));
    measure_edit_int(&trees, &keys(4, CALLS, int_key));
    measure_edit_bigint(&trees, &keys(5, CALLS, bigint_key));
    measure_patch_bigint(&trees, &keys(6, CALLS, bigint_key));
    measure_cursor_scan(&trees);
    let root = trees.store.pool().shared(trees.bigint.root).unwrap();
    measure_search_root(root.page(), &keys(7, CALLS, bigint_key));
    drop(root);
    let appended: Vec<_> = (ROWS + 1..=ROWS + CALLS).map(bigint_key).collect();
    measure_append_bigint(&trees, &appended);
}

fn measure_tables() {
    let (engine, table) = engine_with_rows();
    let mut trx = engine.begin(BeginOptions::default());
    let view = trx.view();
    measure_get(&engine, &table, view, &keys(8, CALLS, bigint_key));
    let mut prober = Prober::new(&engine, &table, 0, view).unwrap();
    measure_probe_random(&mut prober, &keys(9, CALLS, bigint_key));
    let sequence: Vec<_> = (1..=CALLS).map(bigint_key).collect();
    measure_probe_sequential(&mut prober, &sequence);
    let scan = || Scan::open(&engine, &table, 0, view, KeyRange::all(), Direction::Forward).unwrap();
    measure_scan(scan());
    measure_scan_detached(scan());
}

fn main() {
    measure_trees();
    measure_tables();
    println!("{CALLS} calls of each operation, {ROWS} rows");
}
